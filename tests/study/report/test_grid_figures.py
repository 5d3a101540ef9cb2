import numpy as np
import pytest

from surefoot._drawing import style
from surefoot.study.grids import grids
from surefoot.study.problems import MAIN
from surefoot.study.report.grid_figures import draw_grid
from surefoot.study.sweep import Sweep, paper, read

ALPHAS = (0.01, 0.05, 0.1, 0.2, 0.4)
WIDE = Sweep.of(read(MAIN["cmab"])).but(K=(2, 3), alpha=ALPHAS, horizon=100)


def entry(panel, names=("GenCB", "UCB1"), *, interval=True):
    """What a study found at a panel, made up."""
    place = 1_000 * panel.alpha + panel.K
    agents = [
        {
            "name": name,
            "regret": measure(place + 10 * number, interval=interval),
            "default_plays": measure(50 * panel.alpha, interval=interval),
            "minimum_slack": measure(-5.0 * number, interval=interval),
        }
        for number, name in enumerate(names)
    ]
    found = {"problem": panel.problem, **panel.place, "horizon": panel.horizon, "runs": 7}
    return {**found, "agents": agents}


def measure(mean, *, interval=True):
    ends = [mean - 1, mean + 1] if interval else None
    return {"mean": mean, "min": mean - 3, "max": mean + 3, "interval": ends}


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    def draw(grid, entries):
        kept = []
        monkeypatch.setattr(style, "save", lambda sheet, stem: kept.append(sheet) or [])
        found = draw_grid(grid, entries, tmp_path / grid.name)
        kept[0].canvas.draw()
        return kept[0], found

    return draw


def test_a_grid_is_drawn_over_its_longest_axis_once_for_each_other_place():
    first, second = grids(WIDE.panels)
    assert (first.axis, first.rest, second.rest) == ("alpha", {"K": 2}, {"K": 3})
    assert [panel.alpha for panel in first.panels] == list(ALPHAS)
    assert first.title == "CMAB: the grid over α, K = 2"
    assert grids(paper()) == []
    assert grids(WIDE.but(alpha=ALPHAS[:3]).panels) == []


def test_it_shows_means_intervals_shares_and_the_worst_run(drawn):
    grid = grids(WIDE.panels)[0]
    entries = [entry(panel) for panel in grid.panels]
    figure, found = drawn(grid, entries)
    regret, share, least = figure.axes
    lines = {tuple(line.get_ydata()) for line in regret.lines}
    assert tuple(1_000 * np.array(ALPHAS) + 2) in lines
    corners = regret.collections[0].get_paths()[0].vertices[:, 1]
    assert {1_000 * alpha + 2 + 1 for alpha in ALPHAS} <= set(corners)
    assert tuple(50 * np.array(ALPHAS)) in {tuple(line.get_ydata()) for line in share.lines}
    assert (-8.0,) * 5 in {tuple(line.get_ydata()) for line in least.lines}
    assert regret.get_xscale() == "log"  # from 0.01 to 0.4
    for axes in figure.axes:
        assert {"GenCB", "UCB1"} <= {text.get_text() for text in axes.texts}
        assert 0 <= axes.get_tightbbox().x0 < axes.get_tightbbox().x1 <= figure.bbox.x1
    assert found.caption.startswith("7 runs of 100 plays at each of 5 points.")
    assert len(found.pieces) == 3


def test_runs_too_few_for_an_interval_and_panels_that_lack_are_drawn(drawn):
    grid = grids(WIDE.panels)[0]
    entries = [entry(panel, interval=False) for panel in grid.panels[1:3]]
    assert "at each of 2 points" in drawn(grid, entries)[1].caption


def test_twelve_agents_stay_apart(drawn):
    names = [f"policy {number}" for number in range(12)]
    grid = grids(WIDE.panels)[0]
    figure, _ = drawn(grid, [entry(panel, names) for panel in grid.panels])
    seen = [line for line in figure.axes[0].lines if line.get_linewidth() > 1]
    looks = {(line.get_color(), str(line._dash_pattern), line.get_marker()) for line in seen}
    assert len(looks) == 12
