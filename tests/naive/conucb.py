"""ConUCB play by play, from Wu et al. 2016: every bound anew from the whole history."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

DEFAULT = -1
MULTIPLIERS = {"bounded": 0.5, "paper": 1, "libbandit": 2}


class Settings(NamedTuple):
    n_arms: int
    mu0: Any
    alpha: Any
    delta: float
    radius: str = "iterated"
    scale: str = "paper"


class Decision(NamedTuple):
    arm: int
    """J if it may be played, else the default."""
    wanted: int
    """J, the arm of the largest upper bound; the default is the lowest of all."""
    xi: Fraction


def psi(radius: str, n_arms: int, delta: float, s: int) -> float:
    """The three exploration functions at s >= 1 plays.

    >>> round(psi("iterated", 72, 1e-4, 10), 2)
    19.72
    """
    if radius == "simple":
        return 2 * math.log(n_arms * s**3 / delta)
    if radius == "libbandit":
        zeta = (n_arms + 1) / delta
        x = math.log(zeta)
    else:
        x = zeta = n_arms / delta
    return (
        math.log(max(3, math.log(zeta)))
        + math.log(2 * math.e**2 * zeta)
        + x * (1 + math.log(x)) / ((x - 1) * math.log(x)) * math.log(math.log(1 + s))
    )


def bounds(settings: Settings, rewards: Sequence[Fraction]) -> tuple[float, float]:
    """theta and lambda of an arm from all its rewards."""
    if not rewards:
        return math.inf, 0
    s = len(rewards)
    mean = float(sum(rewards)) / s
    level = max(0, psi(settings.radius, settings.n_arms, settings.delta, s))
    radius = math.sqrt(MULTIPLIERS[settings.scale] * level / s)
    return mean + radius, max(0, mean - radius)


def decide(settings: Settings, history: Sequence[tuple[int, Any]]) -> Decision:
    """The decision after a history of (arm or -1, reward in [0, 1] or None while not known).

    >>> decide(Settings(2, 0.5, 0.5, 0.01), [(DEFAULT, None)]).arm
    0
    """
    mu0, alpha = Fraction(str(settings.mu0)), Fraction(str(settings.alpha))
    t = len(history) + 1
    theta, proved, last = [float(mu0)], Fraction(0), [mu0]
    for arm in range(settings.n_arms):
        rewards = [
            Fraction(str(reward))
            for played, reward in history
            if played == arm and reward is not None
        ]
        upper, lower = bounds(settings, rewards)
        theta.append(upper)
        last.append(Fraction(lower))
        proved += len(rewards) * Fraction(lower)
    proved += mu0 * sum(played == DEFAULT for played, _ in history)
    wanted = theta.index(max(theta)) - 1
    xi = proved + last[wanted + 1] - (1 - alpha) * t * mu0
    return Decision(wanted if xi >= 0 else DEFAULT, wanted, xi)


def decide_unknown(settings: Settings, history: Sequence[tuple[int, Any]]) -> tuple[int, float]:
    """The arm where mu0 is not known (``settings.mu0`` is not read), and xi, theta_0 cut at 1."""
    count = settings._replace(n_arms=settings.n_arms + (settings.radius != "libbandit"))
    alpha, t = Fraction(str(settings.alpha)), len(history) + 1
    past = [[Fraction(r) for a, r in history if a == arm] for arm in range(-1, settings.n_arms)]
    theta, least = zip(*(bounds(count, rewards) for rewards in past), strict=True)
    wanted = theta.index(max(theta)) - 1
    factor = len(past[0]) - (1 - alpha) * t
    default = min(1, theta[0]) if factor < 0 else least[0]
    proved = sum(len(past[i]) * least[i] for i in range(1, len(past))) + least[wanted + 1]
    xi = proved + float(factor) * default
    return (wanted if xi >= 0 else DEFAULT), xi
