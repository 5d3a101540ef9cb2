"""What a live experiment says of its arms: the same whoever asks, after whatever happened."""

import json
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learners import Counter, Softmax
from leased import opened
from live.postgres import postgres  # noqa: F401  (a fixture)
from live.store.databases import address  # noqa: F401  (a fixture)
from naive import ledger_arms
from surefoot import C2UCB, UCB1, EpsilonGreedy, GenCB, RewardFloor, TopK
from surefoot.agents import tally as tallies
from surefoot.errors import InvalidInput, PlayConflict, StoreUnavailable
from surefoot.floors.odds import Sequence, due
from surefoot.live import Lease, MemoryStore, engine, evidence, open_store, recovery
from surefoot.live.evidence import Evidence
from surefoot.live.live import Live
from surefoot_torture.faults.store import Faulty
from verifying import proved

UNIT = 10**9
FLOOR = RewardFloor(0.5, 0.25, reserve=30)


def agent(policy=None, floor=FLOOR, **more):
    return GenCB(policy or EpsilonGreedy(3, epsilon=0.5), floor, 4, False, **more)


def rows(live, delta=0.05):
    return [tuple(row) for row in live.arms(delta)]


def agrees(live, entries, delta=0.05):
    """Every row is what a list of all plays makes of it."""
    plays = ledger_arms.plays_of(entries, live.name)
    for row in live.arms(delta):
        arm = -1 if row.arm is None else live._engine.fold.agent.labels.index(row.arm)
        *counts, mean, share, low, high = ledger_arms.row(plays, arm, 0, UNIT, Fraction(str(delta)))
        assert [row.plays, row.open, row.told] == counts
        assert row.mean == pytest.approx(None if mean is None else mean / UNIT)
        assert row.share == pytest.approx(share)
        if row.why is None:
            assert (row.low * UNIT, row.high * UNIT) == pytest.approx((low, high), abs=2)
    return plays


def refolded(live, store):
    """The evidence that the entries alone make."""
    return Evidence.of(live.name, store.entries(live._engine.account))


def is_twin(live, store):
    assert live._engine.fold.evidence.state() == refolded(live, store).state()


def some_end(rng, one, play, late):
    """A report of some kind."""
    fate = rng.random()
    if fate < 0.75:
        one.update(play, float(rng.random() < 0.6))
    elif fate < 0.82 and not play.is_default:
        one.expire(play)
        late.append(play)
    elif fate < 0.88 and not play.is_default:
        one.fall_back(play)
    elif fate < 0.94:
        one.void(play)
    if late and rng.random() < 0.2:
        one.update(late.pop(), 1.0)


@given(st.randoms(use_true_random=False))
@settings(max_examples=8, deadline=None)
def test_it_is_what_an_agent_of_one_process_says_of_the_same_plays(rng):
    store = MemoryStore()
    twin, live = agent(holdout=0.2), Live(agent(), store, holdout=0.2)
    other = Live(None, store)
    out, late = [], ([], [])
    for _ in range(rng.randrange(1, 70)):
        asked = rng.choice((live, other))
        if rng.random() < 0.55 or not out:
            pair = twin.select(), asked.select()
            assert pair[0].arm == pair[1].arm
            out.append(pair)
            continue
        pair, seed = out.pop(rng.randrange(len(out))), rng.randrange(10**6)
        for one, play, gone in zip((twin, asked), pair, late, strict=True):
            some_end(random.Random(seed), one, play, gone)
        if rng.random() < 0.05:
            other = Live(None, store)
    assert rows(live) == rows(other)
    for mine, theirs in zip(live.arms(), twin.arms(), strict=True):
        assert mine[:4] == theirs[:4]
        assert mine[4:6] == pytest.approx(theirs[4:6])
        assert mine[6:8] == pytest.approx(theirs[6:8], abs=2e-9)
        assert mine.why == theirs.why
    assert tuple(live.uplift()) == pytest.approx(tuple(twin.uplift()))
    assert live.uplift() == other.uplift()
    is_twin(live, store)


def test_lost_reports_late_truth_and_voids_count_as_a_list_of_all_plays_says():
    now = iter(range(0, 10**15, 10**6))
    store = MemoryStore(clock=lambda: next(now))
    live = Live(agent(), store, reward_window=60, holdout=0.3)
    rng, plays = random.Random(2), []
    for visit in range(300):
        plays.append(live.select(id=f"v-{visit}"))
        for _ in range(rng.randrange(3)):
            play = plays.pop(rng.randrange(len(plays))) if plays else None
            if play is not None and rng.random() < 0.9:
                try:
                    live.update(play, float(rng.random() < 0.5))
                except PlayConflict:
                    continue
        if visit % 10 == 0:
            live.reap()
        if visit % 100 == 50:
            live = Live(None, store)
    said = agrees(live, list(store.entries("default")))
    ends = [play["end"] for play in said]
    assert ends.count(ledger_arms.LOST) > 10
    assert any(play["late"] is not None for play in said)
    live.void(next(p for p in plays if p.is_default))
    is_twin(live, store)
    proved(store)


def test_each_worker_of_a_database_sees_the_same(address, monkeypatch):  # noqa: F811
    monkeypatch.setattr(engine, "SNAPSHOT_EVERY", 40)
    with open_store(address) as first, open_store(address) as second:
        one = Live(agent(), first, "shop", holdout=0.2)
        two = Live(None, second, "shop")
        rng, out = random.Random(5), []
        for visit in range(90):
            live = (one, two)[visit % 2]
            out.append(live.select(id=f"v-{visit}"))
            if len(out) > 5:
                (two, one)[visit % 2].update(out.pop(rng.randrange(6)), rng.randrange(2))
        assert rows(one) == rows(two)
        assert one.uplift() == two.uplift()
        three = Live(None, second, "shop")  # a worker more, by snapshot
        assert rows(three) == rows(one)
        agrees(three, list(first.entries("shop")))
        is_twin(three, first)


def test_under_leases_too_after_deaths_and_with_plays_that_come_late(tmp_path):
    store = MemoryStore()
    lives = [opened(store, tmp_path / str(w), plays=8) for w in range(2)]
    rng, out = random.Random(3), []
    for visit in range(200):
        at = visit % 2
        out.append((at, lives[at].select(id=f"v-{visit}")))
        if len(out) > 9:
            who, play = out.pop(-1 if visit % 3 else rng.randrange(10))
            lives[who].update(play, rng.randrange(2))
        if visit % 70 == 69:
            lives[at]._worker.abandon()
            lives[at] = opened(store, tmp_path / str(at), plays=8)
    for live in lives:
        live.flush()
    assert rows(lives[0]) == rows(lives[1])
    agrees(lives[0], list(store.entries("default")))
    is_twin(lives[0], store)


def crashed(store, account):
    """A short life of two workers, each of which is opened again after a failure of the store."""
    lives = [None, None]

    def step(visit):
        at, own = visit % 2, f"{account}-{visit}"
        lives[at] = lives[at] or Live(agent(), store, account, holdout=0.3)
        lives[at].select(id=own)
        if visit % 4 < 3:
            lives[at].update(own, visit // 2 % 2)
        if visit == 6:
            lives[at].change(alpha=0.2)

    for visit in range(10):
        while True:
            try:
                step(visit)
                break
            except StoreUnavailable:
                lives[visit % 2] = None
    return lives


def survives(inner, kept):
    calm = Faulty(inner)
    crashed(calm, "calm")
    for commit in range(1, calm.commits + 1):
        store = Faulty(inner)
        store.break_at(commit, kept)
        lives = crashed(store, f"{kept}{commit}")
        store.heal()
        assert rows(lives[0]) == rows(lives[1]) == rows(Live(None, inner, lives[0].name))
        assert lives[0].uplift() == lives[1].uplift()
        is_twin(lives[0], inner)
        agrees(lives[0], list(inner.entries(lives[0].name)))


@pytest.mark.parametrize("kept", [False, True])
def test_after_a_crash_at_any_write_it_is_what_the_entries_say(kept, monkeypatch):
    monkeypatch.setattr(engine, "SNAPSHOT_EVERY", 7)
    survives(MemoryStore(), kept)


@pytest.mark.slow
@pytest.mark.parametrize("kept", [False, True])
def test_after_a_crash_of_a_database_too(kept, address, monkeypatch):  # noqa: F811
    monkeypatch.setattr(engine, "SNAPSHOT_EVERY", 7)
    with open_store(address) as store:
        survives(store, kept)


def test_a_snapshot_of_an_earlier_release_is_filled_in_from_the_ledger():
    store = MemoryStore()
    live = Live(agent(), store)
    for visit in range(40):
        live.update(live.select(), visit % 2)
    waits = live.select()
    live.close()
    seq, said = store.latest_snapshot("default", "default")
    state = json.loads(said)
    assert state.pop("evidence")
    store.snapshot("default", seq, json.dumps(state).encode(), experiment="default")
    again = Live(None, store)
    assert rows(again) == rows(live)
    again.update(waits, 1)
    is_twin(again, store)


def test_a_snapshot_without_it_is_not_jumped_to():
    store = MemoryStore()
    live, other = Live(agent(), store), Live(None, store)
    for visit in range(700):
        live.update(live.select(), visit % 2)
    live.close()
    seq, said = store.latest_snapshot("default", "default")
    state = json.loads(said)
    del state["evidence"]
    store.snapshot("default", seq, json.dumps(state).encode(), experiment="default")
    other._engine.catch_up()
    assert rows(other) == rows(live)
    is_twin(other, store)


def test_a_state_comes_back_and_goes_on_as_it_was(monkeypatch):
    monkeypatch.setattr(evidence, "EVERY", 5)
    monkeypatch.setattr(tallies, "DISTINCT", 4)
    store = MemoryStore()
    live = Live(agent(Counter(3)), store, holdout=0.3)
    plays = [live.select() for _ in range(20)]
    for play in plays[3:]:
        live.update(play, random.Random(play.id).random())
    live.expire(plays[1])
    live.change(holdout=0.5)
    live.change(reward_range=(0, 2))
    for _ in range(20):
        live.update(live.select(), 0.25)
    entries = list(store.entries("default"))
    whole = Evidence.of("default", entries)
    for cut in range(1, len(entries)):
        first = Evidence.of("default", entries, cut)
        again = Evidence.restored("default", json.loads(json.dumps(first.state())))
        again.copied().standings(Fraction(1, 20))  # reading takes nothing in
        for entry in entries[cut:]:
            again.take(entry)
        assert again.state() == whole.state()


def test_a_new_holdout_begins_the_uplift_anew_and_a_new_range_the_intervals():
    live = Live(agent(Counter(3)), MemoryStore(), holdout=0.3)
    early = live.select_many(10)
    for play in early[1:]:
        live.update(play, 1)
    assert live.uplift().plays == 0  # the first is open
    live.change(holdout=0.5)
    for _ in range(12):
        live.update(live.select(), 1)
    live.update(early[0], 1)
    assert live.uplift().plays == 12
    assert sum(row.plays for row in live.arms()) == 22
    live.change(reward_range=(0, 2))
    assert {(row.low, row.high) for row in live.arms() if row.why is None} == {(0.0, 2.0)}
    assert live.uplift().plays == 0
    live.change(holdout=None)
    with pytest.raises(InvalidInput, match="holds out none"):
        live.uplift()


def test_a_new_default_begins_its_interval_anew():
    store = MemoryStore()
    live = Live(agent(Counter(3)), store)
    live.pause()
    early = live.select_many(20)
    for play in early[1:]:
        live.update(play, 0)
    live.change(default=0.4)
    live.update(early[0], 0)
    row = live.arms()[-1]
    assert (row.arm, row.told, row.low, row.high) == (None, 20, 0, 1)
    for _ in range(30):
        live.update(live.select(), 1)
    row = live.arms()[-1]
    assert (row.told, row.mean, row.high) == (50, 0.6, 1)
    assert row.low > 0.7
    is_twin(live, store)


def test_plays_of_an_old_holdout_that_a_worker_enters_later_are_not_counted(tmp_path):
    store = MemoryStore()
    live = opened(store, tmp_path, plays=50)
    plays = [live.select() for _ in range(6)]
    other = Live(None, store)
    other.change(holdout=0.5)
    live.flush()
    assert sum(row.open for row in other.arms()) == 6
    for play in plays:
        live.update(play, 1)
    live.flush()
    assert sum(row.plays for row in other.arms()) == 6
    assert {(row.low, row.high) for row in other.arms() if row.why is None} == {(0, 1)}
    assert other.uplift().plays == 0
    is_twin(other, store)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"allowed": [0, 1]}, "allowed picks the plays"),
        ({"default": 0.4}, "defaults of single plays pick them"),
        ({"allowed": [0, 1], "default": 0.4}, "allowed picks the plays"),
        ({"context": np.zeros(2)}, "contexts pick the plays"),
    ],
)
def test_where_something_else_picks_the_plays_it_says_so(given, why):
    store = MemoryStore()
    policy = Softmax(3, 2) if "context" in given else UCB1(3)
    live = Live(agent(policy), store)
    live.update(live.select(context=np.ones(2)) if "context" in given else live.select(), 1)
    live.select(**given)
    assert {row.why for row in live.arms() if row.arm is not None} == {why}
    assert Live(None if policy.__class__ is UCB1 else agent(Softmax(3, 2)), store).arms()[0].why


def test_arms_that_were_removed_or_added_pick_nothing():
    live = Live(agent(UCB1(arms=["a", "b", "c"])), MemoryStore())
    live.remove_arms(["b"])
    for _ in range(9):
        live.update(live.select(), 1)
    live.add_arms(["b", "d"])
    for _ in range(9):
        live.update(live.select(), 1)
    assert [row.arm for row in live.arms()] == ["a", "b", "c", "d"]
    assert all(row.why is None and row.plays for row in live.arms())


def test_super_arms_have_no_rows_and_defaults_of_intervals_have():
    floor = RewardFloor((0.4, 0.6), 0.2, reward_range=(0, 2), reserve=1)
    live = Live(agent(C2UCB(base_arms=np.eye(3), oracle=TopK(2)), floor), MemoryStore())
    live.update(live.select(), base_rewards=[1, 0.5])
    with pytest.raises(InvalidInput, match="single arms"):
        live.arms()
    store = MemoryStore()
    live = Live(agent(UCB1(2), RewardFloor((0.4, 0.6), 0.2)), store)
    plays = live.select_many(8)
    for play in plays[:6]:
        live.update(play, 0.5)
    live.update(plays[6])
    live.update(plays[7])
    live.update(plays[7], 0.5)  # told right after: it is known when the next entry comes
    row = live.arms()[-1]
    assert (row.arm, row.plays, row.told, row.mean) == (None, 8, 7, 0.5)
    is_twin(live, store)


def test_what_is_kept_is_bounded_by_open_plays_and_arms(monkeypatch):
    for name in ("DISTINCT", "LAST"):
        monkeypatch.setattr(tallies, name, 64)
    monkeypatch.setattr(evidence, "EVERY", 64)
    store = MemoryStore()
    live = Live(agent(UCB1(2), RewardFloor(0.5, 0.25, reserve=10**5)), store)
    sizes = []
    for _ in range(3):
        for visit in range(250):
            live.update(live.select(), visit % 7 / 7)
            live.expire(live.select())
        sizes.append(len(recovery.snapshot(live._engine.fold)[1]))
    assert sizes[2] < 1.3 * sizes[0] < 30_000
    held = live._engine.fold.evidence
    assert not held._open


def test_in_shadow_nothing_is_gained_and_all_of_it_is_sure():
    store = MemoryStore()
    live = Live(agent(), store, shadow=True, holdout=0.3)
    for visit in range(40):
        live.update(live.select(), visit % 4 > 0)
    assert {entry.payload.get("propensity", "1.0") for entry in store.entries("default")} == {"1.0"}
    found = live.uplift()
    assert (found.plays, found.sure, found.mean) == (40, 40, 0)
    assert live.arms()[-1].told == 40


@pytest.mark.parametrize("delta", [0, 1, -1, "much"])
def test_a_delta_that_is_none_is_refused(delta):
    live = Live(agent(), MemoryStore(), holdout=0.1)
    for ask in (live.arms, live.uplift):
        with pytest.raises(InvalidInput, match="delta"):
            ask(delta)


def test_two_experiments_of_one_account_have_their_own(tmp_path):
    store = MemoryStore()
    one = Live(agent(), store, "one", account="shop")
    two = Live(agent(UCB1(2)), store, "two", account="shop", holdout=0.2)
    for visit in range(30):
        for live in (one, two):
            live.update(live.select(), visit % 2)
    assert [sum(row.plays for row in live.arms()) for live in (one, two)] == [30, 30]
    is_twin(one, store)
    is_twin(two, store)
    leased = Live(None, store, "two", account="shop", lease=Lease(tmp_path))
    assert rows(leased) == rows(two)
    with pytest.raises(InvalidInput, match="holds out none"):
        one.uplift()


def lease_run(seed, workers=8, steps=100, plays=1_500, late=200):
    """Whether the true mean is ever left out if successes are told at once and failures late."""
    rng, sequence, order, told = random.Random(seed), Sequence(0, 100), [], {}
    journals, waits, fed = [[] for _ in range(workers)], [], 0
    for play in range(plays):
        journal = journals[rng.randrange(workers)]
        journal.append((play, None))
        if rng.random() < 0.5:
            journal.append((play, 100))
        else:
            waits.append((play, journal))
        if waits and waits[0][0] <= play - late:
            old, of = waits.pop(0)
            of.append((old, 0))
        for one in journals:
            if len(one) >= steps:  # entered as one
                order += [number for number, reward in one if reward is None]
                told.update({number: reward for number, reward in one if reward is not None})
                one.clear()
        while fed < len(order) and order[fed] in told:
            sequence.take(told[order[fed]])
            fed += 1
            sides = (sequence.above, sequence.below)
            if due(fed) and any(side.refutes(50, Fraction(1, 40)) for side in sides):
                return True
    return False


@pytest.mark.slow
def test_the_order_of_entry_under_leases_costs_no_coverage_that_shows():
    out = sum(lease_run(seed) for seed in range(300))
    assert out <= 300 * 0.05 + 2 * (300 * 0.05 * 0.95) ** 0.5
