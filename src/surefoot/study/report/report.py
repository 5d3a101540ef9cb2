"""The report of a study: one HTML file with all figures and tables, which needs nothing else.

No script, no font and no picture from elsewhere: it can be mailed, printed and read offline. What
it says of a panel is written as soon as it is known, and what stands above all panels last, so
that no more than one panel's part is held at a time.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from surefoot._drawing import style
from surefoot._drawing.inline import Drawn
from surefoot._drawing.numbers import MINUS
from surefoot._types import JsonObject
from surefoot.study.files import replacing
from surefoot.study.grids import called, shown
from surefoot.study.markup import (
    claims_table,
    document,
    facts,
    figure,
    footer,
    number,
    spread,
    table,
    verdict,
)
from surefoot.study.numbers import brief, counted, plain
from surefoot.study.panel import Panel, column
from surefoot.study.report.findings import RULES, UNDECIDED, found_of
from surefoot.study.verdict import EACH, tally

FIGURED = 30
"""Panels that have a figure each; of more, only their grids have."""
LISTED = 400
"""Panels that have a row of their own in the tables above; of more, ``summary.csv`` has all."""


class Page(NamedTuple):
    """What the report shows of a panel."""

    panel: Panel
    found: JsonObject
    """Its entry in ``summary.json``."""
    figures: list[Drawn]
    """None where the study has too many panels."""


_PAPER = """<p>The experiments of Du, Wang and Huang, “A One-Size-Fits-All Solution to Conservative
Bandit Problems” (AAAI 2021), done again with Surefoot. The paper prints no numbers and is silent on
the horizon and more: what was chosen by us stands with each figure. No number here is the
paper's.</p>"""
_NO_RIVAL = '<td class="none">no rival</td>'
_TITLE = "Conservative bandits: the study"
_INTERVALS = (
    "[a, b] is a 95 % interval of the mean over the runs, by the studentised bootstrap (of fewer "
    "than 10 runs by Student's t); a to b is the least and the most of all runs."
)


class Report:
    """A report that is being written; ``add`` the panels one by one, then ``finish``.

    Nothing is there under its name before it is whole.
    """

    def __init__(self, *, parts: bool = True) -> None:
        """``parts``: whether each panel has one of its own."""
        self._panels: list[Panel] = []
        self._parts = parts
        self._body = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._body.close()

    def add(self, page: Page) -> None:
        """The part of a panel."""
        self._panels.append(page.panel)
        if self._parts:
            self._body.write(_panel(page))

    def finish(self, path: Path, summary: JsonObject, grids: Sequence[tuple[str, Drawn]]) -> None:
        """Write the whole of it; ``grids``: titles and figures of the grids."""
        above = _above(self._panels, summary, grids)
        head, tail = document(_TITLE, "\0").split("\0")
        self._body.seek(0)
        with replacing(path) as scratch, scratch.open("w", encoding="utf-8") as file:
            file.write(f"{head}{above}\n")
            shutil.copyfileobj(self._body, file)
            file.write(_overview(self._panels, summary["panels"]))
            file.write(f"</main>{footer(summary['seed'], summary['versions'])}{tail}")


def _above(panels: Sequence[Panel], summary: JsonObject, grids: Sequence[tuple[str, Drawn]]) -> str:
    """Verdicts, settings, contents, and the tables over all panels."""
    entries = summary["panels"]
    ours = all(panel.entries is None for panel in panels)
    claims = _claims(panels, entries) if any(entry["claims"] for entry in entries) else ""
    drawn = "".join(
        f'<section id="grid-{number}"><h2>{escape(title)}</h2>{figure(one.pieces, one.caption, "")}'
        "</section>"
        for number, (title, one) in enumerate(grids)
    )
    return "\n".join(
        [
            f"<header><h1>{_TITLE}</h1>{_PAPER if ours else ''}</header>",
            _answers(entries),
            _missing(summary.get("missing", [])),
            _settings(panels, entries, summary),
            _contents(panels, entries, grids),
            f"<main>{claims}{drawn}",
        ]
    )


def _answers(entries: Sequence[JsonObject]) -> str:
    """What one wants to know first: who kept the floor, and what became of the claims."""
    held = [claim["holds"] for entry in entries for claim in entry["claims"]]
    said = []
    if held:
        said.append(
            f"<p><strong>The paper's claims in these runs: {tally(held)}.</strong> {EACH} "
            '<a href="#claims">Panel by panel</a></p>'
        )
    kept, fell = _floors(entries)
    several = any("floors" in entry for entry in entries)
    if kept:
        runs = "every play of every run"
        never = "No promise broken" if several else "Never below the floor"
        said.append(f"<p>{never}, after {runs}: {escape(', '.join(kept))}.</p>")
    if fell:
        at_times = "One broken at times" if several else "Below it at times"
        said.append(f"<p>{at_times}: {escape(', '.join(fell))}.</p>")
    return f'<div class="answer">{"".join(said)}</div>'


def _floors(entries: Sequence[JsonObject]) -> tuple[list[str], list[str]]:
    """Who was never below the floor, and who was in how many panels."""
    below: dict[str, list[bool]] = {}
    for entry in entries:
        for agent in entry["agents"]:
            below.setdefault(agent["name"], []).append(agent["violating_rounds"]["max"] > 0)
    kept = [name for name, panels in below.items() if not any(panels)]
    fell = [
        f"{name} ({sum(panels):,} of {counted(len(panels), 'panel')})"
        for name, panels in below.items()
        if any(panels)
    ]
    return kept, fell


def _each(entry: JsonObject, measure: str) -> list[tuple[str, str]]:
    """The floors of a panel by name, "" for one that needs none, with their measure's name."""
    return [(guard, column(measure, guard)) for guard in entry.get("floors", ("",))]


def _worst(entry: JsonObject, agent: JsonObject, measure: str, of: str) -> str:
    """An agent's least or most of a measure of floors; of several, each with its name."""
    found = [(guard, brief(agent[one][of])) for guard, one in _each(entry, measure)]
    return "; ".join(f"{escape(guard)} {number}" if guard else number for guard, number in found)


def _missing(lacking: Sequence[JsonObject]) -> str:
    """What is not finished."""
    if not lacking:
        return ""
    runs = sum(one["runs"] for one in lacking)
    some = "; ".join(f"{one['panel']}: {one['runs']:,}" for one in lacking[:20])
    more = f"; and {len(lacking) - 20:,} more panels" if len(lacking) > 20 else ""
    return (
        f'<div class="answer alarm"><p><strong>{counted(runs, "run")} of '
        f"{counted(len(lacking), 'panel')} {'is' if runs == 1 else 'are'} missing.</strong> What "
        f"follows rests on those that are finished. {escape(some)}{more}.</p></div>"
    )


def _settings(panels: Sequence[Panel], entries: Sequence[JsonObject], summary: JsonObject) -> str:
    """What was run, in a few lines."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.names()))
    axes = list(dict.fromkeys(axis for panel in panels for axis in panel.place))
    values = {called(axis): _some(_ordered(panels, axis)) for axis in axes}
    horizons = dict.fromkeys(f"{entry['horizon']:,}" for entry in entries)
    runs = dict.fromkeys(f"{entry['runs']:,}" for entry in entries)
    problems = dict.fromkeys(panel.problem.upper() for panel in panels)
    return facts(
        [
            ("problems", escape(", ".join(problems))),
            ("agents", escape(", ".join(names))),
            *((f"floor {name}", escape(said)) for name, said in panels[0].promised.items()),
            *((axis, escape(words)) for axis, words in values.items()),
            ("plays in a run", " or ".join(horizons)),
            ("runs of a panel", _some(runs)),
            ("panels", f"{len(panels):,}"),
            ("seed", escape(str(summary["seed"]))),
        ]
    )


def _ordered(panels: Sequence[Panel], axis: str) -> dict[str, None]:
    """The values on an axis, ascending if they are numbers."""
    found = {panel.place[axis] for panel in panels if axis in panel.place}
    numeric = all(isinstance(value, int | float) for value in found)
    return dict.fromkeys(map(shown, sorted(found, key=None if numeric else str)))


def _some(values: dict[str, None]) -> str:
    known = list(values)
    if len(known) <= 12:
        return ", ".join(known)
    return f"{', '.join(known[:3])}, ..., {known[-1]} ({len(known)} values)"


def _contents(
    panels: Sequence[Panel], entries: Sequence[JsonObject], grids: Sequence[tuple[str, Drawn]]
) -> str:
    links = []
    if any(entry["claims"] for entry in entries):
        links.append('<a href="#claims">The paper\'s claims, in our runs</a>')
    links += [f'<a href="#grid-{n}">{escape(title)}</a>' for n, (title, _) in enumerate(grids)]
    if len(panels) <= FIGURED:
        links += [_link(panel) for panel in panels]
    links.append('<a href="#numbers">The numbers of all panels</a>')
    rows = "".join(f"<li>{link}</li>" for link in links)
    return f'<nav aria-labelledby="contents"><h2 id="contents">Contents</h2><ol>{rows}</ol></nav>'


def _link(panel: Panel) -> str:
    return f'<a href="#{escape(panel.name)}">{_heading(panel)}</a>'


def _heading(panel: Panel) -> str:
    return escape(f"{panel.problem.upper()}: {panel.title}")


def _named(panel: Panel, count: int) -> str:
    """A panel in a table: a link to its part, if it has one."""
    place = ", ".join(f"{called(axis)} = {shown(value)}" for axis, value in panel.place.items())
    words = f"{panel.problem.upper()}, {escape(place)}"
    return f'<a href="#{escape(panel.name)}">{words}</a>' if count <= FIGURED else words


def _claims(panels: Sequence[Panel], entries: Sequence[JsonObject]) -> str:
    """A row a panel, a column a claim."""
    rows = []
    for panel, entry in zip(panels[:LISTED], entries, strict=False):
        found = {claim["key"]: verdict(claim["holds"]) for claim in entry["claims"]}
        cells = [found.get(key, _NO_RIVAL) for key in RULES]
        rows.append([_named(panel, len(panels)), *cells])
    rules = "".join(
        f"<dt>{escape(rule.short)}</dt><dd>{escape(rule.holds)}.</dd>" for rule in RULES.values()
    )
    heads = ["panel", *(rule.short for rule in RULES.values())]
    return (
        '<section id="claims"><h2>The paper\'s claims, in our runs</h2>'
        "<p>A claim that does not hold here, or that these runs do not decide, is shown as such; "
        "the numbers stand with each panel. "
        "With a longer horizon, or another instance, it may come out otherwise.</p>"
        f"{table('Which claims hold', heads, rows)}"
        "<details><summary>When a claim is said to hold, and when it is not decided</summary>"
        f"<dl>{rules}</dl><p>{escape(UNDECIDED)} {EACH}</p></details></section>"
    )


def _overview(panels: Sequence[Panel], entries: Sequence[JsonObject]) -> str:
    """A row for each panel and agent."""
    heads = ["panel", "agent", "regret at T", "default plays", "plays below the floor",
             "least above the floor"]  # fmt: skip
    if any("floors" in entry for entry in entries):
        heads[-2:] = ["plays with the promise broken", "minimum slack"]
    rows = []
    for panel, entry in zip(panels[:LISTED], entries, strict=False):
        first = _named(panel, len(panels))
        for agent in entry["agents"]:
            rows.append(
                [
                    first,
                    f"<td>{escape(agent['name'])}</td>",
                    number(_mean(agent["regret"])),
                    number(_mean(agent["default_plays"])),
                    number(_worst(entry, agent, "violating_rounds", "max")),
                    number(_worst(entry, agent, "minimum_slack", "min")),
                ]
            )
            first = ""
    note = "Means over the runs with 95 % intervals; the last two columns are of the worst run."
    if len(panels) > LISTED:
        note += f" The first {LISTED} of {len(panels):,} panels; summary.csv has all."
    return (
        f'<section id="numbers"><h2>The numbers of all panels</h2><p class="note">{note}</p>'
        f"{table('', heads, rows)}</section>"
    )


def _mean(values: JsonObject) -> str:
    interval = values["interval"]
    if interval is None or values["min"] == values["max"]:
        return brief(values["mean"])
    return f"{brief(values['mean'])}<span>[{', '.join(map(brief, interval))}]</span>"


def _panel(page: Page) -> str:
    panel, found = page.panel, page.found
    heads = found_of(panel)
    title = f"After {found['horizon']:,} plays, {counted(found['runs'], 'run')}"
    if found["baseline_regret"] is not None:
        exactly = brief(found["baseline_regret"])
        title += f"; one who earns exactly the floor has regret {exactly}"
    numbers = [
        [escape(agent["name"]), *(number(spread(agent[measure])) for measure in heads)]
        for agent in found["agents"]
    ]
    about = "The paper's claims about this panel"
    told = found["claims"]
    claims = claims_table(about, ["claim", "in our runs", "found"], told) if told else ""
    short = f"{counted(found['runs'], 'run')} of {found['horizon']:,} plays. {style.READ}"
    shorts = [short, "Thick: mean over the runs. Dotted: the theorems."]
    figures = zip(page.figures, shorts, strict=False)
    return (
        f'<section class="panel" id="{escape(panel.name)}"><h2>{_heading(panel)}</h2>'
        f"{''.join(figure(one.pieces, words, one.caption) for one, words in figures)}"
        f"{table(title, ['agent', *heads.values()], numbers)}"
        f'<p class="note">{_INTERVALS}</p>'
        f"{_pairs(found['differences'])}{claims}{_theory(found)}</section>\n"
    )


def _pairs(differences: Sequence[JsonObject]) -> str:
    """How much more regret one agent has than another, run by run."""
    rows = []
    for one in differences:
        first, other = map(escape, one["agents"])
        rows.append(
            [
                f"{first} {MINUS} {other}",
                number(spread(one["regret"])),
                number(f"{one['lower_in']:,}"),
            ]
        )
    if not rows:
        return ""
    heads = ["agents", "difference of regrets at T", "runs in which the first has less"]
    return table("Differences, run by run: runs of equal number share their noise", heads, rows)


def _theory(found: JsonObject) -> str:
    """The default plays predicted beside those made, and what the theorems say."""
    if "theory" not in found:
        return ""
    guarded, predicted = found["agents"][0], found["theory"]["default_plays"]
    words = spread(predicted) if predicted else "no formula"
    plays = ["by the horizon", number(words), number(spread(guarded["default_plays"]))]
    rows = []
    for bound in found["theory"]["bounds"]:
        cells = ["void", "", escape(bound.get("void", ""))]
        if "void" not in bound:
            kind = "proved" if bound["trusted"] else "order, scaled to end at the curve"
            note = escape(f"{bound['source']}; {bound['note']}")
            cells = [kind, plain(round(bound["regret"])), note]
        rows.append([escape(bound["agent"]), *map(number, cells)])
    heads = ["", "predicted from the unguarded policy", "made"]
    return table(f"Default plays of {guarded['name']}", heads, [plays]) + table(
        "Regret bounds", ["curve", "bound", "value at T", "source"], rows
    )
