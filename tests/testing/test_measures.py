"""The policy kit tells measures to a policy that learns them, and finds what it can do wrong."""

from decimal import Decimal
from types import MappingProxyType

import pytest

import surefoot as sf
from learners import Counter
from surefoot.errors import InvalidInput
from surefoot.testing import PolicyKit, ScoringPolicyKit

RANGES = {"quality": (0, 1), "speed": (-2, 3)}


class Careful:
    """Plays the arm with the best quality in sum, a play without one counting as 1."""

    measures = True

    def __init__(self):
        self.n_arms, self.sums = 3, {"quality": [3.0, 3.0, 3.0], "speed": [0.0, 0.0, 0.0]}

    def best(self, context, rng, allowed=None):
        arms = range(3) if allowed is None else allowed
        arm = max(arms, key=self.sums["quality"].__getitem__)
        return arm, self.sums["quality"][arm]

    def select(self, context, rng):
        return self.best(context, rng)[0]

    def update(self, arm, reward, context, measures=None):
        for name, value in (measures or {}).items():
            self.sums[name][arm] += value - 1

    def state(self):
        return self.sums

    def restore(self, state):
        self.sums = state


class TestALearnerOfMeasures(ScoringPolicyKit):
    measure_ranges = RANGES

    def make_policy(self):
        return Careful()


class TestALearnerOfMeasuresThatIsToldTheRewardInUnits(PolicyKit):
    reward_range = (-1, 0)
    measure_ranges = MappingProxyType({"quality": (Decimal("0.5"), 1)})

    def make_policy(self):
        class OnUnits(Careful):
            unit_rewards = True
            measures = ("quality",)

            def update(self, arm, reward, context, measures=None):
                assert all(0 <= value <= 1 for value in measures.values())
                super().update(arm, reward, context, measures)

        return OnUnits()


class TestALearnerUnderACeiling(ScoringPolicyKit):
    reward_range = (-0.05, 0)
    measure_ranges = MappingProxyType({"quality": (0, 1), "cost": (0, 0.05)})
    reserves = MappingProxyType({})

    def make_policy(self):
        return sf.CostSubsidy(3, default=0.6, alpha=0.2, cost_range=(0, 0.05))

    def make_floor(self):
        return {
            "quality": sf.RewardFloor(0.6, 0.2, reserve=self.reserves.get("quality", 0)),
            "cost": sf.CostCeiling(
                0.02, 0.5, cost_range=(0, 0.05), reserve=self.reserves.get("cost", 0)
            ),
        }


@pytest.mark.parametrize("name", ["quality", "cost"])
def test_an_agent_that_breaks_one_of_its_floors_is_found(name, monkeypatch):
    kit = TestALearnerUnderACeiling()
    kit.reserves = {"quality": 1000, "cost": 1000, name: 0}
    monkeypatch.setattr("surefoot.floors.SeveralBooks.affords", lambda self, terms: True)
    with pytest.raises(AssertionError):
        kit.test_under_guard_the_worst_rewards_do_not_break_the_floor()


class HearsOfNoMeasures(Careful):
    def update(self, arm, reward, context):
        pass


class NeedsAReward(Careful):
    def update(self, arm, reward, context, measures=None):
        super().update(arm, reward + 0, context, measures)


class NeedsBothAtOnce(Careful):
    def update(self, arm, reward, context, measures=None):
        super().update(arm, reward, context, measures)
        if measures:
            self.ratio = measures["quality"] / (3 + measures["speed"])


class NeedsSomeMeasure(Careful):
    def update(self, arm, reward, context, measures=None):
        super().update(arm, reward, context, measures)
        self.last = max(measures)


class TakesThemOut(Careful):
    def update(self, arm, reward, context, measures=None):
        super().update(arm, reward, context, dict(measures))
        measures.clear()


class NeedsAnother(Careful):
    measures = ("quality", "price")


class SaysOneName(Careful):
    measures = "quality"


class ForgetsASum(Careful):
    def state(self):
        return {**self.sums, "speed": [0.0, 0.0, 0.0]}

    def best(self, context, rng, allowed=None):
        arms = range(3) if allowed is None else allowed
        return max(arms, key=self.sums["speed"].__getitem__), 0.0


MEASURES = "it_learns_measures_without_a_reward_where_it_is_told_measures"


@pytest.mark.parametrize(
    ("bug", "test", "error"),
    [
        (HearsOfNoMeasures, MEASURES, TypeError),
        (NeedsAReward, MEASURES, TypeError),
        (NeedsBothAtOnce, MEASURES, KeyError),
        (NeedsSomeMeasure, MEASURES, ValueError),
        (TakesThemOut, MEASURES, AssertionError),
        (NeedsAnother, "it_says_which_measures_it_learns", AssertionError),
        (SaysOneName, "it_says_which_measures_it_learns", InvalidInput),
        (ForgetsASum, "its_state_survives_as_text", AssertionError),
    ],
    ids=lambda case: getattr(case, "__name__", case),
)
def test_a_planted_bug_is_found(bug, test, error):
    kit = ScoringPolicyKit()
    kit.make_policy, kit.measure_ranges = bug, RANGES
    with pytest.raises(error):
        getattr(kit, f"test_{test}")()


def test_a_policy_of_rewards_alone_is_told_no_measures():
    kit = PolicyKit()
    kit.make_policy, kit.measure_ranges = lambda: Counter(3), RANGES
    kit.test_it_says_which_measures_it_learns()
    getattr(kit, f"test_{MEASURES}")()
    assert kit.paid(0.5, {"quality": 1.0}) == {"reward": 0.5}


def test_a_floor_that_a_policy_of_measures_needs_has_to_be_there():
    policy = sf.CostSubsidy(2, default=0.8, cost_range=(0, 1))
    with pytest.raises(InvalidInput, match="quality"):
        sf.GenCB(policy, {"speed": sf.RewardFloor(0.5, 0.1)})
    for make in (sf.Plain, lambda policy: sf.GenCB(policy, sf.RewardFloor(0.5, 0.1))):
        with pytest.raises(InvalidInput, match=r"^CostSubsidy learns the measure 'quality', which"):
            make(policy)
    plain = sf.Plain(Careful())  # which can do without
    plain.update(plain.select(), 1.0)
