"""A learned default's books against their twin, at every mean."""

import pytest

from learned_laws import check

MORE = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 44)]


@pytest.mark.parametrize("seed", [*range(6), *MORE])
def test_the_books_are_the_twin_at_every_mean(seed):
    """440 schedules: ends, accounts and gates; and the promise at every mean that is left."""
    for each in range(10):
        check(10 * seed + each)


@pytest.mark.parametrize("seed", [0, *MORE[:7]])
def test_the_ends_move_at_the_due_times_and_at_no_other(seed):
    check(seed, turns=260, prompt=True)
