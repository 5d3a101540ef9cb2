"""Fonts for labels in any script: matplotlib's own has Latin, Greek, Cyrillic and little else."""

from __future__ import annotations

import logging
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

OURS = "DejaVu Sans"
"""It ships with matplotlib: the same on every machine."""
_SHOWN = 8
_ALIKE = 10
"""Characters to a glyph, on average, from which on a font draws stand-ins: boxes, or nothing."""


def families(text: str) -> list[str]:
    """Our font, and behind it those of this machine that have what it lacks of a text.

    What no font has is drawn as a box, and a warning of one line says which characters these are.

    >>> families("\\u03c1 * mean, \\u00fcber")
    ['DejaVu Sans']
    """
    from matplotlib import font_manager

    lacking = {one for one in text if unicodedata.category(one)[0] in "LNPS" or one == "\ufffd"}
    lacking -= _characters(font_manager.findfont(OURS))
    found = [OURS]
    if not lacking:
        return found
    known = {Path(font.fname) for font in font_manager.fontManager.ttflist}
    for file in font_manager.findSystemFonts():  # matplotlib remembers those it once saw
        if Path(file) not in known:
            _add(file)
    fonts = sorted(
        font_manager.fontManager.ttflist, key=lambda one: ("CJK" not in one.name, one.name)
    )
    for font in fonts:
        has = lacking & _characters(font.fname) if font.style == "normal" else set()
        if has:
            found.append(font.name)
            lacking -= has
    if lacking:
        _warn(sorted(lacking))
    return found


@contextmanager
def quiet() -> Iterator[None]:
    """Let a font without a bold face stand in for one without a word of it on stderr."""
    log = logging.getLogger("matplotlib.font_manager")
    log.addFilter(_no_weight)
    try:
        yield
    finally:
        log.removeFilter(_no_weight)


def _no_weight(record: logging.LogRecord) -> bool:
    return "font weight" not in str(record.msg)


@cache
def _characters(file: str) -> frozenset[str]:
    """All that a font file has; nothing where it cannot be read, or draws one box for them all.

    Last Resort, which ships with matplotlib, claims each of the 1,114,112 and has 371 glyphs.
    """
    from matplotlib.ft2font import FT2Font

    try:
        glyphs = FT2Font(file).get_charmap()
    except (OSError, RuntimeError, ValueError):
        return frozenset()
    if len(glyphs) > _ALIKE * len(set(glyphs.values())):
        return frozenset()
    return frozenset(map(chr, glyphs))


def _add(file: str) -> None:
    from matplotlib import font_manager

    try:
        font_manager.fontManager.addfont(file)
    except (OSError, RuntimeError, ValueError):  # no outlines, say
        return


def _warn(lacking: list[str]) -> None:
    more = f" and {len(lacking) - _SHOWN} more" if len(lacking) > _SHOWN else ""
    warnings.warn(
        f"no font of this machine has {' '.join(lacking[:_SHOWN])}{more}: the chart shows boxes; "
        "install one that does (on Debian: apt install fonts-noto-cjk) and draw again",
        stacklevel=2,
    )
