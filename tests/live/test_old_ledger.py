"""A ledger of the first schema, as its own code left it: read, proved, taken over, gone on with.

`old/ledger.sql.gz` is a dump of its SQLite file, and the journal beside it that of a worker which
died with its lease open. There are two experiments, leases returned, forfeited and open, ids that
were asked for twice, expiries, random defaults, and endowments.
"""

import collections
import gzip
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from surefoot.cli import app
from surefoot.live import Lease
from surefoot.live.live import Live
from surefoot.live.store import open_store

OLD = Path(__file__).parent / "old"
LATER = 1_700_000_000_000_000 + 10 * 3_600_000_000


class Clock:
    now = LATER

    def __call__(self):
        self.now += 1000
        return self.now


@pytest.fixture
def ledger(tmp_path):
    """The old ledger in a file, and a folder with the journal that was left behind."""
    with sqlite3.connect(tmp_path / "old.db") as connection:
        connection.executescript(gzip.decompress((OLD / "ledger.sql.gz").read_bytes()).decode())
    connection.close()
    (tmp_path / "journals").mkdir()
    for journal in OLD.glob("*.journal"):
        shutil.copy(journal, tmp_path / "journals")
    return tmp_path / "old.db"


def said(capsys, *words):
    with pytest.raises(SystemExit) as left:
        app([*map(str, words)])
    assert not left.value.code
    return capsys.readouterr().out


def kinds(path):
    with open_store(path, read_only=True) as store:
        return collections.Counter(entry.kind for entry in store.entries("shop"))


def test_it_has_what_it_says(ledger):
    found = kinds(ledger)
    for kind in (
        "lease.granted", "lease.returned", "lease.forfeited", "outcome.expired", "decision.voided",
        "decision.defaulted", "endowment.granted", "endowment.withdrawn",
    ):  # fmt: skip
        assert found[kind], kind
    assert found["experiment.opened"] == 2
    ends = found["lease.returned"] + found["lease.forfeited"]
    assert found["lease.granted"] == ends + 1
    assert len(list(OLD.glob("*.journal"))) == 1


def test_it_is_proved_and_counted_before_it_is_brought_up_to_date(ledger, capsys):
    assert "verified: the promise holds" in said(capsys, "verify", ledger)
    status = json.loads(said(capsys, "status", ledger, "--json"))
    assert (status["ok"], status["uncounted"], status["leases"]["live"]) == (True, None, 1)
    assert sorted(status["experiments"]) == ["one", "two"]


def test_it_is_taken_over_and_gone_on_with(ledger, capsys):
    journals = ledger.parent / "journals"
    lease = Lease(journals, plays=6, owner="new", boot="old")
    with open_store(ledger, clock=Clock()) as store:
        one, two = (Live(None, store, name, account="shop") for name in ("one", "two"))
        own = Live(None, store, "one", account="shop", lease=lease)
        assert [live.degraded for live in (one, two, own)] == [None] * 3
        assert [file.name[:3] for file in journals.iterdir()] == ["new"]
        left = one.select(id="w4x1")
        assert left.lease is not None  # decided by the worker that died
        assert left.lease.startswith("w4-")
        for live in (one, two, own):
            for number in range(12):
                live.update(live.select(id=f"{live.name}{live is own}{number}"), number % 2)
        own.close()
        one.reap()
        assert one.account.slack >= 0
    assert "verified: the promise holds" in said(capsys, "verify", ledger)
    assert not kinds(ledger)["assumption.broken"]
