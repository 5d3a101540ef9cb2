"""The schema that migrations make is the one that the statements are written for."""

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from live.postgres import postgres  # noqa: F401  (a fixture)
from live.store.databases import address, store  # noqa: F401  (fixtures)
from surefoot.live.store import migrations, sql

# ruff: noqa: F811


def test_a_migrated_database_has_the_tables_of_the_statements(store):
    with store._reads.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": migrations.TABLE, "compare_type": True}
        )
        assert compare_metadata(context, sql.metadata) == []
        assert migrations.is_current(connection, "it")


def test_it_has_their_checks(store):
    with store._reads.connect() as connection:
        inspector = sa.inspect(connection)
        for table in sql.metadata.sorted_tables:
            ours = {c.name for c in table.constraints if isinstance(c, sa.CheckConstraint)}
            theirs = {check["name"] for check in inspector.get_check_constraints(table.name)}
            assert theirs == ours


def test_the_newest_migration_is_the_version_of_the_statements():
    config = Config()
    config.set_main_option("script_location", migrations.__path__[0])
    config.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(config).get_heads() == [sql.VERSION]


def test_a_second_opening_migrates_nothing(store, monkeypatch):
    monkeypatch.setattr(migrations, "upgrade", None)
    store._check()
