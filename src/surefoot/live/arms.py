"""Arms that come while an experiment runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from surefoot.errors import InvalidInput
from surefoot.policies._index import IndexPolicy
from surefoot.policies.base import Policy, arm_labels


def unknown(known: Collection[Any], labels: Iterable[Any]) -> list[Any]:
    """Those of some labels that are no known arms; InvalidInput for what can be no label."""
    return [label for label in arm_labels(None, labels) if label not in known]


def grown(policy: Policy, labels: Iterable[Any]) -> Policy:
    """The same policy with more arms, of which it knows nothing yet; its clock goes on.

    InvalidInput for a policy whose arms are more than labels.

    >>> from surefoot.policies import UCB1
    >>> grown(UCB1(arms=["UA", "AA"]), ["DL"]).arms
    ('UA', 'AA', 'DL')
    """
    if not isinstance(policy, IndexPolicy):
        raise InvalidInput(
            f"arms cannot be added to {type(policy).__name__}: its arms are more than labels; "
            "open a new experiment, on the same account if you like"
        )
    config = {**policy.config(), "arms": [*policy.arms, *labels]}
    bigger = type(policy).from_config(config)
    fresh = bigger.state()["arms"]
    state = policy.state()
    rows = [[*row, *full[len(row) :]] for row, full in zip(state["arms"], fresh, strict=True)]
    bigger.restore({**state, "arms": rows})
    return bigger
