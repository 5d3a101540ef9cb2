"""CLUCB from its pseudo-code: V, theta_hat and every sum anew from the history, with numpy."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

DEFAULT = -1


class Settings(NamedTuple):
    mu0: float
    alpha: float
    delta: float
    theta_bound: float
    noise: float
    radius: str = "paper"
    clip: bool = True


class Bounds(NamedTuple):
    theta: Any
    beta: float
    inverse: Any


def ellipsoid(
    settings: Settings, seen: Sequence[tuple[Any, Any]], d: int, D: float, m: int, rows: int = 1
) -> Bounds:
    """From the (features, reward) seen, at turn m; a turn observes up to ``rows`` of them."""
    lam = max(1, D**2)
    V, b = lam * np.eye(d), np.zeros(d)
    for x, reward in seen:
        V += np.outer(x, x)
        b += float(reward) * np.asarray(x)
    if settings.radius == "determinant":
        log_det = np.linalg.slogdet(V / lam)[1]
        root = math.sqrt(log_det + 2 * math.log(1 / settings.delta))
    else:
        root = math.sqrt(d * math.log((1 + m * rows * D**2 / lam) / settings.delta))
    beta = settings.noise * root + math.sqrt(lam) * settings.theta_bound
    return Bounds(np.linalg.solve(V, b), beta, np.linalg.inv(V))


def value(bounds: Bounds, u: Any, sign: int) -> float:
    """The largest (sign 1) or smallest (-1) of <theta, u> over the ellipsoid."""
    return float(bounds.theta @ u + sign * bounds.beta * math.sqrt(u @ bounds.inverse @ u))


def decide(
    settings: Settings, X: Any, D: float, history: Sequence[tuple[int, Any, Any]], m: int
) -> tuple[int, int, float]:
    """(arm or -1, a', what is proved above the floor) after (arm or -1, its features, reward)."""
    played = [(x, reward) for arm, x, reward in history if arm != DEFAULT]
    bounds = ellipsoid(settings, played, X.shape[1], D, m)
    scores = [value(bounds, x, 1) for x in X]
    bar = max(scores) - 1e-9 * max(1, abs(max(scores)))
    wanted = next(i for i, score in enumerate(scores) if score >= bar)
    worst = value(bounds, sum((x for x, _ in played), X[wanted]), -1)
    if settings.clip:
        worst = max(worst, 0)
    t, defaults = len(history) + 1, len(history) - len(played)
    margin = worst + defaults * settings.mu0 - (1 - settings.alpha) * settings.mu0 * t
    return (wanted if margin >= 0 else DEFAULT), wanted, margin


def decide_unknown(
    settings: Settings, X: Any, b: Any, D: float, history: Sequence[tuple[int, Any, Any]]
) -> tuple[int, float]:
    """The arm where the default's mean is <theta*, b>, and what the whole contrast is worth."""
    bounds = ellipsoid(settings, [(x, r) for _, x, r in history], len(b), D, len(history) + 1)
    scores = [value(bounds, x, 1) for x in X]
    bar = max(scores) - 1e-9 * max(1, abs(max(scores)))
    wanted = next(i for i, score in enumerate(scores) if score >= bar)
    w = X[wanted] - (1 - settings.alpha) * b
    for arm, x, _ in history:
        w = w + (settings.alpha * b if arm == DEFAULT else x - (1 - settings.alpha) * b)
    worth = value(bounds, w, -1)
    return (wanted if worth >= 0 else DEFAULT), worth
