"""Benchmarks that read ledgers still run; the others are run when their figures are renewed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.slow
def test_a_recovery_can_be_measured():
    command = [sys.executable, BENCHMARKS / "bench_recovery.py", "1000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].startswith("| 1,0")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.name for path in BENCHMARKS.glob("*.py")))
def test_asked_for_help_nothing_is_measured(name):
    if "__main__" in (BENCHMARKS / name).read_text(encoding="utf-8"):
        command = [sys.executable, BENCHMARKS / name, "--help"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        assert re.search(r"uv run benchmarks/\w+\.py|usage: \w+\.py", done.stdout)


def test_make_renews_the_results_that_pages_show():
    made = re.findall(r"> benchmarks/(\w+)\.md", (BENCHMARKS.parent / "Makefile").read_text())
    assert {"RESULTS", "LIVE", "LEASES", "SCALE", "LONG", "PEERS"} <= set(made)
