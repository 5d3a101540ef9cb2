"""``surefoot verify``, ``status`` and ``ledger``: what a ledger says, and whether it holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from surefoot.live.monitor import Monitors
    from surefoot.live.store import Store

app = typer.Typer(no_args_is_help=True, help="Write a ledger to a file.")

Ledger = Annotated[
    str, typer.Argument(help="An export, a SQLite file, or postgresql://user@host:port/database.")
]
Head = Annotated[
    str | None, typer.Option(metavar="HEX", help="A hash that you kept: HEX, or SEQ:HEX.")
]
Account = Annotated[
    str | None, typer.Option(metavar="NAME", help="Which account. Default: the only one there is.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the report as JSON on stdout.")]
Out = Annotated[Path, typer.Option(help="The file to write.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")]


def verify(
    ledger: Ledger, head: Head = None, account: Account = None, as_json: AsJson = False
) -> None:
    """Re-prove a ledger: chain, amounts, totals, and the promise itself.

    Reads every entry with a verifier of its own, which shares no code with
    what wrote the ledger, and derives the promise again from the outcomes
    alone. Prints one line; each problem is one more, with its entry. Exit
    code 1 if there is one: an edit, a gap, a swap, a broken chain, an event
    that cannot be, a total that is off, a promise missed, or a reward below
    its declared range, which the promise rules out.

    A missing tail, or a ledger written anew from some entry on, shows only
    against a head that you kept elsewhere: the last word of the line.

    Examples:

      surefoot verify experiment.db
      surefoot verify experiment.ndjson --head 1204331:9f3c...
    """
    from surefoot.verifier import sentence

    report = _report(ledger, account, head)
    typer.echo(json.dumps(report) if as_json else sentence(report))
    if not report["ok"]:
        raise typer.Exit(1)


def status(ledger: Ledger, account: Account = None, as_json: AsJson = False) -> None:
    """Where an account stands: what was posted, is held, and may be lost.

    Reads the whole ledger and re-proves it on the way; the exit code is 0
    even where that fails, and the table says so. One line for each
    experiment says whether the rewards told with its default plays bear out
    the default's declared value, or fall below it; a false alarm has a
    chance of 1 %.
    """
    from surefoot.live.monitor import Monitors

    monitors = Monitors()
    report = _report(ledger, account, monitors=monitors)
    report["defaults"] = {name: said.plain() for name, said in monitors.reports().items()}
    typer.echo(json.dumps(report)) if as_json else _show(report, monitors)


@app.command()
def export(ledger: Ledger, out: Out, account: Account = None, overwrite: Overwrite = False) -> None:
    """Write all entries of an account to a file, one line of JSON each.

    The file is what `surefoot verify` reads, here or with nothing but
    Python: `python verifier.py FILE`. Keep the head it prints elsewhere.
    """
    from surefoot.errors import InvalidInput

    if out.is_dir() or not out.parent.is_dir():
        raise InvalidInput(f"out = {out} must name a file in a folder that exists")
    if out.exists() and not overwrite:
        raise InvalidInput(f"out = {out} exists; pass --overwrite to replace it")
    if _written(ledger):
        raise InvalidInput(f"ledger = {ledger} is no store; give a SQLite file or a postgresql URL")
    draft = out.with_name(f"{out.name}.tmp")
    try:
        with _lines(ledger, account) as lines, draft.open("wb") as file:
            for line in lines:
                file.write(line)
        draft.replace(out)
    finally:
        draft.unlink(missing_ok=True)
    last = json.loads(line)
    typer.echo(f"{last.get('seq', 0):,} entries are in {out}")
    if "seq" in last:
        typer.echo(f"head {last['seq']}:{last['hash']}")


def _report(
    ledger: str,
    account: str | None,
    head: str | None = None,
    monitors: Monitors | None = None,
) -> dict[str, Any]:
    """What the verifier finds; what is no ledger is InvalidInput."""
    from surefoot import verifier
    from surefoot.errors import InvalidInput

    with _lines(ledger, account) as lines:
        try:
            return verifier.verify(lines if monitors is None else _heard(lines, monitors), head)
        except verifier.Unusable as error:
            raise InvalidInput(f"{ledger}: {error}") from None


def _written(ledger: str) -> Path | None:
    """The path of a ledger that is an export, or may be one; None if it is a store."""
    from surefoot.errors import InvalidInput

    if "://" in ledger:
        return None
    path = Path(ledger)
    if not path.is_file():
        raise InvalidInput(f"ledger = {ledger} is no file; give an export or a SQLite file")
    with path.open("rb") as file:
        return None if file.read(16) == b"SQLite format 3\0" else path


@contextmanager
def _lines(ledger: str, account: str | None) -> Iterator[Iterator[bytes]]:
    """The lines of an export: those of a file, or those that a store's would have."""
    from surefoot.errors import InvalidInput
    from surefoot.verifier import LONGEST

    if (path := _written(ledger)) is None:
        from surefoot.live.store import open_store

        with open_store(ledger) as store:
            yield _exported(store, _account(store, account, ledger))
    elif account is not None:
        raise InvalidInput(f"--account {account}: {ledger} is an export, which has only one")
    else:
        with path.open("rb") as file:
            yield iter(lambda: file.readline(LONGEST), b"")


def _account(store: Store, account: str | None, ledger: str) -> str:
    """The account that was asked for, or the only one."""
    from surefoot.errors import InvalidInput

    names = store.accounts()
    if account is None and len(names) == 1:
        return names[0]
    if account not in names:
        there = ", ".join(names) or "none"
        asked = "" if account is None else f" {account!r}"
        raise InvalidInput(f"{ledger}: which account{asked}? Pass --account NAME; it has {there}")
    assert account is not None
    return account


def _exported(store: Store, account: str) -> Iterator[bytes]:
    from surefoot.live.entries import exported

    return exported(account, store.account(account).places, store.entries(account))


def _heard(lines: Iterator[bytes], monitors: Monitors) -> Iterator[bytes]:
    """The same lines; the monitors take in each entry once the verifier has found it good."""
    from surefoot.live.entries import parse

    yield from islice(lines, 1)
    for line in lines:
        yield line
        monitors.take(parse(line.decode()))


def _show(report: dict[str, Any], monitors: Monitors) -> None:
    from decimal import Decimal

    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False)
    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for name in ("entries", "decisions", "explorations", "open", "breaches"):
        table.add_row(name, f"{report[name]:,}")
    for name in ("posted", "held", "reserve", "available", "minimum_slack"):
        amount = Decimal(report[name]).scaleb(-report["unit_places"])
        table.add_row(name.replace("_", " "), f"{amount:,f}")
    console.print(f"account {report['account']}", style="bold")
    console.print(table)
    for name, said in monitors.reports().items():
        of = "" if len(monitors.reports()) == 1 else f" of {name}"
        console.print(f"default{of}: {said}", soft_wrap=True)
    console.print(f"head {report['entries']}:{report['head']}", soft_wrap=True)
    for problem in report["problems"] or ["verified: the promise holds at every moment"]:
        console.print(problem, soft_wrap=True)
