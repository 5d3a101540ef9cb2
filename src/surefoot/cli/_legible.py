"""Words for whatever terminal there is: one that cannot print a character gets a likeness of it."""

from __future__ import annotations

import codecs
import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_ALIKE = {
    "\N{EN DASH}": "-", "\N{EM DASH}": "-", "\N{MINUS SIGN}": "-", "\N{MIDDLE DOT}": "-",
    "\N{BULLET}": "*", "\N{HORIZONTAL ELLIPSIS}": "...", "\N{MULTIPLICATION SIGN}": "x",
    "\N{PLUS-MINUS SIGN}": "+/-", "\N{NO-BREAK SPACE}": " ",
}  # fmt: skip
_NAME = "surefoot.legible"


def _legible(error: UnicodeError) -> tuple[str, int]:
    """A codec's way out: our own marks in ASCII, any other character by its number."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    said = error.object[error.start : error.end]
    spelled = (_ALIKE.get(one) or one.encode("ascii", "backslashreplace").decode() for one in said)
    return "".join(spelled), error.end


codecs.register_error(_NAME, _legible)


@contextmanager
def legible() -> Iterator[None]:
    """Let stdout and stderr print anything, and a warning be one line, until the block ends.

    >>> "\\N{MINUS SIGN}1 \\N{LATIN SMALL LETTER U WITH DIAERESIS}".encode("ascii", _NAME)
    b'-1 \\\\xfc'
    """
    changed = []
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            changed.append((stream, stream.errors))
            stream.reconfigure(errors=_NAME)
    before = warnings.showwarning
    warnings.showwarning = _told
    try:
        yield
    finally:
        warnings.showwarning = before
        for stream, errors in changed:
            if not stream.closed:
                stream.reconfigure(errors=errors)


class Unwritten(OSError):
    """What a command says cannot be written: its output, and no file that it works on."""


@contextmanager
def telling() -> Iterator[None]:
    """Name what fails in here as output that is not written; a closed pipe stays what it is."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Unwritten(error.errno, f"the output cannot be written: {error.strerror}") from error


def echo(message: str, *, err: bool = False) -> None:
    """Print a line in the encoding of its stream: typer's own sends UTF-8 where that is ASCII."""
    stream = sys.stderr if err else sys.stdout
    if stream is not None:  # as in a process without a terminal
        with telling():
            stream.write(f"{message}\n")
            stream.flush()


def _told(message: Warning | str, *_: Any, **__: Any) -> None:
    echo(f"warning: {' '.join(str(message).split())}", err=True)


def echo_json(text: str) -> None:
    """Print JSON as it is, or in ASCII where stdout cannot: either way it means the same."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(json.loads(text), indent=2)
    echo(text)
