"""The quantile of Beta: against scipy and exact sums, one text in both drivers."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from surefoot.kernels import beta_quantile, normal_quantile

SIZES = [1, 2, 3, 5, 9, 20, 39, 40, 41, 60, 100, 300, 1000, 10**4, 10**5, 10**6]
RANKS = [2.0**-53, 1e-12, 1e-6, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999, 1 - 1e-6]
RANKS += [1 - 1e-12, 1 - 2.0**-53]


def density(x, a, b):
    if not 0 < x < 1:
        return 0.0
    return math.exp((a - 1) * math.log(x) + (b - 1) * math.log1p(-x) - special.betaln(a, b))


@pytest.mark.parametrize("a", SIZES)
def test_it_is_scipys(a):
    for b in SIZES:
        for u in RANKS:
            x = beta_quantile(u, float(a), float(b))
            slack = 1e-10 + density(x, a, b) * float(np.spacing(x))
            assert abs(special.betainc(a, b, x) - u) < slack, (a, b, u, x)


def upper(n, a, x):
    """P(Bin(n, x) < a), exactly enough."""
    with localcontext() as context:
        context.prec = 60
        x = Decimal(repr(x))
        term, total = (1 - x) ** n, Decimal(0)
        for j in range(a):
            total += term
            term = term * (n - j) / (j + 1) * x / (1 - x)
        return total


@pytest.mark.parametrize("a", [1, 2, 9, 39])
@pytest.mark.parametrize("b", [10**7, 10**9])
def test_few_successes_in_many_plays_by_the_exact_sum(a, b):
    """Here scipy itself is off by 1e-8."""
    for u in RANKS:
        x = beta_quantile(u, float(a), float(b))
        assert abs(float(1 - upper(a + b - 1, a, x)) - u) < 1e-12
        if 1e-6 <= u <= 1 - 1e-6:  # of what is nearer to the end the sum keeps no digits of x
            assert abs(beta_quantile(1 - u, float(b), float(a)) + x - 1) < 1e-15 + 1e-7 * x


@pytest.mark.parametrize("b", [10**7, 10**9])
@pytest.mark.parametrize("a", [100, 10**5, 10**7, 10**9])
def test_many_of_both(a, b):
    for u in RANKS:
        x = beta_quantile(u, float(a), float(b))
        p, spread = a / (a + b), math.sqrt(a * b / (a + b)) / (a + b)
        assert abs(x - p) < 12 * spread
        # Edgeworth's series at these sizes, where scipy's power of 10**9 terms loses digits.
        z = (x - p) / spread
        skew = 2 * (b - a) / math.sqrt(a * b * (a + b))
        first = special.ndtr(z) - math.exp(-z * z / 2) / math.sqrt(2 * math.pi) * skew / 6 * (
            z * z - 1
        )
        assert abs(first - u) < 3 / min(a, b) + 1e-10


@given(st.integers(1, 10**9), st.integers(1, 10**9), st.integers(0, 2**52 - 2))
def test_it_rises_with_u_and_falls_with_failures(a, b, k):
    u, v = (k + 0.5) / 2**52, (k + 1.5) / 2**52
    x = beta_quantile(u, float(a), float(b))
    assert 0.0 <= x <= 1.0
    assert x <= beta_quantile(v, float(a), float(b)) + 1e-10 * (x + 1e-300) + 1e-12


def test_the_normal_quantile_is_scipys():
    for u in [*RANKS, *np.linspace(0.001, 0.999, 999)]:
        assert math.isclose(normal_quantile(u), special.ndtri(u), rel_tol=1e-14, abs_tol=1e-16)


def test_compiled_it_is_the_same_to_the_last_bit():
    numba = pytest.importorskip("numba")
    from surefoot.simulation.compiled import engine

    engine()  # numba knows the helpers
    compiled = numba.njit(lambda u, a, b: 0.0 + beta_quantile(u, a, b))
    rng = np.random.default_rng(0)
    for _ in range(3000):
        a, b = np.floor(10 ** rng.uniform(0, 9, 2)).tolist()
        u = (int(rng.integers(2**52)) + 0.5) / 2**52
        assert compiled(u, a, b) == beta_quantile(u, a, b)
