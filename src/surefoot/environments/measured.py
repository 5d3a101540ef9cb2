"""Measured arms: a play has several measures, one of which, or a weighted sum, is the objective."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from surefoot._exact import INT64_MAX, Unit, exact, finest_places, first_few, reach, shown, weighed
from surefoot._jit import jittable
from surefoot._types import Number
from surefoot.environments._kernels import draw, draws_for, register
from surefoot.environments._table import TableRecord, moments
from surefoot.environments._timing import Frozen
from surefoot.environments.base import bounds
from surefoot.environments.empirical import EmpiricalArms
from surefoot.errors import InvalidInput
from surefoot.kernels.noise import noise


class LastOfParts(NamedTuple):
    """Parameters of an objective's draw: a measure, and what its unit is worth.

    The sum of the parts is worth sum // over in units of the objective.
    """

    inner: Any
    part: int
    times: int
    over: int


class OneOfParts(NamedTuple):
    """The same with other parts behind it."""

    inner: Any
    part: int
    times: int
    over: int
    rest: Any


@jittable
def part_key(key: Any, part: int) -> Any:
    """The key of the draws of one measure; part 0 has that of the run.

    Rewards are drawn from turn 1 on, so that turn 0 is free for keys.
    """
    return key if part == 0 else noise(key, 0, -16 - part)


def _draw_last(environment: Any, key: Any, turn: int, arm: int) -> Any:
    own = part_key(key, environment.part)
    return environment.times * draw(environment.inner, own, turn, arm) // environment.over


def _draw_part(environment: Any, key: Any, turn: int, arm: int) -> Any:
    own = part_key(key, environment.part)
    drawn = environment.times * draw(environment.inner, own, turn, arm)
    return (drawn + draw(environment.rest, key, turn, arm)) // environment.over


class MeasuredArms(Frozen):
    """Arms whose plays have several measures, such as a quality and a cost.

        objective of a play = sum of weight_i * measure_i

    ``measures``: name -> an environment of single arms, all with as many. ``objective``: what the
    policy learns and the regret is of: a measure's name, or name -> weight, exact decimals, such as
    ``{"quality": 1, "cost": -20}``; of one measure it may be left out. ``default``: what the
    default pays, name -> an environment of one arm, or a number that it always comes to; of one
    measure, that alone. A learned default needs it, and the regret of default plays is of it. All
    that environments have (``pull``, ``means``, ``best``, ...) is of the objective, rounded down to
    nine places, or fewer if its range needs it.

    Source: ours. Measures are drawn independently of each other, and what the default pays of all;
    the first measure is drawn as its environment alone would be. Where a measure's environment is
    ``Delayed`` or ``Batched``, that measure comes late, and the objective with it; a wrapper around
    the whole delays all that a play comes to. Raises InvalidInput for anything else.

    >>> from surefoot import BernoulliArms, EmpiricalArms
    >>> env = MeasuredArms(
    ...     {"quality": BernoulliArms([0.9, 0.8]), "cost": EmpiricalArms([[0.03], [0.01, 0.02]])},
    ...     objective={"quality": 1, "cost": -10},
    ...     default={"quality": BernoulliArms([0.82]), "cost": 0.012},
    ... )
    >>> env.pull_measures(key=7, turn=1, arm=1), env.pull(key=7, turn=1, arm=1)
    ({'quality': 1.0, 'cost': 0.02}, 0.8)
    >>> env.means.round(3).tolist(), env.best, env.default_value
    ([0.6, 0.65], 0.65, 0.7)
    >>> env.pull_default(key=7, play=1)
    {'quality': 1.0, 'cost': 0.012}

    Holds when: the measures of a play do not depend on each other. Does not hold when: a dear
    answer is a good one more often than its arm's means say: write an environment of your own, see
    ``Environment``.
    """

    measures: dict[str, Any]
    objective: dict[str, Decimal]
    default: dict[str, Any]
    ranges: dict[str, tuple[Decimal, Decimal]]
    """Of each measure, its default's included."""
    default_means: dict[str, Fraction]
    """The exact mean of what the default pays, by measure."""
    n_arms: int
    places: int
    reward_range: tuple[Any, Any]
    means: Any
    variances: Any
    best: float
    record: Any
    _parts: dict[str, int]
    """The number of each measure's draws; the default's has the next."""
    _times: dict[str, int]
    _over: int

    def __init__(
        self,
        measures: Mapping[str, Any],
        objective: str | Mapping[str, Number] | None = None,
        default: Any = None,
    ) -> None:
        parts = _checked_measures(measures)
        weights = _checked_objective(objective, parts)
        defaults = _checked_default(default, parts)
        vars(self).update(
            measures=parts, objective=weights, default=defaults,
            ranges={name: _joined(one, defaults.get(name)) for name, one in parts.items()},
            default_means={name: _exact_mean(one) for name, one in defaults.items()},
            n_arms=int(next(iter(parts.values())).n_arms),
            _parts={name: 2 * number for number, name in enumerate(parts)},
        )  # fmt: skip
        self._weigh()
        # What not every such environment has is looked for by the simulator.
        if any(hasattr(one, "arrival") for one in parts.values()):
            vars(self).update(arrival=self._arrival, arrival_of=self._arrival_of)
        if any(_drifts(one) for one in parts.values()):
            vars(self).update(drifts=True, best_at=self._best_at)

    def _weigh(self) -> None:
        """Work out range, unit, means and record of the objective."""
        weights = self.objective
        chosen = {name: self.measures[name] for name in weights}
        needed = max(one.places + _decimals(weights[name]) for name, one in chosen.items())
        ends = [
            weighed(
                (weight, self.ranges[name][(weight > 0) is top]) for name, weight in weights.items()
            )
            for top in (False, True)
        ]
        places = min(needed, finest_places(reach(*ends), Decimal(0)))
        times = {
            name: int(weighed([(weight, Decimal(f"1e{needed - chosen[name].places}"))]))
            for name, weight in weights.items()
        }
        over = 10 ** (needed - places)
        most = sum(abs(times[name]) * _amount(one) for name, one in chosen.items())
        if max(most, over, *map(abs, times.values())) > INT64_MAX:
            raise InvalidInput(
                f"objective = {_said(weights)} has amounts of {needed} places, which leave 64 "
                "bits; give weights and measures with fewer"
            )
        floats = {name: float(weight) for name, weight in weights.items()}
        means = np.sum([floats[name] * one.means for name, one in chosen.items()], axis=0)
        variances = np.sum(
            [floats[name] ** 2 * one.variances for name, one in chosen.items()], axis=0
        )
        for numbers in (means, variances):
            numbers.flags.writeable = False
        vars(self).update(
            places=places, reward_range=tuple(ends), means=means, variances=variances,
            best=float(means.max()), _times=times, _over=over,
        )  # fmt: skip
        vars(self)["record"] = self._record() if all(map(draws_for, chosen.values())) else None

    def _record(self) -> Any:
        """The parameters of the objective's draw; the rounding is that of the outermost part."""
        names = list(self.objective)
        found: Any = None
        for name in reversed(names):
            over = self._over if name == names[0] else 1
            part = self.measures[name].record, self._parts[name], self._times[name], over
            found = LastOfParts(*part) if found is None else OneOfParts(*part, found)
        return found

    def pull(self, key: int, turn: int, arm: int, *play: int) -> float:
        """The objective of ``arm`` at the policy's ``turn`` in the run of ``key``.

        ``play``: its number, where a measure drifts.
        """
        paid = {name: self._pulled(name, key, turn, arm, *play) for name in self.objective}
        return self.weigh(paid)

    def weigh(self, measures: Mapping[str, Number]) -> float:
        """The objective that measures come to; those that it does not count are left aside."""
        units = 0
        for name, times in self._times.items():
            unit = Unit(self.measures[name].places)
            units += times * unit.read(measures[name], f"measures[{name!r}]")
        return float(Unit(self.places).decimal(units // self._over))

    def pull_measures(self, key: int, turn: int, arm: int, *play: int) -> dict[str, float]:
        """Every measure of ``arm`` at the policy's ``turn`` in the run of ``key``, by name."""
        return {name: self._pulled(name, key, turn, arm, *play) for name in self.measures}

    def _pulled(self, name: str, key: int, turn: int, arm: int, *play: int) -> float:
        one = self.measures[name]
        moment = play if _drifts(one) else ()
        return float(one.pull(part_key(key, self._parts[name]), turn, arm, *moment))

    def part_of(self, name: str) -> int:
        """The number of a measure's draws, see ``part_key``."""
        return self._parts[name]

    def pull_default(self, key: int, play: int) -> dict[str, float]:
        """What the default pays at a play, of the measures it is known of, by name."""
        return {
            name: float(one.pull(part_key(key, self._parts[name] + 1), play, 0))
            for name, one in self.default.items()
        }

    @property
    def default_value(self) -> float | None:
        """The default's mean objective; None where a measure of it is missing."""
        if not self.objective.keys() <= self.default.keys():
            return None
        each = (
            Fraction(weight) * self.default_means[name] for name, weight in self.objective.items()
        )
        return float(sum(each))

    def value(self, action: Any, *play: int) -> float:
        """The mean objective of an arm; where a measure drifts, at ``play``."""
        if not play:
            return float(self.means[action])
        total = 0.0
        for name, weight in self.objective.items():
            one = self.measures[name]
            total += float(weight) * one.value(action, *(play if _drifts(one) else ()))
        return total

    def _arrival_of(self, name: str, key: int, play: int) -> int:
        """The play after which one measure of ``play`` is known."""
        one = self.measures[name]
        if not hasattr(one, "arrival"):
            return play
        return int(one.arrival(part_key(key, self._parts[name]), play))

    def _arrival(self, key: int, play: int) -> int:
        return max(self._arrival_of(name, key, play) for name in self.objective)

    def _best_at(self, play: int) -> float:
        return max(self.value(arm, play) for arm in range(self.n_arms))

    def __repr__(self) -> str:
        default = f", default={self.default}" if self.default else ""
        return f"MeasuredArms({self.measures}, objective={_said(self.objective)}{default})"


register(LastOfParts, _draw_last, MeasuredArms.pull)
register(OneOfParts, _draw_part, MeasuredArms.pull)


def _drifts(environment: Any) -> bool:
    return bool(getattr(environment, "drifts", False))


def _said(weights: Mapping[str, Decimal]) -> str:
    return str({name: str(weight) for name, weight in weights.items()}).replace("'", "")


def _checked_measures(measures: Any) -> dict[str, Any]:
    """The measures by name, if they are environments of the same arms."""
    if not isinstance(measures, Mapping) or not measures:
        raise InvalidInput(
            f"measures = {shown(measures)} must be a dict from names to environments, e.g. "
            '{"quality": BernoulliArms([0.9, 0.8])}'
        )
    found = dict(measures)
    for name, one in found.items():
        if not isinstance(name, str) or not name:
            raise InvalidInput(f"measures: name {shown(name)} must be a string, e.g. 'quality'")
        check_arms(one, f"measures[{name!r}]")
    counts = {name: int(one.n_arms) for name, one in found.items()}
    if len(set(counts.values())) > 1:
        raise InvalidInput(f"measures are of {counts} arms; give each measure as many")
    return found


_NEEDED = (
    "n_arms", "places", "reward_range", "means", "variances", "best", "record", "pull", "value",
)  # fmt: skip


def check_arms(environment: Any, what: str) -> None:
    """InvalidInput for what is not an environment of single arms without contexts."""
    lacks = [name for name in _NEEDED if not hasattr(environment, name)]
    if lacks or isinstance(environment, type):
        raise InvalidInput(
            f"{what} = {shown(environment)} must be an environment, e.g. BernoulliArms([0.8, 0.2])"
        )
    if getattr(environment, "semi_bandit", False) or hasattr(environment, "context"):
        raise InvalidInput(
            f"{what} = {shown(environment)} pays super arms or has contexts; give an environment "
            "of single arms without contexts"
        )


def _checked_objective(objective: Any, parts: Mapping[str, Any]) -> dict[str, Decimal]:
    """The weight of each measure in the objective."""
    if objective is None and len(parts) == 1:
        objective = next(iter(parts))
    if isinstance(objective, str):
        objective = {objective: 1}
    if not isinstance(objective, Mapping) or not objective or not objective.keys() <= parts.keys():
        said = (
            "objective is missing: it" if objective is None else f"objective = {shown(objective)}"
        )
        raise InvalidInput(
            f"{said} must be one of the measures {first_few(list(parts))}, "
            "or a dict from some of them to weights"
        )
    weights = {name: exact(weight, f"objective[{name!r}]") for name, weight in objective.items()}
    for name, weight in weights.items():
        if weight == 0:
            raise InvalidInput(f"objective[{name!r}] = 0 counts for nothing; leave it out")
    if "reward" in parts and weights != {"reward": 1}:
        raise InvalidInput(
            "a measure named 'reward' is the objective itself, which agents take as reward=; "
            "name it otherwise, or give objective='reward'"
        )
    return weights


def _checked_default(default: Any, parts: Mapping[str, Any]) -> dict[str, Any]:
    """What the default pays, an environment of one arm for each measure that is given."""
    if default is None:
        return {}
    if not isinstance(default, Mapping):
        if len(parts) > 1:
            raise InvalidInput(
                f"default = {shown(default)} must be a dict: there are several measures, "
                f"{first_few(list(parts))}"
            )
        default = {next(iter(parts)): default}
    found = {}
    for name, one in default.items():
        if name not in parts:
            raise InvalidInput(
                f"default: {shown(name)} is none of the measures {first_few(list(parts))}"
            )
        what = f"default[{name!r}]"
        if not hasattr(one, "pull"):
            one = _constant(one, what)
        check_arms(one, what)
        if one.n_arms != 1 or _drifts(one) or hasattr(one, "arrival"):
            raise InvalidInput(
                f"{what} = {shown(one)} must be an environment of one arm that neither drifts nor "
                "comes late, or a number"
            )
        found[name] = one
    return found


def _constant(number: Any, what: str) -> EmpiricalArms:
    """What always comes to one number."""
    value = exact(number, what)
    places = finest_places(reach(value, value), Decimal(0))
    if _decimals(value) > places:
        raise InvalidInput(f"{what} = {shown(number)} has more than {places} decimals; round it")
    return EmpiricalArms([[value]])


def _joined(arms: Any, default: Any) -> tuple[Decimal, Decimal]:
    """The range of a measure, whoever is played."""
    low, high = bounds(arms)
    if default is None:
        return low, high
    least, most = bounds(default)
    return min(low, least), max(high, most)


def _exact_mean(environment: Any) -> Fraction:
    """The mean of what one arm pays: of a table's entries; of any other law as it was given."""
    record = environment.record
    if isinstance(record, TableRecord):
        one = Fraction(Unit(environment.places).decimal(1))
        return moments(record.rewards[: int(record.sizes[0])])[0] * one
    return Fraction(exact(environment.means[0], "the default's mean"))


def _amount(environment: Any) -> int:
    """The most that a reward is away from 0, in units."""
    unit, (low, high) = Unit(environment.places), bounds(environment)
    return max(abs(unit.floor(low)), abs(unit.ceil(high)))


def _decimals(weight: Decimal) -> int:
    """How many decimals a number has."""
    return max(0, -int(weight.normalize().as_tuple().exponent))
