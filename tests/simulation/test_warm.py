import pytest

import surefoot as sf
from surefoot.simulation import runner
from surefoot.simulation.compiled import PLAIN
from surefoot.simulation.plan import Plan
from surefoot.simulation.runner import choose, compile_ahead, warm


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path))
    monkeypatch.setattr(runner, "_READY", set())


def plan(policy=sf.UCB1, n_arms=2):
    agents = {"GenCB": sf.GenCB(policy(n_arms), sf.RewardFloor(0.5, 0.1))}
    return Plan(agents, sf.BernoulliArms([0.6] * n_arms), 50, seed=0)


def test_loops_are_warm_once_they_are_compiled_and_in_the_next_process_too(monkeypatch):
    engine = choose("compiled")
    assert not warm(plan(), engine)
    compile_ahead(plan(), engine)
    assert warm(plan(), engine)
    monkeypatch.setattr(runner, "_READY", set())  # another process finds the cache only
    assert warm(plan(), engine)


def test_the_number_of_arms_needs_no_loop_of_its_own_but_another_policy_does():
    engine = choose("compiled")
    compile_ahead(plan(), engine)
    assert warm(plan(n_arms=5), engine)
    assert not warm(plan(sf.KLUCB), engine)


def test_without_a_cache_this_process_still_knows(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "file"))
    engine = choose("compiled")
    assert not warm(plan(), engine)
    compile_ahead(plan(), engine)
    assert warm(plan(), engine)
    monkeypatch.setattr(runner, "_READY", set())
    assert not warm(plan(), engine)


def test_plain_python_has_nothing_to_compile():
    assert warm(plan(), PLAIN)
    compile_ahead(plan(), PLAIN)


def test_compiling_ahead_leaves_the_agents_as_they_are():
    ahead = plan()
    compile_ahead(ahead, choose("compiled"))
    assert ahead.agents["GenCB"].account.plays == 0
