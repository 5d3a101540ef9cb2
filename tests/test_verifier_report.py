"""What the verifier says, how fast, and as a program of its own."""

import ast
import json
import random
import sys
import time
import tracemalloc

import pytest

from ledgers import Writer, lines, rechained, scheduled
from surefoot.verifier import sentence, verify
from verifying import FILE, problem, run


def test_it_reads_with_flat_memory_and_fast():
    writer = Writer(reserve=1000)
    for number in range(5000):
        name = f"p-{len(writer.entries) + 1}"
        writer.decide(name, number % 2 == 0)
        writer.settle(name, 400) if number % 2 == 0 else writer.confirm(name)
    report, peak = traced(writer)
    assert report["entries"] == 10_002
    assert peak < 1_000_000


def test_an_id_that_its_caller_gave_takes_some_hundred_bytes():
    peaks = []
    for count in (2000, 4000):
        writer = Writer()
        for number in range(count):
            writer.decide(f"visit-{number}", False)
            writer.confirm(f"visit-{number}")
        peaks.append(traced(writer)[1])
    assert peaks[1] - peaks[0] < 2000 * 250


def traced(writer):
    rows = lines(writer.entries)
    tracemalloc.start()
    report = verify(iter(rows))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return report, peak


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
    line, verdict = sentence(verify(lines(writer.entries))).splitlines()
    assert line == (
        "entries 1,202 \N{MIDDLE DOT} decisions 1,200 \N{MIDDLE DOT} explorations 1 "
        "\N{MIDDLE DOT} open 1 \N{MIDDLE DOT} minimum slack 1.024 at entry 6 "
        "\N{MIDDLE DOT} breaches 0 \N{MIDDLE DOT} violations 0 "
        f"\N{MIDDLE DOT} head {writer.entries[-1]['hash']}"
    )
    assert verdict == "verified: the promise holds at every moment"


def test_the_last_line_is_the_verdict_after_a_breach_too():
    writer = Writer(reserve=1000)
    writer.decide("a", True)
    writer.settle("a", -5)
    counts, *problems, verdict = sentence(verify(lines(writer.entries))).splitlines()
    assert "breaches 1 \N{MIDDLE DOT} violations 0" in counts
    assert problems == ["entry 4: reward is -0.005, expected 0..1"]
    assert verdict == "NOT VERIFIED: the promise may be broken"


def test_the_least_slack_is_that_of_any_moment_from_the_opening_on():
    """Deposits raise it from 0 on; a reserve that is granted at once belongs to the opening."""
    for reserve, least in [(0, (0, 1)), (90, (90, 2))]:
        writer = Writer(reserve=reserve)
        for name in "abc":
            writer.decide(name, False)
            writer.confirm(name)
        report = verify(lines(writer.entries))
        assert (report["minimum_slack"], report["minimum_at"]) == least


def test_a_lease_counts_against_the_least_slack_even_if_it_was_never_used():
    writer = Writer(reserve=90)
    writer.grant("l", 60)
    writer.give_back("l")
    report = verify(lines(writer.entries))
    assert (report["minimum_slack"], report["minimum_at"]) == (30, 3)


@pytest.mark.parametrize(
    ("places", "said"),
    [(0, "reward is -5, expected 0..1,000"), (2, "reward is -0.05, expected 0..10")],
)
def test_a_problem_says_amounts_as_decimals_of_the_account(places, said):
    writer = Writer()
    for entry in writer.entries:
        entry["payload"]["floor"] |= {"places": places, "default": "0", "value": 0, "floor": 0}
        entry["payload"]["floor"] |= {"hold": 0, "deposit": 0}
        ends = ["0", str(1000 // 10**places)]
        given = {"places": places, "default": "0", "reward_range": ends}
        entry["payload"]["config"]["floor"] |= given
    terms = {"value": 0, "floor": 0, "hold": 0, "deposit": 0, "low": 0, "high": 1000}
    writer.append("decision.held", terms | {"arm": "a", "index": 0}, play="a")
    told = str(-5 / 10**places)
    writer.append("outcome.settled", {"reward": -5, "told": told, "breach": True}, -5, play="a")
    assert problem(lines(rechained(writer.entries), places=places)) == f"entry 3: {said}"


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
