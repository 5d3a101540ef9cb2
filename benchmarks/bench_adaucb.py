"""AdaUCB beside the printed algorithms in many runs: its share of their regret, and its tail.

    uv run benchmarks/bench_adaucb.py > benchmarks/ADAUCB.md

The panels of ``surefoot study better`` for K arms, arms shuffled in each run, the two policies
under one floor and on the same noise. 50 runs leave AdaUCB's share open, since few of them have
most of its regret. Takes two minutes on two cores.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
from bench_engine import machine, table
from usage import explain

from surefoot.simulation.result import Result
from surefoot.simulation.runner import choose, run_all
from surefoot.study.better.findings import geometric
from surefoot.study.better.rivals import NAMED, PRINTED, of_role
from surefoot.study.better.runs import Better
from surefoot.study.numbers import Array
from surefoot.study.runs import key

SEED, RUNS, DRAWS = 20261202, {"cmab": 2000, "mv": 1000}, 2000
Pairs = dict[str, tuple[Array, Array]]
"""By panel: the regret of the printed algorithm and of AdaUCB, one number a run."""


def pairs(problem: str) -> Pairs:
    """Play the panels of a problem; no play may end below the floor."""
    runs, players = RUNS[problem], [of_role(problem, role).name for role in (PRINTED, NAMED)]
    found: Pairs = {}
    # The groups that play a second time hold these two policies alone.
    for group in (g for g in Better([problem], runs, SEED).groups.values() if g.again):
        plan, regret = group.plan(SEED), np.zeros((len(group.panels), 2, runs))
        for run, traces in run_all(plan, range(runs), choose("compiled")):
            result = Result(plan, {run: traces})
            for i, panel in enumerate(group.panels):
                for j, name in enumerate(players):
                    seat = key(name, panel)
                    assert result.measure(seat, "violating_rounds")[0, -1] == 0
                    regret[i, j, run] = result.measure(seat, "regret")[0, -1]
        found |= {panel.name: tuple(rows) for panel, rows in zip(group.panels, regret, strict=True)}
    return found


def share(found: Pairs, runs: Array) -> float:
    """The geometric mean over panels of the shares in these runs."""
    return float(geometric(np.array([b[runs].mean() / a[runs].mean() for a, b in found.values()])))


def lines(found: Pairs) -> Iterator[list[str]]:
    """A line for each panel."""
    for panel, (printed, ours) in found.items():
        error = ours.std(ddof=1) / len(ours) ** 0.5
        yield [
            panel, f"{printed.mean():,.0f}", f"{ours.mean():,.0f} ± {error:,.0f}",
            f"{np.quantile(ours, 0.99):,.0f}", f"{ours.max():,.0f}",
            f"1/{printed.mean() / ours.mean():.2f}",
        ]  # fmt: skip


def main() -> None:
    """Measure, and write the tables to the terminal."""
    heads = ["panel", "printed", "AdaUCB", "its 99 % quantile", "its worst", "share"]
    parts = []
    for problem, runs in RUNS.items():
        found, random = pairs(problem), np.random.default_rng(SEED)
        drawn = [share(found, random.integers(0, runs, runs)) for _ in range(DRAWS)]
        low, high = np.quantile(drawn, [0.025, 0.975])
        parts.append(f"""## {problem}, {runs:,} runs

{table(heads, list(lines(found)))}

Geometric mean of the panels: 1/{1 / share(found, np.arange(runs)):.2f} (95 %: 1/{1 / low:.2f} to 1/{1 / high:.2f}).
""")  # noqa: E501
    sys.stdout.write(f"""# AdaUCB in many runs

Written by `benchmarks/bench_adaucb.py` on {datetime.now(UTC):%d %B %Y}: {machine()}.

Arms shuffled in each run, seed {SEED}. No run had a play below the floor.

{chr(10).join(parts)}""")


if __name__ == "__main__":
    explain(__doc__)
    main()
