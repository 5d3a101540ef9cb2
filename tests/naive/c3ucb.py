"""C3UCB from its pseudo-code: every super arm tried, every bound anew from the history."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from naive.clucb import DEFAULT, Settings, ellipsoid, value


def decide(
    settings: Settings, X: Any, k: int, D: float, history: Sequence[Any], m: int
) -> tuple[Any, Any, float, float]:
    """After (super arm or -1, base rewards): what is played, the best super arm, its value, margin.

    The margin is what is proved above the floor; ties go to the lexicographically smallest.
    """
    played = [(arm, rewards) for arm, rewards in history if arm != DEFAULT]
    seen = [(X[e], r) for arm, rewards in played for e, r in zip(arm, rewards, strict=True)]
    bounds = ellipsoid(settings, seen, X.shape[1], D, m, k)
    upper = [min(1, value(bounds, x, 1)) for x in X]
    lower = [max(0, value(bounds, x, -1)) for x in X]
    arms = list(itertools.combinations(range(len(X)), k))
    best = max(arms, key=lambda arm: (round(sum(upper[e] for e in arm), 9), [-e for e in arm]))
    everything = [e for arm, _ in played for e in arm] + list(best)
    apart = sum(lower[e] for e in everything)
    joint = value(bounds, np.sum([X[e] for e in everything], axis=0), -1)
    t, defaults = len(history) + 1, len(history) - len(played)
    margin = max(apart, joint) + defaults * settings.mu0 - (1 - settings.alpha) * settings.mu0 * t
    score = sum(upper[e] for e in best)
    allowed = score > settings.mu0 and margin >= 0
    return (best if allowed else DEFAULT), best, score, margin


def decide_unknown(
    settings: Settings, X: Any, k: int, D: float, history: Sequence[Any], m: int, n: int
) -> tuple[Any, float]:
    """The same with mu0_U from the default's own rewards in [0, k]; how near a tie it is."""
    paid = [reward for arm, reward in history if arm == DEFAULT]
    upper = k if not paid else min(k, np.mean(paid) + k * np.sqrt(2 * np.log(n) / len(paid)))
    t = len(history) + 1
    trusted = upper if len(paid) < (1 - settings.alpha) * t else 0
    known = settings._replace(mu0=float(trusted))
    _, best, score, margin = decide(known, X, k, D, history, m)
    near = min(abs(margin), abs(score - upper))
    return (best if score > upper and margin >= 0 else DEFAULT), near
