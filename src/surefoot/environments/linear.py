"""Linear arms: Bernoulli rewards whose means are the inner product of features and one vector."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot._exact import exact, shown
from surefoot.environments._table import listed
from surefoot.environments.bernoulli import BernoulliArms
from surefoot.errors import InvalidInput

Floats = npt.NDArray[np.float64]


class LinearArms(BernoulliArms):
    """K arms with features; arm k pays 1 with probability <x_k, theta>, else 0.

    Source: Du, Wang, Huang 2021, section "Application to Conservative Linear Bandits (CLB)" and
    Experiments. ``X``: shape (K, d); ``theta``: shape (d,). Both are kept as read-only float64
    arrays. Every mean is checked in exact numbers, a float standing for its shortest decimal.
    Raises InvalidInput for another shape or number, and names an arm whose mean leaves [0, 1].

    >>> LinearArms([[1, 0], [0.5, 0.5]], [0.2, 0.9]).means.tolist()
    [0.2, 0.55]

    Holds when: the features of an arm never change. Does not hold when: contexts come anew at
    every play.
    """

    def __init__(self, X: Any, theta: Any) -> None:
        rows, weights = _matrix(X), _vector(theta, "theta")
        if len(rows[0]) != len(weights):
            raise InvalidInput(
                f"X has {len(rows[0])} features an arm, theta {len(weights)}; give as many"
            )
        sums = [_dot(row, weights) for row in rows]
        for arm, mean in enumerate(sums):
            if not 0 <= mean <= 1:
                raise InvalidInput(
                    f"arm {arm} has mean <x, theta> = {float(mean)!r}, outside [0, 1]; "
                    "rescale X or theta"
                )
        super().__init__([float(mean) for mean in sums])
        self.X = np.array([[float(number) for number in row] for row in rows])
        self.theta = np.array([float(number) for number in weights])
        for numbers in (self.X, self.theta):
            numbers.flags.writeable = False  # the means are made of them

    @classmethod
    def embedded(cls, n_arms: int, d: int, seed: Any) -> LinearArms:
        """A random instance whose means surely lie in [0, 1], see ``embedding``."""
        return cls(*embedding(n_arms, d, seed))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_arms} arms, {len(self.theta)} features)"


def embedding(n_arms: int, d: int, seed: Any) -> tuple[Floats, Floats]:
    """Random features (n_arms, d) and a parameter (d,) with every <x, theta> in [0, 1].

    theta = (u/2, 1/2) and x = (u', 1) for u, u' uniform on the unit sphere of R^(d-1), so that
    <x, theta> = (1 + <u, u'>)/2, ||x|| = sqrt(2) and ||theta|| = sqrt(1/2), up to rounding: u and
    u' are rounded toward the inside of their spheres (ours), so that no mean leaves [0, 1] by an
    ulp. Instances are ours: the paper does not print its own. ``d`` >= 2. ``seed``: an int >= 0,
    a list of them or a SeedSequence. Raises InvalidInput for anything else.

    >>> X, theta = embedding(3, 2, seed=1)
    >>> X.shape, (X @ theta).tolist()
    ((3, 2), [1.0, 1.0, 0.0])
    """
    for number, what, least in ((n_arms, "n_arms", 1), (d, "d", 2)):
        whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
        if not whole or number < least:
            raise InvalidInput(f"{what} = {shown(number)} must be an int >= {least}")
    random = np.random.default_rng(_seeded(seed))
    directions = random.standard_normal((n_arms + 1, d - 1))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    theta = np.append(_inside(directions[0] / 2, Fraction(1, 2)), 0.5)
    X = np.array([[*_inside(row, Fraction(1)), 1.0] for row in directions[1:]])
    return X, theta


def _inside(vector: Floats, radius: Fraction) -> Floats:
    """The vector, made shorter by as few ulps as bring it into the ball in exact numbers."""
    while _dot(*[_vector(vector, "a direction")] * 2) > radius * radius:
        vector = vector * (1 - 2.0**-52)
    return vector


def _seeded(seed: Any) -> np.random.SeedSequence:
    if isinstance(seed, np.random.SeedSequence):
        return seed
    try:
        if seed is None or isinstance(seed, bool):
            raise TypeError
        return np.random.SeedSequence(seed)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"seed = {shown(seed)} must be an int >= 0, a list of them or a SeedSequence"
        ) from None


def _dot(one: list[Fraction], other: list[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(one, other, strict=True)), Fraction(0))


def _matrix(X: Any) -> list[list[Fraction]]:
    kind = "list of rows: the features of each arm"
    if getattr(X, "ndim", 2) != 2:
        raise InvalidInput(f"X = {shown(X)} must be a {kind}")
    given = listed(X, "X", kind, "the features of each arm")
    rows = [_vector(row, f"X[{arm}]") for arm, row in enumerate(given)]
    for arm, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise InvalidInput(
                f"X[{arm}] has {len(row)} features, X[0] {len(rows[0])}; give every arm as many"
            )
    return rows


def _vector(numbers: Any, what: str) -> list[Fraction]:
    """A list of numbers as the fractions that they stand for."""
    given = listed(numbers, what, "list of numbers", "at least one number")
    return [Fraction(exact(number, f"{what}[{i}]")) for i, number in enumerate(given)]
