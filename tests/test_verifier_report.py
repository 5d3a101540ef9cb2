"""What the verifier says, how fast, and as a program of its own."""

import ast
import json
import random
import sys
import time
import tracemalloc

import pytest

from ledgers import Writer, lines, scheduled
from surefoot.verifier import sentence, verify
from verifying import FILE, run


def test_it_reads_with_flat_memory_and_fast():
    writer = Writer(reserve=1000)
    for number in range(5000):
        writer.decide(f"o-{number}", number % 2 == 0)
        writer.settle(f"o-{number}", 400) if number % 2 == 0 else writer.confirm(f"o-{number}")
    rows = lines(writer.entries)
    tracemalloc.start()
    report = verify(iter(rows))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert report["entries"] == 10_002
    assert peak < 1_000_000


@pytest.mark.slow
def test_a_hundred_thousand_entries_take_a_few_seconds():
    writer, rng = Writer(reserve=1000), random.Random(1)
    for number in range(50_000):
        writer.decide(f"o-{number}", number % 2 == 0)
        writer.settle(f"o-{number}", rng.choice([380, 600])) if number % 2 == 0 else (
            writer.confirm(f"o-{number}"))  # fmt: skip
    rows = lines(writer.entries)
    start = time.perf_counter()
    assert verify(rows)["ok"]
    assert time.perf_counter() - start < 20


def test_a_report_is_one_line_that_a_board_can_read():
    writer = Writer(reserve=1400)
    for number in range(1200):
        writer.decide(f"o-{number}", number == 3)
    line = sentence(verify(lines(writer.entries)))
    assert line == (
        "entries 1 202 \N{MIDDLE DOT} decisions 1 200 \N{MIDDLE DOT} explorations 1 "
        "\N{MIDDLE DOT} open 1 \N{MIDDLE DOT} minimum slack 1.024 at entry 6 "
        "\N{MIDDLE DOT} breaches 0 \N{MIDDLE DOT} violations 0 "
        f"\N{MIDDLE DOT} head {writer.entries[-1]['hash']}"
    )


def test_of_many_problems_the_first_are_named_and_all_are_counted():
    writer = Writer(reserve=376)
    writer.decide("a", True)
    writer.settle("a", -5)
    for number in range(30):
        writer.decide(f"d-{number}", False)
    report = verify(lines(writer.entries))
    assert len(report["problems"]) == 10
    assert report["violations"] == 33


def test_it_runs_by_its_path_alone(tmp_path):
    entries, path = scheduled(3).entries, tmp_path / "ledger.ndjson"
    path.write_bytes(b"".join(lines(entries)))
    done = run(path, "--head", entries[-1]["hash"])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == sentence(verify(lines(entries))) + "\n"
    done = run(path, "--json")
    assert json.loads(done.stdout) == verify(lines(entries))
    path.write_bytes(b"".join(lines(entries)[:-1]))
    done = run(path, "--head", entries[-1]["hash"])
    assert (done.returncode, done.stderr) == (1, "")
    assert "no entry up to here has the hash that was kept" in done.stdout


def test_it_needs_the_standard_library_only():
    tree = ast.parse(FILE.read_text(encoding="utf-8"))
    names = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    names |= {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    assert {name.partition(".")[0] for name in names} <= set(sys.stdlib_module_names)
