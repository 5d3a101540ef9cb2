"""What a benchmark answers to ``--help``: its own docstring, before anything is measured."""

from __future__ import annotations

import sys


def explain(doc: str | None) -> None:
    """Print the docstring and end, if that is what the command line asks for."""
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.stdout.write(doc or "")
        raise SystemExit
