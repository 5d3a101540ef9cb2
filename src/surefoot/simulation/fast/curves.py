"""The fast driver of KL-UCB and AdaUCB: a leader that keeps its turn below a level.

An index is a concave curve of the scale s, so each of its tangents is a bound for good, and where
the tangent touches the curve nothing has to be iterated: s is a formula of the index, the index
none of s. Only the arm that is played changes its curve; where the others' depend on its plays,
they only fall. So one tangent is kept for each arm, and at turn m

- the arm of the largest bound leads if its own curve has passed the next largest bound. If that is
  in doubt, first its tangent is drawn anew where the bound stands, which is a step of Newton's,
  then that of the next. What stays in doubt is decided by ``index``, as in the plain text, among
  the arms whose bounds leave it open.
- once an arm leads, a level is set between its index and the others' bounds. It keeps the turn
  until the first of the others' tangents reaches the level, or its own index falls to it. A look at
  its curve tells how far off that is; a bound on what each play takes of it, when to look again.

Every comparison keeps a margin above all rounding: the decisions are those of ``loop.base_path``,
ties included.
"""

from __future__ import annotations

from math import inf
from typing import Any

from surefoot._jit import jittable
from surefoot.environments._kernels import draw
from surefoot.kernels import registry
from surefoot.kernels.registry import MARGIN, adds, index, rises, scale, slope, tangent, update
from surefoot.simulation.loop import Block, IntRow, Scale, Truth, policy_reward, units_of

LOW, LEVEL, AT, TILT = range(-4, 0)
"""The lists behind a policy's own: of each arm the least its index can be, and where its tangent
touches the curve, at which scale, and how steep it is."""
SURE = 1e-9
"""Of the scale, and of 1: no scale here is off by as much."""
STILL = 1e-12
"""A bound that a new tangent lowers by less is the index."""
STEPS = 8
"""So many new tangents, and many arms are so close that each one's index is a shorter way."""
SHARE = 0.5
"""Where the level is set between the others' bounds and the leader's index: any place is right."""


def init(policy: Any, n_arms: int) -> Any:
    """The policy's own state, and behind it the tangents."""
    return *registry.init(policy, n_arms), *([0.0] * n_arms for _ in range(4))


def walk(
    policy: Any, state: Any, environment: Any, key: int, own: int, first: int, scaling: Scale,
    rival: float, truth: Truth, block: Block,
) -> None:  # fmt: skip
    """As ``loop.base_path``: take the turns m = first, first+1, ... until the block is full."""
    n_arms = len(state[0])
    j = 0
    while j < len(block.arms):
        m = first + j
        left = len(block.arms) - j
        if m <= n_arms:  # an unplayed arm has the index inf, and the lowest comes first
            k, turns, level = m - 1, 1, inf
            s = scale(policy, n_arms + 1)
        else:
            s = scale(policy, m)
            k, turns, level = _decide(policy, state, m, s, rival, left)
        if k < 0:
            for i in range(j, j + turns):
                block.arms[i] = -1
                block.rewards[i] = 0
            j += turns
            continue
        rewards = block.rewards[j : j + turns]
        n = _stretch(policy, state, environment, key, m, k, scaling, s, level, rewards)
        _touch(policy, state, k, s, level)
        taken = block.arms[j : j + n]
        for i in range(n):
            taken[i] = k
        j += n


@jittable
def _stretch(
    policy: Any, state: Any, environment: Any, key: int, turn: int, k: int, scaling: Scale,
    s: float, level: float, rewards: IntRow,
) -> int:  # fmt: skip
    """Play arm k while its index is above the level, until ``rewards`` is full; how many plays."""
    n, room = 0, -inf
    while True:
        units = units_of(scaling, draw(environment, key, turn + n, k))
        rewards[n] = units
        reward = policy_reward(scaling, units)
        update(policy, state, k, reward)
        n += 1
        if n == len(rewards):
            return n
        room -= adds(policy, state, k, level + MARGIN, reward)
        if room < 0.0:
            # At the first turn's scale, where the index is lowest: what is above now stays so.
            room = _room(policy, state, k, s, level)
            if room < 0.0:
                return n


@jittable
def _decide(
    policy: Any, state: Any, m: int, s: float, rival: float, left: int
) -> tuple[int, int, float]:
    """Who has turn m, -1 for the default, how many turns at least, and the level for the rest.

    More turns than one are an arm's only as long as its index stays above the level.
    """
    k, top, bar, sure = _lead(policy, state, s)
    if not sure:
        k, score = _first(policy, state, s, index(policy, state, k, s, -inf) - MARGIN)
        return (k if score > rival else -1), 1, inf
    if not _above(policy, state, k, s, rival) and not index(policy, state, k, s, -inf) > rival:
        top = _touch(policy, state, k, s, top)
        level = rival - MARGIN
        more = _turns(policy, state, -1, m, s, level, left - 1) if top < level else 0
        return -1, 1 + more, inf
    if left == 1:
        return k, 1, inf
    top = _touch(policy, state, k, s, top)
    bar = max(bar, rival)
    level = bar if bar == -inf else bar + SHARE * (top - bar)  # a single arm has no others
    return k, 1 + _turns(policy, state, k, m, s, level, left - 1), level


@jittable
def _above(policy: Any, state: Any, k: int, s: float, level: float) -> bool:
    """Whether arm k's index is surely above the level, and whatever is surely not above that."""
    return bool(_room(policy, state, k, s, level) >= 0.0)


@jittable
def _room(policy: Any, state: Any, k: int, s: float, level: float) -> float:
    """How far the scale surely is above where arm k's index rises to the level; below 0: in doubt.

    Where the index always is above, the whole scale.
    """
    rise, sure = rises(policy, state, k, level + MARGIN), s - SURE * (1.0 + s)
    return float(max(0.0, sure) if rise == -inf else sure - rise)


@jittable
def _bound(state: Any, k: int, s: float) -> float:
    """What arm k's index surely is not above at scale s, up to rounding."""
    return float(max(state[LOW][k], state[LEVEL][k] + (s - state[AT][k]) * state[TILT][k]))


@jittable
def _touch(policy: Any, state: Any, k: int, s: float, level: float) -> float:
    """Draw arm k's tangent anew, where the curve is at the level; its bound at scale s then."""
    low, state[LEVEL][k], state[AT][k], state[TILT][k] = tangent(policy, state, k, s, level)
    state[LOW][k] = low
    return _bound(state, k, s)


@jittable
def _lead(policy: Any, state: Any, s: float) -> tuple[int, float, float, bool]:
    """The arm of the largest bound at scale s, that bound, the next one, and if it surely leads."""
    steps = 0
    while True:
        k = second = -1
        top = bar = -inf
        for i in range(len(state[LOW])):
            y = _bound(state, i, s)
            if y > top:
                second, bar = k, top
                k, top = i, y
            elif y > bar:
                second, bar = i, y
        if second < 0 or _above(policy, state, k, s, bar):
            return k, top, bar, True
        steps += 1
        if steps > STEPS:
            return k, top, bar, False
        if top - _touch(policy, state, k, s, top) > STILL:
            continue
        if not bar - _touch(policy, state, second, s, bar) > STILL:
            return k, top, bar, False


@jittable
def _first(policy: Any, state: Any, s: float, near: float) -> tuple[int, float]:
    """``registry.argmax`` of the arms whose bound, drawn anew, was not below ``near``."""
    chosen, top = -1, -inf
    for i in range(len(state[LOW])):
        bound = _bound(state, i, s)
        if bound < near:
            continue
        if chosen >= 0 and state[0][i] == state[0][chosen] and state[1][i] == state[1][chosen]:
            continue  # a tie, and the first is chosen
        _touch(policy, state, i, s, bound)
        y = index(policy, state, i, s, top)
        if chosen < 0 or y > top:
            chosen, top = i, y
    return chosen, top


@jittable
def _turns(policy: Any, state: Any, k: int, m: int, s: float, level: float, most: int) -> int:
    """For how many turns after m no arm but k rises to the level; at most so many."""
    low, levels, at, tilt = state[LOW], state[LEVEL], state[AT], state[TILT]
    end = inf
    for i in range(len(low)):
        if i == k:
            continue
        if low[i] >= level or (tilt[i] == 0.0 and levels[i] >= level):
            return 0
        if tilt[i] > 0.0 and levels[i] + (end - at[i]) * tilt[i] > level:
            end = at[i] + (level - levels[i]) / tilt[i]
    # Short of it, by more than the quotient's rounding.
    turns = (end - s) / slope(policy, m) * 0.999999
    return most if turns >= most else max(0, int(turns))
