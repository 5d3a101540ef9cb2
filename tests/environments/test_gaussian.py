from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from naive import environments as naive
from surefoot._exact import shown
from surefoot.environments import GaussianArms
from surefoot.errors import InvalidInput


def clipped(mean, sd, low, high):
    """Mean and variance of a clipped normal law, by numeric integration over its quantiles."""
    law = stats.norm(mean, sd)
    points = sorted({min(max(float(law.cdf(end)), 0.0), 1.0) for end in (low, high)})

    def moment(power):
        return integrate.quad(
            lambda p: min(max(law.ppf(p), low), high) ** power, 0, 1, points=points, limit=200
        )[0]

    return moment(1), moment(2) - moment(1) ** 2


@pytest.mark.parametrize(("mean", "sd"), [(0.5, 0.1), (0.9, 0.3), (-1, 1), (3, 0.7), (0.2, 5)])
def test_the_table_is_near_the_clipped_law(mean, sd):
    env, (true_mean, true_variance) = GaussianArms([mean], sd, (-1, 2)), clipped(mean, sd, -1, 2)
    assert env.means[0] == pytest.approx(true_mean, abs=5e-4)
    assert env.variances[0] == pytest.approx(true_variance, rel=5e-3, abs=1e-5)


@settings(max_examples=20)  # each sums 4096 fractions
@given(st.floats(-3, 3), st.floats(0.01, 10))
def test_means_and_variances_are_exactly_those_of_the_table(mean, sd):
    env = GaussianArms([0, mean], [1, sd], (-1, Decimal("1.23456789")), places=4)
    units = env.record.rewards[4096:].tolist()
    assert -10_000 <= min(units) <= max(units) <= 12_345
    mean, variance = naive.moments(units)
    assert env.means[1] == float(mean / 10**4)
    assert env.variances[1] == float(variance / 10**8)


def test_draws_are_of_the_law():
    env = GaussianArms([0.5], 0.1, (0, 1))
    drawn = [env.pull(3, turn, 0) for turn in range(1, 4001)]
    counts = np.histogram(stats.norm(0.5, 0.1).cdf(drawn), bins=16, range=(0, 1))[0]
    assert stats.chisquare(counts).pvalue > 1e-3


def test_far_arms_pay_an_end_of_the_range():
    env = GaussianArms([-1e6, 1e6, 10**999], 1, (0, 1))
    assert (env.means.tolist(), env.variances.tolist()) == ([0, 1, 1], [0, 0, 0])


def test_one_sd_will_do_for_all():
    one, each = GaussianArms([0.3, 0.6], 0.2, (0, 1)), GaussianArms([0.3, 0.6], [0.2] * 2, (0, 1))
    assert one.record.rewards.tolist() == each.record.rewards.tolist()
    assert one.reward_range == (0, 1)
    assert repr(one) == "GaussianArms(2 arms, 8192 rewards)"


GOOD = {"means": [0.5, 0.6], "sd": 0.1, "reward_range": (0, 1)}


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"means": []}, "means is empty"),
        ({"means": 0.5}, "means = 0.5 must be a list"),
        ({"means": ["0.5"]}, "means[0] must be a number"),
        ({"means": [float("nan")]}, "means[0] must be finite"),
        ({"sd": 0}, "sd = 0 must be above 0"),
        ({"sd": [0.1, -1]}, "sd[1] = -1 must be above 0"),
        ({"sd": [0.1]}, "sd is of 1 arms, means of 2"),
        ({"sd": []}, "sd is empty"),
        ({"sd": "1"}, "sd must be a number, got '1'"),
        ({"sd": True}, "sd = True"),
        ({"sd": None}, "sd must be a number, got None"),
        ({"sd": float("inf")}, "sd must be finite"),
        ({"reward_range": (1, 0)}, "must have r_min < r_max"),
        ({"reward_range": None}, "reward_range = None must be a pair"),
        ({"reward_range": (0, 1e6)}, "places = 6 must be an int, at most 3 here"),
        ({"places": 2.0}, "places = 2.0 must be an int"),
    ],
    ids=shown,
)
def test_refused(bad, said):
    with pytest.raises(InvalidInput) as error:
        GaussianArms(**(GOOD | bad))
    assert said in str(error.value)
