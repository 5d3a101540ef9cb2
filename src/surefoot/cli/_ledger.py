"""``surefoot verify``, ``status`` and ``ledger``: what a ledger says, and whether it holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot._files import checked_path, replacing
from surefoot._redact import redacted
from surefoot._types import JsonObject
from surefoot.cli._commands import Commands, help_of_group, reason
from surefoot.cli._terminal import Unwritten, echo, telling
from surefoot.errors import DamagedFile, InvalidInput, SurefootError

if TYPE_CHECKING:
    from rich.padding import Padding

    from surefoot.live.entries import Entry
    from surefoot.live.monitor import DefaultReport
    from surefoot.live.rows import Derived
    from surefoot.live.store import Store
    from surefoot.live.store.database import Moment

app = Commands()

_DELTA = Fraction(1, 20)
"""With which probability an interval may fail."""
_NEITHER = "neither a SQLite ledger nor an export of `surefoot ledger export`"
_OF_SQLITE = ("", "-wal", "-shm", "-journal")
"""How the files of a SQLite ledger end."""

Ledger = Annotated[
    str, typer.Argument(help="An export, a SQLite file, or postgresql://user@host:port/database.")
]
Kept = Annotated[
    str, typer.Argument(help="A SQLite file, or postgresql://user@host:port/database.")
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
    alone. Prints one line, one more for each problem, with its entry, and
    the verdict. Exit code 1 if there is a problem: an edit, a gap, a swap, a
    broken chain, an event that cannot be, a total that is off, a promise
    missed, or a reward below its declared range, which the promise rules
    out. Exit code 2 if nothing can be said: the ledger cannot be reached or
    read. Of a database also a row of the account, a play or a lease that is
    not what the entries say, or is missing: ids are answered by these.

    A missing tail, or a ledger written anew from some entry on, shows only
    against a head that you kept elsewhere: the last word of the first line.

    Examples:

      surefoot verify experiment.db
      surefoot verify experiment.ndjson --head 1204331:9f3c...
    """
    from surefoot.verifier import sentence

    with _no_verdict():
        report = _report(ledger, account, head)
        echo(json.dumps(report) if as_json else sentence(report))
    if not report["ok"]:
        raise typer.Exit(1)


def status(ledger: Ledger, account: Account = None, as_json: AsJson = False) -> None:
    """Where an account stands: what was posted, is held, and may be lost.

    Reads the whole ledger and re-proves it on the way; the exit code is 0
    even where that fails, and the last line says so. A table for each
    experiment has its floor, what its plays earned and had to earn, and how
    many there are, and says where it cannot explore before there is a
    reserve; those whose reward was capped or not the default's value
    where there are any; PAUSED and SHADOW say that it does not explore. One
    line more says whether the rewards reported with its default plays bear out
    the default's declared value, or fall below it; a false alarm has a chance
    of 1 %.

    A table of the arms says of each how many plays it had and how many of
    them are open, the mean of what was told, its share of the last 1,000
    plays, and the interval that holds its mean with 95 % at every moment;
    where there is none, why. Of an experiment with a holdout one line more
    says what it brought per play over that.
    """
    counts = _Counts()
    report = _report(ledger, account, counts=counts)
    standings, said = counts.standings, counts.monitors.reports()
    evidence = counts.evidences.plain(_DELTA)
    none = {"arms": None, "uplift": None}
    report["experiments"] = {
        name: of | evidence.get(name, none) for name, of in standings.of.items()
    }
    report["leases"] = standings.leases
    report["defaults"] = {name: each.plain() for name, each in said.items()}
    report["uncounted"] = counts.trouble
    echo(json.dumps(_decimals(report))) if as_json else _show(report, said)


app.callback(invoke_without_command=True)(help_of_group("Write a ledger to a file."))


@app.command()
def export(ledger: Kept, out: Out, account: Account = None, overwrite: Overwrite = False) -> None:
    """Write all entries of an account to a file, one line of JSON each.

    The file is what `surefoot verify` reads, here or with nothing but
    Python: `python verifier.py FILE`. Keep the head it prints elsewhere.
    """
    from surefoot.study.files import claim

    if out.is_dir() or not out.parent.is_dir():
        raise InvalidInput(f"out = {out} must name a file in a folder that exists")
    if str(out) == "-" or _is_stream(out):
        raise InvalidInput(
            f"out = {out} is a stream or a device, which no file can take the place of; name a file"
        )
    claim(out.parent, [out.name], overwrite=overwrite)
    if _written(ledger):
        raise InvalidInput(
            f"ledger = {ledger} is no SQLite file; give one, or a postgresql URL: an export is "
            "written from these alone"
        )
    if out.resolve() in {Path(f"{ledger}{end}").resolve() for end in _OF_SQLITE}:
        raise InvalidInput(f"out = {out} is the ledger itself; name another file")
    with (
        _lines(ledger, account, rows=False) as (lines, _),
        replacing(out) as draft,
        draft.open("wb") as file,
    ):
        for line in lines:
            file.write(line)
    last = json.loads(line)
    echo(f"{last.get('seq', 0):,} entries are in {out}")
    if "seq" in last:
        echo(f"head {last['seq']}:{last['hash']}")


def _is_stream(path: Path) -> bool:
    """Whether a path is not a file, or leads to one only through an open file descriptor."""
    opened = path.is_symlink() and str(path.readlink()).startswith("/proc/")
    return (
        opened
        or "/proc" in map(str, path.parent.resolve().parents)
        or (path.exists() and not path.is_file())
    )


@contextmanager
def _no_verdict() -> Iterator[None]:
    """Keep the code of "does not hold" from what could not be read or written."""
    try:
        yield
    except (BrokenPipeError, Unwritten):
        raise
    except (OSError, SurefootError) as error:
        raise InvalidInput(reason(error)) from error


def _report(
    ledger: str,
    account: str | None,
    head: str | None = None,
    counts: _Counts | None = None,
) -> JsonObject:
    """What the verifier finds; InvalidInput for anything but a ledger."""
    from surefoot import verifier

    with _lines(ledger, account) as (lines, unlike):
        try:
            report = verifier.verify(counts.heard(lines) if counts else lines, head)
        except verifier.Unusable as error:
            if isinstance(error.__context__, (json.JSONDecodeError, UnicodeError)):
                raise InvalidInput(f"{redacted(ledger)} is {_NEITHER}") from None
            raise InvalidInput(f"{redacted(ledger)}: {error}") from None
        if wrong := unlike():
            report |= {
                "ok": False,
                "problems": report["problems"] + wrong,
                "verdict": verifier.FAILED,
            }
        return report


def _written(ledger: str) -> Path | None:
    """The path of a ledger that is an export, or may be one; None if it is a store."""
    if "://" in ledger:
        return None
    path = checked_path(ledger, "ledger")
    if not path.is_file():
        raise InvalidInput(f"ledger = {redacted(ledger)} is no file and no postgresql URL")
    with path.open("rb") as file:
        return None if file.read(16) == b"SQLite format 3\0" else path


@contextmanager
def _lines(
    ledger: str, account: str | None, rows: bool = True
) -> Iterator[tuple[Iterator[bytes], Callable[[], list[str]]]]:
    """The lines of an export: those of a file, or those that a store's would have.

    Also what may be asked once they were read, unless not ``rows``: how a store's rows differ.
    """
    from surefoot.verifier import LONGEST

    if (path := _written(ledger)) is None:
        from surefoot.live.rows import Derived
        from surefoot.live.store import open_store

        try:
            store: Any = open_store(ledger, read_only=True)
        except DamagedFile as error:
            raise InvalidInput(str(error)) from None
        with store:
            name = _account(store, account, ledger)
            with store.moment(name) as moment, Derived() as derived:
                lines = exported_lines(moment, derived if rows else None)
                yield lines, lambda: _unlike(moment, derived, lines)
    elif account is not None:
        raise InvalidInput(f"--account {account}: {ledger} is an export, which has only one")
    else:
        with path.open("rb") as file:
            yield iter(lambda: file.readline(LONGEST), b""), list


def _account(store: Store, account: str | None, ledger: str) -> str:
    """The account that was asked for, or the only one."""
    names = store.accounts()
    if account is None and len(names) == 1:
        return names[0]
    if not names:
        raise InvalidInput(f"{redacted(ledger)} has no account yet; open a Live on it first")
    if account not in names:
        there = ", ".join(names)
        asked = "" if account is None else f" {account!r}"
        raise InvalidInput(
            f"{redacted(ledger)}: which account{asked}? Pass --account NAME; it has {there}"
        )
    assert account is not None
    return account


def exported_lines(moment: Moment, derived: Derived | None) -> Iterator[bytes]:
    """The lines of an export, each of whose entries is taken in before it is read."""
    from surefoot.live.entries import exported

    def heard() -> Iterator[Entry]:
        for entry in moment.entries():
            if derived is not None:
                derived.take(entry)
            yield entry

    return exported(moment.row.name, moment.row.places, heard())


def _unlike(moment: Moment, derived: Derived, lines: Iterator[bytes]) -> list[str]:
    """How the rows of a store differ from its entries, all of them, whatever the proof said."""
    for _ in lines:
        pass
    return derived.problems(moment.row, moment.plays(), moment.leases())


class _Counts:
    """What a status counts beside the proof; what cannot be read ends the counts, not the proof."""

    def __init__(self) -> None:
        from surefoot.live.evidence import Evidences
        from surefoot.live.monitor import Monitors
        from surefoot.live.standings import Standings

        self.monitors, self.standings, self.evidences = Monitors(), Standings(), Evidences()
        self.trouble: str | None = None

    def heard(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        """The same lines, which are counted once the verifier has asked for the next."""
        yield from islice(lines, 1)
        for line in lines:
            yield line
            self._take(line)

    def _take(self, line: bytes) -> None:
        from surefoot.live.entries import parse

        if self.trouble is not None:
            return
        try:
            entry = parse(line.decode())
            self.monitors.take(entry)
            self.standings.take(entry)
            self.evidences.take(entry)
        except InvalidInput as error:
            self.trouble = f"not counted from there on: {error}"


@telling()
def _show(report: JsonObject, defaults: dict[str, DefaultReport]) -> None:
    from rich.console import Console

    from surefoot.cli._arms import show_arms

    console = Console(highlight=False, markup=False)
    console.print(f"account {report['account']}", style="bold")
    console.print(_account_table(report))
    for name, standing in report["experiments"].items():
        modes = "".join(f", {mode.upper()}" for mode in ("paused", "shadow") if standing[mode])
        console.print(f"experiment {name}{modes}", style="bold", soft_wrap=True)
        console.print(_experiment_table(standing, report["unit_places"]))
        if report["available"] < standing["needed"]:
            console.print(_starved(standing, report["unit_places"]), soft_wrap=True)
        show_arms(console, standing["arms"], standing["uplift"])
    for name, said in defaults.items():
        of = "" if len(defaults) == 1 else f" of {name}"
        console.print(f"default{of}: {said}", soft_wrap=True)
    console.print(f"head {report['entries']}:{report['head']}", soft_wrap=True)
    trouble = [report["uncounted"]] if report["uncounted"] else []
    for line in (*trouble, *report["problems"], report["verdict"]):
        console.print(line, soft_wrap=True)


def _account_table(report: JsonObject) -> Padding:
    leases, places = report["leases"], report["unit_places"]
    amounts = {name: report[name] for name in ("posted", "held")}
    amounts |= {"held by leases": leases["held"]}
    amounts |= {name: report[name] for name in ("reserve", "available", "minimum_slack")}
    counts = {name: report[name] for name in ("entries", "decisions", "breaches", "violations")}
    counts |= {"live leases": leases["live"]}
    return _table({name: _amount(units, places) for name, units in amounts.items()}, counts)


def _experiment_table(standing: JsonObject, places: int) -> Padding:
    from surefoot.live.standings import COUNTED, NOTED

    default = standing["default"]
    if isinstance(default, list):
        default = " to ".join(default)
    said = {"default": default or "each play's own", "alpha": standing["alpha"]}
    said |= {"margin": standing["margin"]} if float(standing["margin"]) else {}
    said |= {name: _amount(standing[name], places) for name in ("earned", "required")}
    said |= {"learn_missing": "worst"} if standing["learn_missing"] == "worst" else {}
    names = (*COUNTED, *(name for name in NOTED if standing[name]))
    return _table(said, {name: standing[name] for name in names})


def _starved(standing: JsonObject, places: int) -> str:
    """What an experiment waits for whose default plays bring nothing."""
    return (
        "explores nothing: its default plays bring nothing, and no play can explore before "
        f"{_amount(standing['needed'], places)} are available; add to the reserve, or change alpha"
    )


def _amount(units: int, places: int, form: str = ",f") -> str:
    from decimal import Decimal

    return f"{Decimal(units).scaleb(-places):{form}}"


def _decimals(report: JsonObject) -> JsonObject:
    """A report whose amounts are decimal strings, as they are printed."""
    names = (
        "posted", "held", "reserve", "available", "minimum_slack", "earned", "required", "needed",
    )  # fmt: skip

    def plain(part: JsonObject) -> JsonObject:
        amounts = {name: part[name] for name in names if name in part}
        places = report["unit_places"]
        return part | {name: _amount(units, places, "f") for name, units in amounts.items()}

    of = {name: plain(each) for name, each in report["experiments"].items()}
    return plain(report) | {"experiments": of, "leases": plain(report["leases"])}


def _table(said: dict[str, str], counts: dict[str, int]) -> Padding:
    """Amounts on the left, counts on the right."""
    from rich.padding import Padding
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for number in range(4):
        table.add_column(justify="right" if number % 2 else "left", no_wrap=True)
    numbers = {name: f"{count:,}" for name, count in counts.items()}
    for left, right in zip_longest(said.items(), numbers.items(), fillvalue=("", "")):
        table.add_row(*(f"{cell}".replace("_", " ") for cell in (*left, *right)))
    return Padding(table, (0, 0, 1, 1), expand=False)
