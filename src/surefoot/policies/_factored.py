"""Ridge regression as a triangle, one observation at a time: what a sample of its posterior needs.

    V = lambda*I + sum x x' = R'DR,   b = sum r x = R'D u,   theta_hat = V^-1 b = R^-1 u
    theta ~ N(theta_hat, v^2 V^-1):   R theta = u + v D^-1/2 z,   z ~ N(0, I)

R has ones on its diagonal and D is a diagonal matrix, so that an observation is d rotations without
a square root (Gentleman 1974, AS 75), O(d^2), and a sample one back substitution. V is never
formed, nothing is inverted, and no digits cancel however much an observation changes V.

``factor``: d*d numbers row by row, R above the diagonal and D on it. ``features`` is a flat list of
rows of d numbers, and ``row`` says which is meant.
"""

from __future__ import annotations

import math
from typing import Any

from surefoot._jit import jittable
from surefoot.kernels.beta import normal_quantile
from surefoot.kernels.noise import uniform


def fresh(d: int, lam: float) -> tuple[list[float], list[float]]:
    """``factor`` and u before the first observation: V = lambda*I."""
    return [lam * float(i == j) for i in range(d) for j in range(d)], [0.0] * d


@jittable
def learn(factor: Any, u: Any, room: Any, features: Any, row: int, reward: float) -> None:
    """V += x x', b += r x. ``room``: d numbers, which are overwritten."""
    d = len(u)
    for i in range(d):
        room[i] = features[row * d + i]
    weight = 1.0
    rest = reward
    for i in range(d):
        x = room[i]
        if x == 0.0:
            continue
        at = i * d
        before = factor[at + i]
        share = weight * x
        after = before + share * x
        over = 1.0 / after
        factor[at + i] = after
        weight *= before * over
        share *= over
        for j in range(i + 1, d):
            left = room[j] - x * factor[at + j]
            factor[at + j] += share * left
            room[j] = left
        rest -= x * u[i]
        u[i] += share * rest


def correct(factor: Any, u: Any, features: Any, row: int, by: float) -> None:
    """b += by*x: the reward of one observation was more by so much."""
    d = len(u)
    room = [by * float(x) for x in features[row * d : (row + 1) * d]]
    for i in range(d):
        u[i] += room[i] / factor[i * d + i]
        for j in range(i + 1, d):
            room[j] -= factor[i * d + j] * room[i]


@jittable
def draw(factor: Any, u: Any, v: float, m: int, key: Any, theta: Any) -> None:
    """Write a sample of the posterior at turn m to ``theta``; z_i is drawn for (key, m, i)."""
    d = len(u)
    for i in range(d):
        z = normal_quantile(uniform(key, m, i))
        theta[i] = u[i] + v * z / math.sqrt(factor[i * d + i])
    solve(factor, theta)


@jittable
def solve(factor: Any, theta: Any) -> None:
    """theta = R^-1 theta."""
    d = len(theta)
    for i in range(d - 2, -1, -1):
        total = theta[i]
        for j in range(i + 1, d):
            total -= factor[i * d + j] * theta[j]
        theta[i] = total


@jittable
def ahead(
    factor: Any, u: Any, opens: Any, step: float, lam: float, after: Any, u_after: Any
) -> None:
    """Write the factor of V + E, E of the open plays, and the u that leaves theta_hat; O(d^3)."""
    d = len(u)
    for i in range(d):
        u_after[i] = u[i]
    solve(factor, u_after)
    for i in range(d):
        for j in range(i, d):
            total = step * opens[j * d + i]
            for k in range(i):
                weight = factor[k * d + k] * factor[k * d + i]
                total += weight * factor[k * d + j]
                total -= after[k * d + k] * after[k * d + i] * after[k * d + j]
            if j == i:
                # V - lambda*I has no negative eigenvalue, so less than lambda is rounding.
                after[i * d + i] = max(factor[i * d + i] + total, lam)
            else:
                total += factor[i * d + i] * factor[i * d + j]
                after[i * d + j] = total / after[i * d + i]
    for i in range(d):
        for j in range(i + 1, d):
            u_after[i] += after[i * d + j] * u_after[j]


@jittable
def values(features: Any, theta: Any, out: Any) -> None:
    """Write <x, theta> of each row to ``out``."""
    d = len(theta)
    for row in range(len(out)):
        total = 0.0
        for i in range(d):
            total += features[row * d + i] * theta[i]
        out[row] = total
