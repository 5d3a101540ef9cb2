"""What it costs not to know the default's mean: default plays, known and learned.

    uv run python scripts/learned_default_cost.py [--runs 6] [--plays 100000]

Beta-Bernoulli Thompson sampling under a reward floor; the default competes at its known mean, or
at the upper end of what is learned. Every reward is told at once. Books are those of the library;
the samples are numpy's, all arms at a time.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot import LearnedDefault, RewardFloor


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


def default_plays(case: Case, learned: bool, plays: int, seed: int) -> int:
    """How often the default was played."""
    default: Any = LearnedDefault(between=(0, 1)) if learned else case.default
    books: Any = RewardFloor(default, case.alpha).open()
    unit = 10**books.floor.places
    rng = np.random.default_rng(seed)
    won, lost = np.ones(len(case.means)), np.ones(len(case.means))
    for _ in range(plays):
        terms, arm = books.terms(), -1
        if books.affords(terms):
            samples = rng.beta(won, lost)
            arm = int(samples.argmax())
            if not samples[arm] > terms.value / unit:
                arm = -1
        paid = float(rng.random() < (case.default if arm < 0 else case.means[arm]))
        feeds = (True,) if learned else ()
        play = books.decide(arm >= 0, terms, *feeds)
        books.settle(play, paid if arm >= 0 or learned else None)
        if arm >= 0:
            (won if paid else lost)[arm] += 1
    return int(books.default_plays)


def told(counts: list[int]) -> str:
    """The mean and its standard error."""
    error = np.std(counts, ddof=1) / len(counts) ** 0.5 if len(counts) > 1 else 0.0
    return f"{np.mean(counts):,.0f} ± {error:,.0f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--plays", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    print("| | alpha | known | learned |\n|---|---|---|---|")
    for case in CASES:
        known, learned = (
            told([default_plays(case, how, asked.plays, asked.seed + i) for i in range(asked.runs)])
            for how in (False, True)
        )
        print(f"| {case.name} | {case.alpha} | {known} | {learned} |", flush=True)


if __name__ == "__main__":
    main()
