"""Runs what a page of documentation shows, top to bottom, as a reader would.

A Python block is a doctest if it has prompts and a program if not; the blocks of a page share
their names. In a console block each line after `$ ` is a command of ours, run in this process;
what follows is its output, or nothing. A block whose first line is a comment with the name of a
file, as `# shop.toml`, is that file. A block of any other language has to be named here.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from unittest import mock

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```[^\S\n]*$", re.MULTILINE | re.DOTALL)
ONLY_SHOWN = {"text", "sh", "json"}
FILE = re.compile(r"# (\w+\.(?:toml|py))\n")
ANSI = re.compile(r"\x1b\[[0-9;]*m")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    """A fenced block and the line of its first line, counted from 0."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for fence in FENCE.finditer(text):
        yield Block(fence[1].strip(), fence[2], text.count("\n", 0, fence.start(2)))


def run(page: Path) -> int:
    """Run every block of a page; returns how many there were to run."""
    names: dict[str, object] = {"__name__": page.stem}
    ran = 0
    for block in blocks(page):
        if named := FILE.match(block.text):
            Path(named[1]).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            python(page, block, names)
        elif block.language == "console":
            console(page, block)
        elif block.language in ONLY_SHOWN or block.language.startswith("{"):
            continue
        else:
            raise AssertionError(f"{page}:{block.line}: cannot run a block of {block.language!r}")
        ran += 1
    return ran


def python(page: Path, block: Block, names: dict[str, object]) -> None:
    if ">>> " not in block.text:
        exec(compile("\n" * block.line + block.text, str(page), "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line)
    report = io.StringIO()
    runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
    runner.run(test, out=report.write, clear_globs=False)
    names.update(test.globs)
    assert not report.getvalue(), report.getvalue()


def console(page: Path, block: Block) -> None:
    for shown in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, expected = shown.partition("\n")
        printed = command(line)
        if expected.strip():
            same = doctest.OutputChecker().check_output(expected, printed, FLAGS)
            assert same, f"{page}:{block.line}: {line} printed\n{printed}"


def command(line: str) -> str:
    """What `surefoot ...` prints on a terminal 80 columns wide; fails if it fails."""
    from surefoot.cli import app

    program, *arguments = shlex.split(line.removeprefix("uv run "))
    assert program == "surefoot", f"cannot run {line!r}"
    printed, complaints = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, COLUMNS="80", NO_COLOR="1"),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(complaints),
    ):
        code = ended(lambda: app(arguments, prog_name=program))
    assert not code, f"{line} ended with {code}: {complaints.getvalue()}"
    return "\n".join(row.rstrip() for row in ANSI.sub("", printed.getvalue()).splitlines())


def ended(program: Callable[[], None]) -> object:
    """The exit code of a program."""
    try:
        program()
    except SystemExit as stop:
        return stop.code
    return 0


def renew(page: Path) -> None:
    """Write what the `--help` commands of a page print now under each of them."""

    def renewed(fence: re.Match[str]) -> str:
        line = fence[2].splitlines()[0].removeprefix("$ ")
        if fence[1] != "console" or not line.endswith("--help"):
            return fence[0]
        return f"```console\n$ {line}\n{command(line).strip()}\n```"

    text = page.read_text(encoding="utf-8")
    page.write_text(FENCE.sub(renewed, text), encoding="utf-8")


if __name__ == "__main__":  # after a change of the command line: uv run tests/snippets.py PAGE
    renew(Path(sys.argv[1]))
