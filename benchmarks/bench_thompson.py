"""A turn of Thompson sampling: the engine beside a numba loop that draws every arm.

    uv run benchmarks/bench_thompson.py > benchmarks/THOMPSON.md

The loop is what one writes by hand: ``np.random.beta`` for each of K arms at each turn, the
largest draw plays. Times are CPU times of one thread, contenders taking turns in one process: read
ratios, they survive a busy machine. Takes about a minute.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from statistics import median
from typing import Any

import numba
import numpy as np
from bench_engine import arms, compete, machine, table
from usage import explain

import surefoot as sf
from surefoot.simulation import Plan
from surefoot.simulation.compiled import engine

T = 1_000_000


@numba.njit
def by_hand(mu: Any, T: int) -> float:
    """Thompson sampling as one writes it down: one loop, numba's generator."""
    K = len(mu)
    won, lost = np.ones(K), np.ones(K)
    np.random.seed(1)  # noqa: NPY002  (numba's own generator, compiled; numpy's is not touched)
    received = 0.0
    for _ in range(T):
        arm, best = 0, -1.0
        for i in range(K):
            theta = np.random.beta(won[i], lost[i])  # noqa: NPY002
            if theta > best:
                arm, best = i, theta
        reward = 1.0 if np.random.random() < mu[arm] else 0.0  # noqa: NPY002
        won[arm] += reward
        lost[arm] += 1.0 - reward
        received += reward
    return received


def rows(K: int) -> list[list[str]]:
    """The rows of the table for K arms."""
    mu = np.linspace(0.8, 0.2, K)
    agent = sf.Plain(sf.Thompson(K), sf.RewardFloor(0.7, 0.05))
    plan = Plan({"Thompson": agent}, arms(K), T, 1)
    times = compete({
        "numba loop, np.random.beta for every arm": (lambda: by_hand(mu, T), T),
        "engine, sf.Thompson": (lambda: plan.run(0, engine()), T),
    })  # fmt: skip
    base = median(next(iter(times.values())))
    return [
        [name, str(K), f"{median(t):.0f}", f"{min(t):.0f}", f"{median(t) / base:.2f}"]
        for name, t in times.items()
    ]


def main() -> None:
    """Measure, and write the results to the terminal."""
    sys.stdout.write(f"""# Thompson sampling, measured

Written by `benchmarks/bench_thompson.py` on {datetime.now(UTC):%d %B %Y}: {machine()}.

Bernoulli arms evenly spaced from .8 to .2, T = {T:,}, no default plays: every play is a turn of the
policy. ns of CPU time a turn, draw of the reward and update included.

{table(["", "K", "median", "min", "/ loop"], [row for K in (24, 72) for row in rows(K)])}
""")


if __name__ == "__main__":
    explain(__doc__)
    main()
