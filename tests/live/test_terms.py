"""Live under defaults of any sign, margins and no alpha; the verifier derives the same terms."""

import random
from decimal import Decimal

import pytest

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.live import MemoryStore
from surefoot.live.standings import Standings
from verifying import proved

FLOORS = [
    sf.RewardFloor(-0.25, 0.1, (-1, 1)),
    sf.RewardFloor(0, 0, (-1, 1), margin=0.05),
    sf.RewardFloor(0.5, 0, reserve=5),
    sf.RewardFloor(0.5, 0.1, margin=Decimal("0.0123456789123")),
    sf.RewardFloor(None, 0.3, (-1, 1), margin=0.01),
]


@pytest.mark.parametrize("floor", FLOORS, ids=str)
def test_the_ledger_of_such_a_floor_is_verified(floor):
    store, rng = MemoryStore(), random.Random(1)
    live = sf.Live(sf.GenCB(sf.UCB1(2), floor, seed=0), store)
    for turn in range(60):
        own = None if floor.default is not None else rng.choice([-0.5, 0, 0.25, Decimal("-0.1")])
        play = live.select(default=own)
        if turn == 30:
            live.change(alpha=0.2, margin=0.02)
        if rng.random() < 0.2:
            live.expire(play)
        elif play.is_default:
            live.update(play)
        else:
            live.update(play, float(rng.choice([floor.reward_range[0], 1])))
    assert live.account.explorations > 0
    report = proved(store)
    assert report["ok"]
    assert sf.Live(None, store).account == live.account


def test_a_margin_that_was_taken_away_does_not_come_back_with_a_restart():
    store = MemoryStore()
    live = sf.Live(sf.GenCB(sf.UCB1(2), sf.RewardFloor(0.5, 0.1, margin=0.05), seed=0), store)
    live.change(margin=0)
    again = sf.Live(None, store)
    again.update(again.select())
    assert again.account.slack == Decimal("0.05")
    assert proved(store)["ok"]


def test_less_than_a_unit_is_no_endowment():
    store = MemoryStore()
    live = sf.Live(sf.GenCB(sf.UCB1(2), sf.RewardFloor(0.5, 0.2, places=1), seed=0), store)
    before = len(list(store.entries("default")))
    with pytest.raises(
        InvalidInput, match=r"amount = 0\.09 is less than a unit of the books, 0\.1"
    ):
        live.add_reserve(0.09)
    assert len(list(store.entries("default"))) == before
    live.add_reserve(0.19)
    assert proved(store)["ok"]


REFUSED = [
    (
        {"quality": sf.RewardFloor(0.5, 0.1)},
        "floors 'quality' cannot go live yet: the ledger keeps",
    ),
    (sf.CostCeiling(0.5, 0.1, (0, 1)), "CostCeiling.* cannot go live yet: the ledger speaks of"),
    (sf.RewardFloor(0.5, 0.1, max_slack=1), "max_slack = 1 cannot go live yet"),
    (sf.RewardFloor((-0.5, 0.5), 0.1, (-1, 1)), "interval default below 0, or with a margin"),
    (sf.RewardFloor((0.1, 0.5), 0.1, margin=0.1), "or with a margin, cannot go live yet"),
]


@pytest.mark.parametrize(("floor", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_the_ledger_cannot_say_yet_is_refused(floor, message):
    objective = {"objective_range": (0, 1)} if isinstance(floor, dict) else {}
    with pytest.raises(InvalidInput, match=message):
        sf.Live(sf.GenCB(sf.UCB1(2), floor, **objective), MemoryStore())


def test_a_plays_own_interval_below_zero_is_refused():
    floor = sf.RewardFloor(None, 0.1, (-1, 1))
    live = sf.Live(sf.GenCB(sf.UCB1(2), floor), MemoryStore())
    with pytest.raises(InvalidInput, match="interval default below 0"):
        live.select(default=(-0.5, 0.5))
    live.select(default=(0, 0.5))
    with pytest.raises(InvalidInput, match="max_slack = 1 cannot go live yet"):
        live.change(max_slack=1)


def needs(floor):
    store, standings = MemoryStore(), Standings()
    live = sf.Live(sf.GenCB(sf.UCB1(2), floor), store, "shop")
    live.update(live.select(default=None if floor.default is not None else 0.5))
    for entry in store.entries("shop"):
        standings.take(entry)
    return standings.of["shop"]["needed"]


def test_a_floor_that_can_not_explore_yet_is_told_and_not_refused():
    assert needs(sf.RewardFloor(0.5, 0)) == 500_000_000
    assert needs(sf.RewardFloor(None, 0)) == 1
    assert needs(sf.RewardFloor(0.5, 0.1)) == needs(sf.RewardFloor(0.5, 0, margin=0.1)) == 0
