"""Leases inside a transaction: a slice of the account is granted, spent, and closed once.

A lease counts as held from its grant on: the account has paid for every decision under it, even if
its worker is never heard of again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from surefoot._exact import shown
from surefoot._types import JsonObject
from surefoot.errors import DamagedFile, InvalidInput, PlayConflict, UnknownPlay
from surefoot.floors.events import LEASES
from surefoot.live import ids
from surefoot.live.engine import Booked, Engine, Report
from surefoot.live.store import Tx
from surefoot.live.store.base import LeaseRow, PlayRow, microseconds

SHARE = 4
"""A lease takes at most one part in this many of what is available, to leave some for others."""

_OWNER = re.compile(r"[A-Za-z0-9_-]{1,16}")


@dataclass(frozen=True)
class Lease:
    """How a worker decides from a slice of the account, without asking the store each time.

    ``journal``: a folder on a local disk, where each worker keeps a file; workers of one host may
    share it, and take over what a dead one left there. ``plays``: how many explorations a lease is
    for, and how many plays are written to the ledger at a time. ``seconds``: how long a worker may
    keep its decisions and reports to itself; after that ``reap``, of any worker, forfeits its
    lease. ``durable``: sync the journal before each answer. ``owner``: what the names of its leases
    and plays start with. ``boot``: what tells one start of this machine from the next; None: what
    the kernel says.

    Source: escrow; the account's rules for leases are ours.

    Holds when: the journal's disk keeps what a process wrote (a power cut may take it: that costs
    what is left of the lease, never the promise, and nothing if ``durable``). Does not hold when:
    the folder is on a network file system, whose locks cannot be trusted.
    """

    journal: str | Path
    plays: int = 100
    seconds: Any = 60.0
    durable: bool = False
    owner: str | None = None
    boot: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.journal, str | Path) or not str(self.journal):
            raise InvalidInput(f"journal = {shown(self.journal)} must name a folder")
        if type(self.plays) is not int or not 1 <= self.plays <= 100_000:
            raise InvalidInput(f"plays = {shown(self.plays)} must be an int within 1..100000")
        if not isinstance(self.durable, bool):
            raise InvalidInput(f"durable = {shown(self.durable)} must be True or False")
        if self.seconds is None:
            raise InvalidInput("seconds = None: a lease must end; give a number of seconds")
        microseconds(self.seconds, "seconds")
        if self.owner is not None and not (
            isinstance(self.owner, str) and _OWNER.fullmatch(self.owner)
        ):
            raise InvalidInput(
                f"owner = {shown(self.owner)} must be 1 to 16 letters, digits, '-' or '_', or None"
            )

    @property
    def term(self) -> int:
        """``seconds`` in microseconds."""
        return microseconds(self.seconds, "seconds") or 0


class Early(NamedTuple):
    """The booking of a report when it was taken; it stands while the play's row is unchanged."""

    row: PlayRow
    booked: Booked


Step = tuple[JsonObject, Early | None]
"""A line of a journal; with its booking, if it is a report taken in this process."""


def enter_steps(tx: Tx, engine: Engine, steps: list[Step]) -> dict[str, str]:
    """Enter a journal's steps in the ledger, except those that are in it already.

    Returns the ledger's ids of plays whose own ids were taken.
    """
    twins: dict[str, str] = {}
    for step, known in steps:
        if "kind" in step:
            enter_decision(tx, engine, step, twins)
        else:
            enter_report(tx, engine, step, known)
    return twins


def enter_decision(tx: Tx, engine: Engine, step: JsonObject, twins: dict[str, str]) -> None:
    """Enter a decision; ``twins`` learns its id if its own is taken."""
    payload, name = step["payload"], step["play"]
    lease = payload["lease"]
    row = tx.play(name)
    if row is not None and row.lease != lease:
        # Both answers are out, and either may be played: each is booked, as a play of its own.
        payload = {**payload, "asked": name}
        twins[name] = name = ids.twin_id(name, lease)
        row = tx.play(name)
        if row is not None and engine.entry(tx, row.seq).payload.get("asked") != step["play"]:
            raise PlayConflict(f"id = {step['play']!r}: another play is called {name!r}")
    if row is not None:
        return
    held = 0
    if step["kind"] == "decision.held":
        granted = tx.lease(lease)
        held = payload["hold"] if granted is not None and granted.state == "forfeited" else 0
    entry = tx.append(
        step["kind"], experiment=engine.name, play=name, payload=payload, d_posted=held,
        d_held=held, config_version=step["version"],
    )  # fmt: skip
    assert entry is not None
    engine.take(entry)


def enter_report(tx: Tx, engine: Engine, step: JsonObject, early: Early | None) -> None:
    """Enter a report; if it came second, enter that."""
    name = ids.public_id(step["play"], {"lease": step["lease"]})
    try:
        row = engine.row(tx, name)
        if early is not None and early.row._replace(id=row.id, seq=row.seq) == row:
            engine.enter(tx, row, early.booked)
        else:
            engine.current(tx)
            engine.book(tx, row, Report.from_text(step["how"], step["told"]))
    except (DamagedFile, InvalidInput, PlayConflict, UnknownPlay) as problem:
        # It came second: the ledger records it, and the books stay unchanged.
        payload = {"play": name, "how": step["how"], "told": step["told"], "why": str(problem)}
        engine.append(tx, "assumption.broken", payload)


def grant(tx: Tx, engine: Engine, settings: Lease, owner: str, hold: int) -> LeaseRow | None:
    """A new lease for explorations that can lose ``hold`` each; None while that is too early.

    Its size is a part of what is available: it pays once the account funds itself.
    """
    amount = min(settings.plays * max(hold, 1), tx.row.available // SHARE)
    if engine.degraded or amount < max(2 * hold, 1):
        return None
    epoch = tx.row.seq + 1
    expires = tx.now + settings.term
    lease = LeaseRow(f"{owner}-{epoch}", engine.name, owner, epoch, amount, 0, expires)
    payload = {
        "lease": lease.id, "owner": owner, "epoch": epoch, "amount": amount,
        "expires": expires,
    }  # fmt: skip
    engine.append(tx, "lease.granted", payload, d_held=amount, gate=amount)
    return lease


def give_back(tx: Tx, engine: Engine, owner: str, whole: bool = True) -> None:
    """Close an owner's leases; the unspent rest is lost unless its journal is whole."""
    for lease in tx.leases():
        if (lease.owner, lease.experiment) == (owner, engine.name):
            close(tx, engine, lease, "returned" if whole else "forfeited")


def forfeit_overdue(tx: Tx, engine: Engine, but: str) -> None:
    """Forfeit the account's overdue leases, except one owner's: the unspent rest counts as lost.

    Their workers may still be alive: all they can spend is booked at its worst now.
    """
    for lease in tx.leases():
        if lease.expires < tx.now and lease.owner != but:
            close(tx, engine, lease, "forfeited")


def close(tx: Tx, engine: Engine, lease: LeaseRow, how: str) -> None:
    """Close a lease: its rest is "returned" to the account, or "forfeited"."""
    left = lease.unspent
    posted, held = LEASES[how]
    payload = {"lease": lease.id, "unspent": left, "spent": lease.spent}
    entry = tx.append(
        f"lease.{how}", experiment=lease.experiment, payload=payload,
        d_posted=posted * left, d_held=held * left,
        config_version=engine.version(tx, lease.experiment, lease.epoch),
    )  # fmt: skip
    assert entry is not None
    engine.take(entry)
