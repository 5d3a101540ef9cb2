"""What is packed comes back equal and of the same type; the rest is refused by name."""

import json
import math
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot._json_values import from_json, to_json
from surefoot.errors import InvalidInput

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
KEYS = st.none() | st.booleans() | st.integers() | st.text() | st.tuples(st.integers(), st.text())
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)
ARRAYS = [
    np.arange(6).reshape(2, 3),
    np.zeros((0, 3)),
    np.array(2.5),
    np.array([[1.5, np.nan], [-0.0, np.inf]], dtype=">f4"),
    np.array([2**63], dtype=np.uint64),
    np.array([True, False]),
    np.array(["a", "bcde", ""]),
    np.eye(3)[::2, 1:],
    np.array([0.1], dtype=np.float16),
]
NUMPY_SCALARS = [
    np.float64(0.1), np.float32(0.1), np.float64("nan"), np.int8(-3), np.uint64(2**64 - 1),
    np.bool_(True), np.str_("é"),
]  # fmt: skip


def there_and_back(value):
    return from_json(json.loads(json.dumps(to_json(value, "value"), allow_nan=False)))


def alike(a, b):
    """Equal and of the same type, all the way down; NaN is NaN, and zeros keep their sign."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, dict):
        return alike(list(a.items()), list(b.items()))
    return repr(a) == repr(b)


@given(VALUES)
def test_plain_values_come_back(value):
    assert alike(there_and_back(value), value)


@pytest.mark.parametrize("array", ARRAYS, ids=repr)
def test_arrays_come_back(array):
    again = there_and_back(array)
    assert (type(again), again.dtype, again.shape) == (np.ndarray, array.dtype, array.shape)
    np.testing.assert_array_equal(again, array)
    assert again.tobytes() == array.tobytes()


@pytest.mark.parametrize("scalar", NUMPY_SCALARS, ids=repr)
def test_numpy_scalars_come_back(scalar):
    assert alike(there_and_back(scalar), scalar)


def test_keys_that_json_would_turn_into_strings_stay_what_they_are():
    value = {1: "int", "1": "string", 10: 0, 2: {(0, 1): math.inf}}
    assert there_and_back(value) == value
    assert list(there_and_back(value)) == [1, "1", 10, 2]


def test_values_that_look_packed_come_back_as_they_are():
    value = {"tuple": [1], "float": "inf", "array": [], "dict": []}
    assert there_and_back(value) == value


@pytest.mark.parametrize(
    "value",
    [
        b"bytes", {1, 2}, Decimal(1), 1j, np.complex128(1), datetime(2020, 1, 1, tzinfo=UTC), print,
        np.array([None]), np.datetime64("2020"), np.array([(1,)], dtype=[("a", int)]),
        np.longdouble(1), np.ma.masked_array([1]), range(3),
    ],
    ids=repr,
)  # fmt: skip
def test_what_json_cannot_say_is_refused_by_name(value):
    for nested in (value, [value], {"key": (value,)}):
        with pytest.raises(
            InvalidInput, match=r"(?s)^state holds .* which cannot be saved as JSON"
        ):
            to_json(nested, "state")


@pytest.mark.parametrize("packed", [{}, {"pickle": "x"}, {"array": [1]}, [{"scalar": 1}]], ids=repr)
def test_what_was_not_packed_is_refused(packed):
    with pytest.raises(ValueError, match="of no known kind"):
        from_json(packed)
