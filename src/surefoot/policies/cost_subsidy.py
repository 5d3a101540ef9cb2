"""Cost subsidy, the cheapest arm that is good enough: after Sinha et al. 2021."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Self

import numpy as np

from surefoot._exact import exact, exact_range, one_of, shown
from surefoot._labels import arm_labels
from surefoot._types import JsonObject, Number
from surefoot.errors import InvalidInput
from surefoot.kernels import beta_quantile, uniform
from surefoot.kernels.noise import key_from
from surefoot.kernels.policy import Stateful
from surefoot.policies._bernoulli import kl_upper

THOMPSON, UCB = "thompson", "ucb"
WHOLE = 10**9
"""Into how many the range of a measure is divided for its sums."""
QUALITY, COST, OPEN = 0, 2, 4
"""Of each measure the list of how many values were told, and behind it that of their sums; then
the list of open plays."""


class CostSubsidy(Stateful):
    """Play the cheapest arm that is good enough beside a known default.

        among the arms with  Q_i >= default - alpha*|default| - margin  the smallest C_i plays

    Q_i and C_i are optimistic values of the arm's mean quality and mean cost, with n told values
    of sum s on [0, 1], the range of that measure:

        form="thompson"   a draw from Beta(1 + s, 1 + n - s)
        form="ucb"        the ends of { q : n kl(s/n, q) <= ln m }: of quality the upper, of cost
                          the lower; n = 0 first

    Ties go to the lowest arm. Where no arm is good enough the largest Q_i plays, and scores -inf.
    m counts this policy's own turns.

    Source: CS-UCB and CS-TS of Sinha, Sankararaman, Kazerouni, Avadhanula 2021 (arXiv 2011.01488)
    play the cheapest arm of those whose index is at least 1 - alpha times the largest one, at known
    costs. A reference arm in the place of the best one is a setting of Juneja, Joe-Wong, Yagan 2025
    (arXiv 2501.10290), whose Pairwise Elimination is not what is built here: in public code of it
    that arm's quality is learned as well, here it is known. We had the abstracts of both, the
    introduction of the first and public code that runs both, not their full text. Ours: the
    threshold, which is that of ``RewardFloor``; KL bounds in the place of sqrt(2 ln T / n); costs
    that are learned; values between the ends of a range, which count as that share of a success;
    and where the randomness comes from: uniform numbers for (key, turn, arm).

    The reward, which is the objective, is minus the cost; the quality comes by ``measures=``, see
    ``surefoot.policies.Policy``. ``quality``: the name of that measure. ``default``, ``alpha``,
    ``margin``: as its floor has them; alpha in [0, 1), margin >= 0, and ``default`` within
    ``quality_range``. ``cost_range``: the least and the largest cost of a play; or ``costs``: the
    arms' mean costs, where they are known, and none are learned. Raises InvalidInput for other
    values, and from ``update`` without measures.

    The score of a choice is minus C_i. So a default that competes is given to the agent as
    ``default_objective`` = minus its cost: then no arm is played that seems as dear as the default,
    nor any where none seems good enough.

    >>> import numpy as np
    >>> policy = CostSubsidy(arms=["large", "small"], default=0.8, alpha=0.1, cost_range=(0, 0.05))
    >>> for _ in range(40):
    ...     policy.update(0, -0.03, None, measures={"quality": 0.9})
    ...     policy.update(1, -0.002, None, measures={"quality": 0.8})
    >>> policy.select(None, np.random.default_rng(0))
    1

    Holds when: measures keep to their ranges and their means do not drift. Nothing is proved of
    these forms; of CS-UCB and CS-TS their authors say that they do not perform well where the best
    arm is unknown. Under the same floor, drawing left a bill of 54 % of the default's on random
    arms where Thompson sampling on minus the cost left 76 %. Does not hold when: no arm is good
    enough by itself. It leaves the slack unspent then, which the other spends on cheap arms: 97 %
    against 90 %. Nor does it look for a mixture of arms that keeps the floor on average for less.
    ``benchmarks/SUBSIDY.md`` has more, also where it loses. It is plain Python in every driver:
    kernels learn one number a play.
    """

    contextual = False

    def __init__(
        self,
        n_arms: int | None = None,
        arms: Sequence[Any] | None = None,
        *,
        default: Number,
        alpha: Number = 0,
        margin: Number = 0,
        quality: str = "quality",
        quality_range: tuple[Number, Number] = (0, 1),
        cost_range: tuple[Number, Number] | None = None,
        costs: Sequence[Number] | None = None,
        form: str = THOMPSON,
    ) -> None:
        self.arms = arm_labels(n_arms, arms)
        self.n_arms = len(self.arms)
        self.form = one_of(form, "form", (THOMPSON, UCB))
        self.quality_range = exact_range(quality_range, "quality_range", "quality")
        if hasattr(default, "between"):  # only the floor hears of the default's plays
            raise InvalidInput(
                f"default = {shown(default)} is for a floor to learn; a policy is not told of it: "
                "give your best guess: it decides what is tried, not what is promised"
            )
        self.default = exact(default, "default")
        self.alpha, self.margin = exact(alpha, "alpha"), exact(margin, "margin")
        self.threshold = float(self._least())
        self.costs = self._known(costs)
        self.cost_range = self._paid(cost_range)
        self._graded, self._priced = map(_floats, (self.quality_range, self.cost_range))
        if not isinstance(quality, str) or not quality:
            raise InvalidInput(f"quality = {shown(quality)} must be the name of a measure")
        self.measures = (quality,)
        """What an agent has to tell it."""
        self.draws = form == THOMPSON
        """Whether it draws at random."""
        self.counts_open = form == UCB
        """Whether open plays are anything to it: they narrow its bounds."""
        self.key: int | None = None
        """What its draws are a function of, with the turn and the arm; None before the first."""
        self._begin(0, self._start())

    def _least(self) -> Fraction:
        """The quality that is just good enough."""
        low, high = self.quality_range
        if not low <= self.default <= high:
            raise InvalidInput(
                f"default = {self.default} must lie in quality_range = ({low}, {high})"
            )
        if not 0 <= self.alpha < 1 or self.margin < 0:
            raise InvalidInput(
                f"alpha = {self.alpha} must lie in [0, 1) and margin = {self.margin} be >= 0: what "
                "of the default's quality may be given up"
            )
        default, alpha, margin = map(Fraction, (self.default, self.alpha, self.margin))
        return default - alpha * abs(default) - margin

    def _known(self, costs: Any) -> tuple[float, ...] | None:
        """The arms' mean costs; None: they are to be learned."""
        if costs is None:
            return None
        known = tuple(float(exact(cost, "a known cost")) for cost in costs)
        if len(known) != self.n_arms:
            raise InvalidInput(
                f"costs has {len(known)} entries for {self.n_arms} arms; give each arm's mean cost"
            )
        return known

    def _paid(self, cost_range: Any) -> tuple[Decimal, Decimal] | None:
        """The range of the costs that are learned; None: none are."""
        if self.costs is None and cost_range is None:
            raise InvalidInput(
                "cost_range is missing: the least and the largest cost of a play, e.g. (0, 0.05); "
                "or give costs=, the arms' known mean costs"
            )
        if self.costs is not None and cost_range is not None:
            raise InvalidInput(
                f"cost_range = {shown(cost_range)} is that of costs to be learned, and costs= are "
                "known; give one of them"
            )
        return None if cost_range is None else exact_range(cost_range, "cost_range", "cost")

    def _start(self) -> tuple[list[int], ...]:
        return tuple([0] * self.n_arms for _ in range(OPEN + 1))

    def best(
        self, context: Any, rng: np.random.Generator, allowed: Sequence[int] | None = None
    ) -> tuple[int, float]:
        """Take a turn: the cheapest arm that is good enough, and minus its cost."""
        if self.draws and self.key is None:
            self.key = key_from(rng)
        self.turns += 1
        return self.peek(self.turns, allowed)

    def peek(
        self, turn: int, allowed: Sequence[int] | None = None, context: Any = None
    ) -> tuple[int, float]:
        """What ``best`` would return at a turn, without taking it; before the first with key 0."""
        chosen, least = -1, math.inf
        foremost, most = -1, -math.inf
        for arm in range(self.n_arms) if allowed is None else allowed:
            quality = self._quality(arm, turn)
            if foremost < 0 or quality > most:
                foremost, most = arm, quality
            if quality >= self.threshold:
                cost = self._cost(arm, turn)
                if chosen < 0 or cost < least:
                    chosen, least = arm, cost
        return (foremost, -math.inf) if chosen < 0 else (chosen, -least)

    def _quality(self, arm: int, turn: int) -> float:
        """Q_i: as good as the arm may be."""
        told, total = self._state[QUALITY][arm], self._state[QUALITY + 1][arm]
        if self.form == THOMPSON:
            share = self._draw(told, total, turn, 2 * arm)
        else:
            share = self._bound(arm, turn, told, total)
        return _at(self._graded, share)

    def _cost(self, arm: int, turn: int) -> float:
        """C_i: as cheap as the arm may be."""
        if self.costs is not None:
            return self.costs[arm]
        told, total = self._state[COST][arm], self._state[COST + 1][arm]
        if self.form == THOMPSON:
            share = self._draw(told, total, turn, 2 * arm + 1)
        else:
            share = 1.0 - self._bound(arm, turn, told, told * WHOLE - total)
        return _at(self._priced, share)

    def _draw(self, told: int, total: int, turn: int, number: int) -> float:
        """A sample of the mean of values on [0, 1]; ``number``: of the draw within its turn."""
        won = total / WHOLE
        return beta_quantile(uniform(self.key or 0, turn, number), 1.0 + won, 1.0 + told - won)

    def _bound(self, arm: int, turn: int, told: int, total: int) -> float:
        """An upper confidence bound on it; infinite for an arm that was never given out."""
        plays = told + self._state[OPEN][arm]
        if plays == 0:
            return math.inf
        return kl_upper(total / (WHOLE * told) if told else 0.5, math.log(turn) / plays)

    def update(
        self,
        arm: int,
        reward: float | None,
        context: Any,
        measures: Mapping[str, Number] | None = None,
    ) -> None:
        """Learn what a report told of a play of an arm; what it does not tell may come later."""
        name = self.measures[0]
        if measures is None:
            raise InvalidInput(
                f"CostSubsidy learns the measure {name!r} and was told none; give GenCB its floors "
                f"by name, and report update(play, reward=-cost, measures={{{name!r}: ...}})"
            )
        told = dict[int, int]()
        if name in measures:
            told[QUALITY] = _units(measures[name], self._graded, name)
        if reward is not None and self.costs is None:
            told[COST] = _units(-reward, self._priced, "minus the reward")
        for row, units in told.items():
            self._state[row][arm] += 1
            self._state[row + 1][arm] += units

    def opened(self, arm: int, context: Any) -> None:
        """Hear that a play of an arm was given out, which is still to be told of."""
        self._state[OPEN][arm] += 1

    def closed(self, arm: int, context: Any) -> None:
        """Hear that such a play waits no longer: it was told of, or will not be."""
        self._state[OPEN][arm] -= 1

    def learn(self, log: Any, arm: str = "arm", reward: str = "reward", context: Any = None) -> int:
        """InvalidInput: a log has one number a play, this policy learns two."""
        raise InvalidInput(
            "CostSubsidy cannot learn a log, whose rows have one reward; call update(arm, None, "
            "None, measures={...}) for each row"
        )

    def renew(self) -> None:
        """Forget the key of its draws: the next turn takes another from its agent's generator."""
        self.key = None

    def state(self) -> JsonObject:
        """JSON-able state."""
        return {**super().state(), **({} if self.key is None else {"key": self.key})}

    def restore(self, state: JsonObject) -> None:
        """The inverse of ``state``."""
        super().restore(state)
        self.key = state.get("key")

    def config(self) -> JsonObject:
        """JSON-able settings."""
        return {"arms": list(self.arms), **self._settings()}

    @classmethod
    def from_config(cls, config: JsonObject) -> Self:
        """The inverse of ``config``."""
        return cls(**config)

    def _settings(self) -> JsonObject:
        costs: JsonObject = {} if self.costs is None else {"costs": [*self.costs]}
        if self.cost_range is not None:
            costs = {"cost_range": [*map(float, self.cost_range)]}
        return {
            "default": float(self.default),
            "alpha": float(self.alpha),
            "margin": float(self.margin),
            "quality": self.measures[0],
            "quality_range": [*map(float, self.quality_range)],
            **costs,
            "form": self.form,
        }

    def __repr__(self) -> str:
        settings = "".join(f", {key}={value!r}" for key, value in self._settings().items())
        return f"CostSubsidy(n_arms={self.n_arms}{settings})"


def _floats(ends: tuple[Decimal, Decimal] | None) -> tuple[float, float]:
    """The ends of a range; of none those of shares, which nothing is asked of."""
    return (0.0, 1.0) if ends is None else (float(ends[0]), float(ends[1]))


def _at(ends: tuple[float, float], share: float) -> float:
    """The value at a share of its range."""
    low, high = ends
    return low + (high - low) * share


def _units(value: Any, ends: tuple[float, float], what: str) -> int:
    """A value as a share of its range, in whole units: sums do not depend on their order."""
    finite = type(value) is float and -math.inf < value < math.inf
    number: float = value if finite else float(exact(value, what))
    low, high = ends
    return round(min(max((number - low) / (high - low), 0.0), 1.0) * WHOLE)
