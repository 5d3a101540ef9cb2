"""Before going live: when exploring may begin, how much it may cost, and when it pays for itself.

Exact laws of the account under immediate feedback: f = (1-alpha) mu0 is the floor, h = max(0,
f - r_min) the hold of an exploration, alpha mu0 the deposit of a default play, B the reserve.
"""

from __future__ import annotations

from decimal import Context, Decimal, Inexact
from fractions import Fraction
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np

from surefoot._exact import exact, exact_range
from surefoot._types import Number
from surefoot.errors import InvalidInput
from surefoot.theory.inputs import alpha_of, positive

# Amounts have at most some 2,000 digits (``exact``), and products of three are taken.
_EXACT = Context(prec=10_000, traps=[Inexact])


class _Terms(NamedTuple):
    """What one play moves, as exact fractions."""

    deposit: Fraction
    hold: Fraction
    reserve: Fraction


def first_exploration(
    default: Any, alpha: Number, reward_range: tuple[Number, Number] = (0, 1), reserve: Number = 0
) -> int:
    """The play of the first exploration; exact, whatever the rewards are.

        1 + max(0, ceil((h - B) / (alpha mu0)));   ceil((1-alpha)/alpha) + 1 for r_min = 0, B = 0

    Source: Du, Wang, Huang 2021, Algorithm 1, line 3, with a reserve and r_min. ``default``: mu0;
    ``reward_range``: (r_min, r_max); numbers mean their shortest decimals. Raises InvalidInput
    for alpha outside (0, 1), mu0 <= 0 or outside the range, a negative reserve.

    >>> first_exploration(default=0.7, alpha=0.05), first_exploration(0.7, 0.05, reserve=0.5)
    (20, 6)
    >>> first_exploration(0.7, 0.05, reward_range=(-1, 1))
    49

    Holds when: each default play is reported before the next decision, and mu0 and f are on the
    lattice of the books (else f is rounded up, and it may be a play later). Does not hold when:
    the default competes and wins.
    """
    terms = _terms(default, alpha, reward_range, reserve)
    return first_play(terms.hold, terms.deposit, terms.reserve)


def first_play(hold: Fraction | int, deposit: Fraction | int, reserve: Fraction | int = 0) -> int:
    """``first_exploration`` from what a play moves: h, a deposit > 0, B; exact for exact numbers.

    For whole units of the books it is the play itself, also where they round alpha mu0 down.

    >>> first_play(hold=19, deposit=1), first_play(19, 1, reserve=7)
    (20, 13)

    Holds when: as ``first_exploration``, on any lattice.
    """
    return 1 + max(0, ceil((Fraction(hold) - reserve) / deposit))


def fewest_explorations(
    t: Any,
    default: Any,
    alpha: Number,
    reward_range: tuple[Number, Number] = (0, 1),
    reserve: Number = 0,
) -> int:
    """The explorations among the first t plays if every one pays r_min; never fewer than these.

        m_t = min(t, floor((B + alpha mu0 t) / (alpha mu0 + h)));   floor(alpha t) for r_min = B = 0

    Ours, by induction on Algorithm 1, line 3. t - m_t is the most default plays on any path.
    Arguments and errors as in ``first_exploration``; ``t``: a number of plays >= 0.

    >>> fewest_explorations(5000, default=0.7, alpha=0.05)
    250

    Holds when: as ``first_exploration``.
    """
    plays, terms = _plays(t), _terms(default, alpha, reward_range, reserve)
    deposited = terms.reserve + terms.deposit * plays
    return min(plays, floor(deposited / (terms.deposit + terms.hold)))


def largest_loss(t: Any, default: Any, alpha: Number, reserve: Number = 0) -> Decimal:
    """The most that can be lost by play t, against playing the default alone; exact.

        alpha mu0 t + B

    Source: Du, Wang, Huang 2021, eq. (2), with a reserve: received reward is never below
    (1-alpha) mu0 t - B. Raises InvalidInput as ``first_exploration``, and for t < 0.

    >>> largest_loss(1000, default=0.7, alpha=0.05)
    Decimal('35.000')

    Holds when: the floor does: on every path, at every play. Does not hold when: a reward breaks
    the declared range; one counts what the default really paid instead of its known value.
    """
    positive(default, "default", "shift the rewards so that the default earns")
    alpha_of(alpha)
    lent = _reserve(reserve)
    value, share = exact(default, "default"), exact(alpha, "alpha")
    rate = _EXACT.multiply(share, value)
    return _EXACT.add(_EXACT.multiply(rate, Decimal(_plays(t))), lent)


def break_even(default: Any, alpha: Number) -> Decimal:
    """What the played arms must pay on average for the account to fund itself: f; exact.

        (1-alpha) mu0

    Raises InvalidInput for alpha outside (0, 1) or mu0 <= 0.

    >>> break_even(default=0.7, alpha=0.05)
    Decimal('0.665')

    Holds when: as ``default_share``.
    """
    positive(default, "default", "shift the rewards so that the default earns")
    alpha_of(alpha)
    kept = _EXACT.subtract(Decimal(1), exact(alpha, "alpha"))
    return _EXACT.multiply(kept, exact(default, "default"))


def funds_itself(mean: Any, default: Any, alpha: Number) -> bool:
    """Whether explorations that pay ``mean`` on average do not lower the account: drift >= 0.

        mean - (1-alpha) mu0 >= 0

    A choice of ours. Above zero the slack grows, and only finitely many default plays are still
    to come. At zero it is a fair game: the share of default plays tends to 0, their number has no
    bound. Below, default plays have to pay for exploring for ever (``default_share``). A learning
    policy funds itself from the turn on at which its regret grows by less than alpha mu0 + Delta0
    a turn: ``default_plays.predicted`` gives that turn. Exact; errors as in ``break_even``.

    >>> funds_itself(0.665, default=0.7, alpha=0.05), funds_itself(0.66, default=0.7, alpha=0.05)
    (True, False)

    Holds when: as ``default_share``.
    """
    return exact(mean, "mean") >= break_even(default, alpha)


def default_share(mean: Any, default: Any, alpha: Number) -> Any:
    """The long-run share of default plays while explorations pay ``mean`` on average.

        max(0, (f - mean) / (mu0 - mean)),   f = (1-alpha) mu0

    Ours: the share p at which deposits pay for explorations, p alpha mu0 = (1-p) (f - mean);
    1-alpha at mean 0. ``mean``: a number or an array; errors as in
    ``break_even``.

    >>> round(default_share(0.5, default=0.7, alpha=0.05), 4)
    0.825
    >>> default_share([0.0, 0.665, 0.8], default=0.7, alpha=0.05).round(9).tolist()
    [0.95, 0.0, 0.0]

    Holds when: the average of the explorations settles at ``mean``, as for a fixed arm, or arms
    played in turns; feedback is immediate, the default does not compete. Does not hold when: one
    asks it of the first plays, or of a policy that is still learning: then the share falls.
    """
    floor_, value = float(break_even(default, alpha)), float(exact(default, "default"))
    try:
        paid = np.asarray(mean, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"mean = {mean!r} must be a number, or an array of them") from None
    if not np.isfinite(paid).all():
        raise InvalidInput(f"mean = {mean} must be finite; give the arms' mean reward")
    short = np.maximum(0.0, floor_ - paid)
    share = short / (short + (value - floor_))
    return share if paid.ndim else float(share)


def _terms(
    default: Any, alpha: Number, reward_range: tuple[Number, Number], reserve: Number
) -> _Terms:
    positive(default, "default", "shift the rewards so that the default earns")
    alpha_of(alpha)
    value, share = Fraction(exact(default, "default")), Fraction(exact(alpha, "alpha"))
    low, high = _range(reward_range)
    if not low <= value <= high:
        raise InvalidInput(
            f"default = {default} lies outside reward_range {reward_range}; widen the range or "
            "correct the default"
        )
    hold = max(Fraction(0), (1 - share) * value - low)
    return _Terms(share * value, hold, Fraction(_reserve(reserve)))


def _range(reward_range: Any) -> tuple[Fraction, Fraction]:
    low, high = exact_range(reward_range)
    return Fraction(low), Fraction(high)


def _reserve(reserve: Number) -> Decimal:
    lent = exact(reserve, "reserve")
    if lent < 0:
        raise InvalidInput(f"reserve = {reserve} must be >= 0; it is what may be lost on top")
    return lent


def _plays(t: Any) -> int:
    read = exact(t, "t")
    if read < 0 or read != int(read):
        raise InvalidInput(f"t = {t} must be a whole number of plays >= 0")
    return int(read)
