"""One schedule: a world is drawn from its seed, run to its end, and judged."""

from __future__ import annotations

import json
import random
import warnings
from contextlib import ExitStack
from decimal import Decimal
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from unittest import mock

from surefoot.errors import RewardOutOfRange
from surefoot.live import engine
from surefoot.live.entries import exported
from surefoot.live.live import Live
from surefoot.live.store import MemoryStore, Store
from surefoot.verifier import verify
from surefoot_torture.faults.arms import Counted
from surefoot_torture.faults.audit import Audit
from surefoot_torture.faults.plan import Setup, planned
from surefoot_torture.faults.store import Faulty
from surefoot_torture.faults.workers import Clock, Worker
from surefoot_torture.faults.world import World

SIZE = 10, 120
"""The least and the most decisions of a schedule."""


class Verdict(NamedTuple):
    """What came of one schedule."""

    seed: int
    problems: dict[str, int]
    told: list[str]
    decisions: int
    explorations: int
    faults: int
    entries: int

    @property
    def ok(self) -> bool:
        """Whether nothing was wrong."""
        return not self.problems


def schedule(
    seed: int,
    store: Store | None = None,
    clock: Clock | None = None,
    size: tuple[int, int] = SIZE,
    leases: bool = False,
    account: str = "a",
) -> Verdict:
    """Run the schedule of a seed and judge it.

    ``store``: where, with ``clock`` as its clock and without ``account``; None: in memory.
    ``size``: the least and the most decisions. ``leases``: whether workers decide under leases.

    >>> schedule(3, size=(5, 10)).ok
    True
    """
    rng = random.Random(seed)  # noqa: S311  (a simulation, no secret)
    plan = planned(rng, size, leases)
    clock = Clock() if clock is None else clock
    inner = MemoryStore(clock) if store is None else store
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", RewardOutOfRange)
        _snapshots(stack, plan.snapshots)
        folder = _leased(stack, clock) if leases else None
        world = World(plan, rng, inner, clock, account, folder)
        world.run()
        _close(world)
    judge = world.judge
    faults = sum(worker.store.faults for worker in world.workers) + world.troubles
    return Verdict(
        seed, dict(judge.problems), judge.told, judge.decided, judge.explored, faults,
        inner.account(world.account).seq,
    )  # fmt: skip


def _snapshots(stack: ExitStack, every: int) -> None:
    """Agents write a snapshot after so many entries."""
    stack.enter_context(mock.patch.object(engine, "SNAPSHOT_EVERY", every))


def _leased(stack: ExitStack, clock: Clock) -> Path:
    """A folder for journals; workers' names and their sense of time are the simulation's."""
    from surefoot.live import flushing, worker

    names = count(1)

    def fresh() -> str:
        return f"{next(names):04d}"

    def now() -> float:
        return clock.true

    stack.enter_context(mock.patch.object(worker, "fresh", fresh))
    stack.enter_context(mock.patch.object(flushing, "monotonic", now))
    return Path(stack.enter_context(TemporaryDirectory(prefix="surefoot-faults-", dir=_fast())))


def _fast() -> str | None:
    """A folder in memory, where there is one."""
    shared = Path("/dev", "shm")
    return str(shared) if shared.is_dir() else None


def _close(world: World) -> None:
    """All workers are up again: compare them, rebuild the agents, audit and verify the ledger."""
    inner, account, judge = world.inner, world.account, world.judge
    for worker in world.workers:
        for setup in world.setups.values():
            worker.serve(setup, lambda live: live.account)
            if world.hosts:
                worker.serve(setup, lambda live: live.close())
    if world.hosts:
        world.workers = []
    for setup in world.setups.values():
        _compare(world, setup)
    audit = Audit(judge, bool(world.hosts))
    row = inner.account(account)
    judge.claimed(row.available)
    entries = list(inner.entries(account))
    audit.take(entries)
    audit.close(row)
    report = verify(exported(account, row.places, entries), row.head)
    if not report["ok"]:
        judge.wrong("violation", f"the verifier: {report['problems']}")
    found = tuple(report[name] for name in ("reserve", "posted", "held", "entries"))
    if not audit.over and found != (audit.reserve, audit.posted, audit.held, audit.seq):
        judge.wrong("wrong", f"the verifier comes to {found}")


class _Forgetful(Faulty):
    """Has no snapshots."""

    def latest_snapshot(self, account: str, experiment: str = "") -> None:
        return None


def _compare(world: World, setup: Setup) -> None:
    """The agent from its newest snapshot, from zero, and of each worker: one and the same."""
    worker = Worker(world, None)
    agents = {"from its snapshot": world.open(setup, worker)}
    config = None if setup.policy == "dice" else agents["from its snapshot"].config
    worker.store = _Forgetful(world.inner)
    agents["from zero"] = world.open(setup, worker, config)
    for number, worker in enumerate(world.workers):
        if setup.name in worker.lives:
            agents[f"of worker {number}"] = worker.lives[setup.name]
    first: Any = None
    for name, live in agents.items():
        if live.degraded:
            world.judge.wrong("broken", f"the agent {name} is degraded: {live.degraded}")
            continue
        state = json.dumps([live._engine.fold.state(), repr(live.account)], sort_keys=True)
        first = first or state
        if state != first:
            world.judge.wrong("broken", f"the agent {name} is another: {state} != {first}")
    live = agents["from zero"]
    if not live.degraded:
        entries = world.inner.entries(world.account)
        for what in Counted(entries, setup.name).wrong(live.arms(), world.judge.places):
            world.judge.wrong("wrong", f"of {setup.name} {what}")
    if setup.policy != "dice":
        _learned(world, setup, live)


ENDS = ("outcome.settled", "outcome.expired", "outcome.as_default", "decision.voided")
"""The kinds of entries after which a play waits no longer."""


def _learned(world: World, setup: Setup, live: Live) -> None:
    """Its policy knows of each play what came of it in the end, as if that had come at once.

    What waits at the end it counts as open.
    """
    twin = setup.agent(setup.arms)
    given: dict[str | None, dict[str, Any]] = {}
    waiting = set[str | None]()
    told: dict[str | None, Decimal] = {}
    for entry in world.inner.entries(world.account):
        said = entry.payload
        if entry.experiment != setup.name:
            continue
        if entry.kind == "decision.held":
            given[entry.play] = said
            waiting.add(entry.play)
        elif entry.kind in ENDS:
            waiting.discard(entry.play)
        if entry.kind == "outcome.expired" and "missing" in given[entry.play]:
            worst = given[entry.play]["missing"]
            told[entry.play] = Decimal(worst).scaleb(-world.judge.places)
        elif entry.kind in ("outcome.settled", "outcome.late"):
            told[entry.play] = Decimal(said["told"])
    for play, reward in told.items():
        twin.policy.update(given[play]["index"], twin.policy_reward(reward), None)
    policy: Any = twin.policy
    for play in waiting if twin.counts_open else ():
        policy.opened(given[play]["index"], None)
    knows = live._engine.fold.agent.policy.state()["arms"]
    if knows != twin.policy.state()["arms"]:
        world.judge.wrong("wrong", f"the policy of {setup.name} knows {knows}")
