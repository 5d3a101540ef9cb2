"""What may change while the books go on, and what each play keeps of before."""

import copy
import json
import random
from decimal import Decimal
from fractions import Fraction

import pytest

from surefoot.errors import InvalidInput
from surefoot.floors import Outcome, RewardBooks, RewardFloor, statement


def opened(**settings):
    return RewardFloor(**{"default": 0.5, "alpha": 0.5, "reserve": 10, **settings}).open()


def available(books):
    return books.floor.unit.decimal(books.account.available)


def reloaded(books):
    floor, state = json.loads(json.dumps([books.floor.config(), books.snapshot()]))
    return RewardBooks.restored(RewardFloor.from_config(floor), state)


@pytest.mark.parametrize("places", [-1, 0, 9, 16, 20])
@pytest.mark.parametrize("coin", [0.0, -0.0, 1.0])
def test_a_coin_is_booked_as_any_other_reward(places, coin):
    books = RewardFloor(10, 0.5, (0, 20), reserve=99, places=places).open()
    play = books.explore(books.floor.terms())
    books.settle(play, coin)
    units = books.floor.unit.floor(Decimal(int(coin)))
    assert books.plays.get(play).reward == units
    assert books.account.posted == units - books.floor.terms().floor
    assert books.settle(play, int(coin)) is Outcome.REPEATED


@pytest.mark.parametrize("seed", range(40))
def test_each_play_keeps_the_terms_it_was_decided_with(seed):
    """200 histories with changes of every setting: slack and required are sums over plays."""
    for each in range(5):
        rng = random.Random(1000 * seed + each)
        books, plays, reserve = opened(reserve=1), [], Fraction(1)
        for _ in range(60):
            event = rng.choice(("change", "explore", "default", "report", "report", "reserve"))
            if event == "change":
                books.change(
                    default=Decimal(rng.randint(30, 90)) / 100,
                    alpha=Decimal(rng.randint(1, 99)) / 100,
                    reward_range=rng.choice(((0, 1), (Decimal("-0.5"), 1), (0, 2))),
                )
            elif event == "reserve":
                reserve += move_reserve(books, rng)
            elif event == "report" and plays:
                report(books, rng.choice(plays), rng)
            else:
                decide(books, plays, event == "explore")
            check(books, plays, reserve)
            if rng.random() < 0.05:
                books = reloaded(books)


def decide(books, plays, wanted):
    floor, explores = books.floor, wanted and books.affords(books.terms())
    number = (books.explore if explores else books.default)(books.terms())
    value, alpha = Fraction(floor.default), Fraction(floor.alpha)
    low, high = map(Fraction, floor.reward_range)
    plays.append(
        {"id": number, "explores": explores, "value": value, "f": (1 - alpha) * value,
         "range": (low, high), "got": None}
    )  # fmt: skip


def report(books, play, rng):
    if play["got"] is not None:
        return
    low, high = play["range"]
    reward = rng.choice((low, high, (low + high) / 2, high + 1))
    outcome = books.settle(play["id"], float(reward) if play["explores"] else None)
    capped = play["explores"] and reward > high
    assert outcome is (Outcome.CAPPED if capped else Outcome.BOOKED)
    play["got"] = min(reward, high) if play["explores"] else play["value"]
    if capped and rng.random() < 0.5:
        books.acknowledge(play["id"])
        play["got"] = reward


def move_reserve(books, rng):
    amount = Fraction(rng.randint(1, 30), 10)
    if rng.random() < 0.5:
        books.add_reserve(float(amount))
        return amount
    most = max(0, min(books.account.available, books.account.reserve))
    if amount * 10**9 > most:
        with pytest.raises(InvalidInput, match="the most is"):
            books.withdraw_reserve(float(amount))
        return 0
    books.withdraw_reserve(float(amount))
    return -amount


def check(books, plays, reserve):
    done = [play for play in plays if play["got"] is not None]
    open_ = [play for play in plays if play["got"] is None and play["explores"]]
    held = sum(max(Fraction(0), p["f"] - p["range"][0]) for p in open_)
    slack = reserve + sum(p["got"] - p["f"] for p in done) - held
    ours = statement(books)
    assert ours.slack == slack >= 0
    assert ours.required == sum(p["f"] for p in done)
    assert ours.reserve == reserve == Fraction(books.floor.reserve)


def test_a_reward_is_judged_by_the_range_its_play_was_decided_with():
    books = opened()
    before = books.explore(books.terms())
    books.change(reward_range=(-1, 2))
    after = books.explore(books.terms())
    assert books.settle(before, -0.5) is Outcome.BREACH
    assert books.settle(after, -0.5) is Outcome.BOOKED
    books.change(reward_range=(0, 1))
    books.change(reward_range=(0, 3))  # no play between: the one before left no trace
    assert len(books.ranges) == 3
    assert books.settle(books.explore(books.terms()), 2.5) is Outcome.BOOKED


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"places": 3}, "places = 3 cannot change while the books go on"),
        ({"reserve": 3}, "reserve = 3 cannot change .* a reserve is added or withdrawn"),
        ({"colour": "red"}, "colour = 'red' cannot change"),
        ({"alpha": 1}, "alpha = 1 must lie within"),
        ({"alpha": float("nan")}, "alpha must be finite"),
        ({"alpha": "0.1"}, "alpha must be a number"),
        ({"reward_range": (0, 0.4)}, "default = .* lies outside reward_range"),
        ({"alpha": 0.1, "default": 7}, "default = 7 lies outside"),
        ({"against": "fixed"}, "known value leaves nothing"),
        ({"reward_range": (0, 1e-12), "default": None}, "spans no whole unit"),
    ],
)
def test_what_cannot_change_changes_nothing(settings, message):
    books = opened()
    books.explore(books.terms())
    floor, before = books.floor, copy.deepcopy(books.snapshot())
    with pytest.raises(InvalidInput, match=message):
        books.change(**settings)
    assert books.floor is floor
    assert books.snapshot() == before


def test_a_known_default_may_become_an_interval_and_one_per_play():
    books = opened()
    books.change(default=(0.2, 0.4))
    books.settle(books.default(books.terms()), 0.4)
    assert available(books) == Decimal("10.2")
    books.change(default=None)
    books.settle(books.default(books.terms(0.6)), None)
    assert available(books) == Decimal("10.5")


def test_what_open_plays_may_lose_cannot_be_withdrawn():
    books = opened(reserve=1)
    books.explore(books.terms())
    with pytest.raises(InvalidInput, match=r"amount = 0\.76 .* the most is 0\.75\d*, of a reserve"):
        books.withdraw_reserve(0.76)
    books.withdraw_reserve(0.75)
    assert books.account.available == 0
    with pytest.raises(InvalidInput, match="the most is 0"):
        books.withdraw_reserve(0.1)


def test_what_was_earned_is_no_reserve():
    books = opened(reserve=1)
    for _ in range(8):
        books.settle(books.default(books.terms()), None)
    with pytest.raises(InvalidInput, match=r"the most is 1\.0+, of a reserve of 1"):
        books.withdraw_reserve(2)


def test_a_reserve_finer_than_the_unit_is_rounded_against_exploring():
    books = opened(reserve=1, places=1)
    books.add_reserve(0.19)
    assert books.account.reserve == 11
    books.withdraw_reserve(0.11)
    assert books.account.reserve == 9


@pytest.mark.parametrize("amount", [0, -1, float("nan"), float("inf"), "1", None, [1]])
@pytest.mark.parametrize("name", ["add_reserve", "withdraw_reserve"])
def test_what_is_no_amount_is_named(name, amount):
    books = opened()
    with pytest.raises(InvalidInput, match="amount"):
        getattr(books, name)(amount)
    assert books.account.reserve == 10 * 10**9


def test_books_without_ranges_are_of_before_changes_and_wrong_ones_are_seen():
    books = opened()
    play = books.explore(books.terms())
    state = books.snapshot()
    del state["ranges"]
    assert RewardBooks.restored(books.floor, state).settle(play, 1) is Outcome.BOOKED
    for ranges in ([], [[0, 0, 5]]):
        with pytest.raises(ValueError, match="do not end with"):
            RewardBooks.restored(books.floor, {**state, "ranges": ranges})
