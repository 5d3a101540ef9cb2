"""Policies of other libraries and ours on one case, each unguarded and guarded by one floor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.special import betaincinv

import surefoot as sf
from surefoot._types import JsonObject
from surefoot.agents.agent import Agent
from surefoot.errors import InvalidInput, missing_extra
from surefoot.simulation import Result
from surefoot.simulation.checks import positive
from surefoot.simulation.result import spread
from surefoot.study import sweep
from surefoot.study.compare.peers import PEERS, Peer
from surefoot.study.files import FORMATS, versions
from surefoot.study.logs import flights
from surefoot.study.numbers import Array, counted
from surefoot.study.runs import MAX_RUNS, Step, Traces, perform
from surefoot.study.shuffled import ShuffledPlan
from surefoot.study.verdict import few, margin

PAPER: Final = "paper"
CASES: Final = (PAPER, *(case.name for case in flights.CASES))
UNGUARDED, GUARDED = "unguarded", "guarded"
MEASURES: Final = ("regret", "default_plays", "violating_rounds", "minimum_slack")
PANEL: Final = "cmab-K24-alpha0.05"
MOST: Final = 100_000
"""Plays of a run, of which each is noted: the libraries' policies are slow besides."""


@dataclass(frozen=True, slots=True)
class Case:
    """Arms, a floor, and how they are called."""

    name: str
    title: str
    source: str
    arms: Any
    floor: sf.RewardFloor
    default: float
    """What the default is known to be worth."""
    shuffled: bool


def case_of(name: str) -> Case:
    """A case of ``CASES``; InvalidInput for another.

    >>> case_of("paper").floor.default
    Decimal('0.7')
    """
    if name == PAPER:
        panel: Any = sweep.read(PANEL)
        floor = sf.RewardFloor(panel.mu0, panel.alpha)
        source = f"{panel.K} Bernoulli arms, means from {panel.worst:g} to {panel.best:g}"
        source = f"{panel.source}: {source}, in another order in each run."
        return Case(name, "The paper's arms", source, panel.environment(), floor, panel.mu0, True)
    if name not in CASES:
        raise InvalidInput(f"case = {name!r} must be one of {', '.join(CASES)}")
    real = flights.find(name)
    log = sf.ReplayLog(flights.load(real), real.default)
    assert log.default_mean is not None
    floor, worth = sf.RewardFloor(log.default_mean, real.alpha), float(log.default_mean)
    return Case(name, real.title, real.sentence, log, floor, worth, False)


def _field(case: Case, peers: Sequence[Peer]) -> Callable[[Any], dict[str, Agent]]:
    """From an environment to each policy twice: unguarded, and guarded."""

    def agents(environment: Any) -> dict[str, Agent]:
        arms = getattr(environment, "arms", None) or range(environment.n_arms)
        made: dict[str, Agent] = {}
        for peer in peers:
            made[f"{peer.name}, {UNGUARDED}"] = sf.Plain(peer.make(arms), case.floor)
            made[f"{peer.name}, {GUARDED}"] = sf.GenCB(
                peer.make(arms), case.floor, on_fault="default"
            )
        return made

    return agents


class _Plan(ShuffledPlan):
    """Every play is noted, and a log stays as it is."""

    def __init__(self, case: Case, peers: Sequence[Peer], horizon: int, seed: Any) -> None:
        super().__init__(_field(case, peers), case.arms, horizon, seed, "all")
        self.case = case

    def arms(self, run: int) -> Any:
        return super().arms(run) if self.case.shuffled else self.case.arms


class Comparison:
    """Every policy of ``PEERS`` that is installed, on some cases, unguarded and guarded.

    ``cases``: of ``CASES``; ``runs`` of ``horizon`` plays each, at most 100,000. All policies of a
    run meet the same rewards. Raises InvalidInput for anything else.

    >>> Comparison(["paper"], runs=2, horizon=100).files()
    ('compare.json', 'compare.png', 'compare.svg', 'compare.pdf')
    """

    def __init__(
        self, cases: Sequence[str] = (PAPER, "chicago"), runs: int = 10, horizon: int = 1_000,
        seed: int = 0,
    ) -> None:  # fmt: skip
        self.cases = [case_of(name) for name in dict.fromkeys(cases)]
        self.runs, self.horizon = positive(runs, "runs"), positive(horizon, "horizon")
        for what, given, most in (("runs", runs, MAX_RUNS), ("horizon", horizon, MOST)):
            if given > most:
                raise InvalidInput(f"{what} = {given:,} is above {most:,}; take fewer")
        self.peers = [peer for peer in PEERS if peer.is_there]
        self.missing = [peer for peer in PEERS if not peer.is_there]
        self.plans = {case.name: _Plan(case, self.peers, horizon, seed) for case in self.cases}
        self.seed = next(iter(self.plans.values())).entropy
        self.found: dict[str, dict[int, JsonObject]] = {}

    @classmethod
    def files(cls) -> tuple[str, ...]:
        """The names of all files it writes."""
        return ("compare.json", *(f"compare.{ending}" for ending in FORMATS))

    def settings(self) -> JsonObject:
        """What was asked for; known before any run."""
        return {
            "cases": [case.name for case in self.cases],
            "policies": [peer.name for peer in self.peers],
            "runs": self.runs, "horizon": self.horizon, "seed": self.seed,
        }  # fmt: skip

    def steps(self, workers: int | None = None) -> Iterator[Step]:
        """Do all runs, telling where one stands; see ``perform``.

        In plain Python, as most of the policies are: to compile the others takes longer.
        """
        self.found = {name: {} for name in self.plans}
        wanted = dict.fromkeys(self.plans, range(self.runs))

        def keep(name: str, run: int, traces: Traces) -> None:
            self.found[name][run] = _numbers(Result(self.plans[name], {run: traces}))

        yield from perform(self.plans, wanted, keep, workers, "plain")


def _numbers(result: Result) -> JsonObject:
    """agent -> measure -> its number in the one run; of the first play below the floor, or 0."""
    numbers = {}
    for name in result.agents:
        found = {measure: result.measure(name, measure)[0, -1].item() for measure in MEASURES}
        below = result.measure(name, "slack")[0] < 0
        found["first_below"] = int(below.argmax()) + 1 if below.any() else 0
        numbers[name] = found
    return numbers


class ComparisonFindings:
    """A comparison whose runs are done: its numbers, and the words that go with them."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    def agent(self, case: str, name: str, how: str) -> JsonObject:
        """One policy in a case: its numbers over the runs, at the horizon.

        ``runs_below``: in how many runs it was ever below the floor, ``share_between`` Clopper and
        Pearson's interval of that chance at 95 %; ``first_below``: the play of the first time, over
        those runs; ``furthest_below``: how far at most in a run, 0 if never, and its margin.
        """
        runs = self.comparison.found[case]
        rows = [runs[run][f"{name}, {how}"] for run in sorted(runs)]
        of: dict[str, Array] = {
            measure: np.array([row[measure] for row in rows])
            for measure in (*MEASURES, "first_below")
        }
        furthest = np.maximum(0.0, -of["minimum_slack"])
        first = of["first_below"][of["first_below"] > 0]
        return {
            "runs_below": len(first),
            "share_between": between(len(first), len(rows)),
            "first_below": spread(first) if len(first) else None,
            "furthest_below": spread(furthest),
            "furthest_below_margin": None if few(len(rows)) else margin(furthest),
            **{measure: spread(of[measure]) for measure in MEASURES},
        }

    def summary(self) -> JsonObject:
        """The comparison in numbers, as ``compare.json`` holds it."""
        asked = self.comparison
        cases = [
            {
                "case": case.name, "title": case.title, "source": case.source,
                "default": case.default, "alpha": float(case.floor.alpha),
                "policies": [
                    {
                        "name": peer.name, "extra": peer.extra,
                        **{how: self.agent(case.name, peer.name, how)
                           for how in (UNGUARDED, GUARDED)},
                    }
                    for peer in asked.peers
                ],
            }
            for case in asked.cases
        ]  # fmt: skip
        missing = [{"name": peer.name, "extra": peer.extra} for peer in asked.missing]
        found = {"settings": asked.settings(), "cases": cases, "missing": missing}
        return {**found, "notes": self.notes(), "versions": versions()}

    def headline(self, case: JsonObject) -> str:
        """What was found in a case of the summary, in one line."""
        runs, policies = self.comparison.runs, case["policies"]
        count = f"{len(policies)} policies" if len(policies) != 1 else "1 policy"
        broke = sum(one[UNGUARDED]["runs_below"] > 0 for one in policies)
        kept = sum(one[GUARDED]["runs_below"] > 0 for one in policies)
        guarded = "none" if not kept else f"{kept}"
        return (
            f"{case['title']}: unguarded, {broke} of {count} fall "
            f"below the floor; guarded, {guarded} in any of {counted(runs, 'run')}"
        )

    def notes(self) -> list[str]:
        """What the numbers are, and what is not there; a paragraph each."""
        asked = self.comparison
        notes = [
            f"{case.title}. {case.source} The default is worth {case.default:.4g} a "
            f"play; the floor is {float(100 - 100 * case.floor.alpha):g} % of it after every play."
            for case in asked.cases
        ]
        notes.append(
            f"{counted(asked.runs, 'run')} of {asked.horizon:,} plays, seed {asked.seed}; all "
            "policies of a run meet the same rewards. Below counts the runs with any play below "
            "the floor, where the first poor rewards are enough; furthest is how far. Guarded is "
            "GenCB over the same policy; its default plays count at the default's known value. "
            "Regret is against the best arm, or the default where that is better. Settings are "
            "those of the libraries' documentation, not tuned: this compares no learner with "
            "another."
        )
        notes += [
            f"Not there: {peer.name}. {missing_extra(peer.extra, peer.extra)}"
            for peer in asked.missing
        ]
        return notes


def between(count: int, runs: int) -> list[float]:
    """Clopper and Pearson's interval of a chance, at 95 %.

    >>> [round(end, 3) for end in between(20, 20)]
    [0.832, 1.0]
    """
    low = 0.0 if count == 0 else float(betaincinv(count, runs - count + 1, 0.025))
    high = 1.0 if count == runs else float(betaincinv(count + 1, runs - count, 0.975))
    return [low, high]
