"""A transaction of one account: what a work reads and appends, before anything is committed.

Changes lie in layers: those of one work (``Tx``) over those of the works before it in the same
commit (``Pending``) over what is committed (``Committed``). A work that fails drops its layer, so
several callers' works can share one commit without one undoing another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

from surefoot._exact import shown
from surefoot.errors import DamagedFile, InvalidInput, PlayConflict
from surefoot.live import entries
from surefoot.live.entries import Entry
from surefoot.live.store import moves
from surefoot.live.store.base import PAGE, AccountRow, LeaseRow, PlayRow, page
from surefoot.live.store.known import Ground

T = TypeVar("T")


class Committed(Protocol):
    """What a transaction reads of its account below its own changes."""

    def read_entries(self, account: str, after: int, most: int) -> list[Entry]: ...
    def read_ends(self, account: str, seq: int) -> list[Entry]: ...
    def read_play(self, account: str, play: str) -> PlayRow | None: ...
    def read_plays(self, account: str, plays: list[str]) -> list[PlayRow]: ...
    def read_due(self, account: str, now: int, limit: int) -> list[PlayRow]: ...
    def read_lease(self, account: str, lease: str) -> LeaseRow | None: ...
    def read_leases(self, account: str) -> list[LeaseRow]: ...


class Pending:
    """The changes of one account that the next commit makes; all at one moment of the clock."""

    __slots__ = (
        "committed", "entries", "first", "found", "ground", "leases", "now", "plays", "row", "was",
        "was_leases",
    )  # fmt: skip

    def __init__(
        self, row: AccountRow, committed: Committed, now: int, ground: Ground | None = None
    ) -> None:
        self.found = row
        """The account as its row says."""
        self.ground = Ground(row) if ground is None else ground
        self.first = self.row = self.ground.row
        """The account as its entries say, and as it will be."""
        self.committed = committed
        self.now = now
        self.entries: list[Entry] = []
        self.plays: dict[str, PlayRow] = {}
        self.leases: dict[str, LeaseRow] = {}
        # The committed row of each play and lease looked up: what a guarded update compares with.
        self.was: dict[str, PlayRow | None] = {}
        self.was_leases: dict[str, LeaseRow | None] = {}

    def run(self, work: Callable[[Tx], T]) -> T:
        """Let one work add its changes; if it fails, they are dropped and its error is raised."""
        tx = Tx(self)
        try:
            result = work(tx)
        finally:
            tx.over = True
        tx.merge()
        return result

    def play(self, play: str) -> PlayRow | None:
        """A play after the works so far."""
        if play in self.plays:
            return self.plays[play]
        if play not in self.was:
            self.was[play] = self.committed.read_play(self.row.name, play)
        return self.was[play]

    def fetch(self, plays: Iterable[str]) -> None:
        """Read plays that are going to be asked for, all at once."""
        new = [play for play in set(plays) if play not in self.was]
        found = {row.id: row for row in self.committed.read_plays(self.row.name, new)}
        self.was.update((play, found.get(play)) for play in new)

    def lease(self, lease: str) -> LeaseRow | None:
        """A lease after the works so far."""
        if lease in self.leases:
            return self.leases[lease]
        if lease not in self.was_leases:
            self.was_leases[lease] = self.committed.read_lease(self.row.name, lease)
        return self.was_leases[lease]


class Tx:
    """One work's transaction; valid only inside the work. A failed append changes nothing.

    ``row`` is the account as it stands after the appends so far, ``now`` the store's clock.
    ``doubt``: why nothing must be explored on this ledger, None where all is well; ``gone``:
    whether that is because entries are missing which were acknowledged.
    """

    __slots__ = ("_entries", "_leases", "_pending", "_plays", "doubt", "gone", "now", "over", "row")

    def __init__(self, pending: Pending) -> None:
        _, self.doubt, self.gone = pending.ground
        self.row = pending.row
        self.now = pending.now
        self.over = False
        self._pending = pending
        self._entries: list[Entry] = []
        self._plays: dict[str, PlayRow] = {}
        self._leases: dict[str, LeaseRow] = {}

    def play(self, play: str) -> PlayRow | None:
        """A play as it stands after the appends so far; None if there is none."""
        self._check_alive()
        if not isinstance(play, str):
            raise InvalidInput(f"play = {shown(play)} must be a string, the id of a play")
        return self._plays.get(play) or self._pending.play(play)

    def fetch(self, plays: Iterable[str]) -> None:
        """Read plays that are going to be asked for: one question instead of many."""
        self._check_alive()
        self._pending.fetch(plays)

    def due(self, now: int, limit: int = 500) -> list[PlayRow]:
        """The open plays whose deadline is before ``now``, the longest overdue first."""
        self._check_alive()
        pending = self._pending
        changed = {**pending.plays, **self._plays}
        found = pending.committed.read_due(self.row.name, now, limit + len(changed))
        return earliest([*(row for row in found if row.id not in changed), *changed.values()], now)[
            :limit
        ]

    def lease(self, lease: str) -> LeaseRow | None:
        """A lease as it stands after the appends so far; None if there is none."""
        self._check_alive()
        return self._leases.get(lease) or self._pending.lease(lease)

    def leases(self) -> list[LeaseRow]:
        """The leases that are open, by id."""
        self._check_alive()
        rows = {row.id: row for row in self._pending.committed.read_leases(self.row.name)}
        rows |= {**self._pending.leases, **self._leases}
        return [rows[lease] for lease in sorted(rows) if rows[lease].state == "open"]

    def entries(self, after: int = 0, limit: int | None = None) -> Iterator[Entry]:
        """The entries with seq > after up to this moment, this work's own among them, streamed."""
        self._check_alive()
        start, stop = page(after, limit)
        stop = self.row.seq if stop is None else min(stop, self.row.seq)
        return self._pages(start, stop)

    def _pages(self, start: int, stop: int) -> Iterator[Entry]:
        pending = self._pending
        while start < min(stop, pending.first.seq):
            self._check_alive()
            most = min(PAGE, stop - start)
            found = pending.committed.read_entries(self.row.name, start, most)
            if not found:
                raise DamagedFile(
                    f"the entries of {self.row.name!r} end at {start}, its account at "
                    f"{pending.first.seq}; restore the ledger from a copy"
                )
            yield from found
            start = found[-1].seq
        new = [*pending.entries, *self._entries]
        yield from new[start - pending.first.seq : stop - pending.first.seq]

    def append(
        self,
        kind: str,
        *,
        experiment: str,
        payload: dict[str, Any],
        play: str | None = None,
        d_posted: int = 0,
        d_held: int = 0,
        d_reserve: int = 0,
        actor: str = "",
        config_version: int = 1,
        gate: int | None = None,
    ) -> Entry | None:
        """Chain an entry, move the account by it, and move its play or lease.

        ``gate``: append only if reserve + posted - held >= gate before this entry; else nothing
        happens and None is returned. A decision without ``play`` gets the id ``p-<seq>``. Raises
        PlayConflict for an id that is taken and for a move that cannot follow, InvalidInput for
        what no ledger can hold and for totals that the account's promise excludes.
        """
        self._check_alive()
        if kind not in entries.KINDS:
            raise InvalidInput(f"kind = {shown(kind)} is no kind of entry")
        payload = entries.checked_payload(payload)
        entries.checked_text(experiment, "experiment")
        entries.checked_text(actor, "actor")
        entries.checked_amount(config_version, "config_version")
        if gate is not None and self.row.available < entries.checked_amount(gate, "gate"):
            return None
        moved = self._moved(kind, experiment, play, payload)
        lease = self._leased(kind, experiment, payload, moved)
        after = self._totals(kind, payload, d_posted, d_held, d_reserve)
        if kind in moves.DECISIONS and moved is not None:
            play = moved.id
        entry = entries.chained(
            seq=after.seq, kind=kind, experiment=experiment, play=play, at=self.now, actor=actor,
            config_version=config_version, d_posted=d_posted, d_held=d_held, posted=after.posted,
            held=after.held, reserve=after.reserve, payload=payload, prev=self.row.head,
        )  # fmt: skip
        self._entries.append(entry)
        self.row = after._replace(head=entry.hash)
        if moved is not None:
            self._plays[moved.id] = moved
        if lease is not None:
            self._leases[lease.id] = lease
        return entry

    def merge(self) -> None:
        """Hand this work's changes to the commit."""
        pending = self._pending
        pending.row = self.row
        pending.entries += self._entries
        pending.plays |= self._plays
        pending.leases |= self._leases

    def _totals(
        self, kind: str, payload: dict[str, Any], d_posted: int, d_held: int, d_reserve: int
    ) -> AccountRow:
        row = self.row
        for name, change in (("posted", d_posted), ("held", d_held), ("reserve", d_reserve)):
            entries.checked_amount(change, f"d_{name}")
            total = entries.checked_amount(getattr(row, name) + change, f"{name} of {row.name!r}")
            if total < 0 and name != "posted":
                raise InvalidInput(f"{kind} would leave {name} of {row.name!r} at {total}, below 0")
        after = row._replace(
            seq=row.seq + 1,
            posted=row.posted + d_posted,
            held=row.held + d_held,
            reserve=row.reserve + d_reserve,
        )
        below = row.strict and after.available < 0
        breach = payload.get("breach") is True
        # A breach may take the account below 0; from there on only another one may lower it.
        if below and not breach and not (row.breached and after.available >= row.available):
            raise InvalidInput(
                f"{kind} would leave {row.name!r} at {after.available} units, below 0; nothing but "
                "a reward below its range may do that"
            )
        return after._replace(breached=below)

    def _moved(
        self, kind: str, experiment: str, play: str | None, payload: dict[str, Any]
    ) -> PlayRow | None:
        if kind in moves.DECISIONS:
            seq = self.row.seq + 1
            own = f"p-{seq}"
            if play is None or play == own:
                # No caller can have taken it, so nothing needs to be looked up.
                self._pending.was.setdefault(own, None)
            elif self.play(moves.checked_new_id(play)) is not None:
                raise PlayConflict(f"play {play} is in the ledger already; give each its own id")
            return moves.decided(play or own, experiment, seq, kind, payload)
        if kind not in moves.MOVES:
            if play is not None:
                moves.checked_id(play, "play")
            return None
        if play is None:
            raise InvalidInput(f"{kind} needs the play it is about; pass play=")
        row = self.play(play)
        if row is None:
            raise PlayConflict(f"play {shown(play)} is not in the ledger: {kind} cannot follow")
        return moves.moved(row, kind, payload)

    def _leased(
        self, kind: str, experiment: str, payload: dict[str, Any], moved: PlayRow | None
    ) -> LeaseRow | None:
        if kind in moves.LEASES:
            lease = moves.checked_id(payload.get("lease"), "lease")
            return moves.leased(self.lease(lease), kind, experiment, payload)
        if kind != "decision.held" or moved is None or moved.lease is None:
            return None
        lease = moves.checked_id(moved.lease, "lease")
        return moves.drawn(self.lease(lease), lease, moved.hold)

    def _check_alive(self) -> None:
        if self.over:
            raise InvalidInput("this transaction is over; a Tx is valid only inside its work")


def earliest(rows: Iterable[PlayRow], now: int) -> list[PlayRow]:
    """Those of the plays that are due, the longest overdue first."""
    due = [(row.deadline, row.seq, row) for row in rows if is_due(row, now)]
    return [row for _, _, row in sorted(due, key=lambda found: found[:2])]


def is_due(row: PlayRow, now: int) -> bool:
    """Whether a play is open past its deadline."""
    waits = row.state == "open" and row.deadline is not None
    return waits and row.deadline < now  # type: ignore[operator]
