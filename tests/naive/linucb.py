"""GenCB-CLB's policy from the pseudo-code: V and b summed up again, solved again, at every turn."""

import math

import numpy as np


class LinUCB:
    """Everything it has learnt, and the formulas."""

    def __init__(self, S: float, L: float, noise: float, lam: float, radius: str) -> None:
        self.S, self.L, self.noise, self.lam, self.radius = S, L, noise, lam, radius
        self.history: list[tuple[np.ndarray, float]] = []
        self.open: list[np.ndarray] = []

    def gram(self, d: int) -> np.ndarray:
        return self.lam * np.eye(d) + sum((np.outer(x, x) for x, _ in self.history), np.zeros(1))

    def theta(self, d: int) -> np.ndarray:
        b = sum((r * x for x, r in self.history), np.zeros(d))
        return np.linalg.solve(self.gram(d), b)

    def beta(self, m: int, d: int, per_turn: int = 1) -> float:
        """``per_turn`` is the paper's K in C2UCB's radius.

        >>> policy = LinUCB(S=1, L=1, noise=1, lam=1, radius="paper")
        >>> policy.beta(1, 1) == math.sqrt(math.log(4)) + 1
        True
        """
        shift = math.sqrt(self.lam) * self.S
        if self.radius == "determinant":
            logdet = np.linalg.slogdet(self.gram(d) / self.lam)[1]
            return self.noise * math.sqrt(logdet + 2 * math.log(2 * m**2)) + shift
        inner = 2 * m**2 * (1 + m * per_turn * self.L**2 / self.lam)
        return self.noise * math.sqrt(d * math.log(inner)) + shift

    def bounds(self, X: np.ndarray, m: int, per_turn: int = 1) -> np.ndarray:
        """The upper confidence bound of each row."""
        d = X.shape[1]
        ahead = self.gram(d) + sum((np.outer(x, x) for x in self.open), np.zeros(1))
        inverse, theta = np.linalg.inv(ahead), self.theta(d)
        widths = np.sqrt(np.einsum("ki,ij,kj->k", X, inverse, X))
        return X @ theta + self.beta(m, d, per_turn) * widths
