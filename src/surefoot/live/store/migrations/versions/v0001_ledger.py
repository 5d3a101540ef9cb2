"""The ledger: accounts, entries, plays, leases and snapshots of policies."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_NO_CHANGE = "entries are never changed or removed"


def upgrade() -> None:
    """Create the tables."""
    _accounts_and_entries()
    _plays()
    _leases_and_snapshots()
    _append_only()


def _accounts_and_entries() -> None:
    op.create_table(
        "account",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("places", sa.Integer, nullable=False),
        sa.Column("strict", sa.Boolean, nullable=False),
        sa.Column("breached", sa.Boolean, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("head", sa.Text, nullable=False),
        sa.Column("posted", sa.BigInteger, nullable=False),
        sa.Column("held", sa.BigInteger, nullable=False),
        sa.Column("reserve", sa.BigInteger, nullable=False),
        sa.CheckConstraint("held >= 0", name="held_not_below_0"),
        sa.CheckConstraint("reserve >= 0", name="reserve_not_below_0"),
        sa.CheckConstraint(
            "NOT strict OR breached OR reserve + posted - held >= 0", name="available_not_below_0"
        ),
    )
    op.create_table(
        "entry",
        sa.Column("account", sa.Text, sa.ForeignKey("account.name"), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("experiment", sa.Text, nullable=False),
        sa.Column("play", sa.Text),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("config_version", sa.BigInteger, nullable=False),
        sa.Column("d_posted", sa.BigInteger, nullable=False),
        sa.Column("d_held", sa.BigInteger, nullable=False),
        sa.Column("posted", sa.BigInteger, nullable=False),
        sa.Column("held", sa.BigInteger, nullable=False),
        sa.Column("reserve", sa.BigInteger, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("prev", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
    )


def _plays() -> None:
    op.create_table(
        "play",
        sa.Column("account", sa.Text, sa.ForeignKey("account.name"), primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("experiment", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("arm", sa.Text, nullable=False),
        sa.Column("index", sa.BigInteger, nullable=False),
        sa.Column("hold", sa.BigInteger, nullable=False),
        sa.Column("floor", sa.BigInteger, nullable=False),
        sa.Column("deposit", sa.BigInteger, nullable=False),
        sa.Column("low", sa.BigInteger, nullable=False),
        sa.Column("high", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("reward", sa.BigInteger),
        sa.Column("told", sa.Text, nullable=False),
        sa.Column("capped", sa.Boolean, nullable=False),
        sa.Column("request", sa.Text),
        sa.Column("deadline", sa.BigInteger),
        sa.Column("lease", sa.Text),
        sa.UniqueConstraint("account", "seq", name="one_play_an_entry"),
        sa.CheckConstraint("role IN ('explore', 'default')", name="role_known"),
        sa.CheckConstraint("hold >= 0", name="hold_not_below_0"),
        sa.CheckConstraint(
            "state IN ('open', 'settled', 'expired', 'late', 'voided', 'as_default', 'confirmed',"
            " 'valued')",
            name="state_known",
        ),
    )
    waiting = sa.text("state = 'open' AND role = 'explore' AND deadline IS NOT NULL")
    op.create_index(
        "play_waiting",
        "play",
        ["account", "deadline"],
        sqlite_where=waiting,
        postgresql_where=waiting,
    )


def _leases_and_snapshots() -> None:
    op.create_table(
        "lease",
        sa.Column("account", sa.Text, sa.ForeignKey("account.name"), primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("experiment", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("amount", sa.BigInteger, nullable=False),
        sa.Column("spent", sa.BigInteger, nullable=False),
        sa.Column("expires", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.CheckConstraint("0 <= spent AND spent <= amount", name="spent_within_amount"),
        sa.CheckConstraint("state IN ('open', 'returned', 'forfeited')", name="lease_state_known"),
    )
    op.create_table(
        "snapshot",
        sa.Column("account", sa.Text, sa.ForeignKey("account.name"), primary_key=True),
        sa.Column("experiment", sa.Text, primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True),
        sa.Column("blob", sa.LargeBinary, nullable=False),
        sa.Column("checksum", sa.Text, nullable=False),
    )


def _append_only() -> None:
    if op.get_bind().dialect.name == "sqlite":
        refuse = f"BEGIN SELECT RAISE(ABORT, '{_NO_CHANGE}'); END"
        op.execute(f"CREATE TRIGGER entry_no_update BEFORE UPDATE ON entry {refuse}")
        op.execute(f"CREATE TRIGGER entry_no_delete BEFORE DELETE ON entry {refuse}")
        # INSERT OR REPLACE removes a row without asking the trigger of DELETE.
        taken = "SELECT 1 FROM entry WHERE account = NEW.account AND seq = NEW.seq"
        op.execute(
            f"CREATE TRIGGER entry_no_replace BEFORE INSERT ON entry WHEN EXISTS ({taken}) {refuse}"
        )
        return
    op.execute(
        "CREATE FUNCTION entry_no_change() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{_NO_CHANGE}'; END $$"
    )
    op.execute(
        "CREATE TRIGGER entry_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON entry "
        "FOR EACH STATEMENT EXECUTE FUNCTION entry_no_change()"
    )
