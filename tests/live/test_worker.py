"""A worker under a lease answers at once, and its ledger says the same later."""

from decimal import Decimal

import numpy as np
import pytest

from leased import Clock, agent, kinds, opened
from surefoot import C2UCB, GenCB, LinUCB, Outcome, RewardFloor, TopK
from surefoot.errors import InvalidInput, PlayConflict, UnknownPlay
from surefoot.live import Lease, MemoryStore, flushing
from surefoot.live.live import Live
from surefoot_torture.faults.store import Faulty
from verifying import proved


def test_most_plays_need_no_commit(tmp_path):
    store = Faulty(MemoryStore())
    live = opened(store, tmp_path)
    before = store.commits
    for _ in range(100):
        assert not (play := live.select()).is_default
        assert live.update(play, 0.25) is Outcome.BOOKED
    assert store.commits - before <= 11
    live.close()
    assert kinds(store).count("outcome.settled") == 100
    assert proved(store)["posted"] == 100 * (250_000_000 - 450_000_000)


def test_the_account_counts_what_is_only_in_the_journal(tmp_path):
    live = opened(MemoryStore(), tmp_path)
    for _ in range(4):
        play = live.select()
    live.update(play, 1)
    books = live.account
    assert (books.plays, books.pending, books.explorations) == (4, 3, 4)
    assert books.earned == 1


def test_a_play_has_the_slack_of_its_lease(tmp_path):
    live = opened(MemoryStore(), tmp_path, plays=4)
    first, second = live.select(), live.select()
    assert (first.slack, second.slack) == (Decimal("1.8"), Decimal("1.35"))
    assert second.worst_case == Decimal("0.9")
    assert first.seq is None
    assert first.id == f"{first.lease}-1"
    assert f"The slack is that of lease {first.lease}." in first.explain()
    live.flush()
    later = live.play(first.id)
    assert later == first
    assert later.explain() == first.explain()
    assert "held by" not in later.explain()  # that is the account's, not the lease's
    assert later.seq is not None


def test_an_id_gets_one_play_before_and_after_the_flush(tmp_path):
    store, here = MemoryStore(), np.eye(3).tolist()
    given = GenCB(LinUCB(np.eye(3)), agent().floor)
    live = opened(store, tmp_path, given)
    play = live.select(id="mine", context=here)
    assert live.select(id="mine", context=here) == play == live.play("mine")
    with pytest.raises(PlayConflict):
        live.select(id="mine")
    live.flush()
    assert live.select(id="mine", context=here) == play
    live.update(play.id, 0.5)
    live.flush()
    assert live.select(id="mine", context=here) == play
    other = opened(store, tmp_path, given)
    assert other.select(id="mine", context=here) == play
    assert kinds(store).count("decision.held") == 1


def test_a_repeat_is_known_and_a_contradiction_refused(tmp_path):
    live = opened(MemoryStore(), tmp_path)
    play = live.select()
    assert live.update(play, 0.5) is Outcome.BOOKED
    assert live.update(play, 0.5) is Outcome.REPEATED
    with pytest.raises(PlayConflict):
        live.update(play, 0.75)
    assert live.void(play) is Outcome.IGNORED
    live.flush()
    assert live.update(play, 0.5) is Outcome.REPEATED
    with pytest.raises(PlayConflict):
        live.update(play, 0.75)


def test_every_report_is_taken(tmp_path):
    store = MemoryStore()
    live = opened(store, tmp_path, agent(default=(0.25, 0.5)))
    late, gone, back, high = (live.select().id for _ in range(4))
    assert live.expire(late) is Outcome.BOOKED
    live.flush()
    assert live.update(late, 1) is Outcome.BOOKED_LATE
    live.void(gone)
    live.fall_back(back)
    live.update(back, 0.375)
    with pytest.warns(UserWarning, match="above the range"):
        assert live.update(high, 3) is Outcome.CAPPED
    live.acknowledge(high)
    live.close()
    assert proved(store)["open"] == 0
    for kind in ("outcome.late", "decision.voided", "outcome.as_default", "default.valued",
                 "breach.acknowledged"):  # fmt: skip
        assert kinds(store).count(kind) == 1


def test_a_breach_is_written_down_before_anything_else_is_explored(tmp_path):
    store = MemoryStore()
    live = opened(store, tmp_path, agent(reserve=10))
    play = live.select()
    with pytest.warns(UserWarning, match="outside"):
        live.update(play, -50)
    assert store.account("default").available < 0
    assert live.select().is_default


def test_without_enough_for_a_lease_the_account_is_asked(tmp_path):
    store = MemoryStore()
    live = opened(store, tmp_path, agent(reserve=0))
    for _ in range(9):
        play = live.select()
        assert play.is_default
        assert play.lease is None
        live.update(play)
    assert not live.select().is_default
    assert "lease.granted" not in kinds(store)


def test_what_was_decided_long_ago_is_entered_by_the_next_call(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(flushing, "monotonic", lambda: now[0])
    store = MemoryStore()
    live = opened(store, tmp_path)
    live.select(id="a")
    now[0] = 31.0
    assert store.play("default", "a") is None
    live.select(id="b")
    assert store.play("default", "a") is not None


def test_reward_windows_count_from_the_decision(tmp_path, monkeypatch):
    now, clock = [0.0], Clock()
    monkeypatch.setattr(flushing, "monotonic", lambda: now[0])
    start = clock.time
    live = Live(agent(), MemoryStore(clock), reward_window=5, lease=Lease(tmp_path, plays=10))
    live.select()
    now[0] = 2.5
    assert live.select().deadline == start + 7_500_000


def test_a_pause_and_new_terms_reach_a_worker_with_its_next_flush(tmp_path):
    store = MemoryStore()
    live, boss = opened(store, tmp_path), Live(None, store)
    first = live.select()
    boss.change(alpha=0.2)
    boss.pause()
    second = live.select()
    assert (first.play.terms.floor, second.play.terms.floor) == (450_000_000, 450_000_000)
    live.flush()
    third = live.select()
    assert (third.reason, third.lease) == ("PAUSED", None)
    assert third.play.terms.floor == 400_000_000
    live.close()
    proved(store)


def test_default_plays_need_no_lease_of_their_own(tmp_path):
    store = MemoryStore()
    live = opened(store, tmp_path, GenCB(agent().policy, agent().floor, default_competes=True))
    for _ in range(200):
        play = live.select()
        live.update(play, None if play.is_default else 0)
    assert live.account.default_plays > 0
    live.close()
    proved(store)


def test_super_arms_and_contexts_go_through_the_journal(tmp_path):
    rows = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]
    policy = C2UCB(rows, TopK(2))
    floor = RewardFloor(0.5, 0.1, reward_range=(0, 2), reserve=50)
    store = MemoryStore()
    live = opened(store, tmp_path, GenCB(policy, floor, default_competes=False))
    for _ in range(20):
        play = live.select()
        live.update(play, base_rewards=[1, 0.5])
    with pytest.raises(InvalidInput, match="base_rewards"):
        live.update(live.select(), 1)
    live.close()
    assert proved(store)["posted"] == 20 * (1_500_000_000 - 450_000_000)


def test_a_worker_ends_where_one_without_a_lease_does(tmp_path):
    """One worker, so that nobody is in between: the policy has learned the same in the end."""
    stores = MemoryStore(), MemoryStore()
    lives = opened(stores[0], tmp_path), Live(agent(), stores[1])
    for n in range(200):
        reward = (n * 7 % 11) / 10
        plays = [live.select(id=f"v-{n}") for live in lives]
        assert plays[0].arm == plays[1].arm
        for live, play in zip(lives, plays, strict=True):
            live.update(play.id, reward)
    lives[0].close()
    lives = opened(stores[0], tmp_path), lives[1]
    assert lives[0].account == lives[1].account
    policies = [live._engine.fold.agent.policy.state() for live in lives]
    assert policies[0] == policies[1]


def test_a_live_takes_a_lease_and_nothing_else():
    with pytest.raises(InvalidInput, match="lease"):
        Live(agent(), MemoryStore(), lease="folder")


def test_an_idle_worker_gives_back_a_lease_that_is_old(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(flushing, "monotonic", lambda: now[0])
    store = MemoryStore()
    live = opened(store, tmp_path)
    live.select()
    live.flush()
    count = len(kinds(store))
    live.flush()
    assert len(kinds(store)) == count
    now[0] = 31
    live.reap()
    assert kinds(store)[-2:] == ["lease.returned", "lease.granted"]


def test_a_closed_agent_says_so(tmp_path):
    live = opened(MemoryStore(), tmp_path)
    play = live.select()
    live.close()
    for _ in range(2):
        with pytest.raises(InvalidInput, match="closed"):
            live.select()
        with pytest.raises(InvalidInput, match="closed"):
            live.update(play, 1)


def test_a_name_that_the_ledger_made_is_not_given_out_again(tmp_path):
    store = MemoryStore()
    live = opened(store, tmp_path)
    play = live.select()
    live.flush()
    for taken in (play.id, "p-7"):
        for one in (live, Live(None, store)):
            with pytest.raises((InvalidInput, PlayConflict), match=taken):
                one.select(id=taken)


@pytest.mark.parametrize("name", ["{lease}-1", "{lease}-2", "{owner}-anything"])
def test_what_a_worker_may_call_a_play_of_its_own_is_no_id_of_a_caller(tmp_path, name):
    """Two answers of one name would be one play in the ledger, and one of them in no book."""
    store = MemoryStore()
    live = opened(store, tmp_path)
    first = live.select(allowed=[0])
    own = name.format(lease=first.lease, owner=live._worker.owner)
    with pytest.raises(PlayConflict, match="another request"):
        live.select(id=own, allowed=[1])
    assert live.select(allowed=[2]).id == f"{first.lease}-2"
    live.close()
    assert proved(store)["explorations"] == 2


REPORTS = {
    "update": lambda live, play: live.update(play, 0.5),
    "expire": lambda live, play: live.expire(play),
    "void": lambda live, play: live.void(play),
    "fall back": lambda live, play: live.fall_back(play),
}


@pytest.mark.parametrize("flushed", [False, True])
@pytest.mark.parametrize("how", REPORTS)
def test_the_id_that_was_asked_by_is_enough_for_the_worker_that_decided(tmp_path, how, flushed):
    store = MemoryStore()
    live = opened(store, tmp_path)
    play = live.select(id="visit-1")
    assert play.lease is not None
    if flushed:
        live.flush()
    assert REPORTS[how](live, "visit-1") is Outcome.BOOKED
    assert REPORTS[how](live, "visit-1") is Outcome.REPEATED
    assert REPORTS[how](live, play.id) is Outcome.REPEATED
    live.flush()  # closed, and forgotten here
    assert REPORTS[how](live, "visit-1") is Outcome.REPEATED
    live.close()
    assert kinds(store).count("decision.held") == 1
    assert "assumption.broken" not in kinds(store)
    proved(store)


def test_elsewhere_the_id_that_was_asked_by_is_refused_and_says_why(tmp_path):
    store = MemoryStore()
    one, two = opened(store, tmp_path), opened(store, tmp_path)
    play = one.select(id="visit-1")
    with pytest.raises(UnknownPlay, match="next flush"):
        two.update("visit-1", 1)
    one.flush()
    for live in (two, Live(None, store)):
        with pytest.raises(PlayConflict, match=f"only to the worker that decided it.*{play.id}"):
            live.update("visit-1", 1)
    again = opened(store, tmp_path)  # another process: what it decided it does not know
    with pytest.raises(PlayConflict, match=play.id):
        again.update("visit-1", 1)
    assert again.update(play.id, 1) is Outcome.BOOKED


def test_where_two_workers_decided_one_id_each_means_its_own(tmp_path):
    store = MemoryStore()
    one, two = opened(store, tmp_path), opened(store, tmp_path)
    one.select(), two.select()
    here, there = one.select(id="a"), two.select(id="a")
    two.flush()
    one.flush()  # its play is a twin now
    assert (one.play("a"), two.play("a")) == (here, there)
    assert one.explain("a") == one.explain(here.id)
    assert one.update("a", 0) is Outcome.BOOKED
    assert two.update("a", 1) is Outcome.BOOKED
    assert one.update(here, 0) is two.update(there, 1) is Outcome.REPEATED
    one.close(), two.close()
    told = {e.play: e.payload["reward"] for e in store.entries("default") if "reward" in e.payload}
    assert sorted(told.values()) == [0, 10**9]
    assert told["a"] == 10**9
    proved(store)


def test_an_id_that_is_the_very_name_of_another_play_is_refused_as_text(tmp_path):
    store = MemoryStore()
    one = opened(store, tmp_path)
    here = one.select(id="a")
    plain = Live(None, store).select(id="a")
    with pytest.raises(PlayConflict, match=here.id):
        one.update("a", 1)
    assert one.update(plain, 1) is Outcome.BOOKED
    assert one.update(here.id, 0) is Outcome.BOOKED
