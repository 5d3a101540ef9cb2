from math import log, pi

import numpy as np
import pytest

from surefoot.errors import InvalidInput
from surefoot.theory import default_plays, general


def test_the_template_is_the_policys_bound_and_a_constant():
    bound = general.template(np.sqrt, default_plays=2000, default=0.7, best=0.8)
    parts = bound.parts(np.array([100, 10_000]))
    assert parts["regular arms"].tolist() == [10, 100]
    assert parts["default arm"] == pytest.approx([200, 200])
    assert not bound.trusted


def test_the_computed_constant_is_the_proved_number_of_default_plays():
    problem = {"default": 0.7, "best": 0.8, "alpha": 0.05}
    bound = general.gencb(np.sqrt, 3, **problem)
    C = default_plays.at_most(np.sqrt, 3, **problem)
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
