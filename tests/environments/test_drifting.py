"""Arms whose means change with the play's number."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.environments import Environment
from surefoot.errors import InvalidInput
from surefoot.kernels.noise import noise

ARMS = sf.BernoulliArms([0.8, 0.2])
CHANGES = {301: [0.5, 0.5], 101: [0.2, 0.6]}
JUMPS = sf.Drifting(ARMS, CHANGES)
LINES = sf.Drifting(ARMS, CHANGES, smooth=True)


def test_means_jump_at_their_plays_in_whatever_order_they_are_given():
    plays = (1, 100, 101, 300, 301, 10**9)
    assert [JUMPS.value(0, play) for play in plays] == [0.8, 0.8, 0.2, 0.2, 0.5, 0.5]
    assert [JUMPS.best_at(play) for play in plays] == [0.8, 0.8, 0.6, 0.6, 0.5, 0.5]


@given(st.integers(1, 400), st.integers(0, 1))
def test_smooth_means_lie_on_the_lines_between(play, arm):
    lines = {1: ARMS.means[arm], 101: CHANGES[101][arm], 301: CHANGES[301][arm]}
    assert LINES.value(arm, play) == pytest.approx(np.interp(play, [*lines], [*lines.values()]))
    assert LINES.best_at(play) == max(LINES.value(0, play), LINES.value(1, play))


def test_until_the_first_jump_rewards_are_those_of_the_arms_inside():
    for arm in (0, 1):
        before = [JUMPS.pull(9, turn, arm, 100) for turn in range(500)]
        assert before == [ARMS.pull(9, turn, arm) for turn in range(500)]
        assert before == [JUMPS.pull(9, turn, arm) for turn in range(500)]


@given(st.integers(0, 2**64 - 1), st.integers(1, 10**6), st.integers(1, 400), st.integers(0, 1))
def test_a_reward_is_one_iff_its_bits_are_below_the_mean_of_its_play(key, turn, play, arm):
    for env in (JUMPS, LINES):
        mean = Fraction(env.value(arm, play))
        below = Fraction(noise(key, turn, arm) >> 11, 2**53) < mean
        assert env.pull(key, turn, arm, play) == float(below)


def test_it_is_an_environment_that_cannot_be_changed():
    assert isinstance(JUMPS, Environment)
    assert (JUMPS.n_arms, JUMPS.best, JUMPS.means.tolist()) == (2, 0.8, [0.8, 0.2])
    with pytest.raises(AttributeError, match="Drifting cannot be changed"):
        JUMPS.changes = {}
    with pytest.raises(ValueError, match="read-only"):
        JUMPS.changes[101][0] = 1
    said = "Drifting(BernoulliArms([0.8, 0.2]), {101: [0.2, 0.6], 301: [0.5, 0.5]}"
    assert (repr(JUMPS), repr(LINES)) == (f"{said})", f"{said}, smooth=True)")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((sf.Delayed(ARMS, 3), {2: [0, 0]}), r"go around: Delayed\(Drifting"),
        ((sf.LinearArms([[1]], [0.5]), {2: [0]}), "must be BernoulliArms"),
        ((ARMS, {}), "must be a dict from a play to the means"),
        ((ARMS, [[0.2, 0.8]]), "must be a dict from a play to the means"),
        ((ARMS, {1: [0, 0]}), "play 1 must be an int from 2 to 1000000000"),
        ((ARMS, {2.5: [0, 0]}), "play 2.5 must be an int from 2"),
        ((ARMS, {5: [0.1]}), r"changes\[5\] has 1 means, the environment 2 arms"),
        ((ARMS, {5: [0.1, 1.1]}), r"changes\[5\]: means\[1\] = 1.1 must lie in \[0, 1\]"),
        ((ARMS, {5: [0.1, 1]}, 1), "smooth = 1 must be True or False"),
    ],
)
def test_errors_name_the_value_and_the_remedy(arguments, said):
    with pytest.raises(InvalidInput, match=said):
        sf.Drifting(*arguments)
