"""Cost subsidy plays the cheapest arm that is good enough, as its twin does."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from naive import cost_subsidy as naive
from surefoot.errors import InvalidInput

FORMS = ("thompson", "ucb")
LOW, HIGH = Fraction(1, 100), Fraction(6, 100)
"""The range of a cost; that of a quality is 0..1."""


def made(n_arms=3, **given):
    settings = {"default": 0.8, "alpha": 0.05, "cost_range": (0.01, 0.06), **given}
    return sf.CostSubsidy(n_arms, **settings)


def taught(policy, told):
    """``told``: of each arm (quality, cost) of its plays, None for what is not told."""
    for arm, plays in enumerate(told):
        for quality, cost in plays:
            measures = {} if quality is None else {"quality": float(quality)}
            policy.update(arm, None if cost is None else -float(cost), None, measures=measures)
    return policy


@st.composite
def worlds(draw):
    tenths = st.integers(0, 10).map(lambda n: Fraction(n, 10))
    fine = st.integers(0, 10**9).map(lambda n: Fraction(n, 10**9))
    cost = st.none() | (tenths | fine).map(lambda x: LOW + (HIGH - LOW) * x)
    plays = st.lists(st.tuples(st.none() | tenths | fine, cost), max_size=7)
    return draw(st.lists(plays, min_size=1, max_size=5))


@given(worlds(), st.sampled_from(FORMS), st.integers(0, 2**64 - 1), st.data())
def test_it_plays_as_the_twin(told, form, key, data):
    m = data.draw(st.integers(1, 10**6))
    waiting = [data.draw(st.integers(0, 2)) for _ in told]
    allowed = sorted(data.draw(st.sets(st.sampled_from(range(len(told))), min_size=1)))
    policy = taught(made(len(told), form=form), told)
    for arm, count in enumerate(waiting):
        for _ in range(count):
            policy.opened(arm, None)
    policy.key = key
    good = [[x for x, _ in plays if x is not None] for plays in told]
    dear = [[naive.share(x, LOW, HIGH) for _, x in plays if x is not None] for plays in told]
    values = naive.optimistic(form, key, m, good, dear, waiting)
    if any(abs(quality - 0.76) < 1e-8 for quality, _ in values):
        return  # either side of the threshold, by rounding
    arm, score = naive.choose(values, 0.76, allowed)
    chosen, says = policy.peek(m, allowed)
    none_is_good = score == -math.inf
    assert says == pytest.approx(score if math.isinf(score) else -0.01 + 0.05 * score, abs=1e-9)
    ours, theirs = (values[one][not none_is_good] for one in (chosen, arm))
    assert chosen == arm or ours == pytest.approx(theirs, abs=1e-8)  # a tie, by rounding


def test_a_burst_of_plays_is_spread_by_bounds_and_draws_ask_for_no_count():
    assert not made().counts_open
    policy, rng, seen = made(form="ucb"), np.random.default_rng(0), []
    for _ in range(6):
        seen.append(policy.best(None, rng)[0])
        policy.opened(seen[-1], None)
    assert sorted(seen) == [0, 0, 1, 1, 2, 2]


def test_unplayed_arms_come_first_by_bounds():
    policy, rng, seen = made(3, form="ucb"), np.random.default_rng(0), []
    for _ in range(3):
        arm, score = policy.best(None, rng)
        assert score == math.inf
        seen.append(arm)
        policy.update(arm, -0.05, None, measures={"quality": 1})
    assert seen == [0, 1, 2]


@pytest.mark.parametrize("form", FORMS)
def test_the_cheapest_of_the_good_arms_plays(form):
    """Of four arms known well, one is too bad and one too dear."""
    policy = taught(made(4, form=form), [
        [(0.95, 0.05)] * 400, [(0.85, 0.03)] * 400, [(0.9, 0.02)] * 400, [(0.3, 0.01)] * 400
    ])  # fmt: skip
    arm, score = policy.best(None, np.random.default_rng(0))
    assert arm == 2
    assert score == pytest.approx(-0.02, abs=0.006)
    assert policy.peek(5, [0, 1, 3])[0] == 1


@pytest.mark.parametrize("form", FORMS)
def test_where_no_arm_is_good_enough_the_best_one_plays_and_scores_nothing(form):
    policy = taught(made(3, form=form), [[(0.1, 0.01)] * 90, [(0.4, 0.06)] * 90, [(0, 0.01)] * 90])
    assert policy.best(None, np.random.default_rng(0)) == (1, -math.inf)


def test_an_arm_just_good_enough_is_good_enough():
    """alpha = .05 of .8: .76, which floats make .7600000000000001 of .95 * .8."""
    policy = taught(made(1, form="ucb"), [[(Decimal("0.76"), 0.03)] * 3])
    assert policy.threshold == 0.76
    assert policy.peek(1) == (0, pytest.approx(-0.03))  # ln 1 = 0: the bound is the mean
    below = taught(made(1, form="ucb"), [[(Decimal("0.759999999"), 0.03)] * 3])
    assert below.peek(1) == (0, -math.inf)


@pytest.mark.parametrize(
    ("terms", "threshold"),
    [
        ({"default": -0.5, "alpha": 0.1, "quality_range": (-1, 1)}, -0.55),
        ({"default": 0.8, "alpha": 0, "margin": 0.03}, 0.77),
        ({"default": 0.8, "alpha": 0.05, "margin": 0.01}, 0.75),
    ],
)
def test_good_enough_is_what_the_floor_asks_for(terms, threshold):
    assert made(**terms).threshold == threshold


@pytest.mark.parametrize("form", FORMS)
def test_told_together_apart_or_in_another_order_it_knows_the_same(form):
    told = [(arm, 0.01 + 0.007 * n, 0.1 * n) for n in range(7) for arm in range(3)]
    one, other = made(form=form), made(form=form)
    for arm, cost, quality in told:
        one.update(arm, -cost, None, measures={"quality": quality, "latency": 3})
    for arm, cost, _ in reversed(told):
        other.update(arm, -cost, None, measures={})
    for arm, _, quality in reversed(told):
        other.update(arm, None, None, measures={"quality": quality})
    assert one.state() == other.state()


def test_known_costs_are_not_learned():
    known = sf.CostSubsidy(2, default=0.8, costs=[0.03, 0.002], quality="clicks")
    assert known.measures == ("clicks",)
    for _ in range(50):
        for arm in range(2):
            known.update(arm, -9.0, None, measures={"clicks": 1.0})
    assert known.best(None, np.random.default_rng(0)) == (1, -0.002)


def test_what_lies_outside_a_range_counts_as_its_end():
    one, other = made(1), made(1)
    one.update(0, 3, None, measures={"quality": 1.5})
    other.update(0, -0.01, None, measures={"quality": 1})
    assert one.state() == other.state()


def test_a_report_that_cannot_be_learned_changes_nothing():
    policy = made()
    before = policy.state()
    for reward, quality in ((math.nan, 1), (-0.02, "x"), (-0.02, math.inf)):
        with pytest.raises(InvalidInput, match=r"^(minus the reward|quality) must be"):
            policy.update(0, reward, None, measures={"quality": quality})
    with pytest.raises(InvalidInput, match=r"^CostSubsidy learns the measure 'quality' and was to"):
        policy.update(0, 1.0, None)
    with pytest.raises(InvalidInput, match=r"^CostSubsidy cannot learn a log"):
        policy.learn({"arm": [0], "reward": [1.0]})
    assert policy.state() == before


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"default": 1.2}, r"^default = 1.2 must lie in quality_range = \(0, 1\)$"),
        ({"default": sf.LearnedDefault((0.5, 0.9))}, r"is for a floor .* give your best guess"),
        ({"default": math.nan}, r"^default must be finite, got nan"),
        ({"alpha": 1}, r"^alpha = 1 must lie in \[0, 1\)"),
        ({"margin": -0.1}, r"^alpha = 0.05 must .* margin = -0.1 be >= 0"),
        ({"cost_range": None}, r"^cost_range is missing"),
        ({"cost_range": (0.05, 0)}, r"^cost_range = \(0.05, 0\) must have c_min < c_max$"),
        ({"costs": [1, 2, 3]}, r"^cost_range = \(0.01, 0.06\) is that of costs to be learned"),
        ({"costs": [1, 2], "cost_range": None}, r"^costs has 2 entries for 3 arms"),
        ({"quality": None}, r"^quality = None must be the name of a measure$"),
        ({"form": "greedy"}, r"^form = 'greedy' must be one of 'thompson', 'ucb'$"),
    ],
)
def test_settings_that_mean_nothing_are_refused(wrong, message):
    with pytest.raises(InvalidInput, match=message):
        made(**wrong)


@pytest.mark.parametrize(
    "policy",
    [
        made(form="ucb", margin=0.01),
        sf.CostSubsidy(arms=["a", "b"], default=0.5, costs=[1, 2], quality="clicks"),
        made(),
    ],
)
def test_its_settings_are_told_and_make_its_equal(policy):
    again = sf.CostSubsidy.from_config(policy.config())
    assert repr(again) == repr(policy)
    assert again.threshold == policy.threshold


def bill(policy, qualities, costs, plays=1500):
    """What the arms and a default of .82 at .012 cost in the mean, the floor on quality kept."""
    measures = {
        "quality": sf.BernoulliArms(qualities),
        "cost": sf.EmpiricalArms([[cost / 2, 3 * cost / 2] for cost in costs]),
    }
    env, floor = sf.MeasuredArms(measures, "quality"), sf.RewardFloor(0.82, 0.05)
    ends = {"objective_range": (-0.05, 0), "default_objective": -0.012}
    agent, spent = sf.GenCB(policy, {"quality": floor}, seed=0, **ends), 0.0
    for _ in range(plays):
        play = agent.select()
        if play.is_default:
            agent.update(play)
            spent += 0.012
        else:
            told = env.pull_measures(key=0, turn=play.turn, arm=play.index)
            agent.update(play, -told["cost"], measures={"quality": told["quality"]})
            spent += costs[play.index]
    assert agent.accounts["quality"].slack >= 0
    return spent / plays


@pytest.mark.parametrize("form", FORMS)
def test_it_is_cheaper_than_learning_minus_cost_where_a_cheap_arm_is_good_enough(form):
    qualities, costs = [0.65, 0.9, 0.81, 0.5], [0.0004, 0.02, 0.003, 0.001]
    policy = sf.CostSubsidy(4, default=0.82, alpha=0.05, cost_range=(0, 0.05), form=form)
    assert bill(policy, qualities, costs) < 0.8 * bill(sf.Thompson(4), qualities, costs)


def test_it_is_dearer_where_no_arm_is_good_enough_by_itself():
    """Minus cost spends the slack on the cheapest arm; it leaves the slack unspent."""
    qualities, costs = [0.7, 0.6, 0.5], [0.003, 0.002, 0.001]
    policy = sf.CostSubsidy(3, default=0.82, alpha=0.05, cost_range=(0, 0.05))
    assert bill(policy, qualities, costs) > 1.02 * bill(sf.Thompson(3), qualities, costs)
