import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot._exact import shown
from surefoot.errors import InvalidInput, MissingExtra
from surefoot.simulation.loop import ARM
from surefoot.simulation.result import COLUMNS

MEANS = [0.75, 0.5, 0.25]
ENVIRONMENT = sf.BernoulliArms(MEANS)
RESERVE = 0.25


@pytest.fixture(scope="module")
def result():
    floor = sf.RewardFloor(0.625, 0.2, reserve=RESERVE)
    agents = {
        "GenCB": sf.GenCB(sf.UCB1(3), floor, default_competes=False),
        "UCB1": sf.Plain(sf.UCB1(3), floor),
        "free": sf.Plain(sf.UCB1(3)),
    }
    return sf.simulate(agents, ENVIRONMENT, 150, runs=3, seed=2, checkpoints="all")


def by_hand(result, name, run):
    """The measures of one run from its arms alone, in fractions."""
    key, turn = result.plan.key(run), 0
    floor = Fraction(4, 5) * Fraction(5, 8)
    regret = earned = slack = Fraction(0)
    least, defaults, below, rows = None, 0, 0, []
    for t, arm in enumerate(result.runs[run][name].books[:, ARM].tolist(), start=1):
        if arm < 0:
            defaults += 1
            earned += Fraction(5, 8)
            regret += Fraction(1, 8)
        else:
            turn += 1
            earned += Fraction(ENVIRONMENT.pull(key, turn, arm))
            regret += Fraction(3, 4) - Fraction(MEANS[arm])
        slack = Fraction(RESERVE) + earned - floor * t
        least = slack if least is None else min(least, slack)
        below += slack < 0
        rows.append([regret, defaults, earned, slack, least, below])
    return rows


@pytest.mark.parametrize("name", ["GenCB", "UCB1"])
def test_measures_are_what_they_say(result, name):
    for run in range(3):
        measured = [result.measure(name, column)[run].tolist() for column in COLUMNS]
        assert [list(row) for row in zip(*measured, strict=True)] == by_hand(result, name, run)


def test_the_exact_least_slack_is_the_least_of_all_runs(result):
    least = [by_hand(result, "UCB1", run)[-1][4] for run in range(3)]
    exact = result.exact_minimum_slack("UCB1")
    assert isinstance(exact, Decimal)
    assert Fraction(exact) == min(least) < 0


def test_the_summary_is_mean_min_and_max_at_the_horizon(result):
    summary = result.summary()
    assert list(summary) == result.agents == ["GenCB", "UCB1", "free"]
    assert list(summary["GenCB"]) == [
        "regret", "default_plays", "violating_rounds", "minimum_slack",
    ]  # fmt: skip
    for measure, spread in summary["UCB1"].items():
        last = result.measure("UCB1", measure)[:, -1]
        assert spread == {"mean": last.mean(), "min": last.min(), "max": last.max()}
    assert summary["GenCB"]["violating_rounds"] == {"mean": 0.0, "min": 0, "max": 0}


def test_without_a_floor_nothing_is_said_of_slack(result):
    assert list(result.summary()["free"]) == ["regret", "default_plays"]
    free = result.frame.filter(pl.col("agent") == "free")
    for column in ("slack", "minimum_slack", "violating_rounds"):
        assert free[column].null_count() == len(free)
    assert free["received"].to_list() == result.measure("UCB1", "received").ravel().tolist()


def test_the_frame_is_tidy(result):
    frame = result.frame
    assert frame.columns == ["agent", "run", "t", *COLUMNS]
    assert frame.shape == (3 * 3 * 150, 9)
    whole = {column for column, kind in frame.schema.items() if kind == pl.Int64}
    assert whole == {"run", "t", "default_plays", "violating_rounds"}
    for (agent, run), rows in frame.group_by(["agent", "run"]):
        assert rows["t"].to_list() == list(range(1, 151))
        for column in ("regret", "default_plays"):
            assert rows[column].to_list() == result.measure(agent, column)[run].tolist()
    guarded = frame.filter(pl.col("agent") == "GenCB")
    assert guarded["slack"].to_list() == result.measure("GenCB", "slack").ravel().tolist()


def test_an_unknown_measure_is_refused(result):
    with pytest.raises(InvalidInput, match="measure = 'reward' must be one of 'regret', "):
        result.measure("GenCB", "reward")


@pytest.mark.parametrize(
    "measure", [None, ["slack"], np.array(["slack", "regret"]), 10**5000], ids=shown
)
def test_what_is_no_name_of_a_measure_is_refused(result, measure):
    with pytest.raises(InvalidInput, match="must be one of 'regret', 'default_plays'"):
        result.measure("GenCB", measure)


@pytest.mark.parametrize("name", ["zz", None, ["GenCB"], np.array(["GenCB", "UCB1"])])
def test_an_unknown_agent_is_refused(result, name):
    for ask in (result.exact_minimum_slack, lambda name: result.measure(name, "slack")):
        with pytest.raises(InvalidInput, match="must be one of the agents 'GenCB', 'UCB1', 'free'"):
            ask(name)


def test_without_polars_the_frame_names_the_remedy(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[study\]'"):
        _ = result.frame
    assert result.summary()


def test_repr_says_what_it_is(result):
    assert repr(result) == "Result(3 agents, 3 runs, horizon 150, seed 2)"
    huge = sf.simulate({"UCB1": sf.Plain(sf.UCB1(3))}, ENVIRONMENT, 1, seed=10**5000)
    assert "<int of too many digits>" in repr(huge)
    assert np.array_equal(result.plan.checkpoints, np.arange(1, 151))


def test_the_regret_is_that_of_regular_arms_and_that_of_the_default(result):
    regular, default = (
        result.measure("GenCB", f"{part}_regret") for part in ("regular", "default")
    )
    assert (regular + default == result.measure("GenCB", "regret")).all()
    assert (default == result.measure("GenCB", "default_plays") * 0.125).all()
    assert result.measure("UCB1", "default_regret").max() == 0


@pytest.fixture(scope="module")
def moments():
    floor = sf.MeanVarianceFloor(0.625, 0.2, 4)
    agents = {"MV": sf.GenCB(sf.MVUCB(3, 4), floor, default_competes=False)}
    return sf.simulate(agents, ENVIRONMENT, 120, runs=2, seed=5, checkpoints="all")


def test_mean_variance_regrets_are_sums_over_all_pairs_of_plays(moments):
    mean_variance = [4 * Fraction(mean) - Fraction(mean) * (1 - Fraction(mean)) for mean in MEANS]
    best = max(*mean_variance, 4 * Fraction(5, 8))
    for run in range(2):
        arms = moments.runs[run]["MV"].books[:, ARM]
        for t in (1, 2, 30, 120):
            N = [int((arms[:t] == arm).sum()) for arm in (-1, 0, 1, 2)]
            mu = [Fraction(5, 8), *map(Fraction, MEANS)]
            gaps = [best - value for value in (4 * Fraction(5, 8), *mean_variance)]
            lost = [n * gap for n, gap in zip(N, gaps, strict=True)]
            pairs = sum(
                N[x] * N[y] * (mu[x] - mu[y]) ** 2 for x in range(4) for y in range(4) if x != y
            )
            row = {
                name: moments.measure("MV", name)[run, t - 1]
                for name in ("regret", "regret_exact", "regular_regret", "default_regret")
            }
            assert row["regret"] == pytest.approx(float(sum(lost) + 2 * pairs / t))
            assert row["regret_exact"] == pytest.approx(float(sum(lost) + pairs / (2 * t)))
            assert row["default_regret"] == pytest.approx(float(lost[0]))
            assert row["regular_regret"] == pytest.approx(float(sum(lost[1:])))


def test_realised_mean_variance_regret_is_of_the_rewards(moments):
    realised = moments.measure("MV", "regret_realised")
    slack = moments.measure("MV", "slack")
    t = np.arange(1, 121)
    best = max(4 * mean - mean * (1 - mean) for mean in MEANS)
    expected = t * (best - 0.8 * 4 * 0.625) - slack
    assert realised == pytest.approx(expected)


def test_measures_of_another_floor_are_refused(result, moments):
    assert moments.measure("MV", "regret_of_means").shape == (2, 120)
    for measure in ("regret_exact", "regret_realised"):
        with pytest.raises(InvalidInput, match=f"measure = '{measure}' must be one of"):
            result.measure("GenCB", measure)
