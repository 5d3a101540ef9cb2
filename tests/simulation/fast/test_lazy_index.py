"""The fast driver of ConUCB, MOSS and one's own index policies decides as the plain text does."""

import numpy as np
import pytest

import surefoot as sf
from reference import ceilings_case, differences, users_policy
from surefoot.simulation.plan import Plan


@pytest.mark.parametrize(
    "part", [*range(5), *(pytest.param(n, marks=pytest.mark.slow) for n in range(5, 10))]
)
def test_no_decision_differs_in_200_random_cases(part):
    for seed in range(200 * part, 200 * (part + 1)):
        assert differences(ceilings_case(np.random.default_rng(seed))) == [], f"seed {seed}"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_no_decision_differs_in_10000_random_cases(part):
    for seed in range(10**6 + 1000 * part, 10**6 + 1000 * (part + 1)):
        assert differences(ceilings_case(np.random.default_rng(seed))) == [], f"seed {seed}"


def test_a_default_that_wins_for_good_and_one_that_wins_for_a_while():
    """MOSS does not come back, a policy whose radius grows does."""
    environment = sf.BernoulliArms([0.3, 0.2])
    floor, moss = (
        sf.RewardFloor(0.5, 0.5),
        sf.comparators.UnbalancedMOSS(2, 0.5, 0.5, 50_000).policy,
    )
    agents = {"own": sf.GenCB(users_policy(2), floor), "MOSS": sf.GenCB(moss, floor)}
    plan = Plan(agents, environment, 50_000, 1)
    assert differences(plan) == []
