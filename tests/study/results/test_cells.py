import numpy as np
import pytest

import surefoot as sf
from surefoot.study.problems import MAIN
from surefoot.study.results import cells
from surefoot.study.results.cells import cell_of, identity
from surefoot.study.sweep import Sweep, panel_of, paper, read

PANEL = read(MAIN["cmab"])


def test_no_two_panels_of_the_paper_are_one_cell():
    names = [cell_of(panel) for panel in paper()]
    assert len(set(names)) == 22
    assert all(len(name) == 16 and int(name, 16) >= 0 for name in names)


def test_a_cell_outlives_a_trip_through_json():
    for panel in paper():
        assert cell_of(panel_of(panel.model_dump(mode="json"))) == cell_of(panel)


@pytest.mark.parametrize("change", [{"runs": 7}, {"source": "a"}, {"because": "b"}, {"home": "/"}])
def test_what_no_run_depends_on_is_no_part_of_it(change):
    assert cell_of(PANEL.model_copy(update=change)) == cell_of(PANEL)


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"horizon": 9}, {"mu0": 0.6}, {"K": 3}, {"alpha": 0.06}, {"delta": 0.1}]
)
def test_what_a_run_depends_on_is(change):
    assert cell_of(PANEL.model_copy(update=change)) != cell_of(PANEL)


@pytest.mark.parametrize("name", ["surefoot", "numpy", "scipy", "numba", "engine"])
def test_another_version_is_another_cell(monkeypatch, name):
    before = cell_of(PANEL)
    usual = cells.made_with()
    monkeypatch.setattr(cells, "made_with", lambda: {**usual, name: "9"})
    assert cell_of(PANEL) != before


class Arms:
    """An environment that somebody wrote, with what it holds in whatever."""

    def __init__(self, **held):
        vars(self).update(held)
        self.me = self


def held(**held):
    return cells._digest(cells._arrays(Arms(**held), set()))


def test_every_array_of_an_environment_counts():
    one = np.arange(3.0)
    assert held(a=one) == held(a=one.copy())
    assert held(a=one) != held(a=one[:2])
    assert held(a=one) != held(a=one.astype(int))
    assert held(a=np.zeros(1)) != held(a=np.array([-0.0]))
    assert held(a=one) != held(a=one + 1e-15)
    assert held(a=one) == held(a=one.astype(one.dtype.newbyteorder(">")))
    assert held(a=one[::-1]) == held(a=np.array([2.0, 1.0, 0.0]))
    for wrap in (lambda x: [x], lambda x: (1, {"k": x}), lambda x: Arms(inner=x)):
        assert held(a=wrap(one)) == held(a=wrap(one.copy())) != held(a=wrap(one + 1))
    assert held(a=np.array(["x", None], object)) == held(a=np.array(["x", None], object))
    assert held(a=np.array(["x", None], object)) != held(a=np.array(["y", None], object))


@pytest.mark.parametrize("kind", [sf.Delayed, sf.Batched])
def test_the_arrays_of_an_environment_within_one_count(kind):
    digests = {
        cells._digest(cells._arrays(kind(sf.BernoulliArms(means), 3), set()))
        for means in ([0.1, 0.2], [0.1, 0.3])
    }
    assert len(digests) == 2


def test_what_differs_is_named():
    told = {"settings": PANEL.model_dump(mode="json"), **identity(PANEL)}
    others = [
        ({"made": {**told["made"], "numpy": "1"}}, f"numpy: {told['made']['numpy']} on h, 1 in p"),
        ({"settings": {**told["settings"], "mu0": 0.5}}, "mu0 = 0.7 on h, 0.5 in p"),
        ({"settings": {**told["settings"], "new": 1}}, "new = None on h, 1 in p"),
        ({"sources": {"lab": "0"}}, "lab: its text on h is another than in p"),
        (
            {"arrays": "0"},
            "the environment's arrays on h are others than in p: they are drawn from",
        ),
    ]
    for change, said in others:
        assert cells.difference(told, {**told, **change}, "h", "p").startswith(said)


def test_cells_of_a_large_grid_are_quick():
    sweep = Sweep.of(PANEL).but(alpha=tuple(number / 300 for number in range(1, 200)))
    assert len({cell_of(panel) for panel in sweep.panels}) == 199
