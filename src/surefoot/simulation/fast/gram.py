"""A ridge regression over K fixed rows X in its Gram form: what scores need, without V^-1.

    G = X V^-1 X'  (K, K),   q = diag G,   y = X theta_hat

Neither V^-1 nor theta_hat is needed. After n more observations of row k, z their mean surprise,

    p = G[k],  z = (sum of rewards - n y_k)/(1 + n p_k),  w = n/(1 + n p_k)
    y_i + p_i z,   q_i - p_i^2 w,   G - w p p',   ln det V + ln(1 + n p_k)

(Sherman-Morrison, for n equal rows at once). Each such step cancels digits of q in the proportion
1 + n p_k, in which det V grows. So all is computed anew whenever det V has grown by ``SURPRISE``,
and every ``EVERY`` steps: from V = lambda*I + sum n_i x_i x_i', whose counts and sums of rewards
are integers and have lost nothing. That is rare, as the logarithms of the growth sum to
ln det(V/lambda^d), which is O(d log T).
"""

from __future__ import annotations

import math
from typing import Any

from surefoot._jit import jittable
from surefoot.kernels import registry
from surefoot.policies import _ridge
from surefoot.policies._ridge import GAIN, GRAM, INVERSE, LOGDET, MOMENT

COUNTS, SUMS, CROSS, NORMS, MEANS, ROW, VALUES, ROOTS, AGE = range(-9, 0)
"""Behind the policy's own lists, whose first six are a ridge and serve as room here: plays and
rewards (in units) of each row; G, q, y; p; indices; X L^-T for V = L L'; by how much det V has
grown since all was computed anew, in how many steps, and its logarithm then. p and the rows of G
are as long as a multiple of ``VECTOR``, by zeros."""
VECTOR = 4
"""Floats that are computed at once; a compiler's loops have nothing left over then."""
EVERY = 1024
"""Every step adds its own rounding; this bounds how many of them add up."""
SURPRISE = 1e3
"""A step cancels log10(1 + n p_k) digits of q: three at most, then, before all is computed anew."""


def init(policy: Any, n_arms: int) -> Any:
    """The policy's own state, and behind it the Gram form."""
    return behind(policy, registry.init(policy, n_arms), n_arms)


def behind(policy: Any, own: tuple[Any, ...], n_arms: int) -> Any:
    """The lists of a policy, and behind them its Gram form before the first observation.

    G = X X'/lambda, added up as ``_ridge.norm`` does: where all rows are of one length the first
    turn is a tie, which not every policy decides with a tolerance.
    """
    x = [policy.features[i * policy.d : (i + 1) * policy.d].tolist() for i in range(n_arms)]
    over, blank = 1.0 / policy.ridge, [0.0] * (-n_arms % VECTOR)
    gram = [[_dot(one, [over * number for number in other]) for other in x] for one in x]
    cross = [number for one in gram for number in one + blank]
    norms = [gram[i][i] for i in range(n_arms)]
    counts, sums, row = [0] * n_arms, [0] * n_arms, [0.0] * n_arms + blank
    means, values = [0.0] * n_arms, [0.0] * n_arms
    roots = [0.0] * (n_arms * policy.d)
    return *own, counts, sums, cross, norms, means, row, values, roots, [1.0, 0.0, 0.0]


def _dot(one: list[float], other: list[float]) -> float:
    total = 0.0
    for x, y in zip(one, other, strict=True):
        total += x * y
    return total


@jittable
def note_growth(policy: Any, state: Any, grown: float) -> None:
    """ln det V for a radius that asks; ``grown``: by how much det V has, since the last step."""
    if policy.determinant:
        state[LOGDET][0] = state[AGE][2] + math.log(state[AGE][0] * grown)


@jittable
def beta(policy: Any, state: Any, m: int, grown: float) -> float:
    """The policy's radius at turn m; ``grown`` as in ``note_growth``."""
    note_growth(policy, state, grown)
    return _ridge.radius(state, m, policy.noise, policy.growth, policy.bias, policy.determinant)


@jittable
def root(square: float) -> float:
    """Its square root; rounding may have left it below zero."""
    # Compiled, max() takes twice as long.
    return math.sqrt(square if square > 0.0 else 0.0)  # noqa: FURB136


@jittable
def renew(policy: Any, state: Any, low: int, width: int) -> None:
    """Compute all from the counts and sums; O(K d^2 + K^2 d). A reward is (units - low)/width."""
    n_arms, d, stride = len(state[NORMS]), policy.d, len(state[ROW])
    factor, roots, target = state[INVERSE], state[ROOTS], state[GAIN]
    _observed(policy, state, low, width)
    state[AGE][2] = _ridge.factor(factor, state[GRAM], d, policy.ridge)
    _solve(factor, d, state[MOMENT], 0, target)
    for i in range(n_arms):
        _solve(factor, d, policy.features, i * d, roots)
    for i in range(n_arms):
        mean = 0.0
        for a in range(d):
            mean += roots[i * d + a] * target[a]
        state[MEANS][i] = mean
        for j in range(i + 1):
            inner = 0.0
            for a in range(d):
                inner += roots[i * d + a] * roots[j * d + a]
            state[CROSS][i * stride + j] = inner
            state[CROSS][j * stride + i] = inner
        state[NORMS][i] = state[CROSS][i * stride + i]
    state[AGE][0], state[AGE][1] = 1.0, 0.0


@jittable
def _observed(policy: Any, state: Any, low: int, width: int) -> None:
    """V, its lower triangle, and b."""
    d, gram, moment, x = policy.d, state[GRAM], state[MOMENT], policy.features
    for a in range(d):
        moment[a] = 0.0
        for b in range(a):
            gram[a * d + b] = 0.0
        gram[a * d + a] = policy.ridge
    for i in range(len(state[COUNTS])):
        plays = state[COUNTS][i]
        total = (state[SUMS][i] - plays * low) / width
        for a in range(d):
            moment[a] += x[i * d + a] * total
            weight = plays * x[i * d + a]
            for b in range(a + 1):
                gram[a * d + b] += weight * x[i * d + b]


@jittable
def _solve(factor: Any, d: int, vectors: Any, start: int, out: Any) -> None:
    """Write L^-1 v to the place in ``out`` that v has in ``vectors``."""
    for a in range(d):
        rest = vectors[start + a]
        for b in range(a):
            rest -= factor[a * d + b] * out[start + b]
        out[start + a] = rest / factor[a * d + a]


@jittable
def observe(form: Any, k: int, n: int, units: int, low: int, width: int) -> bool:
    """Take in n observations of row k, ``units`` the sum of their rewards; O(K^2).

    True where all is to be computed anew instead. ``form``: the lists from ``COUNTS`` on; a call
    that is not inlined copies every list it is given.
    """
    cross, norms, means, row, age = form[CROSS], form[NORMS], form[MEANS], form[ROW], form[AGE]
    form[COUNTS][k] += n
    form[SUMS][k] += units
    grown = 1.0 + n * norms[k]
    age[0] *= grown
    age[1] += 1.0
    if not age[0] <= SURPRISE or age[1] >= EVERY:  # so a nan is computed anew, too
        return True
    surprise = ((units - n * low) / width - n * means[k]) / grown
    weight = n / grown
    stride = len(row)
    for i in range(stride):  # a copy: G[k] changes on the way
        row[i] = cross[k * stride + i]
    for i in range(len(means)):
        part = row[i] * weight
        means[i] += row[i] * surprise
        for j in range(stride):
            cross[i * stride + j] -= part * row[j]
        norms[i] = cross[i * stride + i]
    return False
