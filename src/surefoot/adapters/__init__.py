"""Learners of other libraries as policies, so that GenCB can guard them."""

from surefoot.adapters.base import Adapter
from surefoot.adapters.bayesianbandits import BayesianBandits
from surefoot.adapters.called import Called
from surefoot.adapters.mabwiser import MABWiser
from surefoot.adapters.river import River
from surefoot.adapters.scikit_learn import ScikitLearn
from surefoot.adapters.vowpal_wabbit import VowpalWabbit

__all__ = [
    "Adapter",
    "BayesianBandits",
    "Called",
    "MABWiser",
    "River",
    "ScikitLearn",
    "VowpalWabbit",
]
