"""One estimator of scikit-learn as a model of rewards in [0, 1]."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot._exact import shown
from surefoot.errors import InvalidInput


def check_estimator(estimator: Any) -> None:
    """InvalidInput for what cannot learn reward by reward, or has no chances to give."""
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


def predicted(estimator: Any, rows: list[Any]) -> Any:
    """The predicted reward of each row."""
    if _classifies(estimator):
        return estimator.predict_proba(np.asarray(rows))[:, -1]
    return estimator.predict(np.asarray(rows))


def taught(estimator: Any, row: Any, reward: float) -> None:
    """Learn one reward; a classifier one between 0 and 1 as both, by their weights."""
    rows = np.asarray([row])
    if not _classifies(estimator):
        estimator.partial_fit(rows, [reward])
    elif reward in {0, 1}:
        estimator.partial_fit(rows, [int(reward)], classes=[0, 1])
    else:
        both = np.repeat(rows, 2, axis=0)
        weights = [1 - reward, reward]
        estimator.partial_fit(both, [0, 1], classes=[0, 1], sample_weight=weights)
