"""Helpers of the store kit: a store that each test opens, and a few works."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.live import entries
from surefoot.live.entries import GENESIS, Entry
from surefoot.live.store import AccountRow, PlayRow, Store, Tx, open_store

ACCOUNT = "shop"
T = TypeVar("T")


class Opened:
    """A test class whose tests each find a store with one empty account, ``shop``."""

    _store: Store | None = None

    def make_store(self, clock: Callable[[], int] | None = None) -> Store:
        """Open the store under test; ``clock`` replaces its clock."""
        raise NotImplementedError

    @property
    def store(self) -> Store:
        """The store of this test, with one account, ``shop``."""
        if self._store is None:
            self._store = self.make_store()
            self._store.open_account(ACCOUNT, places=2, strict=True)
        return self._store

    @property
    def row(self) -> AccountRow:
        """The account as it stands."""
        return self.store.account(ACCOUNT)

    def play(self, play: str) -> PlayRow:
        """One of its plays, which must be there."""
        row = self.store.play(ACCOUNT, play)
        assert row is not None
        return row

    def do(self, work: Callable[[Tx], T]) -> T:
        """Run a work on the account."""
        return self.store.transact(ACCOUNT, work)

    def append(self, kind: str, payload: JsonObject | None = None, **fields: Any) -> None:
        """Append one entry in a work of its own."""
        self.do(lambda tx: tx.append(kind, experiment="e", payload=payload or {}, **fields))

    def teardown_method(self) -> None:
        """Close it."""
        if self._store is not None:
            self._store.close()


MOVES = (
    "breach.acknowledged", "decision.confirmed", "decision.voided", "default.expired",
    "default.valued", "outcome.as_default", "outcome.expired", "outcome.late", "outcome.settled",
)  # fmt: skip


def fund(store: Store, amount: int) -> None:
    """Grant the account a reserve."""
    fields: dict[str, Any] = {"experiment": "e", "d_reserve": amount, "payload": {"amount": amount}}
    store.transact(ACCOUNT, lambda tx: tx.append("endowment.granted", **fields))


def explore(tx: Tx, hold: int = 1, play: str | None = None) -> Entry | None:
    """Decide an exploration, if the account affords its hold."""
    payload = {"arm": 0, "index": 0, "hold": hold, "floor": hold, "low": 0, "high": 100}
    return tx.append(
        "decision.held", experiment="e", play=play, d_held=hold, payload=payload, gate=hold
    )


def default(tx: Tx, play: str | None = None) -> Entry | None:
    """Decide a default play."""
    payload = {"reason": "SLACK_SHORT", "value": 10, "floor": 9, "deposit": 1}
    return tx.append("decision.defaulted", experiment="e", play=play, payload=payload)


def settle(tx: Tx, play: str, reward: int) -> Entry | None:
    """Book the reward of an exploration; its floor counts as 1."""
    row = tx.play(play)
    hold = 0 if row is None else row.hold
    return tx.append(
        "outcome.settled", experiment="e", play=play, d_posted=reward - 1, d_held=-hold,
        payload={"reward": reward, "told": str(reward)},
    )  # fmt: skip


def check_chain(store: Store, account: str = ACCOUNT) -> None:
    """The chain, the dense seqs and the running sums of an account, from its entries alone."""
    prev, posted, held, seq = GENESIS, 0, 0, 0
    for entry in store.entries(account):
        seq += 1
        posted += entry.d_posted
        held += entry.d_held
        assert (entry.seq, entry.prev) == (seq, prev)
        assert (entry.posted, entry.held) == (posted, held)
        assert entries.rehash(entry) == entry.hash
        prev = entry.hash
    row = store.account(account)
    assert (row.seq, row.head, row.posted, row.held) == (seq, prev, posted, held)


def refused(call: Callable[[], Any], kind: type[Exception] = InvalidInput) -> str:
    """The message of the error that a call must raise."""
    try:
        call()
    except kind as problem:
        return str(problem)
    raise AssertionError(f"{kind.__name__} was not raised")


def together(call: Callable[[], Any], threads: int) -> list[Exception]:
    """Run a call on several threads at once; the errors it raised."""
    problems: list[Exception] = []
    start = threading.Barrier(threads)

    def run() -> None:
        start.wait()
        try:
            call()
        except Exception as problem:  # noqa: BLE001  (a thread's error must reach the test)
            problems.append(problem)

    workers = [threading.Thread(target=run) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return problems


def race(address: str, account: str) -> None:
    """Explore until refused; the seq of what was acknowledged, each at once on a line."""
    with open_store(address) as store:
        while (entry := store.transact(account, lambda tx: explore(tx, 3))) is not None:
            sys.stdout.write(f"{entry.seq}\n")
            sys.stdout.flush()
