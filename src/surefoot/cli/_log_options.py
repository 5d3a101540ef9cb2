"""How the command line reads a log: the options that ``replay`` and ``plan`` share."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.errors import InvalidInput

if TYPE_CHECKING:
    from surefoot.study.logs.subject import Subject

_TABS = {"tab": "\t", "\\t": "\t"}

ArmColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Column of the arms. Default: arm; of dsjson the action's tag."
    ),
]
RewardColumn = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Column of the rewards. Default: reward; _label_cost."),
]
PropensityColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Column of the probabilities with which the arms were chosen. Default: none; of "
        "dsjson its own.",
    ),
]
ContextColumns = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Columns of numbers that describe each play, separated by commas; for --mode "
        "rejection.",
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="MARK",
        help="What separates the columns of a CSV. Default: comma, semicolon, tab or bar, as it "
        "fits; tab is also a MARK.",
    ),
]
DecimalMark = Annotated[
    str | None,
    typer.Option("--decimal", metavar="MARK", help="Decimal mark of rewards. Default: a point."),
]
Words = Annotated[
    tuple[str, str] | None,
    typer.Option(
        metavar="YES NO", help="Words for a reward of 1 and of 0, besides true and false."
    ),
]
Missing = Annotated[
    float | None,
    typer.Option(
        metavar="REWARD", help="Reward of a row that has none. Default: such a row is an error."
    ),
]
WorstCost = Annotated[
    float | None,
    typer.Option(
        metavar="COST",
        help="The rewards are costs, of which this is the highest there can be; a reward is that "
        "less the cost. Default, of dsjson: 0.",
    ),
]
DefaultValue = Annotated[
    float | None,
    typer.Option(
        metavar="REWARD", help="What the default pays, where no row of the log is its own."
    ),
]
Unit = Annotated[
    str | None, typer.Option(metavar="WORD", help="What a reward is counted in: EUR, clicks.")
]


def given(**options: Any) -> dict[str, Any]:
    """The options that a log is read by, under the names that one types.

    >>> given(arm_column="ad", missing=None)
    {'--arm-column': 'ad', '--missing': None}
    """
    return {f"--{name.replace('_', '-')}": value for name, value in options.items()}


def subject_of(file: Path, default: str | None, options: dict[str, Any]) -> Subject:
    """The log of one's own as it is to be replayed."""
    from surefoot.study.logs.log import USUAL, Spelling, read
    from surefoot.study.logs.subject import own

    mark = options["--delimiter"]
    spelling = Spelling(
        _TABS.get(mark, mark), options["--decimal"] or USUAL.decimal,
        options["--words"] or USUAL.words, options["--missing"], options["--worst-cost"],
    )  # fmt: skip
    names = options["--context-columns"]
    log = read(
        file, options["--arm-column"], options["--reward-column"], spelling,
        options["--propensity-column"], None if names is None else names.split(","),
    )  # fmt: skip
    return own(log, default, known=options["--default-value"], unit=options.get("--unit"))


def subject_or_case(
    file: Path | None, default: str | None, case: str | None, options: dict[str, Any]
) -> Subject:
    """The log of one's own, or a built-in one, which is read one way."""
    from surefoot.study.logs.subject import built_in

    if file is not None:
        if case is not None:
            raise InvalidInput(f"--case {case} and {file} exclude each other; give one")
        return subject_of(file, default, options)
    for option, value in options.items():
        if value is not None:
            said = " ".join(map(str, value)) if isinstance(value, tuple) else value
            raise InvalidInput(f"{option} {said} is for a log of your own; give the FILE")
    return built_in(case or "chicago", default)


def typed(options: dict[str, Any]) -> str:
    """The options that were given, as one types them in a shell.

    >>> typed({"--arm-column": "the ad", "--words": ("yes", "no"), "--missing": None})
    " --arm-column 'the ad' --words yes no"
    """
    words = []
    for option, value in options.items():
        if value is not None:
            words += [option, *map(str, value if isinstance(value, tuple) else (value,))]
    return "".join(f" {word}" for word in map(shlex.quote, words))
