import numpy as np
import polars as pl
import pytest

from surefoot.simulation.compiled import PLAIN
from surefoot.study import runs
from surefoot.study.problems import MAIN
from surefoot.study.results.rows import axes_of, schema, table
from surefoot.study.sweep import Sweep, paper, read


def of(panel, plan, *numbers):
    found = {run: plan.run(run, PLAIN) for run in numbers}
    return table("c0", panel, plan, found, axes_of([panel]))


def test_runs_come_out_the_same_together_and_one_by_one():
    panel = Sweep.of(read(MAIN["mv"])).but(K=(3,), horizon=90).panels[0]
    plan = runs.joint_plan([panel])
    whole = of(panel, plan, 3, 4, 5)
    one_by_one = pl.concat([of(panel, plan, run) for run in (3, 4, 5)])
    order = pl.col("agent").cast(pl.Enum(panel.names()))
    assert whole.equals(one_by_one.sort(order, "run", "t"))


@pytest.mark.parametrize("problem", MAIN)
def test_a_table_tells_where_a_row_belongs_and_parts_add_up(problem):
    panel = Sweep.of(read(MAIN[problem])).but(horizon=120).panels[0]
    frame = of(panel, runs.joint_plan([panel]), 2)
    assert dict(frame.schema) == schema(axes_of(paper()))
    known = {"problem", *panel.axes, "agent", "run", "t", *panel.measures(), "cell"}
    assert {name for name in frame.columns if frame[name].null_count() == 0} == known
    assert frame.select("problem", *panel.axes).unique().rows() == [
        (problem, *panel.place.values())
    ]
    assert (set(frame["cell"]), set(frame["run"])) == ({"c0"}, {2})
    parts = frame["regular_regret"] + frame["default_regret"]
    if panel.promises_reward:
        assert np.allclose(parts, frame["regret"])
    else:
        assert (parts <= frame["regret"] + 1e-9).all()
