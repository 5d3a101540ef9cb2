"""A crash at every write of a scenario, recovery, and a retry: the same ledger, hash for hash."""

import json
import random
from decimal import Decimal

import numpy as np
import pytest

from learners import Counter, Softmax
from surefoot import UCB1, GenCB, RewardFloor
from surefoot.errors import PlayConflict, StoreUnavailable
from surefoot.live import MemoryStore, engine, recovery
from surefoot.live.live import Live
from surefoot.live.store import Tx
from surefoot_torture.faults.store import Faulty

STEPS = 25


def agent(policy=None):
    return GenCB(policy or UCB1(3), RewardFloor(0.5, 0.25, reserve=0.5), seed=4)


def learner():
    return agent(Softmax(3, 2))


def contexts(make, step):
    return np.array([step % 3, 1.0]) if make is learner else None


def scenario(make):
    """Steps, each of which may be retried: (name, what to do)."""
    rng = random.Random(11)
    for step in range(STEPS):
        play = f"visit-{step}"
        yield lambda one, play=play, step=step: one.select(contexts(make, step), id=play)
        reward, fate = float(rng.random() < 0.7), rng.random()
        if fate < 0.7:
            yield lambda one, play=play, reward=reward: report(one, play, reward)
        elif fate < 0.8:
            yield lambda one, play=play: one.expire(play)
        elif fate < 0.85:
            yield lambda one, play=play: one.void(play)
        if step == 10:
            yield lambda one: one.change(alpha=0.3)
        if step == 20:
            yield lambda one: one.pause()
        if step == 22:
            yield lambda one: one.resume()


def report(one, play, reward):
    return one.update(play, None if one.play(play).is_default else reward)


def run(make, inner, commit=None, kept=False, restart=True):
    """Play the scenario with a fault at one commit; returns the number of commits."""
    store = Faulty(inner)
    if commit is not None:
        store.break_at(commit, kept)
    one = None
    for step in (lambda one: None, *scenario(make)):
        for attempt in range(3):
            try:
                one = one or Live(make(), store)
                step(one)
                break
            except StoreUnavailable:
                assert attempt < 2
                if restart:
                    one = None
    assert one.degraded is None
    return store.commits


def ledger(store):
    """The hashes of all entries: equal ones mean equal entries."""
    return [entry.hash for entry in store.entries("default")]


@pytest.mark.parametrize(
    ("make", "restart"),
    [
        (agent, True), (learner, False),
        pytest.param(agent, False, marks=pytest.mark.slow),
        pytest.param(learner, True, marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_a_crash_at_any_write_changes_nothing_in_the_end(make, restart, monkeypatch):
    monkeypatch.setattr(engine, "SNAPSHOT_EVERY", 7)
    calm = MemoryStore(clock=lambda: 0)
    commits = run(make, calm)
    truth = ledger(calm)
    assert commits > 2 * STEPS
    for kept in (False, True):
        for commit in range(1, commits + 1):
            store = MemoryStore(clock=lambda: 0)
            run(make, store, commit, kept, restart)
            assert ledger(store) == truth, (commit, kept)


def test_a_change_whose_answer_was_lost_is_not_made_twice():
    store = Faulty(MemoryStore())
    one = Live(agent(), store)
    store.break_at(1, kept=False)
    with pytest.raises(StoreUnavailable):
        one.change(alpha=0.4)
    assert one.select().play.terms.deposit == 125_000_000  # alpha is what it was
    store.break_at(1, kept=True)
    with pytest.raises(StoreUnavailable):
        one.change(alpha=0.4)
    one.change(alpha=0.4)
    assert one.select().play.terms.deposit == 200_000_000
    kinds = [entry.kind for entry in store.entries("default")]
    assert kinds.count("experiment.configured") == 1


def played(store, n=30):
    one = Live(agent(), store)
    for _ in range(n):
        play = one.select()
        one.update(play, None if play.is_default else 1.0)
    return one


def state(one):
    return json.loads(recovery.snapshot(one._engine.fold)[1])


def test_a_snapshot_and_its_tail_are_the_fold_of_all_entries():
    store = MemoryStore()
    one = played(store)
    one.close()  # a snapshot
    played(store, 10)
    tail = Live(None, store)
    whole, trouble = recovery.recovered(
        "default", None, None, lambda after: store.entries("default", after), None
    )
    assert trouble is None
    assert state(tail) == json.loads(recovery.snapshot(whole)[1])
    kept = store.latest_snapshot("default", "default")
    assert recovery.restored("default", None, kept).seq == kept[0] < tail._engine.fold.seq


@pytest.mark.parametrize("blob", [b"", b"{}", b"\xff", b'{"opened": [{}, {}], "body": {}}'])
def test_a_snapshot_that_cannot_be_read_costs_a_replay(blob):
    store = MemoryStore()
    one = played(store)
    store.snapshot("default", 10**9, blob, "default")
    again = Live(None, store)
    assert again.degraded is None
    assert state(again) == state(one)


def edited(store, number, **fields):
    """Change an entry behind the store's back."""
    entries = store._accounts["default"].entries
    entries[number - 1] = entries[number - 1]._replace(**fields)


@pytest.mark.parametrize(
    "fields", [{"d_posted": 10**9}, {"payload": {}}, {"prev": "0" * 63 + "1"}, {"seq": 6}]
)
def test_an_edited_ledger_is_explored_on_no_more_but_outcomes_are_taken(fields):
    store = MemoryStore()
    one = played(store)
    open_play = one.select()
    assert not open_play.is_default
    edited(store, 5, **fields)
    again = Live(None, store)
    assert "entry" in again.degraded
    play = again.select(id="later")
    assert (play.arm, play.reason) == (None, "DEGRADED")
    assert "in doubt" in again.explain(play)
    assert again.select(id="later") == play
    before = again.account.slack
    again.update(open_play, 1.0)  # a reward of 1 releases the hold, .375, and brings .625
    again.update(play)
    assert again.account.slack == before + 1 + Decimal("0.125")
    with pytest.raises(PlayConflict, match="in doubt"):
        again.change(alpha=0.5)
    again.close()


def test_an_account_that_is_not_the_sum_of_its_entries():
    store = MemoryStore()
    one = played(store)
    held = store._accounts["default"]
    held.row = held.row._replace(posted=held.row.posted + 1)
    for each in (one, Live(None, store)):  # one that runs sees it as well as one that starts
        assert each.select().reason == "DEGRADED"
        assert "add up to" in each.degraded


def test_a_store_that_fails_while_others_entries_are_read_costs_that_work_alone(monkeypatch):
    store = MemoryStore()
    one, other = Live(agent(), store), Live(None, store)
    one.update(one.select(), 1)
    read, failing = Tx.entries, [True]

    def entries(self, *words):
        if failing:
            failing.clear()
            raise StoreUnavailable("the connection was cut")
        return read(self, *words)

    monkeypatch.setattr(Tx, "entries", entries)
    with pytest.raises(StoreUnavailable, match="was cut"):
        other.select()
    assert other.degraded is None
    assert other.account == one.account
    failing.append(True)
    monkeypatch.setattr(MemoryStore, "entries", lambda *_: entries(None))
    with pytest.raises(StoreUnavailable, match="was cut"):
        Live(None, store)


def test_a_ledger_whose_first_entry_is_damaged_gets_the_default():
    store = MemoryStore()
    one, other = Live(agent(), store), Live(None, store)
    one.select()
    found = store._accounts["default"].entries
    found[0] = found[0]._replace(actor="edited")
    other._engine._kept = None
    store._accounts["default"].snapshots.clear()
    other._engine.fold.lose()
    assert other.select().reason == "DEGRADED"


class Unsaid(Counter):
    """A policy whose state can be written at first, and then no more."""

    def state(self):
        return {**super().state(), **({"w": self.never} if self.turn > 3 else {})}


@pytest.mark.parametrize("never", [float("nan"), {1, 2}])
def test_a_state_that_cannot_be_written_costs_a_replay_and_stops_nothing(monkeypatch, never):
    monkeypatch.setattr(engine, "SNAPSHOT_EVERY", 5)
    monkeypatch.setattr(Unsaid, "never", never, raising=False)
    store = MemoryStore()
    one = Live(agent(Unsaid(2)), store)
    for _ in range(20):
        one.update(one.select(id=f"v-{one.account.explorations}"), 1)
    again = Live(agent(Unsaid(2)), store)
    assert (again.degraded, again.account) == (None, one.account)
