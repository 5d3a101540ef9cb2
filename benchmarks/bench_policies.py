"""A turn of KL-UCB, AdaUCB and Thompson sampling: the engine and live, beside loops by hand.

    uv run benchmarks/bench_policies.py [CHECKOUT] > benchmarks/POLICIES.md

The loops are what one writes: every arm's index at every turn, in one numba function and, live, in
NumPy on arrays. CHECKOUT: the folder of an older version, whose engine is measured too, in turns
with this one, each in a process of its own. Times are CPU times of one thread: read ratios, they
survive a busy machine. Takes about three minutes.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import numba
import numpy as np
from bench_engine import REPETITIONS, arms, compete, machine, table
from bench_live import Step
from bench_live import compete as compete_live
from usage import explain

import surefoot as sf
from surefoot.simulation import Plan
from surefoot.simulation.compiled import engine

T, SHORT, STEPS = 1_000_000, 50_000, 2000
NAMES = {"KLUCB": "KL-UCB", "AdaUCB": "AdaUCB", "Thompson": "Thompson"}


@numba.njit
def upper(p: float, level: float) -> float:
    """max{q : kl(p, q) <= level} by Newton's steps, to within 1e-9."""
    if level <= 0.0 or p >= 1.0:
        return p
    q = min(p + math.sqrt(level / 2), 1.0 - 1e-12)
    for _ in range(20):
        kl = (1 - p) * math.log((1 - p) / (1 - q)) + (p * math.log(p / q) if p > 0 else 0.0)
        step = (kl - level) * q * (1 - q) / (q - p)
        q = min(max(q - step, p + 1e-12), 1.0 - 1e-12)
        if abs(step) < 1e-9:
            break
    return q


@numba.njit
def by_hand(kind: int, mu: Any, T: int) -> float:
    """KL-UCB (0), AdaUCB (1) or Thompson sampling (2): one loop, numba's generator."""
    K = len(mu)
    N, S = np.zeros(K), np.zeros(K)
    np.random.seed(1)  # noqa: NPY002  (numba's own generator, compiled; numpy's is not touched)
    for m in range(1, T + 1):
        arm, best = 0, -1.0
        for i in range(K):
            index = math.inf
            if kind == 2:
                index = np.random.beta(1 + S[i], 1 + N[i] - S[i])  # noqa: NPY002
            elif N[i] > 0 and kind == 1:
                H = 0.0
                for j in range(K):
                    H += min(N[i], math.sqrt(N[i] * N[j]))
                index = upper(S[i] / N[i], max(0.0, math.log(m / H)) / N[i])
            elif N[i] > 0:
                index = upper(S[i] / N[i], math.log(m) / N[i])
            if index > best:
                arm, best = i, index
        N[arm] += 1
        S[arm] += np.random.random() < mu[arm]  # noqa: NPY002
    return S.sum()


def script(kind: int, mu: Any) -> Step:
    """The same, live, as a NumPy script: every arm's index on arrays."""
    N, S = np.zeros(len(mu)), np.zeros(len(mu))
    rng, m = np.random.default_rng(1), 0

    def indices() -> Any:
        if kind == 2:
            return rng.beta(1 + S, 1 + N - S)
        level = math.log(m) / N
        if kind == 1:
            H = np.minimum(N[:, None], np.sqrt(N[:, None] * N)).sum(1)
            level = np.maximum(0, np.log(m / H)) / N
        p = np.clip(S / N, 1e-12, 1 - 1e-12)
        q = np.minimum(p + np.sqrt(level / 2), 1 - 1e-12)
        for _ in range(6):  # Newton's steps: fewer leave an error of a percent
            kl = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
            step = (kl - level) * q * (1 - q) / np.maximum(q - p, 1e-12)
            q = np.clip(q - step, p, 1 - 1e-12)
        return q

    def step(coin: float) -> None:
        nonlocal m
        m += 1
        arm = m - 1 if m <= len(mu) and kind < 2 else int(indices().argmax())
        N[arm] += 1
        S[arm] += coin < mu[arm]

    return step


def live(policy: Any, mu: Any) -> Step:
    """The policy without an agent; it hears of its open plays, as an agent tells it."""
    means, rng = mu.tolist(), np.random.default_rng(1)

    def step(coin: float) -> None:
        arm = policy.select(None, rng)
        policy.opened(arm, None)
        policy.update(arm, float(coin < means[arm]), None)
        policy.closed(arm, None)

    return step


def plan(name: str, K: int) -> Plan:
    """T turns of a policy, no default plays."""
    agent = sf.Plain(getattr(sf, name)(K), sf.RewardFloor(0.7, 0.05))
    return Plan({"agent": agent}, arms(K), T, 1)


def turns(name: str, K: int) -> float:
    """Median ns of a turn of this process's engine."""
    one = plan(name, K)
    return median(compete({"engine": (lambda: one.run(0, engine()), T)})["engine"])


def older(checkout: str, name: str, K: int) -> float:
    """The same of another version; this file is run with its modules."""
    paths = [str(Path(checkout, part)) for part in ("src", "benchmarks")]
    found = subprocess.run(  # noqa: S603  (a folder that the user names)
        [sys.executable, __file__, "--turns", name, str(K)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return float(found.stdout)


def engine_rows(K: int, checkout: str | None) -> list[list[str]]:
    """The rows of the first table for K arms."""
    rows = []
    for kind, (name, title) in enumerate(NAMES.items()):
        mu, one = arms(K).means, plan(name, K)
        times = compete({
            "loop": (lambda kind=kind, mu=mu: by_hand(kind, mu, SHORT), SHORT),
            "engine": (lambda one=one: one.run(0, engine()), T),
        })  # fmt: skip
        loop, ours = (median(found) for found in times.values())
        before = "–"
        if checkout is not None and name != "AdaUCB":
            took = older(checkout, name, K)
            before = f"{took:.0f} ({turns(name, K) / took:.3f})"
        rows.append([title, str(K), f"{loop:.0f}", f"{ours:.1f}", f"{ours / loop:.4f}", before])
    return rows


def live_rows() -> list[list[str]]:
    """The rows of the second table."""
    cases = [(kind, name, K) for K in (24, 72) for kind, name in enumerate(NAMES)]
    contenders: dict[tuple[int, str, int], dict[str, Callable[[float], None]]] = {}
    for case in cases:
        kind, name, K = case
        mu = np.linspace(0.8, 0.2, K)
        plain = live(getattr(sf, name)(K), mu)
        plain(0.5)  # one that draws is set up by its first turn, and so stays plain
        contenders[case] = {"NumPy": script(kind, mu), "plain": plain}
    sf.warmup()
    rows = []
    for case, some in contenders.items():
        _, name, K = case
        some["warm"] = live(getattr(sf, name)(K), np.linspace(0.8, 0.2, K))
        times = compete_live(some, STEPS)
        loop = times.pop("NumPy")
        shown = [f"{one:.2f} ({one / loop:.3f})" for one in times.values()]
        rows.append([NAMES[name], str(K), f"{loop:.1f}", *shown])
    return rows


def main() -> None:
    """Measure, and write the results to the terminal."""
    if sys.argv[1:2] == ["--turns"]:
        sys.stdout.write(f"{turns(sys.argv[2], int(sys.argv[3]))}\n")
        return
    checkout = sys.argv[1] if len(sys.argv) > 1 else None
    heads = ["", "K", "numba loop", "engine", "/ loop", "older engine (new / old)"]
    rows = [row for K in (24, 72) for row in engine_rows(K, checkout)]
    heads_live = ["", "K", "NumPy loop", "plain", "after `surefoot.warmup`"]
    sys.stdout.write(f"""# Policies, measured

Written by `benchmarks/bench_policies.py` on {datetime.now(UTC):%d %B %Y}: {machine()}.

Bernoulli arms evenly spaced from .8 to .2, medians of CPU times of one thread; the policy alone, no
default plays.

## A simulated turn, in ns

T = {T:,}, the loop by hand {SHORT:,}; draw of the reward and update included, median of
{REPETITIONS}.

{table(heads, rows)}

## A live decision and its report, in microseconds

The first {STEPS * 10:,} turns; in brackets as a multiple of the NumPy loop. The policies hear of
open plays as an agent tells them; the loop does not count any.

{table(heads_live, live_rows())}
""")


if __name__ == "__main__":
    explain(__doc__)
    main()
