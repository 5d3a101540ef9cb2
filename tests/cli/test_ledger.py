import json
import subprocess
import sys

import pytest

from ledgers import lines, scheduled
from surefoot import UCB1, GenCB, RewardFloor
from surefoot.cli import app

pytest.importorskip("sqlalchemy")


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
    assert out.startswith(f"entries {len(export)} ")
    assert out.endswith(f"head {export[-1]['hash']}\n")


def test_a_problem_leaves_with_1_and_names_the_entry(surefoot, export, tmp_path):
    rows = lines(export)
    (tmp_path / "shop.ndjson").write_bytes(b"".join(rows[:5] + rows[6:]))
    code, out, err = surefoot("verify", "shop.ndjson")
    assert (code, err) == (1, "")
    assert out.splitlines()[1] == "entry 5: seq is 6, expected 5"
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
    code, line, _ = surefoot("verify", str(database))
    assert code == 0
    assert " decisions 41 " in line
    code, out, _ = surefoot("ledger", "export", str(database), "--out", "shop.ndjson")
    assert code == 0
    head = out.split()[-1]
    assert line.strip().endswith(head.partition(":")[2])
    assert surefoot("verify", "shop.ndjson", "--head", head) == (0, line, "")
    assert surefoot("verify", str(database), "--head", head)[0] == 0


def test_an_export_replaces_nothing_unasked(surefoot, database):
    words = ("ledger", "export", str(database), "--out", "shop.ndjson")
    assert surefoot(*words)[0] == 0
    assert surefoot(*words)[0] == 2
    assert surefoot(*words, "--overwrite")[0] == 0
    assert surefoot("ledger", "export", "shop.ndjson", "--out", "x")[0] == 2
    assert surefoot("ledger", "export", str(database), "--out", "no/x")[0] == 2


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
    assert "verified: the promise holds at every moment" in out
    report = json.loads(surefoot("status", str(database), "--json")[1])
    assert report["available"] == report["reserve"] + report["posted"] - report["held"]
    assert report["decisions"] == 41


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
    assert "entry 9: seq is 10, expected 9" in out


def test_an_export_is_verified_without_any_database_package(export, tmp_path):
    code = (
        "import sys\nfrom surefoot.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print('sqlalchemy' in sys.modules, 'numpy' in sys.modules, file=sys.stderr)"
    )
    words = [sys.executable, "-c", code, "verify", str(tmp_path / "shop.ndjson")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "False False"
