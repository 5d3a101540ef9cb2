"""What ``GenCB(fund=True)`` is worth: regret with and without it, by policy and alpha.

    uv run benchmarks/bench_fund.py > benchmarks/FUND.md

Bernoulli arms, shuffled anew in each run, mu0 = .7, T = 100,000: the paper's panels, a trap for
what plays by earnings (one arm barely above the default, one far above it), and arms of which none
is worth the default. An agent that funds and its twin that does not meet the same arms and the same
noise by the policy's turn; intervals are of the ratio of the means over paired runs, by bootstrap.
Takes about half an hour on two cores.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

import numpy as np
from bench_engine import machine, table
from bench_pending import SEED, measured, shown
from usage import explain

import surefoot as sf

MU0, T = 0.7, 100_000
NAMES = ("Thompson", "AdaUCB", "KLUCB", "UCB1")
ALPHAS = (0.01, 0.02, 0.05, 0.1)
FUND = " fund"
PANELS = {24: np.linspace(0.8, 0.2, 24), 72: np.linspace(0.8, 0.2, 72)}
OTHERS = {
    "trap: .9, .71, 22 arms from .69 to .2": np.array([0.9, 0.71, *np.linspace(0.69, 0.2, 22)]),
    "none above the default: 24 arms from .69 to .2": np.linspace(0.69, 0.2, 24),
}
RUNS, MANY = {24: 40, 72: 20}, 200
"""Of the tables; of the figure that is claimed."""


def pair(name: str, n_arms: int, alpha: float) -> dict[str, Any]:
    """A policy under a floor, without and with funding."""
    floor, kind = sf.RewardFloor(MU0, alpha), getattr(sf, name)
    return {
        f"{name} {alpha}": sf.GenCB(kind(n_arms), floor),
        f"{name} {alpha}{FUND}": sf.GenCB(kind(n_arms), floor, fund=True),
    }


def change(blind: Any, fund: Any) -> str:
    """How much less or more the mean is, in percent, with its 95 % bootstrap interval."""
    draws = np.random.default_rng(SEED).integers(len(blind), size=(4000, len(blind)))
    ratios = fund[draws].mean(axis=1) / blind[draws].mean(axis=1)
    low, high = np.quantile(ratios, [0.025, 0.975])
    parts = (fund.mean() / blind.mean(), low, high)
    mean, least, most = (f"{100 * (part - 1):+.0f}" for part in parts)
    return f"{mean} % ({least} to {most})"


def rows(means: Any, names: Any, alphas: Any, runs: int) -> list[list[str]]:
    """One row for each policy and alpha."""
    agents: dict[str, Any] = {}
    for name in names:
        for alpha in alphas:
            agents |= pair(name, len(means), alpha)
    regret, defaults = measured(agents, lambda arms: arms, means, T, range(runs))
    found = []
    for name in names:
        for alpha in alphas:
            blind, fund = f"{name} {alpha}", f"{name} {alpha}{FUND}"
            plays = f"{defaults[blind].mean():,.0f} -> {defaults[fund].mean():,.0f}"
            found.append([
                name, f"{alpha}", shown(regret[blind]), shown(regret[fund]),
                change(regret[blind], regret[fund]), plays,
            ])  # fmt: skip
    return found


def main(share: float = 1.0) -> None:
    """Measure, and write the results to the terminal; ``share`` of the runs."""
    heads = ["policy", "alpha", "regret", "with fund", "change", "default plays"]
    many = max(2, int(MANY * share))
    parts = []
    for K, means in PANELS.items():
        parts.append(f"## K = {K}, Thompson, alpha = .01, {many} runs\n")
        parts.append(table(heads, rows(means, NAMES[:1], ALPHAS[:1], many)) + "\n")
    for K, means in PANELS.items():
        runs = max(2, int(RUNS[K] * share))
        parts.append(f"## K = {K}, {runs} runs\n")
        parts.append(table(heads, rows(means, NAMES, ALPHAS, runs)) + "\n")
    for what, means in OTHERS.items():
        runs = max(2, int(RUNS[24] * share))
        parts.append(f"## {what[0].upper()}{what[1:]}, {runs} runs\n")
        parts.append(table(heads, rows(means, NAMES, ALPHAS[:2], runs)) + "\n")
    sys.stdout.write(f"""# Scarce slack, measured

Written by `benchmarks/bench_fund.py` on {datetime.now(UTC):%d %B %Y}: {machine()}.

`GenCB(policy, RewardFloor({MU0}, alpha), fund=True)` beside the same agent without fund. K
Bernoulli arms evenly spaced from .8 to .2 unless said otherwise, shuffled in each run, T = {T:,},
seed {SEED}. Pseudo-regret: mean ± standard error (worst run). Change: of the mean, with its 95 %
bootstrap interval over paired runs. No run had a slack below zero at any play.

{chr(10).join(parts)}""")


if __name__ == "__main__":
    explain(__doc__)
    main(*map(float, sys.argv[1:]))
