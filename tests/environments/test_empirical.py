from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from naive import environments as naive
from naive import replay
from surefoot._exact import shown
from surefoot.environments import EmpiricalArms, ReplayLog
from surefoot.errors import InvalidInput

numbers = st.floats(-1e5, 1e5) | st.integers(-(10**5), 10**5) | st.decimals(-1000, 1000, places=12)
samples = st.lists(st.lists(numbers, min_size=1, max_size=12), min_size=1, max_size=5)


@given(samples.filter(lambda given: len({x for own in given for x in own}) > 1), st.integers(0, 4))
def test_what_is_drawn_is_the_samples_to_the_nearest_unit(given_samples, places):
    rewards = [Fraction(str(x)) for own in given_samples for x in own]
    low, high = int(min(rewards) - 2), int(max(rewards) + 2)
    env = EmpiricalArms(given_samples, (low, high), places)
    expected = [replay.units(own, places) for own in given_samples]
    assert env.record.rewards.tolist() == [x for own in expected for x in own]
    for arm, units in enumerate(expected):
        mean, variance = naive.moments(units)
        assert env.means[arm] == float(mean / 10**places)
        assert env.variances[arm] == float(variance / 100**places)


def test_it_draws_what_a_log_of_the_same_rewards_does():
    given_samples = [[0.5, 0.25, 1], [0.125], [1, 0]]
    arms = [arm for arm, own in enumerate(given_samples) for _ in own]
    log = ReplayLog({"arm": arms, "reward": [x for own in given_samples for x in own]})
    env = EmpiricalArms(given_samples)
    assert env.places == log.places == 9
    for turn in range(1, 100):
        assert [env.pull(4, turn, k) for k in range(3)] == [log.pull(4, turn, k) for k in range(3)]
    assert env.means.tolist() == log.means.tolist()
    assert env.variances.tolist() == log.variances.tolist()


def test_every_sample_is_equally_likely():
    env = EmpiricalArms([[0, 1, 2, 3, 4, 4]])
    counts = Counter(env.pull(11, turn, 0) for turn in range(1, 6001))
    assert stats.chisquare([counts[x] for x in range(4)] + [counts[4] / 2]).pvalue > 1e-3


def test_rounding_does_not_lead_out_of_the_range():
    env = EmpiricalArms([[0.05, 0.96]], (0.05, 0.96), places=1)
    assert env.record.rewards.tolist() == [1, 9]
    assert env.reward_range == (Decimal("0.05"), Decimal("0.96"))


def test_one_value_is_a_constant():
    env = EmpiricalArms(np.array([[0.5], [0.5]]))
    assert (env.best, env.value(1), env.variances.tolist()) == (0.5, 0.5, [0, 0])
    assert env.reward_range == (0.5, 0.5)
    assert repr(env) == "EmpiricalArms(2 arms, 2 rewards)"


@pytest.mark.parametrize(
    ("given_samples", "options", "said"),
    [
        ([], {}, "samples is empty"),
        ([[1], []], {}, "samples[1] is empty"),
        (1, {}, "samples = 1 must be a list"),
        ("ab", {}, "samples = 'ab' must be a list"),
        ([1, 2], {}, "samples[0] = 1 must be a list"),
        ([[1, None]], {}, "samples[0][1] must be a number, got None"),
        ([[1], ["1"]], {}, "samples[1][0] must be a number, got '1'"),
        ([[float("nan")]], {}, "samples[0][0] must be finite"),
        (
            [[0, 2]],
            {"reward_range": (0, 1)},
            "samples[0][1] = 2 is outside the reward_range",
        ),
        ([[0, 1]], {"reward_range": (1, 0)}, "must have r_min < r_max"),
        ([[0, 1]], {"places": 12}, "places = 12 must be an int, at most 9 here"),
        ([[1e-12, 2e-12]], {}, "no multiple of 10**-9 lies in"),
        ([[10**200, 0]], {}, "no float holds their variance"),
    ],
    ids=shown,
)
def test_refused(given_samples, options, said):
    with pytest.raises(InvalidInput) as error:
        EmpiricalArms(given_samples, **options)
    assert said in str(error.value)
