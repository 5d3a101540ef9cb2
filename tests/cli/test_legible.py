"""Every command prints on every terminal, and its exit code is that of what it did."""

import io
import json
import os
import subprocess
import sys
import warnings

import polars as pl
import pytest

import surefoot as sf
from surefoot.cli import app
from surefoot.cli._terminal import echo_json, legible

ENCODINGS = ["ascii", "cp1252", "latin-1"]
SHOE = "\N{CJK UNIFIED IDEOGRAPH-9774}"
PLAN = "plan --default 0.7 --means 0.5 0.8 --horizon 300 --runs 1 --seed 1 --overwrite"
STUDY = "study cmab --k 3 --horizon 500 --runs 5 --overwrite"
COMMANDS = {
    "plan": (0, PLAN),
    "plan, JSON": (0, f"{PLAN} --json"),
    "replay": (0, "replay l.csv --default \xfc --runs 2 --horizon 200 --overwrite"),
    "replay, JSON": (0, "replay l.csv --default \xfc --runs 2 --horizon 200 --overwrite --json"),
    "study": (0, STUDY),
    "study, JSON": (0, f"{STUDY} --json"),
    "status": (0, "status shop.db"),
    "status, JSON": (0, "status shop.db --json"),
    "verify": (0, "verify shop.db"),
    "export": (0, f"ledger export shop.db --out {SHOE}.ndjson --overwrite"),
    "no file": (2, f"verify {SHOE}\u2026\udc80.db"),
    "no option": (2, f"plan --{SHOE}"),
    "help": (0, "--help"),
    "help of a command": (0, "replay --help"),
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A folder with a log and a ledger whose names are in no small encoding."""
    folder = tmp_path_factory.mktemp("shop")
    lines = f"arm,reward\n\xfc,1\n{SHOE} \u2026,0\n\xfc,0\n{SHOE} \u2026,1\n"
    (folder / "l.csv").write_text(lines + lines.partition("\n")[2] * 20, encoding="utf-8")
    floor = sf.RewardFloor(0.5, 0.1)
    agent = sf.GenCB(sf.UCB1(arms=["\xfc", SHOE]), floor, seed=0)
    with sf.Live(agent, str(folder / "shop.db"), name=f"{SHOE} \xfc") as live:
        live.update(live.select(), 1.0)
    return folder


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_prints(shop, monkeypatch, name, encoding):
    code, words = COMMANDS[name]
    monkeypatch.chdir(shop)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("surefoot._drawing.style.FORMATS", ("png",))
    for chart in ("draw_backtest", "draw_outlook"):
        monkeypatch.setattr(f"surefoot.study.outputs.{chart}", lambda *_: [])
    raw = {name: io.BytesIO() for name in ("stdout", "stderr")}
    for stream, into in raw.items():
        monkeypatch.setattr(sys, stream, io.TextIOWrapper(into, encoding, write_through=True))
    with pytest.raises(SystemExit) as left:
        app(words.split())
    said, err = (one.getvalue().decode(encoding) for one in raw.values())
    assert (left.value.code or 0) == code, err
    assert "Traceback" not in err
    assert said if code == 0 else err.startswith("error: ")
    if "JSON" in name:
        assert json.loads(said)
        assert "\ufffd" not in said


def test_marks_of_ours_are_spelled_and_names_are_exact():
    stream = io.TextIOWrapper(io.BytesIO(), "ascii", write_through=True)
    stream.reconfigure(errors="surefoot.legible")
    stream.write(f"\N{MINUS SIGN}1 \N{EN DASH} \N{PLUS-MINUS SIGN}2\u2026 \xfc {SHOE} \udc80")
    assert stream.buffer.getvalue() == b"-1 - +/-2... \\xfc \\u9774 \\udc80"


def test_streams_are_as_they_were_afterwards(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), "ascii", errors="strict")
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", None)
    before = warnings.showwarning
    with legible():
        assert stream.errors == "surefoot.legible"
    assert (stream.errors, warnings.showwarning) == ("strict", before)


def test_json_means_the_same_in_ascii(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), "ascii", write_through=True)
    monkeypatch.setattr(sys, "stdout", stream)
    echo_json(json.dumps({"arm": SHOE}, ensure_ascii=False))
    assert json.loads(stream.buffer.getvalue()) == {"arm": SHOE}


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(
            {"PYTHONIOENCODING": "ascii", "TERM": "dumb", "COLUMNS": "20"}, marks=pytest.mark.slow
        ),
        pytest.param({"PYTHONIOENCODING": "cp1252", "NO_COLOR": "1"}, marks=pytest.mark.slow),
        {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=["ascii", "cp1252", "C"],
)
def test_a_terminal_of_its_own(shop, settings):
    """Also that what is written is UTF-8 whatever the terminal speaks."""
    out = f"out-{settings.get('PYTHONIOENCODING', 'C')}"
    words = f"replay l.csv --default \xfc --runs 2 --horizon 200 --out {out}"
    code = f"from surefoot.cli import app\napp({words!a}.split())"
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-c", code],
        cwd=shop, env={**os.environ, **settings}, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"EncodingWarning" not in done.stderr
    found = json.loads((shop / out / "summary.json").read_text(encoding="utf-8"))
    assert found["default"]["arm"] == "\xfc"
    assert pl.read_parquet(shop / out / "runs.parquet").height
    assert "\xfc" in (shop / out / "replay.svg").read_text(encoding="utf-8")
