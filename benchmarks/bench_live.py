"""What a live decision and its report cost, beside a plain NumPy loop.

    uv run benchmarks/bench_live.py

Select and update in microseconds, of policies alone and of whole agents with their books, before
and after ``surefoot.warmup``; and of agents of one floor and of three. All of a row take turns in
one process, on the same rewards: read ratios, they survive a busy machine. Takes about a minute.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from bench_engine import machine, table
from usage import explain

import surefoot as sf

REPETITIONS, MU0, ALPHA = 9, 0.7, 0.95
Step = Callable[[float], None]
"""One decision, and the report of what it brought, given the coin that was thrown for it."""


def numpy_ucb(mu: Any) -> Step:
    """GenCB with UCB1 as a NumPy script: counts, sums, one line for the index, floats."""
    N, S = np.zeros(len(mu)), np.zeros(len(mu))
    received, m, N0 = 0.0, 0, 0

    def step(coin: float) -> None:
        nonlocal received, m, N0
        if received + N0 * MU0 < (1 - ALPHA) * MU0 * (m + N0 + 1):
            N0 += 1
            return
        m += 1
        arm = m - 1 if m <= len(mu) else int(np.argmax(S / N + np.sqrt(2 * np.log(m) / N)))
        reward = float(coin < mu[arm])
        N[arm] += 1
        S[arm] += reward
        received += reward

    return step


def numpy_linear(rows: Any, mu: Any, k: int) -> Step:
    """LinUCB, or C2UCB with the k best: V is inverted at every turn."""
    d = rows.shape[1]
    V, b, m = np.eye(d), np.zeros(d), 0

    def step(coin: float) -> None:
        nonlocal V, b, m
        m += 1
        beta = np.sqrt(d * np.log(2 * m**2 * (1 + m * k))) + 1
        inverse = np.linalg.inv(V)
        bounds = rows @ (inverse @ b)
        bounds = bounds + beta * np.sqrt(np.einsum("ij,jk,ik->i", rows, inverse, rows))
        for arm in [int(np.argmax(bounds))] if k == 1 else np.argsort(-bounds)[:k]:
            V += np.outer(rows[arm], rows[arm])
            b += (coin < mu[arm]) * rows[arm]

    return step


def policy_alone(policy: Any, mu: Any) -> Step:
    """The policy without an agent."""
    means = mu.tolist()

    def step(coin: float) -> None:
        arm = policy.select(None, None)
        if isinstance(arm, int):
            policy.update(arm, float(coin < means[arm]), None)
        else:
            policy.update(arm, tuple(float(coin < means[e]) for e in arm), None)

    return step


def whole_agent(policy: Any, mu: Any) -> Step:
    """GenCB: the gate, the policy, exact books."""
    top = policy.oracle.k if getattr(policy, "semi_bandit", False) else 1
    agent = sf.GenCB(policy, sf.RewardFloor(MU0, ALPHA, (0, top)), default_competes=False)
    means = mu.tolist()

    def step(coin: float) -> None:
        play = agent.select()
        if play.is_default:
            agent.update(play)
        elif top == 1:
            agent.update(play, float(coin < means[play.index]))
        else:
            agent.update(play, base_rewards=[float(coin < means[e]) for e in play.arm])

    return step


def floored(names: tuple[str, ...], mu: Any) -> Step:
    """UCB1 under a floor of each name, all told the same coin; of no name: under one floor."""
    floors: Any = {name: sf.RewardFloor(MU0, ALPHA) for name in names}
    unguarded: Any = {} if not names or "reward" in names else {"objective_range": (0, 1)}
    agent = sf.GenCB(
        sf.UCB1(len(mu)), floors or sf.RewardFloor(MU0, ALPHA), default_competes=False, **unguarded
    )
    means, measures = mu.tolist(), [name for name in names if name != "reward"]

    def step(coin: float) -> None:
        play = agent.select()
        if play.is_default:
            agent.update(play)
            return
        paid = float(coin < means[play.index])
        if names:
            agent.update(play, paid, measures=dict.fromkeys(measures, paid))
        else:
            agent.update(play, paid)

    return step


def compare_floors(mu: Any) -> str:
    """The table of agents of one floor and of three."""
    named = {
        "one floor": (),
        "three floors, one of them on the reward": ("reward", "quality", "speed"),
        "three floors beside a reward that none guards": ("quality", "speed", "third"),
    }
    times = compete({name: floored(floors, mu) for name, floors in named.items()}, 2000)
    one = times["one floor"]
    return table(
        ["", "agent, warm", "as a multiple"],
        [[name, f"{taken:.2f}", f"{taken / one:.2f}"] for name, taken in times.items()],
    )


def compete(contenders: dict[str, Step], steps: int) -> dict[str, float]:
    """Median CPU microseconds a step; the first round, when most is new, does not count."""
    coins = np.random.default_rng(1).random(steps).tolist()
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(REPETITIONS + 1):
        for name, step in contenders.items():
            start = time.thread_time_ns()
            for coin in coins:
                step(coin)
            times[name].append((time.thread_time_ns() - start) / steps / 1000)
    return {name: median(taken[1:]) for name, taken in times.items()}


def cases() -> list[tuple[str, Callable[[], Any], Callable[[], Step], Any, int]]:
    """Name, our policy, the NumPy script, mean rewards, steps a repetition."""
    rng = np.random.default_rng(0)
    rows = np.abs(rng.normal(size=(14, 7)))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    mu = rows @ np.full(7, 0.3)
    found: list[Any] = []
    for K in (24, 72, 1000):
        means = np.linspace(0.8, 0.2, K)
        found.append((
            f"UCB1, K = {K}", lambda K=K: sf.UCB1(K), lambda means=means: numpy_ucb(means), means,
            2000,
        ))  # fmt: skip
    found.append((
        "LinUCB, d = 7, K = 14", lambda: sf.LinUCB(rows), lambda: numpy_linear(rows, mu, 1), mu, 500
    ))  # fmt: skip
    found.append((
        "C2UCB, top 3 of 14", lambda: sf.C2UCB(rows, sf.TopK(3)),
        lambda: numpy_linear(rows, mu, 3), mu, 500,
    ))  # fmt: skip
    return found


def main() -> None:
    """Measure, and write the table to the terminal."""
    runs: list[tuple[str, dict[str, Step], int]] = []
    for name, make, script, mu, steps in cases():
        runs.append((name, {
            "NumPy": script(), "policy": policy_alone(make(), mu),
            "agent": whole_agent(make(), mu),
        }, steps))  # fmt: skip
    sf.warmup()
    rows = []
    for (name, contenders, steps), (_, make, _, mu, _) in zip(runs, cases(), strict=True):
        contenders["policy, warm"] = policy_alone(make(), mu)
        contenders["agent, warm"] = whole_agent(make(), mu)
        times = compete(contenders, steps)
        loop = times.pop("NumPy")
        order = ("policy", "policy, warm", "agent", "agent, warm")
        ratios = [f"{times[one]:.2f} ({times[one] / loop:.2f})" for one in order]
        rows.append([name, f"{loop:.2f}", *ratios])
    head = ["", "NumPy loop", "policy", "policy, warm", "agent with books", "agent, warm"]
    sys.stdout.write(
        "# Live, one play at a time\n\n"
        f"Select and update, CPU microseconds, median of {REPETITIONS}; in brackets as a multiple "
        f"of the NumPy loop,\nwhich guards UCB1 in floats and runs the linear ones unguarded. "
        f"{machine()}.\n\n{table(head, rows)}\n\n"
        f"One floor and several, UCB1, K = 24: every measure is told with the reward.\n\n"
        f"{compare_floors(np.linspace(0.8, 0.2, 24))}\n"
    )


if __name__ == "__main__":
    explain(__doc__)
    main()
