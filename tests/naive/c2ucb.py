"""GenCB-CCCB's policy from the pseudo-code, over a list of all super arms."""

from collections.abc import Callable, Iterable

import numpy as np

from naive.linucb import LinUCB


class C2UCB(LinUCB):
    """LinUCB's sums over base arms; the best super arm by looking at each."""

    def values(
        self,
        X: np.ndarray,
        m: int,
        super_arms: Iterable[tuple[int, ...]],
        f: Callable[[tuple[int, ...], np.ndarray], float] | None = None,
    ) -> dict[tuple[int, ...], float]:
        """f(A, w-bar) of each super arm."""
        w = self.bounds(X, m, per_turn=len(X))
        return {A: f(A, w) if f else sum(w[e] for e in A) for A in super_arms}

    def learn(self, X: np.ndarray, arm: Iterable[int], rewards: Iterable[float]) -> None:
        self.history += [(X[e], r) for e, r in zip(arm, rewards, strict=True)]
