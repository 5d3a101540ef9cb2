import json

import pytest

from commands import last_said
from surefoot.cli import app

QUICK = ("--runs", "1", "--horizon", "30")


@pytest.fixture
def compare(tmp_path, capsys, monkeypatch):
    """Run ``surefoot compare`` in an empty folder, of our policies alone: code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("surefoot.study.compare.peers.find_spec", lambda module: None)
    monkeypatch.setattr("surefoot.study.outputs.draw_comparison", lambda *asked: [])

    def run(*words):
        with pytest.raises(SystemExit) as left:
            app(["compare", *last_said(*words)])
        said = capsys.readouterr()
        return left.value.code or 0, said.out, said.err

    return run


def test_it_shows_both_cases_and_names_what_is_missing(compare, tmp_path):
    code, out, err = compare(*QUICK)
    assert code == 0
    words = " ".join(out.split())
    for said in (
        "The paper's arms: unguarded, ", "policies fall below the floor; guarded, none in any of 1",
        "Choose a carrier, New York to Chicago: unguarded, ", "Surefoot UCB1 1 ",
        "runs first furthest", "pip install '.[mabwiser]'",
        "Chart and compare.json are in out/compare",
    ):  # fmt: skip
        assert said in words
    assert "runs" in err
    assert (tmp_path / "out" / "compare" / "compare.json").exists()
    assert max(map(len, out.splitlines())) <= 80


def test_json_is_all_that_is_printed_and_is_what_is_written(compare, tmp_path):
    code, out, _ = compare(*QUICK, "--case", "atlanta", "--json", "--out", "mine")
    assert code == 0
    found = json.loads(out)
    assert found == json.loads((tmp_path / "mine" / "compare.json").read_text())
    assert [case["case"] for case in found["cases"]] == ["atlanta"]
    assert compare(*QUICK, "--case", "atlanta", "--json", "--out", "mine")[1] == out  # again


def test_another_comparison_is_not_overwritten(compare):
    assert compare(*QUICK, "--case", "paper")[0] == 0
    code, out, err = compare(*QUICK, "--case", "paper", "--seed", "1")
    assert (code, out) == (2, "")
    assert "already holds compare.json; replace it with --overwrite, or give another --out" in err


def test_what_is_wrong_is_one_line(compare):
    for words, said in ((("--horizon", "0"), "horizon = 0"), (("--case", "x"), "'--case'")):
        code, _, err = compare(*words)
        assert code == 2
        assert said in err
        assert err.count("\n") == 1
