from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import InvalidInput
from surefoot.study.toml.grid import axis_of

ALPHA = ("grid", "alpha")


def between(first, last, steps):
    return axis_of(ALPHA, {"from": first, "to": last, "steps": steps}).values


def test_equal_steps_are_the_numbers_that_one_would_write():
    assert between(0.01, 0.2, 20) == tuple(float(f"{i / 100:.2f}") for i in range(1, 21))
    assert between(0.3, 0.1, 3) == (0.3, 0.2, 0.1)
    assert between(0, 1, 4) == (0.0, 1 / 3, 2 / 3, 1.0)
    assert between(-1e-9, 1e-9, 3) == (-1e-9, 0.0, 1e-9)


def test_whole_numbers_stay_whole_if_all_are():
    assert list(map(repr, between(10, 50, 5))) == ["10", "20", "30", "40", "50"]
    assert list(map(repr, between(10, 11, 3))) == ["10.0", "10.5", "11.0"]
    assert list(map(repr, between(10.0, 12, 3))) == ["10.0", "11.0", "12.0"]


@given(st.decimals(-9, 9, places=3), st.decimals("-0.5", "0.5", places=4), st.integers(2, 60))
def test_a_grid_is_a_list_of_its_decimals(first, step, steps):
    """What a file with the values written out would have, to the last bit."""
    written = [first + step * i for i in range(steps)]
    if step:
        assert between(float(first), float(written[-1]), steps) == tuple(map(float, written))


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.integers(2, 50))
def test_both_ends_are_in_it_and_it_is_in_order(first, last, steps):
    if Decimal(repr(first)) == Decimal(repr(last)):
        with pytest.raises(InvalidInput, match="from = to"):
            between(first, last, steps)
        return
    values = between(first, last, steps)
    assert (values[0], values[-1], len(values)) == (first, last, steps)
    assert list(values) == sorted(values, reverse=last < first)
