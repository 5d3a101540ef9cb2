import re

import numpy as np
import pytest

from surefoot.errors import InvalidInput
from surefoot.theory import inputs


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 5, float("nan"), float("inf"), "0.05", None, [0.05]])
def test_alpha_outside_the_open_interval_is_refused_by_name(alpha):
    with pytest.raises(InvalidInput, match="alpha"):
        inputs.alpha_of(alpha)


@pytest.mark.parametrize("default", [0, -0.1, float("nan"), "0.7"])
def test_a_default_that_earns_nothing_is_refused(default):
    with pytest.raises(InvalidInput, match="default"):
        inputs.gap0(default, 0.8)


@pytest.mark.parametrize(("default", "best"), [(0.8, 0.8), (0.9, 0.8)])
def test_a_default_as_good_as_the_best_arm_voids_the_theorems(default, best):
    words = re.escape(f"default = {default} is not below the best regular arm, {best}")
    with pytest.raises(InvalidInput, match=words + ".*default_competes"):
        inputs.gap0(default, best)


@pytest.mark.parametrize(
    ("T", "words"),
    [(0, ">= 1"), ([5, 0.5], ">= 1"), (float("nan"), "finite"), ("many", "'many'"), (None, ">= 1")],
)
def test_fewer_than_one_play_is_refused(T, words):
    with pytest.raises(InvalidInput, match=words):
        inputs.plays(T)


def test_gaps_leave_out_every_arm_as_good_as_the_best():
    best, gaps = inputs.gaps_of(np.array([0.5, 0.75, 0.75, 0.25]), "means")
    assert (best, gaps.tolist()) == (0.75, [0.25, 0.5])


def test_equal_arms_have_no_gap_to_divide_by():
    with pytest.raises(InvalidInput, match=r"all 3 arms are worth 0\.5"):
        inputs.gaps_of(np.array([0.5, 0.5, 0.5]), "means")


@pytest.mark.parametrize(
    ("means", "words"),
    [
        ([], "shape"),
        ([[0.5]], "shape"),
        (0.5, "shape"),
        ([0.5, 1.5], r"means\[1\] = 1.5"),
        ([0.5, float("nan")], r"means\[1\] = nan"),
        (["a"], "one number for each arm"),
    ],
)
def test_means_are_one_probability_for_each_arm(means, words):
    with pytest.raises(InvalidInput, match=words):
        inputs.arms_of(means, "means", 0, 1)


@pytest.mark.parametrize("d", [0, 2.5, -1, "5"])
def test_a_dimension_is_a_whole_number(d):
    with pytest.raises(InvalidInput, match="d "):
        inputs.whole(d, "d", "the features' dimension")


def test_delta_none_is_the_convention_one_over_the_horizon():
    T = np.array([1.0, 10.0])
    assert inputs.delta_of(None)(T).tolist() == [1.0, 0.1]
    assert inputs.delta_of(0.25)(T).tolist() == [0.25, 0.25]
    with pytest.raises(InvalidInput, match="delta = 1"):
        inputs.delta_of(1)
