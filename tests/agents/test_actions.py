"""Points, super arms and rows of a context are played, named and reported like arms."""

import math
from decimal import Decimal

import numpy as np
import pytest

from learners import Counter, snapshot
from surefoot import GenCB, Plain, RewardFloor
from surefoot.errors import InvalidInput
from surefoot.oracles import TopK
from surefoot.policies import C2UCB, Ball, LinUCB, Ridge

FLOOR = RewardFloor(1, 0.5, (0, 3), reserve=9)
LABELS = ["a", "b", "c"]


class Pairs(Counter):
    """Plays super arms of two base arms in turn; a super arm is worth the larger of its parts."""

    numbered = False
    semi_bandit = True
    arms = LABELS
    answer = None

    def select(self, context, rng):
        self.turn += 1
        if self.answer is not None:
            return self.answer
        return [(0, 1), (0, 2), (1, 2)][self.turn % 3 - 1]

    def value(self, base_rewards):
        return max(base_rewards)


class Points(Counter):
    """Plays a point it is told to play."""

    numbered = False
    answer = (0.5, 0.25)

    def select(self, context, rng):
        return self.answer


def pairs():
    return GenCB(Pairs(3), FLOOR)


def points():
    policy = Points(1)
    policy.n_arms = None
    return GenCB(policy, FLOOR)


def refused(agent, message, call):
    before = snapshot(agent)
    with pytest.raises(InvalidInput, match=message) as refusal:
        call(agent)
    assert "\n" not in str(refusal.value)
    assert snapshot(agent) == before


def test_a_super_arm_is_named_by_its_labels():
    play = pairs().select()
    assert (play.arm, play.index, play.is_default) == (("a", "b"), 0, False)


def test_a_point_is_its_floats():
    agent = points()
    play = agent.select()
    assert (play.arm, play.index, play.choice.arm) == ((0.5, 0.25), 0, (0.5, 0.25))
    agent.update(play, 2)
    assert agent.policy.learnt == [((0.5, 0.25), 2.0, None)]


@pytest.mark.parametrize(
    "base_rewards",
    [
        [1, 0.5], (1, 0.5), np.array([1, 0.5]), iter([1, Decimal("0.5")]),
        {"b": 0.5, "a": 1}, {"a": np.float64(1), "b": 0.5},
    ],
)  # fmt: skip
def test_base_rewards_are_learnt_and_their_value_booked(base_rewards):
    agent = pairs()
    play = agent.select("context")
    agent.update(play, base_rewards=base_rewards)
    assert agent.policy.learnt == [((0, 1), (1.0, 0.5), "context")]
    assert agent.account.earned == 1


def test_a_reward_given_with_them_is_what_is_booked():
    agent = pairs()
    agent.update(agent.select(), 2.5, base_rewards=[1, 0.5])
    assert (agent.account.earned, agent.policy.learnt[0][1]) == (Decimal("2.5"), (1.0, 0.5))


def test_the_sum_is_exact():
    agent = Plain(C2UCB(np.eye(3), TopK(3)), RewardFloor(1, 0.5, (0, 3)))
    agent.update(agent.select(), base_rewards=[0.1, 0.2, 0.3])
    assert agent.account.earned == Decimal("0.6")


def test_a_repeat_books_nothing_and_a_contradiction_is_told():
    agent = pairs()
    play = agent.select()
    assert agent.update(play, base_rewards=[1, 0]) == "booked"
    assert agent.update(play.id, base_rewards={"a": 1, "b": 0}) == "repeated"
    assert len(agent.policy.learnt) == 1


@pytest.mark.parametrize(
    ("base_rewards", "message"),
    [
        (None, r"play 0 is the super arm \('a', 'b'\): report base_rewards="),
        ([1], r"base_rewards of play 0 = \[1\] must hold one reward for each base arm of"),
        ([1, 2, 3], "must hold one reward for each"),
        ({"a": 1}, "must hold one reward for each"),
        ({"a": 1, "c": 1}, "must hold one reward for each"),
        ({"a": 1, "x": 1}, "base arm 'x' is not one of this agent's 3 arms"),
        ({0: 1, 1: 1}, "base arm 0 is not one of"),
        ([1, math.nan], "base arm 'b' must be finite, got nan"),
        ([1, math.inf], "base arm 'b' must be finite"),
        ([1, "2"], "base arm 'b' must be a number"),
        ([None, 1], "base arm 'a' must be a number"),
        ([1, 1e60], "base arm 'b' = 1e\\+60 is beyond"),
        ("12", "must be a list in the order of play.arm, or a dict"),
        ({1, 2}, "must be a list"),
        (7, "must be a list"),
    ],
    ids=str,
)
def test_what_are_no_base_rewards_changes_nothing(base_rewards, message):
    agent = pairs()
    agent.select()
    refused(agent, message, lambda agent: agent.update(0, base_rewards=base_rewards))


def test_a_reward_alone_teaches_a_semi_bandit_nothing():
    agent = pairs()
    play = agent.select()
    refused(agent, "report base_rewards=", lambda agent: agent.update(play, 1))


def test_a_default_play_has_no_base_rewards():
    agent = pairs()
    agent.pause()
    play = agent.select()
    refused(
        agent, "base_rewards of play 0: it is a default play", lambda a: a.update(play, None, [1])
    )
    assert agent.update(play) == "booked"


@pytest.mark.parametrize("agent", [pairs, points])
def test_allowed_has_no_meaning_where_actions_have_no_number(agent):
    refused(agent(), "allowed = .* cannot be used", lambda agent: agent.select(allowed=["a"]))


@pytest.mark.parametrize("answer", [(0, 3), (1, 1), (), 1, (True, 2), ("a", "b"), None, (0.0, 1.0)])
def test_what_is_no_super_arm_is_refused(answer):
    agent = pairs()
    agent.policy.answer = answer if answer is not None else "none"
    with pytest.raises(InvalidInput, match="the super arm that Pairs chose"):
        agent.select()
    assert agent.account.plays == 0


def test_a_super_arm_may_come_in_any_order():
    agent = pairs()
    agent.policy.answer = np.array([2, 0])
    assert agent.select().arm == ("a", "c")


@pytest.mark.parametrize("answer", [(), 1, (math.nan,), (math.inf, 0), ("x",), None])
def test_what_is_no_point_is_refused(answer):
    agent = points()
    agent.policy.answer = answer
    with pytest.raises(InvalidInput, match="a point is a tuple of finite floats"):
        agent.select()


def test_semi_bandits_play_super_arms():
    policy = Counter(2)
    policy.semi_bandit = True
    with pytest.raises(InvalidInput, match="Counter has semi_bandit = True; its actions must be"):
        GenCB(policy, FLOOR)


def test_a_bad_context_is_refused_before_anything_happens():
    agent = GenCB(LinUCB(dim=2, ridge=Ridge(feature_bound=1)), RewardFloor(0.5, 0.5))
    refused(agent, "context", lambda agent: agent.select(np.ones(3)))
    refused(agent, "context", lambda agent: agent.select())
    assert agent.account.plays == 0


def test_rows_of_a_context_are_numbered():
    agent = GenCB(LinUCB(dim=2, ridge=Ridge(feature_bound=1)), FLOOR)
    play = agent.select(np.eye(2), allowed=[1])
    assert (play.arm, play.index, agent.labels) == (1, 1, ())
    agent.update(play, 1)
    refused(agent, "rows are numbered 0, 1", lambda a: a.select(np.eye(2), allowed=["x"]))
    refused(agent, "allowed", lambda a: a.select(np.eye(2), allowed=[2]))


def test_a_ball_is_played_by_its_points():
    agent = GenCB(LinUCB(Ball(1, 2)), FLOOR)
    play = agent.select()
    assert len(play.arm) == 2
    assert sum(x * x for x in play.arm) == pytest.approx(1)
    assert agent.update(play, 0.5) == "booked"
    assert "arm (" in agent.explain(play)
