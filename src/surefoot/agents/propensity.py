"""With what probability an agent made a play, given all before it: where that is known.

1 where the books or an index leave no choice, p where the policy draws and says its probabilities,
None elsewhere: never a guess. A default that competes takes from each arm the draws whose score is
not above its value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from surefoot.oracles.called import Called
from surefoot.policies.base import Policy, has

CERTAIN, EXACT, TOLD, UNKNOWN = "certain", "exact", "told", "unknown"


def kind_of(policy: Policy) -> str:
    """What is known of a policy's choice.

    CERTAIN: it draws nothing. EXACT: one of ours that knows its probabilities, with a rival too.
    TOLD: it says them by ``propensities``, without a rival.

    >>> from surefoot import EpsilonGreedy, Thompson, UCB1
    >>> [kind_of(policy) for policy in (UCB1(2), EpsilonGreedy(2), Thompson(2))]
    ['certain', 'exact', 'unknown']
    """
    if type(policy).__module__.startswith("surefoot.policies."):
        if has(policy, "chance"):
            return EXACT
        called = isinstance(getattr(policy, "oracle", None), Called)
        return UNKNOWN if called or getattr(policy, "draws", False) else CERTAIN
    return TOLD if has(policy, "propensities") else UNKNOWN


def said(policy: Any, context: Any, allowed: Sequence[int] | None) -> Any:
    """What a policy says of its next turn; None where it fails: a play does not hang on that."""
    try:
        return policy.propensities(context=context, allowed=allowed)
    except Exception:  # noqa: BLE001  # a policy is the user's own code
        return None


def of_choice(
    kind: str, policy: Any, told: Any, arm: Any, score: float | None, rival: float | None,
    allowed: Sequence[int] | None,
) -> float | None:  # fmt: skip
    """The probability of what the turn just taken came to: the arm, or the default if it lost.

    ``told``: what ``said`` gave before the turn.
    """
    if kind == CERTAIN:
        return 1.0
    if kind == EXACT:
        lost = rival is not None and score is not None and not score > rival
        known = math.inf if score is None else score
        return float(policy.chance(policy.turns, -1 if lost else arm, rival, allowed, known))
    if told is None or rival is not None or not isinstance(arm, int):
        return None
    try:
        given = float(told[arm])
    except (IndexError, KeyError, TypeError, ValueError):
        return None
    return given if 0 < given <= 1 else None


def of_default(
    kind: str, policy: Any, turn: int, context: Any, rival: float, allowed: Sequence[int] | None
) -> float | None:
    """The probability that a turn not taken would come to the default."""
    if kind == EXACT:
        return float(policy.chance(turn, -1, rival, allowed))
    if kind == CERTAIN and has(policy, "peek"):
        only = {} if allowed is None else {"allowed": allowed}
        _, score = policy.peek(turn, context=context, **only)
        return float(not score > rival)
    return None
