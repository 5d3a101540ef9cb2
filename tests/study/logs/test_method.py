"""The method of a backtest against its slow twin, and what an odd log does to it."""

from decimal import Decimal

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from naive import backtest as slow
from surefoot._exact import Unit
from surefoot.errors import InvalidInput
from surefoot.study.logs import worlds
from surefoot.study.logs.backtest import Backtest
from surefoot.study.logs.backtest_runs import BacktestRuns
from surefoot.study.logs.copies import Copy, Default
from surefoot.study.logs.rows import Rows
from surefoot.study.logs.subject import Subject


@pytest.fixture
def few_copies(monkeypatch):
    """Only where no p is looked at, or the twin has as few."""
    monkeypatch.setattr(worlds, "COPIES", 8)


def found(log, default="z", **options):
    runs = BacktestRuns(
        Subject(log, default, "Try", "A log."), **{"alpha": 0.1, "runs": 2, **options}
    )
    list(runs.steps())
    return Backtest(runs)


@pytest.mark.parametrize("seed", range(4))
def test_the_method_is_that_of_the_slow_twin(seed, few_copies):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(20, 90))
    codes = np.append(rng.permutation(np.append(np.arange(3), rng.integers(0, 3, rows - 3))), 2)
    rewards = (rng.random(rows + 1) < np.array([0.3, 0.9, 0.5])[codes]).astype(int)
    rewards[-1] = 1  # the default has to earn
    log = {"arm": ["xyz"[code] for code in codes], "reward": rewards.tolist()}
    mine = found(log, policy="ucb1", runs=3, horizon=45, seed=seed)
    pairs = list(zip(codes.tolist(), rewards.tolist(), strict=True))
    twin = slow.backtest(pairs, 3, 0.1, 45, 3, 8, seed)
    gain = mine.gain
    assert gain.in_sample == pytest.approx(twin.in_sample, abs=1e-9)
    assert gain.luck == pytest.approx(twin.luck, abs=1e-9)
    assert gain.p == float(twin.p)
    logged = mine.runs.of_kind(worlds.LOG)
    pair = np.mean([one.plays[0] for one in logged[:2]], axis=0)
    assert mine.runs.worlds.logged.gain(pair).t == pytest.approx(twin.t, abs=1e-9)
    if not any(flag.bars for flag in mine.flags):
        assert (gain.verdict == "pays") == twin.pays
        assert gain[:3] == pytest.approx((twin.mean, twin.low, twin.high), abs=1e-9)


def test_scaled_rewards_scale_the_amounts_and_change_no_verdict():
    rng = np.random.default_rng(3)
    arms = rng.choice(list("xyz"), 400).tolist()
    cents = rng.integers(0, 1200, 400)
    one, thousand = (
        found({"arm": arms, "reward": (cents * by).tolist()}, alphas=(0.02,)) for by in (1, 1000)
    )
    assert thousand.verdict == one.verdict
    assert thousand.gain.p == one.gain.p
    for mine, its in zip(one.gain[:5], thousand.gain[:5], strict=True):
        assert its == pytest.approx(1000 * mine, rel=1e-9)
    assert thousand.runs.value == 1000 * one.runs.value
    assert thousand.sweep[1]["stake"] == pytest.approx(1000 * one.sweep[1]["stake"])
    for name in one.danger:
        mine, its = (list(each.danger[name]["quantiles"].values()) for each in (one, thousand))
        assert its == pytest.approx([1000 * value for value in mine])


def test_fifty_zeros_have_no_variance_but_their_arm_has():
    rows = Rows(np.repeat([0, 1], [50, 450]), np.repeat([0, 0, 1], [50, 360, 90]), Unit(0))
    moments = rows.moments(rows.amounts)
    mixed = 10 * 500 / 90
    variance = 0.18 * 0.82
    assert moments.squares[0] == pytest.approx(mixed * variance / (50 + mixed) / 50)


def test_snips_counts_a_row_by_one_over_its_propensity():
    codes, rewards = np.array([0, 1, 1, 1]), np.array([1, 1, 0, 0])
    shares = np.array([0.5, 0.25, 0.5, 0.5])
    rows = Rows(codes, rewards, Unit(0), shares)
    assert rows.moments(rewards).means[1] == pytest.approx(4 / (4 + 2 + 2))
    record = rows.record(rows.amounts, joined=True)
    ends = (record.starts + record.sizes).astype(int)
    drawn = record.rewards[int(record.starts[1]) : ends[1]]
    assert drawn.mean() == pytest.approx(0.5, abs=1 / 4096)
    doubled = Rows(codes, rewards, Unit(0), shares / 2)
    for mine, its in zip(doubled.moments(rewards), rows.moments(rewards), strict=True):
        assert mine == pytest.approx(its)


def test_with_propensities_rewards_stay_in_their_tenth():
    codes = np.tile([0, 1], 100)
    amounts = np.arange(200)
    rows = Rows(codes, amounts, Unit(0), np.full(200, 0.5))
    shuffled = rows.shuffled(np.random.default_rng(0))
    logged = np.empty(200, np.int64)
    logged[rows.order] = shuffled
    assert (logged // 20 == amounts // 20).all()
    assert (logged != amounts).any()
    assert sorted(logged) == list(amounts)


def test_propensities_undo_shares_that_follow_the_times():
    """Shares 95/5, then 50/50, while both arms go from 2 to 20 %: unweighted, b looks better."""
    rng = np.random.default_rng(1)
    late = np.arange(6000) >= 3000
    share = np.where(late, 0.5, 0.05)
    arms = np.where(rng.random(6000) < share, "b", "z")
    rewards = (rng.random(6000) < np.where(late, 0.2, 0.02)).astype(int)
    chosen = np.where(arms == "b", share, 1 - share)
    log = {"arm": arms.tolist(), "reward": rewards.tolist(), "propensity": chosen.tolist()}
    weighted = sf.backtest(log, "z", 0.1, propensity="propensity", runs=4)
    plain = sf.backtest(log, "z", 0.1, runs=4)
    assert plain.verdict == "cannot tell"
    assert [flag.name for flag in plain.flags if flag.bars] == ["shares move"]
    assert plain.gain.in_sample > 0.3 * plain.always_default
    assert abs(weighted.gain.mean) < 0.1 * weighted.always_default
    assert weighted.verdict != "pays"
    assert not any(flag.bars for flag in weighted.flags)


def test_a_default_without_rows_is_taken_at_its_value_and_said_so():
    rng = np.random.default_rng(2)
    log = {"arm": rng.choice(["x", "y"], 600).tolist(), "reward": rng.integers(0, 2, 600).tolist()}
    better = sf.backtest(log, "old", 0.1, default_value=0.2, runs=4)
    assert better.verdict == "pays"
    assert better.arms[0] == {
        "arm": "old", "rows": 0, "paying": 0, "mean": 0.2, "low": 0.2, "high": 0.2,
        "plays": better.arms[0]["plays"], "few": False, "heavy": False, "is_default": True,
    }  # fmt: skip
    assert any("p does not cover its error" in note for note in better.notes())
    assert better.runs.value == Decimal("0.2")
    assert sf.backtest(log, default_value=0.9, runs=4).verdict == "does not pay"
    with pytest.raises(InvalidInput, match="default = 'x' has rows in the log and default_value"):
        sf.backtest(log, "x", default_value=0.2)
    with pytest.raises(InvalidInput, match="the default 'old' is known to pay 0 a play"):
        sf.backtest(log, "old", default_value=0)


ODD = {
    "one row an arm": {"arm": ["z", "x", "y"], "reward": [0.5, 0.25, 1]},
    "a default of one row": {"arm": ["x", "z", "x", "y"] * 1 + ["x"] * 40, "reward": [0.5] * 44},
    "equal rewards": {"arm": ["z", "x"] * 30, "reward": [1] * 60},
    "all zero but the default": {"arm": ["z", "x"] * 30, "reward": [1, 0] * 30},
    "huge": {"arm": ["z", "x"] * 30, "reward": [1e12, 0, 3e12, 2e12] * 15},
    "tiny": {"arm": ["z", "x"] * 30, "reward": [1e-6, 0, 3e-6, 2e-6] * 15},
    "a default that pays the most": {"arm": ["z", "x"] * 30, "reward": [1, 0.5] * 30},
    "refunds": {"arm": ["z", "x"] * 60, "reward": [2, -3, -1, 5] * 30},
    "refunds that all but cancel": {"arm": ["z", "x"] * 60, "reward": [1, -1, -0.99, 1] * 30},
    "many arms": {"arm": ["z", *(f"x{n}" for n in range(300))] * 2, "reward": [1, 0] * 301},
    "ints and texts": {"arm": ["z", 7, 8] * 20, "reward": [1, 0, 1] * 20},
    "duplicates": {"arm": ["z", "x"] * 50, "reward": [1, 1] * 20 + [0, 0] * 30},
}


@pytest.mark.parametrize("log", ODD.values(), ids=list(ODD))
def test_an_odd_log_gets_a_verdict(log, few_copies):
    odd = found(log, horizon=120, alphas=(0.5,))
    gain = odd.gain
    assert gain.low <= gain.mean <= gain.high
    assert np.isfinite(gain[:6]).all()
    assert 0 < gain.p <= 1
    assert odd.verdict in ("pays", "does not pay", "cannot tell")
    assert odd.why
    assert all(arm["low"] <= arm["mean"] <= arm["high"] for arm in odd.arms)
    odd.summary()


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ({"arm": ["z", "x"], "reward": [1, float("nan")]}, "row 2 of the log"),
        ({"arm": ["z", "x"], "reward": [1, None]}, "row 2 of the log"),
        ({"arm": ["z", "x"], "reward": [-1, 5]}, "the default 'z' pays -1 a play in the log"),
        ({"arm": ["z", "x"], "reward": [3, 3]}, "there is nothing to choose"),
        ({"arm": [], "reward": []}, "the log"),
    ],
)
def test_what_cannot_be_backtested_is_one_line(log, said):
    with pytest.raises(InvalidInput, match=said) as error:
        sf.backtest(log, "z")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("shares", [[0.5, 0, 0.5], [0.5, 1.5, 0.5], [0.5, float("nan"), 0.5]])
def test_a_propensity_is_a_probability_above_zero(shares):
    log = {"arm": ["z", "x", "y"], "reward": [1, 0, 1], "propensity": shares}
    with pytest.raises(InvalidInput, match="row 2"):
        sf.backtest(pl.DataFrame(log), "z", propensity="propensity")


def test_a_world_whose_default_earns_nothing_is_played_by_it():
    rows = Rows(np.array([0, 1, 1]), np.array([5, -4, 2]), Unit(0))
    copy = Copy(rows, Default(Decimal(5)), rows.amounts)
    assert copy.mean == -1
    assert copy.gain(np.array([3.0])).value == pytest.approx(18)


def test_propensities_that_do_not_fit_the_rows_bar_a_verdict(few_copies):
    arms = ["z", "z", "z", "x"] * 60
    share = {"z": 0.75, "x": 0.25}

    def told(propensities):
        log = {"arm": arms, "reward": [0, 1, 0, 1] * 60, "p": propensities}
        return sf.backtest(log, "z", 0.2, propensity="p", runs=2)

    fits, thinned = told([share[arm] for arm in arms]), told([share[arm] / 2 for arm in arms])
    assert fits.gain == thinned.gain
    assert not {flag.name for flag in fits.flags} & {"propensities"}
    one = told([0.9] * 240)
    assert one.verdict == "cannot tell"
    assert "1/propensity adds up to 66.7 over the rows of x and to 200 over" in one.why[0]
