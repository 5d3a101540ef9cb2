"""The fast driver of UCB1 and MV-UCB decides as the plain text does, and as the paper does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from naive import simulate as naive
from reference import differences, drawn_environment, lines_case
from surefoot.kernels import registry
from surefoot.simulation.compiled import PLAIN, Driver, engine
from surefoot.simulation.fast import kinetic
from surefoot.simulation.loop import ARM, BELOW, DEFAULTS, LEAST, SLACK, Scale, T
from surefoot.simulation.plan import Plan


def assert_no_difference(case, seeds):
    for seed in seeds:
        assert differences(case(np.random.default_rng(seed))) == [], f"seed {seed}"


@pytest.mark.parametrize(
    "part", [*range(4), *(pytest.param(n, marks=pytest.mark.slow) for n in range(4, 10))]
)
def test_no_decision_differs_in_300_random_cases(part):
    assert_no_difference(lines_case, range(300 * part, 300 * (part + 1)))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(40))
def test_no_decision_differs_in_40000_random_cases(part):
    assert_no_difference(lines_case, range(10**6 + 1000 * part, 10**6 + 1000 * (part + 1)))


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 5))]
)
def test_500_cases_are_those_of_fractions(part):
    for seed in range(100 * part, 100 * (part + 1)):
        expected, books = fractions_case(np.random.default_rng(seed))
        assert books == expected, f"seed {seed}"


def fractions_case(random):
    """The books of one run, as the twin of Algorithm 1 keeps them and as the engine does."""
    K, horizon = int(random.integers(1, 12)), int(random.integers(20, 401))
    mu0, alpha = random.integers(1, 20) / 20, random.integers(1, 40) / 40
    environment, competes = drawn_environment(random, K), bool(random.integers(2))
    agent = sf.GenCB(sf.UCB1(K), sf.RewardFloor(mu0, alpha), default_competes=competes)
    plan = Plan({"a": agent}, environment, horizon, int(random.integers(2**32)), "all")
    twin = naive.Settings(K, mu0, alpha, competes=competes)
    rows = naive.run(twin, lambda m, k: environment.pull(plan.key(0), m, k), horizon)
    expected = [
        [t, row.default_plays, row.slack * 10**9, row.least * 10**9, row.violating, row.arm]
        for t, row in enumerate(rows, start=1)
    ]
    books = plan.run(0, engine())["a"].books[:, [T, DEFAULTS, SLACK, LEAST, BELOW, ARM]]
    return expected, books.tolist()


def test_a_change_of_leader_within_a_block_or_at_its_edge_is_the_same():
    agents = {"a": sf.gencb_cmab(5, 0.6, 0.3)}
    assert differences(Plan(agents, sf.BernoulliArms([0.7, 0.69, 0.5, 0.2, 0]), 70_000, 3)) == []


def test_constants_as_large_as_they_may_be():
    floor, environment = sf.RewardFloor(0.5, 0.5), sf.BernoulliArms([0.2, 0.8])
    for policy in (sf.UCB1(2, c=1e300), sf.UCB1(2, c=5e-324), sf.MVUCB(2, rho=1e300)):
        plan = Plan({"a": sf.Plain(policy, floor)}, environment, 3000, 0)
        assert differences(plan) == []


def test_rewards_that_are_no_billionths_of_the_range_are_summed_as_the_plain_text_does():
    frame = {"arm": [0] * 4 + [1] * 4, "reward": [0, 1, 2.5, 3, 0.25, 2, 2, 3]}
    floor = sf.RewardFloor(1.5, 0.3, reward_range=(0, 3))
    agents = {"a": sf.GenCB(sf.UCB1(2), floor), "coarse": sf.GenCB(
        sf.UCB1(2), sf.RewardFloor(1.5, 0.7, reward_range=(0, 3), places=0)
    )}  # fmt: skip
    assert differences(Plan(agents, sf.ReplayLog(frame), 3000, 1, "all")) == []


def test_a_stretch_goes_on_once_the_squares_are_added(monkeypatch):
    asked, above = [], kinetic.above

    def noted(policy, known, n, *given):
        asked.append((n, above(policy, known, n, *given)))
        return asked[-1][1]

    monkeypatch.setattr(kinetic, "above", noted)
    text = PLAIN._replace(driver=lambda record: Driver(kinetic.init, kinetic.walk), zeros=np.zeros)
    plan = Plan({"a": sf.Plain(sf.MVUCB(2, 3))}, sf.BetaArms([2, 0.5], [1, 3]), 1000, 1, "all")
    fast, plain = (plan.run(0, one)["a"].books.tolist() for one in (text, PLAIN))
    assert fast == plain
    assert (0, True) in asked


RECORDS = [sf.UCB1(3).record, sf.UCB1(3, c=0.1).record, sf.MVUCB(3, rho=0.5).record,
           sf.MVUCB(3, rho=60).record]  # fmt: skip


@given(st.sampled_from(RECORDS), st.lists(st.integers(0, 10**9), min_size=1, max_size=40),
       st.integers(2, 10**9))  # fmt: skip
def test_the_parts_are_those_of_the_index(record, rewards, m):
    state = registry.init(record, 1)
    known = registry.gain(record, registry.read(record, state, 0), len(rewards), sum(rewards))
    for nano in rewards:
        known = registry.square(record, known, nano)
        registry.update(record, state, 0, nano / 1e9)
    s, slope, size = registry.rise(record, m)
    a, w = registry.line(record, state, 0)
    index = registry.index(record, state, 0, registry.scale(record, m), -np.inf)
    assert abs(a + s * w - index) <= kinetic.MARGIN * size / 10
    assert abs(index) <= size
    for level in (a - kinetic.MARGIN * size, a + kinetic.MARGIN * size):
        assert registry.above(record, known, 0, 0, level) == (a > level)
    ahead, *_ = registry.rise(record, m + 1000)
    assert s <= ahead <= s + 1000 * slope
    fresh = registry.init(record, 1)
    registry.write(record, fresh, 0, known)
    assert fresh == state


@given(st.sampled_from(RECORDS), st.lists(st.integers(0, 10**9), min_size=1, max_size=20),
       st.lists(st.integers(0, 10**9), min_size=1, max_size=20))  # fmt: skip
def test_a_level_that_holds_before_the_squares_are_known_holds_after(record, before, later):
    state = registry.init(record, 1)
    for nano in before:
        registry.update(record, state, 0, nano / 1e9)
    known = registry.read(record, state, 0)
    for nano in later:
        registry.update(record, state, 0, nano / 1e9)
    a, _ = registry.line(record, state, 0)
    margin = kinetic.MARGIN * registry.rise(record, 10**6)[2]
    n, total = len(later), sum(later)
    assert not registry.above(record, known, n, total, a + margin)
    paid = [nano in (0, 10**9) for nano in later]
    assert registry.above(record, known, n, total, a - margin) or not all(paid)


@pytest.mark.parametrize(("width", "each"), [(1, 10**9), (10**7, 100), (5 * 10**7, 20), (3, 0),
                                         (3 * 10**9, 0)])  # fmt: skip
def test_a_unit_is_a_whole_number_of_the_policys_or_none(width, each):
    scaling = Scale(1, 1, -2, width)
    record = sf.UCB1(2).record
    assert kinetic.steps(record, scaling) == each
    for units in range(-2, 40):
        told = kinetic.policy_reward(scaling, units)
        assert kinetic.nano_of(record, scaling, units, each) == np.floor(told * 1e9 + 0.5)
