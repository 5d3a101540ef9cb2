from decimal import Decimal

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot._exact import Unit
from surefoot.errors import InvalidInput
from surefoot.study.logs.rejection import Visits, check_uniform, policy_of, replay
from surefoot.study.logs.rejection_backtest import COPIES, RejectionBacktest


def uniform_log(rows, means, seed=0):
    """A log that chose among old, a, b uniformly; ``means`` of (arm, context) in [0, 1]."""
    rng = np.random.default_rng(seed)
    arms = np.array(["old", "a", "b"])[rng.integers(3, size=rows)]
    x = rng.random(rows)
    paid = rng.random(rows) < [means(arm, one) for arm, one in zip(arms, x, strict=True)]
    return pl.DataFrame({"arm": arms, "reward": paid.astype(int), "x": x})


def suits(arm, x):
    """Of the two new arms each suits half of the contexts."""
    return {"old": 0.3, "a": 0.1 + 0.6 * x, "b": 0.7 - 0.6 * x}[arm]


def passes(log, policy, context=(), alpha=0.2, horizon=10**9, orders=(0,)):
    read = sf.read_log(log, context=context)
    env = sf.ReplayLog(read.frame, "old")
    features = read.frame["context"].to_numpy() if context else None
    made, told = policy_of(policy, env.arms, features, (Decimal(0), Decimal(1)))
    agent = sf.GenCB(made, sf.RewardFloor(0.35, alpha))
    visits = Visits(env.codes, env.amounts, np.arange(len(log)))
    for seed in orders:
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(log))
        found = replay(agent, visits.in_order(order), told, env.unit, 0.3, horizon, rng)
        yield order, found


def test_it_counts_as_a_plain_loop_over_the_rows_does():
    """The replayer of the paper, spelled out: an agent, asked at each row, told where it agrees."""
    log = uniform_log(400, suits)
    labels, rewards = log["arm"].to_list(), log["reward"].to_list()
    ((order, found),) = passes(log, "ucb1")
    policy = sf.UCB1(arms=["a", "b"])
    agent = sf.GenCB(policy, sf.RewardFloor(0.35, 0.2), seed=0)
    plays, gain = {"old": 0, "a": 0, "b": 0}, 0.0
    for row in order:
        turns = agent.turns, policy.turns
        play = agent.select()
        chosen = "old" if play.is_default else play.arm
        if chosen != labels[row]:
            agent.void(play)
            agent.turns, policy.turns = turns
            continue
        agent.update(play, **({} if play.is_default else {"reward": rewards[row]}))
        plays[chosen] += 1
        gain += 0 if play.is_default else rewards[row] - 0.3
    assert found.plays.tolist() == [plays["a"], plays["b"], plays["old"]]
    assert found.gain == pytest.approx(gain)
    assert min(plays.values()) > 0


def test_rows_that_do_not_count_leave_no_trace():
    """Rows of an arm that is never chosen may be there or not: the same plays follow."""
    log = uniform_log(300, suits)
    env = sf.ReplayLog(log, "old")
    agent = sf.GenCB(sf.UCB1(arms=["a", "b"]), sf.RewardFloor(0.35, 0.2))
    visits = Visits(env.codes, env.amounts, np.arange(len(log)))
    other = Visits(*(np.concatenate([own, own]) for own in visits))
    other.codes[::2] = 9  # no agent ever chooses this one
    kept = other.in_order(np.flatnonzero(other.codes != 9))
    told = [
        replay(agent, one, lambda row: None, env.unit, 0.3, 10**9, np.random.default_rng(1))
        for one in (other, kept)
    ]
    assert told[0].plays.tolist() == told[1].plays.tolist()
    assert told[0].gain == told[1].gain


@pytest.mark.parametrize("policy", ["linucb", "lints"])
def test_a_linear_policy_learns_whom_an_arm_suits(policy):
    log = uniform_log(1_500, suits)
    (linear,) = [found.gain / found.plays.sum() for _, found in passes(log, policy, ["x"])]
    (plain,) = [found.gain / found.plays.sum() for _, found in passes(log, "ucb1")]
    assert linear > plain + 0.03  # by context the better arm pays .55, either one always .4


def test_the_floor_is_kept_whatever_is_left_out():
    for _, found in passes(uniform_log(600, lambda arm, x: 0.3 if arm == "old" else 0.02), "ucb1"):
        assert found.slack >= 0
        assert found.explored > 0


def test_the_horizon_ends_a_pass():
    ((_, found),) = passes(uniform_log(300, suits), "ucb1", horizon=20)
    assert found.plays.sum() == 20


def test_an_adapted_policy_and_one_of_ones_own():
    def served(context, rng):
        return "a" if context[0] > 0.5 else "b"

    rule = sf.adapters.Called(served, arms=["a", "b"])
    log = uniform_log(900, suits)
    ((_, found),) = passes(log, rule, ["x"])
    assert found.gain / found.explored == pytest.approx(0.25, abs=0.06)


def test_a_learner_of_another_library_goes_over_the_rows():
    mab = pytest.importorskip("mabwiser.mab")
    learner = mab.MAB(["a", "b"], mab.LearningPolicy.LinUCB())
    ((_, found),) = passes(uniform_log(200, suits), sf.adapters.MABWiser(learner), ["x"])
    assert found.explored > 20
    assert found.slack >= 0


def quick(monkeypatch, log, **options):
    monkeypatch.setattr("surefoot.study.logs.rejection_backtest.COPIES", 19)
    return sf.backtest(log, "old", 0.2, mode="rejection", runs=2, **options)


def test_a_backtest_by_rejection(monkeypatch):
    log = uniform_log(700, lambda arm, x: suits(arm, 0 if x < 0.5 else 1))
    found = quick(monkeypatch, log, context=["x"], policy="lints", horizon=150)
    assert isinstance(found, RejectionBacktest)
    assert found.verdict == "pays"
    assert 0 < found.gain.low < found.gain.mean < found.gain.high
    assert [arm["arm"] for arm in found.arms] == ["old", "a", "b"]
    assert sum(arm["plays"] for arm in found.arms) == pytest.approx(found.used)
    summary = found.summary()
    documented = RejectionBacktest.summary.__doc__ or ""
    keys = [*summary, *summary["log"], *summary["default"], *summary["arms"][0], *summary["gain"]]
    assert [key for key in keys if key not in documented] == []
    assert set(found.frame["copy"]) == {"log", "shuffled", "redrawn"}
    assert "exploring pays" in found.headline()
    assert found.headline() in found._repr_html_()


def test_where_no_arm_is_better_it_does_not_say_so(monkeypatch):
    found = quick(monkeypatch, uniform_log(240, lambda arm, x: 0.4), policy="ucb1")
    assert found.verdict != "pays"
    assert found.gain.low <= 0


def test_equal_seeds_are_equal(monkeypatch):
    log = uniform_log(60, suits)
    first, again, other = (quick(monkeypatch, log, seed=seed) for seed in (3, 3, 4))
    assert first.gain == again.gain != other.gain


def test_a_log_that_did_not_choose_uniformly_is_refused_with_the_reason():
    skewed = pl.concat([uniform_log(300, suits), uniform_log(300, suits).filter(arm="old")])
    said = r"uniformly, and 'old' has \d+ of \d+ rows, where an equal share is \d+; without"
    with pytest.raises(InvalidInput, match=said):
        sf.backtest(skewed, "old", mode="rejection")
    chosen = uniform_log(600, suits).filter((pl.col("arm") != "a") | (pl.col("x") > 0.5))
    codes = chosen["arm"].replace_strict({"a": 0, "b": 1, "old": 2}).to_numpy()
    even = np.concatenate([np.flatnonzero(codes == arm)[:80] for arm in range(3)])
    said = r"uniformly, and 'old' has \d+ of \d+ rows, where an equal share is \d+; without"
    with pytest.raises(InvalidInput, match=said):
        sf.backtest(skewed, "old", mode="rejection")
    chosen = uniform_log(600, suits).filter((pl.col("arm") != "a") | (pl.col("x") > 0.5))
    codes = chosen["arm"].replace_strict({"a": 0, "b": 1, "old": 2}).to_numpy()
    even = np.concatenate([np.flatnonzero(codes == arm)[:80] for arm in range(3)])
    with pytest.raises(InvalidInput, match="number 1 of the context differs between the arms"):
        check_uniform(codes[even], ["a", "b", "old"], chosen["x"].to_numpy()[even, None], None)
    told = uniform_log(300, suits).with_columns(p=0.3 + pl.col("x") / 20)
    with pytest.raises(InvalidInput, match=r"and row 1 has propensity 0.3\d+, where 1/3 is unif"):
        sf.backtest(told, "old", mode="rejection", propensity="p")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mode": "x"}, "mode = 'x' must be one of 'means', 'rejection'"),
        ({"context": ["x"]}, "contexts, and policies that see them, need mode = 'rejection'"),
        ({"policy": sf.UCB1(2)}, "contexts, and policies that see them, need mode = 'rejection'"),
        ({"mode": "rejection", "policy": "linucb"}, "policy 'linucb' needs contexts; name their"),
        ({"mode": "rejection", "policy": "ucb1", "context": "x"}, "policy 'ucb1' sees no contexts"),
        ({"mode": "rejection", "policy": "x"}, "policy 'x' is unknown; choose one of 'klucb'"),
        ({"mode": "rejection", "policy": sf.UCB1(2)}, "UCB1 plays 0, 1, and the arms of the log b"),
        ({"mode": "rejection", "runs": 1}, "runs = 1 must be at least 2"),
        ({"mode": "rejection", "horizon": 0}, "horizon = 0 must be"),
    ],
)
def test_what_does_not_fit_is_refused(options, said):
    with pytest.raises(InvalidInput, match=said):
        sf.backtest(uniform_log(120, suits), "old", **options)


def test_a_default_without_rows_or_that_pays_nothing_is_refused():
    log = uniform_log(120, lambda arm, x: 0.0 if arm == "old" else 0.5)
    with pytest.raises(InvalidInput, match="the default 'old' pays 0 a play in the log"):
        sf.backtest(log, "old", mode="rejection")
    with pytest.raises(InvalidInput, match="'rejection' needs rows of the default"):
        sf.backtest(log, "other", mode="rejection", default_value=0.3)


def test_the_copies_are_enough_for_a_verdict():
    assert 1 / (COPIES + 1) <= 0.05
    assert Unit(9).decimal(5 * 10**8) == Decimal("0.5")
