import numpy as np
import pytest

from surefoot.errors import InvalidInput
from surefoot.theory import clb, cmab, lower_bounds

ALPHAS = [0.01, 0.05, 0.1, 0.3]
T = np.geomspace(1, 1e8, 30)


def test_table_1_by_hand():
    bound = lower_bounds.cmab_table(K=72, alpha=0.05)
    assert bound(10_000) == pytest.approx(max(72 / 0.05, (72 * 10_000) ** 0.5))
    assert bound(1_000_000) == pytest.approx(8485.28, abs=0.01)


def test_yang_et_al_by_hand():
    assert lower_bounds.cmab(24, 0.7, 0.8, 0.1).parts(100) == pytest.approx(
        {"regular arms": 2400**0.5, "default arm": 24 * 0.1 / (0.07 * 0.17)}
    )
    assert lower_bounds.clb(5, 0.7, 0.8, 0.1).parts(100) == pytest.approx(
        {"regular arms": 50, "default arm": 25 * 0.1 / (0.07 * 0.17)}
    )


@pytest.mark.parametrize(("alpha", "plays"), [(0.05, 19), (0.01, 99), (0.03, 33), (0.15, 6)])
def test_a_sure_floor_begins_with_the_default(alpha, plays):
    bound = lower_bounds.sure(0.5, 0.75, alpha)
    assert bound([1, plays, 1e6]).tolist() == [0.25, plays * 0.25, plays * 0.25]


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("K", [3, 24, 144])
def test_the_sure_bound_is_below_the_proved_one(K, alpha):
    proved = cmab.gencb_proved(np.linspace(0.8, 0.2, K), 0.7, alpha)
    assert (lower_bounds.sure(0.7, 0.8, alpha)(T) <= proved(T)).all()


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("K", [3, 24, 144])
def test_lower_orders_are_below_theorem_2_on_their_hard_problems(K, alpha):
    """Every arm worse by one gap: sqrt(K/T) is hard for the policy, 1/4 for the default part."""
    hard = cmab.gencb([0.8] + [0.55] * (K - 1), 0.7, alpha).parts(1)["default arm"]
    assert lower_bounds.cmab(K, 0.7, 0.8, alpha).parts(1)["default arm"] <= hard
    for horizon in (1e4, 1e6, 1e8):
        arms = [0.8] + [0.8 - (K / horizon) ** 0.5] * (K - 1)
        regular = cmab.gencb(arms, 0.7, alpha).parts(horizon)["regular arms"]
        assert lower_bounds.cmab(K, 0.7, 0.8, alpha).parts(horizon)["regular arms"] <= regular


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("d", [1, 5, 9])
def test_lower_orders_are_below_theorem_3(d, alpha):
    lower, upper = lower_bounds.clb(d, 0.7, 0.8, alpha), clb.gencb(d, 0.7, 0.8, alpha)
    assert (lower(T[T > 3]) <= upper(T[T > 3])).all()


def test_they_fall_with_alpha():
    for bound in (
        lambda alpha: lower_bounds.cmab_table(24, alpha),
        lambda alpha: lower_bounds.cmab(24, 0.7, 0.8, alpha),
        lambda alpha: lower_bounds.clb(5, 0.7, 0.8, alpha),
        lambda alpha: lower_bounds.sure(0.7, 0.8, alpha),
    ):
        assert (np.diff([bound(alpha)(1000) for alpha in ALPHAS]) < 0).all()


def test_only_the_sure_one_is_a_number_to_rely_on():
    assert lower_bounds.sure(0.7, 0.8, 0.1).trusted
    assert not lower_bounds.cmab_table(24, 0.1).trusted
    assert not lower_bounds.cmab(24, 0.7, 0.8, 0.1).trusted
    assert not lower_bounds.clb(5, 0.7, 0.8, 0.1).trusted


def test_a_problem_they_do_not_cover_is_refused():
    with pytest.raises(InvalidInput, match="K = 0"):
        lower_bounds.cmab_table(0, 0.1)
    with pytest.raises(InvalidInput, match="alpha = 1"):
        lower_bounds.cmab_table(24, 1)
    for bound in (
        lambda mu0: lower_bounds.sure(mu0, 0.8, 0.1),
        lambda mu0: lower_bounds.clb(5, mu0, 0.8, 0.1),
    ):
        with pytest.raises(InvalidInput, match=r"default = 0\.9 is not below"):
            bound(0.9)
