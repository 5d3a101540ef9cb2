"""The schema and its history: it is brought up to date when a store is opened."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from surefoot.errors import DamagedFile
from surefoot.live.store.sql import VERSION

TABLE = "surefoot_version"
"""Where a database says how far it has come; not alembic's own name, which you may be using."""


def is_current(connection: sa.Connection) -> bool:
    """Whether the schema is the newest; DamagedFile if it is newer than this code."""
    if not sa.inspect(connection).has_table(TABLE):
        return False
    found = connection.exec_driver_sql("SELECT version_num FROM surefoot_version").scalar()
    if found is not None and found > VERSION:
        raise DamagedFile(
            f"the ledger has schema {found}, newer than {VERSION} of this version of surefoot; "
            "install the newer one"
        )
    return found == VERSION


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
