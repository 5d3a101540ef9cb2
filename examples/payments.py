"""Route payments to acquirers: cheaper without losing approvals, or more approvals within a budget.

    python examples/payments.py                    a table, and payments.png
    python examples/payments.py --json --runs 5    numbers

Acquirers, approval rates and fees are made up by us.
"""

from typing import Any

from comparing import Case, compare

import surefoot as sf

# The share of payments that are approved, and the fee of an attempt on average, in dollars.
INCUMBENT = (0.91, 1.10)  # it gets every payment today
ACQUIRERS = {
    "alder": (0.94, 1.90),
    "birch": (0.93, 1.40),
    "cedar": (0.92, 0.95),
    "elm": (0.905, 0.75),
    "fir": (0.88, 0.60),
    "larch": (0.86, 0.40),
    "yew": (0.80, 0.35),
}
AMOUNTS = (0.5, 0.75, 1, 1.75)  # of payments, as multiples of the average, each as frequent
DEAREST = 3.5  # dollars; no fee is higher

SUCCESS = sf.RewardFloor(0.91, alpha=0.01)  # never more than 1 % of today's approvals lost
FEE = sf.CostCeiling(1.10, alpha=0.1, cost_range=(0, DEAREST))  # at most 10 % above today
NOBODY_KNOWS = {
    "success": sf.RewardFloor(sf.LearnedDefault(between=(0.8, 0.97)), alpha=0.01),
    "fee": sf.CostCeiling(sf.LearnedDefault(between=(0.5, 2)), alpha=0.1, cost_range=(0, DEAREST)),
}

CHEAP = {"success": 8, "fee": -1}  # an approved payment is worth 8 dollars
GOOD = {"success": 40, "fee": -1}  # ... 40 dollars
CASES = [
    Case("Cheaper, approvals guarded", CHEAP, {"success": SUCCESS}),
    Case("More approvals, fees guarded", GOOD, {"fee": FEE}),
    Case("More approvals, both guarded", GOOD, {"success": SUCCESS, "fee": FEE}),
]


def measures(acquirers: list[tuple[float, float]]) -> dict[str, Any]:
    """What attempts come to: approved or not, and a fee in dollars."""
    fees = [[round(mean * amount, 6) for amount in AMOUNTS] for _, mean in acquirers]
    approved = [success for success, _ in acquirers]
    return {"success": sf.BernoulliArms(approved), "fee": sf.EmpiricalArms(fees)}


if __name__ == "__main__":
    compare("payments", CASES, measures, ACQUIRERS, INCUMBENT, NOBODY_KNOWS)
