"""Live agents under a lease, as several test files need them."""

from surefoot import UCB1, GenCB, RewardFloor
from surefoot.live import Lease
from surefoot.live.entries import header, line
from surefoot.live.live import Live
from surefoot.verifier import verify


def agent(reserve=100, **floor):
    floor = {"default": 0.5, "alpha": 0.1, "reserve": reserve} | floor
    return GenCB(UCB1(3), RewardFloor(**floor), seed=1, default_competes=False)


def opened(store, folder, given=None, name="default", account=None, **lease):
    lease = {"plays": 10, "boot": "b"} | lease
    given = agent() if given is None else given
    return Live(given, store, name, account=account, lease=Lease(folder, **lease))


def kinds(store, account="default"):
    return [entry.kind for entry in store.entries(account)]


def proved(store, account="default"):
    """What the verifier, a program of its own, says of the ledger."""
    row = store.account(account)
    lines = [header(account, row.places), *map(line, store.entries(account))]
    report = verify([f"{text}\n".encode() for text in lines], row.head)
    assert report["ok"], report["problems"]
    return report
