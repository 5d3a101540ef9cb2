"""The README does what it shows, says first what matters, and points at what is there."""

import inspect
import pydoc
import re
from pathlib import Path

import pytest

import snippets

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")


def test_every_block_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text("carrier,on_time\n" + "UA,1\nAA,1\nAA,0\nB6,0\n" * 25)
    assert snippets.run(README) >= 5


def test_the_first_screen_says_where_the_guarantee_stops():
    first_screen = TEXT[: TEXT.index("## Run it")]
    assert "**The promise.**" in first_screen
    assert "**Where the guarantee stops.**" in first_screen
    assert len(first_screen.splitlines()) < 25


@pytest.mark.parametrize("command", ["uv run surefoot study cmab", "uv run pytest"])
def test_ci_runs_the_command_that_a_reader_is_given(command):
    assert command in "".join(b.text for b in snippets.blocks(README) if b.language == "sh")
    assert command in (ROOT / ".ci" / "run").read_text()


def test_every_link_leads_to_a_file():
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert len(links) > 5
    assert [link for link in links if not (ROOT / link).is_file()] == []


def test_the_figure_is_small():
    assert (ROOT / "docs" / "_static" / "cmab.png").stat().st_size < 200_000


def table(heading):
    """The rows of the first table below a heading, without its head; cells without backticks."""
    lines = re.search(r"(^\|.*\n)+", TEXT[TEXT.index(heading) :], re.MULTILINE)[0].splitlines()
    return [[cell.strip("` *") for cell in line.strip("|").split(" | ")] for line in lines[2:]]


@pytest.mark.parametrize(("_", "file", "name"), table("## What is inside"))
def test_what_is_inside_is_where_the_table_says(_, file, name):
    found = pydoc.locate(f"surefoot.{name}")
    assert found is not None, name
    assert Path(inspect.getsourcefile(found)) == ROOT / "src" / "surefoot" / file


@pytest.mark.slow
def test_the_table_of_the_comparison_is_what_the_study_finds():
    import numpy as np

    import surefoot as sf

    agents = {
        "GenCB": sf.gencb_cmab(72, 0.7, 0.05),
        "UCB1": sf.Plain(sf.UCB1(72), sf.RewardFloor(0.7, 0.05)),
        "ConUCB": sf.ConUCB(72, 0.7, 0.05, delta=1e-5),
        "bounded": sf.ConUCB(72, 0.7, 0.05, delta=1e-5, scale="bounded"),
    }
    world = sf.BernoulliArms(np.linspace(0.8, 0.2, 72))
    found = sf.simulate(agents, world, horizon=100_000, runs=50, seed=0).summary()
    measures = ("regret", "default_plays", "violating_rounds")
    means = {name: [f"{of[m]['mean']:,.0f}" for m in measures] for name, of in found.items()}
    printed = {row[0]: row[-3:] for row in table("## How it compares")}
    assert printed == {name: means[name] for name in ("GenCB", "UCB1", "ConUCB")}
    assert f'(`scale="bounded"`) gives {" and ".join(means["bounded"][:2])}' in TEXT
