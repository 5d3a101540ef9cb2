import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

import surefoot as sf
from surefoot.errors import InvalidInput, MissingExtra
from surefoot.simulation import chart
from surefoot.simulation.loop import ARM

MEANS = [0.75, 0.5, 0.25]
FLOOR = sf.RewardFloor(0.625, 0.2)


def simulated(agents=None, environment=None, **options):
    agents = agents or {
        "GenCB": sf.GenCB(sf.UCB1(arms=["red", "green", "blue"]), FLOOR),
        "free": sf.Plain(sf.UCB1(3)),
    }
    options = {"horizon": 150, "runs": 3, "seed": 2, "engine": "plain", **options}
    return sf.simulate(agents, environment or sf.BernoulliArms(MEANS), **options)


@pytest.fixture(scope="module")
def result():
    return simulated(checkpoints="all")


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def test_it_draws_regret_slack_and_shares(result):
    figure = result.plot()
    assert isinstance(figure, Figure)
    shown = ["Cumulative regret", "Above the floor"]
    assert titles(figure) == [*shown, "GenCB: share of plays", "free: share of plays"]
    regret, slack = figure.axes[:2]
    lines = {tuple(line.get_ydata()) for line in regret.lines}
    for name in result.agents:
        values = result.measure(name, "regret")
        for curve in (values.mean(axis=0), values.min(axis=0), values.max(axis=0)):
            assert tuple(curve) in lines
    assert "free" not in " ".join(text.get_text() for text in slack.texts)  # it has no floor


def test_the_band_lies_between_the_quantiles(result):
    (regret,) = result.plot(["regret"]).axes
    values = result.measure("GenCB", "regret")
    edges = {tuple(np.quantile(values, q, axis=0)) for q in (0.05, 0.95)}
    corners = regret.collections[0].get_paths()[0].vertices[:, 1]
    for edge in edges:
        assert set(edge) <= set(corners)


def test_shares_are_counts_where_every_play_is_noted(result):
    found = chart.shares_of(result, "GenCB")
    arms = np.stack([run["GenCB"].books[:, ARM] for run in result.runs.values()])
    for low, high, default, *shares in zip(
        found.edges[:-1], found.edges[1:], found.default, *found.arms.values(), strict=True
    ):
        played = arms[:, low:high]
        assert default == pytest.approx((played < 0).mean())
        assert shares == pytest.approx([(played == arm).mean() for arm in found.arms])


def test_shares_of_a_coarse_grid_add_up_and_count_the_default(result):
    found = chart.shares_of(simulated(checkpoints=[40, 100]), "GenCB")
    assert found.edges.tolist() == [0, 40, 100, 150]
    whole = chart.shares_of(result, "GenCB")
    plays = [(one.default * np.diff(one.edges)).sum() for one in (found, whole)]
    assert plays[0] == pytest.approx(plays[1])
    assert (found.default + sum(found.arms.values()) <= 1 + 1e-12).all()


def test_labels_are_the_users_and_stay_on_the_sheet(result):
    figure = result.plot(["arms"])
    figure.canvas.draw()
    words = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert "arm red:" in words
    assert "default:" in words
    for axes in figure.axes:
        assert 0 <= axes.get_tightbbox().x0
        assert axes.get_tightbbox().x1 <= figure.bbox.x1


@pytest.mark.parametrize("agents", [1, 2, 3, 5])
def test_panels_are_of_one_width_and_leave_no_room_for_nobody(agents):
    named = {f"agent {n}": sf.GenCB(sf.UCB1(3), FLOOR) for n in range(agents)}
    figure = simulated(named, horizon=60, checkpoints="all").plot()
    figure.canvas.draw()
    widths = [axes.get_window_extent().width for axes in figure.axes]
    assert len(widths) == agents + 2
    assert min(widths) > 0.65 * max(widths)
    for axes in figure.axes:
        assert axes.get_tightbbox().x1 <= figure.bbox.x1
        assert "other arms" not in " ".join(text.get_text() for text in axes.texts)


class Rounds:
    """A policy of one's own."""

    n_arms = 3

    def __init__(self):
        self.turn = 0

    def select(self, context, rng):
        self.turn += 1
        return self.turn % 3

    def update(self, arm, reward, context): ...

    def state(self):
        return {"turn": self.turn}

    def restore(self, state):
        self.turn = state["turn"]


def test_a_policy_of_ones_own_and_super_arms_are_drawn(tmp_path):
    own = simulated({"mine": sf.GenCB(Rounds(), FLOOR)}, horizon=40, runs=1)
    assert "mine: share of plays" in titles(own.plot())
    base = np.eye(3)
    agents = {"super": sf.gencb_cccb(base, sf.TopK(2), default=1.0, alpha=0.2)}
    arms = sf.CombinatorialArms(base, np.array([0.5, 0.4, 0.1]), sf.TopK(2))
    figure = simulated(agents, arms, horizon=30, runs=1).plot()
    assert "explorations" in " ".join(text.get_text() for text in figure.axes[-1].texts)
    figure.savefig(tmp_path / "super.png")


def test_mean_variance_names_its_measure():
    agents = {"MV": sf.mv_cucb(n_arms=3, default=0.6, alpha=0.2, rho=20)}
    (slack,) = simulated(agents, horizon=60).plot(["slack"]).axes
    assert slack.get_ylabel() == "t·MV above the floor"


@pytest.mark.parametrize("panels", ["regret", [], ["regrets"], 3, [2]])
def test_another_panel_is_refused(result, panels):
    with pytest.raises(InvalidInput, match="panels"):
        result.plot(panels)


def test_a_missing_matplotlib_is_one_line(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[study\]'"):
        result.plot()


def test_neither_pyplot_nor_its_settings_are_touched():
    code = (
        "import sys, surefoot as sf; import matplotlib as mpl; mpl.rcParams['font.size'] = 30;"
        "a = {'g': sf.gencb_cmab(n_arms=2, default=0.7, alpha=0.05)};"
        "r = sf.simulate(a, sf.BernoulliArms([0.8, 0.2]), 9, engine='plain');"
        "assert 'matplotlib.figure' not in sys.modules; r.plot();"
        "assert 'matplotlib.pyplot' not in sys.modules; assert mpl.rcParams['font.size'] == 30"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
