"""The actions of a policy: how an agent names, checks and reports them.

Most policies play numbered arms. One with ``numbered = False`` plays points (tuples of floats; its
``n_arms`` is None) or super arms (tuples of base arms, of which there are ``n_arms``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from surefoot._exact import exact, shown, unlabelled
from surefoot._labels import MAX_ARMS, Label
from surefoot.errors import InvalidInput
from surefoot.oracles.base import base_arms
from surefoot.policies.base import Policy, arm_chosen, arms_of
from surefoot.policies.sets import MOST

Action = int | tuple[int, ...] | tuple[float, ...]
"""What a policy plays, in its own numbers."""


class Actions:
    """The actions of one policy.

    >>> from surefoot.policies import UCB1
    >>> actions = Actions(UCB1(arms=["UA", "AA"]))
    >>> actions.arm_numbers(["AA"]), actions.label(1)
    ([1], 'AA')
    """

    def __init__(self, policy: Policy) -> None:
        self.arms: tuple[Label, ...] = arms_of(policy)
        self.numbered = bool(getattr(policy, "numbered", True))
        self.semi_bandit = bool(getattr(policy, "semi_bandit", False))
        self._policy: Any = policy
        self._numbers = {label: number for number, label in enumerate(self.arms)}
        if self.semi_bandit and (self.numbered or not self.arms):
            raise InvalidInput(
                f"{self._kind} has semi_bandit = True; its actions must be super arms of n_arms "
                "base arms: numbered = False, n_arms an int"
            )

    @property
    def _kind(self) -> str:
        return type(self._policy).__name__

    def arm_numbers(self, allowed: Iterable[Label], what: str = "allowed") -> list[int]:
        """The numbers of some arms; InvalidInput if they are not all arms of the policy."""
        if not self.numbered:
            raise InvalidInput(
                f"{what} = {shown(allowed)} cannot be used: {self._kind} does not play single "
                "arms; restrict its actions where they are made"
            )
        if isinstance(allowed, str | bytes):
            raise InvalidInput(f"{what} = {allowed!r} is one string; give a list: [{allowed!r}]")
        if isinstance(allowed, Mapping):
            raise InvalidInput(
                f"{what} = {shown(allowed)} is a dict; give the list of the arms meant"
            )
        try:
            labels = list(allowed)
        except TypeError:
            raise InvalidInput(
                f"{what} = {shown(allowed)} must be a list of arms; give [{shown(allowed)}]"
            ) from None
        return sorted(
            {self._number(label, "allowed arm" if what == "allowed" else "arm") for label in labels}
        )

    def _number(self, label: Any, what: str) -> int:
        # True == 1, but a caller who passes it means a mask.
        if not isinstance(label, bool | np.bool_):
            if not self.arms and isinstance(label, int | np.integer) and label >= 0:
                return int(label)
            try:
                return self._numbers[label]
            except (KeyError, TypeError):
                pass
        few = ", ".join(repr(arm) for arm in self.arms[:8]) or "rows are numbered 0, 1, ..."
        raise InvalidInput(
            f"{what} {shown(label)} is not one of this agent's {len(self.arms)} arms: "
            f"{few}{', ...' if len(self.arms) > 8 else ''}"
        )

    def checked(self, action: Any, context: Any, allowed: Sequence[int] | None = None) -> Action:
        """The policy's choice in plain numbers; InvalidInput if it is not one of its actions."""
        if self.numbered:
            if type(action) is int and allowed is None and 0 <= action < len(self.arms):
                return action
            count = len(self.arms) or (len(context) if hasattr(context, "__len__") else MAX_ARMS)
            return arm_chosen(self._policy, action, count, allowed)
        if self.arms:
            return base_arms(action, f"the super arm that {self._kind} chose", len(self.arms))
        try:
            point = tuple(float(part) for part in action)
        except (TypeError, ValueError):
            point = ()
        if not point or not all(map(math.isfinite, point)):
            raise InvalidInput(
                f"{self._kind} chose {shown(action)}; a point is a tuple of finite floats"
            )
        return point

    def label(self, action: Action) -> Any:
        """The action as the user names it."""
        if not self.arms:
            return action
        if isinstance(action, int):
            return self.arms[action]
        return tuple(self.arms[int(number)] for number in action)

    def action(self, number: int, arm: Any) -> Action:
        """The inverse of ``label``, for an exploration's arm and its number."""
        if self.numbered:
            return number
        if not self.arms:
            return tuple(arm)
        return tuple(self._numbers[label] for label in arm)

    def base_rewards(self, play: int | str, arm: Any, given: Any) -> tuple[Decimal, ...]:
        """A report's base rewards in the order of the super arm, each a number.

        ``arm``: the super arm, as the user names it; None if it is not known any more.
        """
        what = f"base_rewards of play {play}"
        if isinstance(given, Mapping):
            named = {self._number(label, f"{what}: base arm"): given[label] for label in given}
            labels: Any = tuple(self.arms[number] for number in sorted(named))
            values = [named[number] for number in sorted(named)]
        elif isinstance(given, str | bytes | set | frozenset) or not isinstance(given, Iterable):
            raise InvalidInput(
                f"{what} = {shown(given)} must be a list in the order of play.arm, or a dict from "
                "base arm to reward"
            )
        else:
            labels, values = arm, list(unlabelled(given, what))
        if arm is not None and (labels != arm or len(values) != len(arm)):
            raise InvalidInput(
                f"{what} = {shown(given)} must hold one reward for each base arm of {shown(arm)}"
            )
        names = range(len(values)) if labels is None else labels
        return tuple(
            _base_reward(value, f"{what}: base arm {name!r}")
            for name, value in zip(names, values, strict=True)
        )

    def super_arm_reward(self, base_rewards: tuple[Decimal, ...], arm: Any = None) -> Any:
        """The super-arm reward these base rewards make."""
        if arm is None or getattr(self._policy, "f", None) is None:
            return self._policy.value(base_rewards)
        return self._policy.value(base_rewards, tuple(self._numbers[label] for label in arm))


def _base_reward(value: Any, what: str) -> Decimal:
    """A number that any policy can take, checked before the books move."""
    number = exact(value, what)
    if not -MOST <= float(number) <= MOST:
        raise InvalidInput(f"{what} = {shown(value)} is beyond ±{MOST:g}; rescale the rewards")
    return number
