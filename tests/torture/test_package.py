"""The rigs are a package of their own: no installation of surefoot has them."""

import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

import surefoot
from surefoot_torture.cli import main

ROOT = Path(__file__).parents[2]
UV = os.environ.get("UV") or shutil.which("uv")  # `uv run` names itself there


@pytest.mark.skipif(UV is None, reason="only uv builds a wheel from what is at hand")
def test_the_wheel_has_the_kits_and_no_rigs(tmp_path):
    command = [
        UV,
        "build",
        "--wheel",
        "--offline",
        "--quiet",
        "--out-dir",
        str(tmp_path),
        str(ROOT),
    ]
    subprocess.run(command, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    files = zipfile.ZipFile(wheel).namelist()
    assert "surefoot/testing/policies.py" in files
    assert [file for file in files if "torture" in file or "planted" in file] == []


def test_surefoot_knows_nothing_of_them():
    sources = Path(surefoot.__file__).parent.rglob("*.py")
    assert [path for path in sources if "surefoot_torture" in path.read_text("utf-8")] == []


@pytest.mark.parametrize("words", [[], ["faults"], ["processes"]])
def test_help_shows_a_command_to_begin_with(words, capsys):
    with pytest.raises(SystemExit) as left:
        main([*words, "--help"])
    assert not left.value.code
    assert f"surefoot-torture {words[0] if words else 'faults'} --" in capsys.readouterr().out
