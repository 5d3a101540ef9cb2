"""The bound that KL-UCB, AdaUCB and KL-Maillard share, of the mean of rewards in [0, 1]."""

from __future__ import annotations

import math

from surefoot._jit import jittable

_STEPS = 50
"""More than Newton ever takes here: about a dozen where it starts worst."""
_FUZZ = 1e-12
"""More than the rounding of a difference of two numbers in [0, 1]."""
_STEEPEST = 2.5e-5
"""Over n, how close to the mean a tangent may touch the curve, which is vertical there: a slope of
at most 10**4 keeps the rounding of the scale far below what counts."""


@jittable
def kl_upper(p: float, level: float) -> float:
    """max{q : kl(p, q) <= level}."""
    if level <= 0.0 or p >= 1.0:
        return p
    q = kl_start(p, level)
    for _ in range(_STEPS):
        if not p < q < 1.0:
            break
        step = (bernoulli_kl(p, q) - level) * q * (1.0 - q) / (q - p)
        if not 1e-13 < step < 1.0:
            break
        q -= step
    return q


@jittable
def kl_start(p: float, level: float) -> float:
    """A q that is too large: kl(p, .) is convex, so every Newton step from it lands above the root.

    It follows from kl(p, q) >= 2 (q-p)^2, and from kl(p, q) without its term p ln(1/q).
    """
    share = p * math.log(p) if p > 0.0 else 0.0
    q = 1.0 - (1.0 - p) * math.exp((share - level) / (1.0 - p))
    return min(q, p + math.sqrt(0.5 * level))


@jittable
def kl_excludes(p: float, level: float, best: float) -> bool:
    """Whether the bound is certainly not above ``best``.

    kl(p, .) grows above p, so one look at ``best`` tells; the margin keeps rounding on the safe
    side.
    """
    return p < best < 1.0 and bernoulli_kl(p, best) > level * (1.0 + 1e-9) + 1e-12


@jittable
def kl_rise(p: float, n: int, level: float) -> float:
    """The x at which the bound at x/n rises to a level: n kl(p, level); -inf where it always is."""
    if p >= level:
        return -math.inf
    return n * bernoulli_kl(p, level) if level < 1.0 else math.inf


@jittable
def kl_adds(p: float, level: float, reward: float) -> float:
    """A play of this reward, after which the mean is p, has raised n kl(p, level) by no more.

    n kl(p, level), taken as 0 from p = level on, is convex in (n, n p), so a play has raised it by
    at most its slope behind the play: x ln(p/level) + (1-x) ln((1-p)/(1-level)), which by
    ln y <= y - 1 is at most (level - p) (level - x) / (level (1-level)) (ours).
    """
    if p >= level:
        return 0.0
    if level >= 1.0:
        return math.inf
    gap = level - p + _FUZZ if reward < level else max(0.0, level - p - _FUZZ)
    return gap * (level - reward) / (level * (1.0 - level))


@jittable
def kl_tangent(p: float, n: int, level: float, guess: float) -> tuple[float, float, float]:
    """(q, x, w): the bound at level x'/n is never above q + (x' - x) w. It touches it at q.

    The bound is concave in the level, as kl(p, .) is convex. q is ``guess`` or, where that cannot
    be, a bound at this level.
    """
    if p >= 1.0:
        return 1.0, 0.0, 0.0
    q = guess if p < guess < 1.0 else kl_start(p, level)
    q = max(q, p + _STEEPEST / n)
    if q >= 1.0:
        return 1.0, 0.0, 0.0
    return q, n * bernoulli_kl(p, q), q * (1.0 - q) / (n * (q - p))


@jittable
def bernoulli_kl(p: float, q: float) -> float:
    """Kullback-Leibler divergence of two Bernoulli means p <= q, p < 1; 0 ln 0 = 0."""
    lost = (q - p) / (1.0 - p)
    if lost >= 1.0:
        return math.inf
    total = -(1.0 - p) * math.log1p(-lost)
    if p > 0.0:
        total -= p * math.log1p((q - p) / p)
    return total
