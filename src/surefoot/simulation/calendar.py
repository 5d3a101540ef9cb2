"""One agent's calendar: where its default plays fall between the turns of a base path."""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from surefoot._exact import INT64_MAX
from surefoot.agents.agent import Agent
from surefoot.floors import MeanVarianceFloor, Terms
from surefoot.floors.mean_variance_account import MeanVarianceAccount, Moments
from surefoot.simulation import mean_variance as mv
from surefoot.simulation.loop import (
    ACCOUNT,
    GATES,
    LEAST,
    SLACK,
    SUMS,
    Block,
    Ints,
    T,
    Trace,
    blank,
)
from surefoot.simulation.stops import Rows, trace_rows

if TYPE_CHECKING:
    from surefoot.simulation.compiled import Engine


class Calendar(Protocol):
    """``books``: the state; ``take`` takes the turns of one block; ``rows``: all it writes."""

    books: Any

    def take(self, block: Block) -> None: ...

    def rows(self) -> Rows: ...

    def trace(self) -> Trace: ...


def calendar(agent: Agent, top: float, checkpoints: Ints, engine: Engine) -> Calendar:
    """The calendar of an agent's floor; ``top``: mu_*, the regret is against it."""
    if agent.floor.rho is not None:
        return MomentCalendar(agent, top, checkpoints, engine)
    terms, reserve = agent.floor.terms(), agent.floor.open().account.reserve
    return SumCalendar(GATES[agent.gate], terms, reserve, top, checkpoints, engine)


class SumCalendar:
    """The calendar of a reward floor, which needs one sum."""

    def __init__(
        self,
        gate: int,
        terms: Terms,
        reserve: int,
        top: float,
        checkpoints: Ints,
        engine: Engine,
    ) -> None:
        self.interleave = engine.interleave
        self.terms = (terms.value, terms.floor, terms.hold, terms.deposit)
        self.gate, self.top = gate, top
        self.books = engine.array([0, 0, reserve, INT64_MAX, 0, 0])
        self.losses = engine.array([0.0] * SUMS)
        self.checkpoints = checkpoints
        self._trace = blank(len(checkpoints))

    def take(self, block: Block) -> None:
        """Take the turns of one block."""
        self.interleave(
            self.gate, self.terms, block, self.top, self.books, self.losses, self.checkpoints,
            self._trace,
        )  # fmt: skip

    def rows(self) -> Rows:
        """What the turns to come depend on, and what was noted."""
        return {"books": self.books, "losses": self.losses, **trace_rows(self._trace)}

    def trace(self) -> Trace:
        """What was noted so far."""
        return self._trace


class MomentCalendar:
    """The calendar of a mean-variance floor: floats, and integers where they leave a doubt."""

    def __init__(self, agent: Agent, top: float, checkpoints: Ints, engine: Engine) -> None:
        floor: Any = agent.floor
        self.constants, self.check = floor.constants, floor.check
        self.interleave = engine.interleave_moments
        self.gate, self.top = GATES[agent.gate], top
        self.promise = promise(floor)
        self.books = engine.array([0] * 6)
        self.sums = engine.array([0] * 8)
        self.least = engine.array([inf, 0.0])
        self.ruling = engine.array([0] * 4)
        self.losses = engine.array([0.0] * SUMS)
        self.checkpoints = checkpoints
        self._trace = blank(len(checkpoints))
        self._marks = np.zeros((len(checkpoints), 8), np.int64)
        self.rulings = 0
        """How often the integers were asked."""

    def take(self, block: Block) -> None:
        """Take the turns of one block."""
        self.sums[mv.TURN] = 0
        while self.interleave(
            self.gate, self.promise, block, self.top, self.books, self.sums, self.least,
            self.ruling, self.losses, self.checkpoints, self._trace, self._marks,
        ):  # fmt: skip
            self._rule(block)

    def _rule(self, block: Block) -> None:
        """Answer for the next play, exactly: is the gate open, is it short, is it the least?"""
        sums, turn = self.sums, int(self.sums[mv.TURN])
        now = _moments(self.books[T], *sums[mv.TOTAL : mv.LOW + 1])
        account = MeanVarianceAccount(self.constants, self.check, now)
        opened = self.gate != ACCOUNT or account.affords(account.risk)
        explores = opened and block.arms[turn] >= 0
        after = now.plus(1, int(block.rewards[turn]) if explores else self.constants.value)
        least = _moments(*sums[mv.LEAST_N : mv.LEAST_LOW + 1])
        slack = self.constants.slack
        less = least.n == 0 or slack(after) < slack(least)
        self.ruling[mv.OPENED], self.ruling[mv.LESS] = int(opened), int(less)
        self.ruling[mv.SHORT] = int(not self.constants.kept(after))
        self.ruling[mv.GIVEN] = 1
        self.rulings += 1

    def rows(self) -> Rows:
        """What the turns to come depend on, and what was noted."""
        return {
            "books": self.books,
            "sums": self.sums,
            "least": self.least,
            "ruling": self.ruling,
            "losses": self.losses,
            "marks": self._marks,
            **trace_rows(self._trace),
        }

    def trace(self) -> Trace:
        """What was noted so far, with exact slacks."""
        books, slack = self._trace.books, self.constants.slack
        marks = self._marks.tolist()
        books[:, SLACK] = [
            slack(_moments(n, *mark[mv.TOTAL : mv.LOW + 1]))
            for n, mark in zip(books[:, T].tolist(), marks, strict=True)
        ]
        lows = [tuple(mark[mv.LEAST_N : mv.LEAST_LOW + 1]) for mark in marks]
        least = {low: slack(_moments(*low)) for low in set(lows)}  # few rows have one of their own
        books[:, LEAST] = [least[low] for low in lows]
        return self._trace


def promise(floor: MeanVarianceFloor) -> mv.Promise:
    """A floor's promise in floats, each the nearest to its exact value."""
    constants = floor.constants
    rho, alpha, mu0 = float(floor.rho), float(floor.alpha), float(floor.default)
    over, under = constants.asked
    return mv.Promise(
        mv.CHECKS[floor.check], constants.unit, constants.value, constants.low, constants.high,
        rho, mu0, over / (under * constants.unit), sqrt(alpha * rho * mu0),
        1.0 / constants.unit,
    )  # fmt: skip


def _moments(n: int, total: int, high: int, low: int) -> Moments:
    return Moments(int(n), int(total), int(high) * mv.BASE + int(low))
