"""Every failure is one line, whatever path, value or reader it is met with."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import surefoot as sf
from learners import Least
from surefoot.errors import InvalidInput, StoreUnavailable
from surefoot.live import MemoryStore
from surefoot.live.store import open_store
from verifying import FILE


def agent(policy=None):
    return sf.GenCB(policy or sf.UCB1(2), sf.RewardFloor(0.5, 0.5, reserve=9), seed=1)


def deep(levels):
    value = 1.0
    for _ in range(levels):
        value = [value]
    return value


def cyclic():
    value = []
    value.append(value)
    return value


def saved(own, context, path):
    own.select(context)
    own.save(path)


@pytest.mark.parametrize("context", [cyclic(), deep(600), deep(101), {"a": deep(600)}], ids=str)
def test_a_context_that_is_too_deep_is_refused(tmp_path, context):
    live = sf.Live(agent(Least()), MemoryStore())
    before = live.account
    with pytest.raises(InvalidInput, match="flatten it"):
        live.select(context)
    assert live.account == before
    other = agent(Least())
    with pytest.raises(InvalidInput):
        saved(other, context, tmp_path / "agent.json")
    assert not (tmp_path / "agent.json").exists()


def test_a_context_of_a_hundred_levels_is_kept(tmp_path):
    with sf.Live(agent(Least()), tmp_path / "shop.db") as live:
        play = live.select(deep(99), id="a")
    with sf.Live(agent(Least()), tmp_path / "shop.db") as again:
        assert again.select(deep(99), id="a") == play


PATHS = ["a\0b", "x" * 300, "y" * 5000]


@pytest.mark.parametrize("path", PATHS, ids=["nul", "long", "longer"])
def test_a_path_that_can_be_none_is_one_line(path):
    calls = [
        lambda: agent().save(path),
        lambda: sf.load(path),
        lambda: sf.Live(agent(), path),
        lambda: sf.Live(None, path),
        lambda: open_store(path, read_only=True),
    ]
    for call in calls:
        with pytest.raises(InvalidInput) as error:
            call()
        assert "\n" not in str(error.value)


def test_a_full_disk_leaves_what_was_saved(tmp_path):
    """The limit on the size of a file stands for a disk that is full."""
    code = (
        "import resource, signal, sys, surefoot as sf\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "agent = sf.GenCB(sf.UCB1(2), sf.RewardFloor(0.5, 0.5))\n"
        "agent.save(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "agent.update(agent.select())\n"
        "try: agent.save(sys.argv[1])\n"
        "except sf.errors.StoreUnavailable as error: print(error)\n"
    )
    path = tmp_path / "agent.json"
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "cannot be written, what was there is kept: File too large; mend that" in done.stdout
    assert sf.load(path).account.plays == 0
    assert [file.name for file in tmp_path.iterdir()] == ["agent.json"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_one_line(tmp_path):
    path = tmp_path / "agent.json"
    agent().save(path)
    path.chmod(0)
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        sf.load(path)


def surefoot(*words, **extra):
    command = [sys.executable, "-m", "surefoot", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **extra)


@pytest.fixture
def ledger(tmp_path):
    with sf.Live(agent(), tmp_path / "shop.db") as live:
        live.update(live.select(), 1)
    surefoot("ledger", "export", tmp_path / "shop.db", "--out", tmp_path / "shop.ndjson")
    return tmp_path / "shop.ndjson"


READERS = {
    "verify": ["-m", "surefoot", "verify"],
    "status": ["-m", "surefoot", "status"],
    "verifier": ["-I", str(FILE)],
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("cut", [False, True])
def test_a_verdict_that_nobody_reads_has_a_code_of_its_own(ledger, name, cut):
    if cut:
        ledger.write_bytes(ledger.read_bytes().replace(b'"told":"1"', b'"told":"2"'))
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        command = [sys.executable, *READERS[name], str(ledger)]
        done = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")  # noqa: PTH110
@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_report_for_which_there_is_no_room_is_no_verdict(ledger, name, cut, form):
    if cut:
        ledger.write_bytes(ledger.read_bytes().replace(b'"told":"1"', b'"told":"2"'))
    with open("/dev/full", "w") as full:  # noqa: PTH123
        command = [sys.executable, *READERS[name], str(ledger), *form]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 74
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_amounts_of_a_status_are_decimals(ledger):
    report = json.loads(surefoot("status", ledger, "--json").stdout)
    amounts = [report[name] for name in ("posted", "held", "reserve", "available")]
    assert amounts == ["0.750000000", "0.000000000", "9.000000000", "9.750000000"]
    [of] = report["experiments"].values()
    assert (of["earned"], of["required"]) == ("1.000000000", "0.250000000")
    assert report["leases"] == {"live": 0, "held": "0.000000000"}
    assert report["minimum_slack"] == "8.750000000"


CODE = (
    "import sys, surefoot.cli._ledger as ledger\n"
    "from surefoot.cli import main\n"
    "def broken(*_): raise {}\n"
    "ledger._report = broken\n"
    "sys.argv = ['surefoot', 'verify', 'x']\n"
    "main()\n"
)


@pytest.mark.parametrize("error", ["KeyError('x')", "RecursionError('deep')", "MemoryError()"])
@pytest.mark.parametrize("shown", [False, True])
def test_a_fault_of_ours_is_one_line_and_its_traceback_is_to_be_had(error, shown):
    env = {**os.environ, **({"SUREFOOT_TRACEBACK": "1"} if shown else {})}
    command = [sys.executable, "-c", CODE.format(error)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert (done.returncode, done.stdout) == (70, "")
    assert ("Traceback" in done.stderr) is shown
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: this is a fault of surefoot: ")
    assert last.endswith("SUREFOOT_TRACEBACK=1 shows where")


def place(folder, kind):
    """A path where no SQLite file can be, and what is said of it."""
    path = folder / kind
    if kind == "pipe":
        os.mkfifo(path)
        return path, "is a pipe, a socket or a device"
    if kind == "socket":
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(str(path))
        return path, "is a pipe, a socket or a device"
    if kind == "loop":
        path.symlink_to(path)
        return path, "cannot be opened: Too many levels"
    if kind == "lost":
        path.symlink_to(folder / "nowhere" / "shop.db")
        return path, "the folder of .* does not exist"
    path.write_text("")
    return path / "shop.db", "the folder of .* does not exist"


@pytest.mark.parametrize("kind", ["pipe", "socket", "loop", "lost", "below a file"])
def test_a_store_where_no_file_can_be_is_one_line(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    path, said = place(Path(), kind)
    for call in (
        lambda: sf.Live(agent(), path),
        lambda: open_store(path),
        lambda: open_store(path.absolute()),
    ):
        with pytest.raises((InvalidInput, StoreUnavailable), match=said) as error:
            call()
        assert "\n" not in str(error.value)


def test_a_link_to_a_file_that_is_not_there_yet_makes_it(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "shop.db")
    with sf.Live(agent(), tmp_path / "link") as live:
        live.select()
    assert open_store(tmp_path / "shop.db", read_only=True).accounts() == ["default"]


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-16"])
def test_the_verifier_speaks_to_any_terminal(ledger, encoding):
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    command = [sys.executable, str(FILE), str(ledger)]
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert done.returncode == 0
    assert "verified: the promise holds" in done.stdout.decode(encoding)
    assert done.stderr == b""


def test_a_folder_that_may_not_be_searched_is_one_line(tmp_path):
    """A child that is not root asks, for root may search everything."""
    tmp_path.chmod(0)
    path, said = tmp_path / "shop.db", []
    child = os.fork()
    if child == 0:
        if os.geteuid() == 0:
            os.setuid(65534)
        for call in (
            lambda: sf.load(path),
            lambda: agent().save(path),
            lambda: sf.Live(agent(), path),
            lambda: open_store(path, read_only=True),
        ):
            try:
                call()
            except StoreUnavailable as error:
                said.append("\n" not in str(error))
            except BaseException:  # noqa: BLE001
                break
        os._exit(0 if said == [True] * 4 else 1)
    assert os.waitpid(child, 0)[1] == 0
    tmp_path.chmod(0o700)


def test_a_context_too_deep_to_be_shown_is_refused():
    with pytest.raises(InvalidInput, match="of too many levels"):
        agent().select(deep(5000))
