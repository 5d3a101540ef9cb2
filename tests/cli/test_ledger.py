import contextlib
import errno
import io
import json
import os
import socket
import sqlite3
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pytest

from ledgers import canonical, lines, rechained, scheduled
from surefoot import C2UCB, UCB1, GenCB, RewardFloor, TopK
from surefoot.cli import app

pytest.importorskip("sqlalchemy")

FAILED = "NOT VERIFIED: the promise may be broken"


@pytest.fixture
def surefoot(tmp_path, capsys, monkeypatch):
    """Run a command in an empty folder: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words):
        with pytest.raises(SystemExit) as left:
            app(list(words))
        said = capsys.readouterr()
        return left.value.code or 0, said.out, said.err

    return run


@pytest.fixture
def export(tmp_path):
    entries = scheduled(3).entries
    (tmp_path / "shop.ndjson").write_bytes(b"".join(lines(entries)))
    return entries


@pytest.fixture
def database(tmp_path):
    """A real experiment in a SQLite file: 40 plays, of which one stays open."""
    from surefoot.live.live import Live

    floor = RewardFloor(default=0.5, alpha=0.5, reserve=1)
    live = Live(GenCB(UCB1(n_arms=2), floor, seed=1), tmp_path / "shop.db", "shop")
    for _ in range(40):
        play = live.select()
        live.update(play, None if play.is_default else 0.5)
    live.select()
    live.close()
    return tmp_path / "shop.db"


def test_an_export_is_verified(surefoot, export):
    code, out, err = surefoot("verify", "shop.ndjson", "--head", export[-1]["hash"])
    assert (code, err) == (0, "")
    line, verdict = out.splitlines()
    assert line.startswith(f"entries {len(export)} ")
    assert line.endswith(f"head {export[-1]['hash']}")
    assert verdict == "verified: the promise holds at every moment"


def test_a_problem_leaves_with_1_and_names_the_entry(surefoot, export, tmp_path):
    rows = lines(export)
    (tmp_path / "shop.ndjson").write_bytes(b"".join(rows[:5] + rows[6:]))
    code, out, err = surefoot("verify", "shop.ndjson")
    assert (code, err) == (1, "")
    assert out.splitlines()[1:] == ["entry 5: seq is 6, expected 5", FAILED]
    code, out, _ = surefoot("verify", "shop.ndjson", "--json")
    assert code == 1
    assert json.loads(out)["problems"] == ["entry 5: seq is 6, expected 5"]


@pytest.mark.parametrize(
    "words",
    [
        ["nowhere.ndjson"], ["."], ["shop.ndjson", "--head", "x"], ["mysql://x/y"],
        ["shop.ndjson", "--account", "shop"], ["junk.txt"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_was_asked_wrongly_is_one_line_and_2(surefoot, export, tmp_path, words):
    (tmp_path / "junk.txt").write_text("junk")
    code, out, err = surefoot("verify", *words)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert len(err.splitlines()) == 1


def test_a_database_is_verified_exported_and_verified_again(surefoot, database, tmp_path):
    code, said, _ = surefoot("verify", str(database))
    assert code == 0
    assert " decisions 41 " in said
    code, out, _ = surefoot("ledger", "export", str(database), "--out", "shop.ndjson")
    assert code == 0
    head = out.split()[-1]
    assert said.splitlines()[0].endswith(head.partition(":")[2])
    assert surefoot("verify", "shop.ndjson", "--head", head) == (0, said, "")
    assert surefoot("verify", str(database), "--head", head)[0] == 0


def test_an_export_replaces_nothing_unasked(surefoot, database):
    words = ("ledger", "export", str(database), "--out", "shop.ndjson")
    assert surefoot(*words)[0] == 0
    code, _, err = surefoot(*words)
    assert code == 2
    assert "already holds shop.ndjson; replace it with --overwrite, or give another --out" in err
    assert surefoot(*words, "--overwrite")[0] == 0
    assert surefoot("ledger", "export", str(database), "--out", "no/x")[0] == 2


def test_an_export_is_made_of_a_store_alone_as_its_help_says(surefoot, export):
    code, _, err = surefoot("ledger", "export", "shop.ndjson", "--out", "x")
    assert code == 2
    assert "shop.ndjson is no SQLite file; give one, or a postgresql URL" in err
    assert "An export," not in surefoot("ledger", "export", "--help")[1]
    assert "An export," in surefoot("verify", "--help")[1]


def test_an_empty_file_is_said_to_be_empty(surefoot, tmp_path):
    (tmp_path / "empty.ndjson").touch()
    assert "it is empty" in surefoot("verify", "empty.ndjson")[2]


def test_of_several_accounts_one_is_named(surefoot, database):
    from surefoot.live.store import open_store

    with open_store(database) as store:
        store.open_account("other", 9, True)
    code, _, err = surefoot("verify", str(database))
    assert code == 2
    assert "it has other, shop" in err
    assert surefoot("verify", str(database), "--account", "shop")[0] == 0
    assert surefoot("verify", str(database), "--account", "other")[0] == 0
    assert surefoot("verify", str(database), "--account", "none")[0] == 2


def test_status_tells_where_the_account_stands(surefoot, database):
    code, out, _ = surefoot("status", str(database))
    assert code == 0
    assert "account shop" in out
    assert out.endswith("\nverified: the promise holds at every moment\n")
    report = json.loads(surefoot("status", str(database), "--json")[1])
    names = ("reserve", "posted", "held", "available")
    reserve, posted, held, available = (Decimal(report[name]) for name in names)
    assert available == reserve + posted - held
    assert report["decisions"] == 41


def test_status_tells_what_a_person_asks_of_each_experiment_first(surefoot, database):
    out = surefoot("status", str(database))[1]
    _, _, table = out.partition("experiment shop\n")
    rows = [row.split() for row in table.splitlines()[:5]]
    report = json.loads(surefoot("status", str(database), "--json")[1])
    said = report["experiments"]["shop"]
    assert (said["default"], said["alpha"]) == ("0.5", "0.5")
    earned, required = Decimal(said["earned"]), Decimal(said["required"])
    assert Decimal(report["posted"]) == earned - required
    assert report["decisions"] == said["explorations"] + said["default_plays"]
    explorations, plays = str(said["explorations"]), str(said["default_plays"])
    assert rows == [
        ["default", "0.5", "explorations", explorations],
        ["alpha", "0.5", "open", "1"],
        ["earned", f"{earned:.9f}", "expired", "0"],
        ["required", f"{required:.9f}", "default", "plays", plays],
        ["unreported", "0"],
    ]
    assert report["leases"] == {"live": 0, "held": "0.000000000"}


@pytest.mark.parametrize(
    ("default", "shown"), [(None, "each play's own"), ((0.25, 0.5), "0.25 to 0.5")]
)
def test_status_says_what_kind_of_default_there_is(surefoot, tmp_path, default, shown):
    from surefoot.live.live import Live

    Live(GenCB(UCB1(n_arms=2), RewardFloor(default, 0.5)), tmp_path / "shop.db").close()
    assert f" default {shown} " in " ".join(surefoot("status", "shop.db")[1].split())


def test_status_says_what_is_given_up_besides(surefoot, tmp_path):
    from surefoot.live.live import Live

    floor = RewardFloor(-0.5, 0.1, (-1, 1), margin=0.05)
    Live(GenCB(UCB1(n_arms=2), floor), tmp_path / "shop.db").close()
    assert " margin 0.05 " in " ".join(surefoot("status", "shop.db")[1].split())


def test_status_says_where_no_play_can_explore_before_there_is_a_reserve(surefoot, tmp_path):
    from surefoot.live.live import Live

    with Live(GenCB(UCB1(n_arms=2), RewardFloor(0.5, 0)), tmp_path / "shop.db") as live:
        said = "no play can explore before 0.500000000 are available"
        assert said in surefoot("status", "shop.db")[1]
        live.add_reserve(0.5)
        assert said not in surefoot("status", "shop.db")[1]


def test_status_shows_how_each_arm_stands_within_80_columns(surefoot, tmp_path):
    from surefoot.live.live import Live

    labels = ["blue", "a name that is much too long for a table", *map(str, range(25))]
    floor = RewardFloor(0.5, 0.2, reserve=100)
    agent = GenCB(UCB1(arms=labels), floor, seed=1, holdout=0.2)
    with Live(agent, tmp_path / "shop.db", "shop") as live:
        first = live.select()
        for visit in range(60):
            live.update(live.select(), visit % 2)
        out = surefoot("status", "shop.db")[1]
        assert "plays  open" in out
        assert "a name that is mu..." in out
        assert "7 arms of fewer plays are left out" in out
        assert "uplift over the holdout: 0 per play, surely -1 to 1" in out
        assert "61 wait for the first open one" in out
        live.update(first, 1)
        live.select(allowed=["blue"])
    out = surefoot("status", "shop.db")[1]
    assert "no interval: allowed picks the plays" in out
    assert "61 plays" in out
    table = [line for line in out.splitlines() if "head " not in line and "uplift" not in line]
    assert max(map(len, table)) <= 80
    [of] = json.loads(surefoot("status", "shop.db", "--json")[1])["experiments"].values()
    assert [row["arm"] for row in of["arms"]] == [*labels, None]
    assert sum(row["plays"] for row in of["arms"]) == 62
    assert of["uplift"]["plays"] == 61


def test_status_of_super_arms_has_no_table_of_arms(surefoot, tmp_path):
    from surefoot.live.live import Live

    policy = C2UCB(base_arms=np.eye(3), oracle=TopK(2))
    floor = RewardFloor(0.5, 0.2, reward_range=(0, 2), reserve=1)
    with Live(GenCB(policy, floor), tmp_path / "shop.db", "shop") as live:
        live.update(live.select(), base_rewards=[1, 0.5])
    assert "last 1,000" not in surefoot("status", "shop.db")[1]
    [of] = json.loads(surefoot("status", "shop.db", "--json")[1])["experiments"].values()
    assert (of["arms"], of["uplift"]) == (None, None)


@pytest.mark.filterwarnings("ignore::surefoot.errors.RewardOutOfRange")
def test_status_shows_a_pause_shadow_mode_and_rewards_that_should_not_be(surefoot, tmp_path):
    from surefoot.live.live import Live

    with Live(GenCB(UCB1(2), RewardFloor(0.5, 0.25, reserve=2)), tmp_path / "shop.db") as live:
        live.update(live.select(), 1)
        plain = surefoot("status", "shop.db")[1]
        assert not any(word in plain for word in ("PAUSED", "SHADOW", "capped", "mismatches"))
        live.update(live.select(), 1.5)
        live.pause()
        live.change(shadow=True)
        live.update(live.select(), 0.25)
    out = surefoot("status", "shop.db")[1]
    assert "experiment default, PAUSED, SHADOW\n" in out
    words = " ".join(out.split())
    assert "capped 1" in words
    assert "mismatches 1" in words
    [of] = json.loads(surefoot("status", "shop.db", "--json")[1])["experiments"].values()
    assert (of["paused"], of["shadow"], of["capped"], of["mismatches"]) == (True, True, 1, 1)


def test_status_after_a_breach_ends_with_the_verdict(surefoot, database):
    from surefoot.errors import RewardOutOfRange
    from surefoot.live.live import Live

    with Live(None, database, "shop") as live, pytest.warns(RewardOutOfRange):
        live.update(live.select(), -0.1)
    for command, code in (("status", 0), ("verify", 1)):
        left, out, _ = surefoot(command, str(database))
        assert left == code
        assert out.splitlines()[-2].endswith(": reward is -0.1, expected 0..1")
        assert out.splitlines()[-1] == FAILED


def test_status_says_when_no_reward_was_told_with_a_default_play(surefoot, database):
    out = surefoot("status", str(database))[1]
    assert "\ndefault: no reward was told with its plays, so nothing can be said" in out
    report = json.loads(surefoot("status", str(database), "--json")[1])
    assert report["defaults"]["shop"]["told"] == 0


def test_status_says_that_a_default_pays_less_than_declared(surefoot, database):
    from surefoot.live.live import Live

    floor = RewardFloor(default=0.7, alpha=0.5)
    with Live(GenCB(UCB1(n_arms=2), floor), database, "new", account="shop", shadow=True) as live:
        for _ in range(60):
            live.update(live.select(), 0.6)
    out = surefoot("status", str(database))[1]
    assert "default of new: 60 rewards told, mean 0.6 of declared 0.7: below, p = " in out
    assert "default of shop: no reward" in out
    surefoot("ledger", "export", str(database), "--out", "shop.ndjson")
    for ledger in (str(database), "shop.ndjson"):
        said = json.loads(surefoot("status", ledger, "--json")[1])["defaults"]["new"]
        assert (said["told"], said["alarm"]) == (60, True)
        assert said["worst"]["last"] == 60


def test_status_of_what_does_not_verify_says_so(surefoot, export, tmp_path):
    (tmp_path / "shop.ndjson").write_bytes(b"".join(lines(export)[:9] + lines(export)[10:]))
    code, out, _ = surefoot("status", "shop.ndjson")
    assert code == 0
    assert out.splitlines()[-2:] == ["entry 9: seq is 10, expected 9", FAILED]


def test_an_export_is_verified_without_any_database_package(export, tmp_path):
    code = (
        "import sys\nfrom surefoot.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print('sqlalchemy' in sys.modules, 'numpy' in sys.modules, file=sys.stderr)"
    )
    words = [sys.executable, "-c", code, "verify", str(tmp_path / "shop.ndjson")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "False False"


def test_what_cannot_be_counted_is_no_fault_of_the_proof(surefoot, tmp_path):
    from surefoot.live.live import Live

    live = Live(GenCB(UCB1(2), RewardFloor(default=0.5, alpha=0.1)), tmp_path / "shop.db")
    live.update(live.select(), 0.5)
    live.close()
    surefoot("ledger", "export", "shop.db", "--out", "shop.ndjson")
    rows = (tmp_path / "shop.ndjson").read_bytes().splitlines()
    head, *entries = map(json.loads, rows)
    entries[-1]["payload"]["told"] = {"reward": "0.5"}  # of a super arm, which no default is
    edited = [f"{canonical(row)}\n".encode() for row in (head, *rechained(entries))]
    (tmp_path / "shop.ndjson").write_bytes(b"".join(edited))
    assert surefoot("verify", "shop.ndjson")[0] == 0
    _, out, err = surefoot("status", "shop.ndjson")
    assert "not counted from there on: entry 3" in out
    assert out.endswith("verified: the promise holds at every moment\n")
    assert err == ""


@pytest.mark.parametrize("out", ["shop.db", "./shop.db", "shop.db-wal"])
def test_a_ledger_is_not_replaced_by_its_export(surefoot, database, tmp_path, out):
    (tmp_path / "shop.db-wal").touch()
    before = database.read_bytes()
    code, _, err = surefoot("ledger", "export", "shop.db", "--out", out, "--overwrite")
    assert (code, "is the ledger itself" in err) == (2, True)
    assert database.read_bytes() == before


def test_an_export_touches_no_file_beside(surefoot, database, tmp_path):
    (tmp_path / "x.ndjson.tmp").write_text("mine")
    assert surefoot("ledger", "export", "shop.db", "--out", "x.ndjson")[0] == 0
    assert (tmp_path / "x.ndjson.tmp").read_text() == "mine"
    assert {file.name for file in tmp_path.iterdir()} == {"shop.db", "x.ndjson", "x.ndjson.tmp"}


@pytest.mark.parametrize("command", [("verify",), ("status",)])
def test_somebody_elses_file_is_no_ledger_and_stays_as_it_is(surefoot, tmp_path, command):
    with contextlib.closing(sqlite3.connect(tmp_path / "places.sqlite")) as places:
        places.execute("CREATE TABLE places (name TEXT)")
    before = (tmp_path / "places.sqlite").read_bytes()
    code, _, err = surefoot(*command, "places.sqlite")
    assert (code, "is no ledger of surefoot" in err) == (2, True)
    assert (tmp_path / "places.sqlite").read_bytes() == before


def test_what_cannot_be_reached_is_no_verdict(surefoot):
    """Exit code 1 of verify means that the ledger does not hold, and nothing else."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        url = f"postgresql://a@127.0.0.1:{taken.getsockname()[1]}/b"
        code, out, err = surefoot("verify", url)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith("error: the store failed, it could not be read")


@pytest.mark.parametrize("damaged", [b"SQLite format 3\0" + bytes(2000), b"SQLite format 3\0"])
def test_a_database_that_cannot_be_read_is_no_verdict(surefoot, tmp_path, damaged):
    (tmp_path / "shop.db").write_bytes(damaged)
    code, out, err = surefoot("verify", "shop.db")
    assert (code, out, len(err.splitlines())) == (2, "", 1)


def test_a_verdict_that_could_not_be_written_is_none(surefoot, export, monkeypatch):
    class Full(io.StringIO):
        def flush(self):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sys.stdout", Full())
    with pytest.raises(SystemExit) as left:
        app(["verify", "shop.ndjson"])
    assert left.value.code == 74


@pytest.mark.parametrize("command", ["verify", "status"])
def test_a_pipe_a_device_and_a_lost_link_are_one_line(surefoot, tmp_path, command):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "lost").symlink_to("nowhere/shop.db")
    for place in ("pipe", "lost", "/dev/null", "."):
        code, out, err = surefoot(command, place)
        assert (code, out, len(err.splitlines())) == (2, "", 1)


def test_a_group_alone_shows_its_help(surefoot):
    for group in ("ledger", "study"):
        code, out, err = surefoot(group)
        assert (code, err) == (0, "")
        assert "Usage: " in out


@pytest.mark.parametrize("out", ["-", "/dev/null", "/dev/stdout", "pipe"])
def test_a_stream_or_a_device_is_not_replaced_by_an_export(surefoot, database, tmp_path, out):
    os.mkfifo(tmp_path / "pipe")
    before = os.lstat(out) if out[0] == "/" else None
    code, _, err = surefoot("ledger", "export", "shop.db", "--out", out, "--overwrite")
    assert (code, "is a stream or a device" in err, len(err.splitlines())) == (2, True, 1)
    assert before is None or os.lstat(out).st_ino == before.st_ino


@pytest.mark.parametrize("text", [b"import surefoot\n", b"{\n", b"\xff\xfe\n"])
def test_what_is_no_ledger_at_all_is_told_what_one_is(surefoot, tmp_path, text):
    (tmp_path / "golive.py").write_bytes(text)
    code, _, err = surefoot("verify", "golive.py")
    said = "golive.py is neither a SQLite ledger nor an export of `surefoot ledger export`"
    assert (code, err) == (2, f"error: {said}\n")
