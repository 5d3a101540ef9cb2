"""What is backtested: a log, its default, and how they are called."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from surefoot._exact import exact, first_few, shown
from surefoot._logs import row_place
from surefoot._types import Number
from surefoot.errors import InvalidInput
from surefoot.study.logs import flights, log


@dataclass(frozen=True, slots=True)
class Subject:
    """A log with its default; ``frame`` has ``arm`` and ``reward``.

    A column ``propensity`` says how probable each row's arm was when it was chosen, an array
    ``context`` what was known then.
    """

    frame: Any
    default: Any
    title: str
    source: str
    reward: str = "reward"
    """What is counted: "on-time flights", "EUR"."""
    play: str = "play"
    name: str = "log"
    """What its folder is called after."""
    alpha: float = 0.05
    """What its owner is willing to lose, unless said otherwise."""
    place: Callable[[int], str] = row_place
    """Where a row of the frame is in what it was read from."""
    known: Decimal | None = None
    """What the default is known to pay, where no row of the log is its own."""

    @property
    def has_propensities(self) -> bool:
        """Whether each row says how probable its arm was."""
        return "propensity" in getattr(self.frame, "columns", self.frame)


def built_in(name: str, default: str | None = None) -> Subject:
    """A built-in real case as the subject of a backtest; ``default`` replaces the incumbent.

    >>> subject = built_in("chicago")
    >>> subject.default, subject.reward
    ('UA', 'on-time flights')
    """
    case = flights.find(name)
    incumbent = case.default if default is None else default
    names = case.title, case.sentence, "on-time flights", "flight", name
    return Subject(flights.load(case), incumbent, *names, alpha=case.alpha)


def own(
    source: Any,
    default: Any,
    arm: str | None = None,
    reward: str | None = None,
    spelling: log.Spelling = log.USUAL,
    propensity: str | None = None,
    known: Number | None = None,
    unit: str | None = None,
    context: str | Iterable[str] | None = None,
) -> Subject:
    """A log of one's own as the subject of a backtest: a path, a table, or what was read.

    ``default``: its label, as the log writes it or as its column holds it; with ``known``, what the
    default pays, it needs no rows. ``unit``: of a reward. Raises InvalidInput as ``log.read`` does,
    where no default is named, and where both its rows and ``known`` are there.
    """
    logged = log.read(source, arm, reward, spelling, propensity, context)
    frame, name = logged.frame, logged.name
    if default is None and known is None:
        arms = first_few(logged.arms, str)
        raise InvalidInput(
            f"name the default, the arm in use today, with default= (--default); {name} has {arms}"
        )
    label = "default" if default is None else default
    label = log.label(label, frame)
    value = None if known is None else exact(known, "default_value")
    if value is not None and label in set(frame["arm"]):
        raise InvalidInput(
            f"default = {shown(label)} has rows in the log and default_value = {shown(known)}; "
            "leave one out: the rows say what it pays"
        )
    title = name if len(name) <= 40 else f"{name[:39]}…"
    source_is = ", ".join((f"{name}, {len(frame):,} rows", *logged.notes)) + "."
    stem = Path(name.removesuffix(".gz").removesuffix(".zst")).stem
    return Subject(
        frame, label, title, source_is, unit or "reward", name=stem, place=logged.place, known=value
    )
