import pytest

from surefoot.environments.mean_variance import best_mean_variance
from surefoot.study.panel import number
from surefoot.study.problems import MAIN
from surefoot.study.sweep import Sweep, paper, read


def test_the_horizon_the_seed_and_conucbs_constants_are_ours():
    panel = read(MAIN["cmab"])
    assert set(panel.chosen()) == {"horizon", "seed", "delta", "radius", "scale", "ties"}
    assert (panel.horizon, panel.delta, panel.level) == (100_000, "1/T", 1e-5)


def test_the_baseline_earns_exactly_the_floor():
    main = read(MAIN["cmab"])
    assert main.slope == 0.135
    assert read("cmab-K72-alpha0.15").slope == 0.205
    assert Sweep.of(main).but(mu0=0.9).panels[0].slope == 0.045
    mv = read(MAIN["mv"])
    assert mv.slope == pytest.approx(1.19)
    env = mv.environment()
    assert mv.top == best_mean_variance(env.means, env.variances, 10)


@pytest.mark.parametrize("panel", paper(), ids=lambda panel: panel.name)
def test_a_panel_plays_its_agents_against_one_floor(panel):
    agents = panel.agents()
    assert tuple(agents) == panel.names()
    assert agents[panel.guarded].default_competes is False
    for agent in agents.values():
        assert agent.measured
        assert (float(agent.floor.default), float(agent.floor.alpha)) == (panel.pays, panel.alpha)
    assert panel.worth < panel.top
    assert 0 < panel.slope


def test_a_name_has_no_idle_decimals():
    assert [number(value) for value in (60.0, 0.05, 7)] == ["60", "0.05", "7"]
