"""What a store has seen committed, and where the next entry of an account follows.

An account's row sums up its entries: they are chained, it is not. Where the two differ, the entries
are right. And what was once acknowledged must never be gone: a ledger that lacks it was put back
from a copy, or a replica took over that had not heard of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

from surefoot.live.entries import GENESIS, Entry, rehash
from surefoot.live.store.base import AccountRow

Ends = Callable[[str, int], list[Entry]]
"""Of an account, the entry with this number, if it is there, and the newest one; in order."""


class Ground(NamedTuple):
    """What the next entry follows."""

    row: AccountRow
    """The account as its entries say."""
    doubt: str | None = None
    """Why nothing must be explored on it; None: all is well."""
    gone: bool = False
    """Whether entries are missing that were acknowledged, or read as committed."""


class Known:
    """The ends of the accounts' chains, as this process last saw them committed.

    Holds when: this process saw what is gone. Does not hold when: it started afterwards; then only
    a head that was kept elsewhere tells.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[str, AccountRow] = {}
        """The newest row that agreed with its entries."""
        self._ends: dict[str, tuple[int, str]] = {}
        """The number and the hash of the newest entry."""

    def keep(self, row: AccountRow) -> None:
        """Remember a row that was committed and agrees with its entries."""
        with self._lock:
            self._rows[row.name] = row
            if row.seq >= self._end(row.name)[0]:
                self._ends[row.name] = row.seq, row.head

    def saw(self, account: str, entries: list[Entry]) -> None:
        """Remember entries that were read, if they go on from those that are known."""
        with self._lock:
            seq, head = self._end(account)
            new = [entry for entry in entries if entry.seq > seq]
            follows = new and (new[0].seq, new[0].prev) == (seq + 1, head)
            if follows and rehash(new[-1]) == new[-1].hash:
                self._ends[account] = new[-1].seq, new[-1].hash

    def _end(self, account: str) -> tuple[int, str]:
        return self._ends.get(account, (0, GENESIS))

    def ground(self, row: AccountRow, read: Ends) -> Ground:
        """Compare a row that was just locked with its entries, and these with what is known.

        Nothing is read where nobody else has written since.
        """
        seq, head = self._end(row.name)
        if (seq, head) == (row.seq, row.head) and self._rows.get(row.name) == row:
            return Ground(row)
        found = read(row.name, seq)
        there = {0: GENESIS} | {entry.seq: entry.hash for entry in found}
        base, doubt = _standing(row, found[-1] if found else None)
        if there.get(seq) == head:
            if doubt is None:
                self.keep(row)
            return Ground(base, doubt)
        what = f"is gone: it ends at entry {max(there)}" if seq not in there else "is another now"
        why = f"the ledger went back: entry {seq}, which was acknowledged, {what}"
        return Ground(base, why, gone=True)


def _standing(row: AccountRow, last: Entry | None) -> tuple[AccountRow, str | None]:
    """The account as its newest entry left it, and how the row differs from that, if it does."""
    if last is None:
        base = AccountRow(row.name, row.places, row.strict)
    elif row.seq > last.seq and row.head != last.hash:
        return row, f"the entries end at entry {last.seq}, the account at another, {row.seq}"
    elif (digest := rehash(last)) in (last.hash, row.head):
        base = row._replace(
            seq=last.seq, head=digest, posted=last.posted, held=last.held, reserve=last.reserve,
            breached=row.strict and last.available < 0,
        )  # fmt: skip
    else:
        return row._replace(seq=last.seq), f"entry {last.seq} is not what its hash says"
    for field, due in base._asdict().items():
        if (found := getattr(row, field)) != due:
            return base, f"the entries add up to {field} = {due}, the account says {found}"
    if last is not None and last.hash != base.head:
        return base, f"entry {last.seq} is not what its hash says"
    return base, None
