"""Before going live: what is sure without a single reward, and what a simulation foretells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any, Final

import numpy as np

from surefoot._exact import exact
from surefoot.agents import GenCB
from surefoot.environments import BernoulliArms
from surefoot.errors import InvalidInput
from surefoot.floors import RewardFloor
from surefoot.simulation import Plan, Result
from surefoot.simulation.checks import positive
from surefoot.simulation.loop import Trace
from surefoot.simulation.plan import grid
from surefoot.study.conduct import Step, play
from surefoot.study.replay import MAX_ARMS, MAX_RUNS, POLICIES, explorable
from surefoot.theory import self_funding

PLAUSIBLE: Final = "plausible"
"""The arms as planned for."""
POOR: Final = "poor"
"""Every arm pays the least that is plausible."""

DAYS: Final = {"1 day": 1, "1 week": 7, "1 month": 30}
AHEAD: Final = 100_000
"""Plays to look ahead where no traffic is given."""
MOST_AHEAD: Final = 1_000_000
"""A month of more traffic is not simulated to its end, unless asked for."""

# On the rewards' own scale a share has some 2,000 digits at most; a prediction needs fewer.
_DOWN = Context(prec=40, rounding=ROUND_FLOOR)
_UP = Context(prec=40, rounding=ROUND_CEILING)


@dataclass(frozen=True, slots=True)
class Point:
    """What is sure by some play, whatever the arms pay."""

    label: str
    plays: int
    largest_loss: Decimal
    """The most that can be lost against playing the default alone."""
    forced: int
    """The most default plays the gate can force."""


class Outlook:
    """A problem before its first play: exact promises, and scenarios to simulate.

    ``default``, ``alpha``, ``reward_range``, ``reserve``: as ``RewardFloor``. ``means``: what the
    arms may plausibly pay, one each, within the range; ``traffic``: plays a day, or None.
    ``horizon``: plays to look ahead; None takes 30 days of traffic, at most 1,000,000, or 100,000.
    ``policy``: "ucb1" or "klucb". Raises InvalidInput where they do not fit.

    Simulated is ``GenCB`` over the policy, the default competing, each reward one end of the
    range: with their means fixed, the noisiest rewards there are.

    >>> outlook = Outlook(0.7, 0.05, means=[0.5, 0.8], traffic=1000)
    >>> outlook.first_exploration, [str(point.largest_loss) for point in outlook.points()]
    (20, ['35.000', '245.000', '1050.000'])

    Holds when: ``first_exploration`` and ``points`` on every path, as ``self_funding``; what is
    simulated as far as the arms are as planned and independent over time. Does not hold when:
    rewards come late or drift: the promise stands, but exploring begins later.
    """

    def __init__(
        self,
        default: Any,
        alpha: Any,
        means: Sequence[Any],
        reward_range: tuple[Any, Any] = (0, 1),
        reserve: Any = 0,
        traffic: int | None = None,
        horizon: int | None = None,
        policy: str = "ucb1",
        runs: int = 30,
        seed: Any = 0,
    ) -> None:
        if policy not in POLICIES:
            known = " or ".join(map(repr, POLICIES))
            raise InvalidInput(f"policy {policy!r} is unknown; choose {known}")
        self.floor = RewardFloor(default, alpha, reward_range, reserve)
        self.terms = explorable(self.floor)
        self.means = _plausible(means, self.floor)
        self.traffic = None if traffic is None else positive(traffic, "traffic")
        ahead = AHEAD if self.traffic is None else min(MOST_AHEAD, 30 * self.traffic)
        self.horizon = ahead if horizon is None else positive(horizon, "horizon")
        self.policy, self.runs = policy, positive(runs, "runs")
        if runs > MAX_RUNS:
            raise InvalidInput(f"runs = {runs:,} is above {MAX_RUNS:,}; the spread needs no more")
        self._problem = (default, alpha, self.floor.reward_range, reserve)
        self.places = self._places()
        self.scaled = self._scaled()
        self.plans = {PLAUSIBLE: self._plan(self.means, seed)}
        self.seed = self.plans[PLAUSIBLE].entropy
        least = min(self.means)
        if least < self.value:
            self.plans[POOR] = self._plan([least] * len(self.means), self.seed)
        self.results: dict[str, Result] = {}

    @property
    def value(self) -> Decimal:
        """What a default play pays."""
        value = self.floor.default
        assert isinstance(value, Decimal)  # a plan is for a constant default
        return value

    @property
    def break_even(self) -> Decimal:
        """What an arm must pay to fund its own exploring."""
        return self_funding.break_even(*self._problem[:2])

    @property
    def first_exploration(self) -> int:
        """The play of the first exploration, whatever the rewards are."""
        return self_funding.first_exploration(*self._problem)

    @property
    def funding(self) -> list[Decimal]:
        """The plausible means that fund themselves."""
        default, alpha, *_ = self._problem
        return [mean for mean in self.means if self_funding.funds_itself(mean, default, alpha)]

    @property
    def on_lattice(self) -> bool:
        """Whether the books hold default and floor exactly; if not, exploring may wait longer."""
        unit = self.floor.unit
        kept, asked = unit.decimal(self.terms.value), unit.decimal(self.terms.floor)
        return (kept, asked) == (self.value, self.break_even)

    def points(self) -> list[Point]:
        """What is sure after a day, a week and a month, or at round plays, and at the horizon."""
        return [self._point(label, plays) for plays, label in sorted(self.places.items())]

    def _point(self, label: str, plays: int) -> Point:
        default, alpha, _, reserve = self._problem
        loss = self_funding.largest_loss(plays, default, alpha, reserve)
        fewest = self_funding.fewest_explorations(plays, *self._problem)
        return Point(label, plays, loss, plays - fewest)

    def _places(self) -> dict[int, str]:
        """Plays to tell of, and their names."""
        if self.traffic is not None:
            named = {days * self.traffic: label for label, days in DAYS.items()}
        else:
            powers = (10**power for power in range(2, 10))
            named = {plays: f"{plays:,} plays" for plays in powers if plays <= self.horizon}
        return {self.horizon: f"{self.horizon:,} plays", **named}

    def _plan(self, means: Sequence[Decimal], seed: Any) -> Plan:
        """The same account on rewards 0 or 1: those of the range, less r_min, over its width."""
        low, width = self._scale()
        shares = [min(1.0, max(0.0, float(_DOWN.divide(mean - low, width)))) for mean in means]
        agent = GenCB(POLICIES[self.policy][1](len(means)), self.scaled, None, True)
        points = [*grid(self.horizon), *(at for at in self.places if at <= self.horizon)]
        checkpoints = np.unique(np.array(points, dtype=np.int64))
        return Plan({"GenCB": agent}, BernoulliArms(shares), self.horizon, seed, checkpoints)

    def _scale(self) -> tuple[Decimal, Decimal]:
        low, high = self.floor.reward_range
        return low, high - low

    def _scaled(self) -> RewardFloor:
        """On that scale a deposit is a larger share of the default, and the hold is its floor.

        A width that does not divide the amounts rounds them to the safe side: the simulated gate
        may then open a play after ``first_exploration``.
        Where the hold is zero nothing is ever forced: then a reserve of one a play says so.
        """
        low, width = self._scale()
        value = max(Decimal("1e-9"), _DOWN.divide(self.value - low, width))
        if not self.terms.hold:
            return RewardFloor(value, Decimal("0.5"), reserve=self.horizon)
        # Rounded up, so that a floor on the lattice stays on it.
        share = _UP.divide(self.value - self.break_even, self.value - low)
        return RewardFloor(value, share, reserve=_DOWN.divide(self.floor.reserve, width))

    def steps(self, workers: int | None = None, engine: str = "compiled") -> Iterator[Step]:
        """Simulate every scenario, telling where one stands; see ``results`` then.

        ``workers``: threads, by default one a core; what comes out does not depend on it.
        """
        count = None if workers is None else positive(workers, "workers")
        self.results.clear()
        done, total = 0, self.runs * len(self.plans)
        yield Step("starting", done, total)
        for name, plan in self.plans.items():
            runs: dict[int, dict[str, Trace]] = {}
            every = range(self.runs)
            yield from play(plan, every, engine, count, runs.__setitem__, (done, total))
            done += self.runs
            self.results[name] = Result(plan, dict(sorted(runs.items())))

    def settings(self) -> dict[str, Any]:
        """What was asked, as ``plan.json`` holds it; exact decimals as strings."""
        low, high = self.floor.reward_range
        return {
            "default": str(self.value),
            "alpha": str(self.floor.alpha),
            "reward_range": [str(low), str(high)],
            "reserve": str(self.floor.reserve),
            "means": [str(mean) for mean in self.means],
            "traffic": self.traffic,
            "horizon": self.horizon,
            "policy": self.policy,
            "default_competes": True,
            "runs": self.runs,
            "seed": self.seed,
        }


def spaced(low: Any, high: Any, arms: Any = 10) -> list[Decimal]:
    """``arms`` means evenly spaced from ``high`` down to ``low``, as the paper's are.

    >>> [str(mean) for mean in spaced(0.2, 0.8, arms=3)]
    ['0.8', '0.5', '0.2']
    """
    count, least, most = positive(arms, "arms"), exact(low, "means"), exact(high, "means")
    if count < 2:
        raise InvalidInput("arms = 1 has one mean, not a range; give it with --mean")
    if not least <= most:
        raise InvalidInput(f"means = {low} {high} must be given as LOW HIGH, LOW <= HIGH")
    inner = np.linspace(float(most), float(least), count)[1:-1].tolist()
    return [most, *(exact(mean, "means") for mean in inner), least]


def _plausible(means: Sequence[Any], floor: RewardFloor) -> list[Decimal]:
    read = [exact(mean, "mean") for mean in means]
    if not read:
        raise InvalidInput("means is empty; give what each arm may plausibly pay")
    if len(read) > MAX_ARMS:
        raise InvalidInput(
            f"arms = {len(read):,} is above {MAX_ARMS:,}, which a plan takes at most"
        )
    low, high = floor.reward_range
    for mean in read:
        if not low <= mean <= high:
            raise InvalidInput(
                f"mean = {mean} lies outside reward_range ({low}, {high}); widen the range or "
                "correct the mean"
            )
    return read
