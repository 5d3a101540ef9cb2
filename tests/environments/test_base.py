import numpy as np
import pytest

from surefoot.environments import BernoulliArms, Environment, ReplayLog
from surefoot.environments.base import gaps

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


def test_gaps_are_against_the_best_regular_arm():
    assert gaps(np.array([0.25, 0.75, 0.5]), 0.625).tolist() == [0.5, 0.0, 0.25, 0.125]


def test_where_the_default_is_best_gaps_are_against_it():
    assert gaps(np.array([0.25, 0.5]), 0.75).tolist() == [0.5, 0.25, 0.0]
    assert gaps(np.array([0.5]), 0.5).tolist() == [0.0, 0.0]


def test_gaps_of_negative_means():
    assert gaps(np.array([-1.0, -0.5]), 0.5).tolist() == [1.5, 1.0, 0.0]
