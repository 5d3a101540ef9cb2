import re
from html.parser import HTMLParser

import pytest

from claims_at_reduced_size import rows
from surefoot.study.findings import found_in
from surefoot.study.problems import MAIN
from surefoot.study.report import Page, html, write_report
from surefoot.study.results import PanelRuns
from surefoot.study.sweep import Sweep, read

VOID = {"meta", "img"}


class Reader(HTMLParser):
    """Reads a page strictly: every tag is closed, in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.links, self.ids, self.images = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        self.links.append(given.get("href"))
        self.ids.append(given.get("id"))
        if tag == "img":
            self.images.append(given)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A page of each problem, with a picture of its own."""
    made = []
    for problem in MAIN:
        panel = Sweep.of(read(MAIN[problem])).but(horizon=200).panels[0]
        found = found_in(PanelRuns(panel, rows(panel)), theory=True)
        picture = tmp_path_factory.mktemp("png") / "a.png"
        picture.write_bytes(problem.encode())
        made.append(Page(panel, found, [(picture, "μ* & <more>\nwords")]))
    return made


SUMMARY = {"seed": 3, "versions": {"surefoot": "<1>"}}


def test_it_is_well_formed_and_needs_nothing_else(pages):
    text = html(pages, SUMMARY)
    page = Reader(text)
    assert "script" not in page.tags
    assert all(image["src"].startswith("data:image/png;base64,") for image in page.images)
    assert all(image["alt"] for image in page.images)
    assert len(page.images) == len(pages)
    assert not re.search(r"(src|href)=\"(?!data:|#)|url\(|@import", text)
    assert {"nav", "main", "header", "footer", "caption", "figcaption"} <= set(page.tags)


def test_every_entry_of_the_contents_leads_somewhere(pages):
    page = Reader(html(pages, SUMMARY))
    targets = {link.removeprefix("#") for link in page.links if link}
    assert targets == {"claims", *(page.panel.name for page in pages)}
    assert targets <= set(page.ids)
    ids = [name for name in page.ids if name]
    assert len(ids) == len(set(ids))


def test_what_stands_in_it_is_escaped(pages):
    text = html(pages, SUMMARY)
    assert "μ* &amp; &lt;more&gt;" in text
    assert "surefoot &lt;1&gt;" in text


def test_it_has_every_number_and_claim(pages):
    text = html(pages, SUMMARY)
    for page in pages:
        part = text.partition(f'id="{page.panel.name}"')[2].partition("</section>")[0]
        for claim in page.found["claims"]:
            assert claim["claim"].split("'")[0] in part
        for name in page.panel.names():
            assert f'<th scope="row">{name}</th>' in part
        assert "of it due to the default" in part
        assert "minimum slack" in part
        assert "predicted from the unguarded policy" in part
    assert "? not decided" in text
    assert "no rival" in text
    assert "void" in text


def test_the_verdicts_are_summed_up_before_anything_else(pages):
    text = html(pages, SUMMARY)
    found = [claim["holds"] for page in pages for claim in page.found["claims"]]
    assert set(found) == {None}  # of two runs each
    said = f"The paper's claims in these runs: 0 hold, {len(found)} not decided, 0 do not."
    assert 0 < text.index(said) < text.index('id="contents"')
    assert "Each verdict stands for itself, at 95 %" in text


def test_a_claim_that_fails_is_shown_as_such(pages):
    refuted = [{**claim, "holds": False} for claim in pages[0].found["claims"]]
    page = pages[0]._replace(found={**pages[0].found, "claims": refuted})
    text = html([page], SUMMARY)
    assert text.count("✗ does not hold") == 2 * len(refuted)
    assert "0 hold, 0 not decided, 5 do not." in text


def test_equal_studies_give_equal_pages(pages, tmp_path):
    write_report(tmp_path / "report.html", pages, SUMMARY)
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == html(pages, SUMMARY)
