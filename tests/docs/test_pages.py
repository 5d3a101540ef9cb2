"""Every page of the documentation does what it shows."""

from pathlib import Path

import pytest

import snippets

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [str(path.relative_to(DOCS)) for path in sorted(DOCS.rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_does_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = snippets.run(DOCS / page)
    assert ran or not page.startswith("howto/"), "a how-to without anything to run"
