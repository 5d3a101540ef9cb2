"""Nothing public is undocumented, and nothing documented is gone."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import snippets
import surefoot
from surefoot import adapters, comparators, errors, oracles, theory
from surefoot.agents import Reason
from surefoot.floors import Outcome, State

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"


def page(name: str) -> str:
    return (REFERENCE / f"{name}.md").read_text(encoding="utf-8")


def rows(text: str) -> list[str]:
    """What the first column of the tables of a text names as code."""
    return re.findall(r"^\| `([^`]+)`", text, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(set(surefoot.__all__) - {"__version__"}))
def test_every_public_name_is_documented(name):
    pages = page("api") + page("oracles")  # the oracles have a page of their own
    directive = rf"^\.\. auto(class|function):: surefoot\.(oracles\.)?{name}$"
    assert re.search(directive, pages, re.MULTILINE)


def test_every_comparator_is_documented():
    text = page("api")
    places = [
        ("comparators." if name in surefoot._MOVED else "") + name for name in comparators.__all__
    ]
    assert [place for place in places if f"surefoot.{place}\n" not in text] == []


def test_every_adapter_is_documented():
    assert [
        name for name in adapters.__all__ if f"surefoot.adapters.{name}\n" not in page("api")
    ] == []


def test_the_version_is_documented():
    assert "`sf.__version__`" in page("api")


@pytest.mark.parametrize("layer", [oracles, theory])
def test_every_name_of_a_layer_with_its_own_page_is_documented(layer):
    name = layer.__name__.rpartition(".")[2]
    text = page(name)
    assert [n for n in layer.__all__ if f"{layer.__name__}.{n}\n" not in text] == []


@pytest.mark.parametrize("names", [Reason, Outcome, State])
def test_every_reason_outcome_and_state_is_documented(names):
    table = page("api").partition(f"{names.__name__}\n```")[2].partition("\n#")[0]
    assert set(names.__members__) <= set(rows(table))


def test_the_tables_name_no_reason_outcome_or_state_that_is_gone():
    known = {*Reason.__members__, *Outcome.__members__, *State.__members__}
    assert set(rows(page("api"))) <= known


def test_every_error_is_documented():
    kinds = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type)}
    ours = [name for name, kind in kinds.items() if not issubclass(kind, Warning)]
    assert all(f"`{name}`" in page("errors") for name in kinds)
    assert sorted(rows(page("errors"))) == sorted(ours)


def test_the_glossary_is_in_order_and_has_the_words_of_the_design():
    words = re.findall(r"^(\w[\w ]*)\n: ", page("glossary"), re.MULTILINE)
    assert words == sorted(words)
    assert set(words) >= {
        "arm", "default", "policy", "floor", "account", "slack", "agent", "play", "environment",
        "study", "ledger", "alpha",
    }  # fmt: skip


def test_every_command_shows_its_help():
    """What stands below each `--help` is compared when the page is run."""
    from surefoot.cli import app

    shown = [block.text.splitlines()[0] for block in snippets.blocks(REFERENCE / "cli.md")]
    known = [f"$ {line} --help" for line in commands(typer.main.get_command(app), "surefoot")]
    assert sorted(shown) == sorted(known)


def commands(command: Any, line: str) -> Iterator[str]:
    """The command line of a command and of all below it."""
    yield line
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, f"{line} {name}")


def test_every_key_and_column_of_a_file_is_explained():
    """Which there are is printed by the page itself, so it is checked when the page is run."""
    text = page("files")
    printed = re.findall(r"'(\w+)'", "".join(re.findall(r"^\[.*\]$", text, re.MULTILINE)))
    explained = re.findall(r"`(\w+)/?`", "".join(re.findall(r"^\| .* \|$", text, re.MULTILINE)))
    assert len(printed) > 30
    assert set(printed) <= set(explained)


def test_every_kind_of_entry_is_explained():
    from surefoot.live.entries import KINDS

    assert [kind for kind in sorted(KINDS) if f"`{kind}`" not in page("files")] == []
