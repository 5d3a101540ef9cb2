"""Combinatorial arms: a turn plays a super arm and shows the reward of each of its base arms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from surefoot._exact import shown
from surefoot.environments.bernoulli import BernoulliArms
from surefoot.environments.linear import LinearArms, embedding
from surefoot.errors import InvalidInput


class CombinatorialArms(BernoulliArms):
    """Linear Bernoulli base arms; a super arm A is worth f(A, mu), mu the base arms' true means.

    Source: Du, Wang, Huang 2021, section "Application to Conservative Contextual Combinatorial
    Bandits". ``X``: shape (base arms, d); ``theta``: shape (d,), see ``LinearArms``. ``oracle``:
    what gives the best super arm for weights, with ``size``, the fewest and the most base arms of
    one. ``f``: a function of (super arm, weights); None is the oracle's own, or the sum.
    ``n_arms``, ``means``, ``variances`` and ``pull`` are of base arms; ``reward_range`` is
    (0, most base arms). Raises InvalidInput as LinearArms does, and for what is not an oracle.

    >>> class Best:
    ...     size = (1, 1)
    ...     def __call__(self, weights):
    ...         return (int(np.argmax(weights)),)
    >>> env = CombinatorialArms([[1, 0], [0, 1]], [0.25, 0.5], Best())
    >>> env.best, env.value((0, 1)), env.reward_range
    (0.5, 0.75, (0, 1))

    Holds when: the oracle is exact for f, and f stays within (0, most base arms). Does not hold
    when: f is not linear and its mean is wanted: f of the means is what the paper's regret uses.
    """

    semi_bandit = True

    def __init__(
        self, X: Any, theta: Any, oracle: Any, f: Callable[[Any, Any], float] | None = None
    ) -> None:
        linear = LinearArms(X, theta)
        super().__init__(linear.means)
        self.X, self.theta, self.oracle = linear.X, linear.theta, oracle
        self.reward_range = (0, _most(oracle, self.n_arms))
        if f is not None and not callable(f):
            raise InvalidInput(f"f = {shown(f)} must be a function of (super arm, weights) or None")
        self.f = getattr(oracle, "f", None) if f is None else f
        self.best = self.value(oracle(self.means))

    @classmethod
    def embedded(
        cls,
        n_arms: int,
        d: int,
        oracle: Any,
        seed: Any,
        f: Callable[[Any, Any], float] | None = None,
    ) -> CombinatorialArms:
        """A random instance whose base means surely lie in [0, 1], see ``linear.embedding``."""
        return cls(*embedding(n_arms, d, seed), oracle, f)

    def value(self, action: Any) -> float:
        """What a super arm, a tuple of base arms, is worth: f of the true means."""
        if self.f is not None:
            return float(self.f(action, self.means))
        return float(self.means[list(action)].sum())

    def __repr__(self) -> str:
        features = len(self.theta)
        return f"CombinatorialArms({self.n_arms} base arms, {features} features, {self.oracle!r})"


def _most(oracle: Any, n_arms: int) -> int:
    """The most base arms of a super arm, if this is an oracle for so many base arms."""
    if not callable(oracle):
        raise InvalidInput(
            f"oracle = {shown(oracle)} must be callable: weights -> base arms, e.g. TopK(k)"
        )
    size = getattr(oracle, "size", None)
    most = size[1] if isinstance(size, tuple) and len(size) == 2 else None
    if not isinstance(most, int | np.integer) or isinstance(most, bool) or most < 1:
        raise InvalidInput(
            f"size = {shown(size)} of the oracle must be a pair of ints: the fewest and the most "
            "base arms of a super arm"
        )
    n_base = getattr(oracle, "n_base", None)
    if n_base is not None and n_base != n_arms:
        raise InvalidInput(
            f"the oracle is for {shown(n_base)} base arms, X has {n_arms}; give as many"
        )
    return int(most)
