"""Linear Thompson sampling from its formula: V and b summed up and factored again at each turn."""

import numpy as np
from scipy import special

from naive.noise import uniform


def sample(
    history: list[tuple[np.ndarray, float]],
    d: int,
    lam: float,
    v: float,
    turn: int,
    key: int,
    waiting: tuple[np.ndarray, ...] = (),
) -> np.ndarray:
    """theta_hat + v L^-T z for V = L L', z_i the normal quantile of its uniform number.

    ``waiting``: the features of open plays, which belong to L and not to theta_hat.

    >>> sample([], 2, 4.0, 0.0, 1, 0).tolist()
    [0.0, 0.0]
    """
    V = lam * np.eye(d) + sum((np.outer(x, x) for x, _ in history), np.zeros(1))
    b = sum((r * x for x, r in history), np.zeros(d))
    z = special.ndtri([float(uniform(key, turn, i)) for i in range(d)])
    ahead = V + sum((np.outer(x, x) for x in waiting), np.zeros(1))
    return np.linalg.solve(V, b) + v * np.linalg.solve(np.linalg.cholesky(ahead).T, z)
