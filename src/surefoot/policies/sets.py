"""Action sets of linear policies: rows of features, balls and polytopes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot._exact import by_position, exact, shown
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.policies import _ridge

Features = npt.NDArray[np.float64]
Point = tuple[float, ...]

MOST = 1e50
"""The largest feature, norm or reward: its squares and their sums are still floats."""
_ROUNDING = 1e-9
_NOTHING = 1e-150
"""Smaller shares count as 0: their squares underflow."""


def feature_rows(rows: Any, what: str, d: int | None = None, count: int | None = None) -> Features:
    """A feature matrix as a fresh float64 array of shape (K, d); ``what`` names it in errors.

    ``d`` and ``count``: the shape it must have, None for any. A bool counts as 0 or 1. Raises
    InvalidInput for another shape, labels, what is no number, NaN, infinities and numbers beyond
    1e50.

    >>> feature_rows([[1, 0], [0, float("nan")]], "arms")
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: arms[1][1] is nan; features must be finite numbers up to 1e+50
    """
    need = f"({'K' if count is None else count}, {'d' if d is None else d})"
    by_position(rows, what)
    if isinstance(rows, list | tuple):
        for number, row in enumerate(rows):
            by_position(row, f"{what}[{number}]")
    try:
        given = np.asarray(rows)
    except (TypeError, ValueError):
        given = np.asarray(None)
    if given.ndim != 2 or 0 in given.shape:
        shape = shown(rows) if given.ndim == 0 else f"of shape {given.shape}"
        raise InvalidInput(f"{what} is {shape}; it must be an array of shape {need}")
    if (d or given.shape[1], count or len(given)) != (given.shape[1], len(given)):
        raise InvalidInput(f"{what} is of shape {given.shape}; it must be of shape {need}")
    if np.ma.is_masked(rows) or given.dtype.kind not in "bfiu":
        raise InvalidInput(f"{what} has dtype {given.dtype} or gaps; features must be numbers")
    matrix = given.astype(np.float64)
    bad = np.argwhere(~(np.abs(matrix) <= MOST))
    if len(bad):
        i, j = bad[0].tolist()
        raise InvalidInput(
            f"{what}[{i}][{j}] is {matrix[i, j]}; features must be finite numbers up to {MOST:g}"
        )
    return matrix


def no_rows(rows: Any, d: int) -> bool:
    """Whether it is a feature matrix of no rows.

    >>> no_rows([], 3), no_rows(np.zeros((0, 3)), 3), no_rows(np.zeros((0, 2)), 3)
    (True, True, False)
    """
    if isinstance(rows, list | tuple):
        return not rows
    return isinstance(rows, np.ndarray) and rows.shape in ((0,), (0, d))


def norms(matrix: Features) -> Features:
    """The Euclidean norm of each row; tiny and huge features lose nothing."""
    scale = np.abs(matrix).max(axis=1)
    safe = np.where(scale > 0, scale, 1.0)
    lengths: Features = safe * np.sqrt(((matrix / safe[:, None]) ** 2).sum(axis=1))
    return lengths


def within(matrix: Features, bound: float, what: str) -> None:
    """InvalidInput, naming row and norm, unless every row's norm is at most ``bound``."""
    lengths = norms(matrix)
    row = int(lengths.argmax())
    if lengths[row] > bound * (1 + _ROUNDING):
        raise InvalidInput(
            f"{what}[{row}] has norm {lengths[row]:.6g}, above feature_bound = {bound:.6g}; "
            "rescale the features or raise feature_bound"
        )


def point_given(action: Any, d: int) -> list[float]:
    """A point as a list of d floats; InvalidInput if it is none."""
    return list(feature_rows([action], "action", d)[0].tolist())


def positive(value: Any, what: str, most: float = MOST, hint: str = "") -> float:
    """A number in 0 < value <= ``most`` as a float; InvalidInput if it is none."""
    number = float(exact(value, what))
    if not 0 < number <= most:
        raise InvalidInput(f"{what} = {shown(value)} must be > 0 and at most {most:g}{hint}")
    return number


@dataclass(frozen=True, init=False)
class Ball:
    """All points of R^d within a distance of the origin.

        X = {x : ||x|| <= radius}

    Source: the paper's compact set X of "Application to Conservative Linear Bandits", chosen as a
    ball. ``radius`` > 0, ``d`` an int >= 1; InvalidInput for anything else.

    >>> Ball(2.0, 2).optimum([1.0, 0.0], [1.0, 0.0, 0.0, 1.0], beta=0.5)
    ((2.0, 0.0), 3.0)

    Holds when: actions may be mixed freely, as a price or a dose in each direction. Does not hold
    when: only some points can be played: give them as rows, or as a ``Polytope``.
    """

    radius: float
    d: int

    def __init__(self, radius: float, d: int) -> None:
        if isinstance(d, bool) or not isinstance(d, int | np.integer) or d < 1:
            raise InvalidInput(f"d = {shown(d)} must be an int >= 1")
        object.__setattr__(self, "radius", positive(radius, "radius"))
        object.__setattr__(self, "d", int(d))

    @property
    def bound(self) -> float:
        """The largest norm of a point."""
        return self.radius

    def optimum(self, theta: Any, inverse: Any, beta: float) -> tuple[Point, float]:
        """A point that maximises <x, theta> + beta*||x||_{V^-1}, and the maximum; exact, O(d^3).

        ``theta``: d numbers; ``inverse``: V^-1, positive definite, d*d numbers row by row.
        The maximum is radius*||phi|| for the phi farthest from the origin in the ellipsoid
        ||phi - theta||_V <= beta. In the eigenbasis of V^-1, eigenvalues w, the largest w_1:
        phi_i = theta_i (1+s)/(s + 1 - w_i/w_1), where s >= 0 puts phi on the ellipsoid's surface.
        """
        w, basis = np.linalg.eigh(np.asarray(inverse, dtype=np.float64).reshape(self.d, self.d))
        top, c = float(w[-1]), basis.T @ np.asarray(theta, dtype=np.float64)
        phi = _farthest(c, np.maximum(w, 0.0) / top, beta * math.sqrt(top))
        length = float(np.linalg.norm(phi))
        if length == 0.0:  # theta = 0 and beta = 0: all points are alike
            phi, length = np.eye(self.d)[-1], 0.0
        x = basis @ (phi / (length or 1.0))
        if not c.any() and x[np.abs(x).argmax()] < 0:
            x = -x
        return tuple((self.radius * x).tolist()), self.radius * length

    def config(self) -> JsonObject:
        """JSON-able settings."""
        return {"radius": self.radius, "d": self.d}


def _farthest(c: Features, w: Features, reach: float) -> Features:
    """The phi farthest from the origin, in the eigenbasis; ``w`` ascends to 1.

    ``reach`` is the ellipsoid's longest half-axis. With a_i = sqrt(w_i)|c_i|/reach, s solves
    sum (a_i/(s + 1-w_i))^2 = 1; if nothing of c lies along that axis, s may be 0 and phi take up
    the rest along it (the hard case of trust regions).
    """
    if reach == 0.0:
        return c
    gap, a = 1.0 - w, np.sqrt(w) * np.abs(c) / reach
    a[a < _NOTHING] = 0.0
    flat = gap == 0.0
    first = math.hypot(*a[flat])
    if first == 0.0:
        rest = float(((a[~flat] / gap[~flat]) ** 2).sum())
        if rest <= 1.0:
            phi = np.zeros_like(c)
            phi[~flat] = c[~flat] / gap[~flat]
            phi[-1] = math.copysign(reach * math.sqrt(1.0 - rest), c[-1])
            return phi
    used = a > 0.0
    a, gaps = a[used], gap[used]
    s = first
    # 1/sqrt of the sum is concave in s: Newton's steps from the left never pass the root.
    for _ in range(200):
        terms = a / (s + gaps)
        size = float(np.linalg.norm(terms))
        step = size * size * (size - 1.0) / float((terms * terms / (s + gaps)).sum())
        if not step > 1e-16 * s:
            break
        s += step
    phi = np.zeros_like(c)
    phi[used] = c[used] * ((1.0 + s) / (s + gaps))
    return phi


@dataclass(frozen=True, init=False)
class Polytope:
    """All mixtures of some points of R^d.

        X = conv(vertices)

    Source: the paper's compact set X of "Application to Conservative Linear Bandits", chosen as a
    polytope. The optimist's value is convex in x, so a vertex maximises it: those alone are looked
    at, and of equal ones the lowest. ``vertices``: (n, d), finite; InvalidInput for anything else.

    >>> Polytope([[0, 0], [1, 0], [0, 2]]).optimum([1.0, 0.0], [1.0, 0.0, 0.0, 1.0], beta=0.25)
    ((1.0, 0.0), 1.25)

    Holds when: the vertices can be listed. Does not hold when: there are too many of them, as
    2^d for a cube.
    """

    vertices: tuple[Point, ...]

    def __init__(self, vertices: Any) -> None:
        rows = feature_rows(vertices, "vertices").tolist()
        object.__setattr__(self, "vertices", tuple(map(tuple, rows)))

    @property
    def d(self) -> int:
        """The dimension."""
        return len(self.vertices[0])

    @property
    def bound(self) -> float:
        """The largest norm of a point."""
        return float(norms(np.array(self.vertices)).max())

    def optimum(self, theta: Any, inverse: Any, beta: float) -> tuple[Point, float]:
        """The vertex that maximises <x, theta> + beta*||x||_{V^-1}, and its value."""
        values = [0.0] * len(self.vertices)
        _ridge.scores((inverse, theta), [x for row in self.vertices for x in row], beta, values)
        chosen = _ridge.first_best(values)
        return self.vertices[chosen], values[chosen]

    def config(self) -> JsonObject:
        """JSON-able settings."""
        return {"vertices": [list(row) for row in self.vertices]}
