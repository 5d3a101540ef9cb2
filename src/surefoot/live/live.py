"""Live: an agent whose account is a durable ledger, shared by threads, processes and hosts."""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from surefoot._exact import shown
from surefoot.agents import GenCB
from surefoot.errors import DamagedFile, InvalidInput, SurefootError, UnknownAccount, UnknownPlay
from surefoot.floors import Statement, statement
from surefoot.live import changes, leases, meant, names, opening, recovery, reporting
from surefoot.live.decide import decided
from surefoot.live.entries import Entry, checked_text
from surefoot.live.fold import Fold
from surefoot.live.leases import Lease
from surefoot.live.opening import Settings
from surefoot.live.play import LivePlay, Request, checked_id
from surefoot.live.store import Store, Tx, open_store
from surefoot.live.store.base import PAGE, PlayRow

if TYPE_CHECKING:
    from surefoot.live.monitor import DefaultReport
    from surefoot.live.worker import Worker

T = TypeVar("T")
SNAPSHOT_EVERY = 1000
"""How many entries lie between two snapshots of the policy."""


class Live(changes.Changes, reporting.Reporting):
    """The same agent, in a real product: what it answered is in the store, whatever happens.

    ``agent``: a fresh ``GenCB`` over a ``RewardFloor``, the ``config`` of another Live, or None for
    an experiment that is there already. The store wins: its floor, its policy's experience and its
    randomness go on, and another configuration is an error that names the field. What its policy
    learned before comes along; the account starts with its reserve alone. ``store``: the path of a
    SQLite file, a PostgreSQL URL or a ``Store``, which the caller then closes. ``name``: the
    experiment; None: the only one there is, or a new one called "default". ``account``: whose floor
    it shares with other experiments; None: its own.
    ``reward_window``: after how many seconds (or what timedelta) of the store's clock ``reap``
    books a missing reward at its worst and forgets a default play that nobody has reported, until
    its report comes; None: never. ``learn_missing``: what a play that expires teaches the policy:
    its "worst", until ``correct`` takes that back for the true reward, or nothing ("skip"); None:
    "worst" in a new experiment that has a window and a policy that can. ``shadow``: the default
    plays always, and what the policy would have done is written down. ``lease``: a ``Lease``, to
    decide from a slice of the account without asking the store each time; None: ask it.
    ``timeout``: how many seconds to wait for the store, as ``open_store`` takes it; None: 5, or
    what a Store was opened with. Raises InvalidInput for what cannot go live, StoreUnavailable
    within twice ``timeout``.

    Source: the books are those of ``GenCB``; durable holds, ids and recovery are ours. Any number
    of Lives, in threads and processes, may share one experiment. Each decision is one transaction,
    committed before it is answered; under a lease it is in the worker's journal by then.

    >>> from surefoot import GenCB, RewardFloor, UCB1
    >>> from surefoot.live import MemoryStore
    >>> store = MemoryStore()
    >>> live = Live(GenCB(UCB1(n_arms=2), RewardFloor(default=0.5, alpha=0.5)), store)
    >>> play = live.select(id="visit-1")
    >>> play.arm, live.update("visit-1")
    (None, <Outcome.BOOKED: 'booked'>)
    >>> live.select(id="visit-2").arm
    0
    >>> again = Live(None, store)  # after a crash, or in another process
    >>> again.select(id="visit-2").arm, again.account.held
    (0, Decimal('0.250000000'))

    Holds when: the floor's own conditions hold and the store keeps what it acknowledged; on every
    path, under any delay, loss, order, crash or number of workers. Does not hold when: plays are
    reported that were not made, or the ledger is edited: then ``degraded`` says so, nothing is
    explored any more, and reports are still taken.
    """

    def __init__(
        self,
        agent: GenCB | dict[str, Any] | None,
        store: Any,
        name: str | None = None,
        *,
        account: str | None = None,
        reward_window: Any = None,
        shadow: bool = False,
        learn_missing: str | None = None,
        lease: Lease | None = None,
        timeout: Any = None,
    ) -> None:
        if lease is not None and not isinstance(lease, Lease):
            raise InvalidInput(f"lease = {shown(lease)} must be a Lease(journal=...), or None")
        for given, what in ((name, "name"), (account, "account")):
            if given is not None:
                checked_text(given, what)
        self.degraded: str | None = None
        """Why nothing is explored any more; None: all is well."""
        settings = self._asked = Settings.of(reward_window, shadow, learn_missing)
        if isinstance(agent, dict):
            config = agent
            agent, settings = opening.configured(config)
            opening.check_settings(self._asked, [config], name or meant.USUAL)
            self._asked = self._asked._replace(learn_missing=settings.learn_missing)
        payload = None if agent is None else opening.opened(opening.check_agent(agent), settings)
        own = None if payload is None or payload["config"]["policy"]["config"] else agent
        self._own_policy = None if own is None else own.policy
        self._closes = not isinstance(store, Store)
        self._process = os.getpid()
        self.store = open_store(store, new=agent is not None, timeout=timeout)
        self._closed = False
        self._kept: recovery.Snapshot | None = None
        self._worker: Worker | None = None
        self._folding = threading.Lock()
        """Of whoever reads or moves the fold: a work, or ``_catch_up``."""
        try:
            self.name, self._account = meant.experiment(self.store, name, account)
            if agent is not None:
                self.store.open_account(self._account, agent.floor.places, True)
            self._start(payload)
            if lease is not None:
                self._worker = _worker(self, lease)
        except BaseException:
            if self._closes:
                self.store.close()
            raise

    def __repr__(self) -> str:
        """Whose ledger it is and how it stands, as of its last work: it asks nobody."""
        parts = [repr(self.name), f"account={self._account!r}", f"store={self.store!r}"]
        if (worker := self._worker) is not None:
            parts.append(f"lease={worker.holds!r}")
        if self.degraded:
            parts.append(f"degraded={self.degraded!r}")
        return f"Live({', '.join([*parts, *(['closed'] if self._closed else [])])})"

    def _start(self, payload: dict[str, Any] | None) -> None:
        """Recover what is there; open the experiment if it is not."""
        store, account = self.store, self._account
        try:
            kept = store.latest_snapshot(account, self.name)
        except UnknownAccount:
            raise self._missing(store.accounts()) from None
        self._fold, self.degraded = recovery.recovered(
            self.name, self._own_policy, kept, lambda after: store.entries(account, after), None
        )
        self._transact(lambda tx: self._open(tx, payload))
        self._kept = self._snapshot(every=1)

    def _open(self, tx: Tx, payload: dict[str, Any] | None) -> None:
        fold = self._current(tx)
        if fold.exists and payload is not None:
            usual = ("learn_missing",) if self._asked.learn_missing is None else ()
            opening.check_same(payload["config"], fold.opened, self.name, fold.removed, usual)
            if self._own_policy is not None:
                fold.settings.decided(self._own_policy)
        elif not fold.exists:
            if payload is None or self.degraded:
                raise self._missing()
            self._append(tx, "experiment.opened", {"account": self._account, **payload})
            if reserve := payload["floor"]["reserve"]:
                self._append(tx, "endowment.granted", {"amount": reserve}, d_reserve=reserve)
        if payload is None:
            opening.check_settings(self._asked, fold.opened, self.name)

    def _missing(self, there: Iterable[str] = ()) -> InvalidInput:
        why = f" ({self.degraded})" if self.degraded else ""
        if listed := ", ".join(map(repr, there)):
            why = f" (the store has the accounts {listed})"
        return InvalidInput(
            f"name = {self.name!r}: account {self._account!r} has no such experiment{why}; "
            "pass an agent to open it"
        )

    def select(
        self,
        context: Any = None,
        allowed: Iterable[Any] | None = None,
        default: Any = None,
        id: str | None = None,  # noqa: A002  # a play's id is called so everywhere
    ) -> LivePlay:
        """Decide one play, as the agent does; the answer is in the store before it is given.

        ``id``: the caller's own name of this play. The same id and request again give the same
        play, so a lost answer is asked for again; with another request it is a PlayConflict.
        The context has to be plain values (see ``save``): it is kept with the play.
        """
        self._check_process()
        asked, own = Request.of(context, allowed, default), checked_id(id)
        if self._worker is not None:
            entry = self._worker.select(asked, own)
        else:
            entry = self._run(lambda tx: decided(self, tx, asked, own))
        return LivePlay.of(entry, self._places)

    def reap(self, limit: int = 500) -> list[str]:
        """Expire the plays of this account whose reward window is over; returns their ids.

        Also default plays that nobody has reported.

        Leases that are overdue are forfeited, and what a dead worker left in this one's folder of
        journals is entered. Call it now and then, from anywhere.
        """
        self.flush()
        if self._worker is not None:
            self._worker.take_over()
        own = "" if self._worker is None else self._worker.owner

        def work(tx: Tx) -> list[str]:
            self._current(tx)
            leases.forfeited(self, tx, but=own)
            late = [row for row in tx.due(tx.now, limit) if self._agrees(tx, row.id, row)]
            for row in late:
                self._booked(tx, row, reporting.Telling("expire"))
            return [row.id for row in late]

        return self._run(work)

    def flush(self) -> None:
        """Enter in the ledger what is only in the journal; without a lease nothing is."""
        self._check_process()
        if self._worker is not None:
            self._worker.flush()

    def explain(self, play: LivePlay | str) -> str:
        """Say in one sentence, in numbers, why a play is what it is."""
        self._check_process()
        return play.explain() if isinstance(play, LivePlay) else self.play(play).explain()

    def play(self, play: LivePlay | str) -> LivePlay:
        """A play of this experiment as it was decided; an id means what it means in a report."""
        self._check_process()
        name, entry = reporting.named(play), None
        if self._worker is not None:
            name = name if isinstance(play, LivePlay) else self._worker.meant(name)
            entry = self._worker.known(name)
        if entry is None:
            entry = self._run(lambda tx: self._entry(tx, self._row(tx, name, report=False).seq))
        return LivePlay.of(entry, self._places)

    @property
    def account(self) -> Statement:
        """The books as they stand, in exact decimals.

        On a shared account slack, held and reserve are the account's, the rest this experiment's.
        """
        self.flush()
        return self._run(self._stated)

    def _stated(self, tx: Tx) -> Statement:
        fold, row = self._current(tx), tx.row
        account, books = fold.account, fold.books
        account.reserve, account.posted, account.held = row.reserve, row.posted, row.held
        posted = row.posted if self.degraded else fold.posted
        earned = books.floor.unit.decimal(posted + books.required)
        return dataclasses.replace(statement(books), earned=earned)

    def monitor(self, delta: float = 0.01) -> DefaultReport:
        """Tell whether the default pays less than it was declared to; reads the whole ledger.

        See ``surefoot.live.monitor``: its alarm is false with probability ``delta`` at most,
        however often it is asked.
        """
        from surefoot.live.monitor import watch

        self._check_process()
        return watch(self.store.entries(self._account), self.name, delta)

    @property
    def config(self) -> dict[str, Any]:
        """The configuration in force, plain JSON without floats; another Live can be made of it."""

        def work(tx: Tx) -> dict[str, Any]:
            fold = self._current(tx)
            config = fold.opened[0]
            return {**config, "settings": {**config["settings"], **fold.settings._asdict()}}

        return self._run(work)

    def close(self) -> None:
        """Give back the lease, write a last snapshot, and close the store if it was opened here.

        In a forked child it does nothing: what is open belongs to the parent.
        """
        if self._closed or self._foreign:
            return
        self._closed = True
        try:
            if self._worker is not None:
                self._worker.close()
            if not self.degraded:
                self._run(self._current)
                self._keep(self._snapshot(every=1))
        finally:
            if self._closes:
                self.store.close()

    def __getstate__(self) -> NoReturn:
        """Raise InvalidInput: it cannot be copied or pickled, as for another process."""
        raise InvalidInput(
            f"this agent belongs to the process that opened it, and cannot be copied or pickled; "
            f"open one of your own: Live(None, store, {self.name!r})"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _foreign(self) -> bool:
        return os.getpid() != self._process

    def _check_process(self) -> None:
        """InvalidInput in a forked child. Before any lock: a thread of the parent may hold it."""
        if self._foreign:
            raise InvalidInput("this agent was opened by another process; open one of your own")

    @property
    def _places(self) -> int:
        return self._fold.agent.floor.places

    def _run(self, work: Callable[[Tx], T]) -> T:
        """One transaction, and now and then a snapshot after it."""
        self._check_process()

        def counted(tx: Tx) -> tuple[T, recovery.Snapshot | None]:
            with self._folding:
                result = work(tx)
                return result, self._snapshot() if self._fold.head == tx.row.head else None

        result, kept = self._transact(counted)
        self._keep(kept)
        return result

    def _transact(self, work: Callable[[Tx], T]) -> T:
        """One transaction; what the store doubts of its ledger is in doubt here from then on."""

        def heeding(tx: Tx) -> T:
            self.degraded = self.degraded or tx.doubt
            return work(tx)

        return self.store.transact(self._account, heeding)

    def _snapshot(self, every: int | None = None) -> recovery.Snapshot | None:
        """A snapshot of the fold, if so many entries came since the last."""
        known = -1 if self._kept is None else self._kept[0]
        if self.degraded or self._fold.seq < known + (every or SNAPSHOT_EVERY):
            return None
        try:
            return recovery.snapshot(self._fold)
        except (SurefootError, ValueError):  # a policy's state that JSON cannot say: entries can
            return None

    def _keep(self, kept: recovery.Snapshot | None) -> None:
        """Only speed depends on snapshots, so failing to write one fails nothing."""
        if kept is None or (self._kept is not None and kept[0] < self._kept[0]):
            return
        self._kept = kept
        try:
            self.store.snapshot(self._account, *kept, experiment=self.name)
        except (SurefootError, OSError):
            return

    def _catch_up(self) -> None:
        """Take in what others appended, without the account's lock, which they may have meanwhile.

        From the newest snapshot, where that is ahead: another worker folded what came before it.
        """
        if self.store.account(self._account).seq > self._fold.seq + SNAPSHOT_EVERY // 2:
            self._jump()
        new = list(self.store.entries(self._account, self._fold.seq, limit=10 * PAGE))
        with self._folding:
            fold = self._fold
            follows = not (self.degraded or fold.lost) and not recovery.caught_up(
                fold, lambda after: (entry for entry in new if entry.seq > after), None
            )
            kept = self._snapshot() if follows else None
        self._keep(kept)
        if not follows:
            self._run(self._current)

    def _jump(self) -> None:
        kept = self.store.latest_snapshot(self._account, self.name)
        if kept is None or kept[0] <= self._fold.seq:
            return
        fold = recovery.restored(self.name, self._own_policy, kept)
        with self._folding:
            if not self.degraded and fold.seq > self._fold.seq:
                self._fold, self._kept = fold, kept

    def _current(self, tx: Tx) -> Fold:
        """The fold as of this work: what others appended is taken in, what never came is undone."""
        if self.degraded or self._fold.follows(tx.row):
            return self._fold
        if recovery.caught_up(self._fold, tx.entries, tx.row) is not None:
            fold, self.degraded = recovery.recovered(
                self.name, self._own_policy, self._kept, tx.entries, tx.row
            )
            self._fold = fold if fold.exists else self._fold
        return self._fold

    def _grounded(self, tx: Tx) -> Fold:
        """The fold, if it is of what was committed, though perhaps not of the newest; else a new.

        It is another where a work moved it whose commit then failed.
        """
        fold, seq = self._fold, self._fold.seq
        if self.degraded:
            return fold
        behind = not fold.lost and 0 < seq <= tx.row.seq and self._entry(tx, seq).hash == fold.head
        return fold if behind else self._current(tx)

    def _append(self, tx: Tx, kind: str, payload: dict[str, Any], **moves: Any) -> Entry | None:
        """Append an entry of this experiment and fold it; ``done``: the fold has moved already."""
        done = moves.pop("done", False)
        version = self._fold.version + (kind in ("experiment.opened", "experiment.configured"))
        entry = tx.append(
            kind, experiment=self.name, payload=payload, config_version=version, **moves
        )
        self._take(entry, done)
        return entry

    def _take(self, entry: Entry | None, done: bool = False) -> None:
        """Fold an entry that was appended, if the fold has what was there before it."""
        if entry is not None and not self.degraded and self._fold.head == entry.prev:
            self._fold.apply(entry, done)

    def _row(self, tx: Tx, name: str, report: bool = True) -> Any:
        row = names.found(tx.play, name)
        own = name.partition(".")[0]  # of two leases' plays one may be unknown here
        if row is None and tx.play(own) is None and not self._agrees(tx, own, None):
            raise self._unlike(name)
        if row is None or row.experiment != self.name:
            raise UnknownPlay(
                f"play {shown(name)} was never given out by experiment {self.name!r}; report the "
                "play that select() returned, or its id (of a play under another worker's lease "
                "the ledger knows after that worker's next flush)"
            )
        ours = self._worker is not None and self._worker.decided(row)
        if report and names.unsaid(name, row) and not ours:
            raise names.given_twice(name, f"{name}.{row.lease}")
        return row

    def _agrees(self, tx: Tx, play: str, row: PlayRow | None) -> bool:
        """Whether a play's row is as its entries left it, if the fold knows; else: degraded."""
        fold = self._fold
        known = fold.head == tx.row.head and (row is None or row.experiment == self.name)
        still_open = row is not None and row.state == "open"
        if not known or still_open is (play in fold.waiting):
            return True
        self.degraded = self.degraded or f"the row of play {play!r} is not as its entries left it"
        return False

    def _unlike(self, play: str) -> DamagedFile:
        return DamagedFile(
            f"the row of play {play!r} is gone, or is not as its entries left it; nothing was "
            "done: put it back as surefoot verify says, and open this agent again"
        )

    def _version(self, tx: Tx, experiment: str, seq: int) -> int:
        """The configuration that an entry about entry ``seq`` is under; another's: as that is."""
        if experiment == self.name:
            return self._fold.version
        return self._entry(tx, seq).config_version

    def _entry(self, tx: Tx, seq: int) -> Entry:
        entry = next(tx.entries(seq - 1, 1), None)
        if entry is None or entry.seq != seq:
            raise DamagedFile(
                f"entry {seq} of account {self._account!r} is gone; put back the ledger that had it"
            )
        return entry


def _worker(live: Live, lease: Lease) -> Worker:
    try:
        from surefoot.live.worker import Worker
    except ModuleNotFoundError:  # fcntl
        raise InvalidInput("lease: this system lacks the file locks that a journal needs") from None
    return Worker(live, lease)
