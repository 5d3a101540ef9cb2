"""The worker: what one process decides and is told under its lease, between two flushes.

It has a lock, a journal and a copy of the fold of its own. The copy's account is the lease: what
is left of it is all that an exploration may lose, so the gate is the one that every agent has.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot.errors import DamagedFile, StoreUnavailable
from surefoot.floors import Outcome
from surefoot.live import leases, names
from surefoot.live.decide import decided, other_request, proposal, repeated
from surefoot.live.entries import Entry, check_exact
from surefoot.live.fold import LEARNT, Fold
from surefoot.live.given import Given
from surefoot.live.journal import Header, Journal, LeftBehind, boot_id, left_behind
from surefoot.live.leases import Lease
from surefoot.live.play import Request, check_free
from surefoot.live.reporting import Telling, book
from surefoot.live.store import Tx, moves
from surefoot.live.store.base import LeaseRow, PlayRow

if TYPE_CHECKING:
    from surefoot.live.live import Live

monotonic = time.monotonic


def fresh() -> str:
    """A name that nobody has had before."""
    return secrets.token_hex(6)


class Own(NamedTuple):
    """A play as this worker knows it, which may be more than the ledger does."""

    row: PlayRow
    given: Given
    entry: Entry | None
    """The decision as it will be entered; None if it is in the ledger already."""
    unsure: bool = False
    """Whether the policy here may not have heard of its expiry, which its reward then takes back:
    with the next flush it learns both."""


class Flushed(NamedTuple):
    """What a flush came to: a lease to decide by, or else the decision that was asked for."""

    twins: dict[str, str] | None
    """The ledger's names of plays whose ids it had for others; None: nothing was entered."""
    lease: LeaseRow | None
    entry: Entry | None


class Worker:
    """Decides and takes reports in the name of a ``Live``, by rights that were set aside before.

    Any number of threads may use it; they take turns.
    """

    def __init__(self, live: Live, settings: Lease) -> None:
        self.settings = settings
        self.owner = f"{settings.owner or 'w'}-{fresh()}"
        """Never given twice: leases of this owner are those of this journal, and of no other."""
        self._live, self._lock = live, threading.RLock()
        boot = boot_id() if settings.boot is None else settings.boot
        self._folder, self._term = Path(settings.journal).absolute(), settings.term
        self._steps: list[leases.Step] = []
        """What is in the journal and not in the ledger."""
        self._whole = True
        """Whether all that is known here is as the journal says."""
        self._own: dict[str, Own] = {}
        """The plays it knows, by what their callers call them."""
        self._asked: dict[str, str] = {}
        """What the plays are called that were decided here for a caller's own id."""
        self._lease: LeaseRow | None = None
        """None: no exploration may be decided here until the next flush brings one."""
        self._local: Fold | None = None
        self._unsure = False
        """Whether the newest flush may have been kept though its answer got lost."""
        self._number = 0
        self._hold = 0
        """What the newest exploration could lose: leases are sized by it."""
        self._since = monotonic()
        [first] = live.store.entries(live._account, 0, 1)
        self._header = Header(
            live._account, live.name, first.hash, self.owner, boot, settings.durable
        )
        self.take_over()
        self._journal = Journal(self._folder, self._header)

    def select(self, asked: Request, own: str | None) -> Entry:
        """Decide a play: from the lease if it covers the worst, else from the account."""
        with self._lock, self._uninterrupted():
            if own is not None:
                check_free(own)
                if names.made(own, self.owner):
                    raise other_request(own)
                known = self._own.get(self._asked.get(own, ""))
                if known is not None and known.entry is not None:
                    if known.row.request != asked.digest:
                        raise other_request(own)
                    return known.entry
                live, name = self._live, own if known is None else known.row.id
                if known is not None:
                    return live._run(lambda tx: repeated(live, tx, asked, name))
                if live.store.play(live._account, own) is not None:
                    return live._run(lambda tx: decided(live, tx, asked, own))
            if self._due or not self._covers(asked.default):
                entry = self._renew(asked, own)
                if entry is not None:
                    return entry
            return self._decide(asked, own)

    def meant(self, name: str) -> str:
        """The play that a caller's own id means at this worker: the one that was decided here.

        PlayConflict if that id is the very name of another play.
        """
        with self._lock, self._uninterrupted():
            called = self._asked.get(name)
            if called is None:
                return name
            row = self._live.store.play(self._live._account, name)
            if row is not None and row.lease is None:
                raise names.given_twice(name, called)
            return called

    def decided(self, row: PlayRow) -> bool:
        """Whether a play was decided by this worker, under a lease."""
        return row.lease is not None and row.lease.rpartition("-")[0] == self.owner

    def report(self, name: str, telling: Telling) -> Outcome | None:
        """Book a report; None if it is for the ledger to take, which is not asked here."""
        with self._lock, self._uninterrupted():
            known = self._own.get(name) or self._adopted(name)
            if known is not None and self._unsure and _is_final(known.row, telling):
                self._renew()
                known = self._own.get(name) or self._adopted(name)
            if known is None or self._local is None:
                return None
            if known.entry is None and _is_final(known.row, telling):
                return None
            return self._book(name, known, self._local, telling)

    def entered(self, name: str, row: PlayRow | None) -> None:
        """Take in what the ledger has of a play after a report that it took itself."""
        with self._lock:
            known = self._own.get(name)
            if known is not None and known.entry is None and row is not None:
                self._own[name] = known._replace(row=row)

    def _book(self, name: str, known: Own, local: Fold, telling: Telling) -> Outcome:
        booked = book(local, known.row, known.given, telling)
        events, row = booked.report.events, known.row
        if not events:
            return booked.outcome
        step = {"play": row.id, "lease": row.lease, "how": telling.how, "told": booked.text}
        self._journal.write(step)
        self._steps.append((step, leases.Early(row, booked)))
        local.unlearnt = None
        for event in events:
            row = moves.moved(row, event.kind, event.payload)
            if event.kind in LEARNT and not known.unsure:
                given = known.given
                local.learn(event.kind, event.payload, given.action, given.context, given.missing)
        self._own[name] = known._replace(row=row)
        if booked.outcome in (Outcome.BREACH, Outcome.CAPPED):
            self._lease = None  # what it broke is for all to know before more is lost
        if self._due or self._lease is None:
            with suppress(StoreUnavailable):  # the journal has it; the next flush tries again
                self._renew()
        if local.unlearnt is not None:
            raise local.unlearnt
        return booked.outcome

    @contextmanager
    def _uninterrupted(self) -> Iterator[None]:
        """After an interrupt, which may strike anywhere, what the journal says is what was done."""
        self._journal.check()
        if not self._whole:
            self._steps = [(step, None) for step in self._journal.steps()]
            self._own, self._asked, self._lease = {}, {}, None
            self._renew()
            self._whole = True
        try:
            yield
        except Exception:
            raise
        except BaseException:
            self._whole = False
            raise

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
        with self._lock, self._uninterrupted():
            if self._steps or (self._lease is not None and self._due):
                self._renew()

    def close(self) -> None:
        """Enter everything, give the lease back, and delete the journal."""
        with self._lock:
            try:
                with self._uninterrupted():
                    self._renew(last=True)
            except BaseException:
                self.abandon()  # whoever comes next enters what is there
                raise
            if self._steps:
                self.abandon()
            else:
                self._journal.remove()

    def abandon(self) -> None:
        """Leave everything as a killed process does."""
        with self._lock:
            self._journal.close()

    def take_over(self) -> None:
        """Enter what dead workers left in the folder, and close their leases."""
        live = self._live
        for found in left_behind(self._folder, self._header):
            live._run(_entering(live, found))
            found.path.unlink()

    @property
    def _due(self) -> bool:
        """Whether what is in the journal ought to be in the ledger."""
        late = 2 * (monotonic() - self._since) * 1e6 >= self._term
        return len(self._steps) >= 2 * self.settings.plays or late

    def _covers(self, default: Any) -> bool:
        local = self._local
        if local is None or self._lease is None or local.lost:
            return False
        terms = local.books.terms(default)
        self._hold = terms.hold
        return local.agent.paused or local.account.available >= terms.hold

    def _decide(self, asked: Request, own: str | None) -> Entry:
        local, lease = self._local, self._lease
        assert local is not None
        assert lease is not None
        left = local.account.available
        play = local.decide(asked.context, asked.allowed, asked.default)
        now = lease.expires - self._term + int((monotonic() - self._since) * 1e6)
        kind, told = proposal(local, play, asked, now)
        told = {**told, "lease": lease.id, "unspent": left}
        check_exact(told, "payload")
        self._number += 1
        play_id = own or f"{lease.id}-{self._number}"
        row = moves.decided(play_id, local.experiment, 0, kind, told)
        entry = Entry(
            seq=0, kind=kind, experiment=local.experiment, play=play_id, at=0, actor="",
            config_version=local.version, d_posted=0, d_held=0, posted=0, held=0, reserve=0,
            payload=told, prev="", hash="",
        )  # fmt: skip
        step = {"kind": kind, "play": play_id, "payload": told, "version": local.version}
        self._journal.write(step)
        self._steps.append((step, None))
        name = names.called(play_id, told)
        self._own[name] = Own(row, local.given(entry), entry)
        if own is not None:
            self._asked[own] = name
        return entry

    def _adopted(self, name: str) -> Own | None:
        """A play that was decided elsewhere and can still change; None without a lease."""
        live, local = self._live, self._local
        if self._lease is None or local is None:
            return None
        row = names.found(partial(live.store.play, live._account), name)
        if row is None or row.experiment != live.name:
            return None
        if names.unsaid(name, row) and not self.decided(row):
            return None
        entry = next(live.store.entries(live._account, row.seq - 1, 1))
        given = local.given(entry)
        if not given.number < (len(local.agent.arms) or inf):
            return None  # an arm that came after this lease
        return Own(row, given, None, row.state == "expired" and given.missing is not None)

    def _renew(
        self, asked: Request | None = None, own: str | None = None, last: bool = False
    ) -> Entry | None:
        """Flush, and get a new lease; if there is none yet, the decision that is asked for."""
        live, steps = self._live, list(self._steps)
        plays = [step["play"] for step, _ in steps]

        def work(tx: Tx) -> Flushed:
            if tx.gone:  # the ledger may not know the lease: the journal keeps what it has
                return Flushed(None, None, decided(live, tx, asked, own) if asked else None)
            fold, lease = live._grounded(tx), None
            tx.fetch(plays)
            twins = leases.written(live, tx, steps)
            leases.returned(live, tx, self.owner)
            if not (last or fold.settings.shadow or fold.agent.paused):
                if asked is not None:
                    self._hold = fold.books.terms(asked.default).hold
                lease = leases.granted(live, tx, self.settings, self.owner, self._hold)
            if asked is None or lease is not None:
                return Flushed(twins, lease, None)
            return Flushed(twins, None, decided(live, tx, asked, own))

        # What is folded before and after is not folded with the account locked.
        if steps:
            live._catch_up()
        # Should the answer get lost, the lease may be closed: it must not be spent any more.
        self._lease, self._unsure = None, True
        twins, lease, entry = live._run(work)
        self._unsure = False
        if twins is None:
            return entry
        self._steps.clear()
        self._journal.clear()
        self._since = monotonic()
        if steps or lease is not None:
            live._catch_up()
        with live._folding:
            self._own = self._still_open(twins)
            self._asked = {own: name for own, name in self._asked.items() if name in self._own}
            if lease is not None and not live.degraded:
                self._local, self._lease = live._fold.branch(lease.id, lease.amount), lease
        return entry

    def _still_open(self, twins: dict[str, str]) -> dict[str, Own]:
        """The plays that can still change, which are in the ledger now."""
        kept = {}
        for name, known in self._own.items():
            play = known.row.id
            if known.entry is not None:  # else it is none of this journal's
                play = twins.get(play, play)
            if play in self._live._fold.waiting:
                kept[name] = Own(known.row._replace(id=play), known.given, None)
        return kept


def _is_final(row: PlayRow, telling: Telling) -> bool:
    """Whether a report may come second for good: then a play in the ledger is asked for there.

    A reward after another worker's ``reap`` is late and booked all the same; a void or a fall-back
    is not, and would be acknowledged for nothing.
    """
    return telling.how in ("void", "fall_back") and row.state == "open"


def _entering(live: Live, found: LeftBehind) -> Callable[[Tx], None]:
    def work(tx: Tx) -> None:
        live._current(tx)
        for step in found.steps:
            lease = step["payload"]["lease"] if "kind" in step else step["lease"]
            if lease is not None and tx.lease(lease) is None:
                raise DamagedFile(
                    f"{str(found.path)!r} is the journal of a worker with lease {lease!r}, which "
                    f"this ledger does not know, with {len(found.steps)} decisions and reports: "
                    "put back the ledger that granted it, or, if that is gone for good, move the "
                    "file away and go on with an account of its own, as after a restore"
                )
        leases.written(live, tx, [(step, None) for step in found.steps])
        leases.returned(live, tx, found.header.owner, found.whole)

    return work
