"""The policies of ``surefoot compare``: one of each library that has an adapter, and ours.

All are for rewards of 0 and 1 and no context, with the settings that their documentation shows.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import surefoot as sf


class Peer(NamedTuple):
    """A policy that plays, and the extra that it needs, "" for ours."""

    name: str
    extra: str
    module: str
    make: Callable[[Sequence[Any]], Any]
    """From the labels of the arms to a fresh policy."""

    @property
    def is_there(self) -> bool:
        """Whether its library is installed."""
        return not self.module or find_spec(self.module) is not None


def _of(module: str) -> Any:
    return importlib.import_module(module)


def _scikit_learn(arms: Sequence[Any]) -> Any:
    estimator = _of("sklearn.linear_model").SGDRegressor()
    return sf.adapters.ScikitLearn(estimator, arms=arms, shared=True, epsilon=0.1)


def _mabwiser(arms: Sequence[Any]) -> Any:
    mab = _of("mabwiser.mab")
    return sf.adapters.MABWiser(mab.MAB(list(arms), mab.LearningPolicy.ThompsonSampling()))


def _river(arms: Sequence[Any]) -> Any:
    return sf.adapters.River(_of("river.bandit").UCB(delta=1), arms=arms)


def _bayesianbandits(arms: Sequence[Any]) -> Any:
    bandits = _of("bayesianbandits")
    made = [bandits.Arm(arm, learner=bandits.NormalInverseGammaRegressor()) for arm in arms]
    return sf.adapters.BayesianBandits(bandits.Agent(made, bandits.ThompsonSampling()))


def _vowpal_wabbit(arms: Sequence[Any]) -> Any:
    return sf.adapters.VowpalWabbit("--cb_explore_adf --epsilon 0.1 -b 10", arms=arms)


PEERS = (
    Peer("scikit-learn epsilon .1", "scikit-learn", "sklearn", _scikit_learn),
    Peer("MABWiser Thompson", "mabwiser", "mabwiser", _mabwiser),
    Peer("River UCB", "river", "river", _river),
    Peer("bayesianbandits Thompson", "bayesianbandits", "bayesianbandits", _bayesianbandits),
    Peer("Vowpal Wabbit epsilon .1", "vowpalwabbit", "vowpalwabbit", _vowpal_wabbit),
    Peer("Surefoot UCB1", "", "", lambda arms: sf.UCB1(arms=arms)),
    Peer("Surefoot KL-UCB", "", "", lambda arms: sf.KLUCB(arms=arms)),
    Peer("Surefoot Thompson", "", "", lambda arms: sf.Thompson(arms=arms)),
    Peer("Surefoot AdaUCB", "", "", lambda arms: sf.AdaUCB(arms=arms)),
)
"""Who plays, in the order of the table."""
