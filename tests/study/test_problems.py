import numpy as np
import pytest

from claims_at_reduced_size import check
from surefoot.agents import GenCB, Plain
from surefoot.comparators import C3UCB, CLUCB, ConUCB
from surefoot.environments.mean_variance import best_mean_variance
from surefoot.errors import InvalidInput
from surefoot.simulation import Result
from surefoot.simulation.runner import choose, run_all
from surefoot.study import runs
from surefoot.study.panel import number
from surefoot.study.problems import MAIN, PROBLEMS
from surefoot.study.sweep import Sweep, paper, read


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
    assert conucb.settings == {"delta": 1 / 400, "radius": "iterated", "scale": "paper"}
    for agent in agents.values():
        assert (float(agent.floor.default), float(agent.floor.alpha)) == (0.7, 0.1)
        assert len(agent.labels) == 5


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
    plan = runs.joint_plan([setting])
    result = Result(plan, dict(run_all(plan, range(20), choose("compiled"))))
    regret = {}
    for name in setting.names():
        key = runs.key(name, setting)
        regret[name] = result.measure(key, "regret")[:, -1].mean()
        measures = ("regret", "default_plays", "violating_rounds")
        for measure, expected in zip(measures, REFERENCE[arms].get(name, ()), strict=False):
            found = result.measure(key, measure)[:, -1]
            of_means = found.std(ddof=1) * np.sqrt(1 / 3 + 1 / len(found))
            assert abs(found.mean() - expected) <= 3 * of_means, (name, measure, found.mean())
    assert regret["UCB1"] < regret["GenCB"] < regret["ConUCB"] < 0.135 * 50_000
    assert result.measure(runs.key("GenCB", setting), "minimum_slack").min() >= 0


def test_the_papers_claims_at_reduced_size():
    found = check("cmab", K=(5,), alpha=(0.05,), horizon=20_000)
    assert found == {"kept": True, "flat": True, "lower": True, "constant": True, "early": True}


def test_the_agents_are_the_papers_of_clb():
    gencb, linucb, clucb = read(MAIN["clb"]).agents().values()
    assert (type(gencb), type(linucb), type(clucb)) == (GenCB, Plain, CLUCB)
    assert clucb.config()["noise"] == 0.5
    assert clucb.config()["delta"] == 1e-5


def test_the_papers_claims_at_reduced_size_of_clb():
    """With CLUCB's sigma as GenCB's R; with the smaller one the order turns round here."""
    found = check("clb", d=(2,), alpha=(0.1,), sigma=1.0, horizon=20_000)
    assert found == {"kept": True, "flat": True, "lower": True, "constant": True, "early": True}


def test_the_agents_are_the_papers_of_cccb():
    panel = read(MAIN["cccb"])
    gencb, c2ucb, c3ucb = panel.agents().values()
    assert (type(gencb), type(c2ucb), type(c3ucb)) == (GenCB, Plain, C3UCB)
    assert panel.environment().reward_range == (0, 3)
    assert gencb.floor.reward_range == c2ucb.floor.reward_range


def test_more_base_arms_than_there_are_make_no_super_arm():
    panel = Sweep.of(read(MAIN["cccb"])).but(d=(2,), size=5).panels[0]
    with pytest.raises(InvalidInput, match="size = 5 must be <= 4"):
        panel.agents()


def test_the_papers_claims_at_reduced_size_of_cccb():
    """With C3UCB's sigma as GenCB's R; with the smaller one the order turns round here."""
    found = check("cccb", d=(5,), alpha=(0.02,), sigma=1.0, horizon=20_000)
    assert found == {"kept": True, "flat": True, "lower": True, "constant": True, "early": True}


def test_the_agents_are_the_papers_of_mv():
    cucb, ucb = read(MAIN["mv"]).agents().values()
    assert (type(cucb), type(ucb)) == (GenCB, Plain)
    assert (cucb.floor.check, float(cucb.floor.rho), cucb.policy.rho) == ("paper", 10, 10)


def test_a_setting_the_printed_check_cannot_keep_is_refused():
    panel = Sweep.of(read(MAIN["mv"])).but(rho=(0.5,)).panels[0]
    with pytest.raises(InvalidInput):
        panel.agents()


def test_the_papers_claims_at_reduced_size_of_mv():
    """By 40 runs, of which one has nearly all of the growth, the bootstrap leaves it undecided."""
    found = check("mv", runs=100, K=(3,), alpha=(0.1,), rho=(30.0,), horizon=30_000)
    assert found == {"kept": True, "flat": True, "constant": True, "early": True}


@pytest.mark.parametrize("problem", ["clb", "cccb"])
def test_what_is_told_of_the_instance_is_true(problem):
    panel = read(MAIN[problem])
    X, theta = panel.environment().X, panel.environment().theta
    assert X.shape == (2 * panel.d, panel.d)
    lengths = np.linalg.norm(X, axis=1)
    assert lengths == pytest.approx(panel.bounded["L"])
    assert np.linalg.norm(theta) == pytest.approx(panel.bounded["S"])
    policy = panel.agents()[panel.guarded].policy
    assert policy.settings()["theta_bound"] == panel.bounded["S"]


@pytest.mark.parametrize("problem", ["clb", "cccb"])
def test_the_default_is_a_share_of_the_best_and_the_instance_a_seed(problem):
    sweep = Sweep.of(read(MAIN[problem]))
    panel = sweep.panels[0]
    assert panel.pays == round(0.875 * panel.top, 4)
    assert sweep.but(ratio=0.5).panels[0].pays == round(0.5 * panel.top, 4)
    assert sweep.but(instance=1).panels[0].top != panel.top
    assert (panel.level("1/T"), panel.level(0.01)) == (1e-5, 0.01)


@pytest.mark.parametrize("problem", ["clb", "cccb"])
def test_equal_panels_share_an_environment_that_is_drawn_once(problem):
    panel = read(MAIN[problem])
    other = Sweep.of(panel).but(alpha=(0.5,), horizon=50).panels[0]
    assert other.environment() is panel.environment()
    for change in ({"instance": 1}, {"d": (8,)}, *([{"size": 2}] if problem == "cccb" else [])):
        assert Sweep.of(panel).but(**change).panels[0].environment() is not panel.environment()


def test_the_horizon_the_seed_and_conucbs_constants_are_ours():
    panel = read(MAIN["cmab"])
    assert set(panel.chosen()) == {"horizon", "seed", "delta", "radius", "scale", "ties"}
    assert (panel.horizon, panel.delta, panel.level(panel.delta)) == (100_000, "1/T", 1e-5)


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


def test_every_problem_has_a_main_panel_of_its_own_class():
    assert list(MAIN) == list(PROBLEMS)
    for name, kind in PROBLEMS.items():
        panel = read(MAIN[name])
        assert type(panel) is kind
        assert panel.problem == name
        assert panel.axes[-1 if name != "mv" else 1] == "alpha"
