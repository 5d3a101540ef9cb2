"""The engine's loop: one base path of the policy's turns, and default plays put between them.

The policy of a paper's agent sees only its own turns, so with noise indexed by the turn its
sequence of arms is the same for every alpha (and for every mu0, unless the default competes).
``base_path`` walks it once; ``interleave`` then lives one agent's calendar on it: at each moment
either the gate opens and the next turn is played, or the default is. Both are plain Python on
plain arrays, and numba compiles the same text.
"""

from __future__ import annotations

import math
from typing import Any

from surefoot.environments._kernels import draw
from surefoot.policies._kernels import argmax, pledge, update
from surefoot.simulation.trace import ARM, BELOW, DEFAULTS, LEAST, NEXT, SLACK, T

UNGUARDED, ACCOUNT, PLEDGE = 0, 1, 2
GATES = {"none": UNGUARDED, "account": ACCOUNT, "pledge": PLEDGE}


def base_path(
    policy: Any,
    state: Any,
    environment: Any,
    key: Any,
    first: int,
    scale: Any,
    rival: float,
    arms: Any,
    rewards: Any,
    pledges: Any,
) -> None:
    """Take the turns first, first+1, ... until the block ``arms, rewards, pledges`` is full.

    ``scale``: (units of the books in one unit of the environment, r_min, r_max - r_min), the last
    two in units of the books. ``rival``: the default's value on the policy's scale, or -inf where
    it does not compete; a turn it wins is arm -1 and draws nothing.
    """
    units, low, width = scale
    for j in range(arms.size):
        m = first + j
        k, score = argmax(policy, state, m, range(len(state[0])))
        if not score > rival:
            arms[j] = -1
            continue
        reward = draw(environment, key, m, k) * units
        arms[j] = k
        rewards[j] = reward
        pledges[j] = math.floor(pledge(policy, state, k) * width) + low * m
        update(policy, state, k, (reward - low) / width)


def interleave(
    gate: int,
    terms: Any,
    arms: Any,
    rewards: Any,
    pledges: Any,
    gaps: Any,
    books: Any,
    loss: Any,
    checkpoints: Any,
    trace: Any,
    losses: Any,
) -> None:
    """Play a block of turns under one gate, the default whenever it is closed.

    ``terms``: (value, floor, hold, deposit). ``gaps``: pseudo-regret of one play of each arm.
    ``loss``: regret of the regular plays so far. At t = checkpoints[i] the books are copied to
    row i of ``trace`` and the loss to ``losses``; the last checkpoint ends the run.
    """
    value, floor, hold, deposit = terms
    t, defaults, slack = books[T], books[DEFAULTS], books[SLACK]
    least, below, spot = books[LEAST], books[BELOW], books[NEXT]
    regret = loss[0]
    j = 0
    while j < arms.size and t < checkpoints[-1]:
        k = arms[j]
        if gate == ACCOUNT:
            opened = slack >= hold
        elif gate == PLEDGE:
            opened = k < 0 or pledges[j] + defaults * value >= floor * (t + 1)
        else:
            opened = True
        if opened and k >= 0:
            slack += rewards[j] - floor
            regret += gaps[k]
        else:
            k = -1
            slack += deposit
            defaults += 1
        if opened:
            j += 1
        t += 1
        least = min(least, slack)
        if slack < 0:
            below += 1
        if t == checkpoints[spot]:
            row = trace[spot]
            row[T], row[DEFAULTS], row[SLACK], row[LEAST] = t, defaults, slack, least
            row[BELOW], row[NEXT], row[ARM] = below, spot, k
            losses[spot] = regret
            spot += 1
    books[T], books[DEFAULTS], books[SLACK] = t, defaults, slack
    books[LEAST], books[BELOW], books[NEXT] = least, below, spot
    loss[0] = regret
