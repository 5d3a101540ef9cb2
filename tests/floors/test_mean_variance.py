"""What can be kept is accepted, what cannot is refused by name; the first runs are the paper's."""

import json
import random
import re
from decimal import Decimal, localcontext

import numpy as np
import pytest

from surefoot.errors import InvalidInput
from surefoot.floors import MeanVarianceAccount, MeanVarianceFloor, Terms

NAN = float("nan")

REFUSED = [
    ({"alpha": 0}, "alpha = 0 must lie strictly between 0 and 1"),
    ({"alpha": 1}, "alpha = 1 must"),
    ({"alpha": NAN}, "alpha must be finite, got nan"),
    ({"rho": 0}, "rho = 0 must be > 0"),
    ({"rho": -1.5}, "rho = -1.5 must be > 0"),
    ({"rho": NAN}, "rho must be finite, got nan"),
    ({"rho": "1"}, "rho must be a number, got '1'"),
    ({"rho": None}, "rho must be a number, got None"),
    ({"default": 0}, "default = 0 must be > 0"),
    ({"default": -0.3, "reward_range": (-1, 1)}, "default = -0.3 must be > 0"),
    ({"default": 1.01}, "default = 1.01 lies outside reward_range (0, 1)"),
    ({"default": None}, "default must be a number, got None"),
    ({"reward_range": (1, 0)}, "reward_range = (1, 0) must have r_min < r_max"),
    ({"reward_range": (0, float("inf"))}, "r_max must be finite, got inf"),
    ({"reward_range": 1}, "reward_range = 1 must be a pair"),
    ({"check": "sure"}, "check = 'sure' must be one of 'viable', 'exact', 'paper'"),
    ({"check": None}, "check = None must be one of"),
    ({"check": "paper", "reward_range": (0, 5)}, "for rewards in (0, 1), not in (0, 5)"),
    ({"check": "paper", "reward_range": (-1, 1)}, "for rewards in (0, 1), not in (-1, 1)"),
    ({"places": 0}, "default = 0.7 has more than the 0 decimals"),
    ({"places": 1, "reward_range": (0, 1.25)}, "r_max = Decimal('1.25') has more than the 1"),
    ({"places": -1}, "places = -1 must be an int in 0..100"),
    ({"places": True}, "places = True must be an int"),
    ({"places": 101}, "places = 101 must be"),
]


@pytest.mark.parametrize(("wrong", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_a_setting_that_cannot_be_kept_is_named(wrong, message):
    with pytest.raises(InvalidInput) as error:
        MeanVarianceFloor(**{"default": 0.7, "alpha": 0.05, "rho": 10, **wrong})
    assert message in str(error.value)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize("check", ["exact", "paper"])
@pytest.mark.parametrize(
    ("default", "alpha", "rho", "reward_range"),
    [
        (0.3, 0.05, 1, (0, 1)),
        (0.5, 0.05, 1, (0, 1)),
        (0.5, 0.6, 0.3, (0, 1)),
        (0.3, 0.9, 0.8, (0, 1)),  # the second condition needs rho >= r_max
        (1.5, 0.05, 5, (0, 5)),
        (0.1, 0.3, 4, (-1, 1)),  # and r_min >= 0
    ],
)
def test_where_a_default_play_could_break_the_promise_only_viable_is_taken(
    check, default, alpha, rho, reward_range
):
    MeanVarianceFloor(default, alpha, rho, reward_range)
    needs = "needs alpha*rho*mu0 = " if reward_range == (0, 1) or check == "exact" else "is for"
    with pytest.raises(InvalidInput, match=re.escape(f"check = {check!r} {needs}")) as error:
        MeanVarianceFloor(default, alpha, rho, reward_range, check)
    assert "take check='viable'" in str(error.value)


@pytest.mark.parametrize(
    ("default", "alpha", "rho", "reward_range"),
    [
        (0.7, 0.05, 10, (0, 1)),  # by the second condition: .5 >= .3
        (0.7, 0.05, 6, (0, 1)),  # at its tie
        (0.9, 0.1, 0.2, (0, 1)),  # by the first: .018 >= .01
        (0.5, 0.5, 1, (0, 1)),  # at its tie: .25 >= .25
        (0.5, 0.5, 1, (-3, 1)),  # which knows no r_min
        (4, 0.5, 5, (0, 5)),
    ],
)
def test_where_it_could_not_exact_is_taken(default, alpha, rho, reward_range):
    assert MeanVarianceFloor(default, alpha, rho, reward_range, "exact").check == "exact"


def steered(check, mu0, to, plays):
    """The play at which an adversary who steers the mean breaks a check that was not refused.

    rho = 1, alpha = .05: 1 while the mean is below ``to`` hundredths, else 0.
    """
    constants = MeanVarianceFloor(mu0, 0.05, 1, places=2).constants
    account = MeanVarianceAccount(constants, check)
    for t in range(1, plays + 1):
        explores, now = account.affords(0), account.moments
        if explores:
            account.add(100 if now.total < to * now.n else 0)
        else:
            account.add(constants.value)
        if not constants.kept(account.moments):
            assert not explores  # it is the default that breaks it
            return t
    return None


@pytest.mark.parametrize(
    ("check", "mu0", "to", "broken"),
    [("exact", 0.3, 50, 153), ("paper", 0.3, 50, 963), ("exact", 0.5, 68, 3109)],
)
def test_the_settings_refused_are_broken_in_fact_and_viable_keeps_them(check, mu0, to, broken):
    assert steered(check, mu0, to, 4000) == broken
    assert steered("viable", mu0, to, 2000) is None


@pytest.mark.parametrize(
    ("check", "runs"), [("paper", (25, 21, 20)), ("exact", (21, 20, 20)), ("viable", (21, 20, 20))]
)
def test_the_first_run_of_default_plays_in_the_papers_settings(check, runs):
    for rho, expected in zip((10, 30, 60), runs, strict=True):
        books, defaults = MeanVarianceFloor(0.7, 0.05, rho, check=check).open(), 0
        while not books.affords(books.terms()):
            books.settle(books.default(books.terms()), None)
            defaults += 1
        assert defaults == expected


@pytest.mark.parametrize(("mu0", "alpha", "rho"), [(0.7, 0.05, 10), (0.5, 0.2, 3), (0.8, 0.3, 1)])
def test_where_the_second_condition_holds_exact_and_viable_decide_alike(mu0, alpha, rho):
    rng = random.Random(f"{mu0} {alpha} {rho}")
    exact, viable = (
        MeanVarianceFloor(mu0, alpha, rho, check=check).open() for check in ("exact", "viable")
    )
    explored = 0
    for turn in range(3000):
        explores = exact.affords(exact.terms())
        assert explores == viable.affords(viable.terms())
        explored += explores
        now = exact.account.moments
        low = now.total < 10**exact.floor.places * mu0 * now.n
        reward = rng.choice((0, 1, int(low))) if turn % 1000 < 500 else rng.random() < mu0
        for books in (exact, viable):
            play = (books.explore if explores else books.default)(books.terms())
            books.settle(play, int(reward) if explores else None)
    assert explored > 100


def test_a_play_is_worth_its_reward_and_a_default_its_value():
    floor = MeanVarianceFloor(0.5, 0.5, 1)
    assert floor.terms() == Terms(500_000_000, 0, 0, 500_000_000)
    assert floor.open().terms().hold == 250_000_000  # a first reward of 0 is a slack of -.25
    for own in (0.5, 0.4, "x"):
        with pytest.raises(InvalidInput, match="has one constant default"):
            floor.terms(own)


@pytest.mark.parametrize("keep", [-1, None, 1.0, True])
def test_keep_is_checked_before_anything_is_booked(keep):
    with pytest.raises(InvalidInput, match=f"keep = {keep!r} must be an int >= 0"):
        MeanVarianceFloor(0.5, 0.5, 1).open(keep)


@pytest.mark.parametrize(
    ("settings", "places"),
    [
        ({}, 9),
        ({"rho": 10}, 8),
        ({"rho": 60}, 7),
        ({"reward_range": (-100, 1)}, 5),
        ({"reward_range": (0, 10**7)}, 1),  # for the default; and then no int64 holds it
        ({"rho": 60, "default": 0.123456789}, 9),
        ({"default": Decimal("0.50000000000")}, 9),
        ({"default": Decimal("0.123456789012")}, 12),
        ({"places": 3}, 3),
    ],
)
def test_the_unit_holds_default_and_range_and_a_billion_plays_if_it_can(settings, places):
    floor = MeanVarianceFloor(**{"default": 0.5, "alpha": 0.5, "rho": 1, **settings})
    assert floor.places == places
    assert floor.fits_int64 == (places in {9, 8, 7, 5, 3} and floor.default == Decimal("0.5"))


def test_the_users_decimal_context_changes_nothing():
    settings = {
        "default": Decimal("0.7000000000000000000000000000000001"),
        "alpha": Decimal("0.0500000000000000000000000000000001"),
        "rho": Decimal("6.0000000000000000000000000000000001"),
        "check": "exact",
    }
    plain = MeanVarianceFloor(**settings)
    with localcontext(prec=2):
        floor = MeanVarianceFloor(**settings)
        assert floor == plain
        assert floor.places == plain.places
        assert floor.constants == plain.constants
        assert floor.open().terms() == plain.open().terms()
        assert MeanVarianceFloor.from_config(plain.config()) == plain


@pytest.mark.parametrize(
    "floor",
    [
        MeanVarianceFloor(0.7, 0.05, 10, check="paper"),
        MeanVarianceFloor(1.5, np.float32(0.1), 2.5, (-1, 5), places=12),
    ],
)
def test_config_is_json_and_comes_back(floor):
    again = MeanVarianceFloor.from_config(json.loads(json.dumps(floor.config())))
    assert again == floor
    assert hash(again) == hash(floor)
    assert again.config() == floor.config()


def test_floors_are_equal_by_what_they_ask_not_by_how_it_was_written():
    floor = MeanVarianceFloor(0.5, 0.5, 1)
    assert floor == MeanVarianceFloor(Decimal("0.50"), 0.5, 1.0, (-0.0, 1.0))
    assert floor != MeanVarianceFloor(0.5, 0.5, 2)
    assert floor != MeanVarianceFloor(0.5, 0.5, 1, check="exact")
    assert floor != "floor"


def test_repr_names_every_setting():
    assert repr(MeanVarianceFloor(0.7, 0.05, 10, (-1, 1.5))) == (
        "MeanVarianceFloor(default=0.7, alpha=0.05, rho=10, reward_range=(-1, 1.5), "
        "check='viable', places=8)"
    )
