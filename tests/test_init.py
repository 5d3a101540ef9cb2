"""The public surface: what the design promises, found lazily and without numpy."""

import ast
import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import surefoot as sf

ROOT = Path(__file__).parents[1]

BY_DESIGN = {
    "GenCB", "Plain", "ConUCB", "UCB1", "KLUCB", "RewardFloor", "BernoulliArms", "ReplayLog",
    "simulate", "Result", "gencb_cmab", "load", "Play", "Reason",
}  # fmt: skip


def run(code):
    """What a fresh interpreter prints."""
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize("name", sf.__all__)
def test_every_public_name_resolves(name):
    assert getattr(sf, name) is getattr(sf, name)
    assert name == "__version__" or getattr(sf, name).__doc__


def test_the_names_of_the_design_are_public():
    assert set(sf.__all__) >= BY_DESIGN
    assert dir(sf) == sorted(sf.__all__)


def test_what_is_listed_has_a_home_and_is_known_to_type_checkers():
    assert sorted(sf._HOMES) == sorted(set(sf.__all__) - {"__version__"})
    tree = ast.parse(Path(sf.__file__).read_text(encoding="utf-8"))
    seen = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("surefoot.")
        for alias in node.names
    }
    assert seen == set(sf._HOMES)


def test_the_comparators_are_at_hand():
    code = (
        "import surefoot as sf; print(sf.comparators.__name__, sf.comparators.BudgetFirst.__name__)"
    )
    assert run(code) == ["surefoot.comparators", "BudgetFirst"]


def test_the_adapters_are_at_hand_and_import_no_library_of_others():
    code = (
        "import sys, surefoot as sf; print(sf.adapters.VowpalWabbit.__name__); "
        "peers = {'sklearn', 'mabwiser', 'river', 'bayesianbandits', 'vowpalwabbit'}; "
        "print(*(peers & set(sys.modules)))"
    )
    assert run(code) == ["VowpalWabbit"]


@pytest.mark.parametrize("name", sf._MOVED)
def test_a_name_that_moved_says_its_new_place_for_one_version(name):
    place = f"{sf._MOVED[name]}.{name}"
    with pytest.warns(DeprecationWarning, match=rf"^surefoot\.{name} is now {place}$"):
        old = getattr(sf, name)
    assert old is getattr(importlib.import_module(sf._MOVED[name]), name)
    assert name not in sf.__all__


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"^module 'surefoot' has no attribute 'UCB2'$"):
        _ = sf.UCB2


def test_the_version_is_that_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert sf.__version__ == project["project"]["version"]


def test_a_bare_import_loads_no_numpy_and_nothing_of_ours():
    assert run(
        "import sys; before = set(sys.modules); import surefoot as sf; sf.__version__; dir(sf)\n"
        "for name in set(sys.modules) - before:\n"
        "    if name.partition('.')[0] not in sys.stdlib_module_names: print(name)"
    ) == ["surefoot"]


def test_an_agent_loads_neither_numba_nor_scipy():
    heavy = run(
        "import sys, surefoot as sf\n"
        "agent = sf.gencb_cmab(3, 0.7, 0.05); agent.update(agent.select())\n"
        "print(*({'numba', 'scipy', 'polars', 'matplotlib', 'pydantic'} & set(sys.modules)))"
    )
    assert heavy == []
