import pytest

from surefoot.study.numbers import amount, full, percent, scale, tick

MINUS = "\N{MINUS SIGN}"


def test_amounts_are_short_and_alike():
    assert [amount(value) for value in (0, 0.00123, 9.99, 167, 9_999, 12_345, 2.5e6)] == [
        "0", "0.00123", "9.99", "167", "9,999", "12.3k", "2.50M",
    ]  # fmt: skip
    assert amount(1e-9) == "1.00e-09"
    assert amount(3e300) == "3.00e+300"
    assert amount(58.02, beside=167) == "58"
    assert amount(5, signed=True) == "+5.00"
    assert amount(-5) == f"{MINUS}5.00"


@pytest.mark.parametrize("beside", [None, 1e-7, 0.5, 23_000, 1e300])
def test_zero_is_zero_and_nothing_else_is(beside):
    assert amount(0.0, beside, signed=True) == amount(-0.0, beside) == "0"
    assert full(0.0, beside) == full(-0.0, beside) == "0"
    for value in (1e-9, 0.3, 40, 4e9):
        for text in (amount(value, beside), full(value, beside)):
            assert set(text) - set("0.,kMGTPE")


def test_a_column_is_on_the_scale_of_its_least():
    assert scale([0, 0.0]) == 0
    for gains, shown in (
        ((71.5, 0, 230), ["71.5", "0", "230.0"]),
        ((71.5, 0, 2306), ["72", "0", "2,306"]),
        ((71.5, 0, 234e6), ["71.5", "0", "234.0M"]),
    ):
        assert [amount(gain, scale(gains)) for gain in gains] == shown


def test_numbers_in_full_have_no_exponent_and_in_a_column_the_same_decimals():
    assert full(61_054.5, figures=6) == "61,054.5"
    assert full(123_456_789.25) == "123,456,789"
    assert [full(mean, 14) for mean in (14, 11.95, 2.77, 0, -1.5)] == [
        "14.00", "11.95", "2.77", "0", f"{MINUS}1.50",
    ]  # fmt: skip
    assert full(1e20) == "1.000e+20"


@pytest.mark.parametrize(
    ("places", "shown"),
    [
        ((0, 50e6, 250e6), ["0", "50M", "250M"]),
        ((-20_000, 0, 5_000), [f"{MINUS}20k", "0", "5k"]),
        ((0, 2_000, 8_000), ["0", "2,000", "8,000"]),
        ((0, 0.25, 0.5), ["0", "0.25", "0.5"]),
        ((0, 5e29), ["0", "5e+29"]),
    ],
)
def test_an_axis_has_one_unit(places, shown):
    reach = max(map(abs, places))
    assert [tick(place, reach) for place in places] == shown


def test_only_all_is_a_hundred_percent():
    assert [percent(share) for share in (0, 0.00455, 0.9999, 1)] == [
        "0 %", "0.455 %", ">99.9 %", "100 %",
    ]  # fmt: skip
