"""The schema and its history: it is brought up to date when a store is opened."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from surefoot.errors import DamagedFile
from surefoot.live.store.sql import READABLE, VERSION, metadata

TABLE = "surefoot_version"
"""Where a database says how far it has come; not alembic's own name, which you may be using."""


def is_current(connection: sa.Connection, where: str, read_only: bool = False) -> bool:
    """Whether the schema is the newest; DamagedFile if it is newer than this code, or not ours.

    ``read_only``: whether it is one that can be read as it is.

    A file of SQLite is a ledger or it is not; in a PostgreSQL database others may have tables too,
    as long as their names are not ours.
    """
    inspector = sa.inspect(connection)
    tables = inspector.get_table_names()  # at once: another process may be making ours
    if TABLE not in tables:
        names = {*tables, *inspector.get_view_names()}
        foreign = names if connection.dialect.name == "sqlite" else names & set(metadata.tables)
        if foreign:
            raise DamagedFile(
                f"{where} is no ledger of surefoot: it has {min(foreign)!r} of somebody else's; "
                "name another, or a new one"
            )
        return False
    found = connection.exec_driver_sql("SELECT version_num FROM surefoot_version").scalar()
    if found is not None and found > VERSION:
        raise DamagedFile(
            f"{where} has schema {found}, newer than {VERSION} of this version of surefoot; "
            "install the newer one"
        )
    return found in READABLE if read_only else found == VERSION


def upgrade(connection: sa.Connection) -> None:
    """Bring the schema up to date, inside the transaction of the connection."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("path_separator", "os")
    script = ScriptDirectory.from_config(config)

    def steps(revision: object, _: object) -> object:
        return script._upgrade_revs("head", revision)  # type: ignore[arg-type]

    with EnvironmentContext(config, script, fn=steps) as environment:
        environment.configure(connection=connection, version_table=TABLE, transactional_ddl=False)
        environment.run_migrations()
