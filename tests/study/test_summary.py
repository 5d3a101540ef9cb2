import polars as pl
import pytest

from surefoot.study.problems import MAIN
from surefoot.study.summary import curves, of_panel, of_the_runs, plays
from surefoot.study.sweep import Sweep, read

SWEEP = Sweep.of(read(MAIN["cmab"])).but(K=(2, 3), alpha=(0.1,), horizon=10, runs=2, seed=7)
FRAME = pl.DataFrame(
    {
        "problem": "cmab",
        "K": 2,
        "alpha": 0.1,
        "agent": [name for name in ("GenCB", "UCB1", "ConUCB") for _ in range(4)],
        "run": [1, 0, 1, 0] * 3,
        "t": [5, 5, 10, 10] * 3,
        "regret": [1.0, 2.0, 3.0, 6.0] + [0.5] * 8,
        "regular_regret": [0.5] * 12,
        "default_regret": [0.5, 1.5, 2.5, 5.5] + [0.0] * 8,
        "default_plays": [1, 2, 3, 4] + [0] * 8,
        "violating_rounds": [0, 0, 0, 0, 5, 5, 9, 10, 0, 0, 0, 0],
        "minimum_slack": [0.0] * 4 + [-1.5, -1.0, -2.5, -1.25] + [0.0] * 4,
    }
)


PANEL = SWEEP.panels[0]


def test_the_schema_is_pinned():
    found = of_the_runs(PANEL, of_panel(FRAME, PANEL))
    agents = found.pop("agents")
    assert found == {
        "problem": "cmab",
        "K": 2,
        "alpha": 0.1,
        "mu0": 0.7,
        "horizon": 10,
        "runs": 2,
        "baseline_regret": pytest.approx(1.7),
    }
    assert [agent["name"] for agent in agents] == ["GenCB", "UCB1", "ConUCB"]
    assert agents[0] == {
        "name": "GenCB",
        "regret": {"mean": 4.5, "min": 3.0, "max": 6.0},
        "regular_regret": {"mean": 0.5, "min": 0.5, "max": 0.5},
        "default_regret": {"mean": 4.0, "min": 2.5, "max": 5.5},
        "default_plays": {"mean": 3.5, "min": 3, "max": 4},
        "violating_rounds": {"mean": 0.0, "min": 0, "max": 0},
        "minimum_slack": {"mean": 0.0, "min": 0.0, "max": 0.0},
    }
    assert agents[1]["violating_rounds"] == {"mean": 9.5, "min": 9, "max": 10}
    assert agents[1]["minimum_slack"] == {"mean": -1.875, "min": -2.5, "max": -1.25}


def test_curves_are_in_order_of_run_and_play():
    rows = of_panel(FRAME, PANEL)
    assert curves(rows, "GenCB", "regret").tolist() == [[2, 6], [1, 3]]
    assert plays(rows).tolist() == [5, 10]
    assert of_panel(FRAME, SWEEP.panels[1]).is_empty()
