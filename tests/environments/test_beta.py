import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from naive import environments as naive
from surefoot._exact import shown
from surefoot.environments import BetaArms
from surefoot.errors import InvalidInput


def entries(env, arm=0):
    rewards, starts, sizes = env.record
    return rewards[int(starts[arm]) : int(starts[arm]) + int(sizes[arm])]


@given(st.floats(0.5, 50), st.floats(0.5, 50))
def test_the_table_is_near_the_law(a, b):
    env, law = BetaArms([a], [b]), stats.beta(a, b)
    assert env.means[0] == pytest.approx(law.mean(), abs=1e-4)
    assert env.variances[0] == pytest.approx(law.var(), rel=5e-3)


def test_means_and_variances_are_exactly_those_of_the_table():
    env = BetaArms([0.7, 3], [2, 1], places=3)
    for arm in range(2):
        mean, variance = naive.moments(entries(env, arm).tolist())
        assert env.means[arm] == float(mean / 1000)
        assert env.variances[arm] == float(variance / 1000**2)


def test_each_entry_is_a_quantile_of_the_law():
    units = entries(BetaArms([2], [5]))
    levels = stats.beta(2, 5).cdf(units / 1e6) * 4096
    assert np.abs(levels - (np.arange(4096) + 0.5)).max() < 0.02


def test_draws_are_of_the_law():
    env = BetaArms([2], [5])
    drawn = [env.pull(3, turn, 0) for turn in range(1, 4001)]
    counts = np.histogram(stats.beta(2, 5).cdf(drawn), bins=16, range=(0, 1))[0]
    assert stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("shape", [1e-3, 1e9])
def test_extreme_shapes_stay_in_the_range(shape):
    units = entries(BetaArms([shape], [shape]))
    assert 0 <= units.min() <= units.max() <= 10**6
    assert units.mean() == pytest.approx(5e5, abs=1)


def test_settings():
    env = BetaArms((1, 2), np.array([1, 2]), places=2)
    assert (env.places, env.reward_range, env.n_arms) == (2, (0, 1), 2)
    assert repr(env) == "BetaArms(2 arms, 8192 rewards)"


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ([], [1], "a is empty"),
        ([1], [], "b is empty"),
        (1, [1], "a = 1 must be a list"),
        ("1", [1], "a = '1' must be a list"),
        ([1], [1, 2], "a is of 1 arms, b of 2"),
        ([0], [1], "a[0] = 0 must lie in"),
        ([1], [-1], "b[0] = -1 must lie in"),
        ([1], [1e10], "b[0] = 10000000000.0 must lie in"),
        ([1], [float("nan")], "b[0] must be finite"),
        (["1"], [1], "a[0] must be a number"),
        ([True], [1], "a[0] = True"),
    ],
    ids=shown,
)
def test_refused(a, b, said):
    with pytest.raises(InvalidInput) as error:
        BetaArms(a, b)
    assert said in str(error.value)


@pytest.mark.parametrize("places", [10, 0.5, None, True, "1"])
def test_places_that_do_not_fit(places):
    if places is None:
        assert BetaArms([1], [1], places).places == 9
    else:
        with pytest.raises(InvalidInput, match="places = "):
            BetaArms([1], [1], places)
