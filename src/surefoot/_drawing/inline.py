"""Panels as SVG that stands inside a page: small, and in the page's own light or dark.

Each colour of the palette becomes a variable of the page with itself as fallback, so that a page
names only what is different in the dark (``DARK``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from surefoot._drawing import style
from surefoot._drawing.numbers import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DARK = {
    style.BLUE: "#4BA3E3", style.VERMILION: "#F58A42", style.GREEN: "#1FB58A",
    style.WINE: "#C23B80", style.ORANGE: "#F7CB4D", style.SKY: "#A8DBFF", style.PURPLE: "#EBB0D2",
    style.BLACK: "#EDEDED", style.INK: "#DDDDDD", style.QUIET: "#A9A9A9", style.HAIR: "#3B3E44",
    style.WHITE: "#16181B",
}  # fmt: skip
"""What the colours of the palette become on a dark page."""
_TOLERANCE = 0.12
"""Points that a path may be moved by: a third of a hairline."""
_PAD = 3.0
_PATH = re.compile(r'(<path [^>]*?\bd=")([^"]*)(")')
_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_TAG = re.compile(r"<[^>]*>")


class Drawn(NamedTuple):
    """A figure that is on disk, for a page."""

    caption: str
    """What it shows, in paragraphs."""
    pieces: list[str]
    """Its panels as SVG that stands in a page."""


def pieces(figure: Figure, panels: Sequence[Axes], named: str) -> list[str]:
    """Each panel of a finished figure as an ``<svg>`` of its own; ``named``: what it shows.

    Call it inside ``style.sheet``. Equal figures give equal text.
    """
    import matplotlib as mpl
    from matplotlib.transforms import Bbox

    figure.canvas.draw()
    words, dpi = list(figure.texts), figure.get_dpi()
    found = []
    for axes in panels:
        box = axes.get_tightbbox()
        assert box is not None
        shown: list[Any] = [one for one in (*panels, *words) if one is not axes]
        for one in shown:
            one.set_visible(False)
        try:
            with mpl.rc_context({"svg.fonttype": "none"}):
                made = StringIO()
                around = Bbox.from_extents(
                    (box.x0 - _PAD) / dpi, (box.y0 - _PAD) / dpi,
                    (box.x1 + _PAD) / dpi, (box.y1 + _PAD) / dpi,
                )  # fmt: skip
                figure.savefig(made, format="svg", bbox_inches=around, metadata=_NOTHING)
        finally:
            for one in shown:
                one.set_visible(True)
        found.append(inlined(made.getvalue(), f"{named}: {axes.get_title(loc='left')}"))
    return found


_NOTHING: dict[str, Any] = dict.fromkeys(("Date", "Creator", "Format", "Type"))


def inlined(svg: str, named: str) -> str:
    """A matplotlib SVG as an element of a page; ``named``: its label for who does not see it."""
    body = svg[svg.index("<svg") :]
    head, rest = body.split(">", 1)
    box = re.search(r'viewBox="([^"]*)"', head)
    assert box is not None
    rest = re.sub(r"<metadata>.*?</metadata>\s*", "", rest, flags=re.DOTALL)
    rest = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", rest, flags=re.DOTALL)
    rest = re.sub(r"<!--.*?-->\s*", "", rest, flags=re.DOTALL)
    rest = _PATH.sub(lambda found: found[1] + shorter(found[2]) + found[3], rest)
    rest = _TAG.sub(lambda tag: _NUMBER.sub(_rounded, tag[0]), rest)  # what is read stays
    rest = _coloured(_ids(rest)).replace("xlink:href", "href")
    rest = re.sub(r"\s*\n\s*", "\n", rest)
    label = escape(named)
    return (
        f'<svg viewBox="{box[1]}" role="img" aria-label="{label}" '
        f'style="stroke-linejoin:round;stroke-linecap:butt">{rest.strip()}'
    )


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _ids(text: str) -> str:
    """Drop the ids that nothing refers to, and make the others the page's only ones."""
    own = sha256(text.encode()).hexdigest()[:8]
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', text))
    text = re.sub(
        r' id="([^"]*)"', lambda one: f' id="s{own}{one[1]}"' if one[1] in used else "", text
    )
    return re.sub(r'(href="#|url\(#)([^")]+)', rf"\g<1>s{own}\g<2>", text)


def _coloured(text: str) -> str:
    names = {colour.lower(): variable(colour) for colour in DARK}

    def known(found: re.Match[str]) -> str:
        colour = found[0].lower()
        return f"var({names[colour]},{colour})" if colour in names else colour

    # A property that is not given is black; a page may not be.
    text = re.sub(r'(<text style=")(?![^"]*fill)', r"\g<1>fill: #000000; ", text)
    return re.sub(r"#[0-9a-fA-F]{6}\b", known, text)


def variable(colour: str) -> str:
    """The name of a colour in a page.

    >>> variable("#0072B2")
    '--c0072b2'
    """
    return f"--c{colour[1:].lower()}"


def shorter(path: str) -> str:
    """A path of straight lines with fewer corners, moved by no more than can be seen.

    >>> shorter("M 0 0 L 1 0.01 L 2 0 L 3 5 z")
    'M0 0L2 0L3 5z'
    >>> shorter("M 0 0 C 1 1 2 2 3 3")
    'M 0 0 C 1 1 2 2 3 3'
    """
    if re.search(r"[^MLz\s\d.e-]", path):
        return path
    parts = []
    for run in re.findall(r"M[^M]*", path):
        corners = np.array(re.findall(r"-?[\d.]+(?:e-?\d+)?", run), float).reshape(-1, 2)
        kept = corners[_corners(corners)]
        parts.append("M" + "L".join(f"{_one(x)} {_one(y)}" for x, y in kept))
        parts.append("z" if "z" in run else "")
    return "".join(parts)


def _one(value: float) -> str:
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _corners(points: Array) -> Array:
    """Which corners a line keeps (Douglas and Peucker 1973)."""
    keep = np.zeros(len(points), bool)
    keep[[0, -1]] = True
    open_ = [(0, len(points) - 1)]
    while open_:
        first, last = open_.pop()
        if last - first < 2:
            continue
        inner = points[first + 1 : last] - points[first]
        along = points[last] - points[first]
        length = float(np.hypot(*along))
        if length:
            place = np.clip(inner @ along / length**2, 0, 1)
            far = np.hypot(*(inner - place[:, None] * along).T)
        else:
            far = np.hypot(*inner.T)
        worst = int(far.argmax())
        if far[worst] > _TOLERANCE:
            middle = first + 1 + worst
            keep[middle] = True
            open_ += [(first, middle), (middle, last)]
    return keep
