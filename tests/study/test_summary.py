import polars as pl
import pytest

from surefoot.study.panel import MAIN, Sweep, read
from surefoot.study.summary import curves, of_panel, slope, summarize

SWEEP = Sweep.of(read(MAIN)).but(K=(2, 3), alpha=(0.1,), horizon=10, runs=2, seed=7)
FRAME = pl.DataFrame(
    {
        "problem": "cmab",
        "K": 2,
        "alpha": 0.1,
        "agent": ["A", "A", "A", "A", "B", "B", "B", "B"],
        "run": [1, 0, 1, 0] * 2,
        "t": [5, 5, 10, 10] * 2,
        "regret": [1.0, 2.0, 3.0, 6.0, 0.5, 0.5, 0.5, 0.5],
        "default_plays": [1, 2, 3, 4, 0, 0, 0, 0],
        "violating_rounds": [0, 0, 0, 0, 5, 5, 9, 10],
        "minimum_slack": [0.0, 0.0, 0.0, 0.0, -1.5, -1.0, -2.5, -1.25],
    }
)


def test_the_schema_is_pinned():
    summary = summarize(FRAME, SWEEP, ["A", "B"])
    assert list(summary) == ["panels", "seed", "versions"]
    assert summary["seed"] == 7
    assert summary["panels"] == [
        {
            "problem": "cmab",
            "K": 2,
            "alpha": 0.1,
            "mu0": 0.7,
            "horizon": 10,
            "runs": 2,
            "baseline_regret": pytest.approx(1.7),
            "agents": [
                {
                    "name": "A",
                    "regret": {"mean": 4.5, "min": 3.0, "max": 6.0},
                    "default_plays": {"mean": 3.5, "min": 3, "max": 4},
                    "violating_rounds": {"mean": 0.0, "min": 0, "max": 0},
                    "minimum_slack": {"mean": 0.0, "min": 0.0, "max": 0.0},
                },
                {
                    "name": "B",
                    "regret": {"mean": 0.5, "min": 0.5, "max": 0.5},
                    "default_plays": {"mean": 0.0, "min": 0, "max": 0},
                    "violating_rounds": {"mean": 9.5, "min": 9, "max": 10},
                    "minimum_slack": {"mean": -1.875, "min": -2.5, "max": -1.25},
                },
            ],
        }
    ]


def test_a_panel_without_a_run_is_left_out():
    assert summarize(FRAME.clear(), SWEEP, ["A"])["panels"] == []


def test_curves_are_in_order_of_run_and_play():
    assert curves(of_panel(FRAME, SWEEP.panels()[0]), "A", "regret").tolist() == [[2, 6], [1, 3]]


def test_the_baseline_earns_exactly_the_floor():
    assert slope(read(MAIN)) == 0.135
    assert slope(read("cmab-K72-alpha0.15")) == 0.205
    better_default = Sweep.of(read(MAIN)).but(mu0=0.9).panels()[0]
    assert slope(better_default) == 0.045
