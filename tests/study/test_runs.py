import numpy as np
import pytest

from surefoot.errors import InvalidInput
from surefoot.study import runs
from surefoot.study.problems import MAIN
from surefoot.study.sweep import Sweep, paper, read


def test_panels_that_differ_in_alpha_share_base_paths():
    panels = Sweep.of(read(MAIN["cmab"])).but(K=(3,), alpha=(0.05, 0.1, 0.15), horizon=50).panels
    plan = runs.joint_plan(panels)
    assert len(plan.agents) == 9
    assert len(plan.paths) == 2  # UCB1's, also GenCB's, and ConUCB's
    assert not plan.stepwise


@pytest.mark.parametrize("horizon", [2, 150, 200, 201, 5_000, 10**9])
def test_the_first_plays_are_all_noted_and_the_horizon_is(horizon):
    noted = runs.checkpoints(horizon)
    dense = min(200, horizon)
    assert noted[:dense].tolist() == list(range(1, dense + 1))
    assert noted[-1] == horizon
    assert len(noted) < 600
    assert (np.diff(noted) > 0).all()


def test_panels_that_differ_in_more_than_alpha_make_no_plan():
    panels = Sweep.of(read(MAIN["cmab"])).but(K=(2, 3), horizon=50).panels
    with pytest.raises(InvalidInput, match=r"cmab-K3-alpha.* in alpha only"):
        runs.joint_plan(panels)


def test_no_panel_of_the_paper_is_driven_play_by_play():
    for panels in Sweep.of(*paper()).but(horizon=50).groups.values():
        plan = runs.joint_plan(panels)
        assert not plan.stepwise
        assert len(plan.paths) == (1 if panels[0].comparator is None else 2)
