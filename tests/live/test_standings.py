"""What status counts is what the account of each experiment says."""

import pytest

from surefoot import UCB1, GenCB, RewardFloor
from surefoot.errors import InvalidInput
from surefoot.live import Lease, MemoryStore
from surefoot.live.live import Live
from surefoot.live.standings import Standings


@pytest.fixture
def store():
    return MemoryStore()


def opened(store, name, default=0.5, alpha=0.25, reserve=2, **settings):
    floor = RewardFloor(default, alpha, reserve=reserve)
    agent = GenCB(UCB1(n_arms=2), floor, seed=1, default_competes=False)
    return Live(agent, store, name, account="all", **settings)


def counted(store):
    standings = Standings()
    for entry in store.entries("all"):
        standings.take(entry)
    return standings


def agrees(live, store):
    """The standing of its experiment, which has to be what its account says."""
    said, unit = live.account, 10**live._places
    standing = counted(store).of[live.name]
    for name in ("earned", "required"):
        assert standing[name] == getattr(said, name) * unit
    for name in ("explorations", "default_plays", "expired", "unreported", "capped", "mismatches"):
        assert standing[name] == getattr(said, name)
    assert standing["open"] == said.pending
    return standing


def test_every_way_a_play_can_end_is_counted_as_the_account_counts_it(store):
    live = opened(store, "shop")
    live.update(live.select(), 1)
    live.fall_back(live.select())
    live.void(live.select())
    late = live.select()
    live.expire(late)
    live.select()
    live.pause()
    live.update(live.select(), 0.5)
    live.void(live.select())
    live.select()
    standing = agrees(live, store)
    assert [standing[name] for name in ("explorations", "open", "expired")] == [3, 1, 1]
    assert (standing["default_plays"], standing["unreported"]) == (3, 1)
    live.update(late, 0)
    assert agrees(live, store)["expired"] == 1


@pytest.mark.parametrize("default", [(0.25, 0.5), None])
def test_defaults_of_every_kind_earn_as_in_the_account(store, default):
    live = opened(store, "shop", default, shadow=True)
    asked = {} if default else {"default": 0.5}
    for reward in (0.25, 0.4, None, 0.5):
        live.update(live.select(**asked), reward)
    assert agrees(live, store)["default_plays"] == 4


def test_the_floor_told_is_the_one_in_force_and_what_was_earned_stays(store):
    live = opened(store, "shop")
    live.update(live.select(), 1)
    before = agrees(live, store)
    live.change(default=0.4, alpha=0.5)
    after = agrees(live, store)
    assert (after["default"], after["alpha"]) == ("0.4", "0.5")
    assert {**after, "default": "0.5", "alpha": "0.25"} == before


def test_experiments_of_one_account_are_told_apart(store):
    one, two = opened(store, "one"), opened(store, "two", reserve=0)
    one.update(one.select(), 1)
    two.select()
    assert agrees(one, store)["open"] == 0
    assert agrees(two, store)["open"] == 1


def test_a_play_under_a_lease_is_open_once_its_entry_is_in_the_ledger(store, tmp_path):
    live = opened(store, "shop", reserve=20, lease=Lease(tmp_path))
    live.select()
    assert counted(store).of["shop"]["open"] == 0
    live.flush()
    assert counted(store).of["shop"]["open"] == 1


def test_a_live_lease_holds_what_its_plays_have_not_taken(store, tmp_path):
    with opened(store, "shop", reserve=20, lease=Lease(tmp_path)) as live:
        live.select()
    standings, seen = Standings(), []
    for entry in store.entries("all"):
        standings.take(entry)
        if entry.kind.startswith(("lease.", "decision.")):
            seen.append((entry.kind, *standings.leases.values()))
    assert seen == [
        ("lease.granted", 1, 5 * 10**9),
        ("decision.held", 1, 5 * 10**9 - 375 * 10**6),
        ("lease.returned", 0, 0),
    ]


def test_memory_does_not_grow_with_what_has_been(store):
    live = opened(store, "shop")
    for _ in range(50):
        live.update(live.select(), 1)
    live.select()
    assert len(counted(store)._open) == 1


def test_an_entry_that_cannot_be_read_is_named(store):
    live = opened(store, "shop")
    live.update(live.select(), 1)
    *_, last = store.entries("all")
    with pytest.raises(InvalidInput, match=rf"^entry {last.seq} \(outcome.settled\) cannot be"):
        counted(store).take(last._replace(payload={"asked": "x"}))


@pytest.mark.filterwarnings("ignore::surefoot.errors.RewardOutOfRange")
def test_capped_rewards_and_mismatches_are_counted_as_in_the_account(store):
    live = opened(store, "shop")
    live.update(live.select(), 1.5)
    live.pause()
    live.update(live.select(), 0.25)
    standing = agrees(live, store)
    assert (standing["capped"], standing["mismatches"]) == (1, 1)


def test_what_keeps_an_experiment_from_exploring_is_told(store):
    live = opened(store, "shop", shadow=True, reward_window=60)
    names = ("paused", "shadow", "learn_missing")
    live.pause()
    assert [agrees(live, store)[name] for name in names] == [True, True, "worst"]
    live.resume()
    live.change(shadow=False, learn_missing="skip")
    assert [agrees(live, store)[name] for name in names] == [False, False, "skip"]
