"""What each kind of entry does to the row of its play or lease: the only legal transitions.

A play's are those of ``floors.events``, in the names that rows have for its states; a lease is open
until it is returned or forfeited. An entry that does not fit is a PlayConflict, so no reward
can be credited twice.
"""

from __future__ import annotations

import re
from typing import Any

from surefoot._exact import shown
from surefoot.errors import InvalidInput, PlayConflict
from surefoot.floors.events import TABLE, Event, State
from surefoot.live.entries import canonical, checked_amount, checked_text
from surefoot.live.store.base import LeaseRow, PlayRow

DECISIONS = frozenset({"decision.held", "decision.defaulted"})
LEASES = frozenset({"lease.granted", "lease.returned", "lease.forfeited"})

ID = r"[A-Za-z0-9_-]{1,64}"
_ID = re.compile(ID)
_OWN_ID = re.compile(r"p-[0-9]+")
NAMES = {
    Event.SETTLED: ("settled", "a reward"),
    Event.EXPIRED: ("expired", "an expiry"),
    Event.LATE: ("late", "a late reward"),
    Event.AS_DEFAULT: ("as_default", "a default played instead"),
    Event.CONFIRMED: ("confirmed", "a confirmation"),
    Event.VOIDED: ("voided", "a void"),
    Event.LAPSED: ("expired", "an expiry"),
    Event.VALUED: ("valued", "the value of the default"),
}
"""What a row calls the state that an event leads to, and what a message calls the event."""
STATES = {
    (role, name): state
    for role, explores in (("explore", True), ("default", False))
    for name, state in (
        ("open", State.OPEN),
        *(
            (NAMES[event][0], after)
            for (event, who, _), (after, _) in TABLE.items()
            if who is explores and event in NAMES
        ),
    )
}
"""The state of a play by its role and what its row calls it."""
LEGAL = {
    (event.value, role, name)
    for (role, name), state in STATES.items()
    for event in NAMES
    if (event, role == "explore", state) in TABLE and (event, name) != (Event.VALUED, "valued")
}
"""Which kind of entry may follow, by the role and state of the row; a default is valued once."""
MOVES = frozenset(event.value for event in (*NAMES, Event.ACKNOWLEDGED))
"""The kinds that move a play."""


def checked_id(value: Any, what: str) -> str:
    """An id of a play or lease: 1 to 64 of letters, digits, - and _; else InvalidInput."""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise InvalidInput(
            f"{what} = {shown(value)} must be 1 to 64 letters, digits, '-' or '_', e.g. 'order-17'"
        )
    return value


def checked_new_id(play: Any, what: str = "play") -> str:
    """The id a caller gives a play; InvalidInput if it could be one that the store gives."""
    own = checked_id(play, what)
    if _OWN_ID.fullmatch(own):
        raise InvalidInput(
            f"{what} = {own!r} is a name the store gives, to plays without one; choose another"
        )
    return own


def decided(play: str, experiment: str, seq: int, kind: str, payload: dict[str, Any]) -> PlayRow:
    """The row of a play as its decision fixes it."""
    explores = kind == "decision.held"
    low = payload.get("low" if explores else "value", 0)
    hold: Any = payload.get("hold") if explores else 0
    row = PlayRow(
        id=play,
        experiment=experiment,
        seq=seq,
        role="explore" if explores else "default",
        arm=payload.get("arm"),
        index=payload.get("index", -1),
        hold=hold,
        floor=payload.get("floor", 0),
        deposit=payload.get("deposit", 0),
        low=low,
        high=payload.get("high", low),
        request=payload.get("request"),
        deadline=payload.get("deadline"),
        lease=payload.get("lease"),
    )
    for name in ("index", "hold", "floor", "deposit", "low", "high"):
        checked_amount(getattr(row, name), name)
    if row.hold < 0:
        raise InvalidInput(f"hold = {row.hold} of play {play} must not be below 0")
    if row.deadline is not None:
        checked_amount(row.deadline, "deadline")
    if row.request is not None:
        checked_text(row.request, "request")
    return row


def moved(row: PlayRow, kind: str, payload: dict[str, Any]) -> PlayRow:
    """The row of a play after an entry of a kind of MOVES; PlayConflict if it cannot follow."""
    if kind == Event.ACKNOWLEDGED:
        if not row.capped:
            raise PlayConflict(f"play {row.id} is {row.state}: nothing above its range waits")
        return row._replace(capped=False)
    state, said = NAMES[Event(kind)]
    if (kind, row.role, row.state) not in LEGAL:
        raise PlayConflict(f"play {row.id} ({row.role}) is {row.state}: {said} cannot follow")
    if "reward" not in payload:
        return row._replace(state=state)
    return row._replace(
        state=state,
        reward=checked_amount(payload["reward"], "reward"),
        told=payload.get("told"),
        capped=payload.get("capped") is True,
    )


def leased(row: LeaseRow | None, kind: str, experiment: str, payload: dict[str, Any]) -> LeaseRow:
    """The row of a lease after its grant, return or forfeit."""
    lease = checked_id(payload.get("lease"), "lease")
    if kind == "lease.granted":
        if row is not None:
            raise PlayConflict(f"lease {lease} was granted before; give each lease its own id")
        row = LeaseRow(
            id=lease,
            experiment=experiment,
            owner=checked_text(payload.get("owner"), "owner"),
            epoch=checked_amount(payload.get("epoch"), "epoch"),
            amount=checked_amount(payload.get("amount"), "amount"),
            spent=0,
            expires=checked_amount(payload.get("expires"), "expires"),
        )
        if row.amount < 0:
            raise InvalidInput(f"amount = {row.amount} of lease {lease} must not be below 0")
        return row
    closed = kind.removeprefix("lease.")
    if row is None or row.state != "open":
        state = "unknown" if row is None else row.state
        raise PlayConflict(f"lease {lease} is {state}: it cannot be {closed}")
    if payload.get("unspent") != row.unspent:
        raise PlayConflict(
            f"lease {lease} has {row.unspent} unspent, not {canonical(payload.get('unspent'))}"
        )
    return row._replace(state=closed)


def drawn(row: LeaseRow | None, lease: str, hold: int) -> LeaseRow:
    """The row of a lease after an exploration under it; PlayConflict if too little is left."""
    if row is None:
        raise PlayConflict(f"lease {lease} was never granted")
    if row.unspent < hold:
        raise PlayConflict(f"lease {lease} is {row.state} with {row.unspent} left, below {hold}")
    return row._replace(spent=row.spent + hold)
