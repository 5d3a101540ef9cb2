from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import BernoulliArms
from surefoot._exact import shown
from surefoot.errors import InvalidInput
from surefoot.kernels.noise import noise

TINY = 2.0**-53
TURNS = 20_000


def test_the_threshold_is_the_exact_share_of_53_bits():
    means = [0, 1, 0.5, TINY, TINY / 2, 5e-324, 0.25, 0.7]
    thresholds = BernoulliArms(means).record.thresholds.tolist()
    assert thresholds[:7] == [0, 2**53, 2**52, 1, 1, 1, 2**51]
    assert Fraction(thresholds[7], 2**53) == Fraction(0.7)


@given(st.floats(0, 1))
def test_a_mean_is_met_to_within_one_in_2_to_the_53(mean):
    share = Fraction(int(BernoulliArms([mean]).record.thresholds[0]), 2**53)
    assert Fraction(mean) <= share < Fraction(mean) + Fraction(1, 2**53)
    assert mean < 0.5 or share == Fraction(mean)


@given(st.integers(0, 2**64 - 1), st.integers(1, 10**9), st.integers(0, 1), st.floats(0, 1))
def test_a_reward_is_one_iff_its_53_bits_are_below_the_mean(key, turn, arm, mean):
    arms = BernoulliArms([mean, mean])
    assert arms.pull(key, turn, arm) == float(Fraction(noise(key, turn, arm) >> 11, 2**53) < mean)


@given(st.integers(0, 2**64 - 1), st.integers(1, 10**9))
def test_bits_that_equal_the_threshold_are_not_below_it(key, turn):
    share = (noise(key, turn, 0) >> 11) * 2.0**-53
    assert BernoulliArms([share]).pull(key, turn, 0) == 0.0
    assert BernoulliArms([share + 2.0**-53]).pull(key, turn, 0) == 1.0


def test_arms_of_mean_0_and_1_know_no_chance():
    arms = BernoulliArms([0, 1])
    pulls = {(arms.pull(5, turn, 0), arms.pull(5, turn, 1)) for turn in range(1, 2000)}
    assert pulls == {(0.0, 1.0)}


@pytest.mark.parametrize("mean", [0.01, 0.2, 0.5, 0.7, 0.999])
def test_empirical_means(mean):
    arms = BernoulliArms([0.5, mean])
    total = sum(arms.pull(20201214, turn, 1) for turn in range(1, TURNS + 1))
    assert abs(total / TURNS - mean) < 4 * np.sqrt(mean * (1 - mean) / TURNS)


def test_a_reward_depends_on_key_turn_and_arm_alone():
    few, many = BernoulliArms([0.5, 0.4]), BernoulliArms([0.1, 0.4, 0.9])
    rewards = [few.pull(9, turn, 1) for turn in range(1, 300)]
    assert rewards == [many.pull(9, turn, 1) for turn in range(1, 300)]
    assert rewards != [many.pull(10, turn, 1) for turn in range(1, 300)]


def test_the_truth_of_each_arm_and_of_the_best():
    arms = BernoulliArms([0.5, 0.75])
    assert arms.variances.tolist() == [0.25, 0.1875]
    assert (arms.best, arms.value(0)) == (0.75, 0.5)
    with pytest.raises(ValueError, match="read-only"):
        arms.variances[0] = 0


def test_means_can_be_any_numbers():
    given_as = [[0.5, 1], (0.5, 1.0), np.array([0.5, 1]), [Decimal("0.5"), True], range(2)]
    means = [BernoulliArms(means).means.tolist() for means in given_as]
    assert means == [[0.5, 1.0]] * 4 + [[0.0, 1.0]]


def test_means_cannot_be_changed_behind_the_thresholds():
    given_means = np.array([0.5, 0.25])
    arms = BernoulliArms(given_means)
    given_means[0] = 0.9
    assert arms.means[0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        arms.means[0] = 0.9


@pytest.mark.parametrize(
    ("means", "said"),
    [
        ([], "means is empty"),
        (0.5, "means = 0.5 must be a list"),
        (None, "means = None must be a list"),
        ([0.5, 1.5], "means[1] = 1.5 must lie in [0, 1]"),
        ([-0.1], "means[0] = -0.1 must lie in [0, 1]"),
        ([float("nan")], "means[0] must be finite, got nan"),
        ([float("inf")], "means[0] must be finite, got inf"),
        (["0.5"], "means[0] must be a number, got '0.5'"),
        ("0.5", "means = '0.5' must be a list"),
        ([[0.5]], "means[0] must be a number, got [0.5]"),
        ([0.5, None], "means[1] must be a number, got None"),
        (np.ma.array([0.5, 0.5], mask=[False, True]), "means[1] is masked; give every arm its"),
        ([np.ma.masked], "means[0] is masked"),
        ([10**5000], "means[0] = <int of too many digits> is beyond"),
        (10**5000, "means = <int of too many digits> must be a list"),
    ],
    ids=shown,
)
def test_refused(means, said):
    with pytest.raises(InvalidInput) as error:
        BernoulliArms(means)
    assert said in str(error.value)
