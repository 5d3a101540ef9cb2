"""The store: where accounts live, what it promises, and what one row of it says."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from datetime import timedelta
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self, TypeVar

from surefoot._exact import exact, shown
from surefoot.errors import InvalidInput, UnknownAccount
from surefoot.live.entries import GENESIS, Entry, check_amounts, check_texts, wall_clock

if TYPE_CHECKING:
    from surefoot.live.store.tx import Tx

T = TypeVar("T")
PAGE = 1000
"""How many entries are read at a time."""
_MICRO = 1_000_000
_DAY = 86_400 * _MICRO
_LONGEST = 100 * 366 * 86_400
"""A century, in seconds: what is longer is a mistake in the unit."""
TIMEOUT = 5.0
"""How many seconds a store is waited for, unless its caller says otherwise."""


class AccountRow(NamedTuple):
    """An account as it stands: its totals in units, and the end of its chain."""

    name: str
    places: int
    """The unit is 10**-places."""
    strict: bool
    """Whether available >= 0 is promised at every moment: a per-play reward floor."""
    breached: bool = False
    """Whether a reward below the declared range has left it below 0; until it is back above."""
    seq: int = 0
    head: str = GENESIS
    posted: int = 0
    held: int = 0
    reserve: int = 0

    @property
    def available(self) -> int:
        """What may still be lost: reserve + posted - held."""
        return self.reserve + self.posted - self.held


class PlayRow(NamedTuple):
    """A play as its store keeps it: a report is judged by it, and no entry is read; in units.

    ``state``: open, settled, expired, late, voided, as_default for an exploration; open, expired,
    confirmed, valued, voided for a default (``tx.NAMES``). ``reward`` is what was credited,
    ``told`` what was reported, ``capped`` whether the rest of it waits for an operator.
    """

    id: str
    experiment: str
    seq: int
    role: str
    arm: Any
    index: int  # type: ignore[assignment]  # a tuple's own index() is not missed here
    hold: int
    floor: int
    deposit: int
    low: int
    high: int
    state: str = "open"
    reward: int | None = None
    told: Any = None
    capped: bool = False
    request: str | None = None
    deadline: int | None = None
    lease: str | None = None


class LeaseRow(NamedTuple):
    """A worker's slice of an account; ``state``: open, returned, forfeited; amounts in units."""

    id: str
    experiment: str
    owner: str
    epoch: int
    amount: int
    spent: int
    """The holds of the explorations decided under it, those after a forfeit included."""
    expires: int
    state: str = "open"

    @property
    def unspent(self) -> int:
        """What explorations under it may still hold; 0 once it was returned."""
        return 0 if self.state == "returned" else self.amount - self.spent


class Store(ABC):
    """Keeps accounts, by name, each an append-only chain of entries with its totals.

    **What is acknowledged is kept.** ``transact`` returns after its commit, and raises only when
    nothing was kept, with one exception, which its message names: a connection that broke while
    the commit was on its way (``StoreUnavailable``). Repeating the work under the same play id
    then shows what happened.

    **Threads.** Any number of threads may share one store. Works on one account run one after
    the other, in all processes together. A work runs on a thread of the store's choice, inside
    its transaction: it computes, it does not wait, and it calls nothing of the store but its
    ``Tx``. It may run with the works of other callers in one commit, and never sees a work that
    failed.

    **Time.** A store that others may lock or that a network lies before is waited for as long as
    its ``timeout`` says; StoreUnavailable comes within twice that time.

    **Processes.** A store belongs to the process that opened it; a forked child opens its own.
    There ``close`` does nothing, and all else is InvalidInput.
    Whoever opened a store closes it, once no thread uses it any more (``with`` does so).

    **Clock.** All times are the store's own, in microseconds since 1970. It may jump: that can
    cost exploration, never the promise.
    """

    @abstractmethod
    def open_account(self, account: str, places: int, strict: bool) -> AccountRow:
        """Create an account, or return it; InvalidInput names what it was created with instead."""

    @abstractmethod
    def accounts(self) -> list[str]:
        """The names of all accounts, in order."""

    @abstractmethod
    def account(self, account: str) -> AccountRow:
        """An account as last committed; UnknownAccount if there is none."""

    @abstractmethod
    def transact(self, account: str, work: Callable[[Tx], T]) -> T:
        """Run a work in one serialised, durable transaction; all of it is kept, or nothing."""

    @abstractmethod
    def entries(self, account: str, after: int = 0, limit: int | None = None) -> Iterator[Entry]:
        """The committed entries with seq > after, in order, streamed."""

    @abstractmethod
    def play(self, account: str, play: str) -> PlayRow | None:
        """A play as last committed; None if there is none."""

    @abstractmethod
    def snapshot(self, account: str, seq: int, blob: bytes, experiment: str = "") -> None:
        """Keep a policy's state as of entry ``seq``; of one experiment the newest two are kept."""

    @abstractmethod
    def latest_snapshot(self, account: str, experiment: str = "") -> tuple[int, bytes] | None:
        """The newest snapshot whose checksum is right, as (seq, blob)."""

    @abstractmethod
    def now(self) -> int:
        """The store's clock, in microseconds since 1970."""

    @abstractmethod
    def close(self) -> None:
        """Free what the store holds; a second call does nothing."""

    def __getstate__(self) -> NoReturn:
        """Raise InvalidInput: it cannot be copied or pickled, as for another process."""
        raise InvalidInput(
            "this store belongs to the process that opened it, and cannot be copied or pickled; "
            "open one of your own"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


Clock = Callable[[], int]
"""Returns microseconds since 1970."""

_LATEST = 1 << 62
"""What is later leaves no room for a deadline within 64 bits."""


def checked_clock(clock: Any) -> Clock:
    """A clock of the caller's own, each of whose times is looked at before anything is written.

    Takes an int of Python or numpy, 0 or more. InvalidInput for any other time, and for what is no
    clock: a float has no exact text, so no ledger can hold it.
    """
    if not callable(clock):
        raise InvalidInput(
            f"clock = {shown(clock)} must be a function that returns microseconds since 1970"
        )
    if clock == wall_clock:
        return wall_clock

    def time() -> int:
        moment = clock()
        whole = isinstance(moment, Integral) and not isinstance(moment, bool)
        if not whole or not 0 <= moment < _LATEST:
            raise InvalidInput(
                f"clock() returned {shown(moment)} ({type(moment).__name__}); it must return an "
                "int, microseconds since 1970, e.g. time.time_ns() // 1000"
            )
        return int(moment)

    return time


def page(after: int, limit: int | None) -> tuple[int, int | None]:
    """The first and the end of the entries asked for, counted from 0; InvalidInput below 0."""
    if type(after) is not int or after < 0:
        raise InvalidInput(f"after = {shown(after)} must be a seq, 0 or more")
    if limit is not None and (type(limit) is not int or limit < 0):
        raise InvalidInput(f"limit = {shown(limit)} must be None or an int, 0 or more")
    return after, None if limit is None else after + limit


def checked_snapshot(seq: int, blob: bytes, experiment: str) -> None:
    """InvalidInput unless these can be kept as a snapshot."""
    check_amounts({"seq": seq})
    check_texts({"experiment": experiment})
    if not isinstance(blob, bytes):
        raise InvalidInput(f"blob = {shown(blob)} must be bytes")


def new_account(account: str, places: int, strict: bool) -> AccountRow:
    """The row of an account at its start; InvalidInput for a bad name, unit or promise."""
    check_texts({"account": account})
    if not account:
        raise InvalidInput("account = '' must have a name")
    if type(places) is not int or not -1000 <= places <= 1000:
        raise InvalidInput(f"places = {shown(places)} must be an int, the unit being 10**-places")
    if type(strict) is not bool:
        raise InvalidInput(f"strict = {shown(strict)} must be True or False")
    return AccountRow(account, places, strict)


def same_account(found: AccountRow, asked: AccountRow) -> AccountRow:
    """What was found, if it is what was asked for; else InvalidInput naming the field."""
    for field in ("places", "strict"):
        was, now = getattr(found, field), getattr(asked, field)
        if was != now:
            raise InvalidInput(
                f"account {found.name!r} was opened with {field} = {was}, not {now}; "
                "open it as it is, or take another name"
            )
    return found


def unknown_account(account: object) -> UnknownAccount:
    """The error for an account that is not in the store."""
    return UnknownAccount(f"account {shown(account)} is not in this store; open it first")


def check_process(opened_by: int, what: str = "store") -> None:
    """InvalidInput in a forked child. Asked before any lock: a thread of the parent may hold it."""
    if os.getpid() != opened_by:
        raise InvalidInput(f"this {what} was opened by another process; open one of your own")


def microseconds(window: Any, name: str = "reward_window") -> int | None:
    """A length of time, in seconds or as a timedelta, in microseconds of the store's clock.

    >>> from datetime import timedelta
    >>> microseconds(0.5), microseconds(timedelta(hours=1)), microseconds(None)
    (500000, 3600000000, None)
    """
    if window is None:
        return None
    if isinstance(window, timedelta):
        seconds = exact(window.total_seconds(), name)
    else:
        seconds = exact(window, name)
    if isinstance(window, bool) or not 0 < seconds <= _LONGEST:
        raise InvalidInput(
            f"{name} = {shown(window)} must be seconds > 0, at most a century, a timedelta, "
            "or None: for ever"
        )
    return max(1, int(seconds * _MICRO))


def checked_timeout(timeout: Any) -> float:
    """How many seconds to wait; InvalidInput unless that is a number of them, or a timedelta."""
    found = None if timeout is None else microseconds(timeout, "timeout")
    if found is None or not 1000 <= found <= _DAY:
        raise InvalidInput(f"timeout = {shown(timeout)} must be seconds, from 0.001 to a day")
    return found / 1e6


def inside_a_work() -> InvalidInput:
    """The error for a transaction inside a transaction, which would wait for itself."""
    return InvalidInput("a work must not call transact; append to the Tx that it was given")
