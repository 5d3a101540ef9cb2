import numpy as np
import polars as pl
import pytest

from surefoot.study.claims import RULES, claims
from surefoot.study.problems import MAIN
from surefoot.study.sweep import Sweep, read

T = np.arange(1, 101)
PANEL = Sweep.of(read(MAIN["cmab"])).but(K=(3,), horizon=100, runs=2).panels[0]
SPREAD = np.outer(np.linspace(-1, 1, 10), T)
GOOD = {
    "GenCB": {"regret": np.minimum(T, 40.0), "default_plays": np.minimum(T, 30)},
    "UCB1": {
        "regret": np.minimum(T, 20.0),
        "slack": -0.5 * np.minimum(T, 60),
        "minimum_slack": -30.0,
        "violating_rounds": 7,
    },
    "ConUCB": {"regret": 1.0 * T, "default_plays": T},
}


def held(problem=PANEL, runs=2, **changed):
    """Claim -> whether it holds, where an agent's measures are changed.

    The runs are equal, but for a measure that has a row for each.
    """
    tables = []
    for name in problem.names():
        still = {"slack": 0.0, "default_plays": 0, "minimum_slack": 0.0, "violating_rounds": 0}
        columns = {**still, **GOOD.get(name, {}), **changed.get(name, {})}
        for run in range(runs):
            mine = {key: v[run] if np.ndim(v) == 2 else v for key, v in columns.items()}
            tables.append(pl.DataFrame({"agent": name, "run": run, "t": T, **mine}))
    frame = pl.concat(tables, how="vertical_relaxed")
    return {claim.key: claim.holds for claim in claims(problem, frame)}


def test_all_hold_where_all_is_as_the_paper_says():
    assert held() == dict.fromkeys(RULES, True)


@pytest.mark.parametrize(
    ("changed", "fails"),
    [
        ({"GenCB": {"violating_rounds": 1}}, "kept"),
        ({"GenCB": {"minimum_slack": -1e-9}}, "kept"),
        ({"GenCB": {"default_plays": np.minimum(T, 81)}}, "flat"),
        ({"ConUCB": {"regret": np.minimum(T, 40.0)}}, "lower"),
        ({"GenCB": {"regret": 0.5 * T}}, "constant"),
        ({"GenCB": {"regret": np.minimum(T, 95.0)}, "ConUCB": {"regret": 2.0 * T}}, "constant"),
        ({"GenCB": {"regret": 100.0 - 0.5 * T}}, "constant"),
        (
            {"UCB1": {"regret": np.minimum(T, 20.0), "slack": 0.5 * T, "violating_rounds": 0}},
            "early",
        ),
    ],
)
def test_each_fails_where_it_is_not_so(changed, fails):
    assert [key for key, holds in held(**changed).items() if holds is not True] == [fails]
    assert held(**changed)[fails] is False


@pytest.mark.parametrize("runs", [1, 2, 3, 10])
@pytest.mark.parametrize("seed", range(8))
def test_extra_regret_that_grows_with_the_plays_is_never_called_constant(seed, runs):
    slopes = np.random.default_rng(seed).normal(seed / 4, 1, (runs, 1))
    assert (
        held(runs=runs, GenCB={"regret": np.minimum(T, 20.0) + slopes * T})["constant"] is not True
    )


@pytest.mark.parametrize(
    ("extra", "holds"),
    [
        (40 + 0.1 * SPREAD, True),
        (40 + 0.5 * SPREAD, None),
        (T + 0.1 * SPREAD, False),
        (100 - T + 0.1 * SPREAD, False),
    ],
)
def test_constant_is_said_only_where_the_spread_allows_nothing_else(extra, holds):
    assert held(runs=10, GenCB={"regret": np.minimum(T, 20.0) + extra})["constant"] is holds


def test_one_run_does_not_tell_what_is_constant():
    assert held(runs=1)["constant"] is None


def test_one_unlucky_play_is_no_early_loss():
    """Below the floor in every run, as by chance: two runs of fair coins may be 2*sqrt(t/2) off."""
    fallen = {"violating_rounds": 1, "minimum_slack": -1.0}
    assert held(UCB1={"slack": -1.0 * (T == 1), **fallen})["early"] is None
    assert held(UCB1={"slack": -1.41 * np.sqrt(T), **fallen})["early"] is None
    assert held(UCB1={"slack": -1.42 * np.sqrt(T), **fallen})["early"] is True


def test_chance_makes_as_much_as_one_reward_can_move():
    main = {problem: read(MAIN[problem]).swing for problem in MAIN}
    assert main == {"cmab": 1, "clb": 1, "cccb": 3, "mv": 11}


def test_a_run_that_is_flat_says_since_when():
    claim = claims(PANEL, frame_of(np.minimum(T, 30)))[1]
    assert claim.found == "flat from play 30 on in every run; 30 in the mean"


def frame_of(default_plays):
    still = {"regret": 0.0, "slack": 0.0, "minimum_slack": 0.0, "violating_rounds": 0}
    return pl.concat(
        pl.DataFrame(
            {"agent": name, "run": 0, "t": T, **still, "default_plays": default_plays},
        )
        for name in PANEL.names()
    )


def test_without_a_rival_there_is_no_claim_about_one():
    mv = Sweep.of(read(MAIN["mv"])).but(horizon=100, runs=2).panels[0]
    measures = {"MV-CUCB": GOOD["GenCB"], "MV-UCB": GOOD["UCB1"]}
    assert list(held(mv, **measures)) == ["kept", "flat", "constant", "early"]
