"""Times one library in its own Python, a NumPy textbook loop beside it; prints JSON.

    python -I benchmarks/peers/_clock.py benchmarks/peers/river.py [--quick]

The adapter's `CONTENDERS` are (what runs, "ucb" or "linear", make, turns a batch or None).
`make(problem)` returns `run(turns)`: so many selects and updates more. Times are CPU times of the
whole process, so that threads of a library count and neighbours on the machine do not.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import json
import runpy
import sys
import time
import warnings
from pathlib import Path
from statistics import median

import numpy as np

QUICK = "--quick" in sys.argv
REPETITIONS = 3 if QUICK else 9
BATCH = 0.03 if QUICK else 0.15
"""CPU seconds that a batch should take."""
D = 7
SIZES = {"ucb": (24, 72), "linear": (2 * D,)}


class Problem:
    """K Bernoulli arms; for the linear ones `X` has a row of D features for each."""

    def __init__(self, kind, K):
        rng = np.random.default_rng(K)
        self.K, self.means, self.X = K, np.linspace(0.8, 0.2, K), None
        if kind == "linear":
            self.theta = np.full(D, D**-0.5)
            self.X = rng.random((K, D)) * 0.9 / D**0.5
            self.means = self.X @ self.theta
        self.noise = rng.random(100_003).tolist()

    def rewards(self):
        """A function from an arm to its next reward: 0.1 us, in every loop alike."""
        draw, means = itertools.cycle(self.noise).__next__, self.means.tolist()
        return lambda arm: 1.0 if draw() < means[arm] else 0.0


def numpy_ucb(problem):
    """UCB1 as one writes it down with NumPy."""
    K, reward = problem.K, problem.rewards()
    N, S, m = np.zeros(K), np.zeros(K), 0

    def run(turns):
        nonlocal m
        for _ in range(turns):
            m += 1
            arm = m - 1 if m <= K else int(np.argmax(S / N + np.sqrt(2 * np.log(m) / N)))
            got = reward(arm)
            N[arm] += 1
            S[arm] += got

    return run


def numpy_linear(problem):
    """LinUCB as one writes it down with NumPy: the inverse anew at every turn."""
    X, reward = problem.X, problem.rewards()
    V, b = np.eye(D), np.zeros(D)

    def run(turns):
        nonlocal V, b
        for _ in range(turns):
            inverse = np.linalg.inv(V)
            widths = np.sqrt(np.einsum("ij,jk,ik->i", X, inverse, X))
            arm = int(np.argmax(X @ (inverse @ b) + widths))
            got = reward(arm)
            V += np.outer(X[arm], X[arm])
            b += got * X[arm]

    return run


LOOPS = {"ucb": numpy_ucb, "linear": numpy_linear}


def micros(run, turns):
    """CPU microseconds a turn of one batch."""
    start = time.process_time_ns()
    run(turns)
    return (time.process_time_ns() - start) / 1e3 / turns


def fitting(run):
    """Warm up, and how many turns fill a batch."""
    micros(run, 300)
    return max(50, int(BATCH * 1e6 / max(micros(run, 100), 0.01)))


def race(what, kind, make, turns, K):
    """The contender and the loop take turns; what each takes a step."""
    problem = Problem(kind, K)
    run, loop = make(problem), LOOPS[kind](problem)
    if turns is None:
        turns = fitting(run)
    run(turns)
    loop_turns = fitting(loop)
    pairs = [(micros(run, turns), micros(loop, loop_turns)) for _ in range(REPETITIONS)]
    ours, theirs = zip(*pairs)  # noqa: B905  (a peer may need an old Python)
    return {
        "what": what, "kind": kind, "K": K, "us": median(ours), "min": min(ours), "turns": turns,
        "loop_us": median(theirs), "ratio": median(a / b for a, b in pairs),
    }  # fmt: skip


def mentions(module):
    """Lines of the installed library that say "conservativ", to be judged by a person."""
    found = []
    for name in importlib.metadata.files(module) or []:
        file = Path(name.locate())
        if file.suffix in {".py", ".pyx", ".so", ".pyd"} and file.exists():
            for line in file.read_bytes().splitlines():
                if b"conservativ" in line.lower():
                    text = line if file.suffix == ".py" else b"(binary)"
                    found.append(f"{file.name}: {text.decode(errors='replace').strip()[:100]}")
    return found


def main():
    """Run every contender of one adapter."""
    warnings.simplefilter("ignore")
    try:
        adapter = runpy.run_path(sys.argv[1])
    except Exception as error:  # noqa: BLE001  (an import may raise anything)
        tell({"missing": f"does not run here: {error!r}"[:150]})
        return
    rows, failed = [], []
    for what, kind, make, turns in adapter["CONTENDERS"]:
        for K in SIZES[kind]:
            sys.stderr.write(f"    {what}, K = {K}\n")
            try:
                rows.append(race(what, kind, make, turns, K))
            except Exception as error:  # noqa: BLE001  (whatever a library raises is its row)
                failed.append({"what": what, "kind": kind, "K": K, "error": repr(error)[:150]})
    module = adapter["MODULE"]
    tell({
        "version": importlib.metadata.version(module), "rows": rows, "failed": failed,
        "mentions": mentions(module), "numpy": np.__version__,
    })  # fmt: skip


def tell(result):
    """The last line of the output: some libraries write there, too."""
    sys.stdout.write("\n" + json.dumps(result) + "\n")


main()
