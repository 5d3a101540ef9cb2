"""One agent of several floors on a base path: a gate that asks every account.

The policy learns the objective alone, so its turns are shared like any other's (see ``loop``); what
each floor's measure comes to at a turn is drawn for a block of them at a time. As in ``loop``, this
is plain Python on plain lists, and numba compiles the same text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surefoot._exact import INT64_MAX
from surefoot.environments._kernels import draw
from surefoot.environments.measured import part_key
from surefoot.simulation.guards import Guard
from surefoot.simulation.loop import (
    ACCOUNT,
    ARM,
    BELOW,
    DEFAULTS,
    GATES,
    LEAST,
    NEXT,
    OF_BELOW,
    OF_LEAST,
    OF_SLACK,
    SLACK,
    SUMS,
    Block,
    FloatRow,
    IntRow,
    Scale,
    T,
    Trace,
    Truth,
    blank,
    lose,
    units_of,
)
from surefoot.simulation.stops import Rows, trace_rows

if TYPE_CHECKING:
    from surefoot.simulation.compiled import Engine
    from surefoot.simulation.plan import Plan

# Of each floor: what it asks of a play, the hold and the deposit.
ASKED, HOLD, DEPOSIT = range(3)


def measure(
    environment: Any, key: int, first: int, scale: Scale, block: Block, rewards: IntRow, start: int
) -> None:
    """Draw a measure of the block's turns, from turn ``first``, into rewards[start], ...

    ``environment``: the parameter record of the measure, ``key`` that of its draws. Amounts are in
    units of a floor's books.
    """
    for j in range(len(block.arms)):
        k = block.arms[j]
        units = 0
        if k >= 0:
            units = units_of(scale, draw(environment, key, first + j, k))
        rewards[start + j] = units


def interleave_several(
    gate: int, terms: IntRow, rewards: IntRow, block: Block, truth: Truth, top: float,
    books: IntRow, accounts: IntRow, losses: FloatRow, checkpoints: IntRow, trace: Trace,
) -> None:  # fmt: skip
    """As ``loop.interleave``, with an account for each floor: a turn is taken if all afford it.

    Flat rows, floor by floor: ``terms`` as above, ``rewards`` of the block's turns, ``accounts`` as
    the last axis of ``Trace.floors``. ``books`` has the objective of explorations for the slack.
    """
    means, variances = truth
    size, count = len(block.arms), len(terms) // 3
    t, defaults, received = books[T], books[DEFAULTS], books[SLACK]
    least, below, spot = books[LEAST], books[BELOW], books[NEXT]
    j = 0
    while j < size and t < checkpoints[-1]:
        k = block.arms[j]
        opened = True
        if gate == ACCOUNT:
            for i in range(count):
                opened = opened and accounts[3 * i + OF_SLACK] >= terms[3 * i + HOLD]
        explores = opened and k >= 0
        short = 0
        for i in range(count):
            slack = accounts[3 * i + OF_SLACK]
            if explores:
                slack += rewards[i * size + j] - terms[3 * i + ASKED]
            else:
                slack += terms[3 * i + DEPOSIT]
            accounts[3 * i + OF_SLACK] = slack
            accounts[3 * i + OF_LEAST] = min(accounts[3 * i + OF_LEAST], slack)
            if slack < 0:
                accounts[3 * i + OF_BELOW] += 1
                short = 1
        if explores:
            received += block.rewards[j]
            lose(losses, top, means[k], variances[k])
        else:
            k = -1
            defaults += 1
        if opened:
            j += 1
        t += 1
        least = min(least, received)
        below += short
        if t == checkpoints[spot]:
            row = trace.books[spot]
            row[T], row[DEFAULTS], row[SLACK], row[LEAST] = t, defaults, received, least
            row[BELOW], row[NEXT], row[ARM] = below, spot, k
            for i in range(len(losses)):
                trace.losses[spot][i] = losses[i]
            for i in range(count):
                for part in range(3):
                    trace.floors[spot][i][part] = accounts[3 * i + part]
            spot += 1
    books[T], books[DEFAULTS], books[SLACK] = t, defaults, received
    books[LEAST], books[BELOW], books[NEXT] = least, below, spot


class SeveralCalendar:
    """Where the default plays of an agent of several floors fall between the turns of a path."""

    def __init__(
        self, plan: Plan, name: str, run: int, engine: Engine, truth: Truth, size: int
    ) -> None:
        agent, guards, array = plan.agents[name], plan.guards[name], engine.array
        self._engine, self._truth, self._size = engine, truth, size
        self._gate, self._top = GATES[agent.gate], plan.tops[name]
        self._draws = [_drawn(guard, plan, run, engine) for guard in guards.values()]
        terms = [guard.floor.terms() for guard in guards.values()]
        self._terms = array([x for one in terms for x in (one.floor, one.hold, one.deposit)])
        reserves = [guard.floor.open().account.reserve for guard in guards.values()]
        self._accounts = array([x for reserve in reserves for x in (reserve, INT64_MAX, 0)])
        self._rewards = engine.zeros(len(terms) * size, int)
        self.books = array([0, 0, 0, INT64_MAX, 0, 0])
        self._losses = array([0.0] * SUMS)
        self._turns = [0]
        """How many the policy has taken."""
        self._checkpoints = plan.checkpoints
        self._trace = blank(len(plan.checkpoints), SUMS, len(terms))

    def take(self, block: Block) -> None:
        """Take the turns of one block."""
        first = self._turns[0] + 1
        for i, drawn in enumerate(self._draws):
            start = i * self._size
            if drawn is None:
                self._rewards[start : start + self._size] = block.rewards
            else:
                record, key, scale = drawn
                self._engine.measure(record, key, first, scale, block, self._rewards, start)
        self._engine.interleave_several(
            self._gate, self._terms, self._rewards, block, self._truth, self._top, self.books,
            self._accounts, self._losses, self._checkpoints, self._trace,
        )  # fmt: skip
        self._turns[0] += self._size

    def rows(self) -> Rows:
        """What the turns to come depend on, and what was noted."""
        own = {"turns": self._turns, "books": self.books, "accounts": self._accounts}
        return own | {"losses": self._losses, **trace_rows(self._trace)}

    def trace(self) -> Trace:
        """What was noted so far."""
        return self._trace


def scale_of(guard: Guard, environment: Any) -> Scale:
    """From the draws of a floor's measure to units of its books; costs count against it."""
    finer = guard.floor.places - environment.measures[guard.measure].places
    sign = -1 if guard.costs else 1
    return Scale(sign * 10 ** max(finer, 0), 10 ** max(-finer, 0), 0, 1)


def _drawn(guard: Guard, plan: Plan, run: int, engine: Engine) -> Any:
    """Record, key and scale of a floor's measure; None of the objective, which the path draws."""
    if guard.measure is None:
        return None
    environment: Any = plan.environment
    key = part_key(plan.key(run), environment.part_of(guard.measure))
    record = environment.measures[guard.measure].record
    return record, engine.word(key), scale_of(guard, environment)
