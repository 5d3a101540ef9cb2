"""How every figure looks: one palette, one sheet, distinct without colour as well.

Colours are those of Okabe and Ito (2008), which people with any colour vision tell apart; each
role has its own dash as well, and curves are labelled where they end, so a grey print reads too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from surefoot._drawing import fonts
from surefoot._drawing.numbers import Array, plain
from surefoot._files import replacing
from surefoot.errors import missing_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")
"""Of every figure."""
BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"
ORANGE, SKY, PURPLE, BLACK = "#E69F00", "#56B4E9", "#CC79A7", "#000000"
WINE, WHITE = "#882255", "#FFFFFF"
INK, QUIET, HAIR = "#222222", "#666666", "#D9D9D9"


class Curve(NamedTuple):
    """How one role is drawn."""

    colour: str
    dash: Any
    width: float = 1.8
    marker: str = ""
    """At its end, where more curves than there are colours have to be told apart."""


GUARDED = Curve(BLUE, "-", 2.4)
UNGUARDED = Curve(VERMILION, (0, (5, 1.6)))
COMPARATOR = Curve(GREEN, (0, (6, 1.5, 1.2, 1.5)))
FLOOR = Curve(BLACK, (0, (1.1, 1.5)), 1.6)
DEFAULT = Curve(QUIET, (0, (9, 3)), 1.3)

# Seven colours that stay apart for any colour vision, and five dashes: no two of 35 curves have
# both in common.
_HUES = (BLUE, VERMILION, GREEN, WINE, ORANGE, SKY, PURPLE)
_DASHES = (GUARDED.dash, UNGUARDED.dash, COMPARATOR.dash, (0, (2.4, 1.2)), (0, (10, 1.5, 2, 1.5)))
_MARKERS = ("", "o", "s", "^", "D", "v", "P", "X")

QUANTILES = (0.05, 0.95)
"""What a band lies between."""
READ = "Line: mean over the runs. Band: 5 % to 95 % quantiles. Thin lines: least and most."
"""How ``band`` is read."""

Box: TypeAlias = tuple[float, float, float, float]
"""Left, bottom, width and height, as fractions of a panel."""

_RC: Any = {
    "font.size": 9.5,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.titlepad": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "grid.color": HAIR,
    "grid.linewidth": 0.5,
    "text.color": INK,
    "text.parse_math": False,  # a user's label may hold dollars
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.solid_capstyle": "round",
    "lines.dash_capstyle": "butt",
    "pdf.fonttype": 42,  # fonts as outlines that an editor can open
    "hatch.linewidth": 0.5,
    "svg.hashsalt": "surefoot",  # ids would be random
    "savefig.dpi": 200,
}
_SIDE, _TOP, _GAP, _BOTTOM = 0.85, 0.8, 1.75, 0.55  # margins of the panels, in inches
_ROWS = 0.95  # between two rows
_TITLE, _CAPTION = 13.0, 8.2  # points; a title too long for its sheet is smaller
_EDGE, _BETWEEN = 0.2, 0.3  # inches free beside and between panels that are fit


@contextmanager
def sheet(
    title: str,
    caption: str,
    columns: int = 1,
    size: tuple[float, float] = (11.5, 4.1),
    labels: str = "",
    rows: int = 1,
) -> Iterator[tuple[Figure, list[Axes]]]:
    """A titled figure with panels side by side and a caption set below; draw and save inside.

    ``rows``: of panels, which are counted row by row. ``size``: width and height in inches without
    the caption, which makes the sheet as much taller as it needs; its paragraphs are separated by
    newlines. To the right of each panel there is room for ``label_ends``. ``labels``: what else of
    a user's will be written.
    Raises MissingExtra without matplotlib.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise missing_extra("study", "matplotlib") from None
    with mpl.rc_context(), fonts.quiet():
        mpl.rcdefaults()  # a user's matplotlibrc changes nothing
        mpl.rcParams.update({**_RC, "font.family": fonts.families(title + caption + labels)})
        width, plots = size
        lines = _wrap(caption, (width - 2 * _SIDE + 0.35) * 72, _CAPTION)
        foot = len(lines) * _CAPTION * 1.42 / 72 + 0.3
        height = plots + foot
        figure = Figure(figsize=(width, height), facecolor="white")
        grid = figure.add_gridspec(
            rows, columns,
            hspace=_ROWS * rows / max(0.1, plots - _TOP - _BOTTOM - (rows - 1) * _ROWS),
            left=_SIDE / width, right=1 - (_GAP - 0.55) / width,
            top=1 - _TOP / height, bottom=(foot + _BOTTOM) / height,
            wspace=_GAP * columns / (width - _SIDE - _GAP - (columns - 1) * _GAP),
        )  # fmt: skip
        left = 0.22 / width
        shrink = min(1, (width - 0.6) * 72 / max(1, _measure(title, _TITLE, "bold")))
        figure.text(
            left, 1 - 0.16 / height, title, size=_TITLE * shrink, weight="bold", va="top"
        )  # fmt: skip
        figure.text(
            left, (foot - 0.1) / height, "\n".join(lines),
            size=_CAPTION, va="top", color=INK, linespacing=1.42,
        )  # fmt: skip
        panels = [figure.add_subplot(grid[number]) for number in range(rows * columns)]
        for axes in panels:
            axes.locator_params(axis="x", nbins=6)
            group_digits(axes)
        yield figure, panels


def curves(count: int) -> list[Curve]:
    """So many curves, no two alike without colour, the first three those of the roles.

    >>> curves(2) == [GUARDED, UNGUARDED], len(set(curves(40)))
    (True, 40)
    """
    made = []
    for number in range(count):
        colour, dash = _HUES[number % len(_HUES)], _DASHES[number % len(_DASHES)]
        marker = "" if number < len(_DASHES) else _MARKERS[number // len(_DASHES) % len(_MARKERS)]
        width = GUARDED.width if not number else UNGUARDED.width
        made.append(Curve(colour, dash, width, marker))
    return made


def band(axes: Axes, x: Array, runs: Array, curve: Curve, *, hatched: bool = False) -> None:
    """Mean of the runs as a line, ``QUANTILES`` as a band, least and most as thin lines.

    ``hatched``: a second band, which may lie over a plain one and still be told from it in grey.
    """
    shape(axes, x, Shape.of(runs), curve, hatched=hatched)


class Shape(NamedTuple):
    """What is drawn of many runs: an array each, one entry a checkpoint."""

    mean: Array
    low: Array
    """The lower of ``QUANTILES``."""
    high: Array
    least: Array
    most: Array

    @classmethod
    def of(cls, runs: Array) -> Shape:
        """The shape of an array of shape (runs, checkpoints)."""
        low, high = np.quantile(runs, QUANTILES, axis=0)
        return cls(runs.mean(axis=0), low, high, runs.min(axis=0), runs.max(axis=0))


def shape(axes: Axes, x: Array, of: Shape, curve: Curve, *, hatched: bool = False) -> None:
    """As ``band``, of runs that are no longer at hand."""
    if hatched:
        axes.fill_between(
            x, of.low, of.high, facecolor="none", edgecolor=curve.colour, hatch="////", alpha=0.55,
            linewidth=0,
        )  # fmt: skip
    else:
        axes.fill_between(x, of.low, of.high, color=curve.colour, alpha=0.18, linewidth=0)
    for edge in (of.least, of.most):
        dash = curve.dash if hatched else "-"
        axes.plot(x, edge, color=curve.colour, linestyle=dash, linewidth=0.6, alpha=0.7)
    line(axes, x, of.mean, curve)


def line(axes: Axes, x: Array, y: Array, curve: Curve) -> None:
    """One line in the dress of its role."""
    axes.plot(
        x, y, color=curve.colour, linestyle=curve.dash, linewidth=curve.width,
        marker=curve.marker or None, markevery=max(1, len(x) // 8), markersize=4.5,
    )  # fmt: skip


def label_ends(axes: Axes, labels: Sequence[tuple[float, str, Curve]], leading: float = 13) -> None:
    """Name curves to the right of the panel, at the heights where they end, none on another.

    ``labels``: (y, text, curve); call it when the axes' limits and scales are final. ``leading``:
    least distance between two labels, in points for one line of text.
    """
    transform, inverse = axes.transData, axes.transAxes.inverted()
    points = axes.get_figure().get_dpi() / 72  # type: ignore[union-attr]
    x_end = axes.get_xlim()[1]
    ordered = sorted(labels, key=lambda label: label[0])
    ends = [float(transform.transform((x_end, y))[1]) for y, _, _ in ordered]
    heights = [(1 + text.count("\n")) * leading * points for _, text, _ in ordered]
    bottom = float(axes.transAxes.transform((0, 0))[1]) - 0.4 * leading * points
    places = _above(bottom, _spread(ends, heights), heights)  # the last tick's label is below
    for (_, text, curve), end, pixel in zip(ordered, ends, places, strict=True):
        y = float(inverse.transform((0, pixel))[1])
        tip = float(inverse.transform((0, end))[1])
        axes.plot(
            [1.002, 1.022], [tip, y], transform=axes.transAxes, clip_on=False,
            color=curve.colour, linewidth=0.8,
        )  # fmt: skip
        axes.text(
            1.028, y, text, transform=axes.transAxes, va="center",
            color=curve.colour, weight="bold", size=9, linespacing=1.1,
        )  # fmt: skip


def fit(panels: Sequence[Axes]) -> None:
    """Make panels side by side as wide as all that is written beside them leaves room for.

    Call it when all is drawn.
    """
    figure = panels[0].get_figure(root=True)
    assert figure is not None
    dpi, width = figure.get_dpi(), figure.bbox.width
    edge, gap = _EDGE * dpi, _BETWEEN * dpi
    beside = []
    for axes in panels:
        panel, whole = axes.get_window_extent(), axes.get_tightbbox()
        assert whole is not None
        beside.append((panel.x0 - whole.x0, whole.x1 - panel.x1))
    taken = sum(map(sum, beside)) + 2 * edge + (len(panels) - 1) * gap
    each = max(0.1 * width, (width - taken) / len(panels))
    x = edge
    for axes, (left, right) in zip(panels, beside, strict=True):
        place = axes.get_position()
        axes.set_position(((x + left) / width, place.y0, each / width, place.height))
        x += left + each + right + gap


def inset(axes: Axes, box: Box, title: str) -> Axes:
    """A smaller panel inside another."""
    inner = axes.inset_axes(box)
    inner.set_title(title, size=7.5, pad=3)
    inner.tick_params(labelsize=7.5, length=2.5)
    inner.set_facecolor("white")
    inner.locator_params(axis="x", nbins=3)  # 10,000 and 15,000 would touch
    inner.locator_params(axis="y", nbins=4)
    for spine in inner.spines.values():
        spine.set_visible(True)
    group_digits(inner)
    return inner


def first_free(
    axes: Axes, boxes: Sequence[Box], curves: Sequence[tuple[Array, Array]], margin: float = 0.06
) -> Box | None:
    """The first box that no curve (x, y) runs through, None if there is none.

    Call it when the axes' limits are final. ``margin``: of the panel, kept free around a box.
    """
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()

    def hides(box: Box, x: Array, y: Array) -> bool:
        left, bottom, width, height = box
        across = np.linspace(left - margin, left + width + margin, 100)
        heights = (np.interp(x0 + across * (x1 - x0), x, y) - y0) / (y1 - y0)
        below, above = heights.max() < bottom - margin, heights.min() > bottom + height + margin
        return not (below or above)

    return next((box for box in boxes if not any(hides(box, *curve) for curve in curves)), None)


def note(
    axes: Axes, text: str, point: tuple[float, float], shift: tuple[float, float], curve: Curve,
    align: str = "center",
) -> None:  # fmt: skip
    """Words of a curve at a point of it, ``shift`` points away, legible on top of lines."""
    from matplotlib.patheffects import withStroke

    words = axes.annotate(
        text, point, shift, textcoords="offset points", ha=align, va="center",
        color=curve.colour, weight="bold", size=9,
    )  # fmt: skip
    words.set_path_effects([withStroke(linewidth=3, foreground="white")])


def group_digits(axes: Axes) -> None:
    """Write 100,000, and 0.5 as it is."""
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: plain(value))


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write ``stem`` as .png, .svg and .pdf, without dates: equal figures are equal files."""
    paths = [stem.with_name(f"{stem.name}.{ending}") for ending in FORMATS]
    dateless: dict[str, dict[str, Any]] = {
        "png": {"Software": None},
        "svg": {"Date": None},
        "pdf": {"CreationDate": None},
    }
    stem.parent.mkdir(parents=True, exist_ok=True)
    for path, ending in zip(paths, FORMATS, strict=True):
        with replacing(path) as scratch:
            figure.savefig(scratch, format=ending, metadata=dateless[ending])
    return paths


def _spread(wanted: list[float], heights: list[float]) -> list[float]:
    """Ascending positions near the wanted ones at which boxes of these heights do not overlap.

    Boxes that would overlap become a stack, centred on the mean of what its members want.

    >>> _spread([0, 1, 50], [10, 10, 10])
    [-4.5, 5.5, 50.0]
    """
    stacks: list[tuple[list[int], float, float]] = []  # members, lower edge, upper edge
    for number in range(len(wanted)):
        stack = [number]
        while True:
            height = sum(heights[member] for member in stack)
            low = sum(wanted[member] for member in stack) / len(stack) - height / 2
            if not (stacks and stacks[-1][2] > low):
                break
            stack = stacks.pop()[0] + stack
        stacks.append((stack, low, low + height))
    places = []
    for stack, y, _ in stacks:
        for number in stack:
            places.append(y + heights[number] / 2)
            y += heights[number]
    return places


def _above(low: float, places: list[float], heights: list[float]) -> list[float]:
    """Ascending places of boxes, moved up as far as it takes for none to begin below ``low``.

    >>> _above(0, [-4.5, 5.5, 50.0], [10, 10, 10])
    [5.0, 15.0, 50.0]
    """
    moved = []
    for place, height in zip(places, heights, strict=True):
        moved.append(max(place, low + height / 2))
        low = moved[-1] + height / 2
    return moved


def _wrap(text: str, width: float, size: float) -> list[str]:
    """Break paragraphs into lines of at most ``width`` points, measured in the real font."""
    lines = []
    for paragraph in text.splitlines():
        current = ""
        for word in paragraph.split():
            longer = f"{current} {word}".strip()
            if current and _measure(longer, size) > width:
                lines.append(current)
                longer = word
            current = longer
        lines.append(current)
    return lines


def _measure(words: str, size: float, weight: str = "normal") -> float:
    """How wide words are, in points."""
    import matplotlib as mpl
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=mpl.rcParams["font.family"], size=size, weight=weight)
    return float(text_to_path.get_text_width_height_descent(words, font, ismath=False)[0])
