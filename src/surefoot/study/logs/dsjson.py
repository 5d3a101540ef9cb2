"""A log of Vowpal Wabbit's decision service, dsjson: a decision a line, its cost and probability.

    reward = worst cost - cost,   the worst cost being 0 unless it is said

The field names are those that Vowpal Wabbit's parser reads and its reinforcement learning client
writes: ``_label_cost`` of the action taken; ``_label_probability``, that it was taken;
``_labelIndex`` in ``c._multi``, counted from 0, and ``_label_Action``, counted from 1; ``a``, the
actions in the order they were ranked, the first one taken; ``p``, their probabilities; ``pdrop``,
that a decision is left out of the log. Each is kept with probability p (1 - pdrop), which is what
weighting has to undo, so that is the propensity here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot._exact import shown
from surefoot.errors import InvalidInput
from surefoot.study.logs.columns import Place, Wanted, of_values
from surefoot.study.logs.json_lines import ABSENT, Line, find, found, objects

if TYPE_CHECKING:
    import polars as pl

MARKS = ("_label_cost", "_label_probability", "_labelIndex", "_label_Action")
"""A line with one of these is dsjson."""
COST, PROPENSITY = "_label_cost", "_label_probability"
_DANGLING = {"RewardValue", "EnqueuedTimeUtc"}
"""A line with these tells a reward that came too late to be joined with its decision."""
_REFUSED = {
    "_outcomes": "several decisions at once, slots; write a line for each",
    "_label_ca": "a continuous action; an arm is one of a few",
}


class _Row(NamedTuple):
    number: int
    arm: Any
    cost: Any
    propensity: Any
    context: list[Any]


def is_dsjson(value: dict[str, Any]) -> bool:
    """Whether an object is a line of such a log."""
    return not value.keys().isdisjoint(MARKS) or value.keys() >= _DANGLING


def read_dsjson(path: Path, wanted: Wanted) -> tuple[pl.DataFrame, Place, tuple[str, ...]]:
    """The columns arm, cost, propensity and context, the place of a row, and what was left out.

    ``wanted``: ``arm`` is a path in the object of the action taken, ``_tag`` where all have one,
    else its number, from 1; ``reward`` the key of the cost; ``context`` paths in ``c``.
    Raises InvalidInput where fields contradict each other.
    """
    import polars as pl

    rows: list[_Row] = []
    skipped = dangling = 0
    counts: dict[int, int] = {}
    for line in objects(path):
        if line.value.keys() >= _DANGLING and "c" not in line.value:
            dangling += 1
        elif found(line, "_skipLearn", path) is True:
            skipped += 1
        else:
            rows.append(_row(line, wanted, path))
            counts.setdefault(_actions(line.value), line.number)
    if not rows:
        raise InvalidInput(f"{path} holds no decision that was taken and learned from")
    if not all(isinstance(row.arm, str) for row in rows) and wanted.arm is None:
        rows = _numbered(rows, counts, path)

    def place(row: int) -> str:
        return f"line {rows[row].number} of {path}"

    cost, features = wanted.reward or COST, wanted.context
    columns = [
        of_values([row.arm for row in rows], wanted.arm or "arm", place).alias("arm"),
        of_values([row.cost for row in rows], cost, place).alias("reward"),
        of_values([row.propensity for row in rows], PROPENSITY, place),
        *(
            of_values([row.context[i] for row in rows], name, place)
            for i, name in enumerate(features)
        ),
    ]
    notes = [
        f"{count:,} lines of {path.name} {what} are left out"
        for count, what in ((skipped, "marked _skipLearn"), (dangling, "without a decision"))
        if count
    ]
    return pl.DataFrame(columns), place, tuple(notes)


def _row(line: Line, wanted: Wanted, path: Path) -> _Row:
    place = f"line {line.number} of {path}"
    for key, what in _REFUSED.items():
        if key in line.value:
            raise InvalidInput(f"{place} has {key!r}, {what}")
    for key in (*MARKS, "a", "p", "pdrop", "c"):
        found(line, key, path)  # refuses a key that is there twice
    index = _index(line.value, place)
    arm = _arm(line.value, index, wanted.arm, place)
    cost = found(line, wanted.reward or COST, path)
    context = line.value.get("c", {})
    cells = [find(context, [n] if isinstance(context, dict) and n in context else n.split("."))
             for n in wanted.context]  # fmt: skip
    for name, cell in zip(wanted.context, cells, strict=True):
        if cell is ABSENT:
            raise InvalidInput(
                f"{place} has no {shown(name)} in 'c'; choose with context= (--context-columns)"
            )
    return _Row(line.number, arm, None if cost is ABSENT else cost, _propensity(line.value, place),
                cells)  # fmt: skip


def _index(value: dict[str, Any], place: str) -> int:
    """Which action was taken, counted from 0; all that tell it must agree."""
    ranked = value.get("a")
    told = {
        "_labelIndex": value.get("_labelIndex"),
        "_label_Action": value.get("_label_Action"),
        "a": ranked[0] if isinstance(ranked, list) and ranked else None,
    }
    numbers = {}
    for key, number in told.items():
        if number is None:
            continue
        least = 0 if key == "_labelIndex" else 1
        if not isinstance(number, int) or isinstance(number, bool) or number < least:
            raise InvalidInput(
                f"{key!r} in {place} is {shown(number)}; an action is a number from {least} on"
            )
        numbers[key] = number - least
    if not numbers:
        raise InvalidInput(
            f"{place} does not say which action was taken; give '_labelIndex' or '_label_Action'"
        )
    if len({*numbers.values()}) > 1:
        said = ", ".join(f"{key!r} {told[key]}" for key in numbers)
        raise InvalidInput(
            f"{place} names different actions: {said}; '_labelIndex' counts from 0, the others "
            "from 1"
        )
    index = next(iter(numbers.values()))
    if (actions := _actions(value)) and index >= actions:
        raise InvalidInput(f"{place} took action {index + 1} of {actions}; mend '_labelIndex'")
    return index


def _actions(value: dict[str, Any]) -> int:
    """How many actions there were to take; 0 if a line does not say so."""
    context = value.get("c")
    multi = context.get("_multi") if isinstance(context, dict) else None
    for several in (multi, value.get("a")):
        if isinstance(several, list):
            return len(several)
    return 0


def _arm(value: dict[str, Any], index: int, name: str | None, place: str) -> Any:
    """What the action taken is called: at the named path, by its tag, else its number."""
    taken = find(value, ["c", "_multi", str(index)])
    if name is not None:
        label = find(
            taken, [name] if isinstance(taken, dict) and name in taken else name.split(".")
        )
        if label is ABSENT:
            raise InvalidInput(
                f"{place} has no {shown(name)} in the action taken; choose with arm= (--arm-column)"
            )
        return label
    tag = find(taken, ["_tag"])
    return tag if isinstance(tag, str) and tag else index + 1


def _numbered(rows: list[_Row], counts: dict[int, int], path: Path) -> list[_Row]:
    """Arms by number, which means the same everywhere only where all have as many actions."""
    if len(counts) > 1:
        (few, first), (many, second) = sorted(counts.items())[:2]
        raise InvalidInput(
            f"line {first} of {path} has {few} actions and line {second} has {many}, so a number "
            "is not one arm; name where an action is called by its name with arm= (--arm-column)"
        )
    for row in rows:
        if isinstance(row.arm, str):
            other = next(one for one in rows if not isinstance(one.arm, str))
            raise InvalidInput(
                f"line {row.number} of {path} has a '_tag' for its action and line {other.number} "
                "has none; give all of them one"
            )
    return rows


def _propensity(value: dict[str, Any], place: str) -> Any:
    """The probability that this action was taken and this line was kept; None if not told."""
    told = value.get(PROPENSITY)
    if told is None:
        listed = value.get("p")
        told = listed[0] if isinstance(listed, list) and listed else None
    dropped = value.get("pdrop", 0)
    if not _is_number(dropped) or not 0 <= dropped < 1:
        raise InvalidInput(
            f"'pdrop' in {place} is {shown(dropped)}; it is a probability below 1 that a line was "
            "left out"
        )
    if told is None or not dropped:
        return told
    if not _is_number(told):
        raise InvalidInput(f"{PROPENSITY!r} in {place} is {shown(told)}; it is a probability")
    return told * (1 - dropped)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
