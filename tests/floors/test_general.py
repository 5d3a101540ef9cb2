"""The general floor against its twin: signed values, margins, intervals, ceilings on costs."""

import pytest

from general_laws import check_promise, check_rounding, check_table

MORE = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 20)]
SIDES = pytest.mark.parametrize("costs", [False, True], ids=["rewards", "costs"])


@SIDES
@pytest.mark.parametrize("seed", [0, *MORE])
def test_on_the_lattice_the_books_are_the_twin(seed, costs):
    """2,000 schedules of each: every account to the unit, every report judged alike."""
    for each in range(100):
        check_table(100 * seed + each, costs)


@SIDES
@pytest.mark.parametrize("seed", [0, *MORE])
def test_whatever_is_finer_than_the_unit_is_rounded_as_the_table_says(seed, costs):
    for each in range(20):
        check_rounding(20 * seed + each, costs, places=each % 4)


@SIDES
@pytest.mark.parametrize("places", [0, 1, 4])
def test_the_promise_is_kept_however_fine_the_numbers_are(places, costs):
    for seed in range(40):
        check_promise(seed, costs, places)
