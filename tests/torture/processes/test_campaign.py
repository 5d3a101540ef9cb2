"""Processes that are killed, that race, that are stopped, and that lose their server."""

import os
import pwd
import shlex
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from campaigning import begun, campaign, ended
from live.postgres import (
    HOW,
    cluster,
    database,  # noqa: F401  (a fixture)
    postgres,  # noqa: F401  (a fixture)
    programs,
    unprivileged,
    wait_for,
)
from surefoot.live import MemoryStore
from surefoot_torture.cli import main
from surefoot_torture.processes.campaign import Campaign
from surefoot_torture.processes.children import Diary, opened, read, warm

# Fixtures are named by what they are, and tests take them under the same name.
# ruff: noqa: F811


def killed(kills, *words):
    report = campaign("--kills", kills, *words)
    assert report["kills"] == kills
    assert report["acknowledged"] > kills // 2
    assert report["recovery_p50"] <= report["recovery_p99"]
    return report


def test_what_was_acknowledged_survives_kills_on_sqlite():
    killed(60)


def test_what_was_acknowledged_survives_kills_on_postgres(database):
    killed(20, "--store", database)


def test_what_was_acknowledged_under_a_lease_survives_kills():
    killed(20, "--leases")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_it_survives_thousands_of_kills_on_sqlite(seed):
    killed(1000, "--seed", seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_it_survives_thousands_of_kills_on_postgres(database, seed):
    killed(500, "--seed", seed, "--store", database)


@pytest.mark.slow
def test_leases_survive_a_thousand_kills(database):
    killed(500, "--leases")
    killed(500, "--leases", "--store", database)


def test_two_processes_on_one_sqlite_file_get_what_is_there_and_no_more():
    assert campaign("--races", 10, "--workers", 2)["races"] == 10


def test_eight_processes_on_postgres_get_777_of_777(database):
    report = campaign("--races", 1, "--race-of", 777, "--workers", 8, "--store", database)
    assert report["races"] == 1


@pytest.mark.slow
def test_races_are_exact_every_time(database):
    campaign("--races", 1000, "--workers", 8, "--store", database)
    campaign("--races", 5, "--race-of", 777, "--workers", 8, "--store", database)
    campaign("--races", 1000, "--workers", 2)
    campaign("--races", 2, "--race-of", 777, "--workers", 2)


def test_stopped_processes_that_share_a_file_keep_the_floor():
    report = campaign("--plays", 40, "--workers", 2)
    assert (report["plays"], report["stops"]) == (80, 2)
    assert report["acknowledged"] > 80


def test_a_process_that_wakes_up_after_its_lease_was_forfeited_keeps_the_floor():
    report = campaign("--plays", 60, "--workers", 3, "--leases")
    assert report["plays"] == 180


def test_a_server_that_is_restarted_under_load_loses_nothing():
    binaries = programs()
    if binaries is None:
        pytest.skip(HOW)
    with cluster(binaries) as url:
        running = begun("--plays", 80, "--store", url)
        while entries(url) < 50:
            assert running.poll() is None
            time.sleep(0.05)
        with restarted(url):
            report = ended(running)
    assert report["plays"] == 320


def entries(url):
    with psycopg.connect(url) as connection:
        there = connection.execute("SELECT to_regclass('entry')").fetchone()[0]
        return connection.execute("SELECT count(*) FROM entry").fetchone()[0] if there else 0


@contextmanager
def restarted(url):
    """Stop a server at once, as a crash would, and start it again."""
    with psycopg.connect(url) as connection:
        data = Path(connection.execute("SHOW data_directory").fetchone()[0])
    command = shlex.split((data / "postmaster.opts").read_text())
    lock = data / "postmaster.pid"
    os.kill(int(lock.read_text().split()[0]), signal.SIGQUIT)
    while lock.exists():
        time.sleep(0.02)
    user = unprivileged()
    options = {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []} if user else {}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen(command, cwd=data, **quiet, **options)
    try:
        wait_for(url, server)
        yield
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=60)


def test_what_is_wrong_is_told_and_is_exit_code_1(tmp_path, monkeypatch, capsys):
    def broken(self, races, race_of):
        self.problems.append("one exploration too many")
        yield races

    monkeypatch.setattr(Campaign, "race", broken)
    monkeypatch.setattr("surefoot_torture.processes.campaign.warm", lambda: None)
    assert main(["processes", "--races", "1"]) == 1
    assert capsys.readouterr().out.endswith("recovery p99: 0.0\none exploration too many\n")


@pytest.mark.parametrize("words", [[], ["--kills", "0"], ["--workers", "-1", "--sweep"]])
def test_what_makes_no_sense_is_refused(words, capsys):
    with pytest.raises(SystemExit):
        main(["processes", *words])
    assert "error: " in capsys.readouterr().err


def test_a_line_that_a_kill_has_torn_is_no_line(tmp_path):
    path = tmp_path / "diary"
    diary = Diary(path)
    diary.note("play", "a", 1)
    with path.open("a") as file:
        file.write('["play", "b"')
    again = Diary(path)
    again.note("play", "c", 2)
    assert again.lines == read(path) == [["play", "a", 1], ["play", "c", 2]]


def test_a_child_answers_or_says_why_not():
    program = """
import signal
from surefoot_torture.processes.children import Child, children
assert Child(lambda: {"a": 1}).result() == {"a": 1}
assert "ZeroDivisionError" in Child(lambda: 1 / 0).end()[1]
try:
    Child(lambda: 1 / 0).result()
except RuntimeError as error:
    assert "ZeroDivisionError" in str(error)
with children([lambda: signal.pause()] * 2) as born:
    born[0].kill(signal.SIGSTOP)
assert [child.over for child in born] == [True, True]
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_warming_up_changes_nothing():
    warm()
    assert opened(MemoryStore(), "a", None).select().arm == 0
