"""Default plays have a deadline too, so the index of what waits is of both roles."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the index anew."""
    waiting = sa.text("state = 'open' AND deadline IS NOT NULL")
    op.drop_index("play_waiting", "play")
    op.create_index(
        "play_waiting",
        "play",
        ["account", "deadline"],
        sqlite_where=waiting,
        postgresql_where=waiting,
    )
