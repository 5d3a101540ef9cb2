"""Ridge regression, one observation at a time: V, its inverse, b, theta_hat and ln det V.

    V = lambda*I + sum x x',   b = sum r x,   theta_hat = V^-1 b

A ridge is a tuple of flat lists, ``fresh(d, lam)``; a policy's state is that tuple with lists of
its own behind it, and the kernels here take either. ``features`` is a flat list of rows of d
numbers, and ``row`` says which is meant: ``learn(ridge, features, row, reward, lam)`` takes in one
observation, ``mean`` and ``norm`` give <x, theta_hat> and the norm of x in V^-1, ``scores`` and
``first_best`` the optimist's choice, ``ridge[LOGDET][0]`` is ln det(V/lambda^d).

V^-1 follows by Sherman-Morrison and is rebuilt by Cholesky from V, which is kept with the
rounding it has lost (Kahan 1965), every ``EVERY`` observations and after one that changed it much.
"""

from __future__ import annotations

import math
from typing import Any

from surefoot._jit import jittable

INVERSE, THETA, GRAM, MOMENT, LOGDET, GAIN = range(6)
"""The lists of a ridge: V^-1, theta_hat, V and what its sums lost, b and what it lost, ln det and
observations since V^-1 was rebuilt, V^-1 x."""
EVERY = 512
SURPRISE = 1e3
"""Where x'V^-1 x is above this, Sherman-Morrison cancels digits and V^-1 is rebuilt at once. As the
logarithms of 1 + x'V^-1 x sum to ln det(V/lambda^d), that is rare."""
TIE = 1e-9


def fresh(d: int, lam: float) -> tuple[list[float], ...]:
    """The ridge before the first observation: V = lambda*I."""
    diagonal = [float(i == j) for i in range(d) for j in range(d)]
    inverse, gram = [one / lam for one in diagonal], [one * lam for one in diagonal]
    return inverse, [0.0] * d, gram + [0.0] * (d * d), [0.0] * (2 * d), [0.0, 0.0], [0.0] * d


@jittable
def learn(ridge: Any, features: Any, row: int, reward: float, lam: float) -> None:
    """V += x x', b += r x, and all that follows from them."""
    inverse, theta, gain = ridge[INVERSE], ridge[THETA], ridge[GAIN]
    d = len(theta)
    start = row * d
    _observe(ridge, features, start, reward)
    leverage = 0.0
    predicted = 0.0
    for i in range(d):
        total = 0.0
        for j in range(d):
            total += inverse[i * d + j] * features[start + j]
        gain[i] = total
        leverage += features[start + i] * total
        predicted += features[start + i] * theta[i]
    ridge[LOGDET][1] += 1.0
    if ridge[LOGDET][1] >= EVERY or not 0.0 <= leverage <= SURPRISE:
        refresh(ridge, lam)
        return
    scale = 1.0 / (1.0 + leverage)
    surprise = (reward - predicted) * scale
    for i in range(d):
        theta[i] += gain[i] * surprise
        for j in range(i + 1):
            value = inverse[i * d + j] - gain[i] * gain[j] * scale
            inverse[i * d + j] = value
            inverse[j * d + i] = value
    ridge[LOGDET][0] += math.log1p(leverage)


def correct(ridge: Any, features: Any, row: int, old: float, new: float) -> None:
    """b += (new - old) x: the reward of one observation was not ``old`` but ``new``."""
    inverse, theta, moment = ridge[INVERSE], ridge[THETA], ridge[MOMENT]
    d = len(theta)
    x = features[row * d : (row + 1) * d]
    for i in range(d):
        _add(moment, i, d, x[i] * -old)
        _add(moment, i, d, x[i] * new)
        theta[i] += (new - old) * sum(inverse[i * d + j] * x[j] for j in range(d))


@jittable
def _observe(ridge: Any, features: Any, start: int, reward: float) -> None:
    """The sums V (its lower triangle) and b, each with what rounding took from it."""
    gram, moment = ridge[GRAM], ridge[MOMENT]
    d = len(moment) // 2
    for i in range(d):
        x = features[start + i]
        for j in range(i + 1):
            _add(gram, i * d + j, d * d, x * features[start + j])
        _add(moment, i, d, x * reward)


@jittable
def _add(sums: Any, at: int, size: int, term: float) -> None:
    """Kahan's sum: ``sums[at + size]`` holds what ``sums[at]`` has in excess."""
    due = term - sums[at + size]
    total = sums[at] + due
    sums[at + size] = (total - sums[at]) - due
    sums[at] = total


@jittable
def refresh(ridge: Any, lam: float) -> None:
    """Rebuild V^-1, theta_hat and ln det from V and b: V = L L', V^-1 = L^-T L^-1; O(d^3)."""
    a, theta, moment = ridge[INVERSE], ridge[THETA], ridge[MOMENT]
    d = len(theta)
    ridge[LOGDET][0] = factor(a, ridge[GRAM], d, lam)
    ridge[LOGDET][1] = 0.0
    _invert(a, d)
    for i in range(d):
        total = 0.0
        for j in range(d):
            total += a[i * d + j] * (moment[j] - moment[j + d])
        theta[i] = total


@jittable
def ahead(gram: Any, opens: Any, d: int, step: float, lam: float, out: Any) -> None:
    """Write (V + E)^-1, E of the open plays, to the first half of ``out``; O(d^3)."""
    for i in range(d):
        for j in range(i + 1):
            at = i * d + j
            out[at] = (gram[at] - gram[d * d + at]) + step * opens[at]
            out[d * d + at] = 0.0
    factor(out, out, d, lam)
    _invert(out, d)


@jittable
def _invert(a: Any, d: int) -> None:
    """From L in the lower triangle of ``a`` to (L L')^-1 in all of it."""
    for j in range(d):
        a[j * d + j] = 1.0 / a[j * d + j]
        for i in range(j + 1, d):
            total = 0.0
            for k in range(j, i):
                total += a[i * d + k] * a[k * d + j]
            a[i * d + j] = -total / a[i * d + i]
    for i in range(d):
        for j in range(i + 1):
            total = 0.0
            for k in range(i, d):
                total += a[k * d + i] * a[k * d + j]
            a[i * d + j] = total
            a[j * d + i] = total


@jittable
def factor(a: Any, gram: Any, d: int, lam: float) -> float:
    """Write L of V = L L' to the lower triangle of ``a``; returns ln det(V/lambda^d)."""
    log_det = 0.0
    for i in range(d):
        for j in range(i + 1):
            total = gram[i * d + j] - gram[d * d + i * d + j]
            for k in range(j):
                total -= a[i * d + k] * a[j * d + k]
            if j < i:
                a[i * d + j] = total / a[j * d + j]
            else:
                # V - lambda*I has no negative eigenvalue, so a smaller pivot is rounding.
                pivot = max(total, lam)
                a[i * d + i] = math.sqrt(pivot)
                log_det += math.log(pivot / lam)
    return log_det


@jittable
def mean(ridge: Any, features: Any, row: int) -> float:
    """<x, theta_hat>."""
    theta = ridge[THETA]
    d = len(theta)
    total = 0.0
    for i in range(d):
        total += features[row * d + i] * theta[i]
    return total


@jittable
def norm(ridge: Any, features: Any, row: int) -> float:
    """||x|| in V^-1, the root of x'V^-1 x."""
    inverse = ridge[INVERSE]
    d = len(ridge[THETA])
    start = row * d
    total = 0.0
    for i in range(d):
        inner = 0.0
        for j in range(i):
            inner += inverse[i * d + j] * features[start + j]
        x = features[start + i]
        total += x * (2.0 * inner + inverse[i * d + i] * x)
    return math.sqrt(max(total, 0.0))


@jittable
def scores(ridge: Any, features: Any, beta: float, out: Any) -> None:
    """Write <x, theta_hat> + beta*||x||_{V^-1} of each row to ``out``."""
    # ``mean`` and ``norm`` written out, to the last bit: as calls they take twice as long.
    inverse, theta = ridge[INVERSE], ridge[THETA]
    d = len(theta)
    for row in range(len(out)):
        start = row * d
        inside = 0.0
        total = 0.0
        for i in range(d):
            inner = 0.0
            for j in range(i):
                inner += inverse[i * d + j] * features[start + j]
            x = features[start + i]
            inside += x * theta[i]
            total += x * (2.0 * inner + inverse[i * d + i] * x)
        out[row] = inside + beta * math.sqrt(max(total, 0.0))


@jittable
def first_best(values: Any) -> int:
    """The lowest place within 1e-9*max(1, |max|) of the largest value."""
    top = values[0]
    for i in range(1, len(values)):
        top = max(top, values[i])
    bar = top - TIE * max(1.0, abs(top))
    chosen = 0
    while values[chosen] < bar:
        chosen += 1
    return chosen


@jittable
def first_among(values: Any, allowed: Any) -> int:
    """As ``first_best``, of some places in ascending order."""
    top = -math.inf
    for i in allowed:
        top = max(top, values[i])
    bar = top - TIE * max(1.0, abs(top))
    for i in allowed:
        if values[i] >= bar:
            return int(i)
    return -1


@jittable
def radius(
    ridge: Any, m: int, noise: float, growth: float, bias: float, determinant: bool
) -> float:
    """How far theta* may be from theta_hat in the norm of V, at level 1/(2 m^2).

    noise*sqrt(d ln(2 m^2 (1 + m*growth))) + bias, growth = L^2/lambda, bias = sqrt(lambda)*S; or
    noise*sqrt(ln det(V/lambda^d) + 2 ln(2 m^2)) + bias.
    """
    level = math.log(2.0 * m * m)
    if determinant:
        return noise * math.sqrt(max(ridge[LOGDET][0], 0.0) + 2.0 * level) + bias
    return noise * math.sqrt(len(ridge[THETA]) * (level + math.log1p(m * growth))) + bias
