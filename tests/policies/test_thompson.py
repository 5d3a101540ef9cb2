"""Thompson samples as its twin does, in every driver alike, whatever it leaves out."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import surefoot as sf
from driven import check_plan
from naive import thompson as naive
from surefoot.errors import InvalidInput
from surefoot.kernels import registry, uniform
from surefoot.policies.thompson import WON, ThompsonRecord, sample
from surefoot.simulation import Plan

NANO = 10**9
KEYS = st.integers(0, 2**64 - 1)
TURNS = st.integers(1, 10**9)
ARMS = st.integers(1, 10**9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


def every(state, m, key, allowed):
    """The choice among all quantiles."""
    thetas = {k: sample(ThompsonRecord(), state, k, m, key) for k in allowed}
    best = max(thetas.values())
    return min(k for k in allowed if thetas[k] == best), best


@settings(max_examples=200)
@given(
    KEYS,
    st.integers(1, 10**9),
    st.lists(ARMS | st.just((0, 0)), min_size=1, max_size=30),
    st.data(),
)
def test_the_choice_is_that_of_all_quantiles(key, m, arms, data):
    plays, won = map(list, zip(*arms, strict=True))
    state = plays, won, [0] * len(arms), [0] * len(arms)
    chosen = data.draw(st.sets(st.sampled_from(range(len(arms))), min_size=1))
    for allowed in (range(len(arms)), sorted(chosen)):
        found = registry.best(ThompsonRecord(), state, m, key, None, allowed)
        assert found == every(state, m, key, allowed)


@settings(max_examples=100)
@given(KEYS, st.integers(1, 10**6), st.integers(1, 10**6), st.data())
def test_arms_that_are_nearly_equal_are_told_apart_as_by_all_quantiles(key, m, n, data):
    won = data.draw(st.integers(0, n))
    near = st.integers(max(0, won - 3), min(n, won + 3))
    sums = [data.draw(near) for _ in range(12)]
    state = [n] * 12, sums, [0] * 12, [0] * 12
    found = registry.best(ThompsonRecord(), state, m, key, None, range(12))
    assert found == every(state, m, key, range(12))


@given(
    KEYS,
    st.integers(1, 10**6),
    st.lists(st.lists(st.integers(0, NANO) | st.sampled_from([0, NANO])), min_size=1, max_size=8),
)
def test_it_samples_as_the_twin(key, m, told):
    record, kernels = ThompsonRecord(), registry.KERNELS[ThompsonRecord]
    state = registry.init(record, len(told))
    kernels.seed(record, state, key)
    for arm, rewards in enumerate(told):
        for units in rewards:
            registry.update(record, state, arm, units / NANO)
    thetas = naive.samples(key, m, [[Fraction(units, NANO) for units in one] for one in told])
    arm, theta = registry.best(record, state, m, key, None, range(len(told)))
    assert theta == pytest.approx(max(thetas), rel=1e-7)
    assert thetas[arm] == pytest.approx(max(thetas), rel=1e-7)


def plans(random):
    """Agents that share a base path, or have one of their own, on a drawn environment."""
    K, alpha = int(random.choice([1, 2, 5, 24])), float(random.choice([0.05, 0.3, 0.95]))
    mu0 = round(float(random.uniform(0.05, 0.95)), 2)
    floor = sf.RewardFloor(mu0, alpha)
    kinds = [
        lambda: sf.BernoulliArms(random.random(K)),
        lambda: sf.BernoulliArms(random.integers(0, 2, K)),
        lambda: sf.BetaArms(*random.uniform(0.2, 3, (2, K))),
    ]  # fmt: skip
    agents = {
        "competing": sf.GenCB(sf.Thompson(K), floor),
        "printed": sf.GenCB(sf.Thompson(K), floor, default_competes=False),
        "plain": sf.Plain(sf.Thompson(K), floor),
    }
    return Plan(
        agents,
        kinds[random.integers(3)](),
        int(random.choice([60, 200])),
        int(random.integers(2**32)),
        "all",
    )


@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_live_plain_and_compiled_make_the_same_plays(count):
    pytest.importorskip("numba")
    random = np.random.default_rng(5)
    for _ in range(count):
        check_plan(plans(random))


def test_after_a_warm_up_it_decides_the_same_and_files_go_both_ways(monkeypatch):
    pytest.importorskip("numba")
    from surefoot.kernels import warm

    ready = warm._READY
    monkeypatch.setattr(warm, "_READY", {})
    plain = sf.Thompson(6)
    warm.warm_up()
    compiled = sf.Thompson(6)
    assert compiled._compiled is not None
    monkeypatch.setattr(warm, "_READY", ready)
    rngs = [np.random.default_rng(3) for _ in range(2)]
    for turn in range(400):
        allowed = [1, 4] if turn % 7 == 6 else None
        arm, score = plain.best(None, rngs[0], allowed)
        assert compiled.best(None, rngs[1], allowed) == (arm, score)
        for policy in (plain, compiled):
            policy.update(arm, (0.0, 1.0, 0.25)[turn % 3], None)
        if turn % 50 == 49:
            for policy in (plain, compiled):
                policy.update(arm, 0.0, None)
                policy.correct(arm, 0.0, 0.5, None)
    assert json.loads(json.dumps(compiled.state())) == plain.state()
    again = sf.Thompson(6)
    again.restore(json.loads(json.dumps(compiled.state())))
    assert [again.best(None, None) for _ in range(9)] == [plain.best(None, None) for _ in range(9)]


def test_the_key_comes_once_from_the_agents_seed_and_is_saved(tmp_path):
    make = lambda seed: sf.GenCB(sf.Thompson(4), sf.RewardFloor(0.3, 0.9), seed=seed)  # noqa: E731
    one, same, other = make(1), make(1), make(2)

    def arms(agent):
        seen = []
        for _ in range(60):
            play = agent.select()
            agent.update(play, *() if play.is_default else (1,))
            seen.append(play.index)
        return seen

    assert one.policy.key is None
    assert arms(one) == arms(same) != arms(other)
    one.save(tmp_path / "one.json")
    assert arms(sf.load(tmp_path / "one.json")) == arms(one)


def test_a_policy_that_draws_nothing_takes_nothing_from_the_generator():
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    sf.UCB1(3).best(None, rng)
    assert rng.bit_generator.state == before


def test_a_fork_has_draws_of_its_own():
    policy = sf.Thompson(3)
    policy.best(None, np.random.default_rng(0))
    key = policy.key
    policy.renew()
    policy.best(None, np.random.default_rng(1))
    assert policy.key != key


def told(rewards, key, n_arms=1, arm=0):
    """A state that learned some rewards."""
    record, kernels = ThompsonRecord(), registry.KERNELS[ThompsonRecord]
    state = registry.init(record, n_arms)
    kernels.seed(record, state, key)
    for reward in rewards:
        registry.update(record, state, arm, reward)
    return state


@pytest.mark.parametrize("share", [0.001, 0.3, 0.5, 0.75, 0.999])
def test_each_reward_is_tried_on_its_own(share):
    n = 100_000
    won = told([share] * n, 3)[WON][0]
    assert stats.binomtest(won, n, share).pvalue > 0.001
    # The number of successes varies as that of independent trials does, over keys and over time.
    over_keys = [told([share] * 40, key)[WON][0] for key in range(1500)]
    state, before, over_time = told([], 5), 0, []
    for _ in range(1500):
        for _ in range(40):
            registry.update(ThompsonRecord(), state, 0, share)
        over_time.append(state[WON][0] - before)
        before = state[WON][0]
    for found in (over_keys, over_time):
        spread = np.var(found) / (40 * share * (1 - share))
        # The variance of a variance: its kurtosis, that of a binomial, over the number of samples.
        excess = 2 + (1 - 6 * share * (1 - share)) / (40 * share * (1 - share))
        assert abs(spread - 1) < 4 * (excess / 1500) ** 0.5


def test_trials_of_neighbours_are_independent():
    n = 20_000
    tries = [
        np.diff([told([0.5] * i, 7, 2, arm)[WON][arm] for i in range(400)]) for arm in range(2)
    ]
    assert abs(np.corrcoef(*tries)[0, 1]) < 0.2
    one = np.array([uniform(7 >> 1, i, 0) for i in range(1, n)])
    samples = np.array([uniform(7, i, 0) for i in range(1, n)])
    for pair in ((one[1:], one[:-1]), (one, samples)):
        assert abs(np.corrcoef(*pair)[0, 1]) < 0.03


def test_rewards_of_0_and_1_are_counted_and_draw_nothing():
    assert told([1.0, 0.0, 1.0, 0.0, 1.0], 9)[:3] == ([5], [3], [0])


def test_a_reward_of_0_or_1_is_corrected_and_no_other():
    policy, once = sf.Thompson(2), sf.Thompson(2)
    for old, new in ((0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (1.0, 1.0)):
        policy.update(0, old, None)
        policy.correct(0, old, new, None)
        once.update(0, new, None)
        assert policy.state() == once.state()
    before = policy.state()
    with pytest.raises(InvalidInput, match=r"old = 0\.25 cannot be taken back"):
        policy.correct(0, 0.25, 1.0, None)
    assert policy.state() == before


def test_a_reward_corrected_to_one_between_is_tried_anew():
    won = []
    for key in range(4000):
        state = told([0.3, 0.0], key)
        registry.KERNELS[ThompsonRecord].take(ThompsonRecord(), state, 0, 0.0)
        before = state[WON][0]
        registry.update(ThompsonRecord(), state, 0, 0.3)
        assert state[0] == [2]
        won.append((before, state[WON][0] - before))
    first, second = np.array(won).T
    assert stats.binomtest(int(second.sum()), 4000, 0.3).pvalue > 0.001
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.06


def test_samples_are_of_the_posterior():
    state = [20, 3], [13, 1], [0, 0], [0, 0]
    thetas = [sample(ThompsonRecord(), state, 0, m, 11) for m in range(1, 4001)]
    assert stats.kstest(thetas, stats.beta(14, 8).cdf).pvalue > 0.01
    others = [sample(ThompsonRecord(), state, 1, m, 11) for m in range(1, 4001)]
    assert abs(np.corrcoef(thetas, others)[0, 1]) < 0.06
