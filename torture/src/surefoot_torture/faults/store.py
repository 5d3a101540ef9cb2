"""A store that breaks when told to: before a commit, amid its work, or after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from surefoot.errors import StoreUnavailable
from surefoot.live.entries import Entry
from surefoot.live.store import AccountRow, PlayRow, Store, Tx

T = TypeVar("T")
Problem = Callable[[], BaseException]
"""Makes the error that the caller gets to see, and does what else happens then."""


def _failed() -> BaseException:
    return StoreUnavailable("the store failed, as it was told to")


class Faulty(Store):
    """Hands everything to another store, but breaks at its n-th commit from now, counted from 1."""

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        self.commits = self.faults = 0
        self.at: int | None = None
        """The commit that fails."""
        self.kept = False
        """Whether it is kept all the same, and only its answer is lost."""
        self.amid: int | None = None
        """At which call of its transaction its work breaks off; None: at its end."""
        self.blind = 0
        """How many of the reads to come fail."""
        self.garbled = False
        """Whether the next snapshot that is read has lost its second half."""
        self._problem: Problem = _failed

    def break_at(
        self, commit: int, kept: bool, amid: int | None = None, problem: Problem = _failed
    ) -> None:
        """Plan a fault."""
        self.at, self.kept, self.amid = self.commits + commit, kept, amid
        self._problem = problem

    def heal(self) -> None:
        """Plan no fault any more."""
        self.at, self.blind, self.garbled = None, 0, False

    def _next(self) -> bool:
        self.commits += 1
        broken = self.commits == self.at
        self.faults += broken
        return broken

    def _read(self) -> None:
        if self.blind:
            self.blind -= 1
            self.faults += 1
            raise StoreUnavailable("the store could not be read, as it was told to")

    def transact(self, account: str, work: Callable[[Tx], T]) -> T:
        if not self._next():
            return self.inner.transact(account, work)
        if self.kept:
            self.inner.transact(account, work)
            raise self._problem()

        def undone(tx: Tx) -> T:
            work(tx if self.amid is None else _Breaking(tx, self.amid, self._problem))  # type: ignore[arg-type]
            raise self._problem()

        return self.inner.transact(account, undone)

    def snapshot(self, account: str, seq: int, blob: bytes, experiment: str = "") -> None:
        broken = self._next()
        if not broken or self.kept:
            self.inner.snapshot(account, seq, blob, experiment)
        if broken:
            raise self._problem()

    def open_account(self, account: str, places: int, strict: bool) -> AccountRow:
        broken = self._next()
        if broken and not self.kept:
            raise self._problem()
        row = self.inner.open_account(account, places, strict)
        if broken:
            raise self._problem()
        return row

    def accounts(self) -> list[str]:
        self._read()
        return self.inner.accounts()

    def account(self, account: str) -> AccountRow:
        self._read()
        return self.inner.account(account)

    def entries(self, account: str, after: int = 0, limit: int | None = None) -> Iterator[Entry]:
        self._read()
        return self.inner.entries(account, after, limit)

    def play(self, account: str, play: str) -> PlayRow | None:
        self._read()
        return self.inner.play(account, play)

    def latest_snapshot(self, account: str, experiment: str = "") -> tuple[int, bytes] | None:
        self._read()
        found = self.inner.latest_snapshot(account, experiment)
        if found is not None and self.garbled:
            self.garbled = False
            return found[0], found[1][: len(found[1]) // 2]
        return found

    def now(self) -> int:
        return self.inner.now()

    def close(self) -> None:
        self.inner.close()


class _Breaking:
    """A transaction that breaks at its n-th call: a statement that never reached the database."""

    def __init__(self, tx: Tx, calls: int, problem: Problem) -> None:
        self._tx, self._left, self._problem = tx, calls, problem

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._tx, name)
        if not callable(found):
            return found
        self._left -= 1
        if self._left < 0:
            raise self._problem()
        return found
