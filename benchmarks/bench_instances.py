"""The regret of linear policies on fresh instances, beside the printed algorithm's.

    uv run benchmarks/bench_instances.py [runs]

Of the paper's linear panels at alpha = .01, each with 16 other draws of theta* and the features:
tuning a policy on one instance fits it to that one. Takes two minutes on a quiet core with 10 runs.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

from usage import explain

import surefoot as sf
from surefoot.study.better.rivals import PRINTED, guarded, of_role, rivals
from surefoot.study.sweep import read

INSTANCES = range(100, 116)
SEED = 78
INTRODUCTION = """# Linear policies on fresh instances

Regret as a share of the mean regret of the printed algorithm, by panel: over 16 instances, the
geometric mean of the policy's mean regrets, the largest of them, and the worst single run. Under
guard at alpha = .01, the default not competing.

| panel | policy | geometric mean | worst instance | worst run | violating rounds |
|---|---|---|---|---|---|"""


def field(panel: Any, arms: Any) -> dict[str, Any]:
    """The printed algorithm, the tight form and LinTS, as ``surefoot study better`` has them."""
    printed = of_role(panel.problem, PRINTED).name
    playing = {"printed": printed, "tight": f"{printed}, tight", "LinTS": "LinTS"}
    makers = {one.name: one.make for one in rivals(panel.problem)}
    return {seat: guarded(makers[name](panel, arms), panel) for seat, name in playing.items()}


def lines(panel: Any, runs: int) -> Iterator[str]:
    """The lines of the table for one panel."""
    shares: dict[str, list[tuple[float, float, float]]] = {"tight": [], "LinTS": []}
    for instance in INSTANCES:
        drawn = panel.model_copy(update={"instance": instance})
        arms = drawn.environment()
        found = sf.simulate(field(drawn, arms), arms, panel.horizon, runs, seed=SEED).summary()
        whole = found["printed"]["regret"]["mean"]
        for name, rows in shares.items():
            regret, broken = found[name]["regret"], found[name]["violating_rounds"]["max"]
            rows.append((regret["mean"] / whole, regret["max"] / whole, broken))
    for name, rows in shares.items():
        means, worst, broken = zip(*rows, strict=True)
        geometric = math.exp(sum(map(math.log, means)) / len(means))
        yield (
            f"| {panel.problem}, d = {panel.d} | {name} | 1/{1 / geometric:.1f} "
            f"| {max(means):.3f} | {max(worst):.3f} | {max(broken):.0f} |"
        )


def main() -> None:
    """Measure, and write the table to the terminal."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    names = [f"{kind}-d{d}-alpha0.01" for kind in ("clb", "cccb") for d in (5, 7, 9)]
    sys.stdout.write(INTRODUCTION + "\n")
    for name in names:
        for line in lines(read(name), runs):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    explain(__doc__)
    main()
