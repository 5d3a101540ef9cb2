"""What counting pending plays is worth: regret under delay and in batches, with and without it.

    uv run benchmarks/bench_pending.py > benchmarks/PENDING.md

K = 24 Bernoulli arms evenly spaced from .8 to .2, shuffled anew in each run, mu0 = .7, alpha = .05,
T = 50,000, 50 runs. A policy that does not count is the same one with ``counts_open = False``: it
is asked for a decision as if the plays whose rewards are out had not been made. Both meet the same
arms, the same noise by the policy's turn and the same delays. Takes some ten minutes on two cores.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import numpy as np
from bench_engine import machine, table
from usage import explain

import surefoot as sf
from surefoot.simulation import Plan, Result
from surefoot.simulation.compiled import engine

K, ALPHA, MU0, T, RUNS, SEED = 24, 0.05, 0.7, 50_000, 50, 20261129
MEANS = np.linspace(0.8, 0.2, K)
WAITS: dict[str, Callable[[Any], Any]] = {
    "at once": lambda arms: arms,
    "delay 10": lambda arms: sf.Delayed(arms, 10),
    "delay 100": lambda arms: sf.Delayed(arms, 100),
    "delay 1,000": lambda arms: sf.Delayed(arms, 1000),
    "batch 100": lambda arms: sf.Batched(arms, 100),
    "batch 1,000": lambda arms: sf.Batched(arms, 1000),
}
NAMES = ("AdaUCB", "KLUCB", "UCB1", "Thompson")
DEAF = " ignoring"
Measured = dict[str, np.ndarray[Any, np.dtype[np.float64]]]


def deaf(policy: Any) -> Any:
    """A policy that is not told of its open plays."""
    policy.counts_open = False
    return policy


def field() -> dict[str, Any]:
    """Each policy that counts, and its twin that does not."""
    policies = {name: getattr(sf, name)(K) for name in NAMES}
    policies |= {name + DEAF: deaf(getattr(sf, name)(K)) for name in NAMES if name != "Thompson"}
    floor = sf.RewardFloor(MU0, ALPHA)
    return {name: sf.GenCB(policy, floor) for name, policy in policies.items()}


def measured(
    agents: dict[str, Any],
    wait: Callable[[Any], Any],
    means: Any,
    horizon: int,
    runs: Iterable[int],
) -> tuple[Measured, Measured]:
    """Regret and default plays at the horizon, one number a run; arms are shuffled in each run.

    A run that breaks the promise ends the measurement.
    """
    found: list[dict[str, tuple[float, float]]] = []
    for run in runs:
        order = np.random.default_rng([SEED, run]).permutation(len(means))
        plan = Plan(agents, wait(sf.BernoulliArms(means[order])), horizon, SEED, [horizon])
        assert not plan.stepwise, plan.stepwise
        result = Result(plan, {run: plan.run(run, engine())})
        assert all(result.exact_minimum_slack(name) >= 0 for name in agents)
        found.append({
            name: tuple(result.measure(name, what)[0, -1] for what in ("regret", "default_plays"))
            for name in agents
        })  # fmt: skip
    regret, defaults = (
        {name: np.array([one[name][i] for one in found]) for name in agents} for i in (0, 1)
    )
    return regret, defaults


def shown(regrets: Any) -> str:
    """Mean, standard error and the worst run."""
    error = regrets.std(ddof=1) / np.sqrt(len(regrets))
    return f"{regrets.mean():,.0f} ± {error:,.0f} ({regrets.max():,.0f})"


def main(runs: int = RUNS) -> None:
    """Measure, and write the results to the terminal."""
    found = {
        name: measured(field(), wait, MEANS, T, range(runs))[0] for name, wait in WAITS.items()
    }
    rows = [[name, *(shown(regrets[name]) for regrets in found.values())] for name in field()]
    ratios = [
        [name, *(f"{r[name + DEAF].mean() / r[name].mean():.2f}" for r in found.values())]
        for name in NAMES
        if name + DEAF in field()
    ]
    sys.stdout.write(f"""# Counting pending plays, measured

Written by `benchmarks/bench_pending.py` on {datetime.now(UTC):%d %B %Y}: {machine()}.

{K} Bernoulli arms evenly spaced from .8 to .2, shuffled in each run, mu0 = {MU0}, alpha = {ALPHA},
T = {T:,}, {runs} runs, seed {SEED}. Pseudo-regret: mean ± standard error (worst run). No run had a
slack below zero at any play. "Ignoring" is the same policy that is not told of its open plays.

{table(["", *WAITS], rows)}

Regret of the policy that ignores its pending plays, over that of the one that counts them:

{table(["", *WAITS], ratios)}
""")


if __name__ == "__main__":
    explain(__doc__)
    main(*map(int, sys.argv[1:]))
