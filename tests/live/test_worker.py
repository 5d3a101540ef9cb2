"""A worker under a lease answers at once, and its ledger says the same later."""

import random
import threading
from decimal import Decimal

import pytest

from learners import Counter, Softmax
from leased import agent, kinds, opened
from surefoot import C2UCB, GenCB, Outcome, RewardFloor, TopK
from surefoot.errors import InvalidInput, PlayConflict, StoreUnavailable, UnknownPlay
from surefoot.live import Lease, MemoryStore, open_store, worker
from surefoot.live.live import Live
from surefoot.testing._fault_store import Faulty
from verifying import proved


class Clock:
    def __init__(self):
        self.time = 10**15

    def __call__(self):
        return self.time


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
    assert later.seq is not None


def test_an_id_gets_one_play_before_and_after_the_flush(tmp_path):
    store = MemoryStore()
    live = opened(store, tmp_path)
    play = live.select(id="mine", context="here")
    assert live.select(id="mine", context="here") == play == live.play("mine")
    with pytest.raises(PlayConflict):
        live.select(id="mine")
    with pytest.raises(PlayConflict, match=play.id):
        live.update("mine", 0.5)
    live.flush()
    assert live.select(id="mine", context="here") == play
    with pytest.raises(PlayConflict, match=play.id):
        live.update("mine", 0.5)
    live.update(play.id, 0.5)
    live.flush()
    assert live.select(id="mine", context="here") == play
    other = opened(store, tmp_path)
    assert other.select(id="mine", context="here") == play
    assert kinds(store).count("decision.held") == 1


def test_an_id_asked_of_two_workers_at_once_is_two_plays(tmp_path):
    store = MemoryStore()
    one, two = opened(store, tmp_path), opened(store, tmp_path)
    one.select(), two.select()
    one.flush(), two.flush()
    here, there = one.select(id="mine"), two.select(id="mine")
    assert here.lease != there.lease
    one.flush(), two.flush()
    assert one.play("mine") == here
    assert two.select(id="mine") == there
    assert two.play(there.id) == there
    two.update(here, 1)  # either worker may be told of either
    one.update(there.id, 0)
    one.flush(), two.flush()
    assert two.account.pending == 2  # the two of the first line
    assert two.account.earned == 1
    one.close(), two.close()
    assert proved(store)["open"] == 2


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


def test_a_play_of_another_worker_is_reported_through_the_journal(tmp_path):
    store = Faulty(MemoryStore())
    one, two = opened(store, tmp_path), opened(store, tmp_path)
    plays = [one.select() for _ in range(5)]
    with pytest.raises(UnknownPlay, match="next flush"):
        two.update(plays[0], 1)
    one.flush()
    two.select()
    before = store.commits
    for play in plays:
        assert two.update(play, 1) is Outcome.BOOKED
        assert two.update(play, 1) is Outcome.REPEATED
    assert store.commits == before
    two.flush()
    assert one.account.earned == 5


def test_the_second_of_two_reports_that_contradict_is_kept_and_not_booked(tmp_path):
    store = MemoryStore()
    one, two = opened(store, tmp_path), opened(store, tmp_path)
    play = one.select()
    one.flush()
    two.select()
    assert one.update(play, 1) is two.update(play, 0) is Outcome.BOOKED
    one.close(), two.close()
    assert proved(store)["posted"] == 550_000_000
    [refused] = [e for e in store.entries("default") if e.kind == "assumption.broken"]
    assert refused.payload["told"] == "0"
    assert "contradicts" in refused.payload["why"]


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


def test_a_lease_takes_a_part_of_what_is_available(tmp_path):
    store = MemoryStore()
    lives = [opened(store, tmp_path, plays=1000) for _ in range(3)]
    for live in lives:
        live.select()
    amounts = [e.payload["amount"] for e in store.entries("default") if e.kind == "lease.granted"]
    assert amounts == [25_000_000_000, 18_750_000_000, 14_062_500_000]


def test_workers_spend_what_the_account_affords_and_no_more(tmp_path):
    """Nothing is reported, so 100 / 0.45 = 222 explorations are all there can be."""
    store = MemoryStore()
    lives = [opened(store, tmp_path, plays=7) for _ in range(3)]
    plays = [random.Random(1).choice(lives).select() for _ in range(600)]
    assert sum(not play.is_default for play in plays) <= 222
    for live in lives:
        live.close()
    with Live(None, store) as last:
        while not last.select().is_default:
            pass
        assert last.account.explorations == 222
    proved(store)


def test_a_killed_worker_loses_nothing(tmp_path):
    store = MemoryStore()
    live = opened(store, tmp_path)
    plays = [live.select(id=f"v-{n}") for n in range(5)]
    live.update(plays[0], 1)
    live._worker.abandon()
    again = opened(store, tmp_path)
    assert [again.select(id=f"v-{n}") for n in range(5)] == plays
    assert again.update(plays[0], 1) is Outcome.REPEATED
    again.close()
    report = proved(store)
    assert (report["open"], report["held"]) == (4, 4 * 450_000_000)
    assert "lease.forfeited" not in kinds(store)


def test_a_power_cut_costs_the_lease(tmp_path):
    store = MemoryStore()
    live = opened(store, tmp_path)
    plays = [live.select(id=f"v-{n}") for n in range(5)]
    live._worker.abandon()
    [journal] = tmp_path.glob("*.journal")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:3]))
    again = opened(store, tmp_path, boot="c")
    assert again.play("v-1") == plays[1]
    again.close()
    report = proved(store)
    # Three plays were made that no ledger shows: what they may lose is booked as lost.
    assert (report["open"], report["posted"]) == (2, -8 * 450_000_000)


def test_a_worker_that_wakes_up_after_its_lease_was_forfeited_is_safe(tmp_path):
    clock = Clock()
    store = MemoryStore(clock)
    live, other = opened(store, tmp_path), Live(None, store)
    before = live.select()
    clock.time += 61 * 10**6
    other.reap()
    assert kinds(store)[-1] == "lease.forfeited"
    assert store.account("default").posted == -10 * 450_000_000
    after = live.select()
    assert after.lease == before.lease
    live.update(before, 1)
    live.flush()
    assert other.account.pending == 1
    live.close()
    assert proved(store)["posted"] == 550_000_000 - 8 * 450_000_000


def test_reap_takes_over_what_a_dead_worker_left(tmp_path):
    store = MemoryStore()
    dead, live = opened(store, tmp_path), opened(store, tmp_path)
    play = dead.select()
    dead._worker.abandon()
    live.reap()
    assert live.play(play.id) == play
    assert len(list(tmp_path.glob("*.journal"))) == 1


@pytest.mark.parametrize("kept", [False, True])
def test_a_flush_that_fails_is_tried_again_and_books_nothing_twice(tmp_path, kept):
    store = Faulty(MemoryStore())
    live = opened(store, tmp_path, plays=100)
    plays = [live.select(id=f"v-{n}") for n in range(3)]
    live.update(plays[0], 1)
    store.break_at(1, kept)
    with pytest.raises(StoreUnavailable):
        live.flush()
    later = live.select(id="v-3")
    assert later.lease != plays[0].lease  # that one may be closed
    live.close()
    report = proved(store)
    assert (report["explorations"], report["open"]) == (4, 3)
    assert (report["posted"], report["held"]) == (550_000_000, 3 * 450_000_000)


@pytest.mark.parametrize("kept", [False, True])
def test_a_journal_that_was_entered_and_not_deleted_is_entered_once(tmp_path, kept):
    store = Faulty(MemoryStore())
    live = opened(store, tmp_path)
    play = live.select()
    live.update(play, 1)
    live._worker.abandon()
    store.break_at(2, kept)  # the first is the opening's
    with pytest.raises(StoreUnavailable):
        opened(store, tmp_path)
    with opened(store, tmp_path) as again:
        assert again.account.explorations == 1
    assert proved(store)["posted"] == 550_000_000


def test_what_was_decided_long_ago_is_entered_by_the_next_call(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(worker, "monotonic", lambda: now[0])
    store = MemoryStore()
    live = opened(store, tmp_path)
    live.select(id="a")
    now[0] = 31.0
    assert store.play("default", "a") is None
    live.select(id="b")
    assert store.play("default", "a") is not None


def test_reward_windows_count_from_the_decision(tmp_path, monkeypatch):
    now, clock = [0.0], Clock()
    monkeypatch.setattr(worker, "monotonic", lambda: now[0])
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


def test_experiments_on_one_account_have_leases_of_their_own(tmp_path):
    store = MemoryStore()
    one = opened(store, tmp_path, name="one", account="all")
    two = opened(store, tmp_path, agent(reserve=0), name="two", account="all")
    for live in (one, two) * 20:
        live.update(live.select(), 0.5)
    one._worker.abandon()
    two.reap()  # another experiment's journal is not for it
    assert len(list(tmp_path.glob("*.journal"))) == 2
    two.close()
    opened(store, tmp_path, name="one", account="all").close()
    assert proved(store, "all")["explorations"] == 40


def test_two_workers_do_not_draw_the_same(tmp_path):
    store = MemoryStore()
    floor = agent().floor
    lives = [opened(store, tmp_path, GenCB(Softmax(9, 1), floor, seed=1)) for _ in range(2)]
    arms = [[live.select([1.0]).arm for _ in range(8)] for live in lives]
    assert arms[0] != arms[1]


def test_threads_share_a_worker(tmp_path):
    with open_store(tmp_path / "ledger.db") as store:
        live = opened(store, tmp_path / "journals")

        def run():
            for _ in range(40):
                live.update(live.select(), 0.5)

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        live.close()
        assert proved(store)["explorations"] == 160


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
    policies = [live._fold.agent.policy.state() for live in lives]
    assert policies[0] == policies[1]


def test_a_live_takes_a_lease_and_nothing_else():
    with pytest.raises(InvalidInput, match="lease"):
        Live(agent(), MemoryStore(), lease="folder")


def test_a_worker_forgets_plays_that_others_have_closed(tmp_path):
    store = MemoryStore()
    live, other = opened(store, tmp_path), Live(None, store)
    plays = [live.select() for _ in range(10)]
    live.flush()
    for play in plays:
        other.update(play.id, 1)
    live.select()
    live.flush()
    assert len(live._worker._own) == 1


def test_an_idle_worker_gives_back_a_lease_that_is_old(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(worker, "monotonic", lambda: now[0])
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


def test_a_store_that_is_gone_at_the_end_leaves_the_journal_for_the_next(tmp_path):
    store = Faulty(MemoryStore())
    live = opened(store, tmp_path)
    play = live.select(id="mine")
    store.break_at(1, kept=False)
    with pytest.raises(StoreUnavailable):
        live.close()
    assert opened(store, tmp_path).select(id="mine") == play


def test_a_closed_agent_says_so(tmp_path):
    live = opened(MemoryStore(), tmp_path)
    play = live.select()
    live.close()
    with pytest.raises(InvalidInput, match="closed"):
        live.select(), live.select()
    with pytest.raises(InvalidInput, match="closed"):
        live.update(play, 1), live.update(play, 1)


def test_a_reward_is_never_credited_to_the_other_play_of_its_id(tmp_path):
    """One worker explores, the other plays the default: had that been credited, too much were."""
    store = MemoryStore()
    one = opened(store, tmp_path)
    here = one.select(id="mine")
    two = Live(None, store)
    two.pause()
    there = two.select(id="mine")
    assert (here.is_default, there.is_default) == (False, True)
    for live in (one, two):
        with pytest.raises((PlayConflict, UnknownPlay)):
            live.update(here.id.replace(here.lease, "other-1"), 0)
    one.update(here, 0)
    one.close()
    assert proved(store)["posted"] == -450_000_000


def test_a_name_that_the_ledger_made_is_not_given_out_again(tmp_path):
    store = MemoryStore()
    live = opened(store, tmp_path)
    play = live.select()
    live.flush()
    for taken in (play.id, "p-7"):
        for one in (live, Live(None, store)):
            with pytest.raises((InvalidInput, PlayConflict), match=taken):
                one.select(id=taken)


def test_a_policy_that_fails_at_its_second_asking_loses_no_play(tmp_path):
    class Moody(Counter):
        """Cannot choose once it has learned anything."""

        def select(self, context, rng):
            if self.learnt:
                raise RuntimeError("no")
            return super().select(context, rng)

    store = MemoryStore()
    one, two = (opened(store, tmp_path, GenCB(Moody(3), agent().floor)) for _ in range(2))
    first, second = one.select(), two.select()
    one.update(first, 1)
    one.close()
    two.update(second, 1)
    two.close()
    assert proved(store)["explorations"] == 2
    assert kinds(store).count("outcome.settled") == 2


def test_a_change_whose_commit_failed_governs_no_lease(tmp_path):
    store = Faulty(MemoryStore())
    live = opened(store, tmp_path)
    store.break_at(1, kept=False)
    with pytest.raises(StoreUnavailable):
        live.change(default=0.1)
    play = live.select()
    assert (play.play.terms.floor, play.is_default) == (450_000_000, False)
    live.close()
    proved(store.inner)


def test_a_report_of_another_workers_twin_is_booked(tmp_path):
    store = MemoryStore()
    one, two = opened(store, tmp_path), opened(store, tmp_path)
    one.select(), two.select()
    here, there = one.select(id="a"), two.select(id="a")
    two.flush()
    one.flush()
    one.select()
    assert one.update(there, 1) is Outcome.BOOKED
    one.flush()
    assert one.update(here, 1) is Outcome.BOOKED
    one.close(), two.close()
    assert "assumption.broken" not in kinds(store)
    assert kinds(store).count("outcome.settled") == 2


def test_a_play_that_has_its_bare_id_in_the_ledger_can_be_reported(tmp_path):
    store = MemoryStore()
    one = opened(store, tmp_path)
    one.select(id="a")
    plain = Live(None, store).select(id="a")
    assert plain.id == "a"
    assert one.update(plain, 1) is Outcome.BOOKED
    one.close()
    assert proved(store)["open"] == 1
