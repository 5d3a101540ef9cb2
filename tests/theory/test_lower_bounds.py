import numpy as np
import pytest

from surefoot.errors import InvalidInput
from surefoot.theory import cmab, lower_bounds

ALPHAS = [0.01, 0.05, 0.1, 0.3]
T = np.geomspace(1, 1e8, 30)


def test_table_1_by_hand():
    bound = lower_bounds.cmab_table(K=72, alpha=0.05)
    assert bound(10_000) == pytest.approx(max(72 / 0.05, (72 * 10_000) ** 0.5))
    assert bound(1_000_000) == pytest.approx(8485.28, abs=0.01)


@pytest.mark.parametrize(("alpha", "plays"), [(0.05, 19), (0.01, 99), (0.03, 33), (0.15, 6)])
def test_a_sure_floor_begins_with_the_default(alpha, plays):
    bound = lower_bounds.sure(0.5, 0.75, alpha)
    assert bound([1, plays, 1e6]).tolist() == [0.25, plays * 0.25, plays * 0.25]


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("K", [3, 24, 144])
def test_the_sure_bound_is_below_the_proved_one(K, alpha):
    proved = cmab.gencb_proved(np.linspace(0.8, 0.2, K), 0.7, alpha)
    assert (lower_bounds.sure(0.7, 0.8, alpha)(T) <= proved(T)).all()


def test_they_fall_with_alpha():
    for bound in (
        lambda alpha: lower_bounds.cmab_table(24, alpha),
        lambda alpha: lower_bounds.sure(0.7, 0.8, alpha),
    ):
        assert (np.diff([bound(alpha)(1000) for alpha in ALPHAS]) < 0).all()


def test_only_the_sure_one_is_a_number_to_rely_on():
    assert lower_bounds.sure(0.7, 0.8, 0.1).trusted
    assert not lower_bounds.cmab_table(24, 0.1).trusted


def test_a_problem_they_do_not_cover_is_refused():
    with pytest.raises(InvalidInput, match="K = 0"):
        lower_bounds.cmab_table(0, 0.1)
    with pytest.raises(InvalidInput, match="alpha = 1"):
        lower_bounds.cmab_table(24, 1)
    with pytest.raises(InvalidInput, match=r"default = 0\.9 is not below"):
        lower_bounds.sure(0.9, 0.8, 0.1)
