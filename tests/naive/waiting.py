"""One simulated run whose rewards come late, or whose arms drift: fractions, play by play.

As ``naive.simulate``, with a list of what is still out: at every play the account is counted anew
from all plays so far, each open one at its worst.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from naive.simulate import DEFAULT, Row, Settings, best


class Out(NamedTuple):
    """An exploration."""

    arm: int
    turn: int
    play: int
    due: int


def run(
    settings: Settings,
    pull: Callable[[int, int, int], Any],
    due: Callable[[int], int],
    horizon: int,
    *,
    counting: bool = False,
) -> list[Row]:
    """Play 1..horizon; ``pull(m, arm, t)`` is paid after play ``due(t)``.

    ``counting``: whether UCB1 counts what is out in N, with the mean of what it was told.

    >>> rows = run(Settings(2, 0.5, 0.5), lambda m, arm, t: arm, lambda t: t + 2, 8)
    >>> [row.arm for row in rows], rows[-1].slack
    ([-1, 0, -1, 0, -1, 1, -1, 1], Fraction(1, 1))
    """
    mu0, alpha, low, high, reserve = (Fraction(str(number)) for number in settings[1:6])
    floor = (1 - alpha) * mu0
    explored: list[Out] = []
    told: dict[int, Fraction] = {}
    m, defaults = 0, 0
    rows: list[Row] = []

    def worst_slack(t: int) -> Fraction:
        open_plays = [one for one in explored if one.play not in told]
        return (
            reserve + defaults * mu0 + sum(told.values(), Fraction(0)) - floor * t
            + len(open_plays) * min(low, floor)
        )  # fmt: skip

    for t in range(1, horizon + 1):
        arm = DEFAULT
        if not settings.guarded or worst_slack(t - 1) + min(low, floor) - floor >= 0:
            m += 1
            arm, index = _choice(settings, explored, told, m, counting)
            if settings.competes and not index > float((mu0 - low) / (high - low)):
                arm = DEFAULT
        if arm == DEFAULT:
            defaults += 1
        else:
            explored.append(Out(arm, m, t, due(t)))
        for one in explored:
            if one.play not in told and one.due <= t:
                told[one.play] = Fraction(str(pull(one.turn, one.arm, one.play)))
        slack = worst_slack(t)
        last = rows[-1] if rows else Row(DEFAULT, 0, slack, slack, 0)
        rows.append(Row(arm, defaults, slack, min(last.least, slack), last.violating + (slack < 0)))
    return rows


def _choice(
    settings: Settings, explored: list[Out], told: dict[int, Fraction], m: int, counting: bool
) -> tuple[int, float]:
    low, high = (Fraction(str(end)) for end in (settings.low, settings.high))
    plays, sums = [], []
    for arm in range(settings.n_arms):
        shares = [
            (told[one.play] - low) / (high - low)
            for one in explored
            if one.arm == arm and one.play in told
        ]
        out = sum(1 for one in explored if one.arm == arm and one.play not in told)
        N, S = len(shares), sum(shares, Fraction(0))
        if counting and out:
            S = (S / N if N else Fraction(1, 2)) * (N + out)
            N += out
        plays.append(N)
        sums.append(S)
    return best(plays, sums, m)
