"""Who may play where, and in which driver."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot._exact import INT64_MAX, PLAYS, Unit, shown
from surefoot.agents.agent import Agent
from surefoot.agents.faults import RAISE
from surefoot.environments import Environment, MeasuredArms
from surefoot.environments._kernels import WRAPPERS, draws_for
from surefoot.environments._table import TableRecord
from surefoot.environments._timing import DRIFTS
from surefoot.environments.base import bounds
from surefoot.environments.bernoulli import BernoulliRecord
from surefoot.errors import InvalidInput
from surefoot.floors import CostCeiling, RewardFloor
from surefoot.floors.reward_books import Account, RewardBooks
from surefoot.kernels import registry
from surefoot.simulation.guards import (
    Guards,
    check_default,
    check_objective,
    check_range,
    guards_of,
    several,
)
from surefoot.simulation.mean_variance import WIDEST


def check_progress(progress: object) -> None:
    """Raise InvalidInput unless it can be told how many runs are done; None tells nobody."""
    if progress is not None and not callable(progress):
        raise InvalidInput(
            f"progress = {shown(progress)} must be a function of (runs done, runs), or None"
        )


def positive(number: Any, what: str) -> int:
    """A whole number of at least one.

    >>> positive(0, "runs")
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: runs = 0 must be an int >= 1
    """
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
        raise InvalidInput(f"{what} = {shown(number)} must be an int >= 1")
    return int(number)


def drifts(environment: Any) -> bool:
    """Whether the arms change with the play's number."""
    return bool(getattr(environment, "drifts", False))


def goes_by_play(agent: Agent, environment: Any) -> bool:
    """Whether ``waiting`` does what this agent with kernels does here, play by play.

    Arrivals and drift must be those of our environments, and the floor one sum.
    """
    inside = environment.env if type(environment) in WRAPPERS else environment
    return (
        agent.floor.rho is None
        and not several(agent)
        and agent.gate in ("account", "none")
        and (inside is not environment or not hasattr(environment, "arrival"))
        and drifts(inside) == (type(inside.record) in DRIFTS)
    )


def has_contexts(environment: Any) -> bool:
    """Whether the environment has a context for each play."""
    return callable(getattr(environment, "context", None))


def timed(environment: Any) -> bool:
    """Whether a reward or its arrival depends on the play's number, so that no turns are shared."""
    return hasattr(environment, "arrival") or drifts(environment)


def has_kernels(agent: Agent, environment: Environment) -> bool:
    """Whether the engine's text is what this agent does; else it is driven play by play.

    A subclass may do something else: of an agent, unless it names its gate again; of a policy,
    where it (or the policy itself) overrides a method the kernels stand for; of an environment,
    where it overrides ``pull`` or f; of a floor, unless it names ``plain`` again. The floor must
    be one that the engine's gates keep, and the step between the units of draws, books and the
    policy's scale one of the engine's numbers. Kernels of one's own may fail in compiled code,
    where no fault is caught.
    """
    floor = agent.floor
    return (
        "gate" in vars(type(agent))
        and _keeps(agent)
        and _competes_steadily(agent, environment)
        and _speaks_kernel(agent.policy)
        and (agent.on_fault == RAISE or type(agent.policy).__module__.startswith("surefoot."))
        and draws_for(environment)
        and _draws_measures(agent, environment)
        and getattr(environment, "f", None) is None
        and 10 ** abs(floor.places - environment.places) <= INT64_MAX
        and (agent.unit_rewards or 0 <= floor.places <= _EXACT_PLACES)
    )


def _draws_measures(agent: Agent, environment: Any) -> bool:
    """Whether the engine can draw what the floors guard, where that is not what ``pull`` pays."""
    guards = guards_of("", agent, environment).values()
    places = {one.measure: one.floor.places for one in guards if one.measure is not None}
    if not places:
        return True
    while type(environment) in WRAPPERS:
        environment = environment.env
    if type(environment) is not MeasuredArms:
        return False
    if not several(agent):  # then its policy learns what the ceiling guards
        return environment.objective == dict.fromkeys(places, -1)
    paid = {name: environment.measures[name] for name in places}
    return all(
        draws_for(one) and 10 ** abs(one.places - places[name]) <= INT64_MAX
        for name, one in paid.items()
    )


_EXACT_PLACES = 15
"""10**15 units of 1 and their quotients are what a float of the decimal would be."""


def _keeps(agent: Agent) -> bool:
    """Whether the engine has a gate and a calendar for the floor."""
    floor: Any = agent.floor
    floors = several(agent).values() or [floor]
    if all(type(one) in (RewardFloor, CostCeiling) for one in floors):
        return all(one.plain for one in floors) and getattr(agent, "owed", None) is None
    if "plain" not in vars(type(floor)):  # a class derived from ours may ask for something else
        return False
    if floor.rho is None:
        return bool(floor.plain) and _is_constant(floor)
    numbers = floor.constants
    reach = max(abs(numbers.low), abs(numbers.high), numbers.value)
    return agent.gate in ("account", "none") and reach <= WIDEST


def _is_constant(floor: Any) -> bool:
    """Whether a floor of one's own keeps the books of ``RewardFloor``, at the same terms always."""
    books, terms = floor.open(), floor.terms()
    return (
        type(books) is RewardBooks
        and type(books.account) is Account
        and books.account.numbers() == [floor.unit.floor(floor.reserve), 0, 0]
        and floor.checkpoint is None
        and terms.high is None
        and all(floor.terms() == terms for _ in range(3))
    )


def _competes_steadily(agent: Agent, environment: Environment) -> bool:
    """Whether the default's value on the policy's scale is one from the first turn to the last.

    Of a policy of means under a mean-variance floor it is while rewards are r_min or r_max.
    """
    if not agent.default_competes or agent.even is None:
        return True
    record, ends = environment.record, bounds(environment)
    if ends != agent.floor.reward_range:
        return False
    if isinstance(record, BernoulliRecord):
        return True
    unit = Unit(environment.places)
    paid = set(np.unique(record.rewards).tolist()) if isinstance(record, TableRecord) else {None}
    return paid <= {unit.floor(end) for end in ends}


def _speaks_kernel(policy: Any) -> bool:
    """Whether the kernels of its record do what the policy's own methods do.

    The first class in its line with ``kernel_methods`` says which methods the kernels stand for.
    """
    home: Any = next((one for one in type(policy).__mro__ if "kernel_methods" in vars(one)), None)
    if home is None:
        return False
    record = type(policy.record)
    return (
        record in registry.KERNELS
        and registry.compilable(record)
        and all(getattr(type(policy), name) is getattr(home, name) for name in home.kernel_methods)
        and vars(policy).keys().isdisjoint(home.kernel_methods)
    )


_OF_ENVIRONMENTS = (
    "n_arms", "places", "reward_range", "means", "variances", "best", "record",
)  # fmt: skip


def check_environment(environment: Any) -> None:
    """InvalidInput for what is not an environment, or describes itself inconsistently."""
    lacks = [name for name in _OF_ENVIRONMENTS if not hasattr(environment, name)]
    lacks += [
        f"{name}(...)"
        for name in ("pull", "value", *(("best_at",) if drifts(environment) else ()))
        if not callable(getattr(environment, name, None))
    ]
    if lacks or isinstance(environment, type):
        is_class = isinstance(environment, type)
        what = "it is a class; pass an instance" if is_class else f"it lacks {', '.join(lacks)}"
        raise InvalidInput(
            f"environment = {shown(environment)} does not follow "
            f"surefoot.environments.Environment: {what}; give one of its kind, e.g. "
            "BernoulliArms([0.8, 0.2])"
        )
    positive(environment.n_arms, "n_arms of the environment")
    bounds(environment)
    for what in ("means", "variances"):
        _check_numbers(getattr(environment, what), environment.n_arms, what)
    finite(environment.best, "best of the environment")


def _check_numbers(numbers: Any, count: int, what: str) -> None:
    """What an environment says of its arms must be an array of ``count`` finite numbers."""
    if (
        not isinstance(numbers, np.ndarray)
        or numbers.shape != (count,)
        or numbers.dtype.kind not in "biuf"
        or not np.isfinite(numbers).all()
    ):
        raise InvalidInput(
            f"{what} = {shown(numbers)} of the environment must be a numpy array of {count} "
            "finite numbers: one for each arm"
        )


def finite(number: Any, what: str) -> float:
    """One finite number; InvalidInput names it by ``what``."""
    try:
        value = float(number)
    except (OverflowError, TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise InvalidInput(f"{what} = {shown(number)} must be a finite number")
    return value


def check_agent(name: Any, agent: Any, environment: Environment) -> Guards:
    """What the agent's floors guard.

    InvalidInput for an agent that cannot be simulated, or does not fit the environment.
    """
    if not isinstance(name, str):
        raise InvalidInput(f"agent name {shown(name)} must be a string, e.g. 'GenCB'")
    if not isinstance(agent, Agent):
        raise InvalidInput(
            f"agents[{shown(name)}] = {shown(agent)} is not an agent; wrap a policy: Plain(policy) "
            "or GenCB(policy, floor)"
        )
    floor, who = agent.floor, f"agent {shown(name)}"
    guards = guards_of(who, agent, environment)
    for guard in guards.values():
        check_default(who, guard, environment)
    if not floor.fits_int64:
        raise InvalidInput(
            f"{who} keeps books of {floor.places} places, in which {PLAYS} plays may "
            "leave 64 bits; give its floor fewer places, or none"
        )
    _check_arms(who, agent, environment)
    agent.check_explores()
    if agent.books.plays.next_id or agent.turns or agent.paused:
        raise InvalidInput(
            f"{who} has already played or is paused; simulate starts from fresh agents"
        )
    if not getattr(agent.policy, "fresh", True):  # what it learned the engine would leave out
        raise InvalidInput(
            f"the {type(agent.policy).__name__} of {who} has already taken turns or rewards; "
            "simulate starts from fresh policies"
        )
    if floor.rho is not None:
        _check_moments(who, floor, environment)
    for guard in guards.values():
        check_range(who, guard, environment)
    if several(agent):
        check_objective(who, agent, environment)
    return guards


def _check_arms(who: str, agent: Agent, environment: Environment) -> None:
    """InvalidInput unless the agent plays the arms that the environment has."""
    rows = not agent.labels and agent.actions.numbered and has_contexts(environment)
    if not agent.labels and not rows:
        raise InvalidInput(
            f"{who} plays points, or rows of a context; simulate needs one with a list of arms, "
            "as the environment has one"
        )
    if agent.actions.semi_bandit != getattr(environment, "semi_bandit", False):
        raise InvalidInput(
            f"{who} plays {_KINDS[agent.actions.semi_bandit]}, the environment pays "
            f"{_KINDS[not agent.actions.semi_bandit]}"
        )
    if len(agent.labels) != environment.n_arms and not rows:
        raise InvalidInput(
            f"{who} has {len(agent.labels)} arms, the environment {environment.n_arms}; "
            "the default is not counted in either"
        )


def _check_moments(who: str, floor: Any, environment: Environment) -> None:
    """InvalidInput unless a promise on mean and variance can be kept here."""
    if floor.places < environment.places:
        raise InvalidInput(
            f"{who} keeps mean-variance books of {floor.places} places and the "
            f"environment pays in {environment.places}; give its floor as many"
        )
    if drifts(environment):
        raise InvalidInput(
            f"{who} has a mean-variance floor, whose regret is against arms of one mean and "
            "variance, and the environment drifts; give it a RewardFloor"
        )


_KINDS = {False: "single arms", True: "super arms"}
