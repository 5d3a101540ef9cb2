"""The dict in which Open Bandit Pipeline (obp) keeps a log, read and written.

Saito, Aihara, Matsutani, Narita, "Open Bandit Dataset and Pipeline" (2020, arXiv 2008.07146);
the keys are those of its datasets: ``n_rounds``, ``n_actions``, ``context`` (n_rounds, d),
``action_context`` (n_actions, d'), ``action``, ``position``, ``reward`` and ``pscore``, each
(n_rounds,). An action is a number in 0..n_actions-1, a pscore the probability with which the
round's action was chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot import _logs
from surefoot._exact import shown
from surefoot.errors import InvalidInput
from surefoot.study.logs.columns import Wanted

if TYPE_CHECKING:
    import polars as pl


def of_feedback(source: Mapping[str, Any], wanted: Wanted) -> tuple[dict[str, Any], Wanted, str]:
    """Its columns, which of them are read, and a note where it pools several positions.

    Raises InvalidInput for lengths that differ from ``n_rounds`` and for actions outside of
    ``n_actions``.
    """
    rounds = _count(source["n_rounds"], "n_rounds")
    columns = {
        key: value
        for key in ("action", "reward", "pscore", "position", "context")
        if (value := source.get(key)) is not None
    }
    for key, value in columns.items():
        shape = np.shape(value)
        if len(shape) != (2 if key == "context" else 1) or shape[0] != rounds:
            needs = f"({rounds}, d)" if key == "context" else f"({rounds},)"
            raise InvalidInput(
                f"{key!r} of the bandit feedback has shape {shape}, for n_rounds = {rounds} it "
                f"must be {needs}"
            )
    actions = np.asarray(columns["action"])
    if actions.dtype.kind not in "iu":
        raise InvalidInput(
            f"'action' of the bandit feedback holds {actions.dtype}; an action is an int from 0 on"
        )
    most = source.get("n_actions")
    limit = None if most is None else _count(most, "n_actions")
    for row in np.flatnonzero((actions < 0) | (actions >= (limit or np.inf)))[:1]:
        among = "from 0 on" if limit is None else f"in 0..{limit - 1}, as n_actions says"
        raise InvalidInput(
            f"'action' in {_logs.row_place(int(row))} of the bandit feedback is {actions[row]}; it "
            f"must be {among}"
        )
    if "context" in columns:
        columns["context"] = [*np.asarray(columns["context"])]
    several = len(np.unique(np.asarray(columns.get("position", [0]))))
    note = f"rewards of {several} positions are pooled" if several > 1 else ""
    return columns, _names(wanted, columns), note


def _names(wanted: Wanted, columns: dict[str, Any]) -> Wanted:
    context = ("context",) if "context" in columns else ()
    return Wanted(
        wanted.arm or "action",
        wanted.reward or "reward",
        wanted.propensity or ("pscore" if "pscore" in columns else None),
        wanted.context or context,
    )


def _count(value: Any, key: str) -> int:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < 1:
        raise InvalidInput(f"{key!r} of the bandit feedback is {shown(value)}; it is an int >= 1")
    return int(value)


def to_feedback(frame: pl.DataFrame, arms: tuple[Any, ...]) -> dict[str, Any]:
    """A log as such a dict, its arms numbered in this order.

    Where the log has no contexts each is the number 1, since obp asks for one; without
    propensities ``pscore`` is None.
    """
    numbers = {arm: number for number, arm in enumerate(arms)}
    rows, known = len(frame), frame.columns
    return {
        "n_rounds": rows,
        "n_actions": len(arms),
        "context": frame["context"].to_numpy() if "context" in known else np.ones((rows, 1)),
        "action_context": np.eye(len(arms), dtype=int),
        "action": np.array([numbers[arm] for arm in frame["arm"]], dtype=np.int64),
        "position": np.zeros(rows, dtype=np.int64),
        "reward": frame["reward"].to_numpy().astype(float),
        "pscore": frame["propensity"].to_numpy() if "propensity" in known else None,
    }
