"""Before going live: what is sure without a single reward, and what a simulation predicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any, Final, NamedTuple

import numpy as np

from surefoot._exact import exact
from surefoot._types import JsonObject, Number, Seed
from surefoot.agents import GenCB
from surefoot.environments import BernoulliArms
from surefoot.errors import InvalidInput
from surefoot.floors import RewardFloor
from surefoot.simulation import Plan, Result
from surefoot.simulation.checks import positive
from surefoot.simulation.plan import grid
from surefoot.simulation.result import spread
from surefoot.simulation.runner import choose, form
from surefoot.study.files import versions
from surefoot.study.logs import self_funding
from surefoot.study.numbers import Array, amount, full, percent
from surefoot.study.runs import (
    MAX_ARMS,
    POLICIES,
    Simulation,
    Step,
    Traces,
    explorable,
    gain,
    perform,
    share_of,
)
from surefoot.study.verdict import few, margin

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


class Seen(NamedTuple):
    """What a log says of the arms besides the default."""

    called: str
    """The log, in a sentence."""
    default: str
    """The default's label there."""
    worlds: Sequence[Sequence[Any]]
    """The arms' means in logs drawn again from this one: one world a run."""
    poor: Sequence[Any]
    """The lower end of each arm's mean, at 95 %."""


class Outlook(Simulation):
    """A problem before its first play: exact promises, and scenarios to simulate.

    ``default``, ``alpha``, ``reward_range``, ``reserve``: as ``RewardFloor``. ``means``: what the
    arms may plausibly pay, one each, within the range; ``traffic``: plays a day, or None.
    ``horizon``: plays to look ahead; None takes 30 days of traffic, at most 1,000,000, or 100,000.
    ``policy``: "ucb1" or "klucb". ``seen``: what a log says of the arms, in place of a guess; its
    worlds are as many as the runs. Raises InvalidInput where they do not fit.

    Simulated is ``GenCB`` over the policy, the default competing, each reward one end of the
    range: with their means fixed, the noisiest rewards there are.

    >>> outlook = Outlook(0.7, 0.05, means=[0.5, 0.8], traffic=1000)
    >>> outlook.first_exploration, [str(point.largest_loss) for point in outlook.points()]
    (20, ['35.000', '245.000', '1050.000'])

    Holds when: ``first_exploration`` and ``points`` on every path, as ``self_funding``; what is
    simulated as far as the arms are as planned and independent over time. Does not hold when:
    rewards come late or drift: the promise stands, but exploring begins later.
    """

    chart = "plan"
    tables = ("plan.json",)

    def __init__(
        self,
        default: Any,
        alpha: Number,
        means: Sequence[Any],
        reward_range: tuple[Number, Number] = (0, 1),
        reserve: Number = 0,
        traffic: int | None = None,
        horizon: int | None = None,
        policy: str = "ucb1",
        runs: int = 30,
        seed: Seed = 0,
        seen: Seen | None = None,
    ) -> None:
        super().__init__(policy, runs)
        self.seen = seen
        self.floor = share_of(default, alpha, reward_range, reserve)
        self.terms = explorable(self.floor)
        self.means = _plausible(means, self.floor)
        self.traffic = None if traffic is None else positive(traffic, "traffic")
        ahead = AHEAD if self.traffic is None else min(MOST_AHEAD, 30 * self.traffic)
        self.horizon = ahead if horizon is None else positive(horizon, "horizon")
        self._problem = (default, alpha, self.floor.reward_range, reserve)
        self.places = self._places()
        self.scaled = self._scaled()
        self.plans = {PLAUSIBLE: self._plan(self.means, seed)}
        self.seed = self.plans[PLAUSIBLE].entropy
        self.poor = self._poor()
        if min(self.poor) < self.value:
            self.plans[POOR] = self._plan(self.poor, self.seed)

    def _poor(self) -> list[Decimal]:
        """What the arms pay if things stand badly: the least plausible, or their lower ends."""
        if self.seen is None:
            return [min(self.means)] * len(self.means)
        return _plausible(self.seen.poor, self.floor)

    def steps(self, workers: int | None = None, engine: str = "compiled") -> Iterator[Step]:
        """As ``Simulation.steps``; with a log each plausible run is in a world of its own."""
        if self.seen is None:
            yield from super().steps(workers, engine)
            return
        first, rest = self.plans[PLAUSIBLE], dict(self.plans)
        del rest[PLAUSIBLE]
        worlds = {
            f"{PLAUSIBLE} {run}": self._plan(_plausible(means, self.floor), self.seed)
            for run, means in enumerate(self.seen.worlds)
        }
        wanted = dict.fromkeys(rest, range(self.runs))
        wanted |= {name: range(run, run + 1) for run, name in enumerate(worlds)}
        traces: dict[str, dict[int, Traces]] = {name: {} for name in self.plans}

        def keep(name: str, run: int, found: Traces) -> None:
            traces[PLAUSIBLE if name in worlds else name][run] = found

        yield from perform({**worlds, **rest}, wanted, keep, workers, engine)
        drove = form(choose(engine))
        self.results = {
            name: Result(plan, dict(sorted(traces[name].items())), drove)
            for name, plan in {PLAUSIBLE: first, **rest}.items()
        }

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
        """The plays at which to say what is sure, and their names."""
        if self.traffic is not None:
            named = {days * self.traffic: label for label, days in DAYS.items()}
        else:
            powers = (10**power for power in range(2, 10))
            named = {plays: f"{plays:,} plays" for plays in powers if plays <= self.horizon}
        return {self.horizon: f"{self.horizon:,} plays", **named}

    def _plan(self, means: Sequence[Decimal], seed: Seed) -> Plan:
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

    def settings(self) -> JsonObject:
        """What was asked, as ``plan.json`` holds it; exact decimals as strings."""
        low, high = self.floor.reward_range
        return {
            "default": str(self.value),
            "alpha": str(self.floor.alpha),
            "reward_range": [str(low), str(high)],
            "reserve": str(self.floor.reserve),
            "means": [str(mean) for mean in self.means],
            **({} if self.seen is None else {"log": self.seen.called}),
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


class OutlookFindings:
    """An outlook whose scenarios are simulated: its numbers and its words.

    >>> outlook = Outlook(0.7, 0.05, means=[0.5, 0.8], horizon=200, runs=2)
    >>> list(outlook.steps(engine="plain"))[-1].done
    4
    >>> OutlookFindings(outlook).headline()
    'Exploring begins at play 20; at most 7 is lost in 200 plays'
    """

    def __init__(self, outlook: Outlook) -> None:
        self.outlook = outlook
        self.t = outlook.plans[PLAUSIBLE].checkpoints
        low, high = outlook.floor.reward_range
        self._width = float(high - low)

    def headline(self) -> str:
        """The plan in one line."""
        outlook = self.outlook
        return (
            f"Exploring begins at play {outlook.first_exploration:,}; at most {self._most()} is "
            f"lost in {outlook.horizon:,} plays"
        )

    def share(self, name: str) -> Array:
        """Default plays among the first t: shape (runs, checkpoints)."""
        made: Array = self.outlook.results[name].measure("GenCB", "default_plays")
        return made / self.t

    def gain(self, name: str) -> Array:
        """Reward above playing the default alone: shape (runs, checkpoints)."""
        return gain(self.outlook.results[name], "GenCB", self.outlook.scaled) * self._width

    def funded_from(self, name: str) -> Array:
        """The checkpoint from which each run's gate is open at every later one; nan if none."""
        floor = self.outlook.scaled
        hold = float(floor.unit.decimal(floor.terms().hold))
        closed = self.outlook.results[name].measure("GenCB", "slack") < hold
        after = np.where(closed.any(axis=1), len(self.t) - np.argmax(closed[:, ::-1], axis=1), 0)
        return np.append(self.t.astype(float), np.nan)[after]

    def at(self, name: str, point: Point) -> JsonObject | None:
        """What is predicted by a point; None beyond the horizon."""
        if point.plays > self.outlook.horizon:
            return None
        here = int(np.searchsorted(self.t, point.plays))
        shares, gains = self.share(name)[:, here], self.gain(name)[:, here]
        return {"plays": point.plays, "default_share": _spread(shares), "gain": _spread(gains)}

    def summary(self) -> JsonObject:
        """The plan in numbers, as ``plan.json`` holds it; exact decimals are strings.

        - settings: default, alpha, reward_range, reserve, means, log (where they are from one),
          traffic, horizon, policy, default_competes, runs, seed
        - exact: first_exploration, break_even, funding_arms (how many of the means pay that),
          points: [{label, plays, largest_loss, most_forced_default_plays}]
        - predicted: for each scenario, "plausible" and, where the least of the means is below the
          default, "poor": {means (of a log those it shows, and their lower ends), funded_runs,
          funded_from: the middle and the last run's play or null, long_run_share: of default
          plays if the default did not compete and the best of the means were played, points:
          [{plays, and mean, min and max over the runs of default_share and gain, and the mean's
          margin at 95 %, null below 5 runs}]}
        - notes: what is sure, what is predicted, and under which assumptions
        - versions
        """
        outlook = self.outlook
        points = [
            {
                "label": at.label,
                "plays": at.plays,
                "largest_loss": f"{at.largest_loss:f}",
                "most_forced_default_plays": at.forced,
            }
            for at in outlook.points()
        ]
        return {
            "settings": outlook.settings(),
            "exact": {
                "first_exploration": outlook.first_exploration,
                "break_even": f"{outlook.break_even:f}",
                "funding_arms": len(outlook.funding),
                "points": points,
            },
            "predicted": {name: self._scenario(name) for name in outlook.plans},
            "notes": self.notes(),
            "versions": versions(),
        }

    def _scenario(self, name: str) -> JsonObject:
        outlook = self.outlook
        means = outlook.means if name == PLAUSIBLE else outlook.poor
        best, value, alpha = float(max(means)), outlook.value, outlook.floor.alpha
        since = self.funded_from(name)
        since = np.sort(since[np.isfinite(since)]).astype(int).tolist()
        ends = {"middle": since[len(since) // 2], "last": since[-1]} if since else None
        predicted = (self.at(name, point) for point in outlook.points())
        return {
            "means": [str(mean) for mean in means],
            "funded_runs": len(since),
            "funded_from": ends,
            "long_run_share": self_funding.default_share(best, value, alpha),
            "points": [point for point in predicted if point],
        }

    def notes(self) -> list[str]:
        """What is sure, what is predicted, and under which assumptions; a paragraph each."""
        return [*self._sure(), *self._predicted(), *self._assumed()]

    def _sure(self) -> list[str]:
        outlook, floor = self.outlook, self.outlook.floor
        first, traffic = outlook.first_exploration, outlook.traffic
        day = "" if traffic is None else f", on day {-(-first // traffic):,}"
        before = "the default comes first" if first > 1 else "nothing has to be saved up"
        low, high = self._range()
        rate, reserve = _exact(floor.alpha * outlook.value), _exact(floor.reserve)
        return [
            (
                f"Sure: the first exploring play is play {first:,}{day}; {before}. It holds where "
                "each play is reported before the next; later if rewards come late."
            ),
            (
                f"Sure: by play t at most {rate} * t + {reserve} is lost against playing the "
                "default alone, on every path, whatever the arms pay, while no reward leaves "
                f"[{low}, {high}]. A default play counts as its known value, "
                f"{_exact(outlook.value)}."
            ),
            (
                f"Sure: an arm that pays {_exact(outlook.break_even)} or more on average funds its "
                f"own exploring, (1-alpha) times the default; of the {len(outlook.means):,} "
                f"planned for {len(outlook.funding):,} do."
            ),
        ]

    def _predicted(self) -> list[str]:
        outlook, found = self.outlook, self._scenario(PLAUSIBLE)
        runs, horizon = f"{outlook.runs:,}", f"{outlook.horizon:,}"
        notes = [
            (
                f"Predicted: in none of {runs} runs does the account fund itself within {horizon} "
                "plays; the gate is still closed at times."
            )
        ]
        if since := found["funded_from"]:
            notes = [
                (
                    f"Predicted: in {found['funded_runs']:,} of {runs} runs the account ends able "
                    f"to pay for exploring; it funds itself from play {since['middle']:,} on in "
                    f"the middle run, {since['last']:,} in the last."
                )
            ]
        if max(outlook.means) < outlook.value:
            notes.append(
                "No arm planned for is as good as the default: there is nothing to gain by "
                "exploring."
            )
        if POOR not in outlook.plans:
            return [
                *notes,
                (
                    "No arm planned for is worse than the default. Should none be as good after "
                    "all, what is sure above still holds."
                ),
            ]
        return [*notes, self._if_poor(horizon)]

    def _if_poor(self, horizon: str) -> str:
        outlook, gains = self.outlook, float(self.gain(POOR)[:, -1].mean())
        share = percent(float(self.share(POOR)[:, -1].mean()))
        printed = percent(self._scenario(POOR)["long_run_share"])
        competes = (
            "The default competes, so it is played ever more once the arms are known to be worse; "
            f"with default_competes=False exploring would go on for ever, with {printed} default "
            "plays in the long run."
        )
        if outlook.seen is None:
            return (
                "Predicted, if no arm is as good as the default and each pays "
                f"{_exact(min(outlook.means))}: {share} of {horizon} plays are the default, and "
                f"{full(-gains)} is lost on average, of at most {self._most()}. {competes}"
            )
        least, most = min(outlook.poor), max(outlook.poor)
        ends = _exact(least) if least == most else f"{_exact(least)} to {_exact(most)}"
        ended = f"{full(-gains)} is lost" if gains < 0 else f"{full(gains)} is gained"
        return (
            f"Predicted, if each arm pays only the lower end of what the log allows, {ends}: "
            f"{share} of {horizon} plays are the default, and {ended} on average; at most "
            f"{self._most()} can be lost." + (f" {competes}" if most < outlook.value else "")
        )

    def _assumed(self) -> list[str]:
        outlook, (low, high) = self.outlook, self._range()
        most, least = max(outlook.means), min(outlook.means)
        means = f"{_exact(most)} to {_exact(least)}, as planned," if most > least else _exact(most)
        if outlook.seen is not None:
            means = (
                f"in each run what another log like {outlook.seen.called} shows, its rows drawn "
                f"again arm by arm ({_exact(least)} to {_exact(most)} there),"
            )
        notes = [
            (
                "The predictions are simulated, by no formula: GenCB over "
                f"{POLICIES[outlook.policy][0]}, the default competing, {outlook.runs:,} runs of "
                f"{outlook.horizon:,} plays, seed {outlook.seed}; the arms pay {means} on average, "
                f"each reward is {low} or {high}, and it is known at once."
            )
        ]
        share, gains = (of(PLAUSIBLE)[:, -1] for of in (self.share, self.gain))
        if lack := few(outlook.runs):
            notes.append(
                "What is predicted is what those runs show, and may be chance: "
                f"{lack} to say how far it may be off."
            )
        elif gains.any():  # else no run explored, and there is no chance in it
            notes.append(
                f"What is predicted is a mean over the runs: by play {outlook.horizon:,} the share "
                f"of default plays is known to ± {percent(margin(share))} of the plays and the "
                f"gain to ± {amount(margin(gains))}, at 95 % by Student's t."
            )
        if outlook.seen is not None:
            notes.append(
                f"The default is {outlook.seen.default}, declared at the upper end of what the log "
                f"shows, {_exact(outlook.value)}: mean plus 1.96 standard errors. If it is worth "
                "less than that, the promise holds against what it is worth."
            )
            notes.append(
                "The predicted gain is as lucky as the log: the arm that looks best there is paid "
                "what made it look best. surefoot replay takes luck off, and says whether the log "
                "can tell."
            )
        if not outlook.on_lattice:
            notes.append(
                "The books hold the default and its floor in units of "
                f"10**-{outlook.floor.places}, rounded to the safe side: the first exploring play "
                "may be a play later."
            )
        return notes

    def _range(self) -> tuple[str, str]:
        low, high = self.outlook.floor.reward_range
        return full(float(low), figures=6), full(float(high), figures=6)

    def _most(self) -> str:
        """The most that can be lost by the horizon."""
        (point,) = [at for at in self.outlook.points() if at.plays == self.outlook.horizon]
        return full(float(point.largest_loss), figures=6)


def _spread(values: Array) -> dict[str, float | None]:
    return {**spread(values), "margin": None if few(len(values)) else margin(values)}


def _exact(value: Decimal) -> str:
    """A decimal as it is, without zeros at its end."""
    return f"{value.normalize():f}"
