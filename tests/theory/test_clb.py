"""Numbers are evaluated here from the paper's text; ln is `math.log`."""

from math import log, pi, sqrt

import numpy as np
import pytest

from surefoot.errors import InvalidInput
from surefoot.theory import clb

GAP = {"default": 0.7, "best": 0.8, "alpha": 0.01}  # a = 0.007, Delta0 = 0.1, c = 0.107


def test_theorem_3_by_hand():
    parts = clb.gencb(d=7, **GAP, L=2, S=3, lam=5).parts(1000)
    assert parts["regular arms"] == pytest.approx(7 * log(2 * 1000 / 5) * sqrt(1000))
    u = 0.007 * 0.107
    assert parts["default arm"] == pytest.approx(
        49 * 9 * 5 * 0.1 / u * log(7 * 3 * sqrt(5) / u) ** 2
    )


def test_lambda_is_the_least_the_theorem_allows_unless_given():
    assert clb.gencb(7, **GAP, L=2)(50) == clb.gencb(7, **GAP, L=2, lam=4)(50)
    assert clb.gencb(7, **GAP, L=0.5)(50) == clb.gencb(7, **GAP, L=0.5, lam=1)(50)
    with pytest.raises(InvalidInput, match=r"lam = 3 is below max\(1, L\^2\) = 4"):
        clb.gencb(7, **GAP, L=2, lam=3)
    assert clb.gencb_proved(7, **GAP, L=2, lam=3)(50) > 0


def test_table_1_rows_by_hand():
    regular = 7 * log(1000 / 0.001) * sqrt(1000)
    inner = log(7 / (0.01 * 0.001)) ** 2
    one, two = clb.clucb(7, 0.01, 0.001).parts(1000), clb.clucb2(7, 0.01, 0.001).parts(1000)
    assert one["regular arms"] == two["regular arms"] == pytest.approx(regular)
    assert one["default arm"] == pytest.approx(49 / 0.01 * inner)
    assert two["default arm"] == pytest.approx(49 / 0.0001 * inner)


def test_linucb_by_hand():
    """One dimension, everything 1, one play: g = 1/ln 2, so the root is sqrt(ln 2 / ln 2)."""
    assert clb.linucb(1).parts(1)["regular arms"] == pytest.approx(2 * (sqrt(log(4)) + 1))
    beta = sqrt(7 * log(2 * 100**2 * (1 + 100 * 4 / 8))) + sqrt(8) * 3
    root = sqrt(0.5 / log(1.5) * 7 * 100 * log(1 + 100 * 4 / (8 * 7)))
    parts = clb.linucb(7, L=2, S=3, lam=8, widest_gap=0.5).parts(100)
    assert parts["regular arms"] == pytest.approx(2 * beta * root)
    assert parts["failed bounds"] == pytest.approx(pi**2 / 24)


def test_it_is_below_the_supplements_bound():
    """4 sqrt(m d ln(1 + m L^2/(lambda d))) (sqrt(lambda) S + sqrt(d ln(...))) + Delta_max."""
    for d, L, S, lam in [(5, 1, 1, 1), (9, 2, 3, 4), (7, 0.5, 2, 1)]:
        for m in (1, 10, 10_000):
            radius = sqrt(lam) * S + sqrt(d * log(2 * m**2 * (1 + m * L**2 / lam)))
            printed = 4 * sqrt(m * d * log(1 + m * L**2 / (lam * d))) * radius + 1
            assert clb.linucb(d, L, S, lam)(m) < printed


@pytest.mark.parametrize("lam", [0.05, 0.5, 1, 4])
def test_the_elliptical_potential_holds_with_its_constant_for_every_lambda(lam):
    """sum ||x||^2 in the inverse of V is at most g d ln(1 + T L^2/(lambda d))."""
    rng = np.random.default_rng(3)
    d, T, k = 3, 60, 1 / lam
    for concentrated in (0.0, 0.9, 1.0):
        V, total = lam * np.eye(d), 0.0
        for _ in range(T):
            x = (1 - concentrated) * rng.normal(size=d) + concentrated * np.eye(d)[0]
            x /= np.linalg.norm(x)
            total += x @ np.linalg.solve(V, x)
            V += np.outer(x, x)
        assert total <= k / log(1 + k) * d * log(1 + T * k / d)


@pytest.mark.parametrize("bound", [clb.gencb, clb.gencb_proved])
def test_gencb_pays_for_the_default_once_and_the_others_for_ever(bound):
    T = np.geomspace(10, 1e9, 9)
    assert np.ptp(bound(5, **GAP).parts(T)["default arm"]) == 0
    for rival in (clb.clucb(5, 0.01), clb.clucb2(5, 0.01)):
        assert (np.diff(rival.parts(T)["default arm"]) > 0).all()
        assert rival.kind == "H"


@pytest.mark.parametrize("bound", [clb.gencb, clb.gencb_proved])
def test_what_one_may_lose_more_of_costs_less(bound):
    costs = [bound(5, 0.7, 0.8, alpha)(1e5) for alpha in np.linspace(0.01, 0.5, 5)]
    assert (np.diff(costs) < 0).all()


def test_only_what_is_proved_is_trusted():
    orders = [
        clb.gencb(5, **GAP),
        clb.clucb(5, 0.1),
        clb.clucb2(5, 0.1),
    ]
    assert not any(order.trusted for order in orders)
    assert clb.linucb(5).trusted
    assert clb.gencb_proved(5, **GAP).trusted


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"d": 0}, "d = 0"),
        ({"L": 0}, "L = 0"),
        ({"S": -1}, "S = -1"),
        ({"lam": 0}, "lam = 0"),
        ({"alpha": 1}, "alpha = 1"),
        ({"default": 0.9}, "default = 0.9 is not below"),
    ],
)
@pytest.mark.parametrize("bound", [clb.gencb, clb.gencb_proved])
def test_a_problem_the_theorem_does_not_cover_is_refused(bound, change, words):
    with pytest.raises(InvalidInput, match=words):
        bound(**{"d": 5, **GAP, **change})
