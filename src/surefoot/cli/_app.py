"""The command ``surefoot``: its groups, its version, and errors of one line each."""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import suppress
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

import surefoot
from surefoot._redact import redacted
from surefoot.cli import _compare, _ledger, _plan, _replay, _study, _warmup
from surefoot.cli._commands import Commands, reason
from surefoot.cli._terminal import Unwritten, echo, legible, telling
from surefoot.errors import InvalidInput, SurefootError

_TRACEBACK = "SUREFOOT_TRACEBACK"
"""The variable of the environment that asks for the traceback of an error."""


class OneLine(TyperGroup):
    """A group whose expected errors are one line on stderr each, never a traceback.

    Exit codes: 2 for what was asked wrongly, 1 for what went wrong, 70 for a fault of ours, 74
    for output that cannot be written, 130 after Ctrl-C, 141 where whoever read it closed the pipe.
    ``SUREFOOT_TRACEBACK=1`` in the environment shows where it came from.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run a command, whose output is written once this returns."""
        try:
            result = super().invoke(ctx)
            if sys.stdout is not None:
                with telling():
                    sys.stdout.flush()
        except (BrokenPipeError, SystemExit) as error:  # rich makes the one into the other
            if not any(isinstance(one, BrokenPipeError) for one in (error, error.__context__)):
                raise
            # The exit code must not report a verdict that was never shown.
            _drop_output()
            raise typer.Exit(141) from None
        return result

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command and leave with its exit code."""
        with legible():
            self._main(*args, **extra)

    def _main(self, *args: Any, **extra: Any) -> NoReturn:
        extra["standalone_mode"] = False
        try:
            code = super().main(*args, **extra)
        except typer.TyperException as error:
            _fail(_reworded(error), error.exit_code)
        except InvalidInput as error:
            _fail(str(error), 2)
        except SurefootError as error:
            _fail(str(error), 1)
        except Unwritten as error:
            _drop_output()
            _fail(f"{error.strerror}", 74)
        except OSError as error:
            _fail(reason(error), 1)
        except Exception as error:  # noqa: BLE001  # a bug is one line as well, and says so
            _fail(f"this is a fault of surefoot: {error!r}; {_TRACEBACK}=1 shows where", 70)
        sys.exit(code)


def _drop_output() -> None:
    """Let what stdout still holds go nowhere: a flush at the end would fail on it once more."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _reworded(error: typer.TyperException) -> str:
    """The message of a wrong option; where it is pydantic's, in our words and with the value."""
    cause, said = error.__cause__, error.format_message()
    if not (isinstance(cause, ValueError) and hasattr(cause, "errors")):
        return said
    fault = cause.errors()[0]
    if fault["type"] == "value_error":
        return said.replace("Value error, ", "")
    from surefoot.study.panel import must

    where = said.split(": ")[0].removeprefix("Invalid value for ").replace("' / '", "/").strip("'")
    given = str(fault["input"])
    point = "" if given.count(",") != 1 else f"; {given.replace(',', '.')} has a decimal point"
    return f"{where} = {given} {must(fault)}{point if 'number' in must(fault) else ''}"


def _fail(message: str, code: int) -> NoReturn:
    if os.environ.get(_TRACEBACK):
        traceback.print_exc()
    echo(f"error: {redacted(' '.join(message.split()))}", err=True)
    sys.exit(code)


app = Commands(
    name="surefoot", cls=OneLine, add_completion=False, pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
app.add_typer(_study.app, name="study")
app.add_typer(_ledger.app, name="ledger")
app.command(help=_replay.HELP)(_replay.replay)
app.command(help=_plan.HELP)(_plan.plan)
app.command()(_compare.compare)
app.command()(_warmup.warmup)
app.command()(_ledger.verify)
app.command()(_ledger.status)


def _version(asked: bool) -> None:
    if asked:
        echo(f"surefoot {surefoot.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Tell the version.")
    ] = False,
) -> None:
    """Make any bandit policy conservative: the reward received never falls below a floor.

    Start with the paper's main figure, which takes some seconds:

        surefoot study cmab
    """
    if context.invoked_subcommand is None:
        echo(context.get_help())


def main() -> None:
    """Run the command line."""
    app()
