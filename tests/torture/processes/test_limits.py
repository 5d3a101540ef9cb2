"""A full disk, and a store that may be read and not written: an error each, and nothing is lost."""

import psycopg
import pytest
from psycopg import sql

from campaigning import campaign
from live.postgres import database, postgres  # noqa: F401  (fixtures)
from surefoot.errors import StoreUnavailable
from surefoot_torture.processes.audit import audit
from surefoot_torture.processes.children import opened
from surefoot_torture.processes.writer import Writer


def test_a_full_disk_and_a_read_only_file_are_an_error_each_and_lose_nothing():
    assert campaign("--limits")["limits"] == 2


def test_a_read_only_postgres_is_an_error_and_loses_nothing(database, tmp_path):  # noqa: F811
    diary = tmp_path / "w0.diary"
    with opened(database, "a", None) as live:
        Writer(live, diary, seed=1).run(5)
    set_read_only(database, "on")
    with pytest.raises(StoreUnavailable, match=r"nothing was written: .*read-only"):
        opened(database, "a", None)
    set_read_only(database, "off")
    assert audit(database, "a", [diary])["problems"] == []
    with opened(database, "a", None) as live:
        assert Writer(live, diary, seed=2, patience=0).run(10) == 10


def set_read_only(url, value):
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")
        change = sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = {}")
        name = sql.Identifier(connection.info.dbname)
        connection.execute(change.format(name, sql.SQL(value)))
