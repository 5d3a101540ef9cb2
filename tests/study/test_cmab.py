import numpy as np
import pytest

from claims_at_reduced_size import check
from surefoot.agents import GenCB, Plain
from surefoot.comparators import ConUCB
from surefoot.simulation import Result
from surefoot.simulation.runner import choose, run_all
from surefoot.study import groups
from surefoot.study.problems import MAIN
from surefoot.study.sweep import Sweep, read


def panel(**changes):
    return Sweep.of(read(MAIN["cmab"])).but(**changes).panels[0]


def test_the_agents_are_the_papers():
    agents = panel(K=(5,), alpha=(0.1,), horizon=400).agents()
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
    assert panel(K=(4,)).environment().means.tolist() == np.linspace(0.8, 0.2, 4).tolist()
    assert panel(K=(1,)).environment().means.tolist() == [0.8]


# Means of three runs of another implementation at T = 50,000, with other seeds.
REFERENCE = {
    24: {"UCB1": (1_699, 0, 3_461), "GenCB": (2_043, 2_116, 0), "ConUCB": (5_032, 40_524, 0)},
    72: {"UCB1": (4_197, 0, 16_640), "GenCB": (4_647, 8_799, 0)},
}


@pytest.mark.parametrize("arms", REFERENCE)
def test_the_numbers_agree_with_another_implementation(arms):
    setting = panel(K=(arms,), horizon=50_000)
    plan = groups.plan([setting])
    runs = dict(run_all(plan, range(20), choose("compiled")))
    result = Result(plan, runs)
    regret = {}
    for name in setting.names():
        key = groups.key(name, setting)
        regret[name] = result.measure(key, "regret")[:, -1].mean()
        measures = ("regret", "default_plays", "violating_rounds")
        for measure, expected in zip(measures, REFERENCE[arms].get(name, ()), strict=False):
            found = result.measure(key, measure)[:, -1]
            of_means = found.std(ddof=1) * np.sqrt(1 / 3 + 1 / len(found))
            assert abs(found.mean() - expected) <= 3 * of_means, (name, measure, found.mean())
    assert regret["UCB1"] < regret["GenCB"] < regret["ConUCB"] < 0.135 * 50_000
    assert result.measure(groups.key("GenCB", setting), "minimum_slack").min() >= 0


def test_the_papers_claims_at_reduced_size():
    found = check("cmab", K=(5,), alpha=(0.05,), horizon=20_000)
    assert found == {"kept": True, "flat": True, "lower": True, "constant": True, "early": True}
