"""The linear optimist of a history, solved afresh from counts and sums at every turn."""

import numpy as np

from naive.linucb import LinUCB


class Counted(LinUCB):
    """``LinUCB`` over fixed rows: how often each was observed, and what its rewards sum to."""

    def __init__(self, policy, X) -> None:
        super().__init__(
            policy.theta_bound, policy.feature_bound, policy.noise, policy.ridge, policy.radius
        )
        self.X, self.n, self.total = X, np.zeros(len(X)), np.zeros(len(X))

    def gram(self, d: int) -> np.ndarray:
        return self.lam * np.eye(d) + self.X.T @ (self.n[:, None] * self.X)

    def upper(self, m: int, per_turn: int = 1) -> np.ndarray:
        """The upper confidence bound of each row."""
        d = self.X.shape[1]
        V = self.gram(d)
        theta = np.linalg.solve(V, self.X.T @ self.total)
        norms = np.sqrt(np.einsum("ki,ik->k", self.X, np.linalg.solve(V, self.X.T)))
        return self.X @ theta + self.beta(m, d, per_turn) * norms

    def learn(self, row: int, reward: float) -> None:
        """One more observation.

        >>> import numpy as np
        >>> from types import SimpleNamespace as Settings
        >>> policy = Settings(theta_bound=0, feature_bound=1, noise=0, ridge=1, radius="paper")
        >>> twin = Counted(policy, np.eye(2))
        >>> twin.learn(1, 3.0)
        >>> twin.upper(1).tolist()
        [0.0, 1.5]
        """
        self.n[row] += 1
        self.total[row] += reward
