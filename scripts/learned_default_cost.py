"""What it costs not to know the default's mean: default plays, known and learned.

    uv run python scripts/learned_default_cost.py [--runs 60] [--plays 100000]

Beta-Bernoulli Thompson sampling under a reward floor; the default competes at its known mean, or
at the upper end of what is learned. Every reward is told at once. A compiled loop: the account in
whole numbers, the odds sequence, of coins known by their counts, in floats. ``--check`` compares
its decisions with those of the library's books.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

from surefoot import LearnedDefault, RewardFloor
from surefoot.floors.odds import K, due

F = TypeVar("F", bound=Callable[..., Any])
STEPS, WHOLE, DELTA = 100_000, 10_000, 0.05
"""Ends are multiples of 1/STEPS, alpha of 1/WHOLE."""
EXPLORED, CHOSEN, FORCED = 0, 1, 2
"""What a play was: an arm, the default by the policy's choice, or as the gate was closed."""


def compiled(function: F) -> F:
    """It, compiled."""
    return cast("F", njit(function))


@dataclass(frozen=True)
class Case:
    """Arms and default of coins, and the floor's alpha."""

    name: str
    means: tuple[float, ...]
    default: float
    alpha: float


def spread(best: float, worst: float, count: int) -> tuple[float, ...]:
    """Means in equal steps."""
    return tuple(np.linspace(best, worst, count).tolist())


MANY, CLICKS = spread(0.8, 0.2, 24), spread(0.06, 0.02, 10)
CASES = (
    Case("24 arms, .8 to .2, default .7", MANY, 0.7, 0.05),
    Case("24 arms, .8 to .2, default .7", MANY, 0.7, 0.01),
    Case("10 arms, .06 to .02, default .05", CLICKS, 0.05, 0.05),
    Case("10 arms, .06 to .02, default .05", CLICKS, 0.05, 0.1),
)


@compiled
def refuted(end: int, n: int, lost: int) -> bool:
    """Whether the mean ``end`` is refuted by n coins of which so many paid 0."""
    evidence = 0.0
    for k in range(K):
        odds = 2.0 ** (k - 8)
        evidence += math.exp(lost * math.log1p(odds) - n * math.log1p(odds * (1 - end / STEPS)))
    return evidence * DELTA >= K


@compiled
def lowered(end: int, n: int, lost: int) -> int:
    """The least end that is refuted, or ``end``."""
    least = 0
    while least < end:
        middle = (least + end) // 2
        if refuted(middle, n, lost):
            end = middle
        else:
            least = middle + 1
    return end


@compiled
def played(means: Any, default: float, end: int, alpha: int, looks: Any, tape: Any) -> Any:
    """What each play was; ``tape``: the draws of what is paid, ``looks``: when the end may move."""
    won, missed, was = np.ones(len(means)), np.ones(len(means)), np.zeros(len(tape), np.int8)
    received, explored, n, lost = 0, 0, 0, 0
    for play in range(len(tape)):
        asks = end * (WHOLE - alpha)
        arm, best = -1, end / STEPS
        is_open = received * STEPS * WHOLE - explored * asks + n * alpha * end >= asks
        if is_open:
            for each in range(len(means)):
                sample = np.random.beta(won[each], missed[each])  # noqa: NPY002 - compiled
                if sample > best:
                    arm, best = each, sample
        paid = tape[play] < (default if arm < 0 else means[arm])
        if arm >= 0:
            explored, received = explored + 1, received + paid
            won[arm], missed[arm] = won[arm] + paid, missed[arm] + 1 - paid
            continue
        was[play], n, lost = CHOSEN if is_open else FORCED, n + 1, lost + 1 - paid
        if looks[n]:
            end = lowered(end, n, lost)
    return was


@compiled
def seeded(seed: int) -> None:
    """Seed the compiled draws."""
    np.random.seed(seed)  # noqa: NPY002 - of the compiled draws


def default_plays(case: Case, learned: bool, plays: int, seed: int) -> Any:
    """What each play was, and the draws of what was paid."""
    seeded(seed)
    looks = np.array([learned and due(n) for n in range(plays + 1)])
    tape = np.random.default_rng(seed).random(plays)
    end = STEPS if learned else round(case.default * STEPS)
    alpha, means = round(case.alpha * WHOLE), np.array(case.means)
    return played(means, case.default, end, alpha, looks, tape), tape


def count(case: Case, learned: bool, plays: int, seed: int) -> int:
    """How often the default was played."""
    was, _ = default_plays(case, learned, plays, seed)
    return int((was != EXPLORED).sum())


def check(case: Case, plays: int, seed: int) -> None:
    """AssertionError unless the gate of the library's books is open at the same plays."""
    means = (max(case.means),)
    was, tape = default_plays(Case("", means, case.default, case.alpha), True, plays, seed)
    books: Any = RewardFloor(LearnedDefault(between=(0, 1)), case.alpha).open()
    for number, kind in enumerate(was.tolist()):
        terms = books.terms()
        assert books.affords(terms) == (kind != FORCED), number
        paid = float(tape[number] < (means[0] if kind == EXPLORED else case.default))
        books.settle(books.decide(kind == EXPLORED, terms, True), paid)


def told(counts: list[int]) -> str:
    """The mean and its standard error."""
    error = np.std(counts, ddof=1) / len(counts) ** 0.5 if len(counts) > 1 else 0.0
    return f"{np.mean(counts):,.0f} ± {error:,.0f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--plays", type=int, default=100_000)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    print("| | alpha | known | learned |\n|---|---|---|---|")
    for case in CASES:
        if asked.check:
            check(case, asked.plays, seed=0)
        known, learned = (
            told([count(case, how, asked.plays, seed) for seed in range(asked.runs)])
            for how in (False, True)
        )
        print(f"| {case.name} | {case.alpha} | {known} | {learned} |", flush=True)


if __name__ == "__main__":
    main()
