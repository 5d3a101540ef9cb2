"""Where a backtest's files go, and what may be replaced there."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from surefoot.errors import InvalidInput, missing_extra
from surefoot.study import output, style
from surefoot.study.output import replacing, to_json, uninterrupted, write_json
from surefoot.study.replay import Backtest
from surefoot.study.replay_figure import draw
from surefoot.study.replay_findings import Findings
from surefoot.study.store import MANIFEST

FILES = ("summary.json", "runs.parquet", *(f"replay.{ending}" for ending in style.FORMATS))
"""What a backtest writes, the summary last."""


def claim(backtest: Backtest, folder: Path, overwrite: bool = False) -> None:
    """Make sure that a backtest can be drawn and written to a folder, before it takes its time.

    A folder that holds a backtest is used again for one with the same settings, or if told so.
    """
    if find_spec("matplotlib") is None:
        raise missing_extra("study", "matplotlib")
    if (folder / MANIFEST).exists():
        raise InvalidInput(f"{folder} holds a study; give another --out")
    output.claim(folder, FILES, overwrite=overwrite, same=_holds(folder, backtest))
    folder.mkdir(parents=True, exist_ok=True)


def write(findings: Findings, folder: Path) -> dict[str, Any]:
    """Write the chart, ``runs.parquet`` and, last, ``summary.json``; return the summary."""
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    with uninterrupted():
        draw(findings, folder / "replay")
        with replacing(folder / "runs.parquet") as scratch:
            findings.frame.write_parquet(scratch)
        summary = findings.summary()
    write_json(folder / "summary.json", summary)
    return summary


def _holds(folder: Path, backtest: Backtest) -> bool:
    """Whether the summary in a folder is of a backtest with these settings."""
    found = output.settings_in(folder / "summary.json")
    asked = json.loads(to_json(backtest.settings()))
    return isinstance(found, dict) and {key: found.get(key) for key in asked} == asked
