"""The loop by play: compiled, plain and live make the same plays, with the same books and sums."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from driven import live
from late import ARMS, DRIFT, assert_is, floors, timed, twin
from surefoot.environments._timing import AT_ONCE
from surefoot.simulation import stops, waiting
from surefoot.simulation.plan import Plan
from surefoot.simulation.runner import choose

SMOOTH = sf.Drifting(ARMS, {41: [0.1, 0.2, 0.9]}, smooth=True)


def assert_same(one, other):
    assert np.flatnonzero((one.books != other.books).any(axis=1)).tolist() == []
    assert (one.losses == other.losses).all()


def assert_all_agree(plan, engines=("plain", "compiled")):
    assert set(plan.by_play) == set(plan.agents)
    runs = [plan.run(0, choose(engine)) for engine in engines]
    for name in plan.agents:
        driven = live(plan, name)
        for run in runs:
            assert_same(run[name], driven)


def agents(policy, floor):
    return {
        "printed": sf.GenCB(policy(3), floor, default_competes=False),
        "competing": sf.GenCB(policy(3), floor),
        "free": sf.Plain(policy(3), floor),
    }


@settings(max_examples=15)
@given(timed(ARMS), floors(), st.integers(0, 99))
def test_all_drivers_agree_where_rewards_come_late(environment, floor, seed):
    assert_all_agree(Plan(agents(sf.UCB1, floor), environment, 130, seed, "all"))


@settings(max_examples=15)
@given(timed(DRIFT, SMOOTH) | st.sampled_from([DRIFT, SMOOTH]), floors(), st.integers(0, 99))
def test_all_drivers_agree_where_arms_drift(environment, floor, seed):
    assert_all_agree(Plan(agents(sf.UCB1, floor), environment, 130, seed, "all"))


@settings(max_examples=10)
@given(st.sampled_from([sf.KLUCB, sf.Thompson]), timed(ARMS, DRIFT), floors(), st.integers(0, 99))
def test_other_policies_agree_in_plain_text(policy, environment, floor, seed):
    assert_all_agree(Plan(agents(policy, floor), environment, 100, seed, "all"), ("plain",))


@settings(max_examples=15)
@given(timed(ARMS), floors(), st.booleans(), st.booleans(), st.integers(0, 99))
def test_ucb1_counts_what_is_out_as_its_twin_does(environment, floor, guarded, competes, seed):
    agent = sf.GenCB(sf.UCB1(3), floor, default_competes=competes)
    if not guarded:
        agent = sf.Plain(sf.UCB1(3), floor)
    plan = Plan({"it": agent}, environment, 130, seed, "all")
    assert_is(
        plan.run(0, choose("plain"))["it"], twin(agent, plan, environment, 130, counting=True),
        10**floor.places,
    )  # fmt: skip


def test_a_policy_may_be_deaf_to_what_is_out():
    def deaf_ucb1(n_arms):
        policy = sf.UCB1(n_arms)
        policy.counts_open = False
        return policy

    floor, environment = sf.RewardFloor(0.5, 0.3), sf.Delayed(ARMS, 9)
    plan = Plan(agents(deaf_ucb1, floor), environment, 200, 3, "all")
    assert_all_agree(plan, ("plain",))
    deaf = plan.run(0, choose("plain"))["free"].books[:, waiting.ARM].tolist()
    assert deaf[:10] == [0] * 10  # an unplayed arm comes first until its first reward
    hears = Plan(agents(sf.UCB1, floor), environment, 200, 3, "all").run(0, choose("plain"))
    assert hears["free"].books[:6, waiting.ARM].tolist() == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize("delay", [0, 3, 40])
def test_super_arms_wait(delay):
    X = np.array([[1, 0], [0, 1], [0.5, 0.5], [0.2, 0.7]])
    world = sf.CombinatorialArms(X, [0.25, 0.5], sf.TopK(2))
    agent = sf.gencb_cccb(X, sf.TopK(2), default=0.6, alpha=0.3)
    plan = Plan({"it": agent}, sf.Delayed(world, delay), 150, 1, "all")
    assert list(plan.by_play) == ["it"]
    text, driven = plan.run(0, choose("plain"))["it"], live(plan, "it")
    assert (text.books == driven.books).all()
    np.testing.assert_allclose(text.losses, driven.losses, rtol=1e-12)


def test_rewards_from_a_table_and_books_of_other_units_wait():
    log = sf.ReplayLog({"arm": ["a", "a", "b", "b"], "reward": [-0.125, 0.5, 1.75, 0]})
    floor = sf.RewardFloor(0.5, 0.2, (-0.5, 2), 1, 2)
    assert_all_agree(
        Plan({"it": sf.GenCB(sf.UCB1(2), floor)}, sf.Delayed(log, (0, 9)), 200, 5, "all"),
        ("plain",),
    )


def test_the_loop_goes_on_where_it_stopped():
    """Blocks of plays are one run: what is out at the end of one is due in the next."""
    agent = sf.GenCB(sf.UCB1(3), sf.RewardFloor(0.5, 0.3))
    plan = Plan({"it": agent}, sf.Delayed(ARMS, (0, 20)), 300, 5, "all")
    whole = plan.run(0, choose("plain"))["it"]
    for block in (1, 7, 299):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("surefoot.simulation.stages.BLOCK", block)
            assert_same(plan.run(0, choose("plain"))["it"], whole)


def test_a_stopped_run_ends_between_two_blocks(monkeypatch):
    monkeypatch.setattr("surefoot.simulation.stages.BLOCK", 10)
    plan = Plan({"it": sf.Plain(sf.UCB1(3))}, sf.Delayed(ARMS, 5), 300, 5)
    asked = iter([False, False, True])
    with pytest.raises(stops.Stopped):
        plan.run(0, choose("plain"), lambda: next(asked))


def test_the_ring_has_a_place_for_each_play_that_may_be_out():
    out = waiting.queue(3, 2, list)
    assert [len(row) for row in out] == [3, 3, 3, 3, 3, 6]
    assert AT_ONCE.high == 0


def test_result_says_who_is_driven_by_play():
    floor = sf.RewardFloor(0.5, 0.3)
    mixed = {
        "engine": sf.GenCB(sf.UCB1(3), floor),
        "pledge": sf.ConUCB(3, 0.5, 0.3, 0.01, "simple", "bounded"),
        "own": sf.GenCB(sf.MVUCB(3, rho=2), sf.MeanVarianceFloor(0.5, 0.5, rho=2)),
    }
    result = sf.simulate(mixed, sf.Delayed(ARMS, 5), 60, seed=1, engine="plain")
    assert result.engines == {"engine": "plain by play", "pledge": "stepwise", "own": "stepwise"}
    for name in ("engine", "own"):
        assert result.summary()[name]["violating_rounds"]["max"] == 0


def test_a_class_of_ones_own_that_says_when_rewards_arrive_is_driven_live():
    class Later(sf.Delayed):
        def arrival(self, key, play):
            return super().arrival(key, play) + 1

    class Slow(sf.BernoulliArms):
        def arrival(self, key, play):
            return play + 5

    agent = {"it": sf.GenCB(sf.UCB1(3), sf.RewardFloor(0.5, 0.3))}
    for environment in (Later(ARMS, 4), Slow([0.9, 0.5, 0.4])):
        assert Plan(agent, environment, 60, 1, "all").stepwise == ["it"]
    books = [
        Plan(agent, environment, 60, 1, "all").run(0, choose("plain"))["it"].books
        for environment in (Later(ARMS, 4), Slow([0.9, 0.5, 0.4]), sf.Delayed(ARMS, 5))
    ]
    assert (books[0] == books[2]).all()
    assert (books[1] == books[2]).all()
