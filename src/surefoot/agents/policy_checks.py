"""Checks of what an agent is given: contexts, a seed, a policy that agrees with itself."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np

from surefoot._exact import shown
from surefoot._types import Seed
from surefoot.agents.actions import Actions
from surefoot.errors import InvalidInput
from surefoot.floors import Floor
from surefoot.floors.several import Floors
from surefoot.policies import MVUCB
from surefoot.policies.base import Policy, measures_of

LOOKS = frozenset({0, *(2**k for k in range(11))})
"""The turns at which ``best`` is compared with ``select``."""


def copied(context: Any) -> Any:
    """Copy plain containers and arrays, so that the caller may reuse theirs; others stay as is.

    >>> row = np.ones(2)
    >>> taken = copied([row, {"hour": 9}])
    >>> row[0] = 5
    >>> taken
    [array([1., 1.]), {'hour': 9}]
    """
    try:
        return _copied(context)
    except RecursionError:
        raise InvalidInput(
            "context holds itself, or is too deep to be copied; flatten it"
        ) from None


def _copied(value: Any) -> Any:
    kind = type(value)
    if kind is list or kind is tuple:
        return kind([_copied(part) for part in value])
    if kind is dict:
        return {key: _copied(part) for key, part in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value


def rows_of(context: Any) -> int | None:
    """How many rows a context has; None if it has none to count."""
    try:
        return len(context)
    except TypeError:
        return None


def doubted(policy: Policy) -> bool:
    """Whether ``best`` may differ from ``select``: both are checked then.

    So it is where either is of a class outside this library.
    """
    homes = [_home(policy, name) for name in ("best", "select")]
    return not all(home.__module__.startswith("surefoot.") for home in homes)


def _home(policy: Policy, method: str) -> type:
    """The class that a policy's method is of."""
    line = type(policy).__mro__
    return next((one for one in line if method in vars(one)), type(policy))


def check_agreement(policy: Policy, floor: Floor) -> None:
    """A mean-variance policy learns on the scale of the floor's range, by the floor's rho.

    And one that cannot do without a measure needs floors by name, which bring measures.
    """
    needs = measures_of(policy)
    if needs and not isinstance(floor, Floors):
        raise InvalidInput(
            f"{type(policy).__name__} learns the measure {needs[0]!r}, which this agent is not "
            f"told; give GenCB floors by name: {{{needs[0]!r}: {shown(floor)}}}"
        )
    if not isinstance(policy, MVUCB):
        return
    if floor.rho is not None and policy.rho != floor.rho:
        raise InvalidInput(
            f"rho = {policy.rho} of the policy and rho = {floor.rho} of the floor must agree"
        )
    if policy.reward_range != floor.reward_range:
        ours, theirs = ("({}, {})".format(*one.reward_range) for one in (policy, floor))
        raise InvalidInput(
            f"reward_range = {ours} of the policy and reward_range = {theirs} of the floor must "
            "agree"
        )


def check_costs(policy: Policy, actions: Actions) -> None:
    """InvalidInput for a policy that could not learn under a ceiling on costs."""
    if actions.semi_bandit:
        raise InvalidInput(
            f"{type(policy).__name__} learns from base_rewards, and under a single CostCeiling a "
            "play is reported by its cost alone; give a RewardFloor, or a policy of single arms"
        )


def sure_score(policy: Any, value: float) -> float:
    """The score of an arm that surely pays ``value``; InvalidInput for NaN."""
    score = float(policy.sure(value))
    if score != score:  # NaN
        raise InvalidInput(
            f"{type(policy).__name__}.sure({value}) returned nan; it returns the score of an arm "
            "that surely pays that"
        )
    return score


def check_best(policy: Any, context: Any, rng: np.random.Generator) -> None:
    """Warn if ``best`` surely differs from ``select``; both run on copies.

    An agent calls only ``best`` where there is one, so a ``select`` that explores at random would
    never run. A warning needs proof: different arms after equal draws, or draws by one of the two
    alone.
    """
    try:
        twins = [copy.deepcopy((policy, context, rng)) for _ in range(2)]
        (one, given, ours), (other, same, theirs) = twins
        arm, _ = one.best(given, ours)
        chosen = other.select(same, theirs)
        before, after = rng.bit_generator.state, [ours.bit_generator.state]
        after.append(theirs.bit_generator.state)
        alike = bool(np.array_equal(arm, chosen))
    except Exception:  # noqa: BLE001  # the user's own code; an error shows when the agent asks it
        return
    still = [_same(before, state) for state in after]
    if still[0] == still[1] and (alike or not _same(*after)):
        return
    how = (
        f"best chose {shown(arm)} and select {shown(chosen)} in the same state"
        if still[0] == still[1]
        else f"only {'select' if still[0] else 'best'} draws at random"
    )
    warnings.warn(
        f"{type(policy).__name__} means different things by best and select: {how}. An agent asks "
        "best alone: let select return best(context, rng)[0], or leave best out",
        stacklevel=5,
    )


def _same(one: Any, other: Any) -> bool:
    """Whether two states of a generator are equal, arrays in them too."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return bool(np.array_equal(one, other))


def seeded(seed: Seed) -> np.random.SeedSequence:
    """The seed sequence of an agent or a study; None takes fresh entropy."""
    try:
        return np.random.SeedSequence(seed)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"seed = {shown(seed)} must be an int >= 0, a list of them, or None for a fresh one"
        ) from None
