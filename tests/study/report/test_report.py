import re
import tempfile
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from claims_at_reduced_size import rows
from surefoot._drawing import style
from surefoot.study.problems import MAIN
from surefoot.study.report.figures import draw_panel
from surefoot.study.report.findings import found_in
from surefoot.study.report.panel_runs import PanelRuns
from surefoot.study.report.report import Page, Report
from surefoot.study.sweep import Sweep, read

VOID = {"meta"}


class Reader(HTMLParser):
    """Reads a page strictly: every tag is closed, in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.links, self.ids = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        self.links.append(given.get("href"))
        self.ids.append(given.get("id"))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A page of each problem, with its figures."""
    made, folder = [], tmp_path_factory.mktemp("figures")
    for problem in MAIN:
        panel = Sweep.of(read(MAIN[problem])).but(horizon=200).panels[0]
        runs = PanelRuns(panel, rows(panel))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(style, "save", lambda *_: [])
            drawn = draw_panel(runs, folder / "x")
        drawn = drawn._replace(caption=f"{drawn.caption}\nμ* & <more>")
        made.append(Page(panel, found_in(runs, theory=True), [drawn]))
    return made


SUMMARY = {"seed": 3, "versions": {"surefoot": "<1>"}}


def html(pages, summary=SUMMARY, grids=(), *, parts=True, path=None):
    with tempfile.TemporaryDirectory() as folder, Report(parts=parts) as report:
        for page in pages:
            report.add(page)
        file = path or Path(folder) / "report.html"
        report.finish(file, {**summary, "panels": [page.found for page in pages]}, grids)
        return file.read_text(encoding="utf-8")


def test_it_is_well_formed_and_needs_nothing_else(pages):
    text = html(pages)
    page = Reader(text)
    assert "script" not in page.tags
    assert page.tags.count("svg") == 2 * len(pages)
    assert not re.search(r"(src|href)=\"(?!#)|url\((?!#)|@import", text)
    assert {"nav", "main", "header", "footer", "caption", "figcaption"} <= set(page.tags)


def test_every_figure_is_named_and_every_reference_in_it_leads_somewhere(pages):
    text = html(pages)
    for page in pages:
        assert f'aria-label="{escape(page.panel.title)}: Cumulative regret"' in text
    ids = re.findall(r' id="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"url\(#([^)]*)\)", text)) <= set(ids)
    assert set(re.findall(r'href="#([^"]*)"', text)) <= set(ids)


def test_no_colour_of_a_figure_stays_as_it_is_in_the_dark(pages):
    text = html(pages)
    head, body = text.split("</head>")
    assert "prefers-color-scheme: dark" in head
    used = set(re.findall(r"var\((--c[0-9a-f]{6}),#[0-9a-f]{6}\)", body))
    assert len(used) >= 7
    assert all(f"{name}: #" in head for name in used)
    assert not re.search(r"(?<!,)#[0-9a-f]{6}\b", re.sub(r"&#\d+;", "", body))


def test_22_panels_stay_under_3_mb(pages):
    each = [len(html([page])) - len(html([page], parts=False)) for page in pages]
    assert 22 * max(each) < 3_000_000


def test_every_entry_of_the_contents_leads_somewhere(pages):
    page = Reader(html(pages))
    targets = {link.removeprefix("#") for link in page.links if link}
    assert {"claims", "numbers", *(page.panel.name for page in pages)} <= targets
    assert targets <= set(page.ids)


def test_what_stands_in_it_is_escaped(pages):
    text = html(pages)
    assert "μ* &amp; &lt;more&gt;" in text
    assert "surefoot &lt;1&gt;" in text


def test_it_has_every_number_and_claim(pages):
    text = html(pages)
    for page in pages:
        part = text.partition(f'id="{page.panel.name}"')[2].partition("</section>")[0]
        for claim in page.found["claims"]:
            assert claim["claim"].split("'")[0] in part
        for name in page.panel.names():
            assert f'<th scope="row">{name}</th>' in part
        assert "of it due to the default" in part
        assert "minimum slack" in part
        assert "predicted from the unguarded policy" in part
        assert "Differences, run by run" in part
    assert "? not decided" in text
    assert "no rival" in text
    assert "void" in text


def test_verdicts_and_settings_come_before_anything_else(pages):
    text = html(pages)
    found = [claim["holds"] for page in pages for claim in page.found["claims"]]
    assert set(found) == {None}  # of two runs each
    said = f"The paper's claims in these runs: 0 hold, {len(found)} not decided, 0 do not."
    kept = "Never below the floor, after every play of every run: GenCB"
    assert 0 < text.index(said) < text.index(kept) < text.index("plays in a run")
    assert text.index("plays in a run") < text.index('id="contents"')
    assert "Each verdict stands for itself, at 95 %" in text


def test_what_is_missing_is_said_at_the_top(pages):
    lacking = [{"panel": "cmab-K72", "runs": 3}, {"panel": "mv-K24", "runs": 1_000}]
    text = html(pages, {**SUMMARY, "missing": lacking})
    assert text.index("1,003 runs of 2 panels are missing.") < text.index('id="contents"')
    assert "missing" not in html(pages)


def test_a_claim_that_fails_is_shown_as_such(pages):
    refuted = [{**claim, "holds": False} for claim in pages[0].found["claims"]]
    page = pages[0]._replace(found={**pages[0].found, "claims": refuted})
    text = html([page])
    assert text.count("✗ does not hold") == 2 * len(refuted)
    assert "0 hold, 0 not decided, 5 do not." in text


def test_equal_studies_give_equal_pages(pages, tmp_path):
    assert html(pages, path=tmp_path / "report.html") == html(pages)
