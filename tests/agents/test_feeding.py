"""Which default plays feed what is learned, and what a careless feed would come to."""

import random
from functools import partial

import pytest

from learned import (
    AllowedFirst,
    ChoicesFeed,
    FedBy,
    LostSkipped,
    NoArmFeeds,
    OnArrival,
    agent_of,
    delayed_good_news,
    lost_good_news,
    picked,
    refuted,
    segments,
)
from surefoot import UCB1, GenCB, LearnedDefault, Reason, RewardFloor
from surefoot.agents.feeding import Feeding
from surefoot.floors.feed import Feed
from surefoot.floors.odds import Sequence

MU0, DELTA = 0.5, 0.05
WITHOUT_ZEROS, WITHOUT_ONES = partial(picked, without=0.0), partial(picked, without=1.0)


def most(runs):
    """delta and three standard errors of it."""
    return runs * DELTA + 3 * (runs * DELTA * (1 - DELTA)) ** 0.5


def refuted_books(kind, attack, runs, plays):
    make, found = FedBy(kind), 0
    for seed in range(runs):
        books = make()
        attack(books, MU0, plays, random.Random(seed))
        found += refuted(books, MU0)
    return found


def refuted_agents(kind, feeding, attack, runs, plays):
    found = 0
    for seed in range(runs):
        agent = agent_of(kind, feeding, competes=attack is segments)
        attack(agent, MU0, plays, random.Random(seed))
        found += refuted(agent.books, MU0)
    return found


REPORTS = [(OnArrival, delayed_good_news), (LostSkipped, lost_good_news)]
PICKS = [
    (GenCB, NoArmFeeds, WITHOUT_ZEROS),
    (AllowedFirst, Feeding, WITHOUT_ONES),
    (GenCB, ChoicesFeed, segments),
]


@pytest.mark.parametrize(("mutant", "attack"), REPORTS)
def test_late_or_lost_good_news_refutes_a_careless_feed_alone(mutant, attack):
    assert refuted_books(mutant, attack, 5, 230) == 5
    assert refuted_books(Feed, attack, 15, 230) <= most(15)


@pytest.mark.parametrize(("kind", "feeding", "attack"), PICKS, ids=["none", "first", "choices"])
def test_plays_picked_by_what_they_would_pay_refute_a_careless_feed_alone(kind, feeding, attack):
    assert refuted_agents(kind, feeding, attack, 4, 300) == 4
    assert refuted_agents(GenCB, Feeding, attack, 8, 300) <= most(8)


@pytest.mark.slow
@pytest.mark.parametrize(("mutant", "attack"), REPORTS)
def test_late_or_lost_good_news_refutes_no_more_than_delta(mutant, attack):
    assert refuted_books(mutant, attack, 300, 1_000) >= 294
    assert refuted_books(Feed, attack, 300, 1_000) <= most(300)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "feeding", "attack"), PICKS, ids=["none", "first", "choices"])
def test_plays_picked_by_what_they_would_pay_refute_no_more_than_delta(kind, feeding, attack):
    assert refuted_agents(kind, feeding, attack, 200, 1_000) >= 190
    assert refuted_agents(GenCB, Feeding, attack, 2_000, 300) <= most(2_000)


def learner(policy=None, between=(0, 1), **settings):
    return GenCB(policy or UCB1(2), RewardFloor(LearnedDefault(between), 0.2, **settings), seed=0)


def given(agent, **arguments):
    """How many indexes were given by one play, and why it was made."""
    before = agent.books.feed.given
    play = agent.select(**arguments)
    agent.update(play, 1.0)
    return agent.books.feed.given - before, play.reason


def test_a_closed_gate_feeds_whatever_the_play_was_given():
    agent = learner()
    assert given(agent) == (1, Reason.SLACK_SHORT)
    assert given(agent, allowed=[]) == (1, Reason.SLACK_SHORT)
    assert given(agent, allowed=[1]) == (1, Reason.SLACK_SHORT)


def test_an_explored_play_does_not_feed_and_one_without_an_arm_neither():
    agent = learner(reserve=50)
    assert given(agent) == (0, Reason.SLACK_OK)
    assert given(agent, allowed=[]) == (1, Reason.NO_ALLOWED_ARM)  # the first counts at the worst
    assert given(agent, allowed=[]) == (0, Reason.NO_ALLOWED_ARM)


@pytest.mark.parametrize("allowed", [[0, 1], [0]])
def test_the_first_play_of_all_counts_as_lost_if_it_was_picked(allowed):
    """Else who knows what it would pay could begin the sequence with a play that pays little."""
    agent, lost = learner(reserve=50), Sequence(0, 10**9)
    assert given(agent, allowed=allowed) == (1, Reason.SLACK_OK)
    lost.lose()
    assert agent.books.feed.sequence.state() == lost.state()


class Modest(UCB1):
    """Its score is always below the default's upper end."""

    def best(self, *_):
        return 0, 0.1


def test_a_choice_feeds_until_a_play_is_picked_and_the_first_of_those_counts_as_lost():
    agent, sure = learner(Modest(2), reserve=50), Sequence(0, 10**9)
    assert given(agent) == (1, Reason.DEFAULT_BEST)
    assert given(agent, allowed=[0, 1]) == (1, Reason.DEFAULT_BEST)
    sure.take(10**9)
    sure.lose()
    assert agent.books.feed.sequence.state() == sure.state()
    assert given(agent) == (0, Reason.DEFAULT_BEST)
    assert given(agent, allowed=[0]) == (0, Reason.DEFAULT_BEST)


def test_a_pause_and_a_holdout_feed():
    agent = learner(reserve=50)
    agent.pause()
    assert given(agent, allowed=[0]) == (1, Reason.PAUSED)
    floor = RewardFloor(LearnedDefault((0, 1)), 0.2, reserve=500)
    held = GenCB(UCB1(2), floor, seed=0, holdout=0.5)
    given(held, allowed=[0])
    found = {given(held, allowed=[0, 1]) for _ in range(40)}
    assert found == {(1, Reason.HOLDOUT), (0, Reason.SLACK_OK)}


class Failing(UCB1):
    def best(self, *_):
        raise RuntimeError("no")


def test_a_fault_of_the_policy_does_not_feed():
    floor = RewardFloor(LearnedDefault((0, 1)), 0.2, reserve=50)
    agent = GenCB(Failing(2), floor, seed=0, on_fault="default")
    assert given(agent) == (0, Reason.POLICY_FAULT)


class ModestOfContexts(Modest):
    contextual = True


def test_choices_with_contexts_do_not_feed():
    agent = learner(ModestOfContexts(2), reserve=50)
    assert given(agent, context=[1.0]) == (0, Reason.DEFAULT_BEST)
    agent.pause()
    assert given(agent, context=[1.0]) == (1, Reason.PAUSED)


def test_a_play_with_a_default_of_its_own_is_seen_by_the_gate():
    feeding, forced = Feeding(), learner().select()
    assert feeding.feeds(forced, None, None, None) is True
    assert feeding.feeds(forced, None, None, {"cost": 1}) is None
    assert feeding.feeds(forced, None, None, None) is False
    assert Feeding(*feeding.state()).feeds(forced, None, None, None) is False
