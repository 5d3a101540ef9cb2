import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

matplotlib = pytest.importorskip("matplotlib")
font_manager = pytest.importorskip("matplotlib.font_manager")

from surefoot._drawing import fonts, style  # noqa: E402

SHOE = "\N{CJK UNIFIED IDEOGRAPH-9774}"


def machine(monkeypatch, **has):
    """A machine on which these fonts, by their names, have these characters besides ours."""
    ours = font_manager.findfont(fonts.OURS)
    known = [SimpleNamespace(name=fonts.OURS, fname=ours, style="normal")]
    known += [SimpleNamespace(name=name, fname=name, style="normal") for name in has]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", known)
    monkeypatch.setattr(font_manager, "findSystemFonts", list)
    real = fonts._characters
    monkeypatch.setattr(
        fonts, "_characters", lambda file: frozenset(has[file]) if file in has else real(file)
    )


def test_what_our_font_has_needs_no_other(monkeypatch):
    machine(monkeypatch, Noto=SHOE)
    assert fonts.families("a$b_c \N{MINUS SIGN}1 \xfc \u03c1\n\t\u200b") == ["DejaVu Sans"]


def test_an_installed_font_stands_in_and_one_for_many_comes_first(monkeypatch):
    machine(monkeypatch, Any=SHOE, CJK=SHOE + "\u9775", Other="\u9776")
    assert fonts.families(f"{SHOE}\u9775") == ["DejaVu Sans", "CJK"]
    assert fonts.families(f"a{SHOE}\u9776") == ["DejaVu Sans", "CJK", "Other"]


def test_what_no_font_has_is_told_in_one_line(monkeypatch):
    machine(monkeypatch)
    with pytest.warns(UserWarning, match=f"no font of this machine has {SHOE}: .*fonts-noto-cjk"):
        assert fonts.families(f"a {SHOE}") == ["DejaVu Sans"]
    many = "".join(map(chr, range(0x9774, 0x9774 + 10)))
    with pytest.warns(UserWarning, match=" and 2 more: the chart shows boxes"):
        fonts.families(many)


def test_a_font_that_cannot_be_read_has_nothing(tmp_path):
    (tmp_path / "bad.ttf").write_bytes(b"no font")
    assert fonts._characters(str(tmp_path / "bad.ttf")) == frozenset()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fonts._add(str(tmp_path / "bad.ttf"))


def shipped(monkeypatch, *only):
    """A machine with no other fonts than those that matplotlib brings, or some of these."""
    data = Path(matplotlib.get_data_path())
    known = [one for one in font_manager.fontManager.ttflist if data in Path(one.fname).parents]
    known = [one for one in known if not only or one.name in only]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", known)
    monkeypatch.setattr(font_manager, "findSystemFonts", list)


def test_a_font_of_boxes_that_matplotlib_ships_stands_in_for_nothing(monkeypatch):
    shipped(monkeypatch)
    with pytest.warns(UserWarning, match=r"no font of this machine has 対 照: .*fonts-noto-cjk"):
        assert fonts.families("対照") == ["DejaVu Sans"]


def test_a_font_of_one_weight_stands_in_without_a_word(monkeypatch, caplog, tmp_path):
    regular = "STIXSizeFiveSym"
    shipped(monkeypatch, fonts.OURS, regular)
    with style.sheet("\N{TOP PARENTHESIS}", "") as (figure, _):
        assert matplotlib.rcParams["font.family"] == [fonts.OURS, regular]
        figure.savefig(tmp_path / "x.png")
    assert not caplog.records
