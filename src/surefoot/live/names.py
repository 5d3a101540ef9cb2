"""What plays are called: by their callers, by the ledger, and where one id was given out twice.

Under leases two workers can be asked for one id before either knows of the other, and both answers
are out. So a play decided under a lease is called by its id and its lease, "visit-1.web-3f-12", and
a report says which of the two it is about: the reward of one credited to the other would overstate
the account. At the worker that decided it, the bare id means its own play, whatever others did.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from typing import Any

from surefoot.errors import PlayConflict
from surefoot.live.store.base import PlayRow

Reader = Callable[[str], PlayRow | None]
"""Finds a play by its name in the ledger."""


def called(play: str, told: dict[str, Any]) -> str:
    """What callers know a play by: its name in the ledger, and what its decision says.

    >>> called("visit-1", {}), called("visit-1", {"lease": "web-12"}), called("p-3", {})
    ('visit-1', 'visit-1.web-12', 'p-3')
    >>> called("web-12-1", {"lease": "web-12"})
    'web-12-1'
    >>> called(twin("visit-1", "web-12"), {"lease": "web-12", "asked": "visit-1"})
    'visit-1.web-12'
    """
    lease, own = told.get("lease"), told.get("asked", play)
    return own if lease is None or made(own, lease) else f"{own}.{lease}"


def made(play: str, lease: str | None) -> bool:
    """Whether a play was named after its lease, no caller having named it."""
    return lease is not None and play.startswith(f"{lease}-")


def unsaid(name: str, row: PlayRow) -> bool:
    """Whether a bare id may mean another play than this one: it was given out under a lease."""
    return "." not in name and row.lease is not None and not made(row.id, row.lease)


def given_twice(name: str, known: str) -> PlayConflict:
    """The error for a report of a bare id that may be two plays; ``known`` is one of them."""
    return PlayConflict(
        f"id = {name!r} was given out under a lease, so it may be two plays, and alone it says "
        "enough only to the worker that decided it; report the play that select() returned, or its "
        f"own id: play.id, e.g. {known!r}"
    )


def twin(own: str, lease: str) -> str:
    """The ledger's name of a play whose id it has for another one: 84 bits of a digest."""
    digest = hashlib.sha256(f"{lease} {own}".encode()).digest()
    return f"{lease}-{base64.urlsafe_b64encode(digest)[:14].decode()}"


def found(read: Reader, name: str) -> PlayRow | None:
    """The play that a caller names, if it is in the ledger; of a bare id, the play that has it."""
    own, _, lease = name.partition(".")
    row = read(own)
    if not lease or (row is not None and row.lease == lease):
        return row
    row = read(twin(own, lease))
    return row if row is not None and row.lease == lease else None
