"""Arms that come while an experiment runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from surefoot._exact import shown
from surefoot.errors import InvalidInput
from surefoot.policies._index import IndexPolicy
from surefoot.policies.base import Policy, arm_labels


def grown(policy: Policy, labels: Iterable[Any]) -> Policy:
    """The same policy with more arms, of which it knows nothing yet; its clock goes on.

    InvalidInput for a policy whose arms are more than labels, and for a label it has already.

    >>> from surefoot.policies import UCB1
    >>> grown(UCB1(arms=["UA", "AA"]), ["DL"]).arms
    ('UA', 'AA', 'DL')
    """
    if not isinstance(policy, IndexPolicy):
        raise InvalidInput(
            f"arms cannot be added to {type(policy).__name__}: its arms are more than labels; "
            "open a new experiment, on the same account if you like"
        )
    new = arm_labels(None, labels)
    twice = [label for label in new if label in policy.arms]
    if twice:
        raise InvalidInput(f"arm {shown(twice[0])} is there already; labels must differ")
    config = {**policy.config(), "arms": [*policy.arms, *new]}
    bigger = type(policy).from_config(config)
    fresh = bigger.state()["arms"]
    state = policy.state()
    rows = [[*row, *full[len(row) :]] for row, full in zip(state["arms"], fresh, strict=True)]
    bigger.restore({**state, "arms": rows})
    return bigger
