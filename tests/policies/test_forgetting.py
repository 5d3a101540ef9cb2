"""Policies that forget know what their twins know, in every driver alike; others stay as they are.

Discounted and sliding-window UCB1 and Thompson sampling, for rewards that drift.
"""

import inspect
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import surefoot as sf
from driven import check_drivers
from naive import forgetting as naive
from surefoot.errors import InvalidInput
from surefoot.kernels import registry
from surefoot.policies import DiscountedThompson, DiscountedUCB1, SlidingThompson, SlidingUCB1
from surefoot.policies.discounted import sample

NANO = 10**9
ALL = {
    "discounted UCB1": lambda n: sf.UCB1(n, discount=0.9),
    "sliding UCB1": lambda n: sf.UCB1(n, window=7),
    "discounted Thompson": lambda n: sf.Thompson(n, discount=0.9),
    "sliding Thompson": lambda n: sf.Thompson(n, window=7),
}
every = pytest.mark.parametrize("make", ALL.values(), ids=list(ALL))


@st.composite
def histories(draw):
    """How many arms, and what was told of them, mostly ends of the range."""
    K = draw(st.integers(1, 5))
    units = st.sampled_from([0, NANO]) | st.integers(0, NANO)
    told = draw(st.lists(st.tuples(st.integers(0, K - 1), units), max_size=40))
    return K, [(arm, Fraction(one, NANO)) for arm, one in told]


def taught(policy, told, waiting=()):
    for arm, reward in told:
        policy.update(arm, float(reward), None)
    for arm, count in enumerate(waiting):
        for _ in range(count):
            policy.opened(arm, None)
    return policy


@given(histories(), st.sampled_from([0.5, 0.9, 0.999]), st.sampled_from([0.5, 2.0]), st.data())
def test_discounted_ucb_has_the_index_of_the_twin(history, discount, c, data):
    K, told = history
    waiting = [data.draw(st.integers(0, 2)) for _ in range(K)]
    policy = taught(sf.UCB1(K, c=c, discount=discount), told, waiting)
    expected = naive.indices(naive.faded(told, K, Fraction(discount)), waiting, c)
    for arm in range(K):
        assert policy.peek(9, [arm]) == (arm, pytest.approx(expected[arm], rel=1e-9))
    arm, top = policy.peek(9)
    assert expected[arm] == pytest.approx(top, rel=1e-9)
    assert top == pytest.approx(max(expected), rel=1e-9)


@given(histories(), st.sampled_from([1, 3, 20, 100]), st.data())
def test_sliding_ucb_has_the_index_of_the_twin(history, window, data):
    K, told = history
    waiting = [data.draw(st.integers(0, 2)) for _ in range(K)]
    policy = taught(sf.UCB1(K, window=window), told, waiting)
    known = naive.recent(told, K, window)
    expected = naive.indices(known, waiting, 2.0)
    for arm in range(K):
        assert policy.peek(9, [arm]) == (arm, pytest.approx(expected[arm], rel=1e-12))
    assert policy.state()["arms"][:2] == [[int(N) for N, _ in known], [S * NANO for _, S in known]]
    assert policy.remembered == [(arm, reward * NANO) for arm, reward in told[-window:]]


@given(st.integers(0, 2**64 - 1), st.integers(1, 10**6), histories(), st.sampled_from([0.5, 0.99]))
def test_discounted_thompson_samples_as_the_twin(key, m, history, discount):
    K, told = history
    policy = taught(sf.Thompson(K, discount=discount), told)
    policy.key = key
    thetas = naive.faded_samples(key, m, told, K, Fraction(discount))
    for arm in range(K):
        assert policy.peek(m, [arm]) == (arm, pytest.approx(thetas[arm], rel=1e-8, abs=1e-12))
    assert policy.peek(m)[1] == pytest.approx(max(thetas), rel=1e-8)


@given(st.integers(0, 2**64 - 1), st.integers(1, 10**6), histories(), st.sampled_from([1, 6, 99]))
def test_sliding_thompson_samples_as_the_twin(key, m, history, window):
    K, told = history
    policy = sf.Thompson(K, window=window)
    state = registry.init(policy.record, K)
    policy.kernels.seed(policy.record, state, key)
    policy.restore({**policy.state(), "arms": [*state], "key": key})
    thetas = naive.recent_samples(key, m, told, K, window)
    arm, theta = taught(policy, told).peek(m)
    assert theta == pytest.approx(max(thetas), rel=1e-7)
    assert thetas[arm] == pytest.approx(max(thetas), rel=1e-7)


@pytest.mark.parametrize(("won", "lost"), [(0.0, 0.0), (0.3, 2.7), (12.5, 4.25), (800.0, 3.5)])
def test_samples_are_of_the_posterior(won, lost):
    record = DiscountedThompson(1).record
    thetas = [sample(record, ([won], [lost]), 0, m, 11) for m in range(1, 3001)]
    assert stats.kstest(thetas, stats.beta(1 + won, 1 + lost).cdf).pvalue > 0.01
    assert abs(np.corrcoef(thetas[1:], thetas[:-1])[0, 1]) < 0.07


@pytest.mark.slow
@every
def test_live_plain_and_compiled_make_the_same_plays(make):
    """The fast suite compares their kernels, plain and compiled, in test_compiled.py."""
    pytest.importorskip("numba")
    check_drivers(lambda K, random: make(K), 40)


def test_with_all_rewards_in_the_window_it_is_thompson_to_the_last_bit():
    one, other = sf.Thompson(3, window=500), sf.Thompson(3)
    rngs = [np.random.default_rng(1) for _ in range(2)]
    for turn in range(300):
        found = one.best(None, rngs[0])
        assert found == other.best(None, rngs[1])
        for policy in (one, other):
            policy.update(found[0], (0.0, 1.0, 0.3)[turn % 3], None)


@pytest.mark.parametrize("options", [{"discount": 0.95}, {"window": 30}], ids=str)
@pytest.mark.parametrize(
    "make",
    [lambda **options: sf.UCB1(2, c=0.1, **options), lambda **options: sf.Thompson(2, **options)],
    ids=["UCB1", "Thompson"],
)
def test_it_leaves_an_arm_that_is_no_longer_the_best(make, options):
    """What remembers all of 2,500 turns does not in 500 more."""
    plays = []
    for policy in (make(**options), make()):
        rng, draws = np.random.default_rng(0), np.random.default_rng(1)
        late = 0
        for turn in range(3000):
            arm = policy.select(None, rng)
            mean = 0.5 if arm else 0.9 if turn < 2500 else 0.1
            policy.update(arm, float(draws.random() < mean), None)
            late += turn >= 2500 and arm == 1
        plays.append(late)
    assert plays[0] > 400
    assert plays[1] < 100


@every
def test_a_forgotten_arm_comes_again(make):
    policy, rng = make(2), np.random.default_rng(0)
    for _ in range(6000):  # a discounted count leaves the floats, a window is full of the other
        policy.update(0, 1.0, None)
    policy.update(1, 0.0, None)
    for _ in range(6000):
        policy.update(0, 1.0, None)
    assert 1 in {policy.select(None, rng) for _ in range(60)}
    if "UCB" in type(policy).__name__:
        assert policy.peek(5) == (1, math.inf)


@every
def test_its_state_is_text_and_units_are_converted(make):
    policy = make(3)
    policy.count_in(3 * NANO)
    for number in range(40):
        policy.update(number % 3, (number % 4) / 3, None)
    again = make(3)
    again.restore(json.loads(json.dumps(policy.state())))
    assert again.state() == policy.state()
    assert again.config() == policy.config()
    coarse = make(3)
    for number in range(40):
        coarse.update(number % 3, (number % 4) / 3, None)
    coarse.count_in(3 * NANO)
    if isinstance(policy, SlidingUCB1):
        assert sum(map(sum, coarse.state()["arms"][1:2])) == sum(u for _, u in coarse.remembered)
    assert coarse.peek(50, [1])[1] == pytest.approx(policy.peek(50, [1])[1], abs=1e-8)


def test_a_restart_of_a_live_agent_remembers_as_much():
    from surefoot.live import MemoryStore

    arms = []
    for parts in (1, 4):
        store, played = MemoryStore(), []
        for part in range(parts):
            agent = sf.GenCB(
                sf.Thompson(arms=["a", "b"], window=5), sf.RewardFloor(0.3, 0.9), seed=3
            )
            live = sf.Live(agent, store, reward_window=60)
            assert live.config["settings"]["learn_missing"] == "skip"
            for turn in range(40 // parts):
                play = live.select(id=f"{part * 40 // parts + turn}")
                played.append(play.arm)
                live.update(play, *(() if play.is_default else ((0, 1, 0.5)[len(played) % 3],)))
        arms.append(played)
    assert arms[0] == arms[1]


def test_arms_are_added_to_what_it_remembers():
    from surefoot.live.configuration import grown

    policy = taught(sf.UCB1(arms=["a", "b"], window=3), [(0, 1), (1, 0), (0, 1), (0, 0)])
    bigger = grown(policy, ["c"])
    assert bigger.remembered == policy.remembered
    assert bigger.peek(9) == (2, math.inf)


def test_the_option_chooses_the_class():
    assert type(sf.UCB1(2, discount=0.9)) is DiscountedUCB1
    assert type(sf.UCB1(arms=["a"], c=1, window=9)) is SlidingUCB1
    assert type(sf.Thompson(2, discount=0.9)) is DiscountedThompson
    assert type(sf.Thompson(2, window=9)) is SlidingThompson
    assert type(sf.UCB1(2, discount=None, window=None)) is sf.UCB1
    assert sf.UCB1(2, c=1, window=9).record == SlidingUCB1(2, c=1, window=9).record


class Derived(sf.UCB1):
    pass


class Named(sf.UCB1):
    """Takes other arguments than UCB1 does."""

    def __init__(self, n_arms, name, *more, place="here"):
        super().__init__(n_arms)
        self.name = name, more, place


def test_a_derived_class_takes_what_it_likes():
    assert Named(2, "a", 1, 2, 3, place="there").name == ("a", (1, 2, 3), "there")
    assert "discount" in inspect.signature(sf.UCB1).parameters
    assert "window" in inspect.signature(sf.Thompson).parameters
    with pytest.raises(InvalidInput, match="UCB1 cannot be made from its config"):
        sf.UCB1.from_config({"arms": ["a"], "k": 2})


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: sf.UCB1(2, discount=0.9, window=3), r"discount = 0\.9 and window = 3: give one"),
        (lambda: sf.Thompson(2, discount=1), "discount = 1 must lie strictly between 0 and 1"),
        (lambda: sf.UCB1(2, discount=0), "discount = 0 must lie"),
        (lambda: sf.UCB1(2, window=0), "window = 0 must be from 1 to 1000000"),
        (lambda: sf.Thompson(2, window=2.5), r"window = 2\.5 must be an int"),
        (lambda: sf.UCB1(2, window=True), "window = True must be an int"),
        (lambda: sf.UCB1(2, window=10**6 + 1), "window = 1000001 must be from"),
        (lambda: sf.UCB1(2, c=0, window=5), "c = 0 must be > 0"),
        (lambda: sf.UCB1(2, c=-1, discount=0.5), "c = -1 must be > 0"),
        (lambda: Derived(2, window=5), "Derived takes no discount or window"),
    ],
)
def test_arguments_that_are_none(make, says):
    with pytest.raises(InvalidInput, match=says):
        make()
