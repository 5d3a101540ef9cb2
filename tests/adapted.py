"""Adapters of real learners of other libraries, for the tests that hold for all of them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from bayesianbandits import (
    Agent,
    Arm,
    ContextualAgent,
    EpsilonGreedy,
    NormalInverseGammaRegressor,
    NormalRegressor,
    ThompsonSampling,
    UpperConfidenceBound,
)  # fmt: skip
from mabwiser.mab import MAB, LearningPolicy, NeighborhoodPolicy
from river import bandit, proba
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import BernoulliNB
from sklearn.neural_network import MLPRegressor

from surefoot.adapters import (
    BayesianBandits,
    Called,
    MABWiser,
    River,
    ScikitLearn,
    VowpalWabbit,
)  # fmt: skip

ARMS = ["UA", "AA", "B6"]


class Means:
    """A learner of one's own: the largest mean, arms without rewards first."""

    def __init__(self):
        self.sums = dict.fromkeys(ARMS, (0, 0.0))

    def choose(self, context, rng):
        return max(ARMS, key=lambda arm: self.mean(arm) + 0.1 * rng.random())

    def mean(self, arm):
        n, total = self.sums[arm]
        return total / n if n else 1.0

    def learn(self, arm, reward, context):
        n, total = self.sums[arm]
        self.sums[arm] = n + 1, total + reward


def called():
    means = Means()
    return Called(means.choose, means.learn, arms=ARMS)


def bayesian(policy, kind=Agent, learner=NormalInverseGammaRegressor):
    return BayesianBandits(kind([Arm(name, learner=learner()) for name in ARMS], policy))


def row(rng):
    return rng.random(2)


class Case(NamedTuple):
    """An adapter, and what may come to it."""

    make: Callable[[], Any]
    context: Callable[[Any], Any] = lambda rng: None
    unplayed_first: bool = False
    whole: bool = False


CASES = {
    "callable": Case(called),
    "MABWiser UCB1": Case(lambda: MABWiser(MAB(ARMS, LearningPolicy.UCB1(1))), unplayed_first=True),
    "MABWiser Thompson": Case(
        lambda: MABWiser(MAB(ARMS, LearningPolicy.ThompsonSampling())),
        unplayed_first=True,
        whole=True,
    ),
    "MABWiser LinTS": Case(
        lambda: MABWiser(MAB(ARMS, LearningPolicy.LinTS(0.5))), row, unplayed_first=True
    ),
    "MABWiser neighbours": Case(
        lambda: MABWiser(MAB(ARMS, LearningPolicy.EpsilonGreedy(), NeighborhoodPolicy.KNearest(3))),
        row,
        unplayed_first=True,
    ),
    "river UCB": Case(lambda: River(bandit.UCB(1), arms=ARMS)),
    "river epsilon-greedy": Case(lambda: River(bandit.EpsilonGreedy(0.2, burn_in=2), n_arms=3)),
    "river Thompson": Case(
        lambda: River(bandit.ThompsonSampling(proba.Beta()), arms=ARMS), whole=True
    ),
    "river LinUCB": Case(lambda: River(bandit.LinUCBDisjoint(), arms=ARMS), row),
    "bayesianbandits Thompson": Case(lambda: bayesian(ThompsonSampling())),
    "bayesianbandits UCB": Case(
        lambda: bayesian(
            UpperConfidenceBound(), ContextualAgent, lambda: NormalRegressor(alpha=1, beta=1)
        ),
        row,
    ),
    "bayesianbandits epsilon": Case(lambda: bayesian(EpsilonGreedy(0.2), ContextualAgent), row),
    "Vowpal Wabbit epsilon": Case(
        lambda: VowpalWabbit("--cb_explore_adf --epsilon 0.2 -b 8", arms=ARMS), row
    ),
    "Vowpal Wabbit squarecb": Case(
        lambda: VowpalWabbit("--cb_explore_adf --squarecb -b 8", n_arms=3),
        lambda rng: rng.random((3, 2)),
    ),
}
SCORING = {
    "scikit-learn epsilon": Case(
        lambda: ScikitLearn(SGDRegressor(), arms=ARMS, epsilon=0.2), row, unplayed_first=True
    ),
    "scikit-learn bootstrap": Case(
        lambda: ScikitLearn(BernoulliNB(), n_arms=3, explore="bootstrap", replicates=3),
        unplayed_first=True,
    ),
    "scikit-learn shared": Case(
        lambda: ScikitLearn(SGDClassifier(loss="log_loss"), arms=ARMS, shared=True),
        lambda rng: rng.random((3, 2)),
        unplayed_first=True,
    ),
    "scikit-learn network": Case(
        lambda: ScikitLearn(MLPRegressor(hidden_layer_sizes=(3,)), arms=ARMS, shared=True),
        unplayed_first=True,
    ),
}


FAST = {
    "callable", "MABWiser UCB1", "river UCB", "bayesianbandits Thompson", "Vowpal Wabbit epsilon",
    "scikit-learn shared",
}  # fmt: skip


def cases(every):
    """One of each library always, all of them with the slow tests."""
    return [
        pytest.param(case, id=name, marks=[] if name in FAST else pytest.mark.slow)
        for name, case in every.items()
    ]
