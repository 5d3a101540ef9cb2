"""The report of a study: one HTML file with all figures and tables, which needs nothing else.

No script, no font and no picture from elsewhere: it can be mailed, printed and read offline.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from surefoot._types import JsonObject
from surefoot.study.files import replacing
from surefoot.study.findings import FOUND, RULES, UNDECIDED
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


_STYLE = """
:root { color-scheme: light; }
body { font: 1rem/1.5 "DejaVu Sans", Verdana, sans-serif; color: #222; background: #fff;
  max-width: 72rem; margin: 0 auto; padding: 1rem; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 3rem; border-bottom: 2px solid #0072B2; }
a { color: #004c7a; } img { max-width: 100%; height: auto; } figure { margin: 1rem 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; margin: 1rem 0; font-size: .9rem; }
caption { text-align: left; font-weight: bold; padding: .3rem 0; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #bbb; text-align: left;
  vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number span { display: block; color: #555; font-size: .85em; white-space: nowrap; }
.no { font-weight: bold; background: #FBE9DE; } .open { font-style: italic; background: #EEE; }
.none { color: #555; }
@media print { body { max-width: none; padding: 0; font-size: 9pt; }
  section.panel { break-before: page; } figure, table { break-inside: avoid; } }
"""
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
    versions = ", ".join(f"{name} {version}" for name, version in summary["versions"].items())
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
        f"<footer><p>Seed {summary['seed']}. Versions: {escape(versions)}.</p></footer>",
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Conservative bandits: the study</title><style>{_STYLE}</style></head>\n"
        f"<body>{chr(10).join(body)}</body></html>\n"
    )


def _link(page: Page) -> str:
    return f'<a href="#{page.panel.name}">{_heading(page.panel)}</a>'


def _heading(panel: Panel) -> str:
    return escape(f"{panel.problem.upper()}: {panel.title}")


def _claims(pages: Sequence[Page]) -> str:
    """A row a panel, a column a claim."""
    rows = []
    for page in pages:
        found = {claim["key"]: _verdict(claim["holds"]) for claim in page.found["claims"]}
        rows.append([_link(page), *(found.get(key, _NO_RIVAL) for key in RULES)])
    rules = "".join(
        f"<dt>{escape(rule.short)}</dt><dd>{escape(rule.holds)}.</dd>" for rule in RULES.values()
    )
    table = _table("Which claims hold", ["panel", *(rule.short for rule in RULES.values())], rows)
    return (
        '<section id="claims"><h2>The paper\'s claims, in our runs</h2>'
        "<p>A claim that does not hold here, or that these runs do not decide, is shown as such; "
        "the numbers stand with each panel. "
        f"With a longer horizon, or another instance, it may come out otherwise.</p>{table}"
        "<h3>When a claim is said to hold, and when it is not decided</h3>"
        f"<dl>{rules}</dl><p>{escape(UNDECIDED)} {EACH}</p></section>"
    )


def _verdict(holds: bool | None) -> str:
    """A cell that colour is not needed for.

    >>> _verdict(True), _verdict(None)
    ('<td>✓ holds</td>', '<td class="open">? not decided</td>')
    """
    if holds is None:
        return '<td class="open">? not decided</td>'
    return "<td>✓ holds</td>" if holds else '<td class="no">✗ does not hold</td>'


def _panel(page: Page) -> str:
    panel, found = page.panel, page.found
    heads = {**FOUND, **{name: name.replace("_", " ") for name in panel.extra_measures}}
    title = (
        f"After {found['horizon']:,} plays: mean over {found['runs']} runs, least and most below; "
        f"one who earns exactly the floor has regret {brief(found['baseline_regret'])}"
    )
    numbers = [
        [escape(agent["name"]), *(_number(_spread(agent[measure])) for measure in heads)]
        for agent in found["agents"]
    ]
    claims = [
        [escape(claim["claim"]), _verdict(claim["holds"]), f"<td>{escape(claim['found'])}</td>"]
        for claim in found["claims"]
    ]
    about = "The paper's claims about this panel"
    return (
        f'<section class="panel" id="{panel.name}"><h2>{_heading(panel)}</h2>'
        f"{''.join(_figure(panel, path, caption) for path, caption in page.figures)}"
        f"{_table(title, ['agent', *heads.values()], numbers)}"
        f"{_table(about, ['claim', 'in our runs', 'found'], claims)}{_theory(found)}</section>\n"
    )


def _figure(panel: Panel, path: Path, caption: str) -> str:
    """A picture and its caption: the picture holds it too, but no one can copy it from there."""
    data = b64encode(path.read_bytes()).decode("ascii")
    words = "".join(f"<p>{escape(line)}</p>" for line in caption.splitlines())
    alt = escape(f"Curves of {', '.join(panel.names())}; the caption below says what is shown.")
    return (
        f'<figure><img src="data:image/png;base64,{data}" alt="{alt}">'
        f"<figcaption><details><summary>Caption as text</summary>{words}</details></figcaption>"
        "</figure>"
    )


def _theory(found: JsonObject) -> str:
    """The default plays predicted beside those made, and what the theorems say."""
    if "theory" not in found:
        return ""
    guarded, predicted = found["agents"][0], found["theory"]["default_plays"]
    shown = _spread(predicted) if predicted else "no formula"
    plays = ["by the horizon", _number(shown), _number(_spread(guarded["default_plays"]))]
    rows = []
    for bound in found["theory"]["bounds"]:
        cells = ["void", "", escape(bound.get("void", ""))]
        if "void" not in bound:
            kind = "proved" if bound["trusted"] else "order, scaled to end at the curve"
            note = escape(f"{bound['source']}; {bound['note']}")
            cells = [kind, plain(round(bound["regret"])), note]
        rows.append([escape(bound["agent"]), *map(_number, cells)])
    heads = ["", "predicted from the unguarded policy", "made"]
    return _table(f"Default plays of {guarded['name']}", heads, [plays]) + _table(
        "Regret bounds", ["curve", "bound", "value at T", "source"], rows
    )


def _table(title: str, heads: Iterable[str], rows: Iterable[list[str]]) -> str:
    """A table; a row is the HTML of its heading and ready cells."""
    top = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    lines = [f'<tr><th scope="row">{first}</th>{"".join(cells)}</tr>' for first, *cells in rows]
    named = escape(title, quote=False)
    return (
        f'<div class="wide"><table><caption>{named}</caption><thead><tr>{top}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _number(cell: str) -> str:
    return f'<td class="number">{cell}</td>'


def _spread(values: dict[str, float]) -> str:
    """Mean, and least and most below it.

    >>> _spread({"mean": 2.5, "min": 1, "max": 4})
    '2.5<span>[1, 4]</span>'
    """
    mean, low, high = (brief(values[key]) for key in ("mean", "min", "max"))
    return f"{mean}<span>[{low}, {high}]</span>"
