from decimal import Decimal

import numpy as np
import pytest

from surefoot._exact import shown
from surefoot.environments import BernoulliArms, Environment, ReplayLog
from surefoot.environments.base import bounds, gaps
from surefoot.errors import InvalidInput

LOG = {"arm": ["a", "a", "b"], "reward": [0, 1, 1]}


@pytest.mark.parametrize("environment", [BernoulliArms([0.5]), ReplayLog(LOG)])
def test_ours_follow_the_protocol(environment):
    assert isinstance(environment, Environment)
    low, high = environment.reward_range
    for arm in range(environment.n_arms):
        for turn in range(1, 50):
            reward = environment.pull(key=3, turn=turn, arm=arm)
            assert type(reward) is float
            assert low <= reward <= high
            assert (reward * 10**environment.places).is_integer()


@pytest.mark.parametrize("lacking", ["n_arms", "places", "reward_range", "means", "record"])
def test_what_lacks_a_part_is_no_environment(lacking):
    environment = BernoulliArms([0.5])
    parts = {"n_arms", "places", "reward_range", "means", "record", "pull", "gaps"} - {lacking}
    assert not isinstance(
        type("Part", (), {part: getattr(environment, part) for part in parts})(), Environment
    )


def ranging(reward_range):
    environment = BernoulliArms([0.5])
    environment.reward_range = reward_range
    return environment


def test_bounds_are_exact_and_a_float_means_its_shortest_decimal():
    assert bounds(ranging((0.3, np.float64(0.7)))) == (Decimal("0.3"), Decimal("0.7"))
    assert bounds(ranging((1, 1))) == (1, 1)


@pytest.mark.parametrize(
    ("reward_range", "said"),
    [
        (None, "reward_range = None of the environment must be a pair"),
        ((0, 0.5, 1), r"reward_range = \(0, 0.5, 1\) of the environment must be a pair"),
        ((0, None), "r_max of the environment must be a number, got None"),
        ((float("nan"), 1), "r_min of the environment must be finite"),
        ((1, 0), r"reward_range = \(1, 0\) of the environment must have r_min <= r_max"),
        (10**5000, "reward_range = <int of too many digits> of the environment"),
    ],
    ids=shown,
)
def test_what_is_no_range_is_refused(reward_range, said):
    with pytest.raises(InvalidInput, match=said):
        bounds(ranging(reward_range))


def test_gaps_are_against_the_best_regular_arm():
    assert gaps(np.array([0.25, 0.75, 0.5]), 0.625).tolist() == [0.5, 0.0, 0.25, 0.125]


def test_where_the_default_is_best_gaps_are_against_it():
    assert gaps(np.array([0.25, 0.5]), 0.75).tolist() == [0.5, 0.25, 0.0]
    assert gaps(np.array([0.5]), 0.5).tolist() == [0.0, 0.0]


def test_gaps_of_negative_means():
    assert gaps(np.array([-1.0, -0.5]), 0.5).tolist() == [1.5, 1.0, 0.0]
