"""What a live policy counts as open: the plays that wait in its ledger, wherever it is read."""

import tempfile
from collections import Counter as Tally
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from learners import Waiting
from surefoot import GenCB, Outcome, RewardFloor
from surefoot._json_values import to_json
from surefoot.errors import PlayConflict
from surefoot.live import Lease, MemoryStore, leases
from surefoot.live.fold import Fold
from surefoot.live.live import Live

ARMS = 3
WINDOW = 60_000_000


def agent(reserve=100):
    return GenCB(Waiting(ARMS), RewardFloor(0.5, 0.5, reserve=reserve), 0, default_competes=False)


def counted(live):
    return live._engine.fold.agent.policy.open


def folded(store):
    fold = Fold("default", Waiting(ARMS))
    for entry in store.entries("default"):
        fold.apply(entry)
    return fold


class OpenCounts(RuleBasedStateMachine):
    """Two workers of one ledger, the one under leases, beside a dictionary of what waits."""

    def __init__(self):
        super().__init__()
        self.now = 0
        self.store = MemoryStore(clock=lambda: self.now)
        self.folder = tempfile.TemporaryDirectory()
        self.started, self.plays, self.waiting = 0, [], {}
        self.lives = [self.opened(False), self.opened(True)]

    def opened(self, leased):
        self.started += 1
        lease = Lease(Path(self.folder.name) / str(self.started), plays=6) if leased else None
        return Live(agent(), self.store, reward_window=WINDOW // 10**6, lease=lease)

    def teardown(self):
        self.folder.cleanup()

    @rule(who=st.integers(0, 1), n=st.integers(1, 3), fails=st.sampled_from([False, False, True]))
    def decide(self, who, n, fails):
        live = self.lives[who]
        fold = live._worker._local if who else live._engine.fold
        if fails and fold is not None:
            fold.agent.policy.fails.add("opened")
        try:
            given = live.select_many([{} for _ in range(n)])
        except RuntimeError:
            return
        self.plays += given
        self.waiting |= {play.id: play.index for play in given if not play.is_default}

    @rule(
        data=st.data(),
        who=st.integers(0, 1),
        how=st.sampled_from(["update", "update", "void", "fall_back", "expire"]),
    )
    @precondition(lambda self: self.plays)
    def report(self, data, who, how):
        play = data.draw(st.sampled_from(self.plays))
        for live in self.lives:
            live.flush()
        paid = {"reward": 1} if how == "update" and not play.is_default else {}
        try:
            outcome = getattr(self.lives[who], how)(play, **paid)
        except PlayConflict:
            return
        if outcome is Outcome.BOOKED:
            self.waiting.pop(play.id, None)

    @rule()
    def reap(self):
        for live in self.lives:
            live.flush()
        self.now += 100 * WINDOW
        while self.lives[0].reap():
            pass
        self.waiting.clear()

    @rule(who=st.integers(0, 1), closed=st.booleans())
    def start_again(self, who, closed):
        live = self.lives[who]
        live.flush()
        if closed:
            live.close()
        elif live._worker is not None:
            live._worker.abandon()
        self.lives[who] = self.opened(bool(who))

    @rule()
    def snapshot_and_back(self):
        fold = self.lives[0]._engine.fold
        for told in (True, False):
            state = fold.state()
            if not told:  # of a release whose policies heard of no open play
                del state["counts_open"]
                state["body"]["policy"]["state"] = to_json(Waiting(ARMS).state(), "state")
            again = Fold("default", Waiting(ARMS))
            again.restore(state)
            assert again.agent.policy.open == fold.agent.policy.open
            assert again.counted == fold.counted

    @invariant()
    def what_waits_is_what_every_policy_counts(self):
        for live in self.lives:
            live.flush()
        for live in self.lives:
            live._engine.run(live._engine.current)
        tally = Tally(self.waiting.values())
        expected = [tally[arm] for arm in range(ARMS)]
        fold = folded(self.store)
        assert fold.agent.policy.open == expected
        assert [counted(live) for live in self.lives] == [expected] * 2
        assert fold.state() == self.lives[0]._engine.fold.state()


def test_every_worker_counts_the_plays_that_wait():
    run_state_machine_as_test(
        OpenCounts, settings=settings(max_examples=20, stateful_step_count=15, deadline=None)
    )


def leased(store, folder, owner="w"):
    return Live(agent(), store, lease=Lease(folder, plays=50, owner=owner))


def local(live):
    return live._worker._local.agent.policy.open


def test_a_batch_is_of_as_many_arms_as_there_are(tmp_path):
    store = MemoryStore()
    for live in (Live(agent(), store), leased(store, tmp_path)):
        plays = live.select_many([{} for _ in range(6)])
        assert [play.arm for play in plays] == [0, 1, 2, 0, 1, 2]
        for play in plays:
            live.void(play)


def test_under_a_lease_the_copy_counts_what_the_ledger_does_and_its_own(tmp_path):
    store = MemoryStore()
    before = Live(agent(), store).select()
    live = leased(store, tmp_path)
    plays = live.select_many([{} for _ in range(4)])
    assert plays[0].lease is not None
    assert local(live) == [2, 2, 1]
    live.update(plays[0], 1)
    live.update(plays[0], 1)
    live.update(before.id, 1)
    assert local(live) == [1, 1, 1]
    elsewhere = leased(store, tmp_path / "b", "v")
    late = elsewhere.select()
    elsewhere.flush()
    live.update(late.id, 1)  # its copy never counted this one
    assert local(live) == [1, 1, 1]
    live.flush()
    assert counted(live) == local(live) == [1, 1, 1]


def test_a_reward_that_came_during_the_flush_closes_under_the_next_lease(tmp_path, monkeypatch):
    """Of a play whose id another worker had taken meanwhile, too."""
    store = MemoryStore()
    live, other = leased(store, tmp_path / "a"), leased(store, tmp_path / "b", "v")
    plays = [live.select(id="one"), live.select(id="two")]
    theirs = other.select(id="one")
    other.flush()
    entered = leases.give_back

    def reported_meanwhile(*args):
        monkeypatch.undo()
        entered(*args)  # the steps were taken, and what comes now is for the next flush
        for play in plays:
            live.update(play, 1)

    monkeypatch.setattr(leases, "give_back", reported_meanwhile)
    live.flush()
    twins = [name for name in live._engine.fold.waiting if name not in ("one", "two")]
    assert len(twins) == 1
    assert local(live) == [1, 0, 0]
    live.update(theirs.id, 1)
    assert local(live) == [0, 0, 0]
    live.flush()
    assert counted(live) == local(live) == [0, 0, 0]


def test_a_shadow_play_opens_nothing():
    live = Live(agent(), MemoryStore(), shadow=True)
    for play in live.select_many([{} for _ in range(3)]):
        live.update(play)
    assert (counted(live), live._engine.fold.agent.turns) == ([0, 0, 0], 3)


def test_a_decision_whose_opening_fails_is_not_made(tmp_path):
    store = MemoryStore()
    live, under_lease = Live(agent(), store), leased(store, tmp_path)
    under_lease.void(under_lease.select())
    for one, fold in ((live, live._engine.fold), (under_lease, under_lease._worker._local)):
        fold.agent.policy.fails.add("opened")
        name = f"visit-{one is live}"
        with pytest.raises(RuntimeError, match="no opened"):
            one.select(id=name)
        assert one.account.pending == 0
        play = one.select(id=name)
        assert play.arm == 0
        one.void(play)
    under_lease.flush()
    live._engine.run(live._engine.current)
    assert counted(live) == [0, 0, 0]


@pytest.mark.parametrize("missing", ["worst", "skip"])
def test_an_expiry_closes_whether_it_teaches_or_not(missing):
    live = Live(agent(), MemoryStore(), learn_missing=missing)
    play = live.select()
    live.expire(play)
    policy = live._engine.fold.agent.policy
    assert (policy.open[0], policy.told[0]) == (0, missing == "worst")
    live.update(play, 1)
    assert (policy.open[0], policy.told[0]) == (0, 1)


def test_one_that_cannot_learn_a_reward_waits_for_it_no_longer():
    store = MemoryStore()
    live = Live(agent(), store)
    play = live.select()
    live._engine.fold.agent.policy.fails.add("update")
    with pytest.raises(RuntimeError, match="no update"):
        live.update(play, 1)
    assert counted(live) == [0, 0, 0]


def test_a_snapshot_knows_which_plays_the_policy_failed_to_count():
    """Else it would be told that a play closed which it never heard of."""
    floor, store = RewardFloor(0.5, 0.5, reserve=100), MemoryStore()
    calm = GenCB(Waiting(ARMS), floor, 0, default_competes=False, on_fault="default")
    live = Live(calm, store)
    heard = live.select()
    fold = live._engine.fold
    fold.agent.policy.fails.add("opened")
    unheard = live.select()
    again = Fold("default", Waiting(ARMS))
    again.restore(fold.state())
    assert again.counted == fold.counted == {heard.id}
    assert again.state() == fold.state()
    for play in (unheard, heard):
        live.void(play)
    for entry in list(store.entries("default"))[again.seq :]:
        again.apply(entry)
    assert again.agent.policy.open == fold.agent.policy.open == [0, 0, 0]
