"""Draw the picture that the documentation opens with, and those of the page on routers.

    uv run scripts/pictures.py [--folder FOLDER] [opening | router | payments] ...

writes opening-light.svg and opening-dark.svg, in a few seconds: what the ten lines below them do, a
hundred times over, with the guard and without. router.png and payments.png are drawn by the scripts
of ``examples/`` in a minute or two each, which print the tables of the page. By default all, to
docs/_static.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import surefoot as sf

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOT = Path(__file__).parents[1]
HERE = ROOT / "docs" / "_static"
OPENING, EXAMPLES = "opening", ("router", "payments")
RUNS, HORIZON, MOST = 100, 3_000, 400


class Ink(NamedTuple):
    """The colours of one page; both pairs keep a contrast of 4.5 to their ground."""

    words: str
    hair: str
    guarded: str
    unguarded: str


INKS = {
    "light": Ink("#222222", "#D9D9D9", "#0072B2", "#C04A00"),
    "dark": Ink("#DDDDDD", "#4A4A4A", "#56B4E9", "#FF9D5C"),
}


def played() -> sf.Result:
    """The example of the page, with the guard and without."""
    floor = sf.RewardFloor(default=0.5, alpha=0.1)
    arms = ["red", "blue", "grey", "pink"]
    agents = {
        "guarded": sf.GenCB(sf.Thompson(arms=arms), floor),
        "unguarded": sf.Plain(sf.Thompson(arms=arms), floor),
    }
    world = sf.BernoulliArms([0.2, 0.3, 0.35, 0.6])
    return sf.simulate(agents, world, HORIZON, RUNS, seed=0, checkpoints="all")


def draw(result: sf.Result, ink: Ink, path: Path) -> None:
    """Write the picture in these colours, on no ground of its own."""
    settings: Any = {
        "font.size": 9.5, "text.color": ink.words, "axes.labelcolor": ink.words,
        "axes.edgecolor": ink.words, "xtick.color": ink.words, "ytick.color": ink.words,
        "grid.color": ink.hair, "svg.hashsalt": "surefoot",
    }  # fmt: skip
    with mpl.rc_context(settings):
        figure = Figure(figsize=(7.6, 3.1), layout="constrained")
        early, late = figure.subplots(1, 2)
        worst(early, result, ink)
        mean(late, result, ink)
        figure.savefig(path, transparent=True, metadata={"Date": None})


def worst(axes: Axes, result: sf.Result, ink: Ink) -> None:
    """The worst run of each at each of the first plays."""
    t = result.plan.checkpoints[:MOST]
    axes.set_title(f"The worst of {RUNS} runs", loc="left", size=10.5)
    axes.set_ylabel("reward above the floor")
    lows = {}
    for name, colour in (("unguarded", ink.unguarded), ("guarded", ink.guarded)):
        low = result.measure(name, "slack")[:, :MOST].min(axis=0)
        axes.plot(t, low, color=colour, linewidth=2, linestyle=_dash(name))
        lows[name] = low
    axes.axhspan(lows["unguarded"].min() * 1.15, 0, color=ink.hair, alpha=0.35, linewidth=0)
    axes.set_ylim(lows["unguarded"].min() * 1.15, lows["guarded"].max() + 12)
    axes.annotate("guarded: never below", (t[-1], 4), ha="right", color=ink.guarded, weight="bold")
    at = int(np.argmin(lows["unguarded"]))
    axes.annotate(
        f"unguarded: {-lows['unguarded'][at]:.0f} below", (t[-1], lows["unguarded"][at]),
        ha="right", color=ink.unguarded, weight="bold",
    )  # fmt: skip
    _frame(axes)


def mean(axes: Axes, result: sf.Result, ink: Ink) -> None:
    """What both bring above always playing the default, in the mean."""
    t = result.plan.checkpoints
    axes.set_title(f"The mean of {RUNS} runs", loc="left", size=10.5)
    axes.set_ylabel("reward above always the default")
    for name, colour in (("unguarded", ink.unguarded), ("guarded", ink.guarded)):
        above = result.measure(name, "slack").mean(axis=0) - 0.05 * t
        axes.plot(t[::20], above[::20], color=colour, linewidth=2, linestyle=_dash(name))
        over = name == "unguarded"
        axes.annotate(
            name, (t[len(t) // 3 * 2], above[len(t) // 3 * 2]),
            xytext=(-8, 8) if over else (8, -14),
            textcoords="offset points", ha="right" if over else "left", color=colour, weight="bold",
        )  # fmt: skip
    axes.plot(t, 0 * t, color=ink.words, linewidth=1, linestyle=(0, (9, 3)))
    _frame(axes)


def _dash(name: str) -> Any:
    return "-" if name == "guarded" else (0, (5, 1.6))


def _frame(axes: Axes) -> None:
    axes.set_xlabel("play")
    axes.grid(linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.locator_params(nbins=5)
    axes.xaxis.set_major_formatter("{x:,.0f}")


def main() -> None:
    """Draw what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pictures", nargs="*", metavar="PICTURE", help="by default all")
    parser.add_argument("--folder", type=Path, default=HERE)
    asked = parser.parse_args()
    pictures = asked.pictures or [OPENING, *EXAMPLES]
    if unknown := set(pictures) - {OPENING, *EXAMPLES}:
        parser.error(f"{', '.join(sorted(unknown))}: choose {OPENING}, {', '.join(EXAMPLES)}")
    if OPENING in pictures:
        found = played()
        for page, ink in INKS.items():
            draw(found, ink, asked.folder / f"opening-{page}.svg")
    for name in EXAMPLES:
        if name in pictures:
            script, figure = ROOT / "examples" / f"{name}.py", asked.folder / f"{name}.png"
            subprocess.run([sys.executable, script, "--figure", figure], check=True)


if __name__ == "__main__":
    main()
