"""The rows of a ledger against its entries: every edit, and what is gone or too many, is named."""

import json
import sqlite3

import pytest

from leased import agent, opened
from surefoot import UCB1, GenCB, RewardFloor
from surefoot.cli import app
from surefoot.live import rows
from surefoot.live.live import Live
from surefoot.live.store import open_store
from tampering import run

pytest.importorskip("sqlalchemy")


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A ledger with a play of every fate, and a lease of every state."""
    folder = tmp_path_factory.mktemp("rows")
    floor = RewardFloor((0.4, 0.6), 0.5, against="realised", reserve=50)
    clock = iter(range(10**15, 10**16, 1000))
    with open_store(folder / "ledger.db", clock=lambda: next(clock)) as store:
        live = Live(GenCB(UCB1(2), floor, seed=1, default_competes=False), store, reward_window=1)
        plays = [
            live.select([n], id=f"v-{n}") if n < 0 else live.select(id=f"v-{n}") for n in range(9)
        ]
        live.update(plays[0], 1)
        live.expire(plays[1])
        live.expire(plays[2])
        live.update(plays[2], 0.5)
        live.void(plays[3])
        live.fall_back(plays[4])
        live.fall_back(plays[5])
        live.update(plays[5], 0.5)
        with pytest.warns(UserWarning, match="r_max"):
            live.update(plays[6], 2)
        with pytest.warns(UserWarning, match="r_max"):
            live.update(plays[7], 2)
        live.acknowledge(plays[7])
        live.pause()
        defaults = [live.select() for _ in range(4)]
        live.update(defaults[0])
        live.update(defaults[1], 0.5)
        live.void(defaults[2])
        live.resume()
        for _ in range(2):
            worker = opened(store, folder / "j", GenCB(UCB1(2), floor, default_competes=False))
            worker.select(id="w-1")
            worker.close()
        left = opened(store, folder / "j", GenCB(UCB1(2), floor, default_competes=False))
        left.select()
        left.flush()
        left._worker.abandon()
    return folder / "ledger.db"


@pytest.fixture
def ledger(played, tmp_path):
    with sqlite3.connect(played) as source, sqlite3.connect(tmp_path / "x.db") as copy:
        source.backup(copy)
    source.close()
    copy.close()
    return tmp_path / "x.db"


def verified(capsys, ledger, *words):
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        app(["verify", str(ledger), "--json", *words])
    report = json.loads(capsys.readouterr().out)
    assert (left.value.code or 0) == (0 if report["ok"] else 1)
    return report


def test_a_ledger_that_nobody_edited_is_as_its_entries_say(ledger, capsys):
    assert verified(capsys, ledger)["problems"] == []
    with open_store(ledger) as store, store.moment("default") as moment:
        found = list(moment.plays())
        assert {row.state for row in found if row.role == "explore"} == {
            "open", "settled", "expired", "late", "voided", "as_default", "valued"
        }  # fmt: skip
        assert {row.state for row in found if row.role == "default"} == {
            "open", "confirmed", "voided", "valued"
        }  # fmt: skip
        assert {row.state for row in moment.leases()} == {"open", "returned"}
        assert any(row.capped for row in found)


INSERTED_PLAY = (
    "INSERT INTO play SELECT account, 'extra', experiment, 777, role, arm, \"index\", hold, floor,"
    " deposit, low, high, state, reward, told, capped, request, deadline, lease FROM play"
    " WHERE id = 'v-8'"
)
INSERTED_LEASE = (
    "INSERT INTO lease SELECT account, 'extra', experiment, owner, epoch, amount, spent, expires,"
    " state FROM lease WHERE state = 'open'"
)
EDITS = [
    ("UPDATE play SET state = 'open' WHERE id = 'v-0'", "play v-0: its row's state is open"),
    ("UPDATE play SET reward = reward + 1 WHERE id = 'v-0'", "play v-0: its row's reward is"),
    ("UPDATE play SET told = '2' WHERE id = 'v-0'", "its row's told is 2, expected \"1\""),
    ("UPDATE play SET told = '{' WHERE id = 'v-0'", "its row's told is {"),
    ("UPDATE play SET capped = 0 WHERE id = 'v-6'", "v-6: its row's capped is false, expected tr"),
    ("UPDATE play SET arm = '1' WHERE id = 'v-0'", "play v-0: its row's arm is 1"),
    ("UPDATE play SET \"index\" = 1 WHERE id = 'v-0'", "play v-0: its row's index is 1"),
    ("UPDATE play SET hold = hold + 1 WHERE id = 'v-8'", "play v-8: its row's hold is"),
    ("UPDATE play SET floor = 0, high = 7 WHERE id = 'v-8'", "floor is 0, expected 300000000, its"),
    ("UPDATE play SET deposit = 9 WHERE id = 'v-4'", "play v-4: its row's deposit is 9"),
    ("UPDATE play SET low = -5 WHERE id = 'v-8'", "play v-8: its row's low is -5, expected 0"),
    ("UPDATE play SET request = NULL WHERE id = 'v-8'", "play v-8: its row's request is null"),
    ("UPDATE play SET deadline = 1 WHERE id = 'v-8'", "play v-8: its row's deadline is 1"),
    ("UPDATE play SET experiment = 'e' WHERE id = 'v-8'", "v-8: its row's experiment is e, exp"),
    ("UPDATE play SET lease = 'l' WHERE id = 'v-8'", "play v-8: its row's lease is \"l\""),
    ("UPDATE play SET role = 'default' WHERE id = 'v-8'", "play v-8: its row's role is default"),
    ("UPDATE play SET id = 'v-88' WHERE id = 'v-8'", "play v-8: its row's id is v-88"),
    ("UPDATE play SET seq = 999 WHERE id = 'v-8'", "play v-8: its row is gone; entry 11 decided"),
    ("UPDATE play SET seq = -9 WHERE id = 'v-8'", "play v-8: no entry decided it, its row names"),
    ("DELETE FROM play WHERE id = 'v-0'", "play v-0: its row is gone; entry 3 decided it"),
    (INSERTED_PLAY, "play extra: no entry decided it, its row names 777"),
    ("UPDATE lease SET amount = amount + 1", "its row's amount is"),
    ("UPDATE lease SET spent = spent + 1 WHERE state = 'open'", "its row's spent is"),
    ("UPDATE lease SET state = 'open' WHERE state = 'returned'", "its row's state is open, expect"),
    ("UPDATE lease SET expires = 1", "its row's expires is 1"),
    ("UPDATE lease SET owner = 'me'", "its row's owner is me"),
    ("DELETE FROM lease WHERE state = 'returned'", "its row is gone"),
    (INSERTED_LEASE, "lease extra: no entry granted it"),
    ("UPDATE account SET reserve = reserve + 1", "default: its row's reserve is 50000000001, exp"),
    ("UPDATE account SET posted = posted + 1", "account default: its row's posted is"),
    ("UPDATE account SET held = held + 1", "account default: its row's held is"),
    ("UPDATE account SET breached = 1", "its row's breached is true, expected false"),
    ("UPDATE account SET strict = 0", "its row's strict is false, expected true"),
    ("UPDATE account SET seq = seq - 1", "account default: its row's seq is"),
    ("UPDATE account SET head = 'x'", "account default: its row's head is x"),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "said"), EDITS, ids=[edit for edit, _ in EDITS])
def test_a_row_that_was_edited_is_named(ledger, capsys, edit, said):
    with open_store(ledger) as store:
        run(store, edit)
    report = verified(capsys, ledger)
    assert any(said in problem for problem in report["problems"]), report["problems"]
    assert report["verdict"] == "NOT VERIFIED: the promise may be broken"
    assert report["violations"] == 0  # the entries are right


@pytest.mark.parametrize("account", ["default"])
def test_an_answered_id_that_can_be_decided_again_is_seen(ledger, capsys, account):
    with open_store(ledger) as store:
        run(store, "DELETE FROM play")
    report = verified(capsys, ledger, "--account", account)
    assert len(report["problems"]) == rows.NAMED + 1
    assert report["problems"][-1].endswith("more rows are not what the entries say")


def test_an_entry_whose_text_is_no_json_is_a_problem_and_no_traceback(ledger, capsys):
    with open_store(ledger) as store:
        run(store, "UPDATE entry SET payload = '{' WHERE seq = 5")
    assert "entry 5: payload is {, expected dict" in verified(capsys, ledger)["problems"]


def test_rows_are_compared_where_the_entries_do_not_verify_as_well(ledger, capsys):
    with open_store(ledger) as store:
        run(store, "UPDATE entry SET actor = 'me' WHERE seq = 2", "DELETE FROM play WHERE id='v-8'")
    first, second = verified(capsys, ledger)["problems"]
    assert first.startswith("entry 2: hash is")
    assert second.startswith("play v-8: its row is gone")


def test_a_ledger_in_use_is_read_as_of_one_moment(tmp_path, capsys):
    path = tmp_path / "busy.db"
    with Live(agent(), path) as live:
        with live.store.moment("default") as moment:
            before = live.store.account("default").seq
            for n in range(20):
                live.update(live.select(id=f"v-{n}"), 0)
            assert (moment.row.seq, len(list(moment.entries()))) == (before, before)
            assert list(moment.plays()) == []
        assert verified(capsys, path)["problems"] == []


def test_status_says_it_as_well(ledger, capsys):
    with open_store(ledger) as store:
        run(store, "DELETE FROM play WHERE id = 'v-0'")
    with pytest.raises(SystemExit) as left:
        app(["status", str(ledger)])
    assert not left.value.code
    out = capsys.readouterr().out
    assert "play v-0: its row is gone; entry 3 decided it\nNOT VERIFIED: the promise may" in out
