import re
from itertools import combinations, pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sights import SIGHTS, lab
from surefoot._drawing import inline, style


@pytest.fixture(scope="module")
def pieces():
    t = np.arange(1, 2_001)
    with style.sheet("Title", "A caption.", columns=2) as (figure, panels):
        for axes in panels:
            axes.set_title("A <panel>")
            style.band(axes, t, np.outer([1, 2, 3], np.sqrt(t)), style.GUARDED)
            style.note(axes, "a note", (5, 9), (0, 9), style.UNGUARDED)
            style.label_ends(axes, [(9.0, "least 0.00125", style.GUARDED)])
        return inline.pieces(figure, panels, "Study & more"), figure


def test_numbers_that_are_read_are_not_rounded_as_those_of_the_paths_are(pieces):
    for svg in pieces[0]:
        assert "least 0.00125</text>" in svg


def test_each_piece_is_one_small_picture_of_one_panel(pieces):
    found, figure = pieces
    for svg in found:
        root = ET.fromstring(svg.replace("<svg ", '<svg xmlns="x" ', 1))
        assert root.get("aria-label") == "Study & more: A <panel>"
        assert svg.count("A &lt;panel&gt;</text>") == 1
        assert "A caption." not in svg
        assert len(svg) < 25_000
    assert all(one.get_visible() for one in [*figure.axes, *figure.texts])


def test_pieces_of_one_page_share_no_id(pieces):
    ids = [set(re.findall(r'\bid="([^"]*)"', svg)) for svg in pieces[0]]
    assert not ids[0] & ids[1]
    for svg, own in zip(pieces[0], ids, strict=True):
        assert set(re.findall(r'(?:href="#|url\(#)([^")]*)', svg)) == own


def test_every_colour_is_one_that_a_page_can_change(pieces):
    for svg in pieces[0]:
        assert re.findall(r"(?<!,)#[0-9a-f]{6}", svg) == []
        assert "metadata" not in svg
        assert "<style" not in svg


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 300)), min_size=2, max_size=40))
def test_a_shorter_path_stays_close(points):
    path = "M " + " L ".join(f"{x} {y}" for x, y in points)
    numbers = re.findall(r"-?[\d.]+", inline.shorter(path))
    kept = np.array(numbers, float).reshape(-1, 2)
    assert len(kept) <= len(points)
    assert tuple(kept[0]) == points[0]
    assert tuple(kept[-1]) == points[-1]
    for point in points:
        assert min(distance(point, a, b) for a, b in pairwise(kept)) < 0.2


def distance(point, a, b):
    along, off = b - a, np.array(point) - a
    place = np.clip(off @ along / max(along @ along, 1e-12), 0, 1)
    return float(np.hypot(*(off - place * along)))


@pytest.mark.parametrize("sight", SIGHTS)
def test_curves_stay_apart_in_the_dark(sight):
    shown = [inline.DARK[curve.colour] for curve in style.curves(7)]
    seen = [lab(colour, SIGHTS[sight]) for colour in shown]
    assert min(np.linalg.norm(one - other) for one, other in combinations(seen, 2)) > 9
    paper = lab(inline.DARK[style.WHITE], SIGHTS[sight])
    assert min(one[0] - paper[0] for one in seen) > 30
