"""What a policy is: the protocol any learner, yours or ours, must follow to be guarded."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from surefoot._exact import shown
from surefoot._labels import Label, arm_labels
from surefoot.errors import InvalidInput


@runtime_checkable
class Policy(Protocol):
    """A standard bandit algorithm, the paper's A_S: it never sees default plays or the slack.

    Arms are 0..n_arms-1; ``select`` is called once for each of the policy's own turns and
    ``update`` once for each reward that arrives, in any order. ``state`` returns plain values
    (numbers, strings, lists, tuples, dicts, numpy arrays) and ``restore`` is its inverse; only
    ``save`` and ``load`` call them.

    Optional attributes: ``arms``, labels for the user; ``unit_rewards = True``, to be told
    rewards scaled to [0, 1]; the method of ``Scoring``; ``sure(value)``, the score of an arm
    that surely pays ``value``, for a policy whose scores are not rewards: the default competes
    with it; ``contextual = False``, where it takes no context, so that one is refused;
    ``check(context)``, which raises InvalidInput for a context that cannot be used, before anything
    changes; and ``correct(arm, old, new, context)``, for a reward that was told as
    ``old`` and turned out to be ``new``: what was learned becomes what it would be had ``update``
    been told ``new``. With it, a live agent can tell the policy the worst of a play whose reward
    does not come, and take it back.

    ``propensities(context=None, allowed=None)``, of a policy that draws at random and knows them:
    the probabilities with which its next turn chooses each arm, one for each, 0 outside
    ``allowed``, exactly; asking takes no turn. They are the policy's: an agent may then play the
    default instead. A policy that does not know them, such as ``Thompson``, leaves it out.

    ``opened(arm, context)`` and ``closed(arm, context)``, both or none: a play of the arm was given
    out, after ``select`` chose it; and it waits no longer, as its reward was told by ``update``
    just before, or it was void, fell back to the default, or expired. Each play is opened once and
    closed at most once, in any order; ``state`` holds what is open. A policy that has both and
    needs to hear of neither says ``counts_open = False``.

    ``measures = True``, to learn what floors guard as well: ``update(arm, reward, context,
    measures={"quality": 0.9})`` then hears of the measures of each report by name, as they were
    told (a cost is positive), cut to their ranges; with ``unit_rewards`` on [0, 1], 1 the best.
    Those of a play may come apart, in any order, each once, or never; ``reward`` is None where a
    report told no objective, and ``measures`` empty where it told none. In the place of True a
    tuple of the names that it cannot do without.

    ``n_arms = None``: the actions are the rows of each play's context, named by their numbers, or
    points. ``numbered = False``: an action is not a number but a point, a tuple of
    floats, where ``n_arms`` is None, and else a super arm, an ascending tuple of base arms, of
    which ``n_arms`` is the number. ``semi_bandit = True``: ``update`` gets a tuple of rewards, one
    for each base arm of the super arm in its order, and ``value(base_rewards)`` is the super
    arm's reward.
    """

    @property
    def n_arms(self) -> int | None: ...

    def select(self, context: Any, rng: np.random.Generator) -> Any: ...

    def update(self, arm: Any, reward: Any, context: Any) -> None: ...

    def state(self) -> Any: ...

    def restore(self, state: Any) -> None: ...


@runtime_checkable
class Scoring(Policy, Protocol):
    """A policy that can score its choice, so that the default may compete with it.

    An agent asks ``best`` instead of ``select``, so both must mean the same. ``best`` also returns
    the score (an index or a posterior sample, on the scale of the rewards it is told); ``allowed``
    restricts it to some arms.
    """

    def best(
        self, context: Any, rng: np.random.Generator, allowed: Sequence[int] | None = None
    ) -> tuple[Any, float]: ...


_METHODS = {
    "select": "select(context, rng)",
    "update": "update(arm, reward, context)",
    "state": "state()",
    "restore": "restore(state)",
}


def arms_of(policy: Any) -> tuple[Label, ...]:
    """The labels of a policy's arms; InvalidInput if it does not follow the protocol.

    Where ``n_arms`` is None there are none.

    >>> class Greedy:
    ...     n_arms = 2
    ...     def select(self, context, rng): ...
    >>> arms_of(Greedy())
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: Greedy is not a policy: it lacks update(arm, reward, context),
    state(), restore(state)
    """
    name = type(policy).__name__
    if isinstance(policy, type):
        raise InvalidInput(f"policy = {policy.__name__} is a class; pass an instance of it")
    missing = [] if hasattr(policy, "n_arms") else ["n_arms"]
    missing += [call for method, call in _METHODS.items() if not has(policy, method)]
    if missing:
        raise InvalidInput(f"{name} is not a policy: it lacks {', '.join(missing)}")
    labels = getattr(policy, "arms", None)
    count = () if policy.n_arms is None else arm_labels(policy.n_arms, None)
    if labels is None:
        return count
    named = arm_labels(None, labels)
    if len(named) != len(count):
        raise InvalidInput(f"{name} has n_arms = {policy.n_arms}, but {len(named)} labels in arms")
    return named


def has(policy: Any, method: str) -> bool:
    """Whether the policy has a method of that name."""
    return callable(getattr(policy, method, None))


def counts_open(policy: Any) -> bool:
    """Whether the policy is to be told which of its plays wait for their reward."""
    both = has(policy, "opened") and has(policy, "closed")
    return both and bool(getattr(policy, "counts_open", True))


def measures_of(policy: Any) -> tuple[str, ...] | None:
    """The measures that a policy cannot do without; None: it is told of none.

    InvalidInput for an attribute ``measures`` that says neither.

    >>> class Frugal:
    ...     measures = ("quality", "cost")
    >>> measures_of(Frugal()), measures_of(object())
    (('quality', 'cost'), None)
    """
    said = getattr(policy, "measures", False)
    if isinstance(said, bool):
        return () if said else None
    names = tuple(said) if isinstance(said, tuple | list) else ()
    if not names or not all(isinstance(name, str) and name for name in names):
        raise InvalidInput(
            f"{type(policy).__name__} has measures = {shown(said)}; say True to be told of all, or "
            "a tuple of the names that it cannot do without"
        )
    return names


def arm_chosen(policy: Any, arm: Any, n_arms: int, allowed: Sequence[int] | None) -> int:
    """The arm a policy chose as a plain int; InvalidInput if it is none, or not an allowed one."""
    try:
        number = operator.index(arm)
    except TypeError:
        number = -1
    if isinstance(arm, bool) or not 0 <= number < n_arms:
        raise InvalidInput(
            f"{type(policy).__name__} chose {shown(arm)}; an arm is an int in 0..{n_arms - 1}"
        )
    if allowed is not None and number not in allowed:
        raise InvalidInput(
            f"{type(policy).__name__} chose arm {number}, which is not among the allowed {allowed}"
        )
    return number


def score_given(policy: Any, answer: Any) -> tuple[Any, float]:
    """The arm and score that ``best`` returned; InvalidInput for anything else."""
    try:
        arm, score = answer
        number = score if type(score) is float else float(score)
    except (OverflowError, TypeError, ValueError):
        number = math.nan
    if number != number:  # NaN
        raise InvalidInput(
            f"{type(policy).__name__}.best returned {shown(answer)}; it returns an arm and its "
            "score, a number"
        )
    return arm, number
