"""What becomes of a worker's plays when it, its host or its store fails."""

import copy
import shutil

import pytest

from learners import Counter
from leased import Clock, agent, kinds, opened
from surefoot import GenCB, Outcome
from surefoot.errors import DamagedFile, PlayConflict, StoreUnavailable
from surefoot.live import MemoryStore
from surefoot.live.live import Live
from surefoot_torture.faults.store import Faulty
from verifying import proved


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


def test_a_store_that_is_gone_at_the_end_leaves_the_journal_for_the_next(tmp_path):
    store = Faulty(MemoryStore())
    live = opened(store, tmp_path)
    play = live.select(id="mine")
    store.break_at(1, kept=False)
    with pytest.raises(StoreUnavailable):
        live.close()
    assert opened(store, tmp_path).select(id="mine") == play


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


def test_a_second_twin_of_one_name_is_refused_and_not_dropped(tmp_path, monkeypatch):
    monkeypatch.setattr("surefoot.live.ids.twin_id", lambda own, lease: f"{lease}-same")
    store = MemoryStore()
    one, two = opened(store, tmp_path), opened(store, tmp_path)
    for live in (one, two):  # before any lease
        live.select()
        live.flush()
    for play in ("a", "b"):
        assert [live.select(id=play).is_default for live in (one, two)] == [False, False]
    one.flush()
    with pytest.raises(PlayConflict, match="another play is called"):
        two.flush()
    assert store.account("default").held >= 6 * 450_000_000


def test_after_an_interrupt_a_store_that_fails_makes_no_play_unknown(tmp_path):
    store = Faulty(MemoryStore())
    live = opened(store, tmp_path)
    play = live.select(id="mine")
    live._worker._whole = False  # an interrupt struck
    store.break_at(1, kept=False)
    with pytest.raises(StoreUnavailable):
        live.update(play, 1)
    store.heal()
    assert live.update(play, 1) is Outcome.BOOKED
    live.close()
    assert proved(store)["open"] == 0


def test_an_entry_says_which_configuration_it_is_under(tmp_path):
    clock = Clock()
    store = MemoryStore(clock)
    left = opened(store, tmp_path, name="left", account="firm", window=5)
    right = opened(store, tmp_path, agent(0), name="right", account="firm")
    left.change(alpha=0.2)
    left.select()
    left.flush()
    clock.time += 10**9
    right.reap()
    versions = {
        (entry.kind, entry.config_version)
        for entry in store.entries("firm")
        if entry.experiment == "left" and entry.kind.startswith(("lease", "outcome"))
    }
    assert {kind for kind, _ in versions} >= {"lease.forfeited", "outcome.expired"}
    assert {version for _, version in versions} == {2}


def test_one_folder_for_the_journals_of_two_stores(tmp_path):
    clocks = [Clock(), Clock()]
    clocks[1].time += 1
    stores = [MemoryStore(clock) for clock in clocks]
    one = opened(stores[0], tmp_path)
    play = one.select(id="a")
    one.flush()
    one.update(play, 1)
    one._worker.abandon()
    opened(stores[1], tmp_path).close()  # it knows no such play, and leaves the journal alone
    again = opened(stores[0], tmp_path)
    assert again.update(play, 1) is Outcome.REPEATED
    again.close()
    assert [proved(store)["explorations"] for store in stores] == [1, 0]


def test_the_journal_of_a_ledger_that_was_put_back_is_named_and_kept(tmp_path):
    store = MemoryStore(Clock())
    live = opened(store, tmp_path)
    older = copy.deepcopy(store._accounts)
    live.select()
    live._worker.abandon()
    [journal] = tmp_path.glob("*.journal")
    store._accounts = older
    with pytest.raises(DamagedFile, match=rf"{journal.name}.*put back the ledger"):
        opened(store, tmp_path)
    assert journal.exists()


def test_a_folder_that_is_deleted_under_a_worker_loses_nothing_it_answered(tmp_path):
    store = MemoryStore()
    live = opened(store, tmp_path / "journals")
    play = live.select()
    shutil.rmtree(tmp_path / "journals")
    with pytest.raises(StoreUnavailable, match="was deleted"):
        live.update(play, 1)
    with pytest.raises(StoreUnavailable, match="was deleted"):
        live.select()
    live.close()
    again = opened(store, tmp_path / "journals")
    assert again.update(play, 1) is Outcome.BOOKED


def test_a_report_of_an_arm_that_came_after_the_lease_goes_to_the_ledger(tmp_path):
    store = MemoryStore()
    leased, other = opened(store, tmp_path), Live(None, store)
    leased.select()
    other.add_arms([7])
    play = other.select(id="new", allowed=[7])
    assert leased.update("new", 1) is Outcome.BOOKED
    assert other.update(play, 1) is Outcome.REPEATED
    leased.close()
    assert proved(store)["open"] == 1
