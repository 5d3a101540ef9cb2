"""The worker: the decisions and reports of one process under its lease, between two flushes.

It has a journal and a copy of the fold of its own. The copy's account is the lease: what is left of
it is all that an exploration may lose, so the gate is the one that every agent has.

Two locks. ``_lock`` guards memory and journal; a thread that holds it never calls the store.
``_turn`` guards a flush, which does call it: one at a time. A flush takes the steps and closes the
lease once its transaction has the account, not before: until then plays are decided as usual, and a
silent store changes nothing. From there until the answer no thread explores by that lease; reports
go on into the journal, behind the steps that were taken.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from math import inf
from pathlib import Path
from typing import NamedTuple

from surefoot._types import JsonObject
from surefoot.errors import DamagedFile, StoreUnavailable
from surefoot.floors import Outcome
from surefoot.live import ids, leases
from surefoot.live.engine import Booked, Engine, Report, book
from surefoot.live.entries import Entry, check_exact
from surefoot.live.flushing import FlushTurn
from surefoot.live.fold import CLOSED, LEARNT, Fold
from surefoot.live.journal import Header, Journal, LeftBehind, boot_id, left_behind
from surefoot.live.leases import Lease
from surefoot.live.play import OpenPlay, Request
from surefoot.live.store.base import LeaseRow, PlayRow
from surefoot.live.store.tx import Tx, decided, moved

Needed = Callable[[], bool]
_ALWAYS: Needed = lambda: True  # noqa: E731


def fresh() -> str:
    """A name that was never used before."""
    return secrets.token_hex(6)


class Known(NamedTuple):
    """A play as this worker knows it; it may be ahead of the ledger."""

    row: PlayRow
    play: OpenPlay
    entry: Entry | None
    """The decision as it will be entered; None if it is in the ledger already."""
    unsure: bool = False
    """Whether the policy here may lack the expiry that a reward would take back; the next flush
    brings both."""


class Taken(NamedTuple):
    """The steps a flush took from the journal, and where they ended."""

    steps: list[leases.Step]
    end: int


class Flushed(NamedTuple):
    """The result of a flush: a lease to decide by, or else the requested decisions."""

    twins: dict[str, str] | None
    """The ledger's names of plays whose ids it had for others; None: nothing was entered."""
    lease: LeaseRow | None
    decided: list[Entry] | None


class Worker:
    """Decides and takes reports for a ``Live``, within a lease that was granted before.

    Any number of threads may use it; they take turns.
    """

    def __init__(self, engine: Engine, settings: Lease) -> None:
        self.settings = settings
        self.owner = f"{settings.owner or 'w'}-{fresh()}"
        """Never given twice: leases of this owner are those of this journal, and of no other."""
        self._engine, self._lock = engine, threading.RLock()
        self._term = settings.term
        self._turn = FlushTurn(settings.plays, self._term)
        boot = boot_id() if settings.boot is None else settings.boot
        self._folder = Path(settings.journal).absolute()
        self._steps: list[leases.Step] = []
        """The steps that are in the journal and not in the ledger."""
        self._whole = True
        """Whether memory agrees with the journal; False after an interrupt."""
        self._own: dict[str, Known] = {}
        """The plays it knows, by their public ids."""
        self._asked: dict[str, str] = {}
        """The public ids of plays decided here, by their callers' own ids."""
        self._lease: LeaseRow | None = None
        """None: no exploration may be decided here until the next flush brings one."""
        self._local: Fold | None = None
        self._unsure = False
        """Whether the last flush may be in the ledger though its answer did not come."""
        self._number = 0
        self._hold = 0
        """The hold of the newest exploration; leases are sized by it."""
        [first] = engine.store.entries(engine.account, 0, 1)
        self._header = Header(
            engine.account, engine.name, first.hash, self.owner, boot, settings.durable
        )
        self.take_over()
        self._journal = Journal(self._folder, self._header)
        engine.owner = self.owner

    def select(self, wanted: Sequence[Request]) -> list[Entry]:
        """Decide plays: from the lease if it covers the worst of all, else from the account.

        No two of them have one id.
        """
        with self._uninterrupted():
            for asked in wanted:
                if ids.named_by_lease(asked.id or "", self.owner):
                    raise ids.other_request(str(asked.id))
            while True:
                flushes = self._turn.done
                found = [self._decided_before(asked) for asked in wanted]
                new = [asked for asked, entry in zip(wanted, found, strict=True) if entry is None]
                decided = self._prepared(new) if new else []
                if decided is None:
                    with self._lock:
                        # Since the ledger was asked, another thread may have decided one.
                        known = any(asked.id in self._asked for asked in new)
                        late = flushes != self._turn.done and any(asked.id for asked in new)
                        if not (known or late) and self._covers(new):
                            decided = self._decide(new)
                if decided is not None:
                    rest = iter(decided)
                    return [next(rest) if entry is None else entry for entry in found]

    def _decided_before(self, asked: Request) -> Entry | None:
        """The decision that an id has already, here or in the ledger."""
        if asked.id is None:
            return None
        engine = self._engine
        with self._lock:
            known = self._own.get(self._asked.get(asked.id, ""))
        if known is not None and known.entry is not None:
            if known.row.request != asked.digest:
                raise ids.other_request(asked.id)
            return known.entry
        if known is not None:
            return engine.run(engine.repeat, asked, known.row.id)
        if engine.store.play(engine.account, asked.id) is None:
            return None
        return engine.run(engine.decide, asked)

    def _prepared(self, wanted: Sequence[Request]) -> list[Entry] | None:
        """Get a lease that covers the plays; where none is granted, the account decides."""

        def needed() -> bool:
            return self._turn.due(len(self._steps)) or not self._covers(wanted)

        with self._lock:
            covered = self._covers(wanted)
        if not covered:
            return self._flush(needed, wanted)
        try:
            return self._flush_if_due(needed, wanted)
        except StoreUnavailable:
            if self._lease is None:
                raise
            return None  # the lease is as it was: the next flush tries again

    def own_play(self, name: str) -> str:
        """The public id of a play decided here for a caller's own id; else ``name``.

        PlayConflict if that id is the ledger's id of another play.
        """
        with self._uninterrupted():
            with self._lock:
                called = self._asked.get(name)
            if called is None:
                return name
            row = self._engine.store.play(self._engine.account, name)
            if row is not None and row.lease is None:
                raise ids.given_twice(name, called)
            return called

    def report(self, name: str, report: Report) -> Outcome | None:
        """Book a report; None if the ledger has to take it."""
        with self._uninterrupted():
            while True:
                with self._lock:
                    flushes, known = self._turn.done, self._own.get(name)
                found = None if known is not None else self._found(name)
                with self._lock:
                    if flushes != self._turn.done:
                        continue  # the lookup may be older than the flush
                    known, local = self._own.get(name) or self._adopted(found), self._local
                    if known is None or local is None:
                        return None
                    final = _is_final(known.row, report)
                    if final and known.entry is None:
                        return None
                    if not (final and self._unsure):
                        booked, unlearnt = self._book(name, known, local, report)
                        break
                self._flush()
            self._flush_after(booked)
        if unlearnt is not None:
            raise unlearnt
        return booked.outcome

    def _flush_after(self, booked: Booked) -> None:
        """A report is in the journal: flush if it is time; if that fails, the next flush will."""
        with suppress(StoreUnavailable):
            if _broke(booked):
                self._flush()  # every worker has to know before more is lost
            else:
                self._flush_if_due()

    def entered(self, name: str, row: PlayRow | None) -> None:
        """Take in what the ledger has of a play after a report that it took itself."""
        with self._lock:
            known = self._own.get(name)
            if known is not None and known.entry is None and row is not None:
                self._own[name] = known._replace(row=row)

    def _book(
        self, name: str, known: Known, local: Fold, report: Report
    ) -> tuple[Booked, Exception | None]:
        """Book a report in the journal; and why the policy failed to learn it, if it did."""
        booked = book(local.agent, local.settings, known.row, known.play, report)
        row = known.row
        if not booked.lines:
            return booked, None
        step = {"play": row.id, "lease": row.lease, "how": report.how, "told": booked.text}
        self._journal.write([step])
        self._steps.append((step, leases.Early(row, booked)))
        local.unlearnt = None
        for line in booked.lines:
            row = moved(row, line.kind, line.payload)
        decided_here = known.entry is not None
        _learn(local, name if decided_here else row.id, booked, known.unsure)
        self._own[name] = known._replace(row=row)
        if _broke(booked):
            self._lease = None
        return booked, local.unlearnt

    @contextmanager
    def _uninterrupted(self) -> Iterator[None]:
        """After an interrupt, which may come anywhere, rebuild memory from the journal."""
        self._journal.check()
        if not self._whole:
            self._mend()
        try:
            yield
        except Exception:
            raise
        except BaseException:
            self._whole = False
            raise

    def _mend(self) -> None:
        with self._turn.lock:
            if self._whole:
                return
            with self._lock:
                self._steps = [(step, None) for step in self._journal.steps()]
                self._own, self._asked, self._lease = {}, {}, None
            self._renew()
            self._whole = True

    def known(self, name: str) -> Entry | None:
        """The decision of a play that is not in the ledger yet."""
        with self._lock:
            known = self._own.get(self._asked.get(name, name))
            return None if known is None else known.entry

    @property
    def holds(self) -> str | None:
        """The id of the lease it decides by; None: the next decision asks for one."""
        lease = self._lease
        return None if lease is None else lease.id

    def flush(self) -> None:
        """Enter in the ledger what is only in the journal."""

        def needed() -> bool:
            return bool(self._steps) or (self._lease is not None and self._turn.late)

        with self._uninterrupted():
            self._flush(needed)

    def close(self) -> None:
        """Enter everything, give the lease back, and delete the journal."""
        try:
            with self._uninterrupted(), self._turn.lock:
                flushes = self._turn.done
                self._flush(last=True)
                while not self._left():
                    if flushes == self._turn.done:  # the ledger does not take it
                        return self.abandon()
                    flushes = self._turn.done
                    self._renew(last=True)
        except BaseException:
            self.abandon()  # whoever comes next enters what is there
            raise

    def _left(self) -> bool:
        """Delete the journal, unless another thread has just written to it."""
        with self._lock:
            if not self._steps:
                self._journal.remove()
            return not self._steps

    def abandon(self) -> None:
        """Leave everything as a killed process does."""
        with self._lock:
            self._journal.close()

    def take_over(self) -> None:
        """Enter what dead workers left in the folder, and close their leases."""
        for found in left_behind(self._folder, self._header):
            self._engine.run(_enter_journal, self._engine, found)
            found.path.unlink()

    def _covers(self, wanted: Sequence[Request]) -> bool:
        local = self._local
        if local is None or self._lease is None or local.lost:
            return False
        holds = [local.books.terms(asked.default).hold for asked in wanted]
        self._hold = max(holds)
        return local.agent.paused or local.account.available >= sum(holds)

    def _decide(self, wanted: Sequence[Request]) -> list[Entry]:
        """Decide from the lease, all or nothing: one line each, written to the journal at once."""
        local, lease = self._local, self._lease
        assert local is not None
        assert lease is not None
        for asked in wanted if len(wanted) > 1 else ():
            local.check(asked)
        try:
            decided = [self._proposed(local, lease, asked) for asked in wanted]
            self._journal.write([step for step, _, _ in decided])
        except BaseException:
            if len(wanted) > 1:  # the policy took turns for plays that never came to be
                local.lose()
            raise
        for asked, (step, known, entry) in zip(wanted, decided, strict=True):
            self._steps.append((step, None))
            name = ids.public_id(known.row.id, entry.payload)
            self._own[name] = known
            if asked.id is not None:
                self._asked[asked.id] = name
        return [entry for _, _, entry in decided]

    def _proposed(
        self, local: Fold, lease: LeaseRow, asked: Request
    ) -> tuple[JsonObject, Known, Entry]:
        """A decision by the lease: its line of the journal, the play, and its entry to be."""
        left = local.account.available
        now = lease.expires - self._term + self._turn.elapsed
        name = f"{lease.id}-{self._number + 1}"
        kind, payload, play = local.decide(asked, now, name)
        if kind == "decision.held":
            local.account.held += play.terms.hold
        local.count(kind)
        payload |= {"lease": lease.id, "unspent": left}
        check_exact(payload, "payload")
        self._number += 1
        play_id = asked.id or name
        entry = Entry(
            seq=0, kind=kind, experiment=local.experiment, play=play_id, at=0, actor="",
            config_version=local.version, d_posted=0, d_held=0, posted=0, held=0, reserve=0,
            payload=payload, prev="", hash="",
        )  # fmt: skip
        step = {"kind": kind, "play": play_id, "payload": payload, "version": local.version}
        row = decided(play_id, local.experiment, 0, kind, payload)
        known, name = Known(row, local.open_play(entry), entry), ids.public_id(play_id, payload)
        try:
            local.tell_open(name, known.play)
        except BaseException:
            local.lose()
            raise
        if known.play.explores:
            local.lent[name] = known.play.number
        return step, known, entry

    def _found(self, name: str) -> tuple[PlayRow, Entry] | None:
        """A play that was decided elsewhere, as the ledger has it."""
        engine = self._engine
        if self._lease is None:
            return None
        row = ids.find(partial(engine.store.play, engine.account), name)
        if row is None or row.experiment != engine.name:
            return None
        if ids.ambiguous(name, row) and not ids.leased_by(row.lease, self.owner):
            return None
        return row, next(engine.store.entries(engine.account, row.seq - 1, 1))

    def _adopted(self, found: tuple[PlayRow, Entry] | None) -> Known | None:
        """A play that was decided elsewhere and can still change; None without a lease."""
        local = self._local
        if found is None or self._lease is None or local is None:
            return None
        play = local.open_play(found[1])
        if not play.number < (len(local.agent.labels) or inf):
            return None  # an arm that came after this lease
        unsure = found[0].state == "expired" and play.missing is not None
        return Known(found[0], play, None, unsure)

    def _flush_if_due(
        self, needed: Needed = _ALWAYS, wanted: Sequence[Request] = ()
    ) -> list[Entry] | None:
        """Flush if it is due; never wait for another thread's flush: the journal has all steps."""
        with self._lock:
            due = self._turn.due(len(self._steps))
        if not due or not self._turn.lock.acquire(blocking=False):
            return None
        try:
            return self._flush(needed, wanted)
        finally:
            self._turn.lock.release()

    def _flush(
        self,
        needed: Needed = _ALWAYS,
        wanted: Sequence[Request] = (),
        last: bool = False,
    ) -> list[Entry] | None:
        """Flush, when it is this thread's turn, if that is ``needed`` then.

        If the store failed the thread before, those that waited fail too: each would otherwise
        wait for the store as long, one after the other.
        """
        failures = self._turn.failures
        with self._turn.lock:
            if failures != self._turn.failures:
                raise StoreUnavailable(self._turn.why)
            with self._lock:
                if not needed():
                    return None
            try:
                return self._renew(wanted, last)
            except StoreUnavailable as problem:
                with self._lock:
                    self._turn.failed(failures, str(problem), len(self._steps))
                raise

    def _renew(self, wanted: Sequence[Request] = (), last: bool = False) -> list[Entry] | None:
        """Flush, and get a new lease; if it does not cover what is wanted, the account decides.

        Called by whoever has the turn.
        """
        engine = self._engine
        taken = Taken([], 0)

        def work(tx: Tx) -> Flushed:
            nonlocal taken
            # If the answer gets lost, the lease may be closed: it must not be spent any more.
            with self._lock:
                taken = Taken(list(self._steps), self._journal.end)
                self._lease, self._unsure = None, True
            if tx.gone:  # the ledger may not know the lease: the journal keeps what it has
                return Flushed(None, None, engine.decide_many(tx, wanted) if wanted else None)
            fold, lease, holds = engine.grounded(tx), None, list[int]()
            tx.fetch(step["play"] for step, _ in taken.steps)
            twins = leases.enter_steps(tx, engine, taken.steps)
            leases.give_back(tx, engine, self.owner)
            if not (last or fold.settings.shadow or fold.agent.paused):
                if wanted:
                    holds = [fold.books.terms(asked.default).hold for asked in wanted]
                    self._hold = max(holds)
                lease = leases.grant(tx, engine, self.settings, self.owner, self._hold)
            if not wanted or (lease is not None and lease.amount >= sum(holds)):
                return Flushed(twins, lease, None)
            return Flushed(twins, lease, engine.decide_many(tx, wanted))

        # Folding before and after keeps the time short in which the account is locked.
        if self._steps:
            engine.catch_up()
        flushed = engine.run(work)
        if flushed.twins is None:
            self._unsure = False
            return flushed.decided
        with self._lock:
            del self._steps[: len(taken.steps)]
            self._journal.forget(taken.end)
            self._turn.ended()
        if taken.steps or flushed.lease is not None:
            engine.catch_up()
        self._settle(flushed)
        return flushed.decided

    def _settle(self, flushed: Flushed) -> None:
        """Take in the result of a flush, and go on by its lease."""
        engine, lease = self._engine, flushed.lease
        with engine.folding, self._lock:
            self._own = self._still_open(flushed.twins or {})
            self._asked = {own: name for own, name in self._asked.items() if name in self._own}
            self._unsure = False
            later = [early for _, early in self._steps if early is not None]
            if lease is None or engine.degraded or any(_broke(early.booked) for early in later):
                return
            local = engine.fold.branch(lease.id, lease.amount)
            for row, booked in later:
                _learn(local, self._entered_as(row, flushed.twins or {}), booked)
            self._local, self._lease = local, lease

    def _entered_as(self, row: PlayRow, twins: dict[str, str]) -> str:
        """The ledger's id of a play, which is another's if it was taken."""
        return twins.get(row.id, row.id) if ids.leased_by(row.lease, self.owner) else row.id

    def _still_open(self, twins: dict[str, str]) -> dict[str, Known]:
        """The plays that can still change, which are in the ledger now."""
        kept, later = {}, {step["play"] for step, _ in self._steps}
        for name, known in self._own.items():
            play = known.row.id
            if known.entry is not None:  # else it was not decided in this journal
                play = twins.get(play, play)
            if play in self._engine.fold.waiting or known.row.id in later:
                kept[name] = Known(known.row._replace(id=play), known.play, None)
        return kept


def _is_final(row: PlayRow, report: Report) -> bool:
    """Whether the ledger has to take the report, as another worker's ``reap`` may forbid it.

    A reward after a ``reap`` is late and booked all the same; a void or a fall-back is not, and
    would be acknowledged in vain.
    """
    return report.how in ("void", "fall_back") and row.state == "open"


def _broke(booked: Booked) -> bool:
    """Whether a reward is outside its declared range: then flush at once."""
    return booked.outcome in (Outcome.BREACH, Outcome.CAPPED)


def _learn(local: Fold, name: str, booked: Booked, unsure: bool = False) -> None:
    """Tell a policy what a report of a play says; ``unsure``: see ``Known``."""
    play = booked.play
    for line in booked.lines:
        if line.kind in LEARNT and not unsure:
            local.learn(line.kind, line.payload, play.action, play.context, play.missing)
        elif line.kind == "default.valued":
            local.drawn(line.payload)
        if line.kind in CLOSED:
            local.lent.pop(name, None)
            local.tell_closed(name, play)


def _enter_journal(tx: Tx, engine: Engine, found: LeftBehind) -> None:
    """Enter what a dead worker left, and close its leases."""
    engine.current(tx)
    for step in found.steps:
        lease = step["payload"]["lease"] if "kind" in step else step["lease"]
        if lease is not None and tx.lease(lease) is None:
            raise DamagedFile(
                f"{str(found.path)!r} is the journal of a worker with lease {lease!r}, which "
                f"this ledger does not know, with {len(found.steps)} decisions and reports: "
                "put back the ledger that granted it, or, if that is gone for good, move the "
                "file away and go on with an account of its own, as after a restore"
            )
    leases.enter_steps(tx, engine, [(step, None) for step in found.steps])
    leases.give_back(tx, engine, found.header.owner, found.whole)
