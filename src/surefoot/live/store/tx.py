"""A transaction of one account: where it starts, what a work reads, and what it may append.

An entry moves a play by one of the legal steps of ``floors.events``, in the names that rows have
for its states; a lease is open until it is returned or forfeited. An entry that does not fit is a
PlayConflict, so no reward can be credited twice.

Changes lie in layers: those of one work (``Tx``) over those of the works before it in the same
commit (``Batch``) over what is committed (``Committed``). A work that fails drops its layer, so
several callers' works can share one commit without one undoing another.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol, TypeVar

from surefoot._exact import shown
from surefoot._types import JsonObject
from surefoot.errors import DamagedFile, InvalidInput, PlayConflict
from surefoot.floors import events
from surefoot.floors.events import TABLE, Event, State
from surefoot.live import entries
from surefoot.live.entries import GENESIS, Entry, rehash
from surefoot.live.store.base import PAGE, AccountRow, LeaseRow, PlayRow, page

T = TypeVar("T")
Row = TypeVar("Row", PlayRow, LeaseRow)
DECISIONS = frozenset({Event.HELD.value, Event.DEFAULTED.value})
LEASES = frozenset(f"lease.{how}" for how in events.LEASES)

NAMES = {
    Event.REWARDED: ("settled", "a reward"),
    Event.MISSED: ("expired", "an expiry"),
    Event.LATE: ("late", "a late reward"),
    Event.AS_DEFAULT: ("as_default", "a default played instead"),
    Event.CONFIRMED: ("confirmed", "a confirmation"),
    Event.VOIDED: ("voided", "a void"),
    Event.LAPSED: ("expired", "an expiry"),
    Event.VALUED: ("valued", "the value of the default"),
}
"""What a row calls the state that an event leads to, and what a message calls the event.

Rows have names of their own, and here is the only place that has both. They cannot change: they lie
in every ledger, and its CHECK and the verifier know them. And they tell more than ``State`` does,
which the next legal step asks for: a late reward from one in time, a valued default from one that
was only confirmed.
"""
STATES = {
    (role, name): state
    for role, explores in (("explore", True), ("default", False))
    for name, state in (
        ("open", State.OPEN),
        *(
            (NAMES[event][0], after)
            for (event, who, _), (after, _) in TABLE.items()
            if who is explores and event in NAMES
        ),
    )
}
"""The state of a play by its role and what its row calls it."""
LEGAL = {
    (event.value, role, name)
    for (role, name), state in STATES.items()
    for event in NAMES
    if (event, role == "explore", state) in TABLE and (event, name) != (Event.VALUED, "valued")
}
"""Which kind of entry may follow, by the role and state of the row; a default is valued once."""
MOVES = frozenset(event.value for event in (*NAMES, Event.ACKNOWLEDGED))
"""The kinds that move a play."""


class Committed(Protocol):
    """What a transaction reads of its account below its own changes."""

    def read_entries(self, after: int, most: int) -> list[Entry]: ...
    def read_ends(self, seq: int) -> list[Entry]: ...
    def read_play(self, play: str) -> PlayRow | None: ...
    def read_plays(self, plays: list[str]) -> list[PlayRow]: ...
    def read_due(self, now: int, limit: int) -> list[PlayRow]: ...
    def read_lease(self, lease: str) -> LeaseRow | None: ...
    def read_leases(self) -> list[LeaseRow]: ...


class Audit(NamedTuple):
    """What comparing an account's row with its entries found: what the next entry follows."""

    row: AccountRow
    """The account as its entries say."""
    doubt: str | None = None
    """Why nothing must be explored on it; None: all is well."""
    gone: bool = False
    """Whether entries are missing that were acknowledged, or read as committed."""


class Watermarks:
    """The ends of the accounts' chains, as this process last saw them committed.

    An account's row sums up its entries: they are chained, it is not. Where the two differ, the
    entries are right. And what was once acknowledged must never be gone: a ledger that lacks it was
    put back from a copy, or a replica took over that had not heard of it.

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
            if row.seq >= self._ends.get(row.name, (0,))[0]:
                self._ends[row.name] = row.seq, row.head

    def saw(self, account: str, found: list[Entry]) -> None:
        """Remember entries that were read, if they go on from those that are known."""
        with self._lock:
            seq, head = self._ends.get(account, (0, GENESIS))
            new = [entry for entry in found if entry.seq > seq]
            follows = new and (new[0].seq, new[0].prev) == (seq + 1, head)
            if follows and rehash(new[-1]) == new[-1].hash:
                self._ends[account] = new[-1].seq, new[-1].hash

    def audit(self, row: AccountRow, committed: Committed) -> Audit:
        """Compare a row that was just locked with its entries, and these with what is known.

        Nothing is read where nobody else has written since.
        """
        seq, head = self._ends.get(row.name, (0, GENESIS))
        if (seq, head) == (row.seq, row.head) and self._rows.get(row.name) == row:
            return Audit(row)
        found = committed.read_ends(seq)
        there = {0: GENESIS} | {entry.seq: entry.hash for entry in found}
        as_entries, doubt = _summed(row, found[-1] if found else None)
        if there.get(seq) == head:
            if doubt is None:
                self.keep(row)
            return Audit(as_entries, doubt)
        what = f"is gone: it ends at entry {max(there)}" if seq not in there else "is another now"
        why = f"the ledger went back: entry {seq}, which was acknowledged, {what}"
        return Audit(as_entries, why, gone=True)


def _summed(row: AccountRow, last: Entry | None) -> tuple[AccountRow, str | None]:
    """The account as its newest entry left it, and how the row differs from that, if it does."""
    if last is None:
        due = AccountRow(row.name, row.places, row.strict)
    elif row.seq > last.seq and row.head != last.hash:
        return row, f"the entries end at entry {last.seq}, the account at another, {row.seq}"
    elif (digest := rehash(last)) in (last.hash, row.head):
        due = row._replace(
            seq=last.seq, head=digest, posted=last.posted, held=last.held, reserve=last.reserve,
            breached=row.strict and last.available < 0,
        )  # fmt: skip
    else:
        return row._replace(seq=last.seq), f"entry {last.seq} is not what its hash says"
    for field, value in due._asdict().items():
        if (found := getattr(row, field)) != value:
            return due, f"the entries add up to {field} = {value}, the account says {found}"
    if last is not None and last.hash != due.head:
        return due, f"entry {last.seq} is not what its hash says"
    return due, None


class Batch:
    """The changes of one account that the next commit makes; all at one moment of the clock."""

    __slots__ = (
        "audit", "committed", "entries", "first", "found", "leases", "now", "plays", "row", "texts",
        "was", "was_leases",
    )  # fmt: skip

    def __init__(
        self, row: AccountRow, committed: Committed, now: int, audit: Audit | None = None
    ) -> None:
        self.found = row
        """The account as its row says."""
        self.audit = audit or Audit(row)
        self.first = self.row = self.audit.row
        """The account as its entries say, and as it will be."""
        self.committed = committed
        self.now = now
        self.entries: list[Entry] = []
        self.texts: list[str] = []
        """The canonical text of each entry's payload."""
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
        self.row = tx.row
        self.entries += tx.new_entries
        self.texts += tx.new_texts
        self.plays |= tx.new_plays
        self.leases |= tx.new_leases
        return result


class Tx:
    """One work's transaction; valid only inside the work. A failed append changes nothing.

    ``row`` is the account as it stands after the appends so far, ``now`` the store's clock.
    ``doubt``: why nothing must be explored on this ledger, None where all is well; ``gone``:
    whether that is because entries are missing which were acknowledged.
    """

    __slots__ = (
        "_batch", "doubt", "gone", "new_entries", "new_leases", "new_plays", "new_texts", "now",
        "over", "row",
    )  # fmt: skip

    def __init__(self, batch: Batch) -> None:
        _, self.doubt, self.gone = batch.audit
        self.row = batch.row
        self.now = batch.now
        self.over = False
        self._batch = batch
        self.new_entries: list[Entry] = []
        self.new_texts: list[str] = []
        self.new_plays: dict[str, PlayRow] = {}
        self.new_leases: dict[str, LeaseRow] = {}

    def play(self, play: str) -> PlayRow | None:
        """A play as it stands after the appends so far; None if there is none."""
        if self.over:
            raise _over()
        if not isinstance(play, str):
            raise InvalidInput(f"play = {shown(play)} must be a string, the id of a play")
        batch = self._batch
        layers = self.new_plays, batch.plays
        return _uppermost(play, layers, batch.was, batch.committed.read_play)

    def fetch(self, plays: Iterable[str]) -> None:
        """Read plays that are going to be asked for: one question instead of many."""
        if self.over:
            raise _over()
        was = self._batch.was
        new = [play for play in set(plays) if play not in was]
        found = {row.id: row for row in self._batch.committed.read_plays(new)}
        was.update((play, found.get(play)) for play in new)

    def due(self, now: int, limit: int = 500) -> list[PlayRow]:
        """The open plays whose deadline is before ``now``, the longest overdue first."""
        if self.over:
            raise _over()
        changed = {**self._batch.plays, **self.new_plays}
        found = self._batch.committed.read_due(now, limit + len(changed))
        rows = [*(row for row in found if row.id not in changed), *changed.values()]
        return earliest(rows, now)[:limit]

    def lease(self, lease: str) -> LeaseRow | None:
        """A lease as it stands after the appends so far; None if there is none."""
        if self.over:
            raise _over()
        batch = self._batch
        layers = self.new_leases, batch.leases
        return _uppermost(lease, layers, batch.was_leases, batch.committed.read_lease)

    def leases(self) -> list[LeaseRow]:
        """The leases that are open, by id."""
        if self.over:
            raise _over()
        rows = {row.id: row for row in self._batch.committed.read_leases()}
        rows |= {**self._batch.leases, **self.new_leases}
        return [rows[lease] for lease in sorted(rows) if rows[lease].state == "open"]

    def entries(self, after: int = 0, limit: int | None = None) -> Iterator[Entry]:
        """The entries with seq > after up to this moment, this work's own among them, streamed."""
        if self.over:
            raise _over()
        start, stop = page(after, limit)
        stop = self.row.seq if stop is None else min(stop, self.row.seq)
        return self._pages(start, stop)

    def _pages(self, start: int, stop: int) -> Iterator[Entry]:
        batch = self._batch
        while start < min(stop, batch.first.seq):
            if self.over:
                raise _over()
            found = batch.committed.read_entries(start, min(PAGE, stop - start))
            if not found:
                raise DamagedFile(
                    f"the entries of {self.row.name!r} end at {start}, its account at "
                    f"{batch.first.seq}; restore the ledger from a copy"
                )
            yield from found
            start = found[-1].seq
        new = [*batch.entries, *self.new_entries]
        yield from new[start - batch.first.seq : stop - batch.first.seq]

    def append(
        self,
        kind: str,
        *,
        experiment: str,
        payload: JsonObject,
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
        if self.over:
            raise _over()
        if kind not in entries.KINDS:
            raise InvalidInput(f"kind = {shown(kind)} is no kind of entry")
        row = self.row
        payload, text = entries.checked_payload(payload)
        entries.check_texts({"experiment": experiment, "actor": actor})
        entries.check_amounts({
            "config_version": config_version, "d_posted": d_posted, "d_held": d_held,
            "d_reserve": d_reserve, "gate": 0 if gate is None else gate,
        })  # fmt: skip
        if gate is not None and row.reserve + row.posted - row.held < gate:
            return None
        moved = self._moved(kind, experiment, play, payload)
        draws = kind == "decision.held" and payload.get("lease") is not None
        lease = None
        if draws or kind in LEASES:
            lease = self._leased(kind, experiment, payload, moved)
        posted, held, reserve, breached = self._totals(kind, payload, d_posted, d_held, d_reserve)
        if kind in DECISIONS and moved is not None:
            play = moved.id
        entry = entries.chained(
            seq=row.seq + 1, kind=kind, experiment=experiment, play=play, at=self.now, actor=actor,
            config_version=config_version, d_posted=d_posted, d_held=d_held, posted=posted,
            held=held, reserve=reserve, payload=payload, prev=row.head, text=text,
        )  # fmt: skip
        self.row = AccountRow(
            row.name, row.places, row.strict, breached, entry.seq, entry.hash, posted, held, reserve
        )
        self.new_entries.append(entry)
        self.new_texts.append(text)
        if moved is not None:
            self.new_plays[moved.id] = moved
        if lease is not None:
            self.new_leases[lease.id] = lease
        return entry

    def _totals(
        self, kind: str, payload: JsonObject, d_posted: int, d_held: int, d_reserve: int
    ) -> tuple[int, int, int, bool]:
        """The account's totals after an entry, and whether it is breached then."""
        row = self.row
        totals = {
            "posted": row.posted + d_posted,
            "held": row.held + d_held,
            "reserve": row.reserve + d_reserve,
        }
        entries.check_amounts(totals, f" of {row.name!r}")
        posted, held, reserve = totals.values()
        if held < 0 or reserve < 0:
            name = "held" if held < 0 else "reserve"
            raise InvalidInput(
                f"{kind} would leave {name} of {row.name!r} at {totals[name]}, below 0"
            )
        available = reserve + posted - held
        below = row.strict and available < 0
        breach = payload.get("breach") is True
        # A breach may take the account below 0; from there on only another one may lower it.
        if below and not breach and not (row.breached and available >= row.available):
            raise InvalidInput(
                f"{kind} would leave {row.name!r} at {available} units, below 0; nothing but "
                "a reward below its range may do that"
            )
        return posted, held, reserve, below

    def _moved(
        self, kind: str, experiment: str, play: str | None, payload: JsonObject
    ) -> PlayRow | None:
        if kind in DECISIONS:
            seq = self.row.seq + 1
            own = f"p-{seq}"
            if play is None or play == own:
                # No caller can have taken it, so nothing needs to be looked up.
                self._batch.was.setdefault(own, None)
            elif self.play(entries.checked_new_id(play)) is not None:
                raise PlayConflict(f"play {play} is in the ledger already; give each its own id")
            return decided(play or own, experiment, seq, kind, payload)
        if kind not in MOVES:
            if play is not None:
                entries.checked_id(play, "play")
            return None
        if play is None:
            raise InvalidInput(f"{kind} needs the play it is about; pass play=")
        row = self.play(play)
        if row is None:
            raise PlayConflict(f"play {shown(play)} is not in the ledger: {kind} cannot follow")
        return moved(row, kind, payload)

    def _leased(
        self, kind: str, experiment: str, payload: JsonObject, moved: PlayRow | None
    ) -> LeaseRow:
        lease = entries.checked_id(payload.get("lease"), "lease")
        row = self.lease(lease)
        if moved is None:
            return leased(row, kind, experiment, payload)
        return drawn(row, lease, moved.hold)


def _uppermost(
    key: str,
    layers: tuple[dict[str, Row], ...],
    was: dict[str, Row | None],
    read: Callable[[str], Row | None],
) -> Row | None:
    """A row of the uppermost layer that has it, else as committed, which is read only once."""
    for layer in layers:
        if key in layer:
            return layer[key]
    if key not in was:
        was[key] = read(key)
    return was[key]


def _over() -> InvalidInput:
    return InvalidInput("this transaction is over; a Tx is valid only inside its work")


def decided(play: str, experiment: str, seq: int, kind: str, payload: JsonObject) -> PlayRow:
    """The row of a play as its decision fixes it."""
    explores = kind == "decision.held"
    low = payload.get("low" if explores else "value", 0)
    request, deadline = payload.get("request"), payload.get("deadline")
    amounts: dict[str, Any] = {
        "index": payload.get("index", -1), "hold": payload.get("hold") if explores else 0,
        "floor": payload.get("floor", 0), "deposit": payload.get("deposit", 0), "low": low,
        "high": payload.get("high", low),
    }  # fmt: skip
    entries.check_amounts(amounts if deadline is None else {**amounts, "deadline": deadline})
    if amounts["hold"] < 0:
        raise InvalidInput(f"hold = {amounts['hold']} of play {play} must not be below 0")
    if request is not None:
        entries.check_texts({"request": request})
    return PlayRow(
        play, experiment, seq, "explore" if explores else "default", payload.get("arm"), **amounts,
        request=request, deadline=deadline, lease=payload.get("lease"),
    )  # fmt: skip


def moved(row: PlayRow, kind: str, payload: JsonObject) -> PlayRow:
    """The row of a play after an entry of a kind of MOVES; PlayConflict if it cannot follow."""
    if kind == Event.ACKNOWLEDGED:
        if not row.capped:
            raise PlayConflict(f"play {row.id} is {row.state}: nothing above its range waits")
        return row._replace(capped=False)
    state, said = NAMES[Event(kind)]
    if (kind, row.role, row.state) not in LEGAL:
        raise PlayConflict(f"play {row.id} ({row.role}) is {row.state}: {said} cannot follow")
    if "reward" not in payload:
        return row._replace(state=state)
    reward, capped = payload["reward"], payload.get("capped") is True
    entries.check_amounts({"reward": reward})
    return row._replace(state=state, reward=reward, told=payload.get("told"), capped=capped)


def leased(row: LeaseRow | None, kind: str, experiment: str, payload: JsonObject) -> LeaseRow:
    """The row of a lease after its grant, return or forfeit."""
    lease = entries.checked_id(payload.get("lease"), "lease")
    if kind == "lease.granted":
        if row is not None:
            raise PlayConflict(f"lease {lease} was granted before; give each lease its own id")
        owner: Any = payload.get("owner")
        names = "epoch", "amount", "expires"
        amounts: dict[str, Any] = {name: payload.get(name) for name in names}
        entries.check_texts({"owner": owner})
        entries.check_amounts(amounts)
        if amounts["amount"] < 0:
            raise InvalidInput(f"amount = {amounts['amount']} of lease {lease} must not be below 0")
        return LeaseRow(lease, experiment, owner, spent=0, **amounts)
    closed = kind.removeprefix("lease.")
    if row is None or row.state != "open":
        state = "unknown" if row is None else row.state
        raise PlayConflict(f"lease {lease} is {state}: it cannot be {closed}")
    if (unspent := payload.get("unspent")) != row.unspent:
        raise PlayConflict(
            f"lease {lease} has {row.unspent} unspent, not {entries.canonical(unspent)}"
        )
    return row._replace(state=closed)


def drawn(row: LeaseRow | None, lease: str, hold: int) -> LeaseRow:
    """The row of a lease after an exploration under it; PlayConflict if too little is left."""
    if row is None:
        raise PlayConflict(f"lease {lease} was never granted")
    if row.unspent < hold:
        raise PlayConflict(f"lease {lease} is {row.state} with {row.unspent} left, below {hold}")
    return row._replace(spent=row.spent + hold)


def earliest(rows: Iterable[PlayRow], now: int) -> list[PlayRow]:
    """Those of the plays that are due, the longest overdue first."""
    due = [(row.deadline, row.seq, row) for row in rows if is_due(row, now)]
    return [row for _, _, row in sorted(due, key=lambda found: found[:2])]


def is_due(row: PlayRow, now: int) -> bool:
    """Whether a play is open past its deadline."""
    waits = row.state == "open" and row.deadline is not None
    return waits and row.deadline < now  # type: ignore[operator]
