import tomllib
from importlib import resources

import pytest

from surefoot.errors import InvalidInput
from surefoot.study.problems import MAIN, PROBLEMS
from surefoot.study.sweep import Sweep, paper, read

FILES = sorted((resources.files("surefoot.study") / "panels").iterdir(), key=lambda f: f.name)
CMAB = read(MAIN["cmab"])
PAPER = {
    "cmab": {(72, 0.05), (24, 0.05), (144, 0.05), (72, 0.1), (72, 0.15)},
    "clb": {(7, 0.01), (5, 0.01), (9, 0.01), (5, 0.02), (5, 0.03)},
    "cccb": {(7, 0.01), (5, 0.01), (9, 0.01), (5, 0.02), (5, 0.03)},
    "mv": {
        (24, 0.05, 10), (24, 0.05, 30), (24, 0.05, 60), (72, 0.05, 60), (144, 0.05, 60),
        (72, 0.1, 60), (72, 0.15, 60),
    },
}  # fmt: skip


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_papers_panels_are_here(problem):
    panels = paper(problem)
    assert {tuple(panel.place.values()) for panel in panels} == PAPER[problem]
    assert len(panels) == len(PAPER[problem])
    for panel in panels:
        assert panel.runs == 50
        assert panel.source.startswith("Du, Wang, Huang 2021, Figure")
    assert read(MAIN[problem]).source[-4:-1] in {"1(a", "1(b", "1(c", "1(d"}


def test_there_are_22_each_with_a_figure_of_its_own():
    assert len({panel.source for panel in paper()}) == len(paper()) == 22


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_data_file_marks_what_the_paper_is_silent_on(file):
    document = tomllib.loads(file.read_text())
    panel = read(file.name.removesuffix(".toml"))
    assert set(document["chosen"]) == set(panel.chosen())
    assert not set(document["printed"]) & set(panel.chosen())
    assert f"{panel.name}.toml" == file.name


def test_a_sweep_of_several_problems_changes_what_all_have():
    sweep = Sweep.of(*paper()).but(horizon=500, runs=2, seed=3)
    assert len(sweep.panels) == 22
    assert (sweep.runs, sweep.seed, sweep.values("horizon")) == (2, 3, (500,))
    assert {panel.source for panel in sweep.panels} == {panel.source for panel in paper()}
    assert len(sweep.groups) == 14


def test_panels_of_one_study_have_the_same_runs():
    with pytest.raises(InvalidInput, match="same runs and the same seed"):
        Sweep.of(CMAB, CMAB.model_copy(update={"runs": 3}))


def test_a_sweep_is_the_product_of_its_lists_in_numerical_order_and_without_repetition():
    sweep = Sweep.of(CMAB).but(K=(72, 24, 72), alpha=(0.1, 0.05), horizon=500)
    pairs = [(panel.K, panel.alpha) for panel in sweep.panels]
    assert pairs == [(24, 0.05), (24, 0.1), (72, 0.05), (72, 0.1)]
    assert {panel.horizon for panel in sweep.panels} == {500}
    every = Sweep.of(*paper()).panels
    assert [p.K for p in every if p.problem == "cmab"] == [24, 72, 72, 72, 144]
    assert list(dict.fromkeys(p.problem for p in every)) == ["cmab", "clb", "cccb", "mv"]


def test_a_panel_knows_whether_the_paper_shows_it():
    sweep = Sweep.of(CMAB).but(K=(144, 24), alpha=(0.05, 0.15), runs=3, horizon=500)
    assert [(p.K, p.alpha) for p in sweep.panels if p.source] == [(24, 0.05), (144, 0.05)]
    assert Sweep.of(CMAB).but(mu0=0.6).panels[0].source is None


def test_the_longer_horizon_says_why_and_another_one_does_not():
    reasons = {panel.name: panel.because for panel in paper() if panel.because}
    assert reasons == {"clb-d9-alpha0.01": "at 100,000 the default is still played"}
    panel = Sweep.of(read(MAIN["clb"])).but(d=(9,), horizon=300_000).panels[0]
    said = "horizon T = 300,000 (at 100,000 the default is still played)"
    assert panel.choices[0] == read("clb-d9-alpha0.01").choices[0] == said
    for other in ({"horizon": 5}, {"d": (5,)}, {"alpha": (0.02,)}):
        assert Sweep.of(read("clb-d9-alpha0.01")).but(**other).panels[0].because is None


def test_none_changes_nothing():
    assert Sweep.of(CMAB).but(K=None, runs=None) == Sweep.of(CMAB)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"K": (0,)}, "K = 0 must be "),
        ({"K": ()}, r"K = \(\) must have"),
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
        Sweep.of(CMAB).but(**change)
    assert "\n" not in str(caught.value)
