import pytest

from claims_at_reduced_size import rows
from surefoot.study import bounds_figure, style
from surefoot.study.problems import MAIN
from surefoot.study.sweep import Sweep, read


@pytest.mark.parametrize("problem", MAIN)
def test_the_theorems_are_drawn_and_said(tmp_path, monkeypatch, problem):
    monkeypatch.setattr(style, "FORMATS", ("png",))
    setting = Sweep.of(read(MAIN[problem])).but(horizon=400).panels[0]
    said = bounds_figure.draw(setting, rows(setting), tmp_path / "x")
    assert (tmp_path / "x.png").stat().st_size > 30_000
    if problem == "mv":
        assert "MV-CUCB: void here. Alpha * rho * default = 0.35 must be > 2" in said
        assert "No formula foretells" in said
    else:
        assert "GenCB, proved: expected regret" in said
        assert "GenCB, order: expected regret, Du, Wang, Huang 2021, Theorem" in said
        assert "Default plays foretold from" in said
