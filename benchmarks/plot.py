"""Draw the committed results: docs/_static/performance.png from RESULTS.md and PEERS.md.

uv run benchmarks/plot.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
from usage import explain

HERE = Path(__file__).parent
TARGET = HERE.parent / "docs" / "_static" / "performance.png"
LINES = {
    "textbook numba loop, GenCB": ("textbook loop, compiled by numba", "#000000", "s"),
    "engine, GenCB": ("engine", "#0072B2", "o"),
    "engine, GenCB with five alphas": ("engine, each of five alphas", "#56B4E9", "v"),
    "bare loop: draw and add": ("draw and add, no bandit", "#999999", "x"),
}


def rows(file: str) -> list[list[str]]:
    """The cells of every table line of a Markdown file."""
    lines = (HERE / file).read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines if "|" in line]


def steps(axes: plt.Axes) -> None:
    """Time a step against the number of arms."""
    table = rows("RESULTS.md")
    for name, (label, colour, mark) in LINES.items():
        points = [(int(row[1]), float(row[2])) for row in table if row[0] == name]
        axes.plot(*zip(*points, strict=True), marker=mark, color=colour, label=label)
    axes.set(
        xscale="log", yscale="log", xlabel="arms K", ylabel="ns a step, one thread",
        title="Simulating GenCB, T = 1,000,000",
    )  # fmt: skip
    axes.set_xticks([24, 72, 144], ["24", "72", "144"], minor=False)
    axes.set_xticks([], minor=True)
    axes.legend(frameon=False, fontsize=8)


def peers(axes: plt.Axes) -> None:
    """Each library's UCB at 72 arms, as a multiple of the NumPy loop beside it."""
    table = [row for row in rows("PEERS.md") if len(row) > 7 and row[3] == "72"]
    pairs = sorted((float(row[6]), f"{row[0]}: {row[2]}", row[0]) for row in table)
    for place, (ratio, _, library) in enumerate(pairs):
        axes.barh(place, ratio, color="#0072B2" if library == "surefoot" else "#BBBBBB", left=0)
        axes.text(ratio * 1.15, place, f"{ratio:.2g}", va="center", fontsize=7)
    axes.axvline(1, color="#000000", lw=0.8)
    axes.set(
        xscale="log", xlim=(1e-3, 1e3), xlabel="time a step / a NumPy loop's",
        title="Libraries, 72 arms (ours in blue)",
    )  # fmt: skip
    axes.set_yticks(range(len(pairs)), [label for _, label, _ in pairs], fontsize=7)


def main() -> None:
    """Both, side by side."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    steps(left)
    peers(right)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(TARGET, dpi=130)


if __name__ == "__main__":
    explain(__doc__)
    main()
