from decimal import Decimal

import numpy as np
import pytest

from learners import Counter
from surefoot import UCB1, GenCB, LinUCB, RewardFloor
from surefoot.errors import InvalidInput, PlayConflict
from surefoot.live import MemoryStore
from surefoot.live.live import Live


def agent(policy=None):
    return GenCB(policy or UCB1(arms=["UA", "AA"]), RewardFloor(0.5, 0.25, reserve=1), seed=0)


@pytest.fixture
def lives():
    """Two workers of one experiment: what one changes the other obeys."""
    store = MemoryStore()
    return Live(agent(), store), Live(None, store)


def kinds(live):
    return [entry.kind for entry in live.store.entries("default")]


def test_pause_and_resume(lives):
    one, other = lives
    one.pause()
    one.pause()
    assert other.select().reason == "PAUSED"
    other.resume()
    assert one.select().reason == "SLACK_OK"
    assert kinds(one).count("experiment.state") == 2


def test_a_play_keeps_the_terms_it_was_decided_with(lives):
    one, other = lives
    before = one.select()
    other.change(alpha=0.5, default=0.4)
    after = one.select()
    assert (before.play.terms.floor, after.play.terms.floor) == (375_000_000, 200_000_000)
    one.update(before, 1)
    one.update(after, 1)
    assert other.account.required == Decimal("0.575")


@pytest.mark.parametrize(
    "settings",
    [{"alpha": 2}, {"default": -1}, {"places": 3}, {"checkpoint": 5}, {"reward_range": (0, 2)}],
)
def test_what_cannot_change_leaves_no_entry(lives, settings):
    one, other = lives
    before = kinds(one)
    with pytest.raises(InvalidInput):
        one.change(**settings)
    assert kinds(one) == before
    assert one.select().arm == "UA"
    assert other.account == one.account


def test_the_range_of_rewards_may_change_where_the_policy_does_not_scale_by_it():
    store = MemoryStore()
    live = Live(agent(LinUCB(arms=np.eye(2))), store)
    live.change(reward_range=(-1, 2))
    play = live.select()
    assert play.worst_case == Decimal(1) - Decimal("1.375") or play.is_default
    assert Live(None, store).account == live.account


def test_reserve_comes_and_goes(lives):
    one, other = lives
    one.add_reserve(0.5)
    assert other.account.reserve == Decimal("1.5")
    play = other.select()
    with pytest.raises(InvalidInput, match="the most is"):
        one.withdraw_reserve(1.2)  # .375 of 1.5 is held
    one.withdraw_reserve(1.125)
    assert other.account.slack == 0
    for bad in (0, -1, "1", float("nan")):
        with pytest.raises(InvalidInput):
            one.add_reserve(bad)
    other.update(play, 0)
    assert (one.account.reserve, one.account.slack) == (Decimal("0.375"), 0)


def test_reserve_can_be_added_when_a_breach_has_taken_the_account_below_zero(lives):
    one, _ = lives
    play = one.select()
    one.update(play, -10)
    one.add_reserve(1)
    assert one.account.slack < 0
    one.add_reserve(20)
    assert not one.select().is_default


def test_arms_come_and_go_while_plays_are_open(lives):
    one, other = lives
    first = one.select()
    other.add_arms(["DL"])
    other.remove_arms(["UA"])
    one.add_reserve(5)
    assert [one.select().arm for _ in range(2)] == ["AA", "DL"]  # unplayed, and the lowest first
    one.update(one.select(allowed=["AA", "UA"]), 0)
    assert other.select().arm == "DL"
    other.update(first, 1)  # what is reported of a removed arm is booked
    assert one.select(allowed=["UA"]).reason == "NO_ALLOWED_ARM"
    again = Live(None, one.store)
    assert again.account == one.account == other.account
    again.select()
    one.select()
    other.select()
    again._engine.run(again._engine.current)
    assert again._engine.fold.state() == other._engine.fold.state()


@pytest.mark.parametrize("arms", [[], "DL", [1.5], ["UA", 1.5]])
def test_arms_that_cannot_be_added_leave_no_entry(lives, arms):
    before = kinds(lives[0])
    with pytest.raises(InvalidInput):
        lives[0].add_arms(arms)
    assert kinds(lives[1]) == before
    assert lives[0].select().arm == "UA"


def test_arms_are_added_once_and_come_back_when_they_were_removed(lives):
    one, other = lives
    one.add_reserve(5)
    for live in (one, other, one):
        live.add_arms(["UA", "DL"])
    one.remove_arms(["UA", "AA"])
    assert {one.select().arm for _ in range(3)} == {"DL"}
    one.add_arms(["AA"])
    other.add_arms(["AA"])
    assert kinds(one).count("arms.added") == 2
    assert other.select(allowed=["UA", "AA"]).arm == "AA"
    again = Live(None, one.store)
    assert again.account == other.account
    assert again.select(allowed=["UA"]).reason == "NO_ALLOWED_ARM"


def test_the_code_that_opened_it_may_go_on_and_so_may_code_with_the_arms_of_today(lives):
    one, _ = lives
    one.add_arms(["DL", "WN"])
    one.remove_arms(["WN"])
    for arms in (["UA", "AA"], ["UA", "AA", "DL", "WN"], ["UA", "AA", "DL"]):
        assert Live(agent(UCB1(arms=arms)), one.store).account == one.account
    for arms in (["UA"], ["UA", "AA", "WN"]):
        with pytest.raises(InvalidInput, match=r"arms = .*change it with add_arms"):
            Live(agent(UCB1(arms=arms)), one.store)
    assert one.config["policy"]["arms"] == ["UA", "AA", "DL", "WN"]
    assert Live(one.config, MemoryStore()).select(allowed=["DL"]).arm == "DL"


def test_from_shadow_to_live_with_what_it_has_saved():
    store = MemoryStore()
    live = Live(agent(), store, shadow=True)
    for _ in range(4):
        live.update(live.select())
    before = live.account
    for each in (live, Live(None, store)):
        each.change(shadow=False)
    assert kinds(live).count("experiment.configured") == 1
    for each in (live, Live(agent(), store), Live(agent(), store, shadow=True)):
        play = each.select()
        assert (play.arm, play.reason) == ("UA", "SLACK_OK")
        each.void(play)
    assert live.account.slack == before.slack
    live.change(shadow=True, alpha=0.5)
    assert Live(None, store).select().reason == "SHADOW"


def test_a_window_holds_for_the_plays_after_it(lives):
    one, other = lives
    before = one.select()
    one.change(reward_window=60)
    after = other.select()
    assert (before.deadline, after.deadline is None) == (None, False)
    other.change(reward_window=None)
    one.add_reserve(1)
    assert one.select().deadline is None
    with pytest.raises(InvalidInput, match="reward_window = -1 must be seconds > 0"):
        one.change(reward_window=-1)
    with pytest.raises(InvalidInput, match="shadow = 1 must be True or False"):
        one.change(shadow=1)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"shadow": True}, "shadow = True differs from False"),
        ({"reward_window": 3600}, r"reward_window = 3600.0 differs from 60.0, .*change\(\)"),
    ],
)
def test_what_an_open_experiment_is_not_is_refused(asked, words):
    store = MemoryStore()
    config = Live(agent(), store, reward_window=60).config
    Live(None, store, reward_window=60)
    for given in (None, agent(), config):
        with pytest.raises(InvalidInput, match=words):
            Live(given, store if given is not config else MemoryStore(), **asked)


def test_an_arm_that_is_not_there_cannot_be_removed(lives):
    with pytest.raises(InvalidInput, match="not one of this agent's"):
        lives[0].remove_arms(["XX"])


def test_a_change_of_the_reserve_that_is_repeated_is_made_once(lives):
    one, other = lives
    before = one.account.reserve
    for live in (one, other, Live(None, one.store)):
        live.add_reserve(0.5, id="may")
    one.withdraw_reserve(0.25, id="june")
    assert other.account.reserve == before + Decimal("0.25")
    one.close()
    again = Live(None, other.store)
    for amount, change in ((0.5, again.withdraw_reserve), (0.75, again.add_reserve)):
        with pytest.raises(PlayConflict, match="may"):
            change(amount, id="may")
    again.withdraw_reserve(0.25, id="june")
    assert again.account.reserve == before + Decimal("0.25")


def test_arms_are_removed_once(lives):
    one, other = lives
    one.remove_arms(["UA"])
    before = kinds(one)
    other.remove_arms(["UA"])
    assert kinds(one) == before
    other.remove_arms(["UA", "AA"])
    assert other.select().reason == "NO_ALLOWED_ARM"


def test_no_arm_is_removed_from_a_policy_that_cannot_be_asked_without_it():
    live = Live(agent(Counter(2)), MemoryStore())
    with pytest.raises(InvalidInput, match=r"Counter, which has no best"):
        live.remove_arms([0])
    assert live.select().arm == 0


@pytest.mark.parametrize(
    ("arms", "message"),
    [("UA", "arms = 'UA' is one string; give a list"),
     (["XX"], "arm 'XX' is not one of this agent's")],
    ids=["string", "unknown"],
)  # fmt: skip
def test_what_cannot_be_removed_is_named_as_arms(arms, message):
    live = Live(GenCB(UCB1(arms=["UA", "AA"]), RewardFloor(0.5, 0.5)), MemoryStore())
    with pytest.raises(InvalidInput, match=message) as error:
        live.remove_arms(arms)
    assert "allowed" not in str(error.value)


@pytest.mark.parametrize("call", ["add_arms", "remove_arms"])
@pytest.mark.parametrize("arms", [1, None, 0.5])
def test_arms_that_are_no_list_of_labels(lives, call, arms):
    with pytest.raises(InvalidInput, match=r"arms = .* must be a list of labels"):
        getattr(lives[0], call)(arms)
    assert kinds(lives[0]).count("experiment.opened") == len(kinds(lives[0])) - 1


def test_a_setting_that_is_none_is_told_of_all_there_are(lives):
    said = (
        r"foo = 1 cannot change while the experiment goes on: it takes default, alpha, "
        r"reward_range, against, target, margin, reward_window, shadow, learn_missing, holdout; a "
        r"reserve is added"
    )
    with pytest.raises(InvalidInput, match=said):
        lives[0].change(foo=1)
