"""Ridge regression solved afresh, from sums that are exact."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np


class Ridge:
    """V = lam I + sum x x' and b = sum r x, as fractions of what each row was observed with."""

    def __init__(self, d: int, lam: float) -> None:
        self.d, self.lam = d, Fraction(lam)
        self.V = [[self.lam * (i == j) for j in range(d)] for i in range(d)]
        self.b = [Fraction(0)] * d

    def learn(self, x: Sequence[float], reward: float, times: int = 1) -> None:
        """``times`` observations of features x, of the same reward."""
        row, r = [Fraction(value) for value in x], Fraction(reward)
        for i in range(self.d):
            self.b[i] += times * r * row[i]
            for j in range(self.d):
                self.V[i][j] += times * row[i] * row[j]

    def gram(self) -> np.ndarray:
        return np.array([[float(value) for value in row] for row in self.V])

    def theta(self) -> np.ndarray:
        return np.linalg.solve(self.gram(), np.array([float(value) for value in self.b]))

    def norm(self, x: Sequence[float]) -> float:
        return float(np.sqrt(np.array(x) @ np.linalg.solve(self.gram(), np.array(x))))

    def log_det(self) -> float:
        """ln det(V/lam^d)."""
        return float(np.linalg.slogdet(self.gram() / float(self.lam))[1])

    def bounds(self, X: np.ndarray, beta: float) -> np.ndarray:
        """<x, theta_hat> + beta ||x||_{V^-1} of each row.

        >>> Ridge(2, 1).bounds(np.array([[1.0, 0.0], [3.0, 4.0]]), 2).tolist()
        [2.0, 10.0]
        """
        theta = self.theta()
        return np.array([x @ theta + beta * self.norm(x) for x in X])
