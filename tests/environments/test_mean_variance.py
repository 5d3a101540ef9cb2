from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import environments as naive
from surefoot._exact import shown
from surefoot.environments.mean_variance import (
    best_mean_variance,
    mean_variance_regrets,
    realised_regret,
)
from surefoot.errors import InvalidInput

shares = st.fractions(0, 1, max_denominator=1000)
arms = st.lists(st.tuples(st.integers(0, 1000), shares, shares), min_size=1, max_size=6)
rhos = st.fractions(Fraction(1, 10), 30, max_denominator=10)


def sums(played):
    """What the books know: sums of N, N mu, N mu^2 and N var."""
    return [
        float(sum(n * mean**power * variance**other for n, mean, variance in played))
        for power, other in ((0, 0), (1, 0), (2, 0), (0, 1))
    ]


@given(arms, st.integers(1, 500), shares, rhos)
def test_both_are_the_double_sums_of_the_paper(played, default_plays, mu0, rho):
    everything = [*played, (default_plays, mu0, Fraction(0))]
    plays, means, variances = zip(*everything, strict=True)
    best = best_mean_variance(*np.array([[float(x), float(v)] for _, x, v in played]).T, float(rho))
    regrets = mean_variance_regrets(
        *sums(played), default_plays, rho=float(rho), default=float(mu0), best=best
    )
    for found, factor in zip(regrets, (Fraction(2), Fraction(1, 2)), strict=True):
        expected = naive.mean_variance_regret(plays, means, variances, rho, factor)
        assert float(found) == pytest.approx(float(expected), rel=1e-9, abs=1e-8)


rewards = st.lists(st.lists(shares, min_size=1, max_size=12), min_size=1, max_size=4)


@given(rewards, st.integers(0, 12), shares, rhos)
def test_of_the_rewards_own_moments_the_exact_one_is_what_was_realised(groups, zeros, mu0, rho):
    played = [(len(group), *naive.moments(group)) for group in groups]
    mean, variance = naive.moments([x for group in groups for x in group] + [mu0] * zeros)
    t = sum(map(len, groups)) + zeros
    regrets = mean_variance_regrets(
        *sums(played), zeros, rho=float(rho), default=float(mu0), best=7.5
    )
    realised = realised_regret(t, float(t * (rho * mean - variance)), 7.5)
    assert float(regrets.pseudo_exact) == pytest.approx(float(realised), rel=1e-9, abs=1e-9)


@given(arms, st.integers(1, 500), shares, rhos)
def test_none_is_negative_against_the_best_of_all(played, default_plays, mu0, rho):
    options = [(x, v) for _, x, v in played] + [(mu0, Fraction(0))]
    best = best_mean_variance(*np.array(options, dtype=float).T, float(rho))
    regrets = mean_variance_regrets(
        *sums(played), default_plays, rho=float(rho), default=float(mu0), best=best
    )
    assert regrets.pseudo >= regrets.pseudo_exact >= -1e-8


def test_the_best_arm_alone_has_no_regret():
    one = mean_variance_regrets(
        [1, 1000], [0.75, 750], [0.5625, 562.5], [0.1875, 187.5], 0, rho=2, default=0.5, best=1.3125
    )
    assert one.pseudo.tolist() == one.pseudo_exact.tolist() == [0, 0]


def test_checkpoints_are_computed_at_once_and_each_by_its_own_t():
    plays, zeros = np.array([[1, 2, 3], [2, 4, 8]]), np.array([0, 1, 2])
    mean = 0.25
    both = mean_variance_regrets(
        plays, plays * mean, plays * mean**2, plays * 0.1, zeros, rho=3, default=0.5, best=2
    )
    for spot in np.ndindex(plays.shape):
        n, zero = int(plays[spot]), int(zeros[spot[1]])
        alone = mean_variance_regrets(
            n, n * mean, n * mean**2, n * 0.1, zero, rho=3, default=0.5, best=2
        )
        assert (both.pseudo[spot], both.pseudo_exact[spot]) == alone


def test_the_default_is_in_the_pairs():
    # One regular play of mean 1 and one of the default of mean 0.5, no variance: the gap part is
    # 2 * (1 - 0.5) = 1, the ordered pairs 2 * 0.25, t = 2.
    both = mean_variance_regrets(1, 1, 1, 0, 1, rho=2, default=0.5, best=2)
    assert (both.pseudo, both.pseudo_exact) == (1 + 2 / 2 * 0.5, 1 + 1 / 4 * 0.5)


NUMBERS = {
    "plays": 1, "means": 1, "squares": 1, "variances": 0, "default_plays": 0,
    "rho": 1, "default": 0.5, "best": 1,
}  # fmt: skip


@pytest.mark.parametrize("what", NUMBERS)
@pytest.mark.parametrize(
    "bad", [float("nan"), float("inf"), None, "1", True, [[1], [1, 2]]], ids=shown
)
def test_a_number_that_is_none_is_named(what, bad):
    with pytest.raises(InvalidInput, match=f"{what} = .* must be "):
        mean_variance_regrets(**(NUMBERS | {what: bad}))


@pytest.mark.parametrize("what", ["rho", "default", "best"])
def test_a_list_is_no_number(what):
    with pytest.raises(InvalidInput, match=f"{what} = .* must be one number"):
        mean_variance_regrets(**(NUMBERS | {what: [1, 2]}))


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(InvalidInput, match="shapes"):
        mean_variance_regrets(**(NUMBERS | {"plays": [1, 2], "means": [1, 2, 3]}))
    with pytest.raises(InvalidInput, match="shapes"):
        realised_regret([1, 2], [1, 2, 3], 1)
    with pytest.raises(InvalidInput, match="shapes"):
        best_mean_variance([1, 2], [1, 2, 3], 1)


def test_before_the_first_play_there_is_none():
    with pytest.raises(InvalidInput, match=r"after 0\.0 plays there is no regret"):
        mean_variance_regrets(**(NUMBERS | {"plays": [0, 1]}))
    with pytest.raises(InvalidInput, match=r"after 0\.0 plays"):
        realised_regret([1, 0], 0, 1)
