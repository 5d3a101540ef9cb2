import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from surefoot._exact import INT64_MAX, PLAYS, Unit, exact, finest_places, fits, reach, shown
from surefoot.errors import InvalidInput

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**6), max_value=10**6)


def digits(low, high):
    """Floats read from decimals of low..high digits, as a CSV or a JSON body holds them."""
    return st.builds(
        lambda n, sign, point: float(f"{sign}{n}e{-point}"),
        st.integers(10 ** (low - 1), 10**high - 1),
        st.sampled_from(("", "-")),
        st.integers(0, 25),
    )


def slow(value, places):
    """What a float counts as: its shortest decimal, rounded down to the unit."""
    return math.floor(Fraction(repr(value)) * Fraction(10) ** places)


@settings(max_examples=300)
@given(value=FLOATS | digits(1, 14) | digits(15, 17), places=st.integers(-3, 20))
@example(value=5e-324, places=15)
@example(value=-5e-324, places=15)
@example(value=2.2250738585072014e-308, places=9)
@example(value=1.7976931348623157e308, places=15)
@example(value=0.1 + 0.2, places=15)
@example(value=0.1 + 0.2, places=9)
@example(value=-(0.1 + 0.2), places=9)
@example(value=999999.999999999, places=9)  # 15 digits
@example(value=1000000.0, places=9)  # 10**15 units
@example(value=9007199.254740993, places=9)  # 2**53 + 1 units
@example(value=999999.9999999999, places=9)
@example(value=-0.0, places=9)
@example(value=0.29999999999999993, places=9)
@example(value=0.7000000000000001, places=15)
def test_a_float_is_read_as_its_shortest_decimal_rounded_down(value, places):
    assert Unit(places).read(value, "reward") == slow(value, places)


@settings(max_examples=300)
@given(n=st.integers(-(10**15) + 1, 10**15 - 1), places=st.integers(0, 15), off=st.integers(-3, 3))
def test_so_are_the_neighbours_of_a_lattice_point(n, places, off):
    """The float nearest to a point of the lattice is that point; the floats beside it are not."""
    value = float(Fraction(n, 10**places))
    for _ in range(abs(off)):
        value = math.nextafter(value, math.copysign(math.inf, off))
    assert Unit(places).read(value, "reward") == slow(value, places)
    if not off:
        assert Unit(places).read(value, "reward") == n


@given(value=st.integers() | st.integers(-(10**20), 10**20), places=st.integers(-5, 20))
def test_an_int_is_itself(value, places):
    expected = math.floor(value * Fraction(10) ** places)
    assert Unit(places).read(value, "reward") == expected
    assert type(Unit(places).read(value, "reward")) is int


@given(value=DECIMALS, places=st.integers(-12, 30))
def test_floor_and_ceil_enclose_the_value(value, places):
    unit, one = Unit(places), Fraction(10) ** -places
    down, up = unit.floor(value), unit.ceil(value)
    assert down * one <= Fraction(value) <= up * one
    assert up - down == (down * one != Fraction(value))


@given(amount=st.integers(), places=st.integers(-20, 30))
def test_an_amount_comes_back_exactly(amount, places):
    unit = Unit(places)
    assert unit.floor(unit.decimal(amount)) == unit.ceil(unit.decimal(amount)) == amount


def test_the_users_decimal_context_rounds_nothing():
    fine = Decimal("1.000000000000000000000000000000000001")
    assert Unit(9).ceil(fine) == 10**9 + 1
    assert Unit(9).ceil(-fine) == -(10**9)
    with localcontext(prec=2):
        assert Unit(9).floor(Decimal("0.123456789")) == 123456789
        assert Unit(9).read(0.123456789, "reward") == 123456789
        assert Unit(9).decimal(123456789) == Decimal("0.123456789")
        assert reach(Decimal("-0.96"), Decimal("9.96")) == Decimal("10.92")


@pytest.mark.parametrize("value", [0.1, 1 / 3, 5e-324, 1e300, -2.5, 1e16])
def test_a_float_is_its_repr(value):
    assert exact(value, "x") == Decimal(repr(value))
    assert exact(np.float64(value), "x") == Decimal(repr(value))


@pytest.mark.parametrize(
    ("value", "decimal"),
    [
        (True, "1"),
        (-0.0, "0"),
        (Decimal("-0E-999999"), "0"),
        (np.float32(0.1), "0.1"),
        (np.float32(16777216), "16777216"),
        (np.array(0.1, np.float32), "0.1"),
        (np.float16(0.1), "0.1"),
        (np.longdouble("0.1"), "0.1"),
        (np.int8(-3), "-3"),
        (np.uint64(2**64 - 1), "18446744073709551615"),
        (np.array(7), "7"),
        (np.bool_(False), "0"),
        (10**1000, "1e1000"),
        (Decimal("1e-1000"), "1e-1000"),
    ],
    ids=shown,
)
def test_what_counts_as_a_number(value, decimal):
    assert exact(value, "x") == Decimal(decimal)
    assert not exact(value, "x").is_signed() or Decimal(decimal) < 0


def test_numpys_printing_options_change_no_number():
    with np.printoptions(precision=2, floatmode="fixed"):
        assert exact(np.float32(0.123456), "x") == Decimal("0.123456")
        assert exact(np.array(0.123456), "x") == Decimal("0.123456")
    with np.printoptions(legacy="1.13"):
        assert exact(np.float64(0.12345678901234567), "x") == Decimal("0.12345678901234566")


def test_errors_name_the_value_and_stay_short():
    for value in ("x" * 10**6, [0] * 10**6, 10**5000, -(10**5000), Decimal("1." + "1" * 2000)):
        with pytest.raises(InvalidInput) as error:
            exact(value, "reward of play 3")
        assert str(error.value).startswith("reward of play 3 ")
        assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0.5", "'0.5'"),
        (10**5000, "<int of too many digits>"),
        ([10**5000], "<list of too many digits>"),
        ("x" * 100, "'" + "x" * 56 + "..."),
    ],
    ids=["text", "int", "list", "long"],
)
def test_shown(value, text):
    assert shown(value) == text


def test_what_is_written_in_several_lines_is_shown_in_one():
    assert shown(np.eye(2)) == "array([[1., 0.], [0., 1.]])"
    assert shown("a\n  b") == "'a\\n  b'"


@given(low=DECIMALS, high=DECIMALS)
def test_reach_is_the_most_a_play_can_move(low, high):
    low, high = sorted((low, high))
    assert Fraction(reach(low, high)) == max(
        abs(Fraction(low)), abs(Fraction(high)), Fraction(high) - Fraction(low)
    )


@given(
    bound=st.decimals("1e-6", "1e12", allow_nan=False),
    reserve=st.decimals(0, "1e15", allow_nan=False),
)
def test_a_billion_plays_fit_the_finest_unit_and_no_finer_one(bound, reserve):
    assert np.iinfo(np.int64).max == INT64_MAX
    places = finest_places(bound, reserve)

    def sums(p):
        one = Fraction(10) ** -p
        return math.ceil(Fraction(reserve) / one) + PLAYS * math.ceil(Fraction(bound) / one)

    assert places <= 9
    assert sums(places) <= INT64_MAX
    assert fits(bound, reserve, places)
    if places < 9:
        assert sums(places + 1) > INT64_MAX
        assert not fits(bound, reserve, places + 1)


class Series:
    """A column of one as pandas has it: a dtype, a method ``mask``, and an ``item``."""

    dtype = np.dtype(float)
    ndim = size = 1

    def mask(self, where):
        return self

    def item(self):
        return 0.5


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        (Series(), r"\(Series\); pass its .item\(\)"),
        (memoryview(b"1"), r"\(memoryview\); pass a float or Decimal"),
        (np.array([0.5]), r"\(ndarray\); pass its .item\(\)"),
        (np.ma.masked_array([0.5], [True]), "pass a float or Decimal"),
        (np.ma.masked, "pass a float or Decimal"),
        (np.datetime64("2026-01-01"), "pass a float or Decimal"),
    ],
    ids=["series", "memoryview", "array", "masked array", "masked", "date"],
)
def test_a_container_is_no_number_and_its_error_says_what_to_pass(value, remedy):
    with pytest.raises(InvalidInput, match=f"reward must be a number, got .*{remedy}"):
        exact(value, "reward")


def test_a_number_of_numpy_without_dimensions_is_one():
    assert exact(np.array(0.5), "reward") == exact(np.bool_(True), "reward") / 2


def test_real_columns_of_one_are_refused():
    polars = pytest.importorskip("polars")
    with pytest.raises(InvalidInput, match="reward must be a number"):
        exact(polars.Series([0.5]), "reward")
