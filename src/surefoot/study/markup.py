"""What pages of a study are made of: one HTML file each, which needs nothing else.

No script, no font and no picture from elsewhere: it can be mailed, printed and read offline.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

from surefoot._types import JsonObject
from surefoot.study.numbers import brief

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


def document(title: str, body: str) -> str:
    """A whole page."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body>{body}</body></html>\n"
    )


def figure(path: Path, shown: str, caption: str) -> str:
    """A picture and its caption: the picture holds it too, but no one can copy it from there."""
    data = b64encode(path.read_bytes()).decode("ascii")
    words = "".join(f"<p>{escape(line)}</p>" for line in caption.splitlines())
    alt = escape(f"{shown}; the caption below says what is shown.")
    return (
        f'<figure><img src="data:image/png;base64,{data}" alt="{alt}">'
        f"<figcaption><details><summary>Caption as text</summary>{words}</details></figcaption>"
        "</figure>"
    )


def verdict(holds: bool | None) -> str:
    """A cell that colour is not needed for.

    >>> verdict(True), verdict(None)
    ('<td>✓ holds</td>', '<td class="open">? not decided</td>')
    """
    if holds is None:
        return '<td class="open">? not decided</td>'
    return "<td>✓ holds</td>" if holds else '<td class="no">✗ does not hold</td>'


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


def spread(values: dict[str, float]) -> str:
    """Mean, and least and most below it.

    >>> spread({"mean": 2.5, "min": 1, "max": 4})
    '2.5<span>[1, 4]</span>'
    """
    mean, low, high = (brief(values[key]) for key in ("mean", "min", "max"))
    return f"{mean}<span>[{low}, {high}]</span>"
