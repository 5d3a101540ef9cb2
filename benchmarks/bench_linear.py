"""How fast the engine's linear policies are, beside a solve at every play.

    uv run benchmarks/bench_linear.py

Random instances with K = 2d arms in the paper's setting, and with paths through layers of nodes.
CPU time of one thread, contenders taking turns in one process, as median and minimum of the
repetitions: read ratios, they survive a busy machine. Takes about four minutes, most of it
compilation.
"""

from __future__ import annotations

import math
import sys
from itertools import pairwise
from statistics import median
from typing import Any

import numba
import numpy as np
from bench_engine import compete
from usage import explain

import surefoot as sf
from surefoot.kernels import registry
from surefoot.oracles import ShortestPath, TopK
from surefoot.simulation import loop
from surefoot.simulation.compiled import engine
from surefoot.simulation.fast import c2ucb, gram, linucb
from surefoot.simulation.loop import Block, Scale

SIZE = 8192
CASES = ((5, 1), (7, 1), (9, 1), (5, 3), (7, 3), (7, 7), (9, 9))
NETWORKS = ((7, (1, 3, 3, 1)), (9, (1, 4, 4, 4, 1)))
ANY = np.zeros((0, 2), np.int64)
"""No network: any k base arms are a super arm."""


@numba.njit
def way(w: Any, edges: Any, out: Any) -> None:
    """The path of largest weight from node 0 to the last; each edge leads to a higher node."""
    best = np.full(edges.max() + 1, -math.inf)
    step = np.zeros(len(best), np.int64)
    best[-1] = 0.0
    for e in range(len(w) - 1, -1, -1):
        tail, head = edges[e]
        if w[e] + best[head] > best[tail]:
            best[tail] = w[e] + best[head]
            step[tail] = e
    node = 0
    for i in range(len(out)):
        out[i] = step[node]
        node = edges[step[node], 1]


@numba.njit
def solving(X: Any, mu: Any, k: int, edges: Any, lam: float, S: float, T: int, seed: int) -> float:
    """The policy as one writes it down: V, b, a solve for theta_hat and the norms at each play."""
    np.random.seed(seed)  # noqa: NPY002  (what compiled code has)
    K, d = X.shape
    V, b, w, chosen = lam * np.eye(d), np.zeros(d), np.zeros(K), np.zeros(k, np.int64)
    L2 = 0.0
    for i in range(K):
        L2 = max(L2, X[i] @ X[i])
    received = 0.0
    for m in range(1, T + 1):
        growth = L2 / lam * (1 if k == 1 else K)
        beta = math.sqrt(d * math.log(2.0 * m * m * (1 + m * growth))) + math.sqrt(lam) * S
        theta = np.linalg.solve(V, b)
        spread = np.linalg.solve(V, X.T)
        for i in range(K):
            w[i] = X[i] @ theta + beta * math.sqrt(X[i] @ np.ascontiguousarray(spread[:, i]))
        if len(edges) > 0:
            way(w, edges, chosen)
        else:
            for i in range(k):
                chosen[i] = np.argmax(w)
                w[chosen[i]] = -math.inf
        for e in chosen:
            reward = 1.0 if np.random.random() < mu[e] else 0.0  # noqa: NPY002
            for i in range(d):
                b[i] += reward * X[e, i]
                for j in range(d):
                    V[i, j] += X[e, i] * X[e, j]
            received += reward
    return received


def taken(walk: Any, init: Any, policy: Any, world: Any, T: int) -> None:
    """The turns of a base path, block by block, as the engine takes them."""
    state = tuple(np.array(one) for one in init(policy, world.n_arms))
    kinds = (np.int64,) * 3 + (np.float64,) * 2
    block = Block(*(np.zeros(SIZE, kind) for kind in kinds), chunks=())  # no walk reads chunks
    for first in range(1, T, SIZE):
        walk(
            policy, state, world.record, np.uint64(1), np.uint64(1), first, Scale(1, 1, 0, 1),
            -math.inf, (world.means, world.variances), block,
        )  # fmt: skip


def layered(widths: tuple[int, ...]) -> Any:
    """All edges from each layer of so many nodes to the next, those of lower tails first."""
    ends = np.cumsum([0, *widths]).tolist()
    layers = [range(*ends) for ends in pairwise(ends)]
    return np.array([
        (tail, head) for here, there in pairwise(layers) for tail in here for head in there
    ])  # fmt: skip


def any_k(d: int, k: int, base: Any, walks: dict[bool, Any]) -> list[str]:
    """The lines of the table for d features and super arms of k base arms."""
    X = sf.LinearArms.embedded(2 * d, d, seed=3).X
    policy = sf.LinUCB(X) if k == 1 else sf.C2UCB(X, TopK(k))
    return rows(policy, k, ANY, base, walks)


def paths(d: int, widths: tuple[int, ...], base: Any, walks: dict[bool, Any]) -> list[str]:
    """The lines of the table for d features and paths through layers of so many nodes."""
    edges = layered(widths)
    oracle = ShortestPath(edges.tolist(), 0, int(edges.max()))
    policy = sf.C2UCB(sf.LinearArms.embedded(len(edges), d, seed=3).X, oracle)
    return rows(policy, len(widths) - 1, edges, base, walks)


def rows(policy: Any, k: int, edges: Any, base: Any, walks: dict[bool, Any]) -> list[str]:
    """The lines of the table for one policy, whose super arms have k base arms."""
    n_arms, d = policy.features.shape
    world, record = sf.LinearArms.embedded(n_arms, d, seed=3), policy.record
    long, short = (64, 8) if k == 1 else (16, 4)
    drawn = sf.LinTS(policy.features, oracle=None if k == 1 else policy.oracle).record
    contenders = {
        "numba, a solve a play": (
            lambda: solving(world.X, world.means, k, edges, policy.ridge, 1.0, short * 1024, 1),
            short * 1024,
        ),
        "plain loop, compiled": (
            lambda: taken(base, registry.init, record, world, short * SIZE), short * SIZE,
        ),
        "Gram form": (
            lambda: taken(walks[k == 1], gram.init, record, world, long * SIZE), long * SIZE,
        ),
        "LinTS, plain loop, compiled": (
            lambda: taken(base, registry.init, drawn, world, short * SIZE), short * SIZE,
        ),
    }  # fmt: skip
    if k == 1:
        tight = sf.LinUCB(policy.features, tight=True).record
        contenders["tight, plain loop, compiled"] = (
            lambda: taken(base, registry.init, tight, world, short * SIZE), short * SIZE,
        )  # fmt: skip
    times = compete(contenders)
    first = median(next(iter(times.values())))
    kind = "LinUCB" if k == 1 else "C2UCB, paths" if len(edges) else "C2UCB"
    return [
        f"| {kind} | {d} | {n_arms} | {k} | {name} | {median(t):.0f} "
        f"| {min(t):.0f} | {first / median(t):.1f} |"
        for name, t in times.items()
    ]


INTRODUCTION = """# Linear policies

CPU time of one thread a turn, contenders taking turns in one process. The loop that solves is
compiled by numba and solves for theta_hat and for all arms once a play.
"""


def main() -> None:
    """Measure, and write the table to the terminal."""
    engine()  # numba learns the kernels
    compiled = numba.njit(nogil=True, _nrt=False)  # as the engine does
    base = compiled(loop.base_path)
    walks = {True: compiled(linucb.walk), False: compiled(c2ucb.walk)}
    lines = [line for d, k in CASES for line in any_k(d, k, base, walks)]
    lines += [line for d, widths in NETWORKS for line in paths(d, widths, base, walks)]
    head = "| policy | d | K | k | contender | median ns | min ns | times faster |"
    sys.stdout.write("\n".join([INTRODUCTION, head, "|---" * 8 + "|", *lines, ""]))


if __name__ == "__main__":
    explain(__doc__)
    main()
