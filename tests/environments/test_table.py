from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import environments as naive
from naive import replay
from surefoot._exact import Unit
from surefoot.environments import BetaArms, EmpiricalArms, GaussianArms
from surefoot.environments._kernels import draw, draws_for
from surefoot.environments._table import TableRecord, moments, on_lattice, ranks, table, unit_of
from surefoot.errors import InvalidInput
from surefoot.kernels.noise import noise
from surefoot.simulation import compiled

WIDEST = 2**34 - 1
KEY, TURNS = 20201214, 20_000

amounts = st.lists(st.integers(-WIDEST, WIDEST), min_size=1, max_size=40)


@given(amounts)
def test_moments_are_exact(units):
    assert moments(np.array(units)) == naive.moments(units)


def test_moments_of_a_large_table_do_not_overflow():
    units = np.array([WIDEST, -WIDEST] * 2**16)
    assert moments(units) == (0, WIDEST**2)


@given(st.lists(amounts, min_size=1, max_size=4), st.integers(0, 2**64 - 1), st.integers(1, 10**9))
def test_a_draw_is_the_entry_that_the_noise_chooses(lists, key, turn):
    record = table([np.array(units) for units in lists])
    for arm, units in enumerate(lists):
        assert draw(record, key, turn, arm) == replay.draw(units, noise(key, turn, arm))


ALL = [
    BetaArms([0.5, 2, 30], [0.5, 5, 10]),
    GaussianArms([0.4, 1.4], [0.3, 0.6], (-0.5, 1.5)),
    EmpiricalArms([[0, 0, 1.5], [-2, 0.25, 0.125, 7]]),
]


@pytest.mark.parametrize("environment", ALL, ids=repr)
def test_what_is_drawn_has_the_stated_mean_and_variance(environment):
    for arm in range(environment.n_arms):
        pulls = np.array([environment.pull(KEY, turn, arm) for turn in range(1, TURNS + 1)])
        mean, variance = environment.means[arm], environment.variances[arm]
        assert abs(pulls.mean() - mean) < 4 * np.sqrt(variance / TURNS)
        fourth = ((pulls - mean) ** 4).mean()
        assert abs(((pulls - mean) ** 2).mean() - variance) < 4 * np.sqrt(fourth / TURNS)


@pytest.mark.parametrize("environment", ALL, ids=repr)
def test_the_kernel_draws_what_pull_pays(environment):
    assert draws_for(environment)
    low, high = map(float, environment.reward_range)
    for arm in range(environment.n_arms):
        for turn in range(1, 200):
            units = int(draw(environment.record, KEY, turn, arm))
            paid = environment.pull(KEY, turn, arm)
            assert paid == float(Decimal(units).scaleb(-environment.places))
            assert low <= paid <= high
            assert paid == environment.pull(KEY, turn, arm)


def test_compiled_draws_are_the_plain_ones():
    numba = pytest.importorskip("numba")
    compiled.engine()

    @numba.njit
    def draws(record, key, turns, arm):
        total = np.empty(turns, np.int64)
        for turn in range(turns):
            total[turn] = draw(record, key, turn + 1, arm)
        return total

    for environment in ALL:
        record = environment.record
        for arm in range(environment.n_arms):
            plain = [int(draw(record, KEY, turn, arm)) for turn in range(1, 301)]
            assert draws(record, np.uint64(KEY), 300, arm).tolist() == plain


def test_a_continuous_law_has_a_quantile_in_each_part():
    middles = ranks()
    assert (np.floor(middles * len(middles)) == np.arange(len(middles))).all()
    assert middles[0] == 1 - middles[-1] == 0.5 / len(middles)


def test_what_is_put_on_the_lattice_stays_in_the_range():
    unit, low, high = Unit(1), Decimal("0.15"), Decimal("0.95")
    values = np.array([-np.inf, 0.16, 0.349, 0.94, 5])
    assert on_lattice(values, unit, low, high).tolist() == [2, 2, 3, 9, 9]


def test_the_unit_is_the_finest_unless_one_is_given():
    assert unit_of(Decimal(0), Decimal(1), None).places == 9
    assert unit_of(Decimal(0), Decimal(10), None).places == 8
    assert unit_of(Decimal(0), Decimal(1), 3).places == 3
    assert unit_of(Decimal(0), Decimal(900), -2).places == -2


@pytest.mark.parametrize("places", [10, 1.0, True, "6"])
def test_places_that_are_none_are_refused(places):
    with pytest.raises(InvalidInput, match="places"):
        unit_of(Decimal("0.5"), Decimal(1), places)


def test_a_unit_wider_than_the_range_is_refused():
    with pytest.raises(InvalidInput, match=r"no multiple of 10\*\*400 lies in \(0\.5, 1\)"):
        unit_of(Decimal("0.5"), Decimal(1), -400)


def test_a_range_between_two_neighbours_holds_no_reward():
    with pytest.raises(InvalidInput, match=r"no multiple of 10\*\*-1 lies in \(0.11, 0.19\)"):
        unit_of(Decimal("0.11"), Decimal("0.19"), 1)


def test_the_truth_cannot_be_changed():
    for environment in ALL:
        for numbers in (environment.means, environment.variances):
            with pytest.raises(ValueError, match="read-only"):
                numbers[0] = 0


def test_the_record_is_one_array_and_where_each_arm_begins():
    record = table([np.array([1, 2]), np.array([3])])
    assert isinstance(record, TableRecord)
    assert [column.tolist() for column in record] == [[1, 2, 3], [0, 2], [2, 1]]
