"""Policies that forget, from the whole list of what they were told, in the order it came."""

import math
from collections.abc import Sequence
from fractions import Fraction

from scipy import special

from naive import thompson
from naive.noise import bits, uniform

Told = Sequence[tuple[int, Fraction]]
"""Arm and reward."""


def faded(told: Told, n_arms: int, discount: Fraction) -> list[tuple[Fraction, Fraction]]:
    """N and S of each arm, every reward weighed by discount to the power of those after it."""
    found = [(Fraction(0), Fraction(0))] * n_arms
    for age, (arm, reward) in enumerate(reversed(told)):
        N, S = found[arm]
        found[arm] = N + discount**age, S + reward * discount**age
    return found


def recent(told: Told, n_arms: int, window: int) -> list[tuple[Fraction, Fraction]]:
    """N and S of each arm over the last rewards."""
    return faded(told[-window:], n_arms, Fraction(1))


def indices(
    known: Sequence[tuple[Fraction, Fraction]], waiting: Sequence[int], c: float
) -> list[float]:
    """S/N + sqrt(c ln n / N), open plays counted; infinite where there are none."""
    n = float(sum(N for N, _ in known) + sum(waiting))
    found = []
    for (N, S), more in zip(known, waiting, strict=True):
        mean = float(S / N) if N else 0.5
        plays = float(N + more)
        found.append(mean + math.sqrt(c * math.log(n) / plays) if plays else math.inf)
    return found


def gamma(key: int, first: int, a: float) -> float:
    """Marsaglia, Tsang 2000, Figure 2, without its squeeze."""
    d = a - 1 / 3
    for j in range(1, 1000):
        x = special.ndtri(float(uniform(key, j, first)))
        v = (1 + x / math.sqrt(9 * d)) ** 3
        u = float(uniform(key, j, first + 1))
        if v > 0 and math.log(u) < x * x / 2 + d - d * v + d * math.log(v):
            return d * v
    raise AssertionError("a thousand rejections")


def faded_samples(key: int, turn: int, told: Told, n_arms: int, discount: Fraction) -> list[float]:
    found = []
    for arm, (N, S) in enumerate(faded(told, n_arms, discount)):
        own = bits(key, turn, arm)
        won, lost = gamma(own, 0, float(1 + S)), gamma(own, 2, float(1 + N - S))
        found.append(won / (won + lost))
    return found


def recent_samples(key: int, turn: int, told: Told, n_arms: int, window: int) -> list[float]:
    """Each reward is tried when it is told; those in the window are counted."""
    tried = []
    for arm in range(n_arms):
        places = [place for place, (one, _) in enumerate(told) if one == arm]
        for count, place in enumerate(places):
            rewards = [told[other][1] for other in places[: count + 1]]
            before = thompson.successes(key, arm, rewards[:-1])
            tried.append((place, arm, thompson.successes(key, arm, rewards) - before))
    won, plays = [0] * n_arms, [0] * n_arms
    for _, arm, success in sorted(tried)[-window:]:
        plays[arm] += 1
        won[arm] += success
    return [
        special.betaincinv(1 + won[arm], 1 + plays[arm] - won[arm], float(uniform(key, turn, arm)))
        for arm in range(n_arms)
    ]
