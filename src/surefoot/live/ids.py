"""The ids of plays: callers' ids, the ledger's ids, and ids that two workers gave out.

Under leases two workers can answer one id before either knows of the other. So a play decided
under a lease is called by its id and its lease, "visit-1.web-3f-12", and a report names one of the
two: a reward credited to the other play would overstate the account. At the worker that decided
it, the bare id means its own play.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable

from surefoot._exact import shown
from surefoot._types import JsonObject
from surefoot.errors import PlayConflict, UnknownPlay
from surefoot.live.entries import ID
from surefoot.live.store.base import PlayRow

Reader = Callable[[str], PlayRow | None]
"""Finds a play by its id in the ledger."""
REPORTED = re.compile(rf"{ID}(\.{ID})?")
"""The id of a play in a report."""


def reported_id(play: str) -> str:
    """The id of a play that is reported; UnknownPlay for an invalid id."""
    if not isinstance(play, str) or not REPORTED.fullmatch(play):
        raise UnknownPlay(
            f"play {shown(play)} is not a play of a live agent; report the play that select() "
            "returned, or its id, a string"
        )
    return play


def public_id(play: str, payload: JsonObject) -> str:
    """The id by which callers know a play, from its id in the ledger and its decision.

    >>> public_id("visit-1", {}), public_id("visit-1", {"lease": "web-12"}), public_id("p-3", {})
    ('visit-1', 'visit-1.web-12', 'p-3')
    >>> public_id("web-12-1", {"lease": "web-12"})
    'web-12-1'
    >>> public_id(twin_id("visit-1", "web-12"), {"lease": "web-12", "asked": "visit-1"})
    'visit-1.web-12'
    """
    lease, own = payload.get("lease"), payload.get("asked", play)
    return own if lease is None or named_by_lease(own, lease) else f"{own}.{lease}"


def named_by_lease(play: str, lease: str | None) -> bool:
    """Whether a play was named after its lease, because its caller gave no id."""
    return lease is not None and play.startswith(f"{lease}-")


def leased_by(lease: str | None, owner: str) -> bool:
    """Whether this is a lease of that owner."""
    return lease is not None and lease.rpartition("-")[0] == owner


def ambiguous(name: str, row: PlayRow) -> bool:
    """Whether a bare id may mean two plays, as this one was decided under a lease."""
    return "." not in name and row.lease is not None and not named_by_lease(row.id, row.lease)


def given_twice(name: str, known: str) -> PlayConflict:
    """The error for a report of a bare id that may be two plays; ``known`` is one of them."""
    return PlayConflict(
        f"id = {name!r} was given out under a lease, so it may be two plays, and alone it says "
        "enough only to the worker that decided it; report the play that select() returned, or its "
        f"own id: play.id, e.g. {known!r}"
    )


def other_request(own: str) -> PlayConflict:
    """The error for an id that was given out for another request."""
    return PlayConflict(
        f"id = {own!r} was given out for another request; the same id gets the same "
        "play only for the same context, allowed and default"
    )


def twin_id(own: str, lease: str) -> str:
    """The ledger's id of a play whose own id is taken: 84 bits of a digest."""
    digest = hashlib.sha256(f"{lease} {own}".encode()).digest()
    return f"{lease}-{base64.urlsafe_b64encode(digest)[:14].decode()}"


def find(read: Reader, name: str) -> PlayRow | None:
    """The play that a caller names, if it is in the ledger; of a bare id, the play that has it."""
    own, _, lease = name.partition(".")
    row = read(own)
    if not lease or (row is not None and row.lease == lease):
        return row
    row = read(twin_id(own, lease))
    return row if row is not None and row.lease == lease else None
