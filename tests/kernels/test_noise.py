"""Counter-based draws are uniform, and independent across keys, turns and arms."""

import numpy as np
from scipy import stats

from naive.noise import bits
from naive.noise import uniform as slow
from surefoot.kernels import beta_quantile, noise, uniform
from surefoot.kernels.noise import key_from

DRAWS = np.array([[uniform(7, turn, arm) for arm in range(8)] for turn in range(1, 2501)])


def test_they_are_the_twins():
    rng = np.random.default_rng(1)
    for _ in range(200):
        key = key_from(rng)
        turn, arm = (int(one) for one in rng.integers(0, 2**31, 2))
        assert noise(key, turn, arm) == bits(key, turn, arm)
        assert uniform(key, turn, arm) == slow(key, turn, arm)
        assert 1 - (1 - uniform(key, turn, arm)) == uniform(key, turn, arm)


def test_each_arm_and_the_whole_are_uniform():
    assert stats.kstest(DRAWS.ravel(), "uniform").pvalue > 0.01
    assert min(stats.kstest(arm, "uniform").pvalue for arm in DRAWS.T) > 0.001


def test_arms_and_turns_are_independent():
    cells = (DRAWS * 6).astype(int)
    for one, other in ((cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:])):
        seen = np.bincount(one.ravel() * 6 + other.ravel(), minlength=36)
        assert stats.chisquare(seen).pvalue > 0.001
    # Runs above and below the median, turn after turn.
    for arm in DRAWS.T:
        above = arm > 0.5
        n, m = above.sum(), (~above).sum()
        runs = 1 + (above[1:] != above[:-1]).sum()
        mean = 1 + 2 * n * m / (n + m)
        spread = np.sqrt((mean - 1) * (mean - 2) / (n + m - 1))
        assert abs(runs - mean) < 4 * spread


def test_keys_are_independent():
    other = np.array([[uniform(8, turn, arm) for arm in range(8)] for turn in range(1, 2501)])
    assert abs(np.corrcoef(DRAWS.ravel(), other.ravel())[0, 1]) < 4 / np.sqrt(DRAWS.size)


def test_quantiles_of_draws_are_beta():
    for a, b in ((1, 1), (3, 8), (45, 120), (2000, 300)):
        thetas = [beta_quantile(u, float(a), float(b)) for u in DRAWS.ravel()[:5000].tolist()]
        assert stats.kstest(thetas, stats.beta(a, b).cdf).pvalue > 0.001
