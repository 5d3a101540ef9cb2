"""What all commands have in common: options are given once, and what fails is said in one way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand

from surefoot.cli._terminal import echo
from surefoot.errors import InvalidInput

F = TypeVar("F", bound=Callable[..., Any])

Seed = Annotated[int, typer.Option(help="Equal seeds give equal numbers.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace what other settings left in the folder.")
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="Threads; no number depends on them. Default: one a core."),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the summary as JSON on stdout, no table.")
]


class PolicyName(StrEnum):
    """The policies that a backtest and a plan can guard."""

    KLUCB = "klucb"
    UCB1 = "ucb1"


class Once(TyperCommand):
    """A command that refuses an option given twice, of which the last would win in silence."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of the command line."""
        args = self._each_by_itself(args)
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for option, times in Counter(order).items():
            flag = getattr(option, "is_flag", False)  # twice the same says nothing else than once
            if times > 1 and option.param_type_name == "option" and not (option.multiple or flag):
                name = max(option.opts, key=len)
                raise InvalidInput(f"{name} is given {times} times and takes one value; give one")
        return super().parse_args(ctx, args)

    def _each_by_itself(self, args: list[str]) -> list[str]:
        """``--alphas .01 .02`` as ``--alphas .01 --alphas .02``: numbers behind such an option."""
        several = {
            name
            for option in self.params
            if getattr(option, "multiple", False)
            for name in option.opts
        }
        spelled: list[str] = []
        current = None
        for word in args:
            if current is not None and _is_number(spelled[-1]) and _is_number(word):
                spelled.append(current)
            elif word.startswith("--"):
                current = word if word in several else None
            elif not _is_number(word):
                current = None
            spelled.append(word)
        return spelled


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


class Commands(typer.Typer):
    """A group of such commands."""

    def command(self, *args: Any, **extra: Any) -> Callable[[F], F]:
        """Add a command, as ``typer.Typer.command`` does."""
        return super().command(*args, **{"cls": Once, **extra})


def reason(error: Exception) -> str:
    """What went wrong; of an error of the system, its reason and the file."""
    why, where = getattr(error, "strerror", None), getattr(error, "filename", None)
    return f"{why}: {where}" if why and where else str(why or error)


def help_of_group(said: str) -> Callable[[typer.Context], None]:
    """The callback of a group that shows its help where no command is given."""

    def group(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            echo(context.get_help())

    group.__doc__ = said
    return group
