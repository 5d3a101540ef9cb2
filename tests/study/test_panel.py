import tomllib
from importlib import resources

import pytest

from surefoot.errors import InvalidInput
from surefoot.study.panel import MAIN, Chosen, Panel, Sweep, paper, read

FILES = sorted((resources.files("surefoot.study") / "panels").iterdir(), key=lambda f: f.name)


def test_the_papers_five_cmab_panels_are_here():
    assert {(panel.K, panel.alpha) for panel in paper("cmab")} == {
        (72, 0.05), (24, 0.05), (144, 0.05), (72, 0.1), (72, 0.15),
    }  # fmt: skip
    for panel in paper("cmab"):
        assert (panel.mu0, panel.best, panel.worst, panel.runs) == (0.7, 0.8, 0.2, 50)
        assert panel.source.startswith("Du, Wang, Huang 2021, Figure")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_data_file_marks_what_the_paper_is_silent_on(file):
    document = tomllib.loads(file.read_text())
    assert set(document["chosen"]) == set(Chosen.model_fields)
    assert not set(document["printed"]) & set(Chosen.model_fields)
    panel = read(file.name.removesuffix(".toml"))
    assert f"{panel.name}.toml" == file.name


def test_the_horizon_the_seed_and_conucbs_constants_are_ours():
    assert set(Panel.ours) == {"horizon", "seed", "delta", "radius", "scale", "ties"}
    panel = read(MAIN)
    assert (panel.horizon, panel.delta, panel.level) == (100_000, "1/T", 1e-5)


def test_a_sweep_is_the_product_of_its_lists_in_order_and_without_repetition():
    sweep = Sweep.of(read(MAIN)).but(K=(72, 24, 72), alpha=(0.1, 0.05), horizon=500)
    pairs = [(panel.K, panel.alpha) for panel in sweep.panels()]
    assert pairs == [(72, 0.1), (72, 0.05), (24, 0.1), (24, 0.05)]
    assert {panel.horizon for panel in sweep.panels()} == {500}


def test_a_panel_knows_whether_the_paper_shows_it():
    sweep = Sweep.of(read(MAIN)).but(K=(144, 24), alpha=(0.05, 0.15), runs=3, horizon=500)
    assert [(p.K, p.alpha) for p in sweep.panels() if p.source] == [(144, 0.05), (24, 0.05)]
    assert Sweep.of(read(MAIN)).but(mu0=0.6).panels()[0].source is None


def test_none_changes_nothing():
    assert Sweep.of(read(MAIN)).but(K=None, runs=None) == Sweep.of(read(MAIN))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"K": (0,)}, "K = 0 must be "),
        ({"K": ()}, r"K = \(\) "),
        ({"alpha": (0.05, 1.0)}, "alpha = 1 must lie strictly between 0 and 1"),
        ({"alpha": (float("nan"),)}, "alpha = nan must lie strictly"),
        ({"horizon": 1}, "horizon = 1 must be >= 2"),
        ({"horizon": 10**9 + 1}, "horizon = 1000000001 must be <= 1,000,000,000"),
        ({"runs": 0}, "runs = 0 must be "),
        ({"seed": -1}, "seed = -1 must be >= 0"),
        ({"mu0": 0}, "mu0 = 0 must be "),
        ({"radius": "wide"}, "radius = 'wide' must be "),
        ({"colour": "red"}, "colour = 'red' "),
    ],
)
def test_what_does_not_fit_is_one_line_that_names_it(change, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        Sweep.of(read(MAIN)).but(**change)
    assert "\n" not in str(caught.value)
