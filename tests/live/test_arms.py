"""Arms that come and go: a policy is as one that had them from the start and never played them."""

from fractions import Fraction

import numpy as np
import pytest

import surefoot as sf
from learners import snapshot
from naive import adaucb, thompson
from surefoot.live import MemoryStore
from surefoot.live.configuration import grown
from surefoot.live.fold import Fold

FLOOR = sf.RewardFloor(default=0.2, alpha=0.2, reserve=100)
POLICIES = {
    "UCB1": sf.UCB1,
    "UCB1, discounted": lambda arms: sf.UCB1(arms=arms, discount=0.9),
    "UCB1, a window": lambda arms: sf.UCB1(arms=arms, window=7),
    "KLUCB": sf.KLUCB,
    "AdaUCB": sf.AdaUCB,
    "MVUCB": lambda arms: sf.MVUCB(arms=arms, rho=1),
    "Thompson": sf.Thompson,
    "Thompson, discounted": lambda arms: sf.Thompson(arms=arms, discount=0.9),
    "Thompson, a window": lambda arms: sf.Thompson(arms=arms, window=7),
    "GaussianThompson": sf.GaussianThompson,
    "EpsilonGreedy": sf.EpsilonGreedy,
    "KLMS": sf.KLMS,
}


@pytest.mark.parametrize("make", POLICIES.values(), ids=POLICIES.keys())
def test_a_policy_that_grew_goes_on_as_one_that_was_that_large(make):
    small, large = make(arms=["a", "b", "c"]), make(arms=["a", "b", "c", "d", "e"])
    rng = np.random.default_rng(2)
    draws = [np.random.default_rng(5) for _ in range(2)]
    allowed, three = None, [0, 1, 2]
    for turn in range(60):
        if turn == 30:
            small = grown(small, ["d", "e"])
            assert small.state() == large.state()
            allowed, three = None, None
        arm, score = small.best(None, draws[0], allowed)
        same = large.best(None, draws[1], three)
        if turn >= 30:  # an index may depend on how many arms there are
            assert (arm, score) == same
        for policy in (small, large):
            policy.opened(arm, None)
        if rng.random() < 0.8:
            reward = float(rng.integers(0, 3) / 2)
            for policy in (small, large):
                policy.update(arm, reward, None)
                policy.closed(arm, None)
    assert small.state() == large.state()


def lived(policy, turns=60):
    """A live experiment whose arms come, go and come back, and what each arm was told."""
    store = MemoryStore()
    live = sf.Live(sf.GenCB(policy, FLOOR, seed=3, default_competes=False), store)
    told, rng = [[], [], []], np.random.default_rng(1)
    for turn in range(turns):
        if turn == 15:
            live.add_arms(["c"])
        if turn == 30:
            live.remove_arms(["a"])
        if turn == 45:
            live.add_arms(["a"])
        play = live.select()
        assert not (30 <= turn < 45 and play.arm == "a")
        reward = [0.0, 0.25, 1.0][rng.integers(3)]
        live.update(play, reward)
        told[play.index].append(Fraction(reward))
        yield live, told


def gone(turn):
    return {0} if 30 <= turn < 45 else set()


def test_adaucb_counts_all_arms_in_its_crowd_those_removed_too():
    seen = 0
    for turn, (live, told) in enumerate(lived(sf.AdaUCB(arms=["a", "b"]))):
        policy = live._engine.fold.agent.policy
        told = told[: policy.n_arms]
        plays, sums = [*map(len, told)], [sum(rewards) for rewards in told]
        expected = adaucb.indices(plays, sums, policy.turns + 1)
        left = [arm for arm in range(policy.n_arms) if arm not in gone(turn)]
        _, score = policy.peek(policy.turns + 1, left)
        # What an arm that is gone was played still counts in m, and so it does in H.
        assert score == pytest.approx(max(expected[arm] for arm in left), abs=1e-6)
        seen += len(left) < policy.n_arms
    assert seen == 15


def test_thompson_keeps_every_arm_s_posterior():
    for turn, (live, told) in enumerate(lived(sf.Thompson(arms=["a", "b"]))):
        policy = live._engine.fold.agent.policy
        expected = thompson.samples(policy.key, policy.turns + 1, told[: policy.n_arms])
        left = [arm for arm in range(policy.n_arms) if arm not in gone(turn)]
        arm, score = policy.peek(policy.turns + 1, left)
        assert arm == max(left, key=expected.__getitem__)
        assert score == pytest.approx(expected[arm], abs=1e-8)


@pytest.mark.parametrize("name", ["AdaUCB", "Thompson", "UCB1, a window"])
def test_the_ledger_folds_to_the_same_policy(name):
    *_, (live, _) = lived(POLICIES[name](arms=["a", "b"]))
    fold = Fold("default", None)
    for entry in live.store.entries("default"):
        fold.apply(entry)
    assert snapshot(fold.agent) == snapshot(live._engine.fold.agent)
