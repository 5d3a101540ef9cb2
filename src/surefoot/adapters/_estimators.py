"""Estimators of scikit-learn as models of rewards in [0, 1]: one or many of the same kind."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot._exact import shown
from surefoot.adapters.base import reseed
from surefoot.errors import InvalidInput


class Replicates:
    """So many sets of models, each a model for every arm, or one that all arms share."""

    def __init__(self, estimator: Any, sets: int, n_arms: int, shared: bool) -> None:
        _check(estimator)
        self.coins = np.random.default_rng(0)
        self.shared_by = n_arms if shared else 0
        models = range(1 if shared else n_arms)
        self.sets = [[copy.deepcopy(estimator) for _ in models] for _ in range(sets)]

    def scores(self, number: int, arms: Sequence[int], context: Any) -> Any:
        """The rewards of some arms, as a set predicts them."""
        models, rows = self.sets[number], [row_of(arm, context, self.shared_by) for arm in arms]
        if self.shared_by:
            return _predicted(models[0], rows)
        each = [_predicted(models[arm], [row]) for arm, row in zip(arms, rows, strict=True)]
        return np.concatenate(each)

    def teach(self, arm: int, reward: float, context: Any, *, first: bool) -> None:
        """Let each set learn with chance 1/2; all learn an arm's first reward, and a single set."""
        row = row_of(arm, context, self.shared_by)
        heads = self.coins.random(len(self.sets)) < 0.5
        for learns, models in zip(heads, self.sets, strict=True):
            if learns or first or len(self.sets) == 1:
                _teach(models[0 if self.shared_by else arm], row, reward)

    def seed(self, seed: int) -> None:
        """Seed coins and models: without, these would draw from numpy's global state."""
        reseed(self.coins, seed)
        for model in (one for models in self.sets for one in models):
            if "random_state" in model.get_params():
                model.set_params(random_state=int(self.coins.integers(2**31)))


def row_of(arm: int, context: Any, shared_by: int) -> Any:
    """What the model of an arm predicts from and learns; ``shared_by`` so many arms, or 0.

    >>> row_of(1, [5.0], 2).tolist(), row_of(1, [[5.0], [6.0]], 0).tolist()
    ([5.0, 0.0, 1.0], [6.0])
    """
    given = np.asarray([1.0] if context is None else context, dtype=float)
    if given.ndim == 2:
        return given[arm]
    return np.append(given, np.arange(shared_by) == arm) if shared_by else given


def _check(estimator: Any) -> None:
    if isinstance(estimator, type) or not hasattr(estimator, "partial_fit"):
        raise InvalidInput(
            f"estimator = {shown(estimator)} must be an estimator with partial_fit, e.g. "
            "SGDRegressor(); one without cannot learn reward by reward"
        )
    if hasattr(estimator, "decision_function") and not _classifies(estimator):
        raise InvalidInput(
            f"estimator = {shown(estimator)} has no predict_proba; give a loss that makes chances, "
            "e.g. SGDClassifier(loss='log_loss')"
        )


def _classifies(estimator: Any) -> bool:
    return hasattr(estimator, "predict_proba")


def _predicted(estimator: Any, rows: list[Any]) -> Any:
    if _classifies(estimator):
        return estimator.predict_proba(np.asarray(rows))[:, -1]
    return estimator.predict(np.asarray(rows))


def _teach(estimator: Any, row: Any, reward: float) -> None:
    """One reward; of a classifier one between 0 and 1 is both, by their weights."""
    rows = np.asarray([row])
    if not _classifies(estimator):
        estimator.partial_fit(rows, [reward])
    elif reward in {0, 1}:
        estimator.partial_fit(rows, [int(reward)], classes=[0, 1])
    else:
        both = np.repeat(rows, 2, axis=0)
        weights = [1 - reward, reward]
        estimator.partial_fit(both, [0, 1], classes=[0, 1], sample_weight=weights)
