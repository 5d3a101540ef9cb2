"""The engine: what happens to one experiment within a transaction of its account.

It brings the fold up to date, decides, books reports (``book``: what a caller says, and the entries
a ledger takes of it) and appends their entries. It knows the fold and the ``Tx``; who asks, and
whether under a lease, it does not know.
"""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple, TypeVar

from surefoot._exact import exact, short, shown
from surefoot._types import JsonObject
from surefoot.agents import GenCB
from surefoot.agents.actions import Actions
from surefoot.agents.play import unpaid
from surefoot.errors import (
    DamagedFile,
    InvalidInput,
    PlayConflict,
    SurefootError,
    UnknownAccount,
    UnknownPlay,
)
from surefoot.floors import Outcome, Statement, statement
from surefoot.floors.events import (
    CAPPED,
    EXPIRE,
    FELL_BACK,
    LAPSE,
    OPEN,
    SETTLE,
    SETTLED,
    Event,
    Move,
    Record,
    step,
)
from surefoot.floors.plays import conflict
from surefoot.live import configuration, ids, recovery
from surefoot.live.configuration import Settings
from surefoot.live.entries import Entry, rehash
from surefoot.live.fold import FLAGS, Fold
from surefoot.live.play import OpenPlay, Request
from surefoot.live.store import Store, Tx
from surefoot.live.store.base import PAGE, PlayRow, check_process
from surefoot.live.store.tx import STATES
from surefoot.policies.base import Policy

T = TypeVar("T")
SNAPSHOT_EVERY = 1000
"""How many entries lie between two snapshots of the policy."""


class Reported(NamedTuple):
    """A reward as reported: what is booked, and what the ledger keeps of it for the policy."""

    reward: Any
    text: Any

    @classmethod
    def of(cls, reward: Any, play: str) -> Reported:
        """InvalidInput for what is no number."""
        if reward is None:
            return NO_REWARD
        number = exact(reward, f"reward of play {play}")
        return cls(number, short(number))


NO_REWARD = Reported(None, None)
"""A report that says nothing of the reward."""


class Report(NamedTuple):
    """A report as its caller makes it, or as a journal has it."""

    how: str
    """One of ``events.REPORTS``."""
    reported: Reported = NO_REWARD
    base_rewards: Any = None
    taken: bool = False
    """Whether it was taken before: then the text of its reward is all there is."""

    @classmethod
    def from_text(cls, how: str, text: Any) -> Report:
        """A report that was taken before, from its text."""
        return cls(how, Reported(None, text), None, True)


class Line(NamedTuple):
    """One entry to be appended."""

    kind: str
    d_posted: int
    d_held: int
    payload: JsonObject


class Booked(NamedTuple):
    """What a report did to one play: the entries it takes, and the text it is known by."""

    outcome: Outcome
    lines: list[Line]
    play: OpenPlay
    text: Any


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
        """The owner whose leased plays may be reported here by their bare id."""
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

    def start(self, opening: JsonObject | None, asked: Settings) -> None:
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

    def _open(self, tx: Tx, opening: JsonObject | None, asked: Settings) -> None:
        fold = self.current(tx)
        if fold.exists and opening is not None:
            usual = ("learn_missing",) if asked.learn_missing is None else ()
            configuration.check_same(opening["config"], fold.opened, self.name, fold.removed, usual)
            if fold.own_policy is not None:
                fold.settings.decided(fold.own_policy)
        elif not fold.exists:
            if self.degraded:
                self._check_policy(tx)
            if opening is None or self.degraded:
                raise no_experiment(self.name, self.account, self.degraded)
            self.append(tx, "experiment.opened", {"account": self.account, **opening})
            if reserve := opening["floor"]["reserve"]:
                self.append(tx, "endowment.granted", {"amount": reserve}, d_reserve=reserve)
        if opening is None:
            configuration.check_settings(asked, fold.opened, self.name)

    def _check_policy(self, tx: Tx) -> None:
        """InvalidInput if the experiment is there, and only its policy was not the one given."""
        kind = "experiment.opened"
        for entry in tx.entries(0):
            if entry.kind == kind and entry.experiment == self.name:
                if rehash(entry) == entry.hash:
                    config = entry.payload["config"]
                    configuration.check_policy(self.fold.own_policy, config, self.name)
                return

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
            due = self._unkept >= SNAPSHOT_EVERY and self.fold.head == tx.row.head
            return result, self._snapshot() if due else None

    @property
    def _unkept(self) -> int:
        """How many entries the fold is ahead of the newest snapshot; without one, at least 1."""
        return self.fold.seq - (-1 if self._kept is None else self._kept[0])

    def _snapshot(self) -> recovery.Snapshot | None:
        if self.degraded:
            return None
        try:
            return recovery.snapshot(self.fold)
        except Exception:  # noqa: BLE001  # a state of the user's own that cannot be said: entries can
            return None

    def _keep(self, kept: recovery.Snapshot | None) -> None:
        """Write a snapshot; a failure is ignored, as snapshots only save time."""
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
            if self._unkept > 0:
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
            if follows and self._unkept >= SNAPSHOT_EVERY:
                kept = self._snapshot()
        self._keep(kept)
        if not follows:
            self.run(self.current)

    def _jump(self) -> None:
        kept = self.store.latest_snapshot(self.account, self.name)
        if kept is None or kept[0] <= self.fold.seq:
            return
        fold = recovery.restored(self.name, self.fold.own_policy, kept)
        if fold.behind:
            return
        with self.folding:
            if not self.degraded and fold.seq > self.fold.seq:
                self.fold, self._kept = fold, kept

    def current(self, tx: Tx) -> Fold:
        """The fold as of this work: with others' entries, without own ones that were not kept."""
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
        self, tx: Tx, kind: str, payload: JsonObject, *, done: bool = False, **moves: Any
    ) -> Entry | None:
        """Append an entry of this experiment, and fold it; ``done``: see ``Fold.apply``."""
        version = self.fold.version
        if kind == "experiment.opened" or kind == "experiment.configured":
            version += 1
        entry = tx.append(
            kind, experiment=self.name, payload=payload, config_version=version, **moves
        )
        if entry is not None:
            self.take(entry, done)
        return entry

    def take(self, entry: Entry, done: bool = False) -> None:
        """Fold an entry that was appended, if the fold has what was there before it."""
        if not self.degraded and self.fold.head == entry.prev:
            self.fold.apply(entry, done)

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
        """Stop exploring, as a play's row is wrong; returns the error to raise."""
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
        """The entries of decisions, in order; all requests are checked before any is decided."""
        if len(wanted) == 1:
            return [self.decide(tx, wanted[0])]
        fold = self.current(tx)
        tx.fetch(asked.id for asked in wanted if asked.id is not None)
        for asked in wanted:
            if asked.id is None or self._decided_before(tx, asked, asked.id) is None:
                fold.check(asked)
        return [self.decide(tx, asked) for asked in wanted]

    def _decided_before(self, tx: Tx, asked: Request, own: str) -> Entry | None:
        """The entry of the play that has a caller's id; None if no play has it."""
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

    def _default(self, tx: Tx, asked: Request, payload: JsonObject) -> Entry:
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
            self.take(entry)
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
        return dataclasses.replace(statement(books), earned=earned)  # type: ignore[return-value, arg-type]

    def config(self, tx: Tx) -> JsonObject:
        """The configuration in force."""
        fold = self.current(tx)
        config, live = fold.opened[0], fold.settings._asdict()
        if live["holdout"] is None:
            del live["holdout"]
        return {**config, "settings": {**config["settings"], **live}}


def book(agent: GenCB, settings: Settings, row: PlayRow, play: OpenPlay, report: Report) -> Booked:
    """Book a report of the play that a row stands for; changes nothing but the result.

    PlayConflict if it contradicts the row; InvalidInput where a reward is missing, or base rewards.
    """
    actions, how, reported = agent.actions, report.how, report.reported
    floor: Any = agent.books.floor
    if report.taken or report.base_rewards is not None or actions.semi_bandit:
        reported = _reported(report, actions, row, play)
    record = Record(row.role == "explore", play.terms, STATES[row.role, row.state])
    record.drawn = play.drawn
    if row.capped:
        record.state = CAPPED
    if row.told is not None:
        record.reward = floor.read(_worth(actions, play, row.told), "reward")
    random, reward, units = play.terms.high is not None, reported.reward, None
    if how == SETTLE and record.explores and record.state is not FELL_BACK and reward is None:
        raise unpaid(row.id, play.arm)
    if not random and not record.explores and record.state is SETTLED and record.reward is None:
        reward = None  # of a known value, and told after its report: no entry could say it
    if how == SETTLE and (reward is not None or (record.explores and not random)):
        exactly = type(reward) is Decimal  # as nearly always: then it was read before
        what = f"reward of play {row.id}"
        units = floor.unit.floor(reward) if exactly else floor.read(reward, what)
    if how == EXPIRE and (settings.reward_window is not None or row.deadline is not None):
        how = LAPSE
    lines: list[Line] = []
    if how == SETTLE and random and units is not None and not record.explores:
        first = step(record, how)  # that it was played is an entry of its own
        if first.event is not None:
            lines.append(_line(first, record, row, play, NO_REWARD))
            record = Record(False, record.terms, first.state, None)
    move = step(record, how, units, play.low, play.high)
    if move.outcome is None:
        raise conflict(row.id, record, how, reward)
    if move.event is not None:
        lines.append(_line(move, record, row, play, reported))
    return Booked(move.outcome, lines, play, reported.text)


def _line(move: Move, record: Record, row: PlayRow, play: OpenPlay, reported: Reported) -> Line:
    event = move.event
    assert event is not None
    payload: JsonObject = {"asked": move.required} if move.required else {}
    for name, _ in move.counts:
        if name in FLAGS:
            payload[FLAGS[name]] = True
    if reported.reward is not None:
        payload["reward"], payload["told"] = move.reward, reported.text
    if event is Event.ACKNOWLEDGED:
        payload["play"] = row.id
    if event is Event.VALUED:
        payload["between"] = [play.terms.value, play.terms.high]
    if event is Event.LATE or (record.state is not OPEN and event in _FIRST):
        payload |= play.again()
    return Line(str(event), move.posted, move.held, payload)


_FIRST = (Event.CONFIRMED, Event.VOIDED)
"""The first report of a default play that expired, one of these, tells it again."""


def _reported(report: Report, actions: Actions, row: PlayRow, play: OpenPlay) -> Reported:
    """What a report says of the reward; InvalidInput where base rewards are missing, or none."""
    if report.taken:
        text = report.reported.text
        return NO_REWARD if text is None else Reported(_worth(actions, play, text), text)
    reward, base = report.reported.reward, report.base_rewards
    super_arm = play.explores and actions.semi_bandit
    if base is None:
        if report.how == SETTLE and super_arm and row.state in ("open", "expired"):
            raise InvalidInput(
                f"play {row.id} is the super arm {shown(play.arm)}: report base_rewards=, one for "
                "each of its base arms"
            )
        return report.reported
    if not super_arm:
        raise InvalidInput(
            f"base_rewards of play {row.id}: it is no super arm; report reward alone"
        )
    parts = actions.base_rewards(row.id, play.arm, base)
    texts = [short(part) for part in parts]
    if reward is None:
        return Reported(actions.super_arm_reward(parts, play.arm), texts)
    number = exact(reward, f"reward of play {row.id}")
    return Reported(number, {"reward": short(number), "base": texts})


def _worth(actions: Actions, play: OpenPlay, reported: Any) -> Any:
    """The number that was booked of a reward as the ledger tells it."""
    if isinstance(reported, dict):
        return Decimal(reported["reward"])
    if isinstance(reported, list):
        return actions.super_arm_reward(tuple(map(Decimal, reported)), play.arm)
    return Decimal(reported)


def no_experiment(
    name: str, account: str, degraded: str | None = None, there: Iterable[str] = ()
) -> InvalidInput:
    """The error for an unknown experiment without an agent; ``there``: the store's accounts."""
    why = f" ({degraded})" if degraded else ""
    if listed := ", ".join(map(repr, there)):
        why = f" (the store has the accounts {listed})"
    return InvalidInput(
        f"name = {name!r}: account {account!r} has no such experiment{why}; "
        "pass an agent to open it"
    )
