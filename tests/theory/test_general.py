import math
from math import log, pi

import numpy as np
import pytest

from surefoot.errors import InvalidInput
from surefoot.study.report import default_plays
from surefoot.theory import general


def test_the_template_is_the_policys_bound_and_a_constant():
    bound = general.template(np.sqrt, default_plays=2000, default=0.7, best=0.8)
    parts = bound.parts(np.array([100, 10_000]))
    assert parts["regular arms"].tolist() == [10, 100]
    assert parts["default arm"] == pytest.approx([200, 200])
    assert not bound.trusted


def test_the_computed_constant_is_the_proved_number_of_default_plays():
    problem = {"default": 0.7, "best": 0.8, "alpha": 0.05}
    bound = general.gencb(np.sqrt, 3, **problem)
    C = general.at_most(np.sqrt, 3, **problem)
    assert bound.parts(100)["default arm"] == pytest.approx(0.1 * C)
    assert bound.parts(100)["regular arms"] == 13
    assert bound.trusted


@pytest.mark.parametrize("count", [-1, float("nan"), "many"])
def test_default_plays_are_counted(count):
    with pytest.raises(InvalidInput, match="default_plays"):
        general.template(np.sqrt, count, 0.7, 0.8)


def test_theorem_1_as_printed_has_a_counter_example():
    """W worthless turns, P(W = w) = 6/(pi w)^2, then the best arm, which always pays mu_*.

    The expected regret after T turns is mu_* E[min(W, T)], below mu_* (1 + ln T). But until it
    pays, GenCB makes (1-alpha) t default plays in t plays: E[N0(T)] grows like ln T, so no
    constant C bounds it.
    """
    best, mu0, alpha = 0.8, 0.5, 0.1

    def mean_of_shorter(T):
        w = np.arange(1, T + 1)
        p = 6 / (pi * w) ** 2
        return float((p * w).sum() + (1 - p.sum()) * T)

    def mean_default_plays(T):
        """On the path of w: ((1-alpha)(w+1)/alpha of them, or (1-alpha) T if T comes before."""
        w = np.arange(1, T + 1)
        p = 6 / (pi * w) ** 2
        count = np.minimum(np.ceil((1 - alpha) * (w + 1) / alpha), np.floor((1 - alpha) * T))
        return float((p * count).sum() + (1 - p.sum()) * (1 - alpha) * T)

    for T in (10, 1000, 100_000):
        assert best * mean_of_shorter(T) <= best * (1 + log(T))
    path = default_plays.predicted(best * np.minimum(np.arange(1, 50), 7), mu0, best, alpha)
    assert path.count == pytest.approx((1 - alpha) * (7 + 1) / alpha)
    growth = np.diff([mean_default_plays(T) for T in (100, 1000, 10_000, 100_000)])
    assert growth == pytest.approx([growth[-1]] * 3, rel=0.05)
    assert growth[-1] == pytest.approx(6 / pi**2 * (1 - alpha) / alpha * log(10), rel=0.01)


def test_the_proved_bound_holds_for_a_fair_coin_and_nearly_touches():
    """One arm, a fair coin: no regret, only noise, whose chances are those of a random walk.

    mu0 = .45, alpha = 1/9: a = .05, c = .1. The noise minus c m steps +.4 or -.6. With h(k) the
    chance ever to climb k fifths: h(k) = (h(k-2) + h(k+3))/2, and h(k) = 1 for k <= 0.
    """
    n = 400
    system, right = np.eye(n), np.zeros(n)
    for k in range(1, n + 1):
        if k + 3 <= n:
            system[k - 1, k + 2] -= 0.5
        if k - 2 >= 1:
            system[k - 1, k - 3] -= 0.5
        else:
            right[k - 1] += 0.5
    climbs = np.linalg.solve(system, right)
    expected = (0.4 + 0.2 * climbs.sum()) / 0.05  # 8 and a multiple of 4: no rounding up
    bound = general.at_most(np.zeros_like, 0, 0.45, 0.5, 1 / 9)
    assert expected <= bound <= 1.35 * expected


@pytest.mark.parametrize("slope", [0.01, 0.3])
def test_the_search_is_above_the_supremum_and_close_to_it(slope):
    """sup_m [A ln m - s m] = A (ln(A/s) - 1) and sup_m [A sqrt(m) - s m] = A^2/(4 s)."""
    found = general._most_above(lambda m: 50 * np.log(m), slope)
    exact = 50 * (math.log(50 / slope) - 1)
    assert exact * (1 - 1e-6) <= found <= exact * 1.01
    found = general._most_above(lambda m: 7 * np.sqrt(m), slope)
    assert 49 / (4 * slope) * (1 - 1e-6) <= found <= 49 / (4 * slope) * 1.01


def test_a_curve_below_the_line_costs_nothing():
    assert general._most_above(lambda m: 0.1 * np.log(m), 0.5) == 0


def test_a_wider_reward_costs_its_square_in_noise():
    """With no curve and e -> c: a (C - 1) = f + width^2/(8c)."""
    mu0, best, alpha = 0.5, 0.75, 0.1
    for width in (1, 3, 10):
        C = general.at_most(np.zeros_like, 0, mu0, best, alpha, width)
        assert 0.05 * (C - 1) == pytest.approx(0.45 + width**2 / (8 * 0.3), rel=2e-3)


def test_linear_regret_has_no_bound():
    with pytest.raises(InvalidInput, match="not sublinear enough"):
        general.at_most(lambda m: m, 0, 0.7, 0.8, 0.05)


@pytest.mark.parametrize(
    ("change", "words"),
    [({"excess": -1}, "excess = -1"), ({"width": 0}, "width = 0"), ({"best": 0.7}, "not below")],
)
def test_a_bound_that_is_none_is_refused(change, words):
    with pytest.raises(InvalidInput, match=words):
        general.at_most(
            **{"curve": np.log, "excess": 0, "default": 0.7, "best": 0.8, "alpha": 0.1, **change}
        )
