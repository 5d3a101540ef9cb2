"""A live agent plays on after a fault of its policy; the ledger tells it, and replays agree."""

import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learners import Hostile
from leased import opened
from surefoot import UCB1, GenCB, Live, RewardFloor
from surefoot.errors import InvalidInput
from surefoot.live import LivePlay, MemoryStore
from surefoot.live.fold import Fold
from surefoot.live.standings import Standings
from verifying import proved

FLOOR = RewardFloor(default=0.5, alpha=0.2, reserve=5)


class Moody:
    """Draws its arm; fails at each third turn, after a draw, and cannot learn a reward of 0."""

    n_arms, contextual = 3, False

    def __init__(self):
        self.turns = 0

    def best(self, context, rng, allowed=None):
        arm = int(rng.choice(range(3) if allowed is None else allowed))
        if self.turns % 3 == 2:
            self.turns += 1  # else it would fail for ever
            raise RuntimeError("every third turn")
        self.turns += 1
        return arm, 1.0

    def select(self, context, rng):
        return self.best(context, rng)[0]

    def update(self, arm, reward, context):
        if reward == 0:
            raise ZeroDivisionError("nothing to learn from")

    def state(self):
        return {"turns": self.turns}

    def restore(self, state):
        self.turns = state["turns"]


class Mended(Moody):
    """Failed by chance only: asked again it would not."""

    def best(self, context, rng, allowed=None):
        return int(rng.choice(range(3) if allowed is None else allowed)), 1.0


Mended.__name__ = "Moody"


def agent(policy=Moody, on_fault="default"):
    return GenCB(policy(), FLOOR, seed=0, on_fault=on_fault)


def played(live, turns=12):
    plays = []
    for turn in range(turns):
        play = live.select()
        plays.append(play)
        live.update(play, *([] if play.is_default else [turn % 2]))
    return plays


@pytest.fixture
def store():
    return MemoryStore()


def test_a_fault_is_told_by_play_ledger_status_and_verifier(store):
    live = Live(agent(), store)
    plays = played(live)
    faults = [play for play in plays if play.reason == "POLICY_FAULT"]
    assert [play.play.turn for play in faults] == [3, 6, 9, 12]
    assert faults[0].play.fault == "RuntimeError: every third turn"
    assert faults[0].explain() == live.explain(faults[0])
    assert "because the policy failed (RuntimeError: every third turn)" in faults[0].explain()
    assert LivePlay.from_json(faults[0].to_json()) == faults[0]
    told = [e.payload["fault"] for e in store.entries("default") if "fault" in e.payload]
    assert told == ["RuntimeError: every third turn"] * 4
    standings = Standings()
    for entry in store.entries("default"):
        standings.take(entry)
    assert standings.of["default"]["faults"] == 4
    report = proved(store)
    assert (report["violations"], report["decisions"]) == (0, 12)


def test_a_form_with_a_fault_that_its_reason_does_not_have_is_refused(store):
    live = Live(agent(), store)
    form = next(p for p in played(live) if p.reason == "POLICY_FAULT").to_json()
    with pytest.raises(InvalidInput, match="play has the key 'fault'"):
        LivePlay.from_json({**form, "reason": "SLACK_SHORT"})
    bare = {**form, "play": {k: v for k, v in form["play"].items() if k != "fault"}}
    with pytest.raises(InvalidInput, match="play lacks the key 'fault'"):
        LivePlay.from_json(bare)


def test_the_ledger_folds_to_the_agent_that_wrote_it(store):
    live = Live(agent(), store)
    played(live)
    fold = Fold("default", Mended())
    for entry in store.entries("default"):
        fold.apply(entry)
    ours = live._engine.fold
    learned = sum(e.payload.get("reward") == 0 for e in store.entries("default"))
    assert fold.agent.faults == ours.agent.faults == 4 + learned
    assert fold.agent.turns == ours.agent.turns == 12
    # A turn that failed has taken no random numbers, even if it does not fail again.
    assert fold.agent.rng.bit_generator.state == ours.agent.rng.bit_generator.state
    again = Fold("default", Moody())
    again.restore(ours.state())
    assert again.state() == ours.state()


def test_it_goes_on_where_it_stopped(store):
    live = Live(agent(), store)
    played(live, 5)
    faults = live._engine.fold.agent.faults
    live.close()
    again = Live(agent(), store)
    assert again._engine.fold.agent.on_fault == "default"
    assert again._engine.fold.agent.faults == faults > 1
    assert again.select().reason == "POLICY_FAULT"  # the policy's sixth turn
    with pytest.raises(InvalidInput, match="on_fault = 'raise' differs from 'default'"):
        Live(agent(on_fault="raise"), store)


def test_a_reward_that_cannot_be_learned_is_raised_only_where_faults_are(store):
    live, strict = Live(agent(), store), Live(agent(on_fault="raise"), MemoryStore())
    live.update(live.select(), 0)
    play = strict.select()
    with pytest.raises(ZeroDivisionError):
        strict.update(play, 0)
    assert live.account.pending == strict.account.pending == 0


def test_under_a_lease(tmp_path, store):
    live = opened(store, tmp_path, agent())
    plays = played(live)
    assert [play.play.turn for play in plays if play.reason == "POLICY_FAULT"] == [3, 6, 9, 12]
    live.close()
    assert proved(store)["decisions"] == 12
    fold = Fold("default", Moody())
    for entry in store.entries("default"):
        fold.apply(entry)
    assert (fold.agent.turns, fold.agent.on_fault) == (12, "default")


def test_arms_are_added_to_an_agent_that_plays_on(store):
    live = Live(GenCB(UCB1(arms=["red", "blue"]), FLOOR, on_fault="default"), store)
    live.add_arms(["green"])
    assert live._engine.fold.agent.on_fault == "default"
    live.close()
    assert Live(None, store)._engine.fold.agent.on_fault == "default"


def test_a_state_that_cannot_be_told_costs_a_snapshot_only(store):
    class Secretive(Moody):
        def state(self):
            if self.turns:
                raise OSError("the disk of the policy is gone")
            return super().state()

    live = Live(GenCB(Secretive(), FLOOR, seed=0, on_fault="default"), store)
    played(live)
    live.close()
    assert proved(store)["decisions"] == 12


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), scores=st.booleans(), leased=st.booleans())
def test_a_hostile_policy_breaks_neither_the_ledger_nor_its_agent(seed, scores, leased):
    store = MemoryStore()
    agent_ = GenCB(Hostile(seed, scores), FLOOR, seed=0, on_fault="default")
    with tempfile.TemporaryDirectory() as folder:
        live = opened(store, folder, agent_) if leased else Live(agent_, store)
        for turn in range(20):
            play = live.select([1.0, 2.0], allowed=[0, 2] if turn % 2 and scores else None)
            if turn % 5 == 1:
                live.void(play)
            elif turn % 5 == 2:
                live.expire(play)
            elif turn % 5 != 3:
                live.update(play, *([] if play.is_default else [0]))
        live.close()
    report = proved(store)
    assert (report["violations"], report["decisions"]) == (0, 20)
    fold = Fold("default", Hostile(seed + 1, scores))  # fails at other moments
    for entry in store.entries("default"):
        fold.apply(entry)
    ours = Live(GenCB(Hostile(seed, scores), FLOOR, on_fault="default"), store).account
    assert fold.books.explorations == ours.explorations
