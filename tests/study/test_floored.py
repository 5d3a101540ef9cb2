"""Studies with floors by name: their rows, their report, and who kept what."""

import json

import polars as pl
import pytest
from typer.testing import CliRunner

from lab import MEASURED
from surefoot.cli import app
from surefoot.study.results.cells import cell_of
from surefoot.study.sweep import panel_of
from surefoot.study.toml.study_file import read_study
from surefoot.study.toml.template import template

ROUTER = (
    """\
problem = "own"
horizon = 80
runs = 2
[setting]
objective = { quality = 1, cost = -5 }
[floors.quality]
default = { between = [0.5, 0.95] }
alpha = 0.2
[floors.cost]
kind = "CostCeiling"
default = 0.012
alpha = 0.5
"""
    + MEASURED
)
COSTS = """\
problem = "own"
horizon = 80
runs = 2
[floors.cost]
kind = "CostCeiling"
default = 0.5
alpha = 0.2
margin = 0.01
max_slack = 9
[grid]
floors.cost.reserve = [0, 1, 2, 3]
[environment]
path = "BernoulliArms"
settings = { means = [0.8, 0.2] }
[[agents]]
policy = "KLUCB"
"""


def study(*words):
    return CliRunner().invoke(app, ["study", *map(str, words)])


@pytest.fixture
def no_figures(monkeypatch):
    monkeypatch.setattr("surefoot.study.report.publish._draw", lambda *_, **__: [])


@pytest.fixture(scope="module")
def router(tmp_path_factory):
    """The folder of a study with two floors, and its file."""
    folder = tmp_path_factory.mktemp("router")
    (folder / "router.toml").write_text(ROUTER)
    ran = study("run", folder / "router.toml", "--out", folder / "out")
    assert ran.exit_code == 0, ran.output
    return folder


def test_each_floor_has_its_columns_its_figure_and_its_place_in_the_report(router):
    rows = pl.read_parquet(router / "out" / "runs.parquet")
    assert rows.columns == [
        "problem", "agent", "run", "t", "regret", "regular_regret", "default_regret",
        "default_plays", "received", "violating_rounds",
        *(f"{one}_{floor}" for floor in ("quality", "cost")
          for one in ("received", "slack", "minimum_slack", "violating_rounds")),
    ]  # fmt: skip
    guarded = rows.filter(pl.col("agent") == "guarded", pl.col("t") == 80)
    assert guarded["violating_rounds_cost"].to_list() == [0, 0]
    assert (guarded["received_cost"] <= 80 * 0.018 - guarded["slack_cost"] + 1e-9).all()
    report = (router / "out" / "report.html").read_text()
    for said in (
        "cost: minimum slack", "quality: plays below the floor", "cost: plays above the ceiling",
        "CostCeiling, default 0.012, alpha 0.5", "No promise broken", "at its true mean",
    ):  # fmt: skip
        assert said in report
    assert "regret of one who earns exactly the floor" not in report
    assert (router / "out" / "own.png").exists()
    (entry,) = json.loads((router / "out" / "summary.json").read_text())["panels"]
    assert (entry["floors"], entry["baseline_regret"]) == (["quality", "cost"], None)


def test_a_study_with_floors_goes_on_and_another_floor_in_its_folder_is_named(router, no_figures):
    again = study("run", router / "router.toml", "--runs", 3, "--resume", "--out", router / "out")
    assert again.exit_code == 0, again.output
    other = router / "other.toml"
    other.write_text(ROUTER.replace("alpha = 0.5", "alpha = 0.6"))
    refused = study("run", other, "--runs", 3, "--out", router / "out")
    assert refused.exit_code == 2
    assert "error: floor = cost (CostCeiling, default 0.012, alpha 0.6) differs" in refused.stderr


def test_one_ceiling_on_what_an_environment_costs_and_a_grid_over_it(tmp_path, no_figures):
    (tmp_path / "costs.toml").write_text(COSTS)
    ran = study("run", tmp_path / "costs.toml", "--out", tmp_path / "out")
    assert ran.exit_code == 0, ran.output
    assert "plays broken" in ran.stdout
    panels = json.loads((tmp_path / "out" / "summary.json").read_text())["panels"]
    assert [panel["floors.cost.reserve"] for panel in panels] == [0, 1, 2, 3]
    assert [panel["mu0"] for panel in panels] == [-0.5] * 4
    assert panels[0]["baseline_regret"] == pytest.approx(80 * (-0.2 + 0.5 + 0.1 + 0.01))
    assert all(one["violating_rounds_cost"]["max"] == 0 for p in panels for one in p["agents"])
    assert (tmp_path / "out" / "grid-own-over-floors.cost.reserve.png").exists()


def test_the_order_of_weights_and_of_json_keys_does_not_name_another_cell(tmp_path):
    file = tmp_path / "router.toml"
    file.write_text(ROUTER)
    (panel,) = read_study(file).panels
    sorted_keys = json.loads(json.dumps(panel.model_dump(mode="json"), sort_keys=True))
    assert cell_of(panel_of(sorted_keys)) == cell_of(panel)
    assert panel_of(sorted_keys).environment().measures.keys() == {"quality", "cost"}


def test_what_is_printed_to_start_from_is_a_study(tmp_path):
    (tmp_path / "new.toml").write_text(template("floors"))
    (panel,) = read_study(tmp_path / "new.toml", horizon=50, runs=1).panels
    assert panel.guards == ("quality", "cost")
    shown = study("show", "floors")
    assert shown.exit_code == 2
    assert "`surefoot study new floors` prints a file to start from" in shown.stderr
