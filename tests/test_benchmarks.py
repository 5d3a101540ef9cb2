"""Benchmarks that read ledgers still run; the others are run when their figures are renewed."""

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
