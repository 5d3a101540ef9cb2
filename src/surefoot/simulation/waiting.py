"""The loop of an agent whose turns depend on the time or on its slack.

Where rewards come late, arms drift, the agent looks at its slack (``GenCB(fund=True)``) or holds
plays out, no base path is shared: gate, turn, arrivals and books of one agent are taken play by
play. As in ``loop``, this is plain Python on plain lists, and numba compiles the same text. An
exploration keeps its hold until its reward arrives; those that arrive after the same play are
learned in the order of their decisions; a default play is reported at once. ``stepwise`` does the
same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from surefoot._jit import jittable
from surefoot.agents.funding import OPEN, SCARCE, count_reward, funding_arm
from surefoot.agents.holdout import HELD
from surefoot.environments._timing import Timing, arrival, best_at, draw_at, mean_at
from surefoot.kernels import uniform
from surefoot.kernels.registry import best, member, opened, update, width
from surefoot.simulation.loop import (
    ARM,
    BELOW,
    DEFAULT,
    DEFAULTS,
    LEAST,
    NEXT,
    SLACK,
    UNGUARDED,
    FloatRow,
    IntRow,
    Scale,
    T,
    Terms,
    Trace,
    lose,
    policy_reward,
    units_of,
)

TURN = 6
"""The column of an agent's own books that holds the policy's clock m."""


class Seat(NamedTuple):
    """What one agent is, in numbers."""

    gate: int
    funds: int
    """1: it plays what has earned most while its slack is scarce."""
    hears: int
    """1: its policy hears of open plays."""
    terms: Terms
    scale: Scale
    rival: float
    """The default's value on the policy's scale, -inf where it does not compete."""
    default: float
    """The default's mean, -inf where there is none: the regret is against it or the best arm."""
    held: float
    """The share of plays that take the default by a draw, and the key of that."""
    draw: Any


class World(NamedTuple):
    """What the environment is, besides the record of its draws."""

    timing: Timing
    means: FloatRow
    """The true means of the (base) arms, and their variances."""
    variances: FloatRow
    best: float
    """The true mean of the best regular action."""


class Queue(NamedTuple):
    """The explorations whose rewards are out, in a ring of one slot a play.

    No delay is as long as the ring, so a play's slot is free again before another needs it.
    """

    first: IntRow
    """By the play (modulo the ring) behind which they are due: the first one's slot, or -1."""
    last: IntRow
    behind: IntRow
    """By slot: the next one that is due then."""
    plays: IntRow
    turns: IntRow
    arms: IntRow
    """By slot, one entry for each (base) arm of a turn, -1 behind the last."""


def queue(size: int, across: int, array: Any) -> Queue:
    """An empty ring for ``size`` plays of at most ``across`` (base) arms each."""
    first, last, behind = (array([-1] * size) for _ in range(3))
    plays, turns = (array([0] * size) for _ in range(2))
    return Queue(first, last, behind, plays, turns, array([-1] * (size * across)))


def go(
    seat: Seat, world: World, policy: Any, state: Any, environment: Any, key: int, own: int,
    out: Queue, tally: Any, books: IntRow, losses: FloatRow, checkpoints: IntRow, trace: Trace,
    until: int,
) -> None:  # fmt: skip
    """Make the plays up to number ``until``, and no more than the last checkpoint.

    ``policy`` and ``environment`` are parameter records, whose class picks the kernels; ``tally``:
    see ``agents.funding``. ``books``: the columns of ``loop`` and the policy's clock.
    """
    _, _, hold, deposit = seat.terms
    t, m, slack, spot = books[T], books[TURN], books[SLACK], books[NEXT]
    end = min(until, checkpoints[-1])
    while t < end:
        t += 1
        k = -1
        held = seat.held > 0.0 and uniform(seat.draw, t - 1, HELD) < seat.held
        if not held and (seat.gate == UNGUARDED or slack >= hold):
            m += 1
            k = turn(seat, world, policy, state, own, tally, slack, m)
        top = max(best_at(environment, world.means, world.best, t), seat.default)
        if k < 0:
            slack += deposit
            books[DEFAULTS] += 1
            if len(losses) > DEFAULT:
                losses[DEFAULT] += top - seat.default
        else:
            slack -= hold
            leave(seat, policy, state, key, world.timing, out, tally, k, m, t, checkpoints[-1])
            see(world, policy, state, environment, k, t, top, losses)
        slack += arrive(seat, policy, state, environment, key, out, tally, t)
        books[LEAST] = min(books[LEAST], slack)
        if slack < 0:
            books[BELOW] += 1
        if t == checkpoints[spot]:
            row = trace.books[spot]
            row[T], row[DEFAULTS], row[SLACK], row[LEAST] = t, books[DEFAULTS], slack, books[LEAST]
            row[BELOW], row[NEXT], row[ARM] = books[BELOW], spot, k
            for i in range(len(losses)):
                trace.losses[spot][i] = losses[i]
            spot += 1
    books[T], books[TURN], books[SLACK], books[NEXT] = t, m, slack, spot


@jittable
def turn(
    seat: Seat, world: World, policy: Any, state: Any, own: int, tally: Any, slack: int, m: int
) -> int:
    """The policy's turn m: the arm played, 0 for a super arm, -1 where the default is better."""
    arms = range(len(world.means))
    k, score = best(policy, state, m, own, None, arms)
    if seat.funds == 1 and slack < SCARCE * seat.terms[2]:
        earner = funding_arm(tally, seat.terms[0], arms)
        if earner >= 0:
            return earner
    return int(k) if score > seat.rival else -1  # so a tie goes to the default


@jittable
def leave(
    seat: Seat, policy: Any, state: Any, key: int, timing: Timing, out: Queue, tally: Any, k: int,
    m: int, t: int, horizon: int,
) -> None:  # fmt: skip
    """Play t was given out: the policy hears of it, and it joins those that are due with it."""
    size, across = len(out.first), len(out.arms) // len(out.first)
    slot = t % size
    out.plays[slot], out.turns[slot], out.behind[slot] = t, m, -1
    for i in range(across):
        e = member(policy, state, k, i)
        out.arms[slot * across + i] = e
        if e < 0:
            break
        if seat.hears == 1:
            opened(policy, state, e, 1)
        tally[OPEN][e] += 1
    due = arrival(timing, key, t)
    if due > horizon:  # it stays open
        return
    spot = due % size
    if out.first[spot] < 0:
        out.first[spot] = slot
    else:
        out.behind[out.last[spot]] = slot
    out.last[spot] = slot


@jittable
def arrive(
    seat: Seat, policy: Any, state: Any, environment: Any, key: int, out: Queue, tally: Any, t: int
) -> int:
    """Tell the policy the rewards due behind play t; returns what they add to the slack."""
    size = len(out.first)
    spot = t % size
    slot = out.first[spot]
    out.first[spot] = -1
    gained = 0
    while slot >= 0:
        gained += settle(seat, policy, state, environment, key, out, tally, slot)
        slot = out.behind[slot]
    return gained


@jittable
def settle(
    seat: Seat, policy: Any, state: Any, environment: Any, key: int, out: Queue, tally: Any,
    slot: int,
) -> int:  # fmt: skip
    """One exploration gets its rewards; returns what they and its hold add to the slack."""
    across = len(out.arms) // len(out.first)
    start = slot * across
    reward = 0
    for i in range(across):
        e = out.arms[start + i]
        if e < 0:
            break
        units = units_of(seat.scale, draw_at(environment, key, out.turns[slot], e, out.plays[slot]))
        update(policy, state, e, policy_reward(seat.scale, units))
        count_reward(tally, e, units)
        reward += units
    for i in range(across):
        e = out.arms[start + i]
        if e < 0:
            break
        if seat.hears == 1:
            opened(policy, state, e, -1)
        tally[OPEN][e] -= 1
    _, floor, hold, _ = seat.terms
    return reward - floor + hold


@jittable
def see(
    world: World, policy: Any, state: Any, environment: Any, k: int, t: int, top: float,
    losses: FloatRow,
) -> None:  # fmt: skip
    """Add what was explored at play t to the sums that the regrets are made of."""
    mean = variance = 0.0
    for i in range(width(policy)):
        e = member(policy, state, k, i)
        if e < 0:
            break
        mean += mean_at(environment, world.means, e, t)
        variance += world.variances[e]
    lose(losses, top, mean, variance)
