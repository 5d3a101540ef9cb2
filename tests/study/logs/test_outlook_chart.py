import numpy as np
import pytest

from surefoot._drawing import style
from surefoot.study.logs.outlook import PLAUSIBLE, POOR, Outlook, OutlookFindings
from surefoot.study.logs.outlook_chart import draw_outlook, forced


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Draw, and get the figure instead of its files."""

    def draw(found):
        kept = []
        monkeypatch.setattr(style, "save", lambda sheet, stem: kept.append(sheet) or [])
        draw_outlook(found, tmp_path / "x")
        return kept[0]

    return draw


def prospects(*arguments, **options):
    outlook = Outlook(*arguments, **{"horizon": 300, "runs": 3, **options})
    list(outlook.steps(engine="plain"))
    return OutlookFindings(outlook)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((0.7, 0.05, [0.8, 0.2]), {}),
        ((0.7, 0.05, [0.8, 0.75]), {}),  # no poor scenario
        ((0.7, 0.05, [0.1]), {"horizon": 1}),
        ((7e8, 0.05, [8e8, 2e8], (0, 1e9)), {"traffic": 10}),
        ((0.7, 0.05, [0.9], (0.68, 1)), {}),  # nothing is forced
    ],
)
def test_every_outlook_can_be_drawn_and_stays_on_the_sheet(drawn, arguments, options):
    figure = drawn(prospects(*arguments, **options))
    figure.canvas.draw()
    left, right = (axes.get_tightbbox() for axes in figure.axes)
    assert left.x0 >= 0
    assert left.x1 < right.x0
    assert right.x1 <= figure.bbox.x1


def test_it_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(style, "FORMATS", ("png",))
    (file,) = draw_outlook(prospects(0.7, 0.05, [0.8, 0.2]), tmp_path / "plan")
    assert file.read_bytes().startswith(b"\x89PNG")


def test_the_panels_show_what_they_say(drawn):
    found = prospects(0.7, 0.05, [0.8, 0.2], reserve=1)
    left, right = drawn(found).axes
    shares = {tuple(line.get_ydata()) for line in left.lines}
    gains = {tuple(line.get_ydata()) for line in right.lines}
    for name in (PLAUSIBLE, POOR):
        for curves, values in ((shares, found.share(name)), (gains, found.gain(name))):
            ends = values.mean(axis=0), values.min(axis=0), values.max(axis=0)
            assert {tuple(end) for end in ends} <= curves
    most = forced(found)
    assert most[-1] == pytest.approx(found.outlook.points()[-1].forced / 300)
    assert tuple(most) in shares
    assert any(np.allclose(line.get_ydata(), -(0.035 * found.t + 1)) for line in right.lines
               if len(line.get_ydata()) == len(found.t))  # fmt: skip
    words = " ".join(text.get_text() for text in right.texts)
    assert "floor: never below" in words
    assert "as planned" in words


def test_two_bands_that_cross_are_told_apart_in_grey(drawn):
    for axes in drawn(prospects(0.7, 0.05, [0.8, 0.2])).axes:
        bands = [collection for collection in axes.collections if collection.get_paths()]
        plain, hatched = (
            [one for one in bands if bool(one.get_hatch()) == flag] for flag in (False, True)
        )
        assert len(plain) == len(hatched) == 1
        assert not hatched[0].get_facecolor().size  # nothing of its own lies over the other
