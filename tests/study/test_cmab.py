import numpy as np
import pytest

from surefoot.agents import ConUCB, GenCB, Plain
from surefoot.simulation import Result
from surefoot.simulation.compiled import PLAIN
from surefoot.simulation.runner import choose, run_all
from surefoot.study import cmab
from surefoot.study.panel import MAIN, Sweep, read


def panel(**changes):
    return Sweep.of(read(MAIN)).but(**changes).panels()[0]


def test_the_agents_are_the_papers():
    agents = cmab.agents(panel(K=(5,), alpha=(0.1,), horizon=400))
    assert list(agents) == ["GenCB", "UCB1", "ConUCB"]
    gencb, ucb1, conucb = agents.values()
    assert isinstance(gencb, GenCB)
    assert gencb.default_competes is False
    assert isinstance(ucb1, Plain)
    assert ucb1.measured
    assert isinstance(conucb, ConUCB)
    assert (conucb.delta, conucb.radius, conucb.scale) == (1 / 400, "iterated", "paper")
    for agent in agents.values():
        assert (float(agent.floor.default), float(agent.floor.alpha)) == (0.7, 0.1)
        assert len(agent.arms) == 5


def test_the_means_are_an_arithmetic_sequence():
    assert cmab.environment(panel(K=(4,))).means.tolist() == np.linspace(0.8, 0.2, 4).tolist()
    assert cmab.environment(panel(K=(1,))).means.tolist() == [0.8]


def test_panels_that_differ_in_alpha_share_base_paths():
    panels = Sweep.of(read(MAIN)).but(K=(3,), alpha=(0.05, 0.1, 0.15), horizon=50).panels()
    plan = cmab.plan(panels)
    assert len(plan.agents) == 9
    assert len(plan.paths) == 2  # UCB1's, also GenCB's, and ConUCB's
    assert not plan.stepwise


def test_a_panel_comes_out_the_same_alone_and_in_company():
    sweep = Sweep.of(read(MAIN)).but(K=(3,), alpha=(0.1, 0.2), horizon=300)
    together, alone = sweep.panels(), [sweep.panels()[1]]
    plan, own = cmab.plan(together), cmab.plan(alone)
    both = cmab.frame(together, plan, 4, plan.run(4, PLAIN))
    assert both.filter(alpha=0.2).equals(cmab.frame(alone, own, 4, own.run(4, PLAIN)))
    assert both.columns[:6] == ["problem", "K", "alpha", "agent", "run", "t"]
    assert both.get_column("agent").unique(maintain_order=True).to_list() == list(cmab.NAMES)
    assert set(both.get_column("run")) == {4}


@pytest.mark.parametrize("horizon", [2, 150, 200, 201, 5_000, 10**9])
def test_the_first_plays_are_all_noted_and_the_horizon_is(horizon):
    noted = cmab.checkpoints(horizon)
    dense = min(200, horizon)
    assert noted[:dense].tolist() == list(range(1, dense + 1))
    assert noted[-1] == horizon
    assert len(noted) < 600
    assert (np.diff(noted) > 0).all()


# Means of three runs of another implementation at T = 50,000, with other seeds.
REFERENCE = {
    24: {"UCB1": (1_699, 0, 3_461), "GenCB": (2_043, 2_116, 0), "ConUCB": (5_032, 40_524, 0)},
    72: {"UCB1": (4_197, 0, 16_640), "GenCB": (4_647, 8_799, 0)},
}


@pytest.mark.parametrize("arms", REFERENCE)
def test_the_numbers_agree_with_another_implementation(arms):
    setting = panel(K=(arms,), horizon=50_000)
    plan = cmab.plan([setting])
    runs = dict(run_all(plan, range(20), choose("compiled")))
    result = Result(plan, runs)
    regret = {}
    for name in cmab.NAMES:
        key = cmab.key(name, setting)
        regret[name] = result.measure(key, "regret")[:, -1].mean()
        measures = ("regret", "default_plays", "violating_rounds")
        for measure, expected in zip(measures, REFERENCE[arms].get(name, ()), strict=False):
            found = result.measure(key, measure)[:, -1]
            of_means = found.std(ddof=1) * np.sqrt(1 / 3 + 1 / len(found))
            assert abs(found.mean() - expected) <= 3 * of_means, (name, measure, found.mean())
    assert regret["UCB1"] < regret["GenCB"] < regret["ConUCB"] < 0.135 * 50_000
    assert result.measure(cmab.key("GenCB", setting), "minimum_slack").min() >= 0
