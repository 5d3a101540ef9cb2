"""What each kind of entry does to the row of its play or lease: the only legal transitions.

A play's are those of ``floors.events``, in the names that rows have for its states; a lease is open
until it is returned or forfeited. An entry that does not fit is a PlayConflict, so no reward
can be credited twice.
"""

from __future__ import annotations

from typing import Any

from surefoot.errors import InvalidInput, PlayConflict
from surefoot.floors import events
from surefoot.floors.events import TABLE, Event, State
from surefoot.live.entries import canonical, check_amounts, check_texts, checked_id
from surefoot.live.store.base import LeaseRow, PlayRow

DECISIONS = frozenset({Event.HELD.value, Event.DEFAULTED.value})
LEASES = frozenset(f"lease.{how}" for how in events.LEASES)

NAMES = {
    Event.REWARDED: ("settled", "a reward"),
    Event.MISSED: ("expired", "an expiry"),
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


def decided(play: str, experiment: str, seq: int, kind: str, payload: dict[str, Any]) -> PlayRow:
    """The row of a play as its decision fixes it."""
    explores = kind == "decision.held"
    low = payload.get("low" if explores else "value", 0)
    request, deadline = payload.get("request"), payload.get("deadline")
    amounts: dict[str, Any] = {
        "index": payload.get("index", -1), "hold": payload.get("hold") if explores else 0,
        "floor": payload.get("floor", 0), "deposit": payload.get("deposit", 0), "low": low,
        "high": payload.get("high", low),
    }  # fmt: skip
    check_amounts(amounts if deadline is None else {**amounts, "deadline": deadline})
    if amounts["hold"] < 0:
        raise InvalidInput(f"hold = {amounts['hold']} of play {play} must not be below 0")
    if request is not None:
        check_texts({"request": request})
    return PlayRow(
        play, experiment, seq, "explore" if explores else "default", payload.get("arm"), **amounts,
        request=request, deadline=deadline, lease=payload.get("lease"),
    )  # fmt: skip


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
    reward, capped = payload["reward"], payload.get("capped") is True
    check_amounts({"reward": reward})
    return row._replace(state=state, reward=reward, told=payload.get("told"), capped=capped)


def leased(row: LeaseRow | None, kind: str, experiment: str, payload: dict[str, Any]) -> LeaseRow:
    """The row of a lease after its grant, return or forfeit."""
    lease = checked_id(payload.get("lease"), "lease")
    if kind == "lease.granted":
        if row is not None:
            raise PlayConflict(f"lease {lease} was granted before; give each lease its own id")
        owner: Any = payload.get("owner")
        names = "epoch", "amount", "expires"
        amounts: dict[str, Any] = {name: payload.get(name) for name in names}
        check_texts({"owner": owner})
        check_amounts(amounts)
        if amounts["amount"] < 0:
            raise InvalidInput(f"amount = {amounts['amount']} of lease {lease} must not be below 0")
        return LeaseRow(lease, experiment, owner, spent=0, **amounts)
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
