"""Numbers are evaluated here from the paper's text; ln is `math.log`."""

from math import log, pi

import numpy as np
import pytest

from naive.gencb import best
from surefoot.errors import InvalidInput
from surefoot.theory import cmab

MEANS = [0.4, 0.8, 0.6]  # gaps 0.4 and 0.2: H = 2.5 + 5 = 7.5
PROBLEM = {"means": MEANS, "default": 0.7, "alpha": 0.1}  # a = 0.07, Delta0 = 0.1, c = 0.17
PAPER = np.linspace(0.8, 0.2, 24)


def test_theorem_2_by_hand():
    parts = cmab.gencb(**PROBLEM).parts(1000)
    assert parts["regular arms"] == pytest.approx(7.5 * log(1000))
    x = 7.5 / (0.07 * 0.17)
    assert parts["default arm"] == pytest.approx(x * 0.1 * log(x) ** 2)


def test_the_sum_of_inverse_gaps_runs_over_worse_arms_only():
    twice = cmab.gencb([0.8, *MEANS], 0.7, 0.1)
    assert twice(500) == pytest.approx(cmab.gencb(**PROBLEM)(500))


def test_table_1_of_conucb_by_hand():
    parts = cmab.conucb(**PROBLEM, delta=0.01).parts(1000)
    level = log(1000 / 0.01)
    # max{Delta_i, Delta0 - Delta_i} for gaps 0.4, 0, 0.2 is 0.4, 0.1, 0.2
    assert parts["regular arms"] == pytest.approx(7.5 * level)
    assert parts["default arm"] == pytest.approx((2.5 + 10 + 5) / 0.1 * level)


def test_an_arm_between_default_and_best_counts_by_its_lead_over_the_default():
    """Gaps 0.02 and 0, Delta0 = 0.1: max{Delta_i, Delta0 - Delta_i} is 0.08 and 0.1."""
    parts = cmab.conucb([0.8, 0.78], 0.7, 0.1, delta=0.01).parts(1000)
    assert parts["default arm"] == pytest.approx((12.5 + 10) / 0.1 * log(1000 / 0.01))


def test_ucb1_by_hand():
    assert cmab.ucb1(MEANS)(1000) == pytest.approx(8 * 7.5 * log(1000) + (1 + pi**2 / 3) * 0.6)


def test_only_what_is_proved_is_trusted():
    orders = [cmab.gencb, cmab.conucb]
    assert [order(**PROBLEM).trusted for order in orders] == [False, False]
    assert cmab.ucb1(MEANS).trusted
    assert cmab.gencb_proved(**PROBLEM).trusted


def test_the_proved_constant_is_the_closed_form():
    """sup_m [A ln m - s m] is A (ln(A/s) - 1); the best split e solves A/(c-e) = 1/(8 e^2)."""
    A, c, a = 8 * 7.5, 0.17, 0.07
    split = (-1 + (1 + 32 * A * c) ** 0.5) / (16 * A)
    assert A / (c - split) == pytest.approx(1 / (8 * split**2))
    above = A * (log(A / (c - split)) - 1) + 1 / (8 * split)
    C = 1 + (0.63 + above + (1 + pi**2 / 3) * 0.6) / a
    default = cmab.gencb_proved(**PROBLEM).parts(10)["default arm"]
    assert 0.1 * C <= default <= 0.1 * C * 1.01


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_the_proved_default_part_is_below_theorem_2(alpha):
    proved = cmab.gencb_proved(PAPER, 0.7, alpha).parts(10)["default arm"]
    assert proved < cmab.gencb(PAPER, 0.7, alpha).parts(10)["default arm"]


@pytest.mark.parametrize("bound", [cmab.gencb, cmab.gencb_proved])
def test_gencb_pays_for_the_default_once_and_conucb_for_ever(bound):
    T = np.geomspace(10, 1e9, 9)
    assert np.ptp(bound(PAPER, 0.7, 0.05).parts(T)["default arm"]) == 0
    assert (np.diff(cmab.conucb(PAPER, 0.7, 0.05).parts(T)["default arm"]) > 0).all()


@pytest.mark.parametrize("bound", [cmab.gencb, cmab.gencb_proved, cmab.conucb])
def test_what_one_may_lose_more_of_costs_less(bound):
    costs = [bound(PAPER, 0.7, alpha)(1e5) for alpha in np.linspace(0.01, 0.5, 8)]
    assert (np.diff(costs) < 0).all()
    assert (np.diff(bound(PAPER, 0.7, 0.05)(np.geomspace(1, 1e8, 16))) >= 0).all()


def test_the_order_of_the_arms_does_not_matter():
    shuffled = np.random.default_rng(0).permutation(PAPER)
    for bound in (cmab.gencb, cmab.conucb, cmab.gencb_proved):
        assert bound(shuffled, 0.7, 0.05)(1e4) == pytest.approx(bound(PAPER, 0.7, 0.05)(1e4))


def test_ucb1_stays_below_its_bound_at_every_turn_at_once():
    """The stronger form of Auer et al.'s theorem that the proved constants rest on."""
    means, turns, runs = [0.9, 0.6, 0.3], 1500, 8
    bound = cmab.ucb1(means)(np.arange(1, turns + 1))
    for seed in range(runs):
        assert (ucb1_regret(means, turns, seed) <= bound).all()


def ucb1_regret(means, turns, seed):
    rng = np.random.default_rng(seed)
    N, S = [0] * len(means), [0] * len(means)
    gaps = []
    for m in range(1, turns + 1):
        arm, _ = best(N, S, m)
        N[arm] += 1
        S[arm] += int(rng.random() < means[arm])
        gaps.append(max(means) - means[arm])
    return np.cumsum(gaps)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"alpha": 0}, "alpha = 0"),
        ({"alpha": 1}, "alpha = 1"),
        ({"default": 0.8}, "default = 0.8 is not below the best regular arm, 0.8"),
        ({"default": 0}, "default = 0"),
        ({"means": [0.8, 0.8]}, "all 2 arms"),
        ({"means": [0.8, 1.2]}, r"means\[1\] = 1.2"),
    ],
)
@pytest.mark.parametrize("bound", [cmab.gencb, cmab.gencb_proved, cmab.conucb])
def test_a_problem_the_theorem_does_not_cover_is_refused(bound, change, words):
    with pytest.raises(InvalidInput, match=words):
        bound(**{**PROBLEM, **change})
