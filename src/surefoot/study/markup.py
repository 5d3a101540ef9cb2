"""What pages of a study are made of: one HTML file each, which needs nothing else.

No script, no font and no picture from elsewhere: it can be mailed, printed and read offline.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from surefoot._drawing import inline
from surefoot._types import JsonObject
from surefoot.study.numbers import brief

_DARK = " ".join(f"{inline.variable(light)}: {dark};" for light, dark in inline.DARK.items())
_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1d2024; --quiet: #5b6169; --hair: #d5d8dc;
  --accent: #00568a; --soft: #f4f6f8; --bad: #fbe3d6; --open: #ececee; --good: #e2f3ec; }
@media screen and (prefers-color-scheme: dark) {
  :root { --paper: #16181b; --ink: #e2e4e7; --quiet: #a3a9b1; --hair: #3b3e44; --accent: #6cb8ee;
    --soft: #1e2125; --bad: #5a2c14; --open: #2c2f34; --good: #12382b;
    /*palette*/ } }
* { box-sizing: border-box; }
body { font: 1rem/1.55 "DejaVu Sans", Verdana, system-ui, sans-serif; color: var(--ink);
  background: var(--paper); max-width: 76rem; margin: 0 auto; padding: 1rem 1.25rem 3rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.25rem; } h3 { font-size: 1.05rem; }
h1, h2, h3 { line-height: 1.25; } section { scroll-margin-top: 1rem; }
section > h2 { margin: 3rem 0 .8rem; padding-bottom: .3rem;
  border-bottom: 2px solid var(--accent); }
p, dd, figcaption { max-width: 52rem; overflow-wrap: anywhere; } a { color: var(--accent); }
figure { margin: 1rem 0; } img { max-width: 100%; height: auto; background: #fff; }
.plots { display: grid; gap: .5rem 1rem; align-items: start;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr)); }
.plots svg { width: 100%; height: auto; max-width: 46rem; font-family: "DejaVu Sans", Verdana,
  sans-serif; }
figcaption, .note { color: var(--quiet); font-size: .9rem; } summary { cursor: pointer; }
.answer { background: var(--soft); border-left: 4px solid var(--accent); padding: .8rem 1rem; }
.answer p { margin: .3rem 0; } .answer strong { font-size: 1.1rem; }
.alarm { border-left-color: #D55E00; }
dl.facts { display: grid; gap: .2rem 1.2rem; margin: 1rem 0;
  grid-template-columns: max-content minmax(0, 1fr); }
dl.facts dt { color: var(--quiet); } dl.facts dd { margin: 0; }
nav ol { columns: 2 26rem; font-size: .92rem; padding-left: 2rem; }
.wide { overflow-x: auto; margin: 1rem 0; } table { border-collapse: collapse; font-size: .88rem; }
caption { text-align: left; font-weight: bold; padding: .3rem 0; max-width: calc(100vw - 2rem); }
th, td { padding: .35rem .7rem; border-bottom: 1px solid var(--hair); text-align: left;
  vertical-align: top; }
tbody th { font-weight: normal; white-space: nowrap; }
thead th { color: var(--quiet); font-weight: normal; vertical-align: bottom; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number span { display: block; color: var(--quiet); font-size: .85em; white-space: nowrap; }
.yes { background: var(--good); } .no { font-weight: bold; background: var(--bad); }
.open { font-style: italic; background: var(--open); } .none { color: var(--quiet); }
footer { margin-top: 3rem; color: var(--quiet); font-size: .85rem; overflow-wrap: anywhere; }
@media (max-width: 40rem) { body { padding: .7rem; } h1 { font-size: 1.35rem; }
  dl.facts { grid-template-columns: 1fr; } dl.facts dd { margin-bottom: .4rem; }
  th, td { padding: .3rem .45rem; } }
@media print { body { max-width: none; padding: 0; font-size: 9pt; } nav { display: none; }
  section.panel { break-before: page; } figure, table { break-inside: avoid; }
  .plots { grid-template-columns: 1fr 1fr; } .wide { overflow: visible; } }
""".replace("/*palette*/", _DARK)


def document(title: str, body: str) -> str:
    """A whole page."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body>{body}</body></html>\n"
    )


def figure(pieces: Iterable[str], short: str, caption: str) -> str:
    """Panels side by side, or one below the other where there is no room, and what they show.

    ``pieces``: as ``inline.pieces``. ``short``: what everybody should read; ``caption``: the rest,
    in paragraphs.
    """
    words = "".join(f"<p>{escape(line)}</p>" for line in caption.splitlines())
    if words:
        words = f"<details><summary>What is shown, and what was chosen</summary>{words}</details>"
    return (
        f'<figure><div class="plots">{"".join(pieces)}</div><figcaption><p>{escape(short)}</p>'
        f"{words}</figcaption></figure>"
    )


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """A list of what was set; the second of each pair is HTML.

    >>> facts([("seed", "0")])
    '<dl class="facts"><dt>seed</dt><dd>0</dd></dl>'
    """
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{value}</dd>" for name, value in pairs)
    return f'<dl class="facts">{rows}</dl>'


def verdict(holds: bool | None) -> str:
    """A cell that colour is not needed for.

    >>> verdict(True), verdict(None)
    ('<td class="yes">✓ holds</td>', '<td class="open">? not decided</td>')
    """
    if holds is None:
        return '<td class="open">? not decided</td>'
    return '<td class="yes">✓ holds</td>' if holds else '<td class="no">✗ does not hold</td>'


def table(title: str, heads: Iterable[str], rows: Iterable[list[str]]) -> str:
    """A table; a row is the HTML of its heading and ready cells."""
    top = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    lines = [f'<tr><th scope="row">{first}</th>{"".join(cells)}</tr>' for first, *cells in rows]
    named = escape(title, quote=False)
    return (
        f'<div class="wide"><table><caption>{named}</caption><thead><tr>{top}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def claims_table(title: str, heads: Iterable[str], claims: Iterable[JsonObject]) -> str:
    """A table of claims: each, whether it holds, and by which numbers."""
    rows = [
        [escape(one["claim"]), verdict(one["holds"]), f"<td>{escape(one['found'])}</td>"]
        for one in claims
    ]
    return table(title, heads, rows)


def footer(seed: object, versions: Mapping[str, str]) -> str:
    """What makes the numbers of a page again.

    >>> footer(7, {"surefoot": "0.1", "numpy": "2.3"})
    '<footer><p>Seed 7. Versions: surefoot 0.1, numpy 2.3.</p></footer>'
    """
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    return f"<footer><p>Seed {seed}. Versions: {escape(named)}.</p></footer>"


def number(cell: str) -> str:
    """A cell whose number stands at the right."""
    return f'<td class="number">{cell}</td>'


def spread(values: JsonObject) -> str:
    """Mean, least and most below it, and the interval of the mean if there is one.

    >>> spread({"mean": 2.5, "min": 1, "max": 4})
    '2.5<span>1 to 4</span>'
    >>> spread({"mean": 2.5, "min": 1, "max": 4, "interval": [2.0, 3.0]})
    '2.5<span>[2, 3]</span><span>1 to 4</span>'
    """
    mean, low, high = (brief(values[key]) for key in ("mean", "min", "max"))
    if values["min"] == values["max"]:
        return mean
    interval = values.get("interval")
    between = "" if interval is None else f"<span>[{', '.join(map(brief, interval))}]</span>"
    return f"{mean}{between}<span>{low} to {high}</span>"
