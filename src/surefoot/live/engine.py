"""The engine: what happens to one experiment within a transaction of its account.

It brings the fold up to date, decides, books reports and appends their entries. It knows the fold
and the ``Tx``; who asks, and whether under a lease, it does not know.
"""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

from surefoot._exact import shown
from surefoot.errors import (
    DamagedFile,
    InvalidInput,
    PlayConflict,
    SurefootError,
    UnknownAccount,
    UnknownPlay,
)
from surefoot.floors import Outcome, Statement, statement
from surefoot.live import configuration, ids, recovery
from surefoot.live.configuration import Settings
from surefoot.live.entries import Entry
from surefoot.live.fold import Fold
from surefoot.live.play import Request
from surefoot.live.reports import Booked, Report, book
from surefoot.live.store import Store, Tx
from surefoot.live.store.base import PAGE, PlayRow, check_process
from surefoot.policies.base import Policy

T = TypeVar("T")
SNAPSHOT_EVERY = 1000
"""How many entries lie between two snapshots of the policy."""


class Engine:
    """One experiment of an account; any number of threads may run works of it.

    ``folding`` is the lock of whoever reads or moves the fold. A work takes it once its transaction
    has the account; whoever holds it asks nothing of the store that waits for the account.
    """

    def __init__(self, store: Store, account: str, name: str, own_policy: Policy | None) -> None:
        self._process = os.getpid()
        self.store, self.account, self.name = store, account, name
        self.degraded: str | None = None
        self.owner = ""
        """Whose leases' plays may be reported here by their bare id."""
        self.fold = Fold(name, own_policy)
        self.folding = threading.Lock()
        self._kept: recovery.Snapshot | None = None
        """The newest snapshot that is known here."""

    @property
    def foreign(self) -> bool:
        """Whether this is a forked child, whose parent it belongs to."""
        return os.getpid() != self._process

    def check_process(self) -> None:
        """InvalidInput in a forked child. Before any lock: a thread of the parent may hold it."""
        check_process(self._process, "agent")

    def start(self, opening: dict[str, Any] | None, asked: Settings) -> None:
        """Recover the experiment; open it with the payload ``opening`` if it is not there."""
        store, account = self.store, self.account
        own_policy = self.fold.own_policy
        try:
            kept = store.latest_snapshot(account, self.name)
        except UnknownAccount:
            raise no_experiment(self.name, account, there=store.accounts()) from None
        self.fold, self.degraded = recovery.recovered(
            self.name, own_policy, kept, lambda after: store.entries(account, after), None
        )

        def opened(tx: Tx) -> None:
            self.degraded = self.degraded or tx.doubt
            self._open(tx, opening, asked)

        store.transact(account, opened)
        self._kept = self._snapshot()

    def _open(self, tx: Tx, opening: dict[str, Any] | None, asked: Settings) -> None:
        fold = self.current(tx)
        if fold.exists and opening is not None:
            usual = ("learn_missing",) if asked.learn_missing is None else ()
            configuration.check_same(opening["config"], fold.opened, self.name, fold.removed, usual)
            if fold.own_policy is not None:
                fold.settings.decided(fold.own_policy)
        elif not fold.exists:
            if opening is None or self.degraded:
                raise no_experiment(self.name, self.account, self.degraded)
            self.append(tx, "experiment.opened", {"account": self.account, **opening})
            if reserve := opening["floor"]["reserve"]:
                self.append(tx, "endowment.granted", {"amount": reserve}, d_reserve=reserve)
        if opening is None:
            configuration.check_settings(asked, fold.opened, self.name)

    def run(self, work: Callable[..., T], *args: Any) -> T:
        """Run ``work(tx, *args)`` in one transaction; now and then a snapshot follows."""
        if os.getpid() != self._process:
            self.check_process()
        result, kept = self.store.transact(self.account, partial(self._within, work, args))
        if kept is not None:
            self._keep(kept)
        return result

    def _within(
        self, work: Callable[..., T], args: tuple[Any, ...], tx: Tx
    ) -> tuple[T, recovery.Snapshot | None]:
        self.degraded = self.degraded or tx.doubt
        with self.folding:
            result = work(tx, *args)
            known, fold = -1 if self._kept is None else self._kept[0], self.fold
            due = fold.seq >= known + SNAPSHOT_EVERY and fold.head == tx.row.head
            return result, self._snapshot() if due else None

    def _snapshot(self) -> recovery.Snapshot | None:
        if self.degraded:
            return None
        try:
            return recovery.snapshot(self.fold)
        except (SurefootError, ValueError):  # a policy's state that JSON cannot say: entries can
            return None

    def _keep(self, kept: recovery.Snapshot | None) -> None:
        """Only speed depends on snapshots, so failing to write one fails nothing."""
        if kept is None or (self._kept is not None and kept[0] < self._kept[0]):
            return
        self._kept = kept
        try:
            self.store.snapshot(self.account, *kept, experiment=self.name)
        except (SurefootError, OSError):
            return

    def close(self) -> None:
        """Write a last snapshot, if there is anything new."""
        if not self.degraded:
            self.run(self.current)
            if self._kept is None or self.fold.seq > self._kept[0]:
                self._keep(self._snapshot())

    def catch_up(self) -> None:
        """Take in what others appended, without the account's lock, which they may have meanwhile.

        From the newest snapshot, where that is ahead: another worker folded what came before it.
        """
        if self.store.account(self.account).seq > self.fold.seq + SNAPSHOT_EVERY // 2:
            self._jump()
        new = list(self.store.entries(self.account, self.fold.seq, limit=10 * PAGE))
        kept = None
        with self.folding:
            fold = self.fold
            follows = not (self.degraded or fold.lost) and not recovery.caught_up(
                fold, lambda after: (entry for entry in new if entry.seq > after), None
            )
            known = -1 if self._kept is None else self._kept[0]
            if follows and fold.seq >= known + SNAPSHOT_EVERY:
                kept = self._snapshot()
        self._keep(kept)
        if not follows:
            self.run(self.current)

    def _jump(self) -> None:
        kept = self.store.latest_snapshot(self.account, self.name)
        if kept is None or kept[0] <= self.fold.seq:
            return
        fold = recovery.restored(self.name, self.fold.own_policy, kept)
        with self.folding:
            if not self.degraded and fold.seq > self.fold.seq:
                self.fold, self._kept = fold, kept

    def current(self, tx: Tx) -> Fold:
        """The fold as of this work: what others appended is taken in, what never came is undone."""
        if self.degraded or self.fold.follows(tx.row):
            return self.fold
        if recovery.caught_up(self.fold, tx.entries, tx.row) is not None:
            fold, self.degraded = recovery.recovered(
                self.name, self.fold.own_policy, self._kept, tx.entries, tx.row
            )
            self.fold = fold if fold.exists else self.fold
        return self.fold

    def grounded(self, tx: Tx) -> Fold:
        """The fold, if it is of what was committed, though perhaps not of the newest; else a new.

        It is another where a work moved it whose commit then failed.
        """
        fold, seq = self.fold, self.fold.seq
        if self.degraded:
            return fold
        behind = not fold.lost and 0 < seq <= tx.row.seq and self.entry(tx, seq).hash == fold.head
        return fold if behind else self.current(tx)

    def sound(self, tx: Tx) -> Fold:
        """The fold, if the ledger can be trusted; else PlayConflict."""
        fold = self.current(tx)
        if self.degraded:
            raise PlayConflict(
                f"the ledger is in doubt ({self.degraded}): nothing changes until it is right and "
                "this agent is opened again; reports are still taken"
            )
        return fold

    def append(
        self, tx: Tx, kind: str, payload: dict[str, Any], *, done: bool = False, **moves: Any
    ) -> Entry | None:
        """Append an entry of this experiment, and fold it; ``done``: as of ``Fold.apply``."""
        version = self.fold.version
        if kind == "experiment.opened" or kind == "experiment.configured":
            version += 1
        entry = tx.append(
            kind, experiment=self.name, payload=payload, config_version=version, **moves
        )
        if entry is not None and not self.degraded and self.fold.head == entry.prev:
            self.fold.apply(entry, done)
        return entry

    def take(self, entry: Entry) -> None:
        """Fold an entry that was appended, if the fold has what was there before it."""
        if not self.degraded and self.fold.head == entry.prev:
            self.fold.apply(entry)

    def entry(self, tx: Tx, seq: int) -> Entry:
        """An entry that must be there; DamagedFile if it is gone."""
        entry = next(tx.entries(seq - 1, 1), None)
        if entry is None or entry.seq != seq:
            raise DamagedFile(
                f"entry {seq} of account {self.account!r} is gone; put back the ledger that had it"
            )
        return entry

    def version(self, tx: Tx, experiment: str, seq: int) -> int:
        """The configuration that an entry about entry ``seq`` is under; another's: as that is."""
        if experiment == self.name:
            return self.fold.version
        return self.entry(tx, seq).config_version

    def differs(self, tx: Tx, play: str, row: PlayRow | None) -> bool:
        """Whether a play's row is not as its entries left it, as far as the fold knows them."""
        fold = self.fold
        if fold.head != tx.row.head or (row is not None and row.experiment != self.name):
            return False
        return (row is not None and row.state == "open") is not (play in fold.waiting)

    def doubt(self, play: str) -> DamagedFile:
        """Explore nothing any more, as a play's row is wrong; returns the error that says so."""
        self.degraded = self.degraded or f"the row of play {play!r} is not as its entries left it"
        return DamagedFile(
            f"the row of play {play!r} is gone, or is not as its entries left it; nothing was "
            "done: put it back as surefoot verify says, and open this agent again"
        )

    def row(self, tx: Tx, name: str, report: bool = True) -> PlayRow:
        """The row of a play of this experiment; ``report``: not by an id that may mean two."""
        if "." not in name:  # as nearly always
            row = tx.play(name)
            if row is not None and row.lease is None and row.experiment == self.name:
                return row
        row = ids.find(tx.play, name)
        own = name.partition(".")[0]  # of two leases' plays one may be unknown here
        if row is None and tx.play(own) is None and self.differs(tx, own, None):
            self.doubt(own)
            raise self.doubt(name)
        if row is None or row.experiment != self.name:
            raise UnknownPlay(
                f"play {shown(name)} was never given out by experiment {self.name!r}; report the "
                "play that select() returned, or its id (of a play under another worker's lease "
                "the ledger knows after that worker's next flush)"
            )
        ours = ids.leased_by(row.lease, self.owner)
        if report and not ours and ids.ambiguous(name, row):
            raise ids.given_twice(name, f"{name}.{row.lease}")
        return row

    def decide_many(self, tx: Tx, wanted: Sequence[Request]) -> list[Entry]:
        """The entries of decisions, in order; all are refused before any of them is made."""
        if len(wanted) == 1:
            return [self.decide(tx, wanted[0])]
        fold = self.current(tx)
        tx.fetch(asked.id for asked in wanted if asked.id is not None)
        for asked in wanted:
            if asked.id is None or self._decided_before(tx, asked, asked.id) is None:
                fold.check(asked)
        return [self.decide(tx, asked) for asked in wanted]

    def _decided_before(self, tx: Tx, asked: Request, own: str) -> Entry | None:
        """The entry of the play that has a caller's id, if it has one."""
        row = tx.play(own)
        if row is None:
            return None
        if ids.named_by_lease(own, row.lease):
            raise ids.other_request(own)
        return self.repeat(tx, asked, own)

    def decide(self, tx: Tx, asked: Request) -> Entry:
        """The entry of a decision: that of its id if there is one, else a new one."""
        own = asked.id
        if own is not None and (before := self._decided_before(tx, asked, own)) is not None:
            return before
        fold = self.current(tx)
        if own in fold.waiting:  # decided before: its row is gone
            raise self.doubt(str(own))
        if self.degraded:
            return self._default(tx, asked, fold.unproposed(asked, tx.now))
        kind, payload, play = fold.decide(asked, tx.now)
        try:
            if kind == "decision.defaulted":
                return self._default(tx, asked, payload)
            hold = play.terms.hold
            entry = self.append(tx, kind, payload, play=own, d_held=hold, gate=hold, done=True)
            if entry is not None:
                return entry
            fold.lose()  # the store has less than the fold believed: it is right
            return self._default(tx, asked, fold.refused(asked, payload, play))
        except BaseException:
            fold.lose()
            raise

    def _default(self, tx: Tx, asked: Request, payload: dict[str, Any]) -> Entry:
        """Nothing is credited before it is reported as played."""
        entry = self.append(tx, "decision.defaulted", payload, play=asked.id, done=True)
        assert entry is not None
        return entry

    def repeat(self, tx: Tx, asked: Request, play: str) -> Entry:
        """The entry of a play that was decided before, for the same request."""
        row = tx.play(play)
        if row is not None and row.experiment != self.name:
            raise PlayConflict(
                f"id = {play!r} was given out by experiment {row.experiment!r}; experiments that "
                f"share an account share its ids: say '{self.name}-{play}', for example"
            )
        if row is None or row.request != asked.digest:
            raise ids.other_request(play)
        return self.entry(tx, row.seq)

    def report(
        self, tx: Tx, name: str, report: Report
    ) -> tuple[Outcome, Exception | None, PlayRow | None]:
        """Book a report; also why the policy failed to learn it, and what its worker is to know."""
        self.current(tx).unlearnt = None
        row = self.row(tx, name)
        outcome = self.book(tx, row, report)
        return outcome, self.fold.unlearnt, tx.play(row.id) if self.owner else None

    def book(self, tx: Tx, row: PlayRow, report: Report) -> Outcome:
        """Book a report of the play that a row stands for; DamagedFile where that is wrong."""
        if self.differs(tx, row.id, row):
            raise self.doubt(row.id)
        fold = self.fold
        play = fold.waiting.get(row.id) or fold.open_play(self.entry(tx, row.seq))
        return self.enter(tx, row, book(fold.agent, fold.settings, row, play, report))

    def enter(self, tx: Tx, row: PlayRow, booked: Booked) -> Outcome:
        """Append what a report of a play came to."""
        ours = row.experiment == self.name
        version = self.fold.version if ours else self.version(tx, row.experiment, row.seq)
        for line in booked.lines:
            entry = tx.append(
                line.kind, experiment=row.experiment, play=row.id, d_posted=line.d_posted,
                d_held=line.d_held, payload=line.payload, config_version=version,
            )  # fmt: skip
            assert entry is not None
            if not self.degraded and self.fold.head == entry.prev:
                self.fold.apply(entry)
        return booked.outcome

    def expire_due(self, tx: Tx, limit: int) -> list[str]:
        """Book the plays whose reward window is over at their worst; returns their ids."""
        expired = []
        for row in tx.due(tx.now, limit):
            if self.differs(tx, row.id, row):
                self.doubt(row.id)
            else:
                expired.append(row)
        for row in expired:
            self.book(tx, row, Report("expire"))
        return [row.id for row in expired]

    def statement(self, tx: Tx) -> Statement:
        """The books; on a shared account slack, held and reserve are the account's."""
        fold, row = self.current(tx), tx.row
        account, books = fold.account, fold.books
        account.reserve, account.posted, account.held = row.reserve, row.posted, row.held
        posted = row.posted if self.degraded else fold.posted
        earned = books.floor.unit.decimal(posted + books.required)
        return dataclasses.replace(statement(books), earned=earned)

    def config(self, tx: Tx) -> dict[str, Any]:
        """The configuration in force."""
        fold = self.current(tx)
        config = fold.opened[0]
        return {**config, "settings": {**config["settings"], **fold.settings._asdict()}}


def no_experiment(
    name: str, account: str, degraded: str | None = None, there: Iterable[str] = ()
) -> InvalidInput:
    """The error where nobody gave an agent to open an experiment with; ``there``: the accounts."""
    why = f" ({degraded})" if degraded else ""
    if listed := ", ".join(map(repr, there)):
        why = f" (the store has the accounts {listed})"
    return InvalidInput(
        f"name = {name!r}: account {account!r} has no such experiment{why}; "
        "pass an agent to open it"
    )
