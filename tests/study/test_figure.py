import polars as pl
import pytest

from surefoot.simulation.compiled import PLAIN
from surefoot.study import cmab, figure, style
from surefoot.study.panel import MAIN, Sweep, read


def rows(panel, runs=2):
    plan = cmab.plan([panel])
    return pl.concat([cmab.frame([panel], plan, run, plan.run(run, PLAIN)) for run in range(runs)])


def panel(**changes):
    return Sweep.of(read(MAIN)).but(**changes).panels()[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"K": (4,), "horizon": 1_500},
        {"K": (1,), "horizon": 2},  # nothing is learnt
        {"K": (2,), "horizon": 300, "worst": 0.8, "alpha": (0.9,)},  # nothing falls below
        {"K": (3,), "horizon": 300, "mu0": 0.9},
    ],
)
def test_every_setting_can_be_drawn(tmp_path, monkeypatch, changes):
    monkeypatch.setattr(style, "FORMATS", ("png",))
    setting = panel(**changes)
    (file,) = figure.draw(setting, rows(setting), tmp_path / setting.name)
    assert file.name == f"{setting.name}.png"
    assert file.read_bytes().startswith(b"\x89PNG")
    assert file.stat().st_size > 50_000


def test_the_panels_show_what_they_say(monkeypatch, tmp_path):
    setting = panel(K=(4,), horizon=1_500)
    frame = rows(setting)
    kept = []
    monkeypatch.setattr(style, "save", lambda sheet, stem: kept.append(sheet) or [])
    figure.draw(setting, frame, tmp_path / "x")
    left, right = kept[0].axes
    drawn = {tuple(line.get_ydata()) for line in left.lines if len(line.get_xdata()) > 2}
    worst = {tuple(line.get_ydata()) for line in right.lines if len(line.get_xdata()) > 2}
    for name in cmab.NAMES:
        regret = figure.curves(frame, name, "regret")
        for curve in (regret.mean(axis=0), regret.min(axis=0), regret.max(axis=0)):
            assert tuple(curve) in drawn
        assert tuple(figure.curves(frame, name, "slack").min(axis=0)) in worst
    t = frame.get_column("t").unique().sort().to_numpy()
    assert tuple(0.135 * t) in drawn
    named = [text.get_text() for text in right.texts]
    deepest = figure.curves(frame, "UCB1", "minimum_slack").min()
    assert deepest < 0
    assert f"UCB1: least {figure.amount(deepest)}" in named
    assert "GenCB: least 0" in named
    assert len(left.child_axes) == len(right.child_axes) == 1  # the insets
