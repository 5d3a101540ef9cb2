"""The world of one schedule: time, network, workers that die, a store that fails, an operator.

Everything happens in one thread, one event after the other, as one seed says.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from surefoot.errors import (
    StoreUnavailable,
    SurefootError,
    UnknownAccount,
)
from surefoot.live.live import Live
from surefoot.live.store import MemoryStore, Store
from surefoot_torture.faults.clients import Visit
from surefoot_torture.faults.host import Host
from surefoot_torture.faults.judge import Ack, Judge, Note
from surefoot_torture.faults.plan import WINDOW, Plan, Setup
from surefoot_torture.faults.workers import DONE, Clock, Crash, Worker

DAY = 86_400.0
TROUBLES = (
    "fault", "fault", "fault", "crash", "crash", "kill", "leave", "jump", "turn", "reap", "reap",
    "blind", "garble", "operate", "operate", "nonsense", "stop",
)  # fmt: skip
"""What may go wrong, each as often as it is named."""
OF_LEASES = ("power", "look", "look", "stop", "stop", "kill", "flush", "reap", "full")


class World:
    """One schedule, from its first request to the moment at which all faults end."""

    def __init__(
        self,
        plan: Plan,
        rng: random.Random,
        inner: Store,
        clock: Clock,
        account: str,
        folder: Path | None = None,
    ) -> None:
        self.plan, self.rng, self.inner, self.clock, self.account = plan, rng, inner, clock, account
        clock.reset()
        self._events: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._count = 0
        self.setups = {setup.name: setup for setup in plan.setups}
        places = plan.setups[0].agent().floor.places
        if any(setup.agent().floor.places != places for setup in plan.setups):
            raise AssertionError("the experiments of one account share its unit")
        self.judge = Judge(places)
        self.hosts: list[Host] = []
        if plan.lease is not None and folder is not None:
            names = range(plan.workers if plan.apart else 1)
            self.hosts = [Host(folder / f"host-{name}", *plan.lease) for name in names]
        self.workers = [
            Worker(self, self.hosts[number % len(self.hosts)] if self.hosts else None)
            for number in range(plan.workers)
        ]
        self._note: Note | None = None
        self.messages = self.troubles = 0

    def run(self) -> None:
        """Let it all happen, then end all faults."""
        rng, plan = self.rng, self.plan
        for setup in plan.setups:
            self._begin(setup)
        horizon = plan.decisions * WINDOW / 20
        for number in range(plan.decisions):
            name = None if rng.random() < 0.15 else f"c{rng.randrange(plan.clients)}-{number}"
            visit = Visit(self, rng.choice(plan.setups), name)
            self.after(rng.random() * horizon, visit.ask)
        for _ in range(int(plan.decisions * plan.trouble)):
            self.after(rng.random() * horizon * 1.3, self._trouble)
        watched = (self._serve, self._trouble) if isinstance(self.inner, MemoryStore) else ()
        while self._events:
            when, _, act, arguments = heapq.heappop(self._events)
            self.clock.true = max(self.clock.true, when)
            act(*arguments)
            if act in watched:
                self.judge.claimed(self.inner.account(self.account).available)
        for worker in self.workers:
            worker.store.heal()

    def after(self, seconds: float, act: Callable[..., None], *arguments: Any) -> None:
        """Let something happen later."""
        self._count += 1
        event = (self.clock.true + seconds, self._count, act, arguments)
        heapq.heappush(self._events, event)

    def delay(self) -> float:
        """How long a message takes: mostly not long, at times up to ten reward windows."""
        rng = self.rng
        late = rng.random()
        if late < self.plan.late / 10:
            return rng.random() * 10 * WINDOW
        return rng.random() * (WINDOW if late < self.plan.late else WINDOW / 30)

    def send(
        self,
        experiment: str,
        request: Callable[[Live], Any],
        back: Callable[[Any], None],
        home: Worker | None = None,
    ) -> None:
        """Send a request to some worker: it may be lost, doubled, late and out of order."""
        for _ in range(1 + (self.rng.random() < self.plan.doubled)):
            self.messages += 1
            if self.rng.random() >= self.plan.loss:
                setup = self.setups[experiment]
                worker = home or self.rng.choice(self.workers)
                self.after(self.delay(), self._serve, worker, setup, request, back)

    def _serve(
        self,
        worker: Worker,
        setup: Setup,
        request: Callable[[Live], Any],
        back: Callable[[Any], None],
    ) -> None:
        if self.clock.true < worker.asleep:
            wake = worker.asleep - self.clock.true
            self.after(wake, self._serve, worker, setup, request, back)
            return
        answer, note = worker.serve(setup, request), None
        if worker.host is not None and setup.name in worker.lives:
            note = worker.host.answered(worker.lives[setup.name])
        if answer is not None and self.rng.random() >= self.plan.loss:
            self.after(self.delay(), self._back, back, answer, note)

    def _back(self, back: Callable[[Any], None], answer: Any, note: Note | None) -> None:
        self._note = note
        back(answer)

    def told(self, ack: Ack) -> None:
        """A client was told something, by the answer that is at hand."""
        ack.note = self._note

    def open(self, setup: Setup, worker: Worker, agent: Any = None) -> Live:
        """A live agent of an experiment."""
        host = worker.host
        if setup.policy == "dice" or (agent is None and self.rng.random() < 0.3):
            agent = setup.agent()
        return Live(
            agent, worker.store, setup.name, account=self.account, shadow=setup.shadow,
            reward_window=self.plan.window, lease=None if host is None else host.lease,
        )  # fmt: skip

    def _begin(self, setup: Setup) -> None:
        """Open an experiment, which may take some attempts."""
        before = self._seq()
        worker = self.workers[0]
        if self.rng.random() < self.plan.trouble:
            self._break(worker, self._fail if self.rng.random() < 0.5 else Crash)
        while setup.name not in worker.lives:
            try:
                worker.lives[setup.name] = self.open(setup, worker, setup.agent())
            except (Crash, StoreUnavailable):
                worker.kill()
        self.judge.promised(setup.name, setup.promise())
        self._book(setup, before, None)

    def _seq(self) -> int:
        try:
            return self.inner.account(self.account).seq
        except UnknownAccount:
            return 0

    def _trouble(self) -> None:
        """Something goes wrong, or an operator does something."""
        self.troubles += 1
        rng, worker = self.rng, self.rng.choice(self.workers)
        kind = rng.choice(TROUBLES + OF_LEASES if self.hosts else TROUBLES)
        if kind == "fault":
            self._break(worker, self._hang if rng.random() < 0.2 else self._fail)
        elif kind == "crash":
            self._break(worker, Crash)
        elif kind == "kill":
            worker.kill()
        elif kind == "leave":
            self._leave(worker)
        elif kind == "jump":
            longest = rng.choice((WINDOW, DAY, 30 * DAY))
            self.clock.jump(rng.choice((-1, 1)) * longest * rng.random())
        elif kind == "turn":
            self.clock.turn()
        elif kind == "reap":
            limit = rng.choice((1, 3, 500))
            worker.serve(rng.choice(self.plan.setups), lambda live: live.reap(limit))
        elif kind == "blind":
            worker.store.blind = rng.randint(1, 3)
        elif kind == "garble":
            worker.kill()
            worker.store.garbled = True
        elif kind == "stop":
            worker.asleep = self.clock.true + WINDOW * rng.choice((0.5, 3, 10))
        elif kind == "look":
            rng.choice(self.hosts).look()
        elif kind == "full" and worker.host is not None:
            for live in worker.lives.values():
                worker.host.fill(live)
        elif kind == "power":
            self._power_cut(rng.choice(self.hosts))
        elif kind == "flush":
            worker.serve(rng.choice(self.plan.setups), lambda live: live.flush())
        elif kind == "nonsense":
            self._nonsense(worker, rng.choice(self.plan.setups))
        else:
            self._operate(worker, rng.choice(self.plan.setups))

    def _power_cut(self, host: Host) -> None:
        for worker in self.workers:
            if worker.host is host:
                worker.kill()
        host.power_cut(self.rng)

    def _break(self, worker: Worker, problem: Callable[[], BaseException]) -> None:
        rng = self.rng
        amid = rng.choice((None, None, 0, 1, 2, 3))
        worker.store.break_at(rng.choice((1, 1, 2, 5)), rng.random() < 0.5, amid, problem)

    def _fail(self) -> BaseException:
        return StoreUnavailable("the store failed")

    def _hang(self) -> BaseException:
        self.clock.true += WINDOW / 2
        return StoreUnavailable("the store did not answer in time")

    def _leave(self, worker: Worker) -> None:
        """Close what is open, as an orderly shutdown does."""
        for live in list(worker.lives.values()):
            try:
                live.close()
            except (Crash, SurefootError):
                continue
        worker.kill()

    def _nonsense(self, worker: Worker, setup: Setup) -> None:
        """Ask what cannot be: it is refused, and nothing changes."""
        rng = self.rng
        answered = [name for name, page in self.judge.pages.items() if page.answer is not None]
        if not answered:
            return
        play = rng.choice(answered)
        requests: list[Callable[[Live], Any]] = [
            lambda live: live.update(play, float("nan")),
            lambda live: live.update(play, "0.5"),
            lambda live: live.update("nobody-knows-it", 0.5),
            lambda live: live.select(id="p-7000000"),
            lambda live: live.select(id="no id"),
            lambda live: live.select(allowed=["no arm"]),
            lambda live: live.select(default=Decimal(9)),
            lambda live: live.select(default=Decimal("0.123"), id=play),
            lambda live: live.change(alpha=2),
            lambda live: live.add_reserve(-1),
            lambda live: live.withdraw_reserve(10**6),
            lambda live: live.remove_arms(["no arm"]),
        ]
        if self.hosts:
            requests[4] = _by_its_own_name
            del requests[7]  # what one worker has answered, another may not know
        request = rng.choice(requests)
        before = self.inner.account(self.account)
        answer = worker.serve(setup, request)
        if not (answer is None or isinstance(answer, SurefootError)):
            self.judge.wrong("wrong", f"nonsense {requests.index(request)} brought {answer!r}")
        if not self.hosts and self.inner.account(self.account) != before:
            self.judge.wrong("wrong", f"nonsense {requests.index(request)} changed the books")

    def _operate(self, worker: Worker, setup: Setup) -> None:
        """An operator changes something; whether it came to be is read off the ledger."""
        rng = self.rng
        kind = rng.choice(
            ("pause", "resume", "resume", "change", "change", "add", "withdraw", "arms")
        )
        settings: dict[str, Any] = {}
        amount = Decimal(rng.choice(("0.25", "0.5", "1")))
        own = f"reserve-{self.troubles}" if rng.random() < 0.7 else None
        if kind in ("pause", "resume"):
            request: Callable[[Live], Any] = lambda live: getattr(live, kind)()  # noqa: E731
        elif kind == "change":
            settings = setup.change(rng)
            new = {name: _decimals(value) for name, value in settings.items()}
            request = lambda live: live.change(**new)  # noqa: E731
        elif kind == "add":
            request = lambda live: live.add_reserve(amount, own)  # noqa: E731
        elif kind == "withdraw":
            request = lambda live: live.withdraw_reserve(amount, own)  # noqa: E731
        elif setup.policy == "dice":
            return
        elif rng.random() < 0.5:
            request = lambda live: live.add_arms([f"arm-{setup.arms}"])  # noqa: E731
        else:
            kind = "repeat" if setup.fewer else kind
            request = lambda live: live.remove_arms([1])  # noqa: E731
        before = self._seq()
        answer = worker.serve(setup, request)
        if own is not None and kind in ("add", "withdraw") and rng.random() < 0.7:
            answer = rng.choice(self.workers).serve(setup, request) or answer
        entries = self._book(setup, before, settings)
        self._check_operated(kind, answer, entries)

    def _check_operated(self, kind: str, answer: Any, entries: int) -> None:
        if entries > 1:
            self.judge.wrong("double", f"{kind} was done {entries} times")
        if isinstance(answer, Exception) and kind in ("pause", "resume", "change", "add"):
            self.judge.wrong("wrong", f"{kind} brought {answer!r}")
        if kind == "repeat" and entries:
            self.judge.wrong("double", "arms were removed again")
        if answer == DONE and kind in ("add", "withdraw", "arms") and entries != 1:
            self.judge.wrong("lost", f"{kind} was acknowledged")

    def _book(self, setup: Setup, before: int, settings: Any) -> int:
        """Tell the judge what an operator changed, in the order of the ledger."""
        found = 0
        for entry in self.inner.entries(self.account, before):
            if entry.kind == "experiment.configured":
                self.judge.promised(setup.name, setup.took(settings))
            elif entry.kind.startswith("endowment."):
                self.judge.endowed(entry.reserve - self.judge.reserve)
            elif entry.kind == "arms.added":
                setup.arms += 1
            elif entry.kind == "arms.removed":
                setup.fewer = True
            elif entry.kind != "experiment.state":
                continue
            found += 1
        return found


def _by_its_own_name(live: Live) -> Any:
    """Ask for a play under a name that this worker may have given, or will give."""
    assert live._worker is not None
    return live.select(id=f"{live._worker.owner}-{live._engine.fold.seq}-1")


def _decimals(value: Any) -> Any:
    if value in ("worst", "skip"):
        return value
    return tuple(map(Decimal, value)) if isinstance(value, tuple) else Decimal(value)
