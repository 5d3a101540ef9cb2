"""The report of a study: one HTML file with all figures and tables, which needs nothing else.

No script, no font and no picture from elsewhere: it can be mailed, printed and read offline.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from surefoot._types import JsonObject
from surefoot.study.files import replacing
from surefoot.study.findings import FOUND, RULES, UNDECIDED
from surefoot.study.markup import (
    claims_table,
    document,
    figure,
    footer,
    number,
    spread,
    table,
    verdict,
)
from surefoot.study.numbers import brief, plain
from surefoot.study.panel import Panel
from surefoot.study.verdict import EACH, tally


class Page(NamedTuple):
    """What the report shows of a panel."""

    panel: Panel
    found: JsonObject
    """Its entry in ``summary.json``."""
    figures: list[tuple[Path, str]]
    """Pictures, and their captions."""


_OPENING = """<header><h1>Conservative bandits: the study</h1>
<p>The experiments of Du, Wang and Huang, “A One-Size-Fits-All Solution to Conservative Bandit
Problems” (AAAI 2021), done again with Surefoot. The paper prints no numbers and is silent on the
horizon and more: what was chosen by us stands under each figure. No number here is the
paper's.</p></header>"""
_NO_RIVAL = '<td class="none">no rival</td>'


def write_report(path: Path, pages: Sequence[Page], summary: JsonObject) -> None:
    """Write the report of some panels.

    The pictures are read from their files and put into the page.
    """
    with replacing(path) as scratch:
        scratch.write_text(html(pages, summary), encoding="utf-8")


def html(pages: Sequence[Page], summary: JsonObject) -> str:
    """The report as a string; equal studies give equal ones."""
    links = "".join(f"<li>{_link(page)}</li>" for page in pages)
    held = tally([claim["holds"] for page in pages for claim in page.found["claims"]])
    body = [
        _OPENING,
        (
            f"<p><strong>The paper's claims in these runs: {held}.</strong> {EACH} "
            '<a href="#claims">Panel by panel</a></p>'
        ),
        (
            '<nav aria-labelledby="contents"><h2 id="contents">Contents</h2>'
            f'<ol><li><a href="#claims">The paper\'s claims, in our runs</a></li>{links}</ol></nav>'
        ),
        f"<main>{_claims(pages)}{''.join(map(_panel, pages))}</main>",
        footer(summary["seed"], summary["versions"]),
    ]
    return document("Conservative bandits: the study", chr(10).join(body))


def _link(page: Page) -> str:
    return f'<a href="#{page.panel.name}">{_heading(page.panel)}</a>'


def _heading(panel: Panel) -> str:
    return escape(f"{panel.problem.upper()}: {panel.title}")


def _claims(pages: Sequence[Page]) -> str:
    """A row a panel, a column a claim."""
    rows = []
    for page in pages:
        found = {claim["key"]: verdict(claim["holds"]) for claim in page.found["claims"]}
        rows.append([_link(page), *(found.get(key, _NO_RIVAL) for key in RULES)])
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
        "<h3>When a claim is said to hold, and when it is not decided</h3>"
        f"<dl>{rules}</dl><p>{escape(UNDECIDED)} {EACH}</p></section>"
    )


def _panel(page: Page) -> str:
    panel, found = page.panel, page.found
    heads = {**FOUND, **{name: name.replace("_", " ") for name in panel.extra_measures}}
    title = (
        f"After {found['horizon']:,} plays: mean over {found['runs']} runs, least and most below; "
        f"one who earns exactly the floor has regret {brief(found['baseline_regret'])}"
    )
    numbers = [
        [escape(agent["name"]), *(number(spread(agent[measure])) for measure in heads)]
        for agent in found["agents"]
    ]
    about = "The paper's claims about this panel"
    shown = f"Curves of {', '.join(panel.names())}"
    return (
        f'<section class="panel" id="{panel.name}"><h2>{_heading(panel)}</h2>'
        f"{''.join(figure(path, shown, caption) for path, caption in page.figures)}"
        f"{table(title, ['agent', *heads.values()], numbers)}"
        f"{claims_table(about, ['claim', 'in our runs', 'found'], found['claims'])}"
        f"{_theory(found)}</section>\n"
    )


def _theory(found: JsonObject) -> str:
    """The default plays predicted beside those made, and what the theorems say."""
    if "theory" not in found:
        return ""
    guarded, predicted = found["agents"][0], found["theory"]["default_plays"]
    shown = spread(predicted) if predicted else "no formula"
    plays = ["by the horizon", number(shown), number(spread(guarded["default_plays"]))]
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
