"""CLUCB2 from its structure: every safe arm by itself, every bound anew from the history."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from naive.clucb import DEFAULT, Settings, ellipsoid, value


def received(rewards: Sequence[float], delta: float) -> float:
    """The better of Azuma-Hoeffding with a union over m, and Ville on a grid, each at delta.

    >>> received([], 0.1)
    0.0
    """
    m, Y = len(rewards), math.fsum(rewards)
    if not m:
        return 0.0
    bounds = [0.0, Y - math.sqrt((m / 2) * math.log(math.pi**2 * m**2 / (6 * delta)))]
    for k in range(12):
        lam = 0.01 * 1.6**k
        bounds.append((lam * Y - math.log(12 / delta)) / (math.exp(lam) - 1))
    return max(bounds)


def decide(
    settings: Settings, X: Any, D: float, history: Sequence[tuple[int, Any, Any]], m: int, n: int
) -> tuple[int, float]:
    """(arm or -1, how near the nearest decision is to a tie), asked at multiples of n plays."""
    played = [(x, reward) for arm, x, reward in history if arm != DEFAULT]
    bounds = ellipsoid(settings._replace(delta=settings.delta / 3), played, X.shape[1], D, m)
    z = sum((x for x, _ in played), np.zeros(X.shape[1]))
    past = received([reward for _, reward in played], settings.delta / 3)
    past = max(past, value(bounds, z, -1))
    t, defaults = len(history) + 1, len(history) - len(played)
    end = math.ceil(t / n) * n
    margins = []
    for x in X:
        proved = max(past + max(0, value(bounds, x, -1)), value(bounds, z + x, -1))
        earned = proved + (defaults + end - t) * settings.mu0
        margins.append(earned - (1 - settings.alpha) * settings.mu0 * end)
    near = min(map(abs, margins))
    scores = [value(bounds, x, 1) for x in X]
    safe = [arm for arm, margin in enumerate(margins) if margin >= 0]
    if not safe:
        return DEFAULT, near
    top = max(scores[arm] for arm in safe)
    return next(arm for arm in safe if scores[arm] >= top - 1e-9 * max(1, abs(top))), near
