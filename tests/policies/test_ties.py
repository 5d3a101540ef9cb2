"""Equal counts and equal sums tie, whatever the range and the order of the rewards."""

import json
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.kernels import registry
from surefoot.kernels.policy import rounded
from surefoot.simulation.compiled import PLAIN
from surefoot.simulation.plan import Plan
from surefoot.simulation.runner import choose

RANGES = [(0, 3), (0, 0.3), (-1, 2), (0, 7), (-0.7, 0.2), (0, 9.2), (2, 5), (0, 1)]


def agents(low, high, places=None):
    floor = sf.RewardFloor(high, 0.9, reward_range=(low, high), places=places)
    risky = sf.MeanVarianceFloor(high, 0.9, 2, reward_range=(low, high))
    settings = {"default": high, "alpha": 0.9, "reward_range": (low, high)}
    return {
        "UCB1": sf.Plain(sf.UCB1(2), floor),
        "KLUCB": sf.Plain(sf.KLUCB(2), floor),
        "MVUCB": sf.Plain(sf.MVUCB(2, 2, reward_range=(low, high)), risky),
        "ConUCB": sf.ConUCB(2, **settings),
        "MOSS": sf.comparators.UnbalancedMOSS(2, horizon=1000, **settings),
        "BudgetFirst": sf.comparators.BudgetFirst(2, horizon=1000, **settings),
        "ConUCBUnknown": sf.comparators.ConUCBUnknown(
            2, alpha=0.9, reward_range=(low, high), default_range=(max(low, 0), high)
        ),
    }


def index(agent, arm):
    return agent.policy.peek(50, [arm])[1]


def tell(agent, arm, reward):
    agent.policy.update(arm, agent.books.unit_reward(reward), None)


@pytest.mark.parametrize("name", [name for name in agents(0, 3) if name != "MVUCB"])
def test_three_times_a_cent_ties_with_three_cents_once(name):
    agent = agents(0, 3)[name]
    for arm, reward in ((0, 0.01), (0, 0.01), (0, 0.01), (1, 0.03), (1, 0.0), (1, 0.0)):
        tell(agent, arm, reward)
    assert index(agent, 0) == index(agent, 1)
    assert agent.policy.peek(50)[0] == 0


@settings(max_examples=25, deadline=None)
@given(
    span=st.sampled_from(RANGES),
    shares=st.lists(st.integers(0, 10**9), min_size=1, max_size=12),
    name=st.sampled_from(sorted(agents(0, 3))),
    data=st.data(),
)
def test_the_same_rewards_in_another_order_or_with_another_split_tie(span, shares, name, data):
    low, high = (Decimal(str(end)) for end in span)
    agent = agents(*span)[name]
    places = agent.floor.places
    rewards = [round(low + (high - low) * share / 10**9, places) for share in shares]
    other = list(data.draw(st.permutations(rewards)))
    if name != "MVUCB" and len(other) > 1:  # the same sum in other parts
        unit = Decimal(1).scaleb(-places)
        moved = min(high - other[0], other[1] - low) // unit // 3 * unit
        other[:2] = [other[0] + moved, other[1] - moved]
    for mine, its in zip(rewards, other, strict=True):
        tell(agent, 0, mine)
        tell(agent, 1, its)
    assert index(agent, 0) == index(agent, 1)


@pytest.mark.parametrize("span", RANGES)
def test_sums_of_squares_are_exact_in_the_units_of_the_books(span):
    agent = agents(*span)["MVUCB"]
    policy, books = agent.policy, agent.books
    rng, units = np.random.default_rng(1), []
    for _ in range(300):
        units.append(int(rng.integers(books.low, books.high + 1)))
        tell(agent, 0, agent.floor.unit.decimal(units[-1]))
    base = int(policy.record.unit)
    scaled = [(one - books.low) * base // (books.high - books.low) for one in units]
    plays, total, high, low = (row[0] for row in policy._lists()[:4])
    assert (plays, total) == (300, sum(scaled))
    assert high * base + low == sum(one * one for one in scaled)
    assert 0 <= low < base


def test_squares_stay_exact_where_they_leave_64_bits():
    record = sf.MVUCB(1, 1).record._replace(unit=9.2e9)
    state, units = ([0], [0], [0], [0]), [9_199_999_999, 9_200_000_000, 1, 0, 4_611_686_018]
    for one in units * 50:
        registry.update(record, state, 0, one / 9.2e9)
    assert state[1][0] == 50 * sum(units)
    assert state[2][0] * 9_200_000_000 + state[3][0] == 50 * sum(one * one for one in units)
    for one in units * 50:
        registry.INDEX_KERNELS[type(record)].take(record, state, 0, one / 9.2e9)
    assert state == ([0], [0], [0], [0])


def test_on_the_unit_range_nothing_is_scaled():
    for agent in agents(0, 1).values():
        assert agent.policy.record.unit == 1e9
        assert "unit" not in agent.policy.state()
    assert registry.unit_of(2**51 + 1) == 1e9  # finer than a float of [0, 1] can tell


@pytest.mark.parametrize("name", list(agents(0, 3)))
def test_a_saved_agent_goes_on_in_its_units_and_an_older_file_is_converted(name, tmp_path):
    agent = agents(0, 3)[name]
    for arm, reward in ((0, 0.01), (0, 1.0), (1, 2.99)):
        tell(agent, arm, reward)
    agent.save(tmp_path / "a.json")
    again = sf.load(tmp_path / "a.json")
    assert again.policy.state() == agent.policy.state()
    assert again.policy.record == agent.policy.record
    state = agent.policy.state()
    plays, sums, *rest = state["arms"]
    unit = state["unit"]
    old = {**state, "arms": [plays, [rounded(one * 10**9, unit) for one in sums], *rest]}
    if name == "MVUCB":
        squares = [
            rounded((tall * unit + small) * 10**18, unit**2)
            for tall, small in zip(*rest[:2], strict=True)
        ]
        old["arms"][2:4] = [[x // 10**9 for x in squares], [x % 10**9 for x in squares]]
    del old["unit"]
    again.policy.restore(old)  # as before units: in billionths of the range
    assert again.policy.record.unit == unit
    new = again.policy.state()["arms"]
    assert new[0] == plays
    assert all(abs(a - b) <= 2 for a, b in zip(new[1], sums, strict=True))


def test_more_plays_than_64_bits_hold_are_left_to_plain_python():
    floor = sf.RewardFloor(1, 0.5, reward_range=(0, 3), places=14)
    policy = sf.GenCB(sf.UCB1(2), floor).policy
    assert policy.record.unit == 3e14
    assert policy._compiled is None
    for _ in range(3):
        policy.update(0, 1.0, None)
    assert policy.state()["arms"][1] == [9 * 10**14, 0]


def test_a_bare_policy_takes_a_state_in_its_own_units():
    agent = agents(0, 3)["UCB1"]
    tell(agent, 0, 0.01)
    bare = sf.UCB1(2)
    bare.restore(json.loads(json.dumps(agent.policy.state())))
    assert bare.state() == agent.policy.state()
    assert bare.config() == sf.UCB1(2).config()


@pytest.mark.parametrize(
    ("number", "over", "expected"), [(7, 2, 4), (6, 4, 2), (5, 4, 1), (0, 3, 0), (-1, 3, 0)]
)
def test_rounded(number, over, expected):
    assert rounded(number, over) == expected


FRAME = {
    "arm": [0] * 3 + [1] * 3 + [2] * 3,
    "reward": [0.01, 0.01, 0.01, 0.03, 0.0, 0.0, 0.02, 0.01, 0.0],
}


TIED = {
    "UCB1": lambda: sf.Plain(sf.UCB1(3), sf.RewardFloor(0.005, 0.5, reward_range=(0, 3))),
    "KLUCB": lambda: sf.GenCB(sf.KLUCB(3), sf.RewardFloor(0.005, 0.5, reward_range=(0, 3))),
    "MVUCB": lambda: sf.Plain(
        sf.MVUCB(3, 0.5, (0, 0.3)), sf.MeanVarianceFloor(0.005, 0.5, 0.5, reward_range=(0, 0.3))
    ),
    "ConUCB": lambda: sf.ConUCB(3, default=0.005, alpha=0.5, reward_range=(0, 3)),
}


@pytest.mark.parametrize("name", list(TIED))
def test_engine_and_live_agent_tie_alike(name):
    pytest.importorskip("numba")
    plan = Plan({"a": TIED[name]()}, sf.ReplayLog(FRAME), 300, 1, "all")
    expected = plan.run(0, PLAIN)["a"].books.tolist()
    assert plan.run(0, choose("compiled"))["a"].books.tolist() == expected
    assert plan.paths
    plan.paths, plan.stepwise = [], ["a"]
    assert plan.run(0, PLAIN)["a"].books.tolist() == expected
