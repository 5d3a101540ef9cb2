"""The database itself refuses what must never be, whoever asks."""

import pytest
import sqlalchemy as sa

from live.postgres import postgres  # noqa: F401  (a fixture)
from live.store.databases import address, store  # noqa: F401  (fixtures)
from surefoot.live.store import AccountRow, LeaseRow, sql, tx
from surefoot.testing._stores import explore, fund, settle

ADD_PLAY = (
    "INSERT INTO play VALUES ('shop', '{id}', 'e', {seq}, '{role}', 'null', 0, {hold}, 0, 0, 0, 0,"
    " '{state}', NULL, 'null', false, NULL, NULL, NULL)"
)
GOOD_PLAY = {"id": "new", "seq": 9, "role": "explore", "hold": 0, "state": "open"}
ADD_LEASE = "INSERT INTO lease VALUES ('shop', 'l', 'e', 'w', 1, {amount}, {spent}, 9, '{state}')"
GOOD_LEASE = {"amount": 10, "spent": 0, "state": "open"}
REFUSED = (sa.exc.IntegrityError, sa.exc.DatabaseError)


def run(store, statement):  # noqa: F811
    with store._writes.connect() as connection, connection.begin():
        connection.execute(sa.text(statement))


@pytest.fixture
def played(store):  # noqa: F811
    """One exploration open, with 3 of 10 left."""
    fund(store, 10)
    store.transact("shop", lambda tx: explore(tx, 7, play="mine"))
    return store


@pytest.mark.parametrize(
    "change",
    ["posted = -4", "held = 11", "held = -1", "reserve = 6", "reserve = -1", "seq = NULL"],
)
def test_an_account_below_0_is_refused_even_by_raw_sql(played, change):
    before = played.account("shop")
    with pytest.raises(REFUSED):
        run(played, f"UPDATE account SET {change}")
    assert played.account("shop") == before
    run(played, "UPDATE account SET posted = -3")  # to 0 it may go


@pytest.mark.parametrize("excuse", ["strict = false", "breached = true"])
def test_an_account_that_promises_nothing_now_may_be_below_0(played, excuse):
    run(played, f"UPDATE account SET posted = -4, {excuse}")
    assert played.account("shop").available == -1


@pytest.mark.parametrize(
    "statement",
    ["UPDATE entry SET d_posted = 1 WHERE seq = 1", "DELETE FROM entry WHERE seq = 2",
     "DELETE FROM entry", "DELETE FROM account"],
)  # fmt: skip
def test_an_entry_is_never_changed_or_removed(played, statement):
    before = list(played.entries("shop"))
    with pytest.raises(REFUSED):
        run(played, statement)
    assert list(played.entries("shop")) == before


def test_no_way_around_the_triggers(played):
    """What each database has besides: REPLACE and TRUNCATE."""
    before = list(played.entries("shop"))
    way = {
        "sqlite": "INSERT OR REPLACE INTO entry SELECT * FROM entry WHERE seq = 1",
        "postgresql": "TRUNCATE entry",
    }[played._writes.dialect.name]
    with pytest.raises(REFUSED, match="never changed"):
        run(played, way)
    assert list(played.entries("shop")) == before


@pytest.mark.parametrize(
    "bad",
    [{}, {"id": "mine"}, {"seq": 2}, {"hold": -1}, {"role": "other"}, {"state": "lost"}],
)
def test_a_play_that_cannot_be_is_refused(played, bad):
    statement = ADD_PLAY.format(**GOOD_PLAY | bad)
    if not bad:
        run(played, statement)
        assert played.play("shop", "new").hold == 0
        return
    with pytest.raises(REFUSED):
        run(played, statement)


@pytest.mark.parametrize("bad", [{}, {"spent": 11}, {"spent": -1}, {"state": "lost"}])
def test_a_lease_that_cannot_be_is_refused(played, bad):
    statement = ADD_LEASE.format(**GOOD_LEASE | bad)
    if not bad:
        run(played, statement)
        assert played.transact("shop", lambda tx: tx.lease("l")).unspent == 10
        return
    with pytest.raises(REFUSED):
        run(played, statement)


def test_a_move_from_a_state_that_nobody_saw_moves_nothing(played):
    move = sql.play_values("shop", played.play("shop", "mine")._replace(state="settled"))
    guard = {"key_account": "shop", "key_id": "mine", "key_state": "expired", "key_capped": False}
    with played._writes.connect() as connection, connection.begin():
        assert connection.execute(sql.MOVE_PLAYS.statement, [move | guard]).rowcount == 0
        assert connection.execute(
            sql.MOVE_PLAYS.statement, [move | guard | {"key_state": "open"}]
        ).rowcount


def test_rows_read_back_as_they_were():
    play = tx.decided("p", "e", 1, "decision.held", {"arm": ["a", {"b": 1}], "hold": 3})
    lease = LeaseRow("l", "e", "w", 1, 10, 0, 9)
    account = AccountRow("shop", 2, True)

    class Row(tuple):
        arm, told = sql.play_values("shop", play)["arm"], "null"

    def columns(table, values):
        return Row(values[column.name] for column in table.c if column.name != "account")

    assert sql.as_play(columns(sql.play, sql.play_values("shop", play))) == play
    assert LeaseRow(*columns(sql.lease, lease._asdict())) == lease
    assert AccountRow(*columns(sql.account, account._asdict())) == account


def test_a_settled_play_is_found_by_no_index_of_waiting_plays(played):
    played.transact("shop", lambda tx: settle(tx, "mine", reward=1))
    assert played.transact("shop", lambda tx: tx.due(2**62)) == []
