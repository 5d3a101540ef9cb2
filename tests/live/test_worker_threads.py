"""Threads under one lease: nobody waits behind another's flush for what the journal can answer."""

import random
import threading
import time
import warnings

import pytest

from leased import agent, kinds, opened
from live.network import DEAF, PASS, SWALLOWS, proxied
from live.postgres import database, postgres  # noqa: F401  (fixtures)
from surefoot import Outcome
from surefoot.errors import PlayConflict, StoreUnavailable
from surefoot.live import Lease, MemoryStore, flushing
from surefoot.live.live import Live
from surefoot.live.store import open_store
from surefoot.testing._stores import together
from surefoot_torture.faults.store import Faulty
from verifying import proved

# ruff: noqa: F811
PATIENCE = 20
"""Seconds after which a test that hangs fails."""


class Held(Faulty):
    """Keeps its callers waiting: before a work, after its commit, or at a look at a play."""

    def __init__(self, inner):
        super().__init__(inner)
        self.hold = None
        self.reached, self.go = threading.Event(), threading.Event()

    def stop_at(self, hold):
        self.hold = hold
        self.reached.clear()
        self.go.clear()

    def _wait(self, hold):
        if self.hold == hold:
            self.hold = None
            self.reached.set()
            assert self.go.wait(PATIENCE)

    def transact(self, account, work):
        self._wait("before")
        answer = super().transact(account, work)
        self._wait("after")
        return answer

    def play(self, account, play):
        found = super().play(account, play)
        self._wait("look")
        return found


def away(call):
    """A call on a thread of its own; its answer, or its error, is put in a list."""
    answers = []

    def run():
        try:
            answers.append(call())
        except Exception as error:  # noqa: BLE001  (the test looks at it)
            answers.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.answers = answers
    return thread


def done(thread):
    thread.join(PATIENCE)
    assert not thread.is_alive()
    return thread.answers[0]


@pytest.fixture
def held(tmp_path):
    """A store that can be held, and a live agent with a few plays under its lease."""
    store = Held(MemoryStore())
    live = opened(store, tmp_path, plays=50)
    return store, live, [live.select(id=f"v-{n}") for n in range(4)]


def test_a_flush_that_has_not_begun_stops_nobody_and_takes_what_came_meanwhile(held):
    store, live, plays = held
    store.stop_at("before")
    flush = away(live.flush)
    assert store.reached.wait(PATIENCE)
    assert done(away(lambda: live.update(plays[0], 1))) is Outcome.BOOKED
    new = done(away(live.select))
    assert (new.lease, done(away(lambda: live.play(new.id)))) == (plays[0].lease, new)
    store.go.set()
    assert done(flush) is None
    assert store.play("default", new.id).lease == plays[0].lease
    assert (live._worker._steps, live._worker._journal.steps()) == ([], [])
    assert live.select().lease != plays[0].lease
    live.close()
    assert proved(store)["explorations"] == 6


@pytest.mark.parametrize("killed", [False, True])
def test_what_is_told_while_a_commit_is_on_its_way_is_kept(held, tmp_path, killed):
    store, live, plays = held
    store.stop_at("after")
    flush = away(live.flush)
    assert store.reached.wait(PATIENCE)
    assert done(away(lambda: live.update(plays[0], 1))) is Outcome.BOOKED
    assert done(away(lambda: live.update(plays[0], 1))) is Outcome.REPEATED
    assert isinstance(done(away(lambda: live.update(plays[0], 0))), PlayConflict)
    select = away(lambda: live.select(id="new"))
    time.sleep(0.1)
    assert not select.answers  # that lease may be closed
    store.go.set()
    assert done(flush) is None
    assert done(select).lease != plays[0].lease
    steps = live._worker._journal.steps()
    assert [step.get("how", step.get("kind")) for step in steps] == ["settle", "decision.held"]
    assert live._worker._local.agent.policy.state()["arms"][0][plays[0].arm] == 1
    assert live.update(plays[0], 1) is Outcome.REPEATED
    if killed:
        live._worker.abandon()
        live = opened(store, tmp_path)
    live.close()
    report = proved(store)
    assert (report["explorations"], kinds(store).count("outcome.settled")) == (5, 1)
    assert "assumption.broken" not in kinds(store)


def test_a_breach_that_is_told_meanwhile_stops_the_new_lease(held):
    store, live, plays = held
    store.stop_at("after")
    flush = away(live.flush)
    assert store.reached.wait(PATIENCE)

    def breach():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return live.update(plays[0], -500)

    telling = away(breach)
    while not live._worker._steps or live._worker._steps[-1][1] is None:
        time.sleep(0.01)
    store.go.set()
    assert done(flush) is None
    assert done(telling) is Outcome.BREACH
    assert store.account("default").available < 0
    assert live.select().is_default


def test_a_void_waits_for_a_commit_that_may_have_the_play(held):
    store, live, plays = held
    store.stop_at("after")
    flush = away(live.flush)
    assert store.reached.wait(PATIENCE)
    voiding = away(lambda: live.void(plays[0]))
    time.sleep(0.1)
    assert not voiding.answers
    store.go.set()
    assert done(flush) is None
    assert done(voiding) is Outcome.BOOKED
    assert store.play("default", "v-0").state == "voided"


def test_one_id_asked_for_by_two_threads_is_one_play(held):
    store, live, _ = held
    store.stop_at("look")
    first = away(lambda: live.select(id="same"))
    assert store.reached.wait(PATIENCE)
    second = done(away(lambda: live.select(id="same")))
    live.update(second, 1)
    live.flush()  # it is closed, and the worker forgets it
    store.go.set()
    assert done(first) == second
    live.close()
    assert proved(store)["explorations"] == 5


def test_a_play_of_another_worker_told_by_two_threads_is_booked_once(held, tmp_path):
    store, live, _ = held
    other = opened(store, tmp_path / "other")
    play = other.select()
    other.flush()
    store.stop_at("look")
    first = away(lambda: live.update(play, 1))
    assert store.reached.wait(PATIENCE)
    assert done(away(lambda: live.update(play, 1))) is Outcome.BOOKED
    live.flush()
    store.go.set()
    assert done(first) is Outcome.REPEATED


def test_who_waits_for_a_flush_that_fails_is_told_so_and_does_not_wait_again(held):
    store, live, _ = held
    live._worker._lease = None
    store.stop_at("before")
    store.break_at(1, kept=False)
    callers = [away(live.select) for _ in range(5)]
    assert store.reached.wait(PATIENCE)
    time.sleep(0.2)
    commits = store.commits
    store.go.set()
    assert [type(done(caller)) for caller in callers] == [StoreUnavailable] * 5
    assert store.commits == commits + 1
    assert live.select().lease


def test_a_store_that_is_gone_is_not_tried_at_each_play(tmp_path, monkeypatch):
    now, tries = [0.0], []
    monkeypatch.setattr(flushing, "monotonic", lambda: now[0])
    store = MemoryStore()
    live = opened(store, tmp_path, plays=20)
    first = live.select()

    def gone(*_):
        tries.append(now[0])
        raise StoreUnavailable("nobody there")

    with monkeypatch.context() as patch:
        patch.setattr(store, "account", gone)
        plays = [first, *(live.select() for _ in range(19))]
        for play in plays:
            live.expire(play)
        assert len(tries) == 1  # at 40 steps; the next is due at 80 more
        for play in plays:
            assert live.update(play, 1) is Outcome.BOOKED_LATE
        assert len(tries) == 1
        for now[0] in range(250):  # a lease is of 60 s: after 60, 120, 240 and 240 seconds
            assert live.update(first, 1) is Outcome.REPEATED
            live._worker._flush_after(live._worker._steps[-1][1].booked)
        assert tries == [0, 60, 180]
    live.flush()
    live.close()
    report = proved(store)
    assert (report["explorations"], report["open"]) == (20, 0)


def test_many_threads_lose_nothing_and_double_nothing(tmp_path):
    """Selects, reports, flushes and a store that fails now and then, all at once, then a kill."""
    store = Faulty(MemoryStore())
    live = opened(store, tmp_path, plays=7)
    seen, rewards, lock = {}, {}, threading.Lock()

    def play(seed):
        rng = random.Random(seed)
        for number in range(60):
            own = f"v-{rng.randrange(150)}"
            try:
                answer = live.select(id=own)
                with lock:
                    assert seen.setdefault(own, answer.id) == answer.id
                if number % 7 == seed % 7:
                    live.flush()
                if not answer.is_default and rng.random() < 0.7:
                    reward = sum(map(ord, own)) % 2
                    assert live.update(answer, reward) in (Outcome.BOOKED, Outcome.REPEATED)
                    with lock:
                        rewards[answer.id] = reward
            except StoreUnavailable:
                continue
            if rng.random() < 0.05:
                store.break_at(rng.choice((1, 2)), rng.random() < 0.5)

    seeds = iter(range(6))
    assert together(lambda: play(next(seeds)), threads=6) == []
    store.heal()
    live._worker.abandon()
    again = opened(store, tmp_path)
    for name, reward in rewards.items():
        assert again.update(name, reward) is Outcome.REPEATED
    again.close()
    report = proved(store)
    assert report["explorations"] + report["decisions"] >= len(seen)
    told = [entry for entry in store.entries("default") if entry.kind == "outcome.settled"]
    assert len({entry.play for entry in told}) == len(told) == len(rewards)
    asked = [entry for entry in store.entries("default") if entry.kind.startswith("decision.")]
    assert "assumption.broken" not in kinds(store)
    assert len({entry.play for entry in asked}) == len(asked)


@pytest.mark.parametrize("silence", [SWALLOWS, pytest.param(DEAF, marks=pytest.mark.slow)])
def test_under_a_lease_a_silent_network_is_not_heard_of(database, tmp_path, silence):
    with proxied(database) as (proxy, url):
        lease = Lease(tmp_path, plays=20, boot="b")
        live = Live(agent(), url, lease=lease, timeout=1)
        plays = [live.select()]
        proxy.mode = silence
        flush = away(live.flush)
        took = []
        for number in range(15):
            begun = time.monotonic()
            plays.append(live.select())
            assert live.update(plays[number], 1) is Outcome.BOOKED
            took.append(time.monotonic() - begun)
        assert sum(each > 1 for each in took) <= 1
        assert max(took) < 4
        assert isinstance(done(flush), StoreUnavailable)
        with pytest.raises(StoreUnavailable):
            live.select(id="the-ledger-may-have-it")
        proxy.mode = PASS
        if silence == DEAF:
            time.sleep(0.1)
        live.flush()
        live.close()
    with open_store(database) as store:
        report = proved(store)
        assert (report["explorations"], report["open"]) == (16, 1)
        assert kinds(store).count("outcome.settled") == 15
