"""Numbers are evaluated here from the paper's text; ln is `math.log`."""

from math import log

import numpy as np
import pytest

from surefoot.errors import InvalidInput
from surefoot.theory import mean_variance

# rho = 60: MV = 60 * mean - variance = 47.84, 35.76, 23.76, so gaps 12.08 and 24.08
PROBLEM = {"means": [0.8, 0.6, 0.4], "variances": [0.16, 0.24, 0.24], "rho": 60}
FLOOR = {"default": 0.7, "alpha": 0.05}  # MV0 = 42, alpha MV0 = 2.1, Delta0 = 5.84, c = 7.94
H1 = 1 / 12.08 + 1 / 24.08
H2 = 1 / 12.08**2 + 1 / 24.08**2
H3 = 2 / (12.08 * 24.08) ** 2  # the ordered pairs (2, 3) and (3, 2)


def test_theorem_5_by_hand():
    parts = mean_variance.mv_cucb(**PROBLEM, **FLOOR).parts(1000)
    rate = 3600 * log(3 * 1000) / 1000
    assert parts["regular arms"] == pytest.approx(rate * (H1 + H2 + rate * H3))
    head = 60**3 * 9 * (H1 + 4 * H2) + (60**4 * 3 * H3 + 60 * 3) * 7.94
    assert parts["default arm"] == pytest.approx(head / (0.1 * 7.94 * 1000) * 5.84)


def test_the_quoted_bound_of_mv_ucb_by_hand():
    level = log(6 * 3 * 1000)
    total = 12 * 65**2 * (H1 + 4 * H2) * level + 288 * 65**4 * H3 * level**2 / 1000
    expected = (total + 9 * 3 + 3 * 24.08) / 1000
    assert mean_variance.mv_ucb(**PROBLEM)(1000) == pytest.approx(expected)


def test_cumulative_is_normalised_times_plays():
    T = np.geomspace(1, 1e7, 15)
    for bound, extra in ((mean_variance.mv_cucb, FLOOR), (mean_variance.mv_ucb, {})):
        whole = bound(**PROBLEM, **extra, cumulative=True)
        np.testing.assert_allclose(whole(T), T * bound(**PROBLEM, **extra)(T))


def test_the_cumulative_default_part_does_not_depend_on_the_horizon():
    bound = mean_variance.mv_cucb(**PROBLEM, **FLOOR, cumulative=True)
    assert np.ptp(bound.parts(np.geomspace(1, 1e9, 10))["default arm"]) == pytest.approx(
        0, abs=1e-6
    )


def test_the_default_part_blows_up_where_the_theorem_divides_by_zero():
    costs = [
        mean_variance.mv_cucb(**PROBLEM, default=0.7, alpha=alpha)(1e6)
        for alpha in (0.048, 0.05, 0.1, 0.15)
    ]
    assert (np.diff(costs) < 0).all()


@pytest.mark.parametrize(("alpha", "rho"), [(0.05, 10), (0.05, 30), (0.5, 5)])
def test_panels_outside_the_theorem_are_refused(alpha, rho):
    with pytest.raises(InvalidInput, match=r"alpha \* rho \* default = .* must be > 2"):
        mean_variance.mv_cucb([0.8, 0.2], [0.16, 0.16], 0.7, alpha, rho)


@pytest.mark.parametrize(("alpha", "rho"), [(0.05, 60), (0.1, 60), (0.15, 60)])
def test_the_papers_other_panels_are_covered(alpha, rho):
    means = np.linspace(0.8, 0.2, 24)
    assert mean_variance.mv_cucb(means, means * (1 - means), 0.7, alpha, rho)(1e5) > 0


def test_a_default_with_the_best_mean_variance_voids_the_theorem():
    """rho .8 - .16 > rho .7 iff rho > 1.6."""
    with pytest.raises(InvalidInput, match=r"rho \* default = .* is not below"):
        mean_variance.mv_cucb([0.8, 0.2], [0.16, 0.16], 0.7, 0.9, 1.5)


def test_means_and_variances_come_in_pairs():
    with pytest.raises(InvalidInput, match="variances has 1 arms, means 2"):
        mean_variance.mv_ucb([0.8, 0.2], [0.16], 10)
    with pytest.raises(InvalidInput, match=r"variances\[0\] = 0.3"):
        mean_variance.mv_ucb([0.8, 0.2], [0.3, 0.1], 10)
    with pytest.raises(InvalidInput, match="rho = 0"):
        mean_variance.mv_ucb([0.8, 0.2], [0.16, 0.1], 0)


def test_none_is_trusted():
    assert not mean_variance.mv_cucb(**PROBLEM, **FLOOR).trusted
    assert not mean_variance.mv_ucb(**PROBLEM).trusted
