"""How fast the simulation engine is, beside what one would write by hand.

    uv run benchmarks/bench_engine.py > benchmarks/RESULTS.md

Bernoulli arms evenly spaced from .8 to .2, mu0 = .7, alpha = .05: the paper's CMAB setting. Times
a step are CPU times of one thread, contenders taking turns in one process, as median and minimum
of the repetitions: read ratios, they survive a busy machine. Wall times do not: run it on a quiet
one. Takes about three minutes.
"""

from __future__ import annotations

import math
import os
import platform
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from statistics import median
from typing import Any

import numba
import numpy as np
from usage import explain

import surefoot as sf
from surefoot.simulation import Plan
from surefoot.simulation.compiled import PLAIN, engine

MU0, ALPHA = 0.7, 0.05
OPEN = 0.95  # the alpha of short runs: at .05 the gate would be closed most of the time
REPETITIONS = 5
ARMS = (24, 72, 144)


def study(K: int, horizon: int) -> dict[str, Any]:
    """The agents of the paper's figure; its fourth curve, the baseline, is a line."""
    return {
        "GenCB": sf.gencb_cmab(K, MU0, ALPHA),
        "UCB1": sf.Plain(sf.UCB1(K), sf.RewardFloor(MU0, ALPHA)),
        "ConUCB": sf.ConUCB(K, MU0, ALPHA, 1 / horizon),
    }


def arms(K: int) -> sf.BernoulliArms:
    """The paper's K arms."""
    return sf.BernoulliArms(np.linspace(0.8, 0.2, K))


@numba.njit
def xorshift(word: int) -> int:
    """Marsaglia 2003: the next 64 bits."""
    word ^= word << np.uint64(13)
    word ^= word >> np.uint64(7)
    return word ^ (word << np.uint64(17))


@numba.njit
def textbook(mu: Any, mu0: float, alpha: float, T: int, noted: Any) -> float:
    """GenCB-CMAB as one writes it down: one loop, floats, a generator of its own."""
    K = len(mu)
    N, S = np.zeros(K), np.zeros(K)
    word = np.uint64(88172645463325252)
    received, regret, least = 0.0, 0.0, math.inf
    m, N0, best_mean = 0, 0, mu.max()
    for t in range(1, T + 1):
        if received + N0 * mu0 >= (1 - alpha) * mu0 * t:
            m += 1
            arm, best = 0, -math.inf
            for i in range(K):
                index = math.inf if N[i] == 0 else S[i] / N[i] + math.sqrt(2 * math.log(m) / N[i])
                if index > best:
                    arm, best = i, index
            word = xorshift(word)
            reward = 1.0 if (word >> np.uint64(11)) * 2.0**-53 < mu[arm] else 0.0
            N[arm] += 1
            S[arm] += reward
            received += reward
            regret += best_mean - mu[arm]
        else:
            N0 += 1
            regret += best_mean - mu0
        least = min(least, received + N0 * mu0 - (1 - alpha) * mu0 * t)
        if t % 1000 == 0:
            noted[t // 1000 - 1] = regret
    return least


@numba.njit
def cached(mu: Any, mu0: float, alpha: float, T: int) -> float:
    """The same with each arm's mean and 1/sqrt(N) kept, one multiplication an index."""
    K = len(mu)
    N, S, means, widths = np.zeros(K), np.zeros(K), np.zeros(K), np.zeros(K)
    word = np.uint64(88172645463325252)
    received, m, N0, best_mean, regret = 0.0, 0, 0, mu.max(), 0.0
    for t in range(1, T + 1):
        if received + N0 * mu0 >= (1 - alpha) * mu0 * t:
            m += 1
            arm = m - 1
            if m > K:
                s = math.sqrt(2 * math.log(m))
                arm, best = 0, -math.inf
                for i in range(K):
                    index = means[i] + s * widths[i]
                    if index > best:
                        arm, best = i, index
            word = xorshift(word)
            reward = 1.0 if (word >> np.uint64(11)) * 2.0**-53 < mu[arm] else 0.0
            N[arm] += 1
            S[arm] += reward
            means[arm], widths[arm] = S[arm] / N[arm], 1 / math.sqrt(N[arm])
            received += reward
            regret += best_mean - mu[arm]
        else:
            N0 += 1
            regret += best_mean - mu0
    return regret


@numba.njit
def textbook_spread(mu: Any, mu0: float, alpha: float, rho: float, T: int) -> float:
    """MV-CUCB as one writes it down."""
    K = len(mu)
    N, S, Q = np.zeros(K), np.zeros(K), np.zeros(K)
    word = np.uint64(88172645463325252)
    total, squares, m, least = 0.0, 0.0, 0, math.inf
    for t in range(1, T + 1):
        spread = rho * total - squares + total * total / max(t - 1, 1)
        if spread - 2 >= (1 - alpha) * rho * mu0 * t:
            m += 1
            arm, best = 0, -math.inf
            for i in range(K):
                index = math.inf
                if N[i] > 0:
                    mean = S[i] / N[i]
                    index = rho * mean - (Q[i] / N[i] - mean * mean)
                    index += (5 + rho) * math.sqrt(math.log(12.0 * K * m**3.0) / (2 * N[i]))
                if index > best:
                    arm, best = i, index
            word = xorshift(word)
            reward = 1.0 if (word >> np.uint64(11)) * 2.0**-53 < mu[arm] else 0.0
            N[arm] += 1
            S[arm] += reward
            Q[arm] += reward * reward
        else:
            reward = mu0
        total += reward
        squares += reward * reward
        kept = rho * total - squares + total * total / t - (1 - alpha) * rho * mu0 * t
        least = min(least, kept)
    return least


@numba.njit
def bare(mean: float, T: int) -> float:
    """Draw and add: no engine can be faster than its draws."""
    word, total = np.uint64(88172645463325252), 0.0
    for _ in range(T):
        word = xorshift(word)
        total += 1.0 if (word >> np.uint64(11)) * 2.0**-53 < mean else 0.0
    return total


def compete(contenders: dict[str, tuple[Callable[[], Any], int]]) -> dict[str, list[float]]:
    """CPU ns a step of each contender, which take turns; the first round only warms up."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for repetition in range(REPETITIONS + 1):
        for name, (call, steps) in contenders.items():
            start = time.thread_time_ns()
            call()
            if repetition:
                times[name].append((time.thread_time_ns() - start) / steps)
    return times


def per_step(K: int) -> list[list[str]]:
    """The rows of the first table for K arms."""
    T, short, environment = 1_000_000, 20_000, arms(K)
    agents = study(K, T)
    one = Plan({"GenCB": agents["GenCB"]}, environment, T, 1)
    more = {alpha: sf.gencb_cmab(K, MU0, alpha) for alpha in (0.05, 0.1, 0.15, 0.2, 0.25)}
    five = Plan({str(alpha): agent for alpha, agent in more.items()}, environment, T, 1)
    whole = Plan(agents, environment, T, 1)
    plain = Plan({"GenCB": sf.gencb_cmab(K, MU0, OPEN)}, environment, short, 1)
    mu, noted = environment.means, np.zeros(T // 1000)
    times = compete({
        "textbook numba loop, GenCB": (lambda: textbook(mu, MU0, ALPHA, T, noted), T),
        "bare loop: draw and add": (lambda: bare(0.5, T), T),
        "engine, GenCB": (lambda: one.run(0, engine()), T),
        "engine, the study's three agents": (lambda: whole.run(0, engine()), 3 * T),
        "engine, GenCB with five alphas": (lambda: five.run(0, engine()), 5 * T),
        "engine uncompiled, GenCB, alpha .95": (lambda: plain.run(0, PLAIN), short),
    })  # fmt: skip
    base, loop = (median(times[name]) for name in list(times)[:2])
    return [
        [name, str(K), f"{median(t):.1f}", f"{min(t):.1f}", f"{base / median(t):.1f}",
         f"{median(t) / loop:.1f}"]
        for name, t in times.items()
    ]  # fmt: skip


def versus(K: int, T: int, loop: str, rho: float | None = None) -> list[str]:
    """One row: the engine beside one numba loop."""
    environment, mu = arms(K), np.linspace(0.8, 0.2, K)
    agent = sf.gencb_cmab(K, MU0, ALPHA) if rho is None else sf.mv_cucb(K, MU0, ALPHA, rho)
    plan = Plan({"a": agent}, environment, T, 1)

    def by_hand() -> object:
        if rho is None:
            return cached(mu, MU0, ALPHA, T)
        return textbook_spread(mu, MU0, ALPHA, rho, T)

    times = compete({"loop": (by_hand, T), "engine": (lambda: plan.run(0, engine()), T)})
    hand, ours = median(times["loop"]), median(times["engine"])
    share = plan.run(0, engine())["a"].books[-1, 1] / T
    return [
        loop, str(K), f"{T:,}", f"{hand:.1f}", f"{ours:.1f}", f"{hand / ours:.1f}", f"{share:.0%}"
    ]  # fmt: skip


def comparisons() -> list[list[str]]:
    """The rows of the second table."""
    rows = [versus(K, T, "GenCB, means kept") for K, T in ((1000, 1_000_000), (10_000, 500_000))]
    spread = [(24, 10.0), (24, 60.0), (72, 60.0), (144, 10.0), (144, 60.0)]
    return rows + [versus(K, 1_000_000, f"MV-CUCB, rho {rho:g}", rho) for K, rho in spread]


def growth(largest: int) -> list[list[str]]:
    """The rows of the third table: longer runs; the memory a block takes does not grow."""
    rows = []
    for T in (10**5, 10**6, 10**7, 10**8, 10**9):
        if T > largest:
            break
        plan = Plan({"GenCB": sf.gencb_cmab(72, MU0, ALPHA)}, arms(72), T, 1)
        tracemalloc.start()
        start = time.thread_time_ns()
        plan.run(0, engine())
        taken = time.thread_time_ns() - start
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        rows.append([f"{T:,}", f"{taken / T:.1f}", f"{peak / 1e6:.1f}"])
    return rows


def wall(K: int, horizon: int, runs: int, workers: int) -> float:
    """Seconds that the study's agents take in this process."""
    start = time.perf_counter()
    sf.simulate(study(K, horizon), arms(K), horizon, runs, seed=1, workers=workers)
    return time.perf_counter() - start


def grid() -> float:
    """Seconds of the paper's whole CMAB grid: 3 K, 3 alphas and UCB1, 50 runs of 10**6 plays."""
    start = time.perf_counter()
    for K in ARMS:
        agents: dict[str, Any] = {
            str(alpha): sf.gencb_cmab(K, MU0, alpha) for alpha in (0.05, 0.1, 0.15)
        }
        agents["UCB1"] = sf.Plain(sf.UCB1(K), sf.RewardFloor(MU0, ALPHA))
        sf.simulate(agents, arms(K), 1_000_000, 50, seed=1)
    return time.perf_counter() - start


def first_result(cache: str) -> float:
    """A new process, from its start to the end of one run of two agents."""
    script = (
        f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r}); "  # noqa: PTH120
        "import numpy as np, surefoot as sf; "
        f"agents = {{'a': sf.gencb_cmab(72, {MU0}, {ALPHA}), "
        f"'b': sf.Plain(sf.UCB1(72), sf.RewardFloor({MU0}, {ALPHA}))}}; "
        "sf.simulate(agents, sf.BernoulliArms(np.linspace(.8, .2, 72)), 100_000, 1, seed=1)"
    )
    start = time.perf_counter()
    subprocess.run(  # noqa: S603  (this file's own text, run by this Python)
        [sys.executable, "-c", script], env={**os.environ, "SUREFOOT_CACHE": cache}, check=True
    )
    return time.perf_counter() - start


def starts() -> list[list[str]]:
    """The rows of the last table."""
    cold, warm = [], []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as empty:
            cold.append(first_result(empty))
            warm += [first_result(empty) for _ in range(2)]
    grids = [grid() for _ in range(3)]
    cases = {"first result, empty cache": cold, "first result, cached": warm, "CMAB grid": grids}
    return [[name, f"{median(t):.2f}", f"{min(t):.2f}"] for name, t in cases.items()]


def walls() -> list[list[str]]:
    """The rows of the second table."""
    cores = len(os.sched_getaffinity(0))
    cases = [
        (72, 100_000, 50, cores), (72, 100_000, 50, 1), (72, 100_000, 10, 1), (72, 100_000, 1, 1),
        (72, 1_000_000, 1, 1), (24, 100_000, 50, cores), (144, 100_000, 50, cores),
        (72, 1_000_000, 50, cores),
    ]  # fmt: skip
    wall(72, 100, 1, 1)
    seconds: dict[tuple[int, ...], list[float]] = {case: [] for case in cases}
    for _ in range(REPETITIONS):
        for case in cases:
            seconds[case].append(wall(*case))
    return [[*map(str, case), *_shown(case, taken)] for case, taken in seconds.items()]


def _shown(case: tuple[int, ...], seconds: list[float]) -> list[str]:
    _, horizon, runs, _ = case
    per_step = min(seconds) * 1e9 / (3 * horizon * runs)
    return [f"{median(seconds):.2f}", f"{min(seconds):.2f}", f"{per_step:.0f}"]


def table(head: list[str], rows: list[list[str]]) -> str:
    """Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def machine() -> str:
    """Its class, not its name."""
    model = platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123
            model = next(line.split(":")[1].strip() for line in file if "model name" in line)
    except (OSError, StopIteration):
        pass
    return (
        f"{len(os.sched_getaffinity(0))} cores of an {model} ({platform.system()}), "
        f"Python {platform.python_version()}, numpy {np.__version__}, numba {numba.__version__}"
    )


def main() -> None:
    """Measure, and write the results to the terminal."""
    quick = "--quick" in sys.argv
    steps = [row for K in ARMS for row in per_step(K)]
    sys.stdout.write(f"""# The engine, measured

Written by `benchmarks/bench_engine.py` on {datetime.now(UTC):%d %B %Y}: {machine()}.

Bernoulli arms evenly spaced from .8 to .2, mu0 = .7, alpha = .05. A step is one play of one agent;
times a step are CPU times of one thread in ns, contenders taking turns in one process.

## Time a step

T = 1,000,000 (uncompiled: 20,000). The engine books in exact integers, tracks the least slack at
every play and notes 360 checkpoints; the textbook loop uses floats.

{table(["", "K", "median", "min", "textbook /", "/ bare"], steps)}

## Beside other loops

Medians. With many arms most plays are default plays, which cost little in either.

{table(["loop", "K", "T", "by hand", "engine", "ratio", "default plays"], comparisons())}

## Longer runs

GenCB, 72 arms, one run; the peak of what Python and numpy allocate, in MB.

{table(["T", "ns a step", "peak"], growth(10**7 if quick else 10**9))}

The study's three agents at T = 1,000,000,000, killed on the way and gone on with: `LONG.md`.

## Wall time of the study's three agents

Seconds; the last column is the least wall time in ns a step. On a machine that others use too, read
the minimum.

{table(["K", "T", "runs", "threads", "median", "min", "ns a step"], walls())}

## From nothing

Seconds of wall time: a new Python process that runs GenCB and UCB1 once, 72 arms, 100,000 plays;
and the paper's grid of 3 K, 3 alphas and UCB1, 50 runs of 1,000,000 plays, in a warm process.

{table(["", "median", "min"], starts())}
""")


if __name__ == "__main__":
    explain(__doc__)
    main()
