"""An agent whose floor changes goes on as its books say, saved and loaded in between, too."""

import re
from decimal import Decimal

import pytest

import surefoot as sf
from learners import Least
from surefoot import (
    MVUCB,
    UCB1,
    ConUCB,
    GenCB,
    MeanVarianceFloor,
    Plain,
    RewardFloor,
    load,
)
from surefoot.errors import InvalidInput, PlayConflict
from surefoot.floors import Outcome


def agent(**settings):
    floor = RewardFloor(**{"default": 0.5, "alpha": 0.5, "reserve": 1, **settings})
    return GenCB(UCB1(2), floor, seed=1, default_competes=False)


class Meddler(Least):
    """A policy that changes its agent while it chooses."""

    n_arms = 1

    def select(self, context, rng):
        self.meddle()
        return 0


def test_the_next_play_is_decided_under_the_changed_floor():
    ours = agent()
    before = ours.select()
    ours.change(default=0.8, alpha=0.25)
    after = ours.select()
    assert (before.terms.floor, after.terms.floor) == (250_000_000, 600_000_000)
    assert ours.floor == RewardFloor(0.8, 0.25, reserve=1)
    ours.update(before, 1)
    ours.update(after, 0)
    assert ours.account.required == Decimal("0.85")
    assert ours.account.slack == Decimal("1.15")


def test_changes_are_saved_with_the_plays_of_before(tmp_path):
    ours = agent()
    plays = [ours.select()]
    ours.change(default=(0.2, 0.8), alpha=0.4)
    plays += [ours.select(), ours.select()]
    ours.add_reserve(3)
    ours.change(against="fixed", target=0.3, checkpoint=None)
    plays.append(ours.select())
    ours.withdraw_reserve(0.5)
    ours.save(tmp_path / "agent.json")
    again = load(tmp_path / "agent.json")
    assert again.floor == ours.floor
    for each in (ours, again):
        for play in plays:
            each.update(play.id, None if play.is_default else 0.5)
    assert again.account == ours.account
    assert again.account.reserve == Decimal("3.5")
    assert again.select() == ours.select()


def test_a_draw_of_the_default_may_follow_its_report_and_a_fall_back():
    ours = agent(default=(0.4, 0.6))
    first = ours.select()
    ours.fall_back(first)
    assert ours.account.slack == Decimal("1.2")
    assert ours.update(first, 0.6) is Outcome.BOOKED
    assert ours.account.slack == Decimal("1.3")
    ours.pause()
    second = ours.select()
    assert [ours.update(second), ours.update(second, 0.5)] == [Outcome.BOOKED] * 2
    with pytest.raises(PlayConflict, match=r"reward 0\.4"):
        ours.update(second, 0.4)
    assert ours.account.slack == Decimal("1.55")


def test_a_checkpointed_agent_explores_ahead_of_its_defaults():
    ours = agent(reserve=0, checkpoint=2)  # a hold is .25, a default brings .25
    play = ours.select()
    assert not play.is_default
    assert ours.account.slack == Decimal("-0.25")
    assert ours.select().is_default


REFUSED = [
    ({"places": 3}, "places = 3 cannot change"),
    ({"reserve": 3}, "a reserve is added or withdrawn"),
    ({"alpha": 2}, "alpha = 2 must lie"),
    ({"reward_range": (0, 2)}, "UCB1 has learned on the scale (0, 1)"),
    ({"reward_range": 3}, "reward_range = 3 must be a pair"),
]


@pytest.mark.parametrize(("settings", "message"), REFUSED)
def test_what_cannot_change_leaves_the_agent_as_it_was(settings, message):
    ours = agent()
    floor = ours.floor
    with pytest.raises(InvalidInput, match=re.escape(message)):
        ours.change(**settings)
    assert ours.floor is floor


def test_the_same_range_in_other_words_is_no_change_of_scale():
    ours = agent()
    ours.change(reward_range=(0.0, 1.0), alpha=0.3)
    assert ours.floor.alpha == Decimal("0.3")


CHANGES = {
    "change": lambda ours: ours.change(alpha=0.3),
    "add": lambda ours: ours.add_reserve(1),
    "withdraw": lambda ours: ours.withdraw_reserve(1),
}
WITHOUT_MEANING = {
    "ConUCB keeps no account": lambda: ConUCB(2, default=0.5),
    "Plain keeps no account": lambda: Plain(UCB1(2)),
    "mean": lambda: GenCB(MVUCB(2, rho=1), MeanVarianceFloor(0.5, 0.1, 1)),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("message", WITHOUT_MEANING)
def test_where_a_change_has_no_meaning_it_is_refused(message, change):
    ours = WITHOUT_MEANING[message]()
    floor = ours.floor
    with pytest.raises(InvalidInput, match=message):
        CHANGES[change](ours)
    assert ours.floor is floor


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_changes_while_the_policy_chooses(change):
    policy = Meddler()
    ours = GenCB(policy, RewardFloor(0.5, 0.5, reserve=5))
    policy.meddle = lambda: CHANGES[change](ours)
    with pytest.raises(PlayConflict, match="policy is choosing"):
        ours.select()
    assert ours.account.plays == 0


@pytest.mark.parametrize("paid", [0.1, 0.9])
def test_a_draw_of_the_default_outside_its_interval_is_warned_of_as_such(paid):
    agent = sf.GenCB(sf.UCB1(2), sf.RewardFloor((0.4, 0.6), 0.1))
    play = agent.select()
    with pytest.warns(sf.errors.RewardOutOfRange, match="of the default at play 0 is outside the"):
        agent.update(play, reward=paid)
