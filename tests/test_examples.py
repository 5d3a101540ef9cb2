"""The examples run, keep what they promise, and come to what their pages say."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ["router", "payments"]


@pytest.fixture
def run(monkeypatch):
    """Runs an example in this process, as from the command line."""
    monkeypatch.syspath_prepend(str(ROOT / "examples"))

    def one(name, *words):
        monkeypatch.setattr(sys, "argv", [name, *words])
        runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")

    return one


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_guarded_holds_and_without_a_guard_it_breaks(name, run, capsys):
    run(name, "--json", "--runs", "2", "--plays", "300")
    for found in json.loads(capsys.readouterr().out).values():
        for agent, one in found.items():
            assert any(one["beyond"].values()) is (agent == "unguarded"), agent


def test_a_single_run_which_has_no_interval_is_refused(run, capsys):
    with pytest.raises(SystemExit, match="2"):
        run("router", "--runs", "1")
    assert "one run has no interval; give at least 2" in capsys.readouterr().err


def test_an_example_prints_its_tables_and_draws_its_figure(run, capsys, tmp_path):
    run("router", "--runs", "2", "--plays", "100", "--figure", str(tmp_path / "found.svg"))
    assert capsys.readouterr().out.count("| guarded |") == 3
    assert "incumbent" in (tmp_path / "found.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_a_reader_copies_fits_on_a_screen(name):
    assert len((ROOT / "examples" / f"{name}.py").read_text().splitlines()) < 60


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_tables_of_the_page_are_those_of_the_example(name, tmp_path):
    command = [sys.executable, ROOT / "examples" / f"{name}.py", "--figure", tmp_path / "it.png"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line for line in done.stdout.splitlines() if line.startswith("|")]
    text = (ROOT / "docs" / "howto" / "router.md").read_text(encoding="utf-8")
    assert len(rows) > 12
    assert [row for row in rows if row not in text] == []
