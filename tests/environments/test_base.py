from decimal import Decimal

import numpy as np
import pytest

from surefoot._exact import shown
from surefoot.environments import (
    BernoulliArms,
    BetaArms,
    CombinatorialArms,
    EmpiricalArms,
    Environment,
    GaussianArms,
    LinearArms,
    ReplayLog,
)
from surefoot.environments.base import bounds
from surefoot.errors import InvalidInput

PARTS = [
    "n_arms", "places", "reward_range", "means", "variances", "best", "record", "pull", "value",
]  # fmt: skip
LOG = {"arm": ["a", "a", "b"], "reward": [0, 1, 1]}


class Two:
    """An oracle of two base arms."""

    size = (2, 2)

    def __call__(self, weights):
        return tuple(sorted(np.argsort(-weights, kind="stable")[:2].tolist()))


@pytest.mark.parametrize(
    "environment",
    [
        BernoulliArms([0.5]),
        ReplayLog(LOG),
        LinearArms.embedded(3, 4, seed=1),
        CombinatorialArms.embedded(4, 3, Two(), seed=1),
        BetaArms([1, 2], [3, 0.5]),
        GaussianArms([0.25, 1], 0.5, (-1, 1.5), places=3),
        EmpiricalArms([[0.25, 1], [3]]),
    ],
    ids=lambda environment: type(environment).__name__,
)
def test_ours_follow_the_protocol(environment):
    assert isinstance(environment, Environment)
    low, high = bounds(environment)
    assert environment.means.shape == environment.variances.shape == (environment.n_arms,)
    action = (0, 1) if getattr(environment, "semi_bandit", False) else 0
    assert type(environment.value(action)) is type(environment.best) is float
    assert environment.value(action) <= environment.best
    for arm in range(environment.n_arms):
        for turn in range(1, 50):
            reward = environment.pull(key=3, turn=turn, arm=arm)
            assert type(reward) is float
            paid = Decimal(repr(reward))
            assert low <= paid <= high
            units = paid.scaleb(environment.places)
            assert units == units.to_integral_value()


@pytest.mark.parametrize("lacking", PARTS)
def test_what_lacks_a_part_is_no_environment(lacking):
    environment = BernoulliArms([0.5])
    parts = set(PARTS) - {lacking}
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
