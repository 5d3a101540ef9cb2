"""The fast driver of UCB1 and MV-UCB: a leader that keeps its turn, and a kinetic tournament.

    y_i(s) = a_i + s w_i,   w_i falls as 1/sqrt(N_i),   s = s(m) grows and is concave in m

Only the arm that is played changes its line. So the leader, once found, keeps the turn for as long
as a bound vouches for it. At turn m let k lead, u and e be the largest other index at s(m) and at
s(m) + h s'(m). The others' maximum is convex in s and lies below its chord; s(m+n) lies below its
tangent; k's own bonus b = s w_k falls, in n plays, to no less than b (1 - n/2N). Hence k still
leads, strictly, at turn m+n for n <= h while

    a_k > u - b + n ((e-u)/h + b/2N)

Where a needs the squares of rewards, the rewards stand in for them until the bound fails: then the
squares are added, and it is asked again. Every comparison keeps a margin above all rounding. What
it leaves in doubt is decided by the plain text, ``best``: the decisions are those of
``loop.base_path``, ties included.

The next leader is found in a kinetic tournament (Basch, Guibas, Hershberger 1999, "Data structures
for mobile data"): a complete binary tree on flat lists, whose leaf i sits at size + i and whose
node n has the children 2n and 2n+1. Every node knows the winner among its leaves and the s up to
which all duels below it are certain. A changed line is put right on its path to the root; as s
grows, only nodes whose certainty has run out are played anew.
"""

from __future__ import annotations

from math import floor, inf
from typing import Any

from surefoot._jit import jittable
from surefoot.environments._kernels import draw
from surefoot.kernels import registry
from surefoot.kernels.registry import (
    above,
    best,
    gain,
    index,
    line,
    read,
    rise,
    scale,
    square,
    write,
)
from surefoot.simulation.loop import Block, IntRow, Scale, Truth, policy_reward, units_of

LEVEL, SLOPE, WIN, FAIL, QUEUE = range(-5, 0)
"""The lists behind a policy's own: a and w of each leaf; winner, certainty, and room to sort the
nodes in. ``WIN[0]`` is not a node: it names an arm whose line changed, or is -1."""
LOST = -1e300
"""The level of a leaf without an arm."""
AHEAD = 32
"""The most draws made before the bound is asked about the first of them."""
MARGIN = 1e-13
"""Of the largest index there can be. An index is made of a dozen roundings of 2**-53 of it."""


def init(policy: Any, n_arms: int) -> Any:
    """The policy's own state, and behind it the lines and their tournament."""
    size = size_of(n_arms)
    return (
        *registry.init(policy, n_arms),
        [LOST] * size, [0.0] * size, [-1] * (2 * size), [inf] * (2 * size), [0] * (2 * size),
    )  # fmt: skip


def walk(
    policy: Any, state: Any, environment: Any, key: int, own: int, first: int, scaling: Scale,
    rival: float, truth: Truth, block: Block,
) -> None:  # fmt: skip
    """As ``loop.base_path``: take the turns m = first, first+1, ... until the block is full."""
    n_arms = len(state[0])
    tree = state[LEVEL:]  # a call that is not inlined copies all its arguments
    each = steps(policy, scaling)
    j = 0
    while j < len(block.arms):
        m = first + j
        length, level, growth = 0, LOST, 0.0
        if m <= n_arms:  # an unplayed arm has the index inf, and the lowest comes first
            k = m - 1
        else:
            s, rate, reach = rise(policy, m)
            margin = MARGIN * reach
            certain = _lead(tree, n_arms, m, s, margin)
            k = state[WIN][1]
            top = state[LEVEL][k] + s * state[SLOPE][k]
            if not certain:
                k, score = best(policy, state, m, own, None, range(len(truth[0])))
            elif top > rival + margin:  # surely above: its exact index is not needed
                score = inf
            else:
                score = index(policy, state, k, scale(policy, m), -inf)
            if not score > rival:
                block.arms[j] = -1
                block.rewards[j] = 0
                j += 1
                continue
            if certain:
                length, level, growth = _certificate(tree, k, state[0][k], m, s, rate, rival)
                level += margin  # so that rounding cannot vouch for a turn that is not k's
        rewards = block.rewards[j : j + length + 1]
        known = read(policy, state, k)
        known, n = _stretch(
            policy, known, environment, key, m, k, scaling, each, level, growth, rewards
        )
        write(policy, state, k, known)
        state[LEVEL][k], state[SLOPE][k] = line(policy, state, k)
        state[WIN][0] = k
        taken = block.arms[j : j + n]
        for i in range(n):
            taken[i] = k
        j += n


@jittable
def _stretch(
    policy: Any, known: Any, environment: Any, key: int, turn: int, k: int, scaling: Scale,
    each: int, level: float, growth: float, rewards: IntRow,
) -> tuple[Any, int]:  # fmt: skip
    """Play arm k until the bound no longer vouches for it; what is known of it then, and the plays.

    ``rewards``: where they go; it ends where the certificate does.
    """
    n = drawn = 0
    counted, total = 0, 0  # the rewards that are in ``known``, and the sum of those that are not
    while True:
        if n == drawn:  # several draws at a time, which then overlap; most stretches are short
            ahead = rewards[n : n + min(n + 8, AHEAD)]
            _draw(environment, key, turn + n, k, scaling, ahead)
            drawn += len(ahead)
        leads = True
        for units in rewards[n:drawn]:
            total += nano_of(policy, scaling, units, each)
            n += 1
            if not above(policy, known, n - counted, total, level + n * growth):
                leads = False
                break
        if leads and n < len(rewards):
            continue
        known = gain(policy, known, n - counted, total)
        fresh = rewards[counted:n]
        for i in range(len(fresh)):  # by number: numba then vectorises
            known = square(policy, known, nano_of(policy, scaling, fresh[i], each))
        counted, total = n, 0
        if n == len(rewards) or not above(policy, known, 0, 0, level + n * growth):
            return known, n


@jittable
def _draw(environment: Any, key: int, turn: int, k: int, scaling: Scale, rewards: IntRow) -> None:
    """Draw arm k's rewards of turns in a row, in units: several at a time where none is divided."""
    if scaling.over > 1:
        for i in range(len(rewards)):
            rewards[i] = units_of(scaling, draw(environment, key, turn + i, k))
    else:
        for i in range(len(rewards)):
            rewards[i] = int(draw(environment, key, turn + i, k)) * scaling.times


@jittable
def steps(policy: Any, scaling: Scale) -> int:
    """How many units of a policy's sums are in one of the books'; 0 if that is not whole."""
    whole = int(policy.unit)
    return 0 if whole % scaling.width else int(whole // scaling.width)


@jittable
def nano_of(policy: Any, scaling: Scale, units: Any, each: int) -> Any:
    """A reward in the policy's units, usually billionths: the integer that its ``update`` adds."""
    if each > 0:
        return (units - scaling.low) * each
    return floor(policy_reward(scaling, units) * policy.unit + 0.5)


@jittable
def _lead(tree: Any, n_arms: int, m: int, s: float, margin: float) -> bool:
    """Bring the tournament up to s; whether its winner is certain."""
    if m == n_arms + 1:
        begin(tree, s, margin)
    elif tree[WIN][0] >= 0:
        put(tree, tree[WIN][0], s, margin)
    tree[WIN][0] = -1
    settle(tree, s, margin)
    return bool(tree[FAIL][1] >= s)


@jittable
def _certificate(
    tree: Any, k: int, plays: int, m: int, s: float, rate: float, rival: float
) -> tuple[int, float, float]:
    """For how many more turns, and above which line in n, a_k keeps the lead."""
    # Any horizon is right: a longer one asks less often, but loosens the chord and the bonus.
    horizon = min(16 + (m >> 7), plays >> 1)
    if horizon == 0:
        return 0, LOST, 0.0
    now, after, sure = against(tree, k, s, s + horizon * rate)
    if sure < s + horizon * rate:  # the winners beside k's path have to win until the end
        horizon = int((sure - s) / rate * 0.999999)
        if horizon <= 0:
            return 0, LOST, 0.0
        now, after, sure = against(tree, k, s, s + horizon * rate)
    now, after = max(now, rival), max(after, rival)  # a default that competes is a constant line
    bonus = s * tree[SLOPE][k]
    growth = (after - now) / horizon + bonus / (2.0 * plays)
    return horizon, now - bonus, growth


def size_of(n_arms: int) -> int:
    """How many leaves: a power of two."""
    return 1 << (n_arms - 1).bit_length()


@jittable
def _duel(state: Any, node: int, s: float, margin: float) -> None:
    """Play one node: its winner, and until when that is certain."""
    level, slope, win, fail = state[LEVEL], state[SLOPE], state[WIN], state[FAIL]
    left, right = win[2 * node], win[2 * node + 1]
    steeper = slope[right] - slope[left]
    lead = (level[left] - level[right]) - s * steeper
    steeper = steeper if lead >= 0.0 else -steeper
    win[node] = left if lead >= 0.0 else right
    behind = abs(lead) - margin
    # Short of where the lines cross, by more than the quotient's rounding.
    sure = s + behind / steeper * 0.999999 if steeper > 0.0 else inf
    # In doubt (so is a nan) unless they are equal for ever: then the left one is the lower.
    if not behind > 0.0:
        sure = inf if level[left] == level[right] and steeper == 0.0 else -inf
    fail[node] = min(sure, fail[2 * node], fail[2 * node + 1])


@jittable
def begin(state: Any, s: float, margin: float) -> None:
    """Play all duels."""
    size = len(state[LEVEL])
    for i in range(size):
        state[WIN][size + i] = i
    for back in range(1, size):
        _duel(state, size - back, s, margin)


@jittable
def put(state: Any, arm: int, s: float, margin: float) -> None:
    """The line of one arm changed: play its duels anew, up to the root."""
    node = (len(state[LEVEL]) + arm) >> 1
    while node > 0:
        _duel(state, node, s, margin)
        node >>= 1


@jittable
def settle(state: Any, s: float, margin: float) -> None:
    """Repeat the duels that are no longer certain at s, from the leaves up."""
    fail, queue = state[FAIL], state[QUEUE]
    size = len(state[LEVEL])
    if size == 1 or fail[1] >= s:
        return
    queue[0] = 1
    count, i = 1, 0
    while i < count:
        node = 2 * queue[i]
        for child in (node, node + 1):
            if child < size and fail[child] < s:
                queue[count] = child
                count += 1
        i += 1
    for i in range(count - 1, -1, -1):
        _duel(state, queue[i], s, margin)


@jittable
def against(state: Any, arm: int, s: float, end: float) -> tuple[float, float, float]:
    """The largest line but the arm's own at s and at ``end``, and until when that is certain.

    It is one of the winners beside the arm's path.
    """
    level, slope, win, fail = state[LEVEL], state[SLOPE], state[WIN], state[FAIL]
    now = after = LOST
    sure = inf
    node = len(level) + arm
    while node > 1:
        beside = node ^ 1
        other = win[beside]
        now = max(now, level[other] + s * slope[other])
        after = max(after, level[other] + end * slope[other])
        sure = min(sure, fail[beside])
        node >>= 1
    return now, after, sure
