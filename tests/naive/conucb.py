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
