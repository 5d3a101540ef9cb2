from decimal import Decimal

import pytest

from learners import Counter
from surefoot import UCB1, GenCB, RewardFloor
from surefoot.errors import InvalidInput, PlayConflict
from surefoot.live import MemoryStore
from surefoot.live.live import Live
from surefoot.live.store import Tx


def live_with(policy=None, reserve=1, store=None, **options):
    agent = GenCB(policy or UCB1(2), RewardFloor(0.5, 0.25, reserve=reserve), seed=0, **options)
    return Live(agent, store or MemoryStore())


def test_the_store_has_the_last_word(monkeypatch):
    """Should the guarded entry be refused, the default is played and the policy's turn undone."""
    live, append = live_with(), Tx.append

    def refuse(self, kind, **about):
        return None if kind == "decision.held" else append(self, kind, **about)

    monkeypatch.setattr(Tx, "append", refuse)
    play = live.select()
    assert (play.arm, play.reason) == (None, "SLACK_SHORT")
    monkeypatch.undo()
    assert live.select().play.turn == 1
    assert live.degraded is None


def test_a_policy_that_breaks_decides_nothing_and_loses_no_turn():
    class Breaking(Counter):
        broken = True

        def select(self, context, rng):
            super().select(context, rng)
            if self.broken:
                raise RuntimeError("broken")
            return 1

    live = live_with(Breaking(2))
    with pytest.raises(RuntimeError, match="broken"):
        live.select(id="first")
    assert live._engine.fold.lost
    assert live.account.plays == 0
    Breaking.broken = False
    play = live.select(id="first")
    assert (play.arm, play.play.turn) == (1, 1)
    assert live._engine.fold.agent.policy.turn == 1


@pytest.mark.parametrize(
    "request_",
    [
        {"allowed": [7]},
        {"allowed": "01"},
        {"allowed": 3},
        {"context": object()},
        {"default": "x"},
        {"default": 2},
        {"default": (0.2, 0.1)},
    ],
)
def test_a_bad_request_leaves_no_entry_and_no_trace_in_the_fold(request_):
    store = MemoryStore()
    live = live_with(store=store)
    before = store.account("default")
    with pytest.raises(InvalidInput):
        live.select(**request_)
    assert store.account("default") == before
    assert not live._engine.fold.lost


def test_a_default_that_won_a_turn_moves_the_clock_after_a_restart_too():
    store = MemoryStore()
    live = live_with(reserve=5, store=store)
    for _ in range(400):
        play = live.select()
        live.update(play, None if play.is_default else 0.0)
        if play.reason == "DEFAULT_BEST":
            break
    assert play.reason == "DEFAULT_BEST"
    again = Live(None, store)
    assert again._engine.fold.agent.policy.state() == live._engine.fold.agent.policy.state()
    assert again._engine.fold.agent.turns == live._engine.fold.agent.turns


def test_an_id_is_one_for_the_whole_account():
    store = MemoryStore()
    floor = RewardFloor(0.5, 0.25, reserve=1)
    left = Live(GenCB(UCB1(2), floor), store, "left", account="firm")
    right = Live(GenCB(UCB1(2), RewardFloor(0.5, 0.25)), store, "right", account="firm")
    left.select(id="one")
    with pytest.raises(PlayConflict, match=r"by experiment 'left'; .* 'right-one'"):
        right.select(id="one")


def test_shadow_mode_plays_the_default_and_writes_down_what_the_policy_would_do():
    store = MemoryStore()
    agent = GenCB(UCB1(3), RewardFloor(0.5, 0.1, reserve=2))
    live = Live(agent, store, shadow=True)
    plays = [live.select() for _ in range(5)]
    assert all(play.is_default for play in plays)
    assert {play.reason for play in plays} == {"SHADOW"}
    assert plays[0].shadow == 0
    assert "only watches" in live.explain(plays[0])
    assert live.account.held == 0
    live.update(plays[0])
    assert live.account.slack == Decimal("2.05")
    again = Live(None, store)
    assert (again.degraded, again.account) == (None, live.account)
    assert again._engine.fold.agent.policy.state() == live._engine.fold.agent.policy.state()
    assert again.select().play.choice == live.select().play.choice
