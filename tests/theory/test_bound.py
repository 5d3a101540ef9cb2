import numpy as np
import pytest

from surefoot.errors import InvalidInput
from surefoot.theory.bound import Bound, Term, constant


def example(trusted=True):
    terms = (Term("log", "3 ln T", lambda T: 3 * np.log(T)), Term("flat", "2", constant(2.0)))
    return Bound("example", terms, "E", "nowhere", trusted, "")


def test_the_bound_is_the_sum_of_its_parts_at_numbers_and_arrays_of_any_shape():
    T = np.array([[1, 10], [100, 1000]])
    parts = example().parts(T)
    assert parts["flat"].tolist() == [[2, 2], [2, 2]]
    np.testing.assert_array_equal(example()(T), parts["log"] + parts["flat"])
    assert type(example()(10)) is float
    assert example()(1) == 2.0
    assert example().parts(1) == {"log": 0.0, "flat": 2.0}


def test_a_bound_drawn_through_a_point_keeps_its_shape_and_loses_its_trust():
    drawn = example().through(50, 1000.0)
    assert drawn(50) == pytest.approx(1000)
    T = np.geomspace(1, 1e6, 20)
    assert np.ptp(drawn(T) / example()(T)) == pytest.approx(0, abs=1e-9)
    assert (example().trusted, drawn.trusted) == (True, False)
    assert "scaled" in drawn.note


@pytest.mark.parametrize(("T", "value"), [(10, 0), (10, -1), (10, float("nan"))])
def test_nothing_is_drawn_through_a_point_that_is_not_above_zero(T, value):
    with pytest.raises(InvalidInput):
        example().through(T, value)


def test_a_bound_that_is_zero_cannot_be_scaled():
    log = Bound("log", (Term("log", "ln T", np.log),), "E", "nowhere", trusted=False, note="")
    with pytest.raises(InvalidInput, match=r"log is 0\.0 at T = 1 .* later T"):
        log.through(1, 5.0)


def test_bounds_are_frozen():
    with pytest.raises(AttributeError):
        example().trusted = False
