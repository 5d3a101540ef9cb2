import re
from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import given

from histories import decimals, floors
from surefoot.errors import InvalidInput
from surefoot.floors import LearnedDefault, RewardFloor, Terms

NAN, INF = float("nan"), float("inf")

REFUSED = [
    ({"alpha": 1}, "alpha = 1 must"),
    ({"alpha": True}, "alpha = True must"),
    ({"alpha": -0.05}, "alpha = -0.05 must"),
    ({"alpha": 5}, "alpha = 5 must"),
    ({"alpha": np.float32(1.5)}, "alpha = np.float32(1.5) must"),
    ({"alpha": NAN}, "alpha must be finite, got nan"),
    ({"alpha": "0.05"}, "alpha must be a number, got '0.05'"),
    ({"alpha": None}, "alpha must be a number, got None"),
    ({"alpha": 10**5000}, "alpha = <int of too many digits> is beyond"),
    ({"default": -0.3}, "default = -0.3 lies outside reward_range (0, 1)"),
    ({"margin": -0.1}, "margin = -0.1 must be >= 0"),
    ({"margin": NAN}, "margin must be finite"),
    ({"margin": None}, "margin must be a number, got None"),
    ({"max_slack": -1}, "max_slack = -1 must be >= 0"),
    ({"max_slack": 1, "checkpoint": 7}, "max_slack = 1 and checkpoint = 7 do not go together"),
    ({"default": 1.01}, "default = 1.01 lies outside reward_range (0, 1)"),
    ({"default": Decimal("1e400")}, "default = Decimal('1E+400') lies outside"),
    (
        {"default": 0.1, "reward_range": (0.2, 1)},
        "default = 0.1 lies outside reward_range (0.2, 1)",
    ),
    ({"default": INF}, "default must be finite, got inf"),
    ({"default": "0.5"}, "default must be a number, got '0.5'"),
    ({"reward_range": (1, 1)}, "reward_range = (1, 1) must have r_min < r_max"),
    ({"reward_range": (1, 0)}, "reward_range = (1, 0) must have"),
    ({"reward_range": (0, INF)}, "r_max must be finite, got inf"),
    ({"reward_range": (NAN, 1)}, "r_min must be finite, got nan"),
    ({"reward_range": ("0", 1)}, "r_min must be a number, got '0'"),
    ({"reward_range": (0, 1, 2)}, "reward_range = (0, 1, 2) must be a pair"),
    ({"reward_range": 1}, "reward_range = 1 must be a pair"),
    ({"reward_range": None}, "reward_range = None must be a pair"),
    ({"default": 1e-12, "reward_range": (0, 1e-10)}, "spans no whole unit of the books, 10**-9"),
    ({"places": -2}, "reward_range = (0, 1) spans no whole unit of the books, 10**2"),
    ({"reserve": 1e19}, "reward_range = (0, 1) spans no whole unit of the books, 10**1"),
    ({"reserve": -1}, "reserve = -1 must be >= 0"),
    ({"reserve": Decimal("-1e-300")}, "reserve = Decimal('-1E-300') must be >= 0"),
    ({"reserve": NAN}, "reserve must be finite, got nan"),
    ({"reserve": None}, "reserve must be a number, got None"),
    ({"places": 9.0}, "places = 9.0 must be an int in -100..100"),
    ({"places": True}, "places = True must be an int"),
    ({"places": "9"}, "places = '9' must be an int"),
    ({"places": 101}, "places = 101 must be"),
    ({"places": -101}, "places = -101 must be"),
    ({"places": 10**5000}, "places = <int of too many digits> must be"),
]


@pytest.mark.parametrize(("wrong", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_a_setting_that_cannot_be_kept_is_named(wrong, message):
    with pytest.raises(InvalidInput) as error:
        RewardFloor(**{"default": 0.7, "alpha": 0.05, **wrong})
    assert message in str(error.value)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    ("default", "message"),
    [
        (-0.01, "default = -0.01 lies outside reward_range (0, 1)"),
        (1.5, "default = 1.5 lies outside reward_range (0, 1)"),
        (NAN, "default must be finite, got nan"),
        ("0.5", "default must be a number, got '0.5'"),
        (None, "no constant default; pass the play's own"),
        (LearnedDefault((0, 1)), "one mean at every play; give one to the floor"),
    ],
)
def test_a_plays_own_default_is_checked_as_strictly(default, message):
    with pytest.raises(InvalidInput) as error:
        RewardFloor(default=None, alpha=0.05).terms(default)
    assert message in str(error.value)


@pytest.mark.parametrize("keep", [-1, None, 1.0, True, "9"])
def test_keep_is_checked_before_anything_is_booked(keep):
    with pytest.raises(InvalidInput, match=re.escape(f"keep = {keep!r} must be an int >= 0")):
        RewardFloor(0.5, 0.5).open(keep)


def test_a_plays_own_default_goes_before_the_constant_one():
    floor = RewardFloor(0.7, 0.05)
    assert floor.terms(0.5) == RewardFloor(0.5, 0.05).terms()
    assert floor.terms(0) == Terms(0, 0, 0, 0)
    assert floor.terms() == RewardFloor(0.7, 0.05).terms()


@given(settings=floors(decimals_of=12, least_places=1), own=decimals("0.4", "0.5", 14))
def test_terms_are_rounded_so_that_they_never_promise_too_much(settings, own):
    reward_floor = RewardFloor(**settings)
    terms, unit = reward_floor.terms(own), Fraction(10) ** -reward_floor.places
    b, alpha, low = (
        Fraction(own),
        Fraction(settings["alpha"]),
        Fraction(settings["reward_range"][0]),
    )
    assert terms.value == floor(b / unit)
    assert terms.floor == ceil((1 - alpha) * b / unit)
    assert terms.deposit == floor(alpha * b / unit) >= 0
    assert terms.hold == max(0, terms.floor - floor(low / unit))
    assert terms.hold * unit >= (1 - alpha) * b - low


def test_what_must_be_earned_is_nothing_to_lose_where_every_reward_earns_it():
    """h = 0 when f <= r_min."""
    floor = RewardFloor(0.5, 0.5, reward_range=(0.3, 1))
    assert floor.terms() == Terms(500_000_000, 250_000_000, 0, 250_000_000)


def test_a_reserve_finer_than_the_unit_is_rounded_down():
    assert RewardFloor(0.5, 0.5, reserve=0.79, places=1).open().account.reserve == 7


@pytest.mark.parametrize(
    ("settings", "places"),
    [
        ({}, 9),
        ({"reward_range": (0, 9)}, 9),
        ({"reward_range": (0, 10)}, 8),
        ({"reward_range": (-5, 5)}, 8),  # D = 10
        ({"reward_range": (-100, 1)}, 7),
        ({"reserve": Decimal("8223372036.854775807")}, 9),
        ({"reserve": Decimal("8223372036.854775808")}, 8),
        ({"default": 10**30, "reward_range": (0, 10**30)}, -21),
        ({"places": 3}, 3),
        ({"default": 10**100, "reward_range": (0, 10**100), "places": -100}, -100),
    ],
)
def test_the_unit_is_the_finest_in_which_a_billion_plays_fit(settings, places):
    floor = RewardFloor(**{"default": 1, "alpha": 0.5, **settings})
    assert floor.places == places
    assert floor.fits_int64


def test_places_of_ones_own_may_leave_int64_and_say_so():
    assert not RewardFloor(0.5, 0.5, places=10).fits_int64
    assert not RewardFloor(0.5, 0.5, places=100).fits_int64


def test_the_users_decimal_context_changes_nothing():
    """Its precision would round even a minus sign."""
    settings = {
        "default": Decimal("0.12345678901234567890123456789012345"),
        "alpha": Decimal("0.98765432109876543210987654321098765"),
        "reward_range": (Decimal("-1.00000000000000000000000000000000001"), 1),
        "reserve": Decimal("2.00000000000000000000000000000000001"),
        "places": 35,
    }
    plain = RewardFloor(**settings)
    with localcontext(prec=3):
        assert RewardFloor(**settings).terms() == plain.terms()
        assert RewardFloor(**settings).open().snapshot() == plain.open().snapshot()
        assert RewardFloor.from_config(plain.config()) == plain
    with localcontext(prec=1):
        assert RewardFloor(0.5, 0.5, (-0.96, 9.04)).places == RewardFloor(0.5, 0.5, (0, 10)).places


@given(settings=floors(decimals_of=12, least_places=1))
def test_config_is_json_and_comes_back(settings):
    floor = RewardFloor(**settings)
    again = RewardFloor.from_config(floor.config())
    assert again == floor
    assert hash(again) == hash(floor)
    assert again.config() == floor.config()


def test_floors_are_equal_by_what_they_ask_not_by_how_it_was_written():
    floor = RewardFloor(0.5, 0.1, (0, 1), 0)
    same = RewardFloor(Decimal("0.50"), np.float32(0.1), (-0.0, 1.0), Decimal("0.00"))
    assert same == floor
    assert hash(same) == hash(floor)
    assert floor != RewardFloor(0.5, 0.1, places=8)
    assert floor != RewardFloor(0.5, 0.1, reserve=1)
    assert floor != "floor"


def test_repr_names_every_setting():
    assert repr(RewardFloor(0.7, 0.05, (-1, 1.5), 2)) == (
        "RewardFloor(default=0.7, alpha=0.05, reward_range=(-1, 1.5), reserve=2, places=9)"
    )
