import numpy as np
import polars as pl
import pytest

from claims_at_reduced_size import rows
from surefoot._drawing import style
from surefoot.study import runs
from surefoot.study.numbers import brief
from surefoot.study.problems import CMAB, MAIN
from surefoot.study.report import figures
from surefoot.study.report.figures import caption
from surefoot.study.report.findings import found_in
from surefoot.study.report.panel_runs import PanelRuns
from surefoot.study.sweep import Sweep, panel_of, paper, read


def panel(**changes):
    return Sweep.of(read(MAIN["cmab"])).but(**changes).panels[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"K": (4,), "horizon": 1_500},
        {"K": (1,), "horizon": 2},  # nothing is learnt
        {"K": (2,), "horizon": 300, "worst": 0.8, "alpha": (0.9,)},  # nothing falls below
        {"K": (3,), "horizon": 300, "mu0": 0.9},
    ],
)
def test_every_setting_can_be_drawn(tmp_path, monkeypatch, changes):
    monkeypatch.setattr(style, "FORMATS", ("png",))
    setting = panel(**changes)
    said = figures.draw_panel(PanelRuns(setting, rows(setting)), tmp_path / setting.name).caption
    assert setting.setting in said
    (file,) = tmp_path.iterdir()
    assert file.name == f"{setting.name}.png"
    assert file.read_bytes().startswith(b"\x89PNG")
    assert file.stat().st_size > 50_000


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Draw rows, and get the left and the right panel instead of files."""

    def draw(setting, frame):
        kept = []
        monkeypatch.setattr(style, "save", lambda sheet, stem: kept.append(sheet) or [])
        figures.draw_panel(PanelRuns(setting, frame), tmp_path / "x")
        kept[0].canvas.draw()
        return kept[0].axes

    return draw


def made(t, slacks):
    """Tidy rows of one run, from each agent's slack."""
    tables = []
    for name in CMAB.curves_of_paper():
        slack = np.asarray(slacks[name], float)
        columns = {"agent": [name] * len(t), "run": 0, "t": t, "slack": slack}
        columns["minimum_slack"] = np.minimum.accumulate(np.minimum(slack, 0))
        columns["violating_rounds"] = np.cumsum(slack < 0)
        columns["regret"] = 0.135 * t - slack
        tables.append(pl.DataFrame(columns))
    return pl.concat(tables)


def test_the_panels_show_what_they_say(drawn):
    setting = panel(K=(4,), horizon=1_500)
    frame = rows(setting)
    of = PanelRuns(setting, frame).of
    left, right = drawn(setting, frame)
    shown = {tuple(line.get_ydata()) for line in left.lines if len(line.get_xdata()) > 2}
    worst = {tuple(line.get_ydata()) for line in right.lines if len(line.get_xdata()) > 2}
    for name in CMAB.curves_of_paper():
        regret = of(name, "regret")
        for curve in (regret.mean(axis=0), regret.min(axis=0), regret.max(axis=0)):
            assert tuple(curve) in shown
        assert tuple(of(name, "slack").min(axis=0)) in worst
    t = frame.get_column("t").unique().sort().to_numpy()
    assert tuple(0.135 * t) in shown
    named = [text.get_text().replace("\n", " ") for text in right.texts]
    deepest = of("UCB1", "minimum_slack").min()
    assert deepest < 0
    assert f"UCB1: least {brief(deepest)}" in named
    assert "GenCB: least 0" in named


T = runs.checkpoints(10_000)
RECOVERS = {"GenCB": 0 * T, "UCB1": (T - 5_000) * T / 50_000, "ConUCB": T / 20}
FALLS = {"GenCB": 0 * T, "UCB1": -(T**0.7), "ConUCB": T / 50}


@pytest.mark.parametrize(("slacks", "insets"), [(RECOVERS, (1, 1)), (FALLS, (0, 1))])
def test_the_early_phase_gets_an_inset_if_there_is_a_later_one(drawn, slacks, insets):
    setting = panel(K=(4,), horizon=10_000)
    left, right = drawn(setting, made(T, slacks))
    assert (len(left.child_axes), len(right.child_axes)) == insets


def test_a_panel_of_the_first_plays_only_has_no_inset_of_them(drawn):
    setting = panel(K=(4,), horizon=10_000)
    slacks = {**RECOVERS, "UCB1": (T - 250.0) / 10}
    right = drawn(setting, made(T, slacks))[1]
    assert right.get_xlim()[1] <= 2 * runs.FIRST_PLAYS
    assert right.child_axes == []


@pytest.mark.parametrize(
    ("rate", "fall"),
    [
        (0.001, 0.7),
        (0.03, 0.5),
        (1, 1),
        *(
            pytest.param(rate, fall, marks=pytest.mark.slow)
            for rate, fall in [(0.001, 0.5), (0.001, 1), (0.03, 0.7), (0.03, 1), (1, 0.5), (1, 0.7)]
        ),
    ],
)
def test_an_inset_hides_no_curve_and_no_label_leaves_the_sheet(drawn, rate, fall):
    setting = panel(K=(4,), horizon=10_000)
    slacks = {"GenCB": 0 * T, "UCB1": -(T**fall), "ConUCB": rate * T}
    _, right = drawn(setting, made(T, slacks))
    for inset in right.child_axes:
        x0, y0, x1, y1 = inset.get_tightbbox().extents
        for line in (line for line in right.lines if len(line.get_xdata()) > 2):
            dense = np.linspace(1, 10_000, 5_000)
            points = np.column_stack([dense, np.interp(dense, T, line.get_ydata())])
            x, y = right.transData.transform(points).T
            assert not ((x > x0) & (x < x1) & (y > y0) & (y < y1)).any()
    box = right.get_window_extent()
    (note,) = (text for text in right.texts if text.get_text().startswith("UCB1"))
    words = note.get_window_extent()
    assert box.x0 <= words.x0 < words.x1 <= box.x1
    assert box.y0 <= words.y0 < words.y1 <= box.y1


@pytest.mark.parametrize("problem", MAIN)
def test_every_problem_can_be_drawn_and_nothing_leaves_the_sheet(drawn, problem):
    setting = Sweep.of(read(MAIN[problem])).but(horizon=400).panels[0]
    left, right = drawn(setting, rows(setting))
    sheet = left.get_figure().bbox
    for axes in (left, right):
        whole = axes.get_tightbbox()
        assert 0 <= whole.x0 < whole.x1 <= sheet.x1
    named = {text.get_text().split(":")[0] for text in right.texts}
    assert set(setting.names()) <= named


@pytest.mark.parametrize("problem", MAIN)
def test_the_theorems_are_drawn_and_said(tmp_path, monkeypatch, problem):
    monkeypatch.setattr(style, "FORMATS", ("png",))
    setting = Sweep.of(read(MAIN[problem])).but(horizon=400).panels[0]
    said = figures.draw_theory(PanelRuns(setting, rows(setting)), tmp_path / "x").caption
    assert (tmp_path / "x.png").stat().st_size > 30_000
    if problem == "mv":
        assert "MV-CUCB: void here. Alpha * rho * default = 0.35 must be > 2" in said
        assert "No formula predicts" in said
    else:
        assert "GenCB, proved: expected regret" in said
        assert "GenCB, order: expected regret, Du, Wang, Huang 2021, Theorem" in said
        assert "Default plays predicted from" in said


def text(runs=2, **changes):
    panel = Sweep.of(read(MAIN["cmab"])).but(runs=2, **changes).panels[0]
    frame = pl.DataFrame(
        {
            "agent": ["GenCB"] * runs + ["UCB1"] * runs + ["ConUCB"] * runs,
            "run": [*range(runs)] * 3,
            "t": [100] * 3 * runs,
            "violating_rounds": [0] * runs + [700] * runs + [0] * runs,
            "minimum_slack": [0.0] * runs + [-1378.305] * runs + [0.0] * runs,
        }
    )
    return caption(PanelRuns(panel, frame))


@pytest.mark.parametrize(
    "said",
    [
        "Setting of Du, Wang, Huang 2021, Figure 1(a): K = 72 Bernoulli arms",
        "Choices of ours, on which the paper is silent: horizon T = 100,000, seed 0, ties",
        "ties to the lowest arm, ConUCB's δ = 1/T, its radius “iterated”, its scale “paper”.",
        "The gap to ConUCB depends strongly on its radius and scale.",
        "the default does not compete",
        "pseudo-regret against the best regular arm",
        "t·(μ* - (1-α)·μ0) is the regret of one who earns exactly the floor",
        "a curve may lie above the baseline although the floor was kept",
        "the least of all runs at each play drawn;",
        "the default counts at its known value 0.7",
        "read off the account, in exact numbers",
        "over all runs: GenCB 0, UCB1 1,400 (up to 1,378.305 short), ConUCB 0.",
        "α = 0.05; 2 runs. ",
    ],
)
def test_it_says_what_a_study_must_say(said):
    assert said in text()


def test_a_setting_of_the_users_is_not_called_the_papers():
    assert text(K=(5,)).startswith("A setting that the paper does not show: K = 5 Bernoulli")


def test_a_default_better_than_every_arm_is_said():
    assert "pseudo-regret against the default, which is better" in text(mu0=0.9)


def test_a_stopped_study_says_how_many_runs_it_rests_on():
    assert "1 run (stopped: 2 were asked for)" in text(runs=1)


@pytest.mark.parametrize("panel", paper(), ids=lambda panel: panel.name)
def test_every_choice_of_every_panel_is_said(panel):
    names = panel.names()
    frame = pl.DataFrame(
        {"agent": names, "run": 0, "t": 1, "violating_rounds": 0, "minimum_slack": 0.0}
    )
    said = caption(PanelRuns(panel, frame))
    assert len(panel.choices) == len(panel.chosen()) >= 4
    for words in (*panel.choices, panel.setting, panel.source, panel.words.rival, *panel.words[4:]):
        assert words in said


OWN = [{"name": f"mine {c}", "policy": "EpsilonGreedy", "settings": {"epsilon": c / 100}}
       for c in range(1, 8)]  # fmt: skip


def test_many_agents_of_a_study_file_are_drawn_apart_and_claim_nothing_of_the_papers(drawn):
    setting = panel_of({**panel(K=(3,), horizon=300).model_dump(mode="json"), "agents": OWN})
    frame = rows(setting)
    left, right = drawn(setting, frame)
    for axes in (left, right):
        looks = {
            (line.get_color(), str(line._dash_pattern), line.get_marker())
            for line in axes.lines if line.get_linewidth() > 1.2 and len(line.get_xdata()) > 2
        }  # fmt: skip
        assert len(looks) >= len(OWN)
        assert axes.get_tightbbox().x1 <= left.get_figure().bbox.x1
    said = caption(PanelRuns(setting, frame))
    assert said.startswith("A setting of a study file: K = 3")
    assert "The agents are those of the study file: mine 1, mine 2" in said
    assert "the paper is silent" not in said
    found = found_in(PanelRuns(setting, frame), theory=True)
    assert (found["claims"], "theory" in found, len(found["differences"])) == ([], False, 6)
