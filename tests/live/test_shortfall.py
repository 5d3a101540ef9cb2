import json
import random
from fractions import Fraction
from itertools import product
from math import exp, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.odds import wealth_of_restarts

from surefoot.errors import InvalidInput
from surefoot.live.shortfall import Shortfall


def after(rewards, declared, reward_range=(0, 1)):
    """A test that was told some rewards; ``declared``: one value, or one for each."""
    test = Shortfall(reward_range)
    values = declared if isinstance(declared, list) else [declared] * len(rewards)
    for reward, value in zip(rewards, values, strict=True):
        test.update(reward, value)
    return test


EIGHTHS = st.integers(0, 8).map(lambda n: Fraction(n, 8))


@given(st.lists(st.tuples(st.integers(-4, 12), EIGHTHS), max_size=12))
def test_the_evidence_is_what_the_formula_says(told):
    rewards, values = [Fraction(n, 8) for n, _ in told], [v for _, v in told]
    test = after(list(map(float, rewards)), list(map(float, values)))
    ys = [1 - min(max(r, 0), 1) for r in rewards]
    exact = wealth_of_restarts(ys, [1 - v for v in values], 1)
    assert isclose(exp(test.evidence), exact, rel_tol=1e-12)
    assert test.clipped == sum(not 0 <= r <= 1 for r in rewards)


def two_points(bad, good, mean):
    """A reward's two values with their chances, of a given mean."""
    chance = Fraction(mean - bad) / (good - bad)
    return [(bad, 1 - chance), (good, chance)]


def expected(law, plays=10):
    """E[W] and P(max W >= 1/delta) over all paths; ``law``: the value and reward given the past."""
    mean, alarms = 0.0, dict.fromkeys((0.5, 0.2, 0.05), Fraction(0))
    for which in product((0, 1), repeat=plays):
        test, chance, past = Shortfall(), Fraction(1), []
        for coin in which:
            value, rewards = law(past)
            reward, part = rewards[coin]
            test.update(float(reward), float(value))
            past.append(reward)
            chance *= part
        mean += float(chance) * exp(test.evidence)
        for delta in alarms:
            alarms[delta] += chance * test.below(delta)
    return mean, alarms


HALF, FIFTH = Fraction(1, 2), Fraction(1, 5)


def as_declared(past):
    return Fraction(7, 10), two_points(0, 1, Fraction(7, 10))


def in_the_middle(past):
    return HALF, two_points(FIFTH, Fraction(9, 10), HALF)


def rare_and_large(past):
    return FIFTH, two_points(0, 1, FIFTH)


def value_and_luck_follow_the_past(past):
    """After a bad reward the next is declared high, and is a long shot; on average as declared."""
    value = Fraction(9, 10) if past and past[-1] < HALF else Fraction(3, 10)
    return value, two_points(0, 1, value)


LAWS = [as_declared, in_the_middle, rare_and_large, value_and_luck_follow_the_past]


@pytest.mark.parametrize("law", LAWS)
def test_nobody_can_expect_to_gain_against_true_values(law):
    """All 1,024 paths of ten plays: E[W] = 1 where each mean is just what was declared."""
    mean, alarms = expected(law)
    assert isclose(mean, 1, rel_tol=1e-12)
    assert all(chance <= delta for delta, chance in alarms.items())


def test_a_default_that_pays_more_makes_less_evidence():
    mean, _ = expected(lambda past: (HALF, two_points(0, 1, Fraction(3, 5))))
    assert mean < 1


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3, 5)])
def test_false_alarms_are_rare_however_often_one_looks(low, high):
    """600 runs of 100 plays at the declared mean for each range, looked at after every play."""
    rng, alarms = random.Random(5), 0
    for _ in range(600):
        test = Shortfall((low, high))
        for _ in range(100):
            test.update(low + (high - low) * (rng.random() < 0.7), low + (high - low) * 0.7)
        alarms += test.below(0.05)
    assert alarms <= 30


@pytest.mark.parametrize("start", [0, 2000])
def test_a_mean_a_tenth_below_is_found_whenever_it_falls(start):
    """Coins of .6 declared as .7: 19 in 20 within 700 plays from the start, 1,300 after 2,000."""
    late, plays = 0, 1300 if start else 700
    for seed in range(20):
        rng = random.Random(seed)
        before = [float(rng.random() < 0.75) for _ in range(start)]
        test = after(before + [float(rng.random() < 0.6) for _ in range(plays)], 0.7)
        late += not test.below(0.01)
        if not late:
            assert abs(test.worst.first - start) < 1000
            assert test.worst.mean < 0.67
    assert late <= 1


def test_a_steady_reward_needs_few_plays():
    assert after([0.6] * 30, 0.7).below(0.01)
    assert not after([0.7] * 10_000, 0.7).below(0.5)


def test_an_alarm_is_not_taken_back():
    test = after([0.0] * 50 + [1.0] * 500, 0.5)
    assert test.below(0.01)
    assert test.evidence < 0
    assert (test.worst.first, test.worst.last, test.worst.mean) == (1, 50, 0)


def test_the_shortfall_starts_after_the_last_reward_that_was_as_declared():
    test = after([0.5] * 100 + [0.0] * 50, 0.5)
    assert (test.worst.first, test.worst.last, test.worst.mean) == (101, 150, 0)
    assert test.below(test.p_value)


def test_the_ends_of_the_range():
    assert isclose(after([1.0] * 100, 1).p_value, 1)
    assert after([0.999] * 5, 1).p_value < 1
    assert isclose(after([0.0] * 100, 0).p_value, 1)
    assert isclose(after([-7.0] * 100, 0).p_value, 1)
    test = after([0.0] * 3000, 1)
    assert 0 < test.p_value < 1e-99
    assert test.n == 3000


def test_a_reward_beyond_the_range_counts_as_its_end():
    far, near = after([-5.0, 7.0, 0.2], 0.5), after([0.0, 1.0, 0.2], 0.5)
    assert far.clipped == 2
    assert (far.evidence, far.mean, far.worst) == (near.evidence, near.mean, near.worst)


def test_no_rewards_say_nothing():
    test = Shortfall()
    assert (test.n, test.mean, test.declared, test.worst) == (0, None, None, None)
    assert (test.evidence, test.p_value) == (0, 1)
    assert not test.below(0.99)


@pytest.mark.parametrize(
    ("reward", "declared", "error"),
    [
        (0.5, 1.5, r"^declared = 1.5 lies outside reward_range \(0, 1\); widen the range"),
        (float("nan"), 0.5, "^reward must be finite"),
        ("1", 0.5, "^reward must be a number"),
        (1, None, "^declared must be a number"),
    ],
)
def test_what_cannot_be_tested_is_refused_and_changes_nothing(reward, declared, error):
    test = after([1, 0], 0.5)
    before = test.state()
    with pytest.raises(InvalidInput, match=error):
        test.update(reward, declared)
    assert test.state() == before


def test_a_chance_is_asked_for():
    with pytest.raises(InvalidInput, match=r"^delta = 1 must lie strictly between 0 and 1"):
        Shortfall().below(1)
    with pytest.raises(InvalidInput, match="r_min < r_max"):
        Shortfall((1, 0))


@given(st.lists(st.floats(0, 1), max_size=20), st.integers(0, 20))
def test_a_state_comes_back_and_goes_on(rewards, cut):
    whole, first = after(rewards, 0.6), after(rewards[:cut], 0.6)
    again = Shortfall((-5, 5))
    again.restore(json.loads(json.dumps(first.state())))
    for reward in rewards[cut:]:
        again.update(reward, 0.6)
    assert again.state() == whole.state()
