"""Live agents under a lease, as several test files need them."""

from surefoot import UCB1, GenCB, RewardFloor
from surefoot.live import Lease
from surefoot.live.live import Live


class Clock:
    def __init__(self):
        self.time = 10**15

    def __call__(self):
        return self.time


def agent(reserve=100, **floor):
    floor = {"default": 0.5, "alpha": 0.1, "reserve": reserve} | floor
    return GenCB(UCB1(3), RewardFloor(**floor), seed=1, default_competes=False)


def opened(store, folder, given=None, name="default", account=None, window=None, **lease):
    lease = Lease(folder, **{"plays": 10, "boot": "b"} | lease)
    given = agent() if given is None else given
    return Live(given, store, name, account=account, reward_window=window, lease=lease)


def kinds(store, account="default"):
    return [entry.kind for entry in store.entries(account)]
