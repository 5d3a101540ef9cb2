"""What a cheap arm that is good enough costs: CostSubsidy beside policies that learn "minus cost".

    uv run benchmarks/bench_subsidy.py > benchmarks/SUBSIDY.md

Every agent is a live GenCB under the same floors, on quality alone or on quality and cost, and pays
for each arm its mean cost, for the default the default's. Arms are shuffled in each run, and agents
of one run meet the same noise by their policy's turn. Intervals are of the difference of two bills
over paired runs (Student). A share such as .2 as an argument takes that share of the runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from bench_engine import machine, table
from scipy import stats
from usage import explain

import surefoot as sf

SEED, T, RUNS = 20261129, 5_000, 10
SPREAD = (0.4, 0.6, 0.8, 1.0, 1.2, 2.0)
"""What the costs of one arm's plays are, over their mean."""
OURS = "CostSubsidy"


class Instance(NamedTuple):
    """Qualities and mean costs of arms and default; no play costs more than ``most``."""

    qualities: tuple[float, ...]
    costs: tuple[float, ...]
    quality: float
    cost: float
    most: float


ROUTER = Instance(
    (0.86, 0.84, 0.83, 0.80, 0.78, 0.74, 0.65),
    (0.024, 0.015, 0.010, 0.004, 0.002, 0.001, 0.0004),
    0.82, 0.012, 0.05,
)  # fmt: skip
"""Models of a router: the share of good answers, and dollars a call."""
PAYMENTS = Instance(
    (0.93, 0.915, 0.90, 0.88, 0.85), (0.030, 0.022, 0.018, 0.010, 0.004), 0.92, 0.028, 0.06
)
"""Payment routes: the share of payments that go through, and the fee."""
NONE_GOOD = Instance((0.7, 0.6, 0.5, 0.4), (0.004, 0.003, 0.002, 0.001), 0.82, 0.012, 0.05)
TOO_GOOD = Instance((0.95, 0.9, 0.7, 0.5), (0.008, 0.006, 0.002, 0.0005), 0.82, 0.012, 0.05)


PARTS = [
    ("Router", ROUTER, 0.02, False),
    ("Router", ROUTER, 0.05, False),
    ("Router", ROUTER, 0.05, True),
    ("Payments", PAYMENTS, 0.02, False),
    ("Payments", PAYMENTS, 0.05, False),
    ("No arm is good enough", NONE_GOOD, 0.05, False),
    ("Cheap arms are better than they must be", TOO_GOOD, 0.05, False),
]


def drawn(rng: np.random.Generator) -> Instance:
    """Eight arms at random; dearer ones are better in the mean."""
    costs = np.exp(rng.uniform(np.log(0.0005), np.log(0.024), 8))
    means = 0.82 + 0.06 * np.log(costs / 0.012) + rng.normal(0, 0.06, 8)
    qualities = np.clip(means, 0.05, 0.98).round(3)
    return Instance(tuple(qualities), tuple(costs.round(4)), 0.82, 0.012, 0.05)


def competitors(one: Instance, alpha: float) -> Iterator[tuple[str, dict[str, float], Any]]:
    """Name, weights of the objective, and how to make the policy of so many arms."""
    minus = {"cost": -1.0}
    subsidy = {"default": one.quality, "alpha": alpha, "cost_range": (0, one.most)}
    for name in (OURS, f"{OURS}, again"):
        yield name, minus, lambda K: sf.CostSubsidy(K, **subsidy)
    yield f"{OURS}, ucb", minus, lambda K: sf.CostSubsidy(K, form="ucb", **subsidy)
    yield "minus cost: Thompson", minus, sf.Thompson
    yield "minus cost: AdaUCB", minus, sf.AdaUCB
    for weight in (10, 20, 50):
        weights = {"quality": 1.0, "cost": -float(weight)}
        yield f"quality - {weight} cost: Thompson", weights, sf.Thompson


def guarded(
    policy: Any, one: Instance, alpha: float, ceiling: bool, weights: Any, seed: Any
) -> Any:
    """A policy under the floors."""
    floors: dict[str, Any] = {"quality": sf.RewardFloor(one.quality, alpha)}
    if ceiling:
        floors["cost"] = sf.CostCeiling(one.cost, alpha, cost_range=(0, one.most))
    worst = objective(weights, 0, one.most)
    best, default = objective(weights, 1, 0), objective(weights, one.quality, one.cost)
    return sf.GenCB(policy, floors, seed, objective_range=(worst, best), default_objective=default)


def objective(weights: dict[str, float], quality: float, cost: float) -> float:
    """What a play is worth to the policy."""
    return round(weights.get("quality", 0.0) * quality + weights["cost"] * cost, 9)


def environment(one: Instance, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Shuffled arms, with their mean qualities and costs."""
    order = rng.permutation(len(one.costs))
    qualities, costs = (np.array(each)[order] for each in (one.qualities, one.costs))
    paid = [[round(float(cost) * share, 9) for share in SPREAD] for cost in costs]
    measures = {"quality": sf.BernoulliArms(qualities), "cost": sf.EmpiricalArms(paid)}
    return sf.MeasuredArms(measures, "quality"), qualities, costs


def lived(job: tuple[Instance, float, bool, int]) -> dict[str, tuple[float, float, int]]:
    """Bill and quality of each agent in one run, over the default's; how often a floor broke."""
    one, alpha, ceiling, run = job
    env, qualities, costs = environment(one, np.random.default_rng([SEED, run]))
    found = {}
    for number, (name, weights, make) in enumerate(competitors(one, alpha)):
        seed = [SEED, run, number]
        agent = guarded(make(len(costs)), one, alpha, ceiling, weights, seed)
        guards, spent, got, broken = agent.books.guards, 0.0, 0.0, 0
        for _ in range(T):
            play = agent.select()
            if play.is_default:
                agent.update(play)
                spent, got = spent + one.cost, got + one.quality
            else:
                told = env.pull_measures(run, play.turn, play.index)
                spent, got = spent + costs[play.index], got + qualities[play.index]
                reward = objective(weights, told["quality"], told["cost"])
                agent.update(play, reward, measures={each: told[each] for each in guards})
            broken += any(books.account.available < 0 for books in guards.values())
        found[name] = spent / (T * one.cost), got / (T * one.quality), broken
    return found


def interval(differences: Any) -> str:
    """Mean and 95 % interval of paired differences, in points of the default's bill."""
    mean, n = differences.mean(), len(differences)
    half = stats.t.ppf(0.975, n - 1) * differences.std(ddof=1) / np.sqrt(n)
    return f"{100 * mean:+.1f} ({100 * (mean - half):+.1f} to {100 * (mean + half):+.1f})"


def part(pool: Any, what: str, instances: Sequence[Instance], alpha: float, ceiling: bool) -> None:
    """Write one table, of a run for each instance."""
    runs = len(instances)
    jobs = [(one, alpha, ceiling, run) for run, one in enumerate(instances)]
    results = list(pool.map(lived, jobs))
    bills = {name: np.array([one[name][0] for one in results]) for name in results[0]}
    broken = sum(one[name][2] for one in results for name in one)
    rows = []
    for name, bill in bills.items():
        quality = np.mean([one[name][1] for one in results])
        apart = "" if name == OURS else interval(bill - bills[OURS])
        rows.append([name, f"{100 * bill.mean():.1f} %", f"{100 * bill.max():.0f} %", apart,
                     f"{100 * quality:.1f} %"])  # fmt: skip
    under = "quality and cost" if ceiling else "quality"
    heads = ["policy", "bill", "worst run", f"less {OURS}'s, points", "quality"]
    sys.stdout.write(f"## {what}, alpha = {alpha}, floors on {under}, {runs} runs\n\n")
    sys.stdout.write(f"{table(heads, rows)}\n")
    if broken:
        sys.stdout.write(f"{broken} plays broke a floor.\n")
    sys.stdout.write("\n")
    sys.stdout.flush()


def main(share: float = 1.0) -> None:
    """Measure, and write the results to the terminal; ``share`` of the runs."""
    runs = max(2, int(RUNS * share))
    sys.stdout.write(f"""# Cheap but good enough, measured

Written by `benchmarks/bench_subsidy.py` on {datetime.now(UTC):%d %B %Y}: {machine()}.

`GenCB(policy, floors)`, {T:,} plays a run, seed {SEED}; the default competes. A bill is what the
arms and the default cost in the mean, over what playing the default alone costs. Quality is put so,
too; the floor on it asks for 1 - alpha. Differences are of the bills to that of `{OURS}` in the
form that draws, in points, with their 95 % interval over paired runs: above 0 the policy is dearer.
`{OURS}, again` is the same with another seed. A play costs {SPREAD} times its arm's mean.

""")
    with ProcessPoolExecutor(2) as pool:
        for what, one, alpha, ceiling in PARTS:
            part(pool, what, [one] * runs, alpha, ceiling)
        random = [drawn(np.random.default_rng([SEED, run, 7])) for run in range(2 * runs)]
        part(pool, "Eight arms at random", random, 0.05, False)


if __name__ == "__main__":
    explain(__doc__)
    main(*map(float, sys.argv[1:]))
