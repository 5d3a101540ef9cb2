"""The cost ceiling: costs paid never above (1+alpha) of what the default would have cost."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, ClassVar

from surefoot._exact import exact, shown
from surefoot._types import Number
from surefoot.errors import InvalidInput
from surefoot.floors.general import GeneralFloor
from surefoot.floors.interval import Interval


class CostCeiling(GeneralFloor):
    """At every moment, even if every open play costs its worst: cost <= sum of g_s + reserve.

        g_s = C_s + e_s,   e_s = alpha*|C_s| + margin

    C_s is the default's known cost at play s. To the unit it is the ``RewardFloor`` of the negated
    costs, and the books keep it as such; all that is said of it, and told to it, is in costs. Ours,
    by the induction of Du, Wang, Huang 2021, Algorithm 1.

    ``default``: what the default costs a play; a pair (l, u) if its cost varies, surely within
    that; None if each ``select(default=...)`` brings its own of either kind. ``alpha``: by what
    share of it a play may cost more, >= 0 without an upper bound (1.5: at most 2.5 times); below 1
    where the default may cost less than nothing. ``cost_range``: surely known bounds (c_min, c_max)
    of every cost. The others as ``RewardFloor`` takes them, in costs; an interval counts from its
    lower end, a "fixed" level is ``target``, or l without one. Numbers are exact decimals; what is
    finer than the unit is rounded: g, deposits and the reserve down, costs up. Raises InvalidInput
    for anything else, as ``RewardFloor`` does.

    >>> ceiling = CostCeiling(default=0.012, alpha=0.1, cost_range=(0, 0.05))
    >>> ceiling
    CostCeiling(default=0.012, alpha=0.1, cost_range=(0, 0.05), reserve=0, places=9)
    >>> ceiling.terms()  # of rewards of -0.05..0, as the books count them
    Terms(value=-12000000, floor=-13200000, hold=36800000, deposit=1200000)

    Holds when: no cost is above c_max, the default costs its known value (an interval: within it,
    where it is played and where it would have been), and what is reported as played was played;
    under any delay, order or loss. Does not hold when: a default of one known cost really varies
    and one means money spent: a default play counts as its known cost.
    """

    __slots__ = ()

    costs: ClassVar[bool] = True
    measure: ClassVar[str] = "cost"
    ends: ClassVar[str] = "cost_range"
    plain = GeneralFloor.plain  # named again: it asks for nothing else

    def __init__(
        self,
        default: Any,
        alpha: Number,
        cost_range: tuple[Number, Number],
        reserve: Number = 0,
        places: int | None = None,
        against: str = "realised",
        target: Any = None,
        checkpoint: int | None = None,
        margin: Number = 0,
        max_slack: Number | None = None,
    ) -> None:
        super().__init__(
            default, alpha, cost_range, reserve, places, against, target, checkpoint, margin,
            max_slack,
        )  # fmt: skip

    @property
    def cost_range(self) -> tuple[Decimal, Decimal]:
        """Surely known bounds of every cost."""
        return self.told_range

    def _checked_alpha(self, alpha: Number) -> Decimal:
        share = exact(alpha, "alpha")
        if share < 0:
            raise InvalidInput(
                f"alpha = {shown(alpha)} must be >= 0; 0.05 allows 5 % more than the default costs"
            )
        return share

    def _check_sign(self, default: Decimal | Interval) -> None:
        least = default[0] if isinstance(default, tuple) else default
        level = self.target if self.against == "fixed" else None
        least = least if level is None else min(least, level)
        if least < 0 and self.alpha >= 1:
            raise InvalidInput(
                f"alpha = {self.alpha} must be < 1 where the default may cost less than nothing, "
                f"as {least}; give a smaller alpha, or a margin"
            )
