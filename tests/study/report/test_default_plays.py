import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive.gencb import DEFAULT, decisions
from surefoot.errors import InvalidInput
from surefoot.study.report import default_plays
from surefoot.theory import cmab

HUNDREDTHS = st.integers(2, 60).map(lambda n: n / 100)


def coin_run(means, mu0, alpha, horizon, seed):
    """Decisions of GenCB over UCB1, and the rewards of its turns."""
    coins = np.random.default_rng(seed).random((horizon + 1, len(means)))
    rewards = []

    def reward(turn, arm):
        rewards.append(int(coins[turn, arm] < means[arm]))
        return rewards[-1]

    return decisions(len(means), mu0, alpha, reward, horizon), np.array(rewards)


@given(
    st.lists(st.sampled_from([0.0, 0.3, 0.6, 0.9, 1.0]), min_size=1, max_size=4),
    HUNDREDTHS,
    HUNDREDTHS,
    st.integers(0, 10**6),
)
def test_realised_regret_foretells_the_default_plays_of_its_run_at_every_play(
    means, mu0, alpha, seed
):
    """For any number in place of mu_*: it cancels. 400 plays, within the rounding up."""
    decided, rewards = coin_run(means, mu0, alpha, 400, seed)
    best = mu0 + 0.25
    regret = best * np.arange(1, len(rewards) + 1) - np.cumsum(rewards)
    if not len(regret):
        return
    foretold = default_plays.predicted(regret, mu0, best, alpha)
    made = np.cumsum(np.array(decided) == DEFAULT)
    error = made - foretold.by(np.arange(1, 401))
    assert error.min() >= -1 - 1e-6
    assert error.max() <= 1 + 1e-6


def test_a_turn_comes_after_its_default_plays():
    """Turns that pay 0 at mu0 = 1/2, alpha = 1/4: each needs four plays, itself the last."""
    foretold = default_plays.predicted(0.75 * np.arange(1, 20), 0.5, 0.75, 0.25)
    assert foretold.by(np.arange(1, 13)) == pytest.approx([1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9, 9])


def test_a_policy_without_regret_needs_the_first_default_plays_only():
    foretold = default_plays.predicted(np.zeros(100), 0.5, 0.75, 0.05)
    assert foretold.count == pytest.approx(19)
    assert (foretold.turn, foretold.settled) == (0, True)


def test_the_account_funds_itself_from_the_turn_where_regret_grows_slower_than_c():
    """sqrt(m) has slope c = 0.1 at m = 25: sup is 5 - 2.5."""
    foretold = default_plays.predicted(np.sqrt(np.arange(1, 1000)), 0.5, 0.5 + 1 / 13, 3 / 65)
    a, c = 0.5 * 3 / 65, 1 / 13 + 0.5 * 3 / 65
    assert c == pytest.approx(0.1)
    assert foretold.turn == 25
    assert foretold.settled
    assert foretold.count == pytest.approx((0.5 - a + 2.5) / a)


def test_a_curve_that_ends_too_early_says_so():
    short = default_plays.predicted(0.9 * np.arange(1, 10), 0.5, 0.75, 0.1)
    assert not short.settled
    assert short.turn == 9


def test_a_curve_at_a_few_turns_is_as_good():
    turns = np.arange(1, 5001)
    curve = 10 * np.log(1 + turns)
    some = np.unique(np.geomspace(1, 5000, 200).astype(int))
    whole = default_plays.predicted(curve, 0.7, 0.8, 0.05)
    part = default_plays.predicted(curve[some - 1], 0.7, 0.8, 0.05, turns=some)
    assert part.count == pytest.approx(whole.count, rel=1e-3)
    T = np.geomspace(1, 10_000, 50)
    np.testing.assert_allclose(part.by(T), whole.by(T), atol=30)


def test_default_plays_never_exceed_plays_and_never_fall():
    foretold = default_plays.predicted(30 * np.log1p(np.arange(1, 3000)), 0.7, 0.8, 0.05)
    T = np.arange(1, 20_000)
    assert (foretold.by(T) <= T).all()
    assert (np.diff(foretold.by(T)) >= -1e-9).all()
    assert type(foretold.by(10)) is float


def test_pseudo_regret_foretells_less_than_realised_regret_which_foretells_all():
    """Means over eight runs: sup of the curve without the rewards' noise, with it, and measured."""
    means, mu0, alpha = np.linspace(0.8, 0.2, 12), 0.7, 0.05
    measured, foretold, exact = [], [], []
    for seed in range(8):
        decided, rewards = coin_run(means, mu0, alpha, 5000, seed)
        arms = [arm for arm in decided if arm != DEFAULT]
        realised = 0.8 * np.arange(1, len(rewards) + 1) - np.cumsum(rewards)
        prediction = default_plays.predicted(np.cumsum(0.8 - means[arms]), mu0, 0.8, alpha)
        assert prediction.settled
        measured.append(decided.count(DEFAULT))
        foretold.append(prediction.count)
        exact.append(default_plays.predicted(realised, mu0, 0.8, alpha).count)
    assert np.mean(exact) == pytest.approx(np.mean(measured), abs=1)
    assert 0.6 * np.mean(measured) <= np.mean(foretold) < np.mean(measured)
    assert max(measured) * 0.1 <= cmab.gencb_proved(means, mu0, alpha).parts(1)["default arm"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"default": 0.8}, "default = 0.8 is not below"),
        ({"alpha": 1}, "alpha = 1"),
        ({"regret": []}, "shape"),
        ({"regret": [[1.0]]}, "shape"),
        ({"regret": [1.0, float("nan")]}, "finite"),
        ({"regret": [1.0, 2.0], "turns": [1]}, "shape"),
        ({"regret": [1.0, 2.0], "turns": [2, 2]}, "must increase"),
        ({"regret": [1.0, 2.0], "turns": [0, 2]}, "must increase"),
    ],
)
def test_a_curve_that_is_none_is_refused(change, words):
    with pytest.raises(InvalidInput, match=words):
        default_plays.predicted(
            **{"regret": [1.0], "default": 0.7, "best": 0.8, "alpha": 0.1, **change}
        )
