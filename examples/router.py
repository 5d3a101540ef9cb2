"""Route calls to language models: cheaper without losing quality, or better within a budget.

    python examples/router.py                    a table, and router.png
    python examples/router.py --json --runs 5    numbers

Models, prices and qualities are made up by us, as far apart as those that one can buy.
"""

from typing import Any

from comparing import Case, compare

import surefoot as sf

# The share of good answers, and what a call costs on average, in dollars.
INCUMBENT = (0.82, 0.012)  # it gets every call today
MODELS = {
    "nano": (0.58, 0.0004),
    "small": (0.70, 0.001),
    "open": (0.77, 0.002),
    "mini": (0.81, 0.0035),
    "mid": (0.835, 0.007),
    "large": (0.87, 0.018),
    "frontier": (0.90, 0.036),
}
LENGTHS = (0.25, 0.75, 1, 2)  # of calls, as multiples of the average, each as frequent
DEAREST = 0.08  # dollars; no call costs more: cap its tokens, and you know it

QUALITY = sf.RewardFloor(0.82, alpha=0.02)  # a degradation budget of 2 % of today
COST = sf.CostCeiling(0.012, alpha=0.1, cost_range=(0, DEAREST))  # at most 10 % above today
NOBODY_KNOWS = {
    "quality": sf.RewardFloor(sf.LearnedDefault(between=(0.6, 0.95)), alpha=0.02),
    "cost": sf.CostCeiling(
        sf.LearnedDefault(between=(0.006, 0.024)), alpha=0.1, cost_range=(0, DEAREST)
    ),
}

CHEAP = {"quality": 1, "cost": -20}  # one more good answer in 100 is worth 0.05 cents a call
GOOD = {"quality": 1, "cost": -3}  # ... 0.33 cents
CASES = [
    Case("Cheaper, quality guarded", CHEAP, {"quality": QUALITY}),
    Case("Better, cost guarded", GOOD, {"cost": COST}),
    Case("Better, both guarded", GOOD, {"quality": QUALITY, "cost": COST}),
]


def measures(models: list[tuple[float, float]]) -> dict[str, Any]:
    """What calls of these models come to: a good answer or none, and dollars."""
    calls = [[round(mean * length, 6) for length in LENGTHS] for _, mean in models]
    good = [quality for quality, _ in models]
    return {"quality": sf.BernoulliArms(good), "cost": sf.EmpiricalArms(calls)}


if __name__ == "__main__":
    compare("router", CASES, measures, MODELS, INCUMBENT, NOBODY_KNOWS)
