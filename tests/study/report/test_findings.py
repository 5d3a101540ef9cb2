import numpy as np
import polars as pl
import pytest

from claims_at_reduced_size import rows
from surefoot.study.problems import MAIN
from surefoot.study.report.findings import (
    RULES,
    claims,
    found_in,
    predicted_default_plays,
    theorems,
)
from surefoot.study.report.panel_runs import PanelRuns
from surefoot.study.sweep import Sweep, read

T = np.arange(1, 101)
PANEL = Sweep.of(read(MAIN["cmab"])).but(K=(3,), horizon=100, runs=2).panels[0]
SPREAD = np.outer(np.linspace(-1, 1, 10), T)
GOOD = {
    "GenCB": {"regret": np.minimum(T, 40.0), "default_plays": np.minimum(T, 30)},
    "UCB1": {
        "regret": np.minimum(T, 20.0),
        "slack": -1.0 * np.minimum(T, 30),
        "minimum_slack": -30.0,
        "violating_rounds": 7,
    },
    "ConUCB": {"regret": 1.0 * T, "default_plays": T},
}


def held(problem=PANEL, runs=10, **changed):
    """Claim -> whether it holds, where an agent's measures are changed."""
    return {claim.key: claim.holds for claim in told(problem, runs, **changed)}


def told(problem=PANEL, runs=10, **changed):
    """The claims; the runs are equal, but for a measure that has a row for each."""
    tables = []
    for name in problem.names():
        still = {"slack": 0.0, "default_plays": 0, "minimum_slack": 0.0, "violating_rounds": 0}
        columns = {**still, **GOOD.get(name, {}), **changed.get(name, {})}
        for run in range(runs):
            mine = {key: v[run] if np.ndim(v) == 2 else v for key, v in columns.items()}
            tables.append(pl.DataFrame({"agent": name, "run": run, "t": T, **mine}))
    frame = pl.concat(tables, how="vertical_relaxed")
    return claims(PanelRuns(problem, frame))


def test_all_hold_where_all_is_as_the_paper_says():
    assert held() == dict.fromkeys(RULES, True)


@pytest.mark.parametrize("curves", ["none", (100,)])
def test_what_a_few_noted_plays_cannot_show_is_not_decided(curves):
    """Between two plays far apart a curve may do anything: only counts over all plays are sure."""
    panel = PANEL.model_copy(update={"curves": curves})
    assert held(panel) == {
        "kept": True, "flat": None, "lower": None, "constant": None, "early": True,
    }  # fmt: skip
    why = {claim.key: claim.found for claim in told(panel)}["flat"]
    assert why.startswith('100 plays noted, where [outputs] curves = "grid" is needed; ')


@pytest.mark.parametrize(
    ("changed", "fails"),
    [
        ({"GenCB": {"violating_rounds": 1}}, "kept"),
        ({"GenCB": {"minimum_slack": -1e-9}}, "kept"),
        ({"GenCB": {"default_plays": np.minimum(T, 30) + (T > 80)}}, "flat"),
        ({"ConUCB": {"regret": np.minimum(T, 39.0)}}, "lower"),
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


@pytest.mark.parametrize("runs", [5, 6, 10])
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


def test_fewer_than_five_runs_decide_nothing():
    """Of one run an interval would be a point, of two it would hold the mean too rarely."""
    for runs in range(1, 5):
        found = told(runs=runs)
        assert {claim.holds for claim in found} == {None}
        lack = f"{runs} run{'s' * (runs > 1)}, at least 5 needed; "
        assert all(claim.found.startswith(lack) for claim in found)
        assert "[" not in found[2].found
    assert set(held(runs=5).values()) == {True}


def test_a_play_below_the_floor_refutes_however_few_runs_there_are():
    assert held(runs=1, GenCB={"violating_rounds": 1})["kept"] is False


def test_an_interval_of_five_runs_is_students_not_two_standard_errors():
    """-2 ± 2.5 standard errors: two would call it lower, Student's 2.78 do not."""
    offs = np.array([-1, -1, 0, 1, 1]) / np.sqrt(5)  # of standard error sqrt(0.04) = 0.2
    ends = np.outer(offs, T == T[-1])
    for mean, holds in ((-0.5, None), (-0.6, True), (0.5, None), (0.6, False)):
        regret = GOOD["ConUCB"]["regret"] + mean + ends
        assert held(runs=5, GenCB={"regret": regret})["lower"] is holds


def test_a_difference_that_may_be_none_is_not_decided():
    assert held(ConUCB={"regret": np.minimum(T, 40.0)})["lower"] is None
    assert held(ConUCB={"regret": np.minimum(T, 39.0)})["lower"] is False


def test_a_horizon_too_short_to_judge_says_so():
    """UCB1 alone falls until play 90, and by play 80 GenCB has explored 50 times."""
    found = told(UCB1={**GOOD["UCB1"], "slack": -1.0 * np.minimum(T, 90)})
    assert {claim.key for claim in found if claim.holds} == {"kept", "early"}
    assert {claim.key for claim in found if claim.holds is None} == {"flat", "lower", "constant"}
    said = "horizon too short: GenCB explores 50 times by play 80 of a run, where UCB1 alone falls"
    assert found[1].found.startswith(f"{said} until play 90; ")
    never = {"violating_rounds": 0, "slack": np.where(T < 90, 91.0 - T, 1.0)}
    assert held(UCB1=never)["early"] is None


def test_one_unlucky_play_is_no_early_loss():
    """Below the floor in every run, as by chance: ten runs of coins may be 2*sqrt(t/10) off."""
    fallen = {"violating_rounds": 1, "minimum_slack": -1.0}
    assert held(UCB1={"slack": -0.6 * (T == 1), **fallen})["early"] is None
    assert held(UCB1={"slack": -0.63 * np.sqrt(T), **fallen})["early"] is None
    assert held(UCB1={"slack": -0.64 * np.sqrt(T), **fallen})["early"] is True


def test_chance_makes_as_much_as_one_reward_can_move():
    main = {problem: read(MAIN[problem]).swing for problem in MAIN}
    assert main == {"cmab": 1, "clb": 1, "cccb": 3, "mv": 11}


def test_a_run_that_is_flat_says_since_when():
    assert told()[1].found == "flat from play 30 on in every run; 30 in the mean"


def test_all_numbers_are_written_alike():
    """Thousands apart, a real minus, no exponents."""
    found = told(GenCB={"regret": 12_345.0 * T}, ConUCB={"regret": 23_456.0 * T})
    mean = "\N{MINUS SIGN}1,111,100"
    told_of = f"difference {mean} [{mean}, {mean}] at the horizon; lower in 10 of 10 runs"
    assert found[2].found == told_of
    last = "+246,900 [246,900, 246,900] in the last fifth"
    assert found[3].found == f"extra regret 1,234,480; {last}"


def test_without_a_rival_there_is_no_claim_about_one():
    mv = Sweep.of(read(MAIN["mv"])).but(horizon=100, runs=2).panels[0]
    measures = {"MV-CUCB": GOOD["GenCB"], "MV-UCB": GOOD["UCB1"]}
    assert list(held(mv, **measures)) == ["kept", "flat", "constant", "early"]


def panel(problem, **changes):
    return Sweep.of(read(MAIN[problem])).but(horizon=400, **changes).panels[0]


@pytest.mark.parametrize("problem", MAIN)
def test_an_order_ends_at_its_curve_and_a_number_above_it(problem):
    setting = panel(problem)
    frame = rows(setting)
    for said in theorems(PanelRuns(setting, frame)):
        assert (said.bound is None) == bool(said.void)
        if said.bound is not None:
            end = PanelRuns(setting, frame).last(said.agent, "regret").mean()
            height = said.bound(setting.horizon)
            assert height > end if said.bound.trusted else height == pytest.approx(end)


@pytest.mark.parametrize(("rho", "void"), [(10.0, True), (30.0, True), (60.0, False)])
def test_a_void_theorem_is_said(rho, void):
    setting = panel("mv", rho=(rho,))
    entry = found_in(PanelRuns(setting, rows(setting, 1)), theory=True)["theory"]["bounds"][0]
    assert entry["agent"] == "MV-CUCB"
    assert ("void" in entry) == void
    if void:
        assert "must be > 2 for Theorem 5" in entry["void"]


def test_a_default_that_is_the_best_makes_the_theorems_void():
    setting = panel("cmab", K=(3,), mu0=0.9)
    found = found_in(PanelRuns(setting, rows(setting)), theory=True)["theory"]
    assert found["default_plays"] is None
    assert "void" in found["bounds"][0]


def test_what_is_predicted_is_what_is_made():
    setting = panel("cmab", K=(4,))
    frame = rows(setting, 3)
    made = PanelRuns(setting, frame).last("GenCB", "default_plays")
    assert predicted_default_plays(PanelRuns(setting, frame))["mean"] == pytest.approx(
        made.mean(), rel=0.05
    )
    assert predicted_default_plays(PanelRuns(panel("mv"), rows(panel("mv"), 1))) is None
