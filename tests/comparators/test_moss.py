"""UnbalancedMOSS plays what its formula says, at every play."""

import random
import re

import pytest

from naive import moss
from surefoot.comparators import UnbalancedMOSS
from surefoot.errors import InvalidInput


@pytest.mark.parametrize("seed", range(8))
def test_every_decision_is_the_twins(seed):
    rng = random.Random(seed)
    n_arms, n = rng.randint(1, 4), rng.choice([300, 10_000])
    mu0, alpha = rng.randint(20, 80) / 100, rng.choice([0.1, 0.5, 0.9])
    agent = UnbalancedMOSS(n_arms, mu0, alpha, n)
    chances, history = [rng.random() for _ in range(n_arms)], []
    for _ in range(300):
        play = agent.select()
        assert play.index == moss.decide(n_arms, mu0, alpha, n, history)
        reward = None if play.is_default else int(rng.random() < chances[play.index])
        agent.update(play, reward)
        history.append((play.index, reward))
    assert 0 < agent.account.default_plays < 300


def test_another_range_is_scaled():
    """Rewards in (-1, 3) are places in the range, and so are the default and what may be lost."""
    wide = UnbalancedMOSS(2, 1, 0.4, 1000, reward_range=(-1, 3))
    unit = UnbalancedMOSS(2, 0.5, 0.2, 1000)
    rng = random.Random(3)
    for _ in range(200):
        ours, theirs = wide.select(), unit.select()
        assert ours.index == theirs.index
        place = rng.random() < 0.6
        wide.update(ours, None if ours.is_default else 4 * place - 1)
        unit.update(theirs, None if theirs.is_default else int(place))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"horizon": None}, "horizon is missing"),
        ({"horizon": -3}, "horizon = -3 must be an int >= 1"),
        ({"default": None}, "default is missing; UnbalancedMOSS needs"),
        ({"default": 2}, "default = 2 lies outside"),
        ({"alpha": 1}, "alpha = 1 must lie"),
        ({"reward_range": (1, 0)}, "must have r_min < r_max"),
        ({"n_arms": 0}, "n_arms = 0 must be"),
    ],
    ids=str,
)
def test_what_it_is_not_defined_for_is_refused(settings, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        UnbalancedMOSS(**{"n_arms": 2, "default": 0.5, "alpha": 0.1, "horizon": 99, **settings})
