"""What the pages say was measured is what the script measures."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random

import pytest

from surefoot.floors.events import step

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def figures():
    spec = spec_from_file_location("figures", ROOT / "scripts" / "figures.py")
    assert spec is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def page(name):
    (found,) = (path for path in (ROOT / "docs").rglob(f"{name}.md"))
    return found.read_text(encoding="utf-8")


def test_each_page_names_the_script_that_measured(figures):
    assert [
        name for name in figures.PAGES if f"`scripts/figures.py {name}`" not in page(name)
    ] == []


def test_the_shortcuts_break_the_promise_as_often_as_the_page_says(figures):
    _, table, refund, credit = figures.promise()
    assert table == ["as in the table", "0 of 3,000"]
    text = " ".join(page("promise").split())
    assert f"Refunding on expiry broke the promise in {refund[1].replace(' of 400', '')} of" in text
    assert f"crediting at the decision in {credit[1]}" in text


def test_the_judge_sees_what_was_played(figures):
    """One default that is credited and not played, and the account buys what nobody has."""
    broken = [figures.missed(step, Random(seed), at_decision=True) for seed in range(20)]
    assert any(broken)
    kept = [figures.missed(step, Random(seed), at_decision=False) for seed in range(20)]
    assert not any(kept)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["limits", "base-path"])
def test_the_measured_numbers_of_a_page_are_those_of_the_script(figures, name):
    _, *rows = figures.PAGES[name]()
    assert rows
    assert [row for row in rows if not re.search(rf"\b{row[1]}\b", page(name))] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["watch-the-default", "promise-per-segment"])
def test_the_table_of_a_page_is_the_one_that_the_script_prints(figures, name):
    rows = [f"| {' | '.join(row)} |" for row in figures.PAGES[name]()[1:]]
    assert [row for row in rows if row not in page(name)] == []


def test_the_headlines_promise_what_the_default_is_known_to_be_worth():
    """Not what it would have earned: that only a floor with against="realised" is about."""
    import surefoot
    from surefoot.cli._replay import HELP

    opening = {
        name: " ".join((ROOT / name).read_text(encoding="utf-8")[:1200].split())
        for name in ("README.md", "docs/index.md", "CITATION.cff", "pyproject.toml")
    }
    opening |= {"package": surefoot.__doc__, "replay": HELP}
    said = {name: " ".join(text.split()) for name, text in opening.items()}
    assert [name for name, text in said.items() if "default is known to be worth" not in text] == []
    every = [ROOT / "README.md", ROOT / "CITATION.cff", *(ROOT / "docs").rglob("*.md")]
    every += [*(ROOT / "src").rglob("*.py")]
    loose = re.compile(r"default(\s+arm)?\s+would\s+have\s+(earned|brought)")
    assert [path.name for path in every if loose.search(path.read_text(encoding="utf-8"))] == []


def test_the_promise_names_the_reserve():
    for name in ("README.md", "docs/index.md", "CITATION.cff"):
        text = " ".join((ROOT / name).read_text(encoding="utf-8").split())
        assert re.search(r"less the reserve, if (one is given|you give one)", text), name


@pytest.mark.parametrize("name", ["CLUCB", "CLUCB2", "C3UCB"])
def test_a_source_that_was_only_recalled_is_marked_wherever_it_is_named(name):
    import surefoot

    assert "recalled" in getattr(surefoot, name).__doc__
    inside = (ROOT / "README.md").read_text(encoding="utf-8")
    for text in (inside, page("comparators")):
        (row,) = (line for line in text.splitlines() if re.search(rf"^\|.*`{name}`", line))
        assert "recalled" in row
