"""The paper's algorithms by their names, as printed: the default does not compete."""

from __future__ import annotations

from typing import Any

from surefoot.agents.gencb import GenCB
from surefoot.floors import RewardFloor
from surefoot.policies import UCB1


def gencb_cmab(n_arms: int, default: Any, alpha: Any, seed: Any = None) -> GenCB:
    """GenCB-CMAB: GenCB over UCB1 on ``n_arms`` regular arms with rewards in [0, 1].

    Source: Du, Wang, Huang 2021, Algorithm GenCB-CMAB (supplement). ``default``: mu0, the
    default's known reward; ``alpha``: the fraction of it one is willing to lose.

    >>> agent = gencb_cmab(n_arms=24, default=0.7, alpha=0.05)
    >>> plays = []
    >>> while not plays or plays[-1].is_default:
    ...     plays.append(agent.select())
    ...     if plays[-1].is_default:
    ...         _ = agent.update(plays[-1])
    >>> len(plays)  # the first exploration is play ceil((1-alpha)/alpha) + 1
    20

    Holds when: as ``GenCB``; regret O(H ln T) plus a constant needs mu0 < mu_*. Does not hold
    when: the default is the best arm: regret is then linear (``GenCB`` lets it compete).
    """
    return GenCB(UCB1(n_arms), RewardFloor(default, alpha), seed, default_competes=False)
