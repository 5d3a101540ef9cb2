"""Every policy passes the kit, and the kit finds what a policy can do wrong."""

import random
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

import surefoot as sf
from learners import Counter, Softmax
from surefoot import policies
from surefoot.policies import Ball, Policy, Polytope, Scoring
from surefoot.testing import PolicyKit, ScoringPolicyKit

ROWS = [[1.0, 0.0], [0.6, 0.6], [0.0, 1.0], [0.3, -0.4]]
GRADED = {"quality": (0, 1)}
EDGES = [[0, 1], [0, 2], [1, 3], [2, 3]]


def rows(rng, shape=(4, 2)):
    return rng.uniform(-0.7, 0.7, shape)


class Case(NamedTuple):
    """A policy, and what may come to it."""

    make: Callable[[], Any]
    context: Callable[[Any], Any] = lambda rng: None
    reward_range: tuple[Any, Any] = (0, 1)
    unplayed_first: bool = False
    whole: bool = False
    """Only the ends of the range are paid, none of what lies between."""
    measure_ranges: Any = MappingProxyType({})


CASES = {
    "UCB1": Case(lambda: sf.UCB1(4), unplayed_first=True),
    "UCB1 of labels": Case(lambda: sf.UCB1(arms=["UA", "AA"], c=0.5), unplayed_first=True),
    "UCB1 of losses": Case(lambda: sf.UCB1(3), reward_range=(-1.5, 0.5), unplayed_first=True),
    "KLUCB": Case(lambda: sf.KLUCB(4), unplayed_first=True),
    "MVUCB": Case(lambda: sf.MVUCB(3, rho=2), unplayed_first=True),
    "MVUCB of losses": Case(
        lambda: sf.MVUCB(3, rho=0.3, reward_range=(-1, 2)),
        reward_range=(-1, 2),
        unplayed_first=True,
    ),
    "Thompson": Case(lambda: sf.Thompson(4), whole=True),
    "Thompson of losses": Case(
        lambda: sf.Thompson(arms=["a", "b"]), reward_range=(-1.5, 0.5), whole=True
    ),
    "DiscountedUCB1": Case(lambda: sf.UCB1(4, discount=0.9), unplayed_first=True),
    "DiscountedUCB1 of losses": Case(
        lambda: sf.UCB1(3, c=1, discount=0.5), reward_range=(-1.5, 0.5), unplayed_first=True
    ),
    "SlidingUCB1": Case(lambda: sf.UCB1(4, window=9), unplayed_first=True),
    "SlidingUCB1 of losses": Case(
        lambda: sf.UCB1(3, window=200), reward_range=(-1.5, 0.5), unplayed_first=True
    ),
    "DiscountedThompson": Case(lambda: sf.Thompson(4, discount=0.9)),
    "SlidingThompson": Case(lambda: sf.Thompson(arms=["a", "b"], window=9)),
    "EpsilonGreedy": Case(lambda: sf.EpsilonGreedy(4, epsilon=0.3)),
    "EpsilonGreedy of losses": Case(
        lambda: sf.EpsilonGreedy(arms=["a", "b"], gap=0.5, c=0.1), reward_range=(-1.5, 0.5)
    ),
    "GaussianThompson": Case(lambda: sf.GaussianThompson(4), unplayed_first=True),
    "GaussianThompson of losses": Case(
        lambda: sf.GaussianThompson(arms=["a", "b"], noise=0.2),
        reward_range=(-1.5, 0.5),
        unplayed_first=True,
    ),
    "CostSubsidy": Case(
        lambda: sf.CostSubsidy(3, default=0.6, alpha=0.2, cost_range=(0, 0.05)),
        reward_range=(-0.05, 0),
        measure_ranges=GRADED,
    ),
    "CostSubsidy by bounds": Case(
        lambda: sf.CostSubsidy(
            arms=["a", "b"], default=0.6, alpha=0.2, cost_range=(0, 0.05), form="ucb"
        ),
        reward_range=(-0.05, 0),
        unplayed_first=True,
        measure_ranges=GRADED,
    ),
    "CostSubsidy of known costs": Case(
        lambda: sf.CostSubsidy(3, default=0.6, costs=[3, 1, 2]),
        reward_range=(-3, 0),
        measure_ranges=GRADED,
    ),
    "KLMS": Case(lambda: sf.KLMS(4), unplayed_first=True),
    "KLMS of losses": Case(
        lambda: sf.KLMS(arms=["a", "b"]), reward_range=(-1.5, 0.5), unplayed_first=True
    ),
    "LinUCB": Case(lambda: sf.LinUCB(ROWS, labels=["a", "b", "c", "d"], ridge=sf.Ridge(noise=0.5))),
    "LinUCB by determinant": Case(lambda: sf.LinUCB(ROWS, ridge=sf.Ridge(radius="determinant"))),
    "AdaUCB": Case(lambda: sf.AdaUCB(3)),
    "LinUCB of losses": Case(lambda: sf.LinUCB(ROWS), reward_range=(-1, 1)),
    "LinUCB of contexts": Case(lambda: sf.LinUCB(ROWS), rows),
    "LinUCB of any rows": Case(
        lambda: sf.LinUCB(dim=3, ridge=sf.Ridge(feature_bound=2)),
        lambda rng: rows(rng, (rng.integers(2, 6), 3)),
    ),
    "LinUCB of a ball": Case(lambda: sf.LinUCB(Ball(0.5, 3))),
    "LinUCB of a polytope": Case(lambda: sf.LinUCB(Polytope(ROWS))),
    "LinUCB, tight": Case(lambda: sf.LinUCB(ROWS, tight=True)),
    "C2UCB, tight": Case(lambda: sf.C2UCB(ROWS, sf.TopK(2), tight=True)),
    "LinTS": Case(lambda: sf.LinTS(ROWS, labels=["a", "b", "c", "d"])),
    "LinTS of losses": Case(lambda: sf.LinTS(ROWS, scale=1), reward_range=(-1, 1)),
    "LinTS of contexts": Case(lambda: sf.LinTS(ROWS), rows),
    "LinTS of any rows": Case(
        lambda: sf.LinTS(dim=3, ridge=sf.Ridge(feature_bound=2)),
        lambda rng: rows(rng, (rng.integers(2, 6), 3)),
    ),
    "LinTS of a ball": Case(lambda: sf.LinTS(Ball(0.5, 3))),
    "LinTS of super arms": Case(lambda: sf.LinTS(ROWS, oracle=sf.TopK(2))),
    "LinTS of matchings": Case(lambda: sf.LinTS(ROWS, oracle=sf.Matching((2, 2)), scale=2), rows),
    "C2UCB": Case(lambda: sf.C2UCB(ROWS, sf.TopK(2), labels=["a", "b", "c", "d"])),
    "C2UCB of losses": Case(lambda: sf.C2UCB(ROWS, sf.TopK(2)), reward_range=(-0.5, 1)),
    "C2UCB of contexts": Case(lambda: sf.C2UCB(ROWS, sf.TopK(3)), rows),
    "C2UCB of matchings": Case(lambda: sf.C2UCB(ROWS, sf.Matching((2, 2)))),
    "C2UCB of paths": Case(lambda: sf.C2UCB(ROWS, sf.ShortestPath(EDGES, 0, 3))),
    "C2UCB of a list": Case(lambda: sf.C2UCB(ROWS, sf.Enumerated([[0], [1, 2], [2, 3]]))),
}


class TestEveryPolicy(ScoringPolicyKit):
    @pytest.fixture(autouse=True, params=CASES)
    def _given(self, request):
        case = CASES[request.param]
        self.make_policy, self.make_context = case.make, case.context
        self.reward_range, self.unplayed_first = case.reward_range, case.unplayed_first
        self.measure_ranges = case.measure_ranges
        if case.whole:
            self.make_reward = lambda arm, rng: float(rng.choice(case.reward_range))


class Uncorrected(sf.Thompson):
    """What it takes back is a reward of 0 or 1; of those between, the kit tests all the rest."""

    correct = None


@pytest.mark.parametrize("reward_range", [(0, 1), (-1.5, 0.5)])
class TestThompsonOfShares(ScoringPolicyKit):
    @pytest.fixture(autouse=True)
    def _given(self, reward_range):
        self.reward_range = reward_range

    def make_policy(self):
        return Uncorrected(3)


def test_no_policy_is_left_out():
    classes = [one for one in vars(policies).values() if isinstance(one, type)]
    ours = {one for one in classes if hasattr(one, "select")} - {Policy, Scoring}
    assert {type(case.make()) for case in CASES.values()} == ours


class TestTheLeastAPolicyCanBe(PolicyKit):
    def make_policy(self):
        return Counter(3)


class TestALearnerThatKeepsArrays(PolicyKit):
    def make_policy(self):
        return Softmax(3, 2)

    def make_context(self, rng):
        return rng.normal(size=2)


class Thompson:
    """Draws each mean from its Beta posterior; bugs are planted in what derives from it."""

    unit_rewards = True

    def __init__(self, n_arms=3):
        self.n_arms = n_arms
        self.won, self.lost, self.turns = [1.0] * n_arms, [1.0] * n_arms, 0

    def best(self, context, rng, allowed=None):
        self.turns += 1
        arms = range(self.n_arms) if allowed is None else allowed
        draws = {arm: rng.beta(self.won[arm], self.lost[arm]) for arm in arms}
        arm = max(draws, key=draws.get)
        return arm, float(draws[arm])

    def select(self, context, rng):
        return self.best(context, rng)[0]

    def update(self, arm, reward, context):
        self.won[arm] += reward
        self.lost[arm] += 1 - reward

    def correct(self, arm, old, new, context):
        self.won[arm] += new - old
        self.lost[arm] -= new - old

    def state(self):
        return {"won": self.won, "lost": self.lost, "turns": self.turns}

    def restore(self, state):
        self.won, self.lost, self.turns = state["won"], state["lost"], state["turns"]


class TestALearnerThatScores(ScoringPolicyKit):
    def make_policy(self):
        return Thompson()


class Waits(Thompson):
    """Less is thought of an arm whose rewards are still to come."""

    def __init__(self, n_arms=3):
        super().__init__(n_arms)
        self.open = [0] * n_arms

    def best(self, context, rng, allowed=None):
        self.turns += 1
        arms = range(self.n_arms) if allowed is None else allowed
        draws = {arm: rng.beta(self.won[arm], self.lost[arm] + self.open[arm] / 2) for arm in arms}
        arm = max(draws, key=draws.get)
        return arm, float(draws[arm])

    def opened(self, arm, context):
        self.open[arm] += 1

    def closed(self, arm, context):
        self.open[arm] -= 1

    def state(self):
        return {**super().state(), "open": self.open}

    def restore(self, state):
        super().restore(state)
        self.open = state["open"]


class TestALearnerThatCountsOpenPlays(ScoringPolicyKit):
    def make_policy(self):
        return Waits()


class LacksRestore:
    n_arms = 2
    select = update = state = lambda self, *given: 0


class OneTooFar(Thompson):
    def select(self, context, rng):
        return super().select(context, rng) + int(rng.random() < 0.1)


class SaysYes(Thompson):
    def select(self, context, rng):
        return super().select(context, rng) == 1


class RollsItsOwnDice(Thompson):
    def __init__(self):
        super().__init__()
        self.dice = random.Random()

    def best(self, context, rng, allowed=None):
        return self.dice.randrange(self.n_arms), 1.0


class Repeats(Thompson):
    def best(self, context, rng, allowed=None):
        return super().best(context, rng, [0, 1] if self.turns < 3 else allowed)


class RemembersTheLast(Thompson):
    def best(self, context, rng, allowed=None):
        arm, score = super().best(context, rng, allowed)
        self.last = arm
        return arm, score

    def update(self, arm, reward, context):
        assert arm == self.last
        super().update(arm, reward, context)


class FearsZero(Thompson):
    def update(self, arm, reward, context):
        assert reward > 0
        super().update(arm, reward, context)


class NeverSeenBefore(Thompson):
    def __init__(self):
        super().__init__()
        self.tried = set()

    def best(self, context, rng, allowed=None):
        arm, score = super().best(context, rng, allowed)
        self.tried.add(arm)
        return arm, score

    def update(self, arm, reward, context):
        assert arm in self.tried
        super().update(arm, reward, context)


class SharesItsMemory(Thompson):
    memory = [1.0] * 3

    def __init__(self):
        super().__init__()
        self.won = self.memory


class SavesHalf(Thompson):
    def state(self):
        return {**super().state(), "lost": [1.0] * self.n_arms}


class AddsWhatIsRestored(Thompson):
    def restore(self, state):
        self.won = [a + b - 1 for a, b in zip(self.won, state["won"], strict=True)]
        self.lost, self.turns = state["lost"], state["turns"]


class ForgetsWhenAsked(Thompson):
    def state(self):
        found = super().state()
        self.won = [1.0] * self.n_arms
        return found


class CopiesByReference(Thompson):
    def __deepcopy__(self, memo):
        twin = type(self)()
        twin.restore(self.state())
        return twin


class ForgetsItsSettings(Thompson):
    def config(self):
        return {}

    @classmethod
    def from_config(cls, config):
        return cls(n_arms=2)


class CountsRewards(Thompson):
    def update(self, arm, reward, context):
        super().update(arm, reward, context)
        self.turns += 1


class ScoresAnother(Thompson):
    def select(self, context, rng):
        arm, score = self.best(context, rng)
        return arm if score > 0.5 else 0


class AnyArmWillDo(Thompson):
    def best(self, context, rng, allowed=None):
        return super().best(context, rng)


class EmptiesTheAllowed(Thompson):
    def best(self, context, rng, allowed=None):
        answer = super().best(context, rng, allowed)
        if allowed is not None:
            allowed.clear()
            allowed.append(answer[0])
        return answer


class LooksAndMoves(Thompson):
    def peek(self, turn, allowed=None, context=None):
        return self.best(context, np.random.default_rng(0), allowed)


class Upside(Thompson):
    def sure(self, value):
        return -value


class KeepsTheOld(Thompson):
    def correct(self, arm, old, new, context):
        self.update(arm, new, context)


class CorrectsTheFirst(Thompson):
    def correct(self, arm, old, new, context):
        super().correct(0, old, new, context)


class SaysOneOfSo(Thompson):
    def propensities(self, context=None, allowed=None):
        arms = range(self.n_arms) if allowed is None else allowed
        return [(arm in arms) / len(arms) for arm in range(self.n_arms)]


class SaysNoSum(Thompson):
    def propensities(self, context=None, allowed=None):
        return [1.0] * self.n_arms


class SaysWhatIsBarred(Counter):
    """Its only choice at a turn is sure; said of ``allowed`` it is wrong."""

    def __init__(self):
        super().__init__(3)

    def best(self, context, rng, allowed=None):
        arms = range(3) if allowed is None else allowed
        return arms[self.select(context, rng) % len(arms)], 0.0

    def propensities(self, context=None, allowed=None):
        return [float(arm == self.turn % 3) for arm in range(3)]


class MovesWhenAsked(Counter):
    def __init__(self):
        super().__init__(3)

    def propensities(self, context=None, allowed=None):
        return [float(arm == self.select(context, None)) for arm in range(3)]


class NoNumber(Thompson):
    def best(self, context, rng, allowed=None):
        return super().best(context, rng, allowed)[0], float("nan")


class NeverCloses(Waits):
    closed = None


class LeavesOneOpen(Waits):
    def closed(self, arm, context):
        self.open[arm] = max(self.open[arm] - 1, 1)


class ClosesTheLastOpened(Waits):
    def __init__(self):
        super().__init__()
        self.last = 0

    def opened(self, arm, context):
        super().opened(arm, context)
        self.last = arm

    def closed(self, arm, context):
        super().closed(self.last, context)


class ForgetsWhatIsOpen(Waits):
    def state(self):
        return {**super().state(), "open": [0] * self.n_arms}


@pytest.mark.parametrize(
    ("bug", "test"),
    [
        (NeverCloses, "it_hears_of_open_plays_by_both_methods_or_by_none"),
        (LeavesOneOpen, "open_plays_that_are_closed_leave_nothing_behind_where_it_counts_them"),
        (
            ClosesTheLastOpened,
            "open_plays_that_are_closed_leave_nothing_behind_where_it_counts_them",
        ),
        (ForgetsWhatIsOpen, "its_state_survives_as_text"),
        (ForgetsWhatIsOpen, "saved_and_loaded_its_agent_goes_on_alike"),
        (ForgetsWhatIsOpen, "live_and_started_again_it_goes_on_alike"),
        (LacksRestore, "it_follows_the_protocol"),
        (OneTooFar, "it_chooses_one_of_its_arms_and_leaves_the_context_alone"),
        (SaysYes, "it_chooses_one_of_its_arms_and_leaves_the_context_alone"),
        (RollsItsOwnDice, "the_same_rng_and_rewards_give_the_same_choices"),
        (RollsItsOwnDice, "live_and_started_again_it_goes_on_alike"),
        (Repeats, "every_unplayed_arm_comes_first_where_that_is_promised"),
        (FearsZero, "it_learns_every_reward_of_its_range"),
        (RemembersTheLast, "rewards_may_come_late_out_of_order_or_never"),
        (NeverSeenBefore, "it_learns_of_plays_that_it_did_not_choose"),
        (KeepsTheOld, "a_corrected_reward_is_as_if_learned_at_once_where_it_can_correct"),
        (CorrectsTheFirst, "a_corrected_reward_is_as_if_learned_at_once_where_it_can_correct"),
        (SaysOneOfSo, "its_propensities_are_those_of_its_draws_where_it_says_them"),
        (SaysNoSum, "its_propensities_are_those_of_its_draws_where_it_says_them"),
        (SaysWhatIsBarred, "its_propensities_are_those_of_its_draws_where_it_says_them"),
        (MovesWhenAsked, "its_propensities_are_those_of_its_draws_where_it_says_them"),
        (SharesItsMemory, "two_of_them_share_nothing"),
        (SavesHalf, "its_state_survives_as_text"),
        (SavesHalf, "saved_and_loaded_its_agent_goes_on_alike"),
        (SavesHalf, "live_and_started_again_it_goes_on_alike"),
        (AddsWhatIsRestored, "a_state_restored_over_another_replaces_it"),
        (ForgetsWhenAsked, "asking_for_its_state_changes_nothing"),
        (CopiesByReference, "a_copy_goes_on_alike_and_alone"),
        (ForgetsItsSettings, "its_config_makes_its_equal_where_it_has_one"),
        (CountsRewards, "its_clock_counts_turns_and_not_rewards_where_it_has_one"),
        (ScoresAnother, "best_chooses_what_select_chooses"),
        (NoNumber, "best_chooses_what_select_chooses"),
        (AnyArmWillDo, "best_keeps_to_the_allowed_arms_and_leaves_them_alone"),
        (EmptiesTheAllowed, "best_keeps_to_the_allowed_arms_and_leaves_them_alone"),
        (LooksAndMoves, "a_look_takes_no_turn_where_it_can_look"),
        (Upside, "what_surely_pays_more_scores_no_less"),
    ],
    ids=lambda case: getattr(case, "__name__", case),
)
def test_a_planted_bug_is_found(bug, test):
    kit = ScoringPolicyKit()
    kit.make_policy, kit.unplayed_first = bug, True
    with pytest.raises(AssertionError):
        getattr(kit, f"test_{test}")()


class ScalesItsContext(Softmax):
    def select(self, context, rng):
        context /= np.abs(context).max()
        return super().select(context, rng)


class ClearsItsContext(Softmax):
    def update(self, arm, reward, context):
        super().update(arm, reward, context)
        context[:] = 0


@pytest.mark.parametrize("bug", [ScalesItsContext, ClearsItsContext])
def test_a_changed_context_is_found(bug):
    kit = PolicyKit()
    kit.make_policy, kit.make_context = lambda: bug(3, 2), lambda rng: rng.normal(size=2)
    with pytest.raises(AssertionError, match="context"):
        kit.test_it_chooses_one_of_its_arms_and_leaves_the_context_alone()


class TwiceTheSame(Counter):
    numbered = False

    def select(self, context, rng):
        return (1, 1)


class NoPoint(TwiceTheSame):
    n_arms = property(lambda self: None, lambda self, n: None)

    def select(self, context, rng):
        return (float("inf"), 0.0)


class Named(Counter):
    def select(self, context, rng):
        return "first"


@pytest.mark.parametrize("bug", [TwiceTheSame, NoPoint, Named])
def test_what_is_no_action_is_found(bug):
    kit = PolicyKit()
    kit.make_policy = lambda: bug(3)
    with pytest.raises(AssertionError, match="chose"):
        kit.test_it_chooses_one_of_its_arms_and_leaves_the_context_alone()


def test_an_agent_that_breaks_its_floor_is_found(monkeypatch):
    monkeypatch.setattr(
        "surefoot.floors.reward_books.RewardBooks.affords", lambda self, terms: True
    )
    kit = PolicyKit()
    kit.make_policy = Thompson
    with pytest.raises(AssertionError):
        kit.test_under_guard_the_worst_rewards_do_not_break_the_floor()


def test_a_policy_that_never_gets_to_explore_is_told_to_play_for_longer():
    kit = PolicyKit()
    kit.make_policy = Thompson
    kit.make_floor = lambda: sf.RewardFloor(default=0.7, alpha=0.001)
    with pytest.raises(AssertionError, match="higher"):
        kit.test_under_guard_the_worst_rewards_do_not_break_the_floor()


def test_the_kit_needs_to_be_told_what_to_make():
    with pytest.raises(NotImplementedError):
        PolicyKit().make_policy()
