"""Numbers are evaluated here from the paper's text; ln is `math.log`."""

from math import log, pi, sqrt

import numpy as np
import pytest

from surefoot.errors import InvalidInput
from surefoot.theory import cccb

GAP = {"default": 2.0, "best": 3.5, "alpha": 0.01}  # a = 0.02, Delta0 = 1.5, c = 1.52


def test_theorem_4_by_hand_with_the_gap_of_its_proof():
    parts = cccb.gencb(d=7, K=14, **GAP, P=2, L=2, S=3, lam=5).parts(1000)
    assert parts["regular arms"] == pytest.approx(2 * 7 * log(14 * 2 * 1000 / 5) * sqrt(1000))
    D, u = 14 + 2 * sqrt(5) * 3 * 7, 0.02 * 1.52
    assert parts["default arm"] == pytest.approx(D**2 / u * log(D / u) ** 2 * 1.5)


def test_table_1_of_c3ucb_by_hand():
    parts = cccb.c3ucb(7, 14, 0.01, delta=0.001).parts(1000)
    assert parts["regular arms"] == pytest.approx(7 * log(14 * 1000) * sqrt(1000))
    assert parts["default arm"] == pytest.approx(7 / 0.01 * sqrt(0.5 * log(14 / 0.001 * 1000)))


def test_c2ucb_by_hand():
    beta = sqrt(7 * log(2 * 100**2 * (1 + 100 * 14 * 4 / 56))) + sqrt(56) * 3
    root = sqrt(1 / log(2) * 7 * 100 * log(1 + 100 * 14 * 4 / (56 * 7)))
    parts = cccb.c2ucb(7, 14, P=2, L=2, S=3, lam=56).parts(100)
    assert parts["regular arms"] == pytest.approx(2 * 2 * beta * root)
    assert parts["failed bounds"] == pytest.approx(pi**2 / 12 * 14)


def test_the_supplements_constant_2_fails_where_the_paper_allows_lambda_1():
    """Ten base arms with one feature, one play, lambda = 1: the potential is 10 > 2 ln 11."""
    K, lam = 10, 1.0
    potential = K * (1 / lam)
    k = K / lam
    assert potential > 2 * log(1 + k)
    assert potential <= k / log(1 + k) * log(1 + k) * (1 + 1e-12)


@pytest.mark.parametrize("lam", [0.5, 1, 8])
def test_the_batched_elliptical_potential_holds_with_its_constant_for_every_lambda(lam):
    rng = np.random.default_rng(4)
    d, K, T = 3, 6, 40
    k = K / lam
    for concentrated in (0.0, 0.9, 1.0):
        V, total = lam * np.eye(d), 0.0
        for _ in range(T):
            X = (1 - concentrated) * rng.normal(size=(K, d)) + concentrated * np.eye(d)[0]
            X /= np.linalg.norm(X, axis=1, keepdims=True)
            total += np.trace(X @ np.linalg.solve(V, X.T))
            V += X.T @ X
        assert total <= k / log(1 + k) * d * log(1 + T * k / d) * (1 + 1e-12)


@pytest.mark.parametrize("bound", [cccb.gencb, cccb.gencb_proved])
def test_gencb_pays_for_the_default_once_and_c3ucb_for_ever(bound):
    T = np.geomspace(10, 1e9, 9)
    assert np.ptp(bound(5, 10, **GAP).parts(T)["default arm"]) == 0
    assert (np.diff(cccb.c3ucb(5, 10, 0.01).parts(T)["default arm"]) > 0).all()


@pytest.mark.parametrize("bound", [cccb.gencb, cccb.gencb_proved])
def test_what_one_may_lose_more_of_costs_less(bound):
    costs = [bound(5, 10, 2.0, 3.5, alpha)(1e5) for alpha in np.linspace(0.01, 0.5, 5)]
    assert (np.diff(costs) < 0).all()


def test_the_noise_of_a_super_arm_has_the_range_of_its_sum():
    """The proof's noise term is K^2/(8e): for an easy policy it dominates, and grows like K^2."""
    costs = [
        cccb.gencb_proved(1, K, **GAP, S=1e-6, lam=1e9, widest_gap=1e-6).parts(1)["default arm"]
        for K in (1_000, 2_000)
    ]
    assert costs[1] / costs[0] == pytest.approx(4, rel=0.05)


def test_only_what_is_proved_is_trusted():
    assert not cccb.gencb(5, 10, **GAP).trusted
    assert not cccb.c3ucb(5, 10, 0.01).trusted
    assert cccb.c2ucb(5, 10).trusted
    assert cccb.gencb_proved(5, 10, **GAP).trusted


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"d": 0}, "d = 0"),
        ({"K": 2.5}, "K = 2.5"),
        ({"P": 0}, "P = 0"),
        ({"lam": 0}, "lam = 0"),
        ({"alpha": 1}, "alpha = 1"),
        ({"default": 3.5}, "default = 3.5 is not below"),
    ],
)
@pytest.mark.parametrize("bound", [cccb.gencb, cccb.gencb_proved])
def test_a_problem_the_theorem_does_not_cover_is_refused(bound, change, words):
    with pytest.raises(InvalidInput, match=words):
        bound(**{"d": 5, "K": 10, **GAP, **change})


def test_the_printed_theorem_needs_its_lambda():
    with pytest.raises(InvalidInput, match="lam = 3"):
        cccb.gencb(5, 10, **GAP, L=2, lam=3)
