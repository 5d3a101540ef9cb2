import numpy as np
import pytest

from surefoot.study.problems import MAIN
from surefoot.study.sweep import Sweep, read


@pytest.mark.parametrize("problem", ["clb", "cccb"])
def test_what_is_told_of_the_instance_is_true(problem):
    panel = read(MAIN[problem])
    X, theta = panel.environment().X, panel.environment().theta
    assert X.shape == (2 * panel.d, panel.d)
    lengths = np.linalg.norm(X, axis=1)
    assert lengths == pytest.approx(panel.told["L"])
    assert np.linalg.norm(theta) == pytest.approx(panel.told["S"])
    policy = panel.agents()[panel.guarded].policy
    assert policy.settings()["theta_bound"] == panel.told["S"]


@pytest.mark.parametrize("problem", ["clb", "cccb"])
def test_the_default_is_a_share_of_the_best_and_the_instance_a_seed(problem):
    sweep = Sweep.of(read(MAIN[problem]))
    panel = sweep.panels[0]
    assert panel.pays == round(0.875 * panel.top, 4)
    assert sweep.but(ratio=0.5).panels[0].pays == round(0.5 * panel.top, 4)
    assert sweep.but(instance=1).panels[0].top != panel.top
    assert (panel.level("1/T"), panel.level(0.01)) == (1e-5, 0.01)
