"""Which arm earns slack when slack is scarce: one text for live agents and the simulator's loops.

Where the slack is below ``SCARCE`` holds and some arm has

    (S_i + (1 + O_i) mu0) / (N_i + 1 + O_i) > mu0,

the arm of the largest such ratio is played, ties to the lowest. N_i, S_i: how many rewards of arm i
came, and their sum; O_i: its open plays. All are integers, S_i and mu0 in units of the books, and
ratios are compared exactly. Ours; without a proof. The smoothing's one reward of mu0 keeps an arm
of few rewards behind one of many with the same mean. An open play counts as one more of mu0: with
its arm's own mean it would raise the ratio, and one lucky reward would fill the time of a delay
with plays of one arm.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from surefoot._jit import jittable
from surefoot.errors import InvalidInput
from surefoot.floors.learned import LearnedDefault
from surefoot.floors.several import Floors

if TYPE_CHECKING:
    from surefoot.floors import Books, Floor
    from surefoot.policies.base import Policy

SCARCE = 20
"""Holds; measured, see benchmarks/FUND.md."""
PLAYS, SUM, OPEN = range(3)
"""The rows of a tally: N, S and O, one entry an arm."""


def empty_tally(n_arms: int) -> tuple[list[int], list[int], list[int]]:
    """Before the first play."""
    return [0] * n_arms, [0] * n_arms, [0] * n_arms


@jittable
def funding_arm(tally: Any, value: int, arms: Sequence[int]) -> int:
    """The arm that is played for its earnings; -1 where none has earned more than the default.

    ``value``: mu0 in units.

    >>> funding_arm(([2, 9, 0], [2, 8, 0], [0, 0, 3]), 0, range(3))
    1
    >>> funding_arm(([2, 9], [1, 4], [0, 0]), 1, range(2))
    -1
    """
    chosen, top, of = -1, 0, 1
    for k in arms:
        if tally[SUM][k] > value * tally[PLAYS][k]:  # then so is the smoothed mean
            smoothed = tally[SUM][k] + value * (1 + tally[OPEN][k])
            count = tally[PLAYS][k] + 1 + tally[OPEN][k]
            if chosen < 0 or exceeds(smoothed, count, top, of):
                chosen, top, of = k, smoothed, count
    return chosen


@jittable
def exceeds(a: int, b: int, c: int, d: int) -> bool:
    """Whether a/b > c/d, of whole numbers with b, d > 0, without their products.

    Those would leave 64 bits; Euclid's quotients of both decide it.

    >>> exceeds(10**18, 10**9 + 1, 10**18 - 1, 10**9), exceeds(1, 3, 2, 6), exceeds(-1, 3, -1, 2)
    (False, False, True)
    """
    while True:
        whole, other = a // b, c // d
        if whole != other:
            return bool(whole > other)
        rest, left = a - whole * b, c - other * d
        if rest == 0 or left == 0:
            return bool(rest > left)
        a, b, c, d = d, left, b, rest  # rest/b > left/d where d/left > b/rest


@jittable
def count_reward(tally: Any, k: int, units: int) -> None:
    """A reward of arm k came."""
    tally[PLAYS][k] += 1
    tally[SUM][k] += units


class Earnings:
    """What each arm of one agent has paid, in units of its books.

    >>> earned = Earnings([0, 0], [0, 0])
    >>> earned.take(1, 8)
    >>> [earned.funding_arm(value, range(2), still_open=[]) for value in (7, 8)]
    [1, -1]
    """

    def __init__(self, plays: list[int], sums: list[int]) -> None:
        self.plays, self.sums = plays, sums

    def copied(self, n_arms: int) -> Earnings:
        """A copy for as many arms or more; those added have paid nothing."""
        more = [0] * (n_arms - len(self.plays))
        return Earnings(self.plays + more, self.sums + more)

    def take(self, arm: int, units: int) -> None:
        """A reward of an arm came."""
        count_reward((self.plays, self.sums), arm, units)

    def booked(self, arm: int, books: Books, number: int) -> None:
        """The reward of a play of an arm was booked; above r_max it counts as that."""
        units = books.plays.get(number).reward
        assert units is not None
        self.take(arm, min(units, books.high))

    def funding_arm(self, value: int, arms: Sequence[int], still_open: Iterable[int]) -> int:
        """As ``funding_arm``; ``still_open``: the arm of each open play."""
        waiting = [0] * len(self.plays)
        for arm in still_open:
            waiting[arm] += 1
        return funding_arm((self.plays, self.sums, waiting), value, arms)


def check_fund(policy: Policy, floor: Floor) -> None:
    """InvalidInput where what an arm has earned cannot be held against the default."""
    kind = type(policy).__name__
    numbered = getattr(policy, "numbered", True)
    if not numbered or policy.n_arms is None or getattr(policy, "contextual", False):
        raise InvalidInput(
            f"fund = True compares what single arms have paid, and {kind} plays super arms, points "
            "or rows of a context; leave fund out"
        )
    if isinstance(floor, Floors):
        raise InvalidInput(
            "fund = True plays for the slack of one floor, and this agent has several, which an "
            "arm may serve and harm; leave fund out"
        )
    if floor.rho is not None:
        raise InvalidInput(
            "fund = True compares sums of rewards, and a mean-variance floor guards more than the "
            "sum; leave fund out"
        )
    if floor.checkpoint is not None:
        raise InvalidInput(
            f"fund = True looks at the slack at every play, and checkpoint = {floor.checkpoint} "
            "lets it fall below zero between two; leave one of them out"
        )
    if isinstance(floor.default, LearnedDefault):
        raise InvalidInput(
            f"fund = True needs the default's known value, and {floor.default} is learned; leave "
            "fund out"
        )
    if isinstance(floor.default, tuple):
        low, high = floor.default
        raise InvalidInput(
            f"fund = True needs the default's known value, and default = ({low}, {high}) is an "
            "interval; leave fund out"
        )
