import sys
from itertools import combinations, pairwise

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from sights import SIGHTS, lab
from surefoot._drawing import style
from surefoot.errors import MissingExtra

ROLES = [style.GUARDED, style.UNGUARDED, style.COMPARATOR, style.FLOOR, style.DEFAULT]


def drawn(folder=None, caption="A caption.", columns=2):
    with style.sheet("Title", caption, columns=columns) as (figure, panels):
        for axes in panels:
            style.band(axes, [0, 9], np.array([[0, 1], [1, 2], [2, 3]]), style.GUARDED)
            style.label_ends(axes, [(2, "one", style.GUARDED), (2, "two", style.UNGUARDED)])
        return figure, panels, style.save(figure, folder / "figure-0.05") if folder else []


def test_a_figure_is_three_files_and_equal_figures_are_equal_files(tmp_path):
    _, _, files = drawn(tmp_path / "a")
    assert [file.name for file in files] == [f"figure-0.05.{e}" for e in ("png", "svg", "pdf")]
    mpl.rcParams["font.size"] = 30  # what a user set changes nothing
    try:
        _, _, again = drawn(tmp_path / "b")
        assert mpl.rcParams["font.size"] == 30
    finally:
        mpl.rcdefaults()
    for one, other in zip(files, again, strict=True):
        assert len(one.read_bytes()) > 5_000
        assert one.read_bytes() == other.read_bytes(), one.suffix


def test_roles_differ_in_colour_and_in_dash():
    for one, other in combinations(ROLES, 2):
        assert one.colour != other.colour
        assert one.dash != other.dash


def test_a_caption_makes_the_sheet_taller_and_stays_inside_it():
    short, panels, _ = drawn()
    long, panels_of_long, _ = drawn(caption="word " * 400)
    assert long.get_figheight() > short.get_figheight() + 0.5
    heights = [
        each[0].get_position().height * figure.get_figheight()
        for each, figure in ((panels, short), (panels_of_long, long))
    ]
    assert heights[0] == pytest.approx(heights[1])
    words = long.texts[-1].get_window_extent()
    assert 0 <= words.x0
    assert words.x1 <= long.bbox.x1
    assert words.y0 >= 0
    assert words.y1 < panels_of_long[0].get_window_extent().y0


@pytest.mark.parametrize("words", [1, 20, 40])
def test_a_long_title_stays_on_the_sheet(words):
    with style.sheet("Title " * words, "A caption.") as (figure, _):
        title = figure.texts[0].get_window_extent()
        assert 0 <= title.x0
        assert title.x1 <= figure.bbox.x1
        assert (figure.texts[0].get_size() == 13) == (words == 1 or words == 20)


def test_digits_are_grouped_and_minus_is_a_minus():
    _, panels, _ = drawn(columns=1)
    show = panels[0].yaxis.get_major_formatter()
    assert [show(-12_500.0, 0), show(0.5, 0)] == ["\N{MINUS SIGN}12,500", "0.5"]


@pytest.mark.parametrize("text", ["x", "a label of some length"])
def test_panels_that_are_fit_leave_room_for_what_is_beside_them(text):
    with style.sheet("Title", "A caption.", columns=2) as (figure, panels):
        for axes in panels:
            axes.set_ylim(0, 1e9)
            style.label_ends(axes, [(2, text, style.GUARDED)])
        style.fit(panels)
        left, right = (axes.get_tightbbox() for axes in panels)
        free = [left.x0, right.x0 - left.x1, figure.bbox.x1 - right.x1]
    assert min(free) > 0.1 * figure.get_dpi()
    assert max(free) < 0.5 * figure.get_dpi()
    widths = [axes.get_window_extent().width for axes in panels]
    assert widths[0] == pytest.approx(widths[1])


@given(st.lists(st.tuples(st.floats(0, 500), st.sampled_from([10.0, 20.0])), max_size=8))
def test_labels_never_overlap_and_keep_their_order(boxes):
    boxes.sort()
    wanted, heights = [y for y, _ in boxes], [height for _, height in boxes]
    places = style._spread(wanted, heights)
    edges = [(y - h / 2, y + h / 2) for y, h in zip(places, heights, strict=True)]
    assert all(low[1] <= high[0] + 1e-6 for low, high in pairwise(edges))


def test_labels_that_have_room_stay_where_they_are():
    assert style._spread([0, 20, 40], [10, 10, 10]) == [0, 20, 40]


def test_a_missing_matplotlib_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[study\]'"):
        style.sheet("Title", "Caption").__enter__()


def test_a_box_is_free_where_no_curve_runs_through_it():
    axes = Figure().add_subplot()
    axes.set_xlim(0, 10)
    axes.set_ylim(-1, 1)
    low, high = (0.4, 0.2, 0.2, 0.1), (0.4, 0.8, 0.2, 0.1)
    x = np.array([0.0, 10.0])
    flat, steep = (x, np.array([-0.5, -0.5])), (np.array([4.9, 5.1]), np.array([-9.0, 9.0]))
    assert style.first_free(axes, [low, high], []) == low
    assert style.first_free(axes, [low, high], [flat]) == high
    assert style.first_free(axes, [low, high], [steep]) is None
    just_below = [(x, np.array([-0.65, -0.65]))]  # at 0.175 of the height
    assert style.first_free(axes, [low], just_below) is None
    assert style.first_free(axes, [low], just_below, margin=0.02) == low


def test_the_ticks_of_an_inset_do_not_touch():
    with style.sheet("Title", "A caption.", columns=2) as (figure, (axes, _)):
        inner = style.inset(axes, (0.16, 0.56, 0.32, 0.36), "first plays")
        for end in (999, 18_000, 31_000, 99_999):
            inner.set_xlim(0, end)
            figure.draw_without_rendering()
            shown = [label for label in inner.get_xticklabels() if label.get_position()[0] <= end]
            boxes = [label.get_window_extent() for label in shown]
            assert len(boxes) > 1
            assert all(right.x0 - left.x1 > 5 for left, right in pairwise(boxes))


@pytest.mark.parametrize("sight", SIGHTS)
def test_seven_colours_stay_apart_for_any_colour_vision(sight):
    seen = [lab(curve.colour, SIGHTS[sight]) for curve in style.curves(7)]
    assert min(np.linalg.norm(one - other) for one, other in combinations(seen, 2)) > 10


def test_many_curves_stay_apart_in_grey():
    forty = style.curves(40)
    assert forty[:3] == ROLES[:3]
    assert len({(str(curve.dash), curve.marker) for curve in forty}) == 40
    assert len({(curve.colour, str(curve.dash)) for curve in forty[:35]}) == 35


def test_rows_of_panels_do_not_touch():
    with style.sheet("Title", "A caption.", 2, (11.5, 8), rows=2) as (figure, panels):
        for axes in panels:
            axes.set_title("A title")
            axes.set_xlabel("play")
        style.fit(panels[:2])
        style.fit(panels[2:])
        above, below = panels[0].get_tightbbox(), panels[2].get_tightbbox()
        heights = [axes.get_window_extent().height for axes in panels]
    assert above.y0 > below.y1
    assert heights == pytest.approx([heights[0]] * 4)
    assert figure.texts[1].get_window_extent().y1 < below.y0
