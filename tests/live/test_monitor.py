import random
from decimal import Decimal

import pytest

from surefoot import UCB1, GenCB, RewardFloor
from surefoot.errors import InvalidInput
from surefoot.live import MemoryStore
from surefoot.live.live import Live
from surefoot.live.monitor import DefaultMonitor, Monitors, watch
from surefoot.live.shortfall import Shortfall


@pytest.fixture
def store():
    return MemoryStore()


def opened(store, default=0.7, name="shop", **settings):
    """An experiment whose default always plays."""
    floor = RewardFloor(default, 0.05, **settings)
    agent = GenCB(UCB1(2), floor, seed=1)
    return Live(agent, store, name, account="all", shadow=True)


def played(live, rewards, **asked):
    for reward in rewards:
        live.update(live.select(**asked), reward)


def coins(chance, plays, seed=0):
    rng = random.Random(seed)
    return [int(rng.random() < chance) for _ in range(plays)]


def watched(store, name="shop", delta=0.01):
    return watch(store.entries("all"), name, delta)


def test_a_default_that_pays_less_is_called_below(store):
    played(opened(store), coins(0.5, 400))
    report = watched(store)
    assert (report.told, report.untold, report.clipped, report.alarm) == (400, 0, 0, True)
    assert report.mean == pytest.approx(sum(coins(0.5, 400)) / 400)
    assert report.declared == pytest.approx(0.7)
    assert report.worst.first < 20
    assert str(report).startswith("400 rewards told, mean 0.")
    assert "of declared 0.7: below, p = " in str(report)
    assert "(rewards " in str(report)


def test_a_default_that_keeps_its_word_is_in_line(store):
    played(opened(store), coins(0.7, 400))
    report = watched(store)
    assert not report.alarm
    assert ": in line, p = " in str(report)


def test_what_a_live_experiment_says_is_what_its_rewards_say(store):
    rewards = coins(0.6, 60)
    played(opened(store), rewards)
    test = Shortfall()
    for reward in rewards:
        test.update(reward, 0.7)
    assert watched(store).p_value == pytest.approx(test.p_value)


def test_reports_without_a_reward_say_nothing(store):
    live = opened(store)
    for _ in range(9):
        live.update(live.select())
    report = watched(store)
    assert (report.told, report.untold, report.p_value, report.alarm) == (0, 9, 1, False)
    assert str(report) == "no reward was told with its plays, so nothing can be said of its value"


def test_one_reward_is_one_reward(store):
    played(opened(store), [0.7])
    assert watched(store).since is None
    assert str(watched(store)).startswith("1 reward told, mean 0.7 of declared 0.7: ")


def test_each_play_is_held_against_its_own_declared_value(store):
    live = opened(store, default=None)
    for value in [0.3, 0.9] * 100:
        live.update(live.select(default=value), value)
    report = watched(store)
    assert (report.told, report.alarm) == (200, False)
    assert report.declared == pytest.approx(0.6)
    for value in [0.3, 0.9] * 100:
        live.update(live.select(default=value), 0.6)
    assert watched(store).p_value < 1  # 0.6 on average still, but 0.9 was declared for half of it
    played(live, [0.6] * 200, default=0.9)
    assert watched(store).alarm


def test_an_interval_is_not_tested(store):
    live = opened(store, default=(0.3, 0.8))
    played(live, [0.3] * 50)
    report = watched(store)
    assert (report.told, report.of_interval, report.alarm) == (0, 50, False)
    assert "interval" in str(report)
    played(live, [0.5] * 50, default=0.9)
    assert watched(store).told == 50


def test_explorations_and_voids_say_nothing(store):
    floor = RewardFloor(0.7, 0.05, reserve=100)
    agent = GenCB(UCB1(2), floor, default_competes=False)
    live = Live(agent, store, "shop", account="all")
    for _ in range(50):
        live.update(live.select(), 0)
    live.fall_back(live.select())
    live.pause()
    live.void(live.select())
    assert watched(store)[:3] == (0, 0, 0)
    played(live, [0.1])
    assert watched(store).told == 1


def test_experiments_of_one_account_are_told_apart(store):
    good, bad = opened(store, name="good"), opened(store, name="bad")
    for _ in range(40):
        played(good, [0.7])
        played(bad, [0.5])
    assert [watched(store, name).alarm for name in ("good", "bad")] == [False, True]
    monitors = Monitors()
    for entry in store.entries("all"):
        monitors.take(entry)
    assert monitors.reports() == {name: watched(store, name) for name in ("good", "bad")}


def test_another_declared_value_starts_the_test_anew(store):
    live = opened(store)
    played(live, [0.5] * 60)
    early = live.select()
    assert watched(store).alarm
    live.change(alpha=0.1)
    assert watched(store).alarm
    live.change(default=0.5)
    (change,) = [entry.seq for entry in store.entries("all") if entry.config_version == 3]
    assert watched(store)[:2] == (0, 0)
    assert str(watched(store)).startswith(
        f"no reward was told with its plays since entry {change} changed it, so nothing"
    )
    live.update(early, 0.1)  # it was held against 0.7
    played(live, [0.5] * 60)
    report = watched(store)
    assert (report.told, report.alarm, report.declared) == (60, False, 0.5)
    assert report.since == change
    assert str(report).startswith(f"60 rewards told since entry {change}, mean 0.5 of")


def test_another_range_starts_the_test_anew(store):
    live = opened(store)
    played(live, [1.5] * 3)
    live.change(alpha=0.1)
    played(live, [1.5] * 2)
    entries = list(store.entries("all"))
    (at,) = [n for n, entry in enumerate(entries) if entry.kind == "experiment.configured"]
    floor = entries[at].payload["floor"]
    entries[at] = entries[at]._replace(payload={"floor": floor | {"high": 2 * floor["high"]}})
    report = watch(entries, "shop")
    assert (report.told, report.clipped, report.mean) == (2, 0, 1.5)


def test_a_worker_that_did_not_know_of_the_change_yet_is_left_out(store):
    live = opened(store)
    live.change(default=0.5)
    played(live, [0.1])
    late = [
        entry._replace(config_version=1) if entry.kind == "decision.defaulted" else entry
        for entry in store.entries("all")
    ]
    assert watched(store).told == 1
    assert watch(late, "shop").told == 0


def test_coarse_units_make_no_evidence(store):
    """In units of 1 a default of 1.5 is 1 to the books, and so is each of its rewards."""
    played(opened(store, default=1.5, reward_range=(0, 2.9), places=0), [2.9, 0.1] * 200)
    report = watched(store)
    assert (report.clipped, report.mean) == (0, pytest.approx(1.5))
    assert report.p_value > 0.3


def test_rewards_out_of_range_count_as_its_end(store):
    played(opened(store), [7, -3])
    report = watched(store)
    assert (report.told, report.clipped) == (2, 2)
    assert report.mean == pytest.approx(0.5, abs=1e-8)


def test_memory_does_not_grow_with_what_has_been(store):
    live = opened(store)
    played(live, [0.7] * 100)
    live.void(live.select())
    live.select()
    monitor = DefaultMonitor("shop")
    for entry in store.entries("all"):
        monitor.take(entry)
    assert len(monitor._waiting) == 1


def test_the_report_is_plain_json_too(store):
    live = opened(store)
    assert watched(store).plain()["worst"] is None
    played(live, [Decimal("0.5")] * 60)
    worst = watched(store).plain()["worst"]
    assert (worst["first"], worst["last"]) == (1, 60)


def test_an_entry_that_cannot_be_read_is_named(store):
    played(opened(store), [0.5])
    *_, last = store.entries("all")
    monitor = DefaultMonitor("shop")
    for entry in store.entries("all", limit=last.seq - 1):
        monitor.take(entry)
    with pytest.raises(InvalidInput, match=rf"^entry {last.seq} \(decision.confirmed\) cannot be"):
        monitor.take(last._replace(payload={"reward": 5, "told": "abc"}))


def test_a_chance_of_a_false_alarm_is_one():
    with pytest.raises(InvalidInput, match=r"^delta = 0 must lie strictly between 0 and 1"):
        watch([], "shop", delta=0)
