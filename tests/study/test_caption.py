import polars as pl
import pytest

from surefoot.study.caption import caption
from surefoot.study.problems import MAIN
from surefoot.study.sweep import Sweep, paper, read


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
    return caption(panel, frame)


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
    said = caption(panel, frame)
    assert len(panel.choices) == len(panel.chosen()) >= 4
    for words in (*panel.choices, panel.setting, panel.source, *panel.words[:-1]):
        assert words in said
