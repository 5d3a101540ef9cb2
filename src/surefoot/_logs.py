"""A log as a table of the caller's: which arm was played, what it paid, in what context."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from surefoot._exact import exact, first_few, shown
from surefoot.errors import InvalidInput

_NAMED_GAPS = ("NAType", "NaTType", "MaskedConstant")
"""The classes of what pandas and numpy put where a value is missing."""


class Columns(NamedTuple):
    """Where a log has what is learned from it."""

    arm: str = "arm"
    reward: str = "reward"
    context: Any = None
    """A column of contexts, or a list of columns of numbers that are one; None: there is none."""


def is_bandit_feedback(log: Any) -> bool:
    """Whether a log is the dict in which Open Bandit Pipeline (obp) keeps one.

    >>> is_bandit_feedback({"n_rounds": 1, "action": [0], "reward": [1]})
    True
    """
    return isinstance(log, Mapping) and {"n_rounds", "action", "reward"} <= log.keys()


def as_table(log: Any) -> Any:
    """What gives a column by ``log[name]``, of a table that is not computed yet too.

    A polars LazyFrame is collected, a DuckDB relation fetched, its decimals exact, and bandit
    feedback of obp has its actions as arms and its pscores as propensities.

    >>> as_table({"n_rounds": 1, "action": [0], "reward": [1]})["arm"]
    [0]
    """
    if is_bandit_feedback(log):
        return {"arm": log["action"], "propensity": log.get("pscore"), **log}
    if hasattr(log, "collect_schema") and hasattr(log, "collect"):
        return log.collect()
    if hasattr(log, "fetchall") and hasattr(log, "columns"):
        cells = zip(*log.fetchall(), strict=True)
        return dict(zip(log.columns, cells, strict=False)) or dict.fromkeys(log.columns, ())
    return log


def column(log: Any, name: Any, call: str = "learn") -> list[Any]:
    """One column of a table as a list; None for what is missing, whatever the table puts there.

    ``log``: what gives a column by ``log[name]``: a data frame, a dict of lists or arrays, a
    structured array. InvalidInput for anything else; ``call`` is what was called with it.

    >>> column({"arm": np.ma.array([3, 4], mask=[False, True])}, "arm")
    [3, None]
    """
    if isinstance(log, str | PathLike):
        raise InvalidInput(f"log = {shown(log)} is a path; read it first: surefoot.read_log(path)")
    try:
        found = log[name]
    except Exception:  # noqa: BLE001  # each kind of table has its own error
        there = getattr(log, "columns", None)
        names = list(log) if isinstance(log, dict) else [] if there is None else list(there)
        has = f"has no column {shown(name)}, but {', '.join(map(shown, names[:8]))}"
        what = f"a {type(log).__name__}, not a table with log[{shown(name)}]"
        raise InvalidInput(
            f"log {has if names else f'is {what}'}; give a data frame or a dict of columns, and "
            f"the columns' names: {call}(log, arm=..., reward=...)"
        ) from None
    if getattr(found, "ndim", 1) == 2 and hasattr(found, "columns"):
        raise InvalidInput(f"log has several columns {shown(name)}; rename all but one")
    listed = isinstance(found, Iterable) and not isinstance(found, str | bytes | dict | set)
    if not listed or getattr(found, "ndim", 1) != 1:
        raise InvalidInput(f"log[{shown(name)}] = {shown(found)} is not one column; rename it")
    as_list = next((getattr(found, how) for how in ("to_pylist", "tolist", "to_list")
                    if hasattr(found, how)), lambda: list(found))  # fmt: skip
    values = [None if _missing(value) else value for value in as_list()]
    kind = str(getattr(found, "dtype", "")).lower()
    if kind in ("float32", "float16"):  # each stands for its own shortest decimal
        short = np.float32 if kind == "float32" else np.float16
        values = [None if value is None else float(str(short(value))) for value in values]
    return values


def _missing(value: Any) -> bool:
    if value is None or type(value).__name__ in _NAMED_GAPS:
        return True
    return isinstance(value, float | np.floating | Decimal) and bool(value != value)


def row_place(row: int) -> str:
    """Where a row is in what has no lines, rows counted from 0.

    >>> row_place(0)
    'row 1'
    """
    return f"row {row + 1}"


def teach(
    policy: Any,
    log: Any,
    columns: Columns,
    within: tuple[Decimal, Decimal] | None,
    scaled: Callable[[Decimal], float],
) -> int:
    """Tell a policy each row of a log, in order; returns how many there were.

    ``within``: the range of the rewards; ``scaled``: the reward as the policy learns it. Raises
    InvalidInput, which names the first row that cannot be learned, and changes nothing then.
    """
    kind = type(policy).__name__
    if getattr(policy, "semi_bandit", False) or not getattr(policy, "numbered", True):
        raise InvalidInput(
            f"{kind} cannot learn a log: its actions are not single arms, so no column names them; "
            "call update for each"
        )
    rows = [*_rows(policy, as_table(log), columns, within)]
    before = copy.deepcopy(policy.state())
    row = 0
    try:
        for row, (arm, reward, context) in enumerate(rows):  # noqa: B007
            policy.update(arm, scaled(reward), context)
        if callable(turns := getattr(policy, "pass_turns", None)):
            turns(len(rows))
    except BaseException as error:
        policy.restore(before)
        if isinstance(error, InvalidInput):
            raise InvalidInput(f"{row_place(row)} of log: {error}") from None
        raise
    return len(rows)


def _rows(
    policy: Any, log: Any, columns: Columns, within: tuple[Decimal, Decimal] | None
) -> Iterator[tuple[int, Decimal, Any]]:
    """The arm's number, the reward and the context of each row, all of them checked."""
    rewards = column(log, columns.reward)
    loose = getattr(policy, "n_arms", None) is None  # a row of features is what was played
    contexts = _contexts(log, columns.context, loose)
    if loose and isinstance(columns.context, str | None):
        raise InvalidInput(
            f"{type(policy).__name__} plays the rows of each context: name the columns of the "
            "features of what was played, learn(log, context=['age', 'price'])"
        )
    arms = [None] * len(rewards) if loose else column(log, columns.arm)
    given = [arms, rewards] if contexts is None else [arms, rewards, contexts]
    if len({*map(len, given)}) > 1:
        raise InvalidInput(f"log has columns of {[*map(len, given)]} rows; give as many in each")
    labels: Any = () if loose else getattr(policy, "arms", None)
    labels = range(policy.n_arms) if labels is None else labels
    numbers = {label: number for number, label in enumerate(labels)}
    for row, (label, value) in enumerate(zip(arms, rewards, strict=True)):
        number = 0 if loose else _number(label, numbers, columns.arm, row)
        what = f"{shown(columns.reward)} in {row_place(row)} of log"
        if value is None:
            raise InvalidInput(f"{what} is missing; leave that row out, or fill it")
        reward = exact(value, what)
        if within is not None and not within[0] <= reward <= within[1]:
            raise InvalidInput(
                f"{what} is {shown(value)}, outside ({within[0]}, {within[1]}); an agent's "
                "learn(log) takes what is within its floor's range"
            )
        yield number, reward, None if contexts is None else contexts[row]


def _number(label: Any, numbers: dict[Any, int], name: str, row: int) -> int:
    # True == 1, but no arm is called so.
    known = not isinstance(label, bool | np.bool_)
    try:
        if known and label in numbers:
            return numbers[label]
    except TypeError:  # a list, say
        pass
    what = "is missing" if label is None else f"is {shown(label)}"
    raise InvalidInput(
        f"{shown(name)} in {row_place(row)} of log {what}, and the arms are "
        f"{first_few([*numbers])}; leave out the rows of the default and of arms that are gone"
    )


def _contexts(log: Any, given: Any, loose: bool) -> Sequence[Any] | None:
    """Each row's context; ``loose``: as the one row of a table."""
    if given is None:
        return None
    if isinstance(given, str):
        return column(log, given)
    names = list(given) if isinstance(given, Iterable) else []
    columns = [column(log, name) for name in names]
    if not columns or len({*map(len, columns)}) > 1:
        raise InvalidInput(f"context = {shown(given)} must name columns, all of as many rows")
    found = []
    for row, cells in enumerate(zip(*columns, strict=True)):
        for name, cell in zip(names, cells, strict=True):
            if cell is None:
                raise InvalidInput(
                    f"{shown(name)} in {row_place(row)} of log is missing; leave that row out, or "
                    "fill it"
                )
            exact(cell, f"{shown(name)} in {row_place(row)} of log")
        found.append(np.array([cells] if loose else cells, dtype=float))
    return found
