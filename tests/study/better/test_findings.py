import numpy as np
import pytest

from surefoot.study.better.findings import (
    DRAWS,
    claims_of,
    geometric,
    instances_of,
    resampled,
    shares_of,
)
from surefoot.study.better.rivals import NAMED, PRINTED, PROVED, of_role
from surefoot.study.better.runs import AGAIN

PANELS = ("cmab-K24-alpha0.05", "cmab-K72-alpha0.05")
BASE, OURS, KNOWN = (of_role("cmab", role).name for role in (PRINTED, NAMED, PROVED))


def numbers(regret, below=0):
    regret = np.array(regret, dtype=float)
    zeros = np.zeros(len(regret), dtype=int)
    violating = zeros.copy()
    violating[0] = below
    return {
        "regret": regret,
        "default_plays": zeros,
        "violating_rounds": violating,
        "minimum_slack": zeros,
    }


def figures(factor, runs=6, below=0, worse=()):
    """The named policy has ``factor`` of the printed regret in each run, on two panels."""
    found = {}
    for at, panel in enumerate(PANELS):
        printed = 1000.0 * (at + 1) + np.arange(runs) * 50.0
        mine = printed * (1.2 if panel in worse else factor)
        found[panel] = {
            BASE: numbers(printed),
            OURS: numbers(mine, below),
            KNOWN: numbers(printed / 5.5),
            BASE + AGAIN: numbers(printed[::-1]),
            OURS + AGAIN: numbers(mine[::-1]),
        }
    return found


def verdicts(found, problem="cmab"):
    claims = claims_of(found, problem, *shares_of(found, problem))
    return {claim.key.removeprefix(f"{problem}-"): claim.holds for claim in claims}


def test_a_share_that_is_the_same_in_every_run_has_no_interval():
    shares, means = shares_of(figures(0.125), "cmab")
    for panel in PANELS:
        assert shares[panel][OURS] == pytest.approx((0.125, 0.125, 0.125))
    assert means[OURS] == pytest.approx((0.125, 0.125, 0.125))


def test_the_same_algorithm_again_has_a_share_of_about_one():
    _, means = shares_of(figures(0.125), "cmab")
    assert means[BASE + AGAIN].value == pytest.approx(1)
    assert means[BASE + AGAIN].low < 1 < means[BASE + AGAIN].high


def test_the_geometric_mean_is_over_panels_and_its_interval_over_runs():
    found = figures(0.125)
    found[PANELS[0]][OURS]["regret"] = found[PANELS[0]][BASE]["regret"] / 2
    shares, means = shares_of(found, "cmab")
    assert means[OURS].value == pytest.approx((0.5 * 0.125) ** 0.5)
    assert float(geometric(np.array([0.5, 0.125]))) == pytest.approx(0.25)
    wide = figures(0.125)
    wide[PANELS[0]][OURS]["regret"][0] *= 20
    spread, _ = shares_of(wide, "cmab")
    assert spread[PANELS[0]][OURS].high > 2 * shares[PANELS[1]][OURS].high


def test_the_bootstrap_is_that_of_drawing_runs_one_by_one():
    """Its interval is the one of a plain loop over draws, but for the luck of other draws."""
    found = figures(0.125, runs=8)
    rng = np.random.default_rng(5)
    found[PANELS[0]][OURS]["regret"] *= rng.uniform(0.5, 1.5, 8)
    share = shares_of(found, "cmab")[0][PANELS[0]][OURS]
    mine, base = (found[PANELS[0]][name]["regret"] for name in (OURS, BASE))
    drawn = []
    for _ in range(4000):
        runs = [int(rng.integers(8)) for _ in range(8)]
        drawn.append(sum(mine[run] for run in runs) / sum(base[run] for run in runs))
    low, high = np.quantile(drawn, (0.025, 0.975))
    assert (share.low, share.high) == pytest.approx((low, high), rel=0.02)
    assert resampled(8).shape == (DRAWS, 8)


@pytest.mark.parametrize(
    ("factor", "mean", "each"), [(0.12, True, True), (0.15, False, True), (0.2, False, False)]
)
def test_targets_are_met_or_not(factor, mean, each):
    found = verdicts(figures(factor))
    assert (found["mean"], found["each"]) == (mean, each)
    assert (found["worse"], found["kept"], found["proved"]) == (True, True, True)


def test_an_interval_that_allows_for_both_decides_nothing():
    found = figures(0.125)
    for panel in PANELS:
        found[panel][OURS]["regret"] *= [0.5, 1.5, 0.6, 1.4, 0.7, 1.3]
    assert verdicts(found)["mean"] is None


def test_one_panel_that_is_worse_is_enough():
    found = verdicts(figures(0.01, worse=PANELS[:1]))
    assert (found["worse"], found["each"], found["mean"]) == (False, False, True)


def test_one_play_below_the_floor_refutes_however_few_the_runs():
    assert verdicts(figures(0.1, below=1))["kept"] is False
    few = verdicts(figures(0.1, runs=2, below=1))
    assert few.pop("kept") is False
    assert set(few.values()) == {None}
    assert set(verdicts(figures(0.1, runs=4)).values()) == {None}


def test_fresh_instances_tell_the_worst_run_and_how_many_lie_above():
    base, ours, known = (of_role("clb", role).name for role in (PRINTED, NAMED, PROVED))
    found = {
        f"clb-d5-alpha0.01-instance{number}": {
            base: numbers([100.0, 300.0]),
            ours: numbers([10.0, worst]),
            known: numbers([40.0, 40.0]),
        }
        for number, worst in ((1, 30.0), (2, 220.0))
    }
    (at,) = instances_of(found, "clb")
    assert (at["panel"], at["instances"], at["runs"]) == ("clb-d5-alpha0.01", 2, 2)
    mine = next(one for one in at["policies"] if one["name"] == ours)
    assert mine["worst_run"] == pytest.approx(1.1)
    assert mine["runs_above"] == 1
    assert mine["worst_instance"] == pytest.approx(115 / 200)
    assert mine["geometric_mean"]["value"] == pytest.approx((0.1 * 115 / 200) ** 0.5)
