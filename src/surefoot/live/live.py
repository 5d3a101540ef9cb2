"""Live: an agent whose account is a durable ledger, shared by threads, processes and hosts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from surefoot._exact import exact, short, shown
from surefoot._types import JsonObject, Number
from surefoot.agents import ArmStanding, GenCB, Uplift
from surefoot.agents.evidence import check_single, none_held_out
from surefoot.agents.tally import checked_delta
from surefoot.errors import InvalidInput, RewardOutOfRange
from surefoot.floors import Outcome, Statement
from surefoot.live import changes, configuration, ids, leases
from surefoot.live.configuration import Settings
from surefoot.live.engine import Engine, Report, Reported
from surefoot.live.entries import check_texts, checked_id
from surefoot.live.evidence import Evidence
from surefoot.live.leases import Lease
from surefoot.live.play import LivePlay, Request
from surefoot.live.store import Store, Tx, open_store

if TYPE_CHECKING:
    from surefoot.live.monitor import DefaultReport
    from surefoot.live.worker import Worker

T = TypeVar("T")


class Live:
    """An agent in production: every answer is in the store before it is given.

    ``agent``: a fresh ``GenCB`` over a ``RewardFloor``, the ``config`` of another Live, or None for
    an experiment that is there already. The store wins: its floor, its policy's experience and its
    randomness go on, and another configuration is an error that names the field. What its policy
    learned before comes along; the account starts with its reserve alone. ``store``: the path of a
    SQLite file, a PostgreSQL URL or a ``Store``, which the caller then closes. ``name``: the
    experiment; None: the only one there is, or a new one called "default". ``account``: whose floor
    it shares with other experiments; None: its own.
    ``reward_window``: after how many seconds (or what timedelta) of the store's clock ``reap``
    books a missing reward at its worst and forgets a default play without a report, until its
    report comes; None: never. ``learn_missing``: what a play that expires teaches the policy:
    its "worst", until ``correct`` takes that back for the true reward, or nothing ("skip"); None:
    "worst" in a new experiment that has a window and a policy that can. ``shadow``: the default
    plays always, and what the policy would have done is written down. ``lease``: a ``Lease``, to
    decide from a slice of the account without asking the store each time; None: ask it.
    ``holdout``: the share of plays that take the default by a draw, see ``GenCB``; None: the
    agent's own. A play with an id is drawn by the id, whatever worker is asked.
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
        agent: GenCB | JsonObject | None,
        store: Any,
        name: str | None = None,
        *,
        account: str | None = None,
        reward_window: Any = None,
        shadow: bool = False,
        learn_missing: str | None = None,
        lease: Lease | None = None,
        holdout: Number | None = None,
        timeout: Any = None,
    ) -> None:
        if lease is not None and not isinstance(lease, Lease):
            raise InvalidInput(f"lease = {shown(lease)} must be a Lease(journal=...), or None")
        for given, what in ((name, "name"), (account, "account")):
            if given is not None:
                check_texts({what: given})
        asked = settings = Settings.of(reward_window, shadow, learn_missing, holdout)
        if isinstance(agent, dict):
            config = agent
            agent, settings = configuration.configured(config)
            configuration.check_settings(asked, [config], name or configuration.USUAL)
            asked = asked._replace(learn_missing=settings.learn_missing)
        opening = own_policy = None
        if agent is not None:
            opening = configuration.opened(configuration.check_agent(agent), settings)
            own_policy = None if opening["config"]["policy"]["config"] else agent.policy
        self._closes = not isinstance(store, Store)
        self._closed = False
        self.store = open_store(store, new=agent is not None, timeout=timeout)
        self._worker: Worker | None = None
        try:
            self.name, account = configuration.experiment(self.store, name, account)
            if agent is not None:
                self.store.open_account(account, agent.floor.places, True)
            self._engine = Engine(self.store, account, self.name, own_policy)
            self._engine.start(opening, asked)
            self._places = self._engine.fold.agent.floor.places
            if lease is not None:
                self._worker = _worker(self._engine, lease)
        except BaseException:
            if self._closes:
                self.store.close()
            raise

    @property
    def degraded(self) -> str | None:
        """Why exploring has stopped; None: it has not."""
        return self._engine.degraded

    def __repr__(self) -> str:
        """The names and the state as of the last call; the store is not asked."""
        parts = [repr(self.name), f"account={self._engine.account!r}", f"store={self.store!r}"]
        if (worker := self._worker) is not None:
            parts.append(f"lease={worker.holds!r}")
        if self.degraded:
            parts.append(f"degraded={self.degraded!r}")
        return f"Live({', '.join([*parts, *(['closed'] if self._closed else [])])})"

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
        asked = Request.of(context, allowed, default, id)
        if self._worker is not None:
            [entry] = self._worker.select([asked])
        else:
            entry = self._engine.run(self._engine.decide, asked)
        return LivePlay.of(entry, self._places)

    def select_many(self, requests: int | Iterable[Mapping[str, Any]]) -> list[LivePlay]:
        """Decide several plays in one commit; the answers come in the order of the requests.

        ``requests``: what ``select`` takes, each a dict with any of "context", "allowed", "default"
        and "id"; or how many plays, without any of these. Each is an ordinary play, with the entry
        that ``select`` would have written, and may be reported and asked for again by itself.
        Two requests of one id are one play.

        All are decided or none is: if an id was given out for another request (PlayConflict), or a
        request cannot be decided (InvalidInput), nothing is written. Under a lease they are
        decided from it if it covers the worst of all of them, with one write to the journal; a
        power cut that loses part of it loses the last ones first. Keep it to some hundreds at a
        time: no other worker can decide on the account meanwhile.

        >>> from surefoot import GenCB, RewardFloor, UCB1
        >>> from surefoot.live import MemoryStore
        >>> floor = RewardFloor(default=0.5, alpha=0.5, reserve=1)
        >>> live = Live(GenCB(UCB1(arms=["red", "blue"]), floor), MemoryStore())
        >>> [play.id for play in live.select_many([{"id": "a"}, {"id": "b", "allowed": ["red"]}])]
        ['a', 'b']
        >>> len(live.select_many(3))
        3
        """
        wanted, places, by_id = list[Request](), list[int](), dict[str, int]()
        for request in _listed(requests):
            asked = Request.of(*request)
            place = by_id.get(asked.id or "", len(wanted))
            if place == len(wanted):
                wanted.append(asked)
            elif wanted[place].digest != asked.digest:
                raise ids.other_request(str(asked.id))
            if asked.id is not None:
                by_id[asked.id] = place
            places.append(place)
        if not wanted:
            return []
        if self._worker is not None:
            entries = self._worker.select(wanted)
        else:
            entries = self._engine.run(self._engine.decide_many, wanted)
        plays = [LivePlay.of(entry, self._places) for entry in entries]
        return [plays[place] for place in places]

    def update(self, play: LivePlay | str, reward: Any = None, base_rewards: Any = None) -> Outcome:
        """Report what a play brought, or that the default was played; see ``GenCB.update``.

        An identical repeat changes nothing; what contradicts the books is a PlayConflict. If the
        policy fails to learn the reward, it is booked all the same, and the error is raised.
        """
        name = _named(play)
        report = Report("settle", Reported.of(reward, name), base_rewards)
        outcome = self._report(play, name, report)
        if outcome is Outcome.BREACH or outcome is Outcome.CAPPED:
            _warn(name, outcome)
        return outcome

    def expire(self, play: LivePlay | str) -> Outcome:
        """No reward came in time: the worst is booked until the true reward arrives.

        It is taught as well, if ``learn_missing`` is "worst". In an experiment with a reward
        window, a default play without a report is forgotten until its report comes; in others it
        stays as it is.
        """
        return self._report(play, _named(play), Report("expire"))

    def void(self, play: LivePlay | str) -> Outcome:
        """The play was never made, for good; its hold is released."""
        return self._report(play, _named(play), Report("void"))

    def fall_back(self, play: LivePlay | str) -> Outcome:
        """An exploration was decided, but the default was played instead."""
        return self._report(play, _named(play), Report("fall_back"))

    def acknowledge(self, play: LivePlay | str) -> Outcome:
        """Confirm a reward above r_max, so that the rest of it is credited."""
        return self._report(play, _named(play), Report("acknowledge"))

    def _report(self, play: LivePlay | str, name: str, report: Report) -> Outcome:
        worker, engine = self._worker, self._engine
        if worker is not None:
            name = name if isinstance(play, LivePlay) else worker.own_play(name)
            early = worker.report(name, report)
            if early is not None:
                return early
        outcome, unlearnt, row = engine.run(engine.report, name, report)
        if worker is not None:
            worker.entered(name, row)
        if unlearnt is not None:
            raise unlearnt
        return outcome

    def reap(self, limit: int = 500) -> list[str]:
        """Expire the plays of this account whose reward window is over; returns their ids.

        Default plays without a report are among them. Overdue leases are forfeited, and journals
        that dead workers left in this one's folder are entered. Call it regularly, from anywhere.
        """
        self.flush()
        if self._worker is not None:
            self._worker.take_over()
        engine = self._engine

        def reaped(tx: Tx) -> list[str]:
            engine.current(tx)
            leases.forfeit_overdue(tx, engine, but=engine.owner)
            return engine.expire_due(tx, limit)

        return engine.run(reaped)

    def flush(self) -> None:
        """Enter the steps of the journal in the ledger; without a lease there are none."""
        self._engine.check_process()
        if self._worker is not None:
            self._worker.flush()

    def explain(self, play: LivePlay | str) -> str:
        """Say in one sentence, in numbers, why a play is what it is."""
        self._engine.check_process()
        return play.explain() if isinstance(play, LivePlay) else self.play(play).explain()

    def play(self, play: LivePlay | str) -> LivePlay:
        """A play of this experiment as it was decided; an id means what it means in a report."""
        name, engine, entry = _named(play), self._engine, None
        if self._worker is not None:
            name = name if isinstance(play, LivePlay) else self._worker.own_play(name)
            entry = self._worker.known(name)
        if entry is None:
            entry = engine.run(lambda tx: engine.entry(tx, engine.row(tx, name, report=False).seq))
        return LivePlay.of(entry, self._places)

    @property
    def account(self) -> Statement:
        """The books as they stand, in exact decimals.

        On a shared account slack, held and reserve are the account's, the rest this experiment's.
        """
        self.flush()
        return self._engine.run(self._engine.statement)

    def arms(self, delta: Number = 0.05) -> tuple[ArmStanding, ...]:
        """How each arm stands, as ``GenCB.arms`` says of an agent in one process.

        The plays and reports are those of the whole experiment, whatever worker made them, in the
        order of the ledger. Under leases others' newest ones come with their next flush, and the
        order is that in which they are entered.

        >>> from surefoot import GenCB, RewardFloor, UCB1
        >>> from surefoot.live import MemoryStore
        >>> floor = RewardFloor(default=0.5, alpha=0.5, reserve=50)
        >>> live = Live(GenCB(UCB1(arms=["red", "blue"]), floor, seed=0), MemoryStore())
        >>> for _ in range(50):
        ...     play = live.select()
        ...     _ = live.update(play, reward=0.75 if play.arm == "red" else 0.25)
        >>> [(row.arm, row.plays, row.mean) for row in live.arms()]
        [('red', 41, 0.75), ('blue', 9, 0.25)]

        Holds when: as of ``GenCB.arms``; under leases also that what plays pay does not decide when
        their workers flush. Does not hold when: as there.
        """
        given = checked_delta(delta)
        check_single(self._engine.fold.agent)
        return self._evidence().standings(given)

    def uplift(self, delta: Number = 0.05) -> Uplift:
        """What the experiment brought over its holdout, as ``GenCB.uplift`` says.

        It begins anew with each change of ``holdout`` and of the range.
        """
        given = checked_delta(delta)
        found = self._evidence().uplift(given)
        if found is None:
            raise none_held_out()
        return found

    def _evidence(self) -> Evidence:
        """A copy: an interval takes milliseconds, in which others decide."""
        self.flush()
        engine = self._engine
        return engine.run(lambda tx: engine.current(tx).evidence.copied())

    def monitor(self, delta: float = 0.01) -> DefaultReport:
        """Test whether the default pays less than its declared value; reads the whole ledger.

        See ``surefoot.live.monitor``: the probability of a false alarm is at most ``delta``,
        however often this is called.
        """
        from surefoot.live.monitor import watch

        self._engine.check_process()
        return watch(self.store.entries(self._engine.account), self.name, delta)

    @property
    def config(self) -> JsonObject:
        """The configuration in force, plain JSON without floats; ``Live`` takes it as its agent."""
        return self._engine.run(self._engine.config)

    def pause(self) -> None:
        """Play the default from now on; reports are still taken."""
        self._change(changes.set_paused, True)

    def resume(self) -> None:
        """Undo ``pause``."""
        self._change(changes.set_paused, False)

    def change(self, **settings: Any) -> None:
        """Change the floor for the plays to come, as ``GenCB.change`` does.

        Also ``reward_window``, ``shadow``, ``learn_missing`` and ``holdout``, as ``Live`` takes
        them, None for no holdout; they too are for the plays to come. A repeat, as after a lost
        answer, changes nothing.
        """
        self._change(changes.configure, *changes.split(settings))

    def add_reserve(self, amount: Number, id: str | None = None) -> None:  # noqa: A002  # as select's
        """Let ``amount`` more be lost from now on.

        ``id``: the caller's name of this grant; a repeat, as after a lost answer, changes nothing.
        """
        self._endow(1, amount, id)

    def withdraw_reserve(self, amount: Number, id: str | None = None) -> None:  # noqa: A002
        """Take ``amount`` out of the reserve; more than open plays leave is InvalidInput.

        ``id``: as of ``add_reserve``.
        """
        self._endow(-1, amount, id)

    def _endow(self, sign: int, amount: Number, own: str | None) -> None:
        own = None if own is None else checked_id(own, "id")
        self._change(changes.endow, sign, amount, short(exact(amount, "amount")), own)

    def add_arms(self, arms: Iterable[Any]) -> None:
        """Add new arms, which the policy has not played yet; removed arms come back.

        A repeat changes nothing.
        """
        self._change(changes.add_arms, changes.listed(arms))

    def remove_arms(self, arms: Iterable[Any]) -> None:
        """Stop playing some arms; later reports of them are still booked and learned.

        A repeat changes nothing.
        """
        self._change(changes.remove_arms, changes.listed(arms))

    def _change(self, change: Callable[..., None], *values: Any) -> None:
        self._engine.run(change, self._engine, *values)

    def close(self) -> None:
        """Give back the lease, write a last snapshot, and close the store if it was opened here.

        In a forked child it does nothing: what is open belongs to the parent.
        """
        if self._closed or self._engine.foreign:
            return
        self._closed = True
        try:
            if self._worker is not None:
                self._worker.close()
            self._engine.close()
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


def _named(play: LivePlay | str) -> str:
    """The id of a play, given by itself or by its id."""
    name = play.id if isinstance(play, LivePlay) else play
    usual = type(name) is str and ids.REPORTED.fullmatch(name)
    return name if usual else ids.reported_id(name)


_ASKED = "context", "allowed", "default", "id"


def _listed(requests: Any) -> list[tuple[Any, ...]]:
    """The requests of ``select_many`` as the arguments of ``select``; InvalidInput for others."""
    if type(requests) is int and requests >= 0:
        return [(None, None, None, None)] * requests
    if isinstance(requests, str | bytes | Mapping) or not isinstance(requests, Iterable):
        raise InvalidInput(
            f"requests = {shown(requests)} must be an int >= 0 or a list of dicts, e.g. "
            '[{"id": "visit-1", "context": [0.5]}]'
        )
    listed = []
    for request in requests:
        if not isinstance(request, Mapping) or not request.keys() <= {*_ASKED}:
            raise InvalidInput(
                f"request {shown(request)} must be a dict with any of the keys {', '.join(_ASKED)}"
            )
        listed.append(tuple(map(request.get, _ASKED)))
    return listed


def _warn(name: str, outcome: Outcome) -> None:
    if outcome is Outcome.CAPPED:
        meaning = "above the range: it counts as r_max until acknowledge(play)"
    else:
        meaning = "outside what was declared: it is booked, and may break the floor"
    warnings.warn(
        f"the reward of play {name} is {meaning}; rewards on another scale need "
        "RewardFloor(..., reward_range=(low, high))",
        RewardOutOfRange,
        stacklevel=3,
    )


def _worker(engine: Engine, lease: Lease) -> Worker:
    try:
        from surefoot.live.worker import Worker
    except ModuleNotFoundError:  # fcntl
        raise InvalidInput("lease: this system lacks the file locks that a journal needs") from None
    return Worker(engine, lease)
