import pytest

from claims_at_reduced_size import rows
from surefoot.study.bounds import foretold, spoken, told
from surefoot.study.problems import MAIN
from surefoot.study.summary import curves
from surefoot.study.sweep import Sweep, read


def panel(problem, **changes):
    return Sweep.of(read(MAIN[problem])).but(horizon=400, **changes).panels[0]


@pytest.mark.parametrize("problem", MAIN)
def test_an_order_ends_at_its_curve_and_a_number_above_it(problem):
    setting = panel(problem)
    frame = rows(setting)
    for said in spoken(setting, frame):
        assert (said.bound is None) == bool(said.void)
        if said.bound is not None:
            end = curves(frame, said.agent, "regret")[:, -1].mean()
            height = said.bound(setting.horizon)
            assert height > end if said.bound.trusted else height == pytest.approx(end)


@pytest.mark.parametrize(("rho", "void"), [(10.0, True), (30.0, True), (60.0, False)])
def test_a_void_theorem_is_said(rho, void):
    setting = panel("mv", rho=(rho,))
    entry = told(setting, rows(setting, 1))["bounds"][0]
    assert entry["agent"] == "MV-CUCB"
    assert ("void" in entry) == void
    if void:
        assert "must be > 2 for Theorem 5" in entry["void"]


def test_a_default_that_is_the_best_makes_the_theorems_void():
    setting = panel("cmab", K=(3,), mu0=0.9)
    found = told(setting, rows(setting))
    assert found["default_plays"] is None
    assert "void" in found["bounds"][0]


def test_what_is_foretold_is_what_is_made():
    setting = panel("cmab", K=(4,))
    frame = rows(setting, 3)
    made = curves(frame, "GenCB", "default_plays")[:, -1]
    assert foretold(setting, frame)["mean"] == pytest.approx(made.mean(), rel=0.05)
    assert foretold(panel("mv"), rows(panel("mv"), 1)) is None
