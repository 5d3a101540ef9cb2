"""The life of a play as one table: what each report does to it, to the money and to the counts.

    exploration   open -> settled | expired | void | fell back        expired -> settled, once
    default       open -> settled | void | expired                    expired -> settled | void

A default play expires if no report comes in time; its money stays as it was while open.
A reward above the declared range settles as "capped" until an operator acknowledges it. A report
that repeats what is booked changes nothing; one that contradicts it is refused.

``step`` says it all, over plain values: it has no clock, no store and no memory. The books and the
live agent call it; ``stands`` says what a play adds to the account in each state, so the account is
the sum of its plays at every moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple


class State(StrEnum):
    """Where a play stands."""

    OPEN = "open"
    SETTLED = "settled"
    CAPPED = "capped"
    EXPIRED = "expired"
    VOID = "void"
    FELL_BACK = "fell_back"

    __hash__ = str.__hash__  # an enumeration's own is a function of Python's, on every play's way


OPEN, SETTLED, CAPPED, EXPIRED, VOID, FELL_BACK = State
# Names of a module, as the books are on every play's way: before Python 3.12 ``State.OPEN`` takes
# longer than what is then done with it.


class Outcome(StrEnum):
    """What a report did to the books."""

    BOOKED = "booked"
    BOOKED_LATE = "booked_late"
    BREACH = "breach"
    CAPPED = "capped"
    REPEATED = "repeated"
    IGNORED = "ignored"


BOOKED = Outcome.BOOKED


class Event(StrEnum):
    """What can happen to a play; the entries of a ledger have these kinds."""

    HELD = "decision.held"
    DEFAULTED = "decision.defaulted"
    REWARDED = "outcome.settled"
    MISSED = "outcome.expired"
    LATE = "outcome.late"
    VOIDED = "decision.voided"
    AS_DEFAULT = "outcome.as_default"
    CONFIRMED = "decision.confirmed"
    VALUED = "default.valued"
    LAPSED = "default.expired"
    ACKNOWLEDGED = "breach.acknowledged"

    __hash__ = str.__hash__


(
    HELD, DEFAULTED, REWARDED, MISSED, LATE, VOIDED, AS_DEFAULT, CONFIRMED, VALUED, LAPSED,
    ACKNOWLEDGED,
) = Event  # fmt: skip

SETTLE, EXPIRE, LAPSE = "settle", "expire", "lapse"
CANCEL, FALL_BACK, ACKNOWLEDGE = "void", "fall_back", "acknowledge"
REPORTS = (SETTLE, EXPIRE, LAPSE, CANCEL, FALL_BACK, ACKNOWLEDGE)
"""What can be reported of a play. To lapse is to expire where default plays can expire, too."""


class Terms(NamedTuple):
    """What one play is worth to the books, fixed when it is decided; integers of the unit.

    A default play counts as ``value``. Where the default is only known to lie in an interval, that
    is l until its reward x is known, and then x, but no more than u. Such a play then posts what it
    gives up, ``e(x) = (lost*|x| + extra) / whole``, or x - f against a fixed level.
    """

    value: int
    """The known value of the default at this play; the l of an interval."""
    floor: int
    """f: what this play must earn for the promise, rounded up."""
    hold: int
    """The most an exploration can lose: max(0, f - r_min), or a mean-variance account's risk."""
    deposit: int
    """What a reported default play adds, rounded down."""
    high: int | None = None
    """The u of an interval; None for a default of known value."""
    lost: int = 0
    """alpha, in parts of ``whole``; 0 where the default's value is known."""
    whole: int = 1
    extra: int = 0
    """The margin, in parts of ``whole``."""
    fixed: bool = False
    """Whether an interval's plays are held against a level, not against the default's draws."""

    @classmethod
    def of(cls, row: Sequence[Any]) -> Terms:
        """Terms as they were written down.

        Rows of seven are of releases that had no margin and wrote a fixed level as a share of one.

        >>> Terms.of([40, 30, 30, 10, 60, 1, 1]).fixed
        True
        """
        fixed = len(row) == 7 and row[4] is not None and row[5] == row[6]
        terms: Terms = cls._make((*row, 0, fixed) if len(row) == 7 else row)
        return terms

    def paid(self, reward: int | None) -> tuple[int, int]:
        """What a default play that paid ``reward`` posts, and what it had to earn.

        None: it was played, and what it paid is not known (yet).

        >>> Terms(40, 30, 30, 20, high=60, lost=1, whole=2).paid(50)
        (25, 25)
        """
        low, high = self.value, self.high
        if high is None:
            return self.deposit, self.floor
        if reward is None:
            return self.deposit, low - self.deposit
        counted = min(reward, high)
        if self.fixed:
            return counted - self.floor, self.floor
        # Outside l..u no more is given up than at the nearer end.
        posted = min(self.given_up(reward), self.given_up(max(counted, low)))
        return posted, counted - posted

    @property
    def mean(self) -> int | None:
        """The mean of a learned default for which these are the terms; None: it is known."""
        return self.floor + self.deposit if self.high is None and self.whole > 1 else None

    def given_up(self, reward: int) -> int:
        """e of a draw, rounded down; below an interval from l >= 0 its line goes on."""
        size = reward if self.value >= 0 else abs(reward)
        return (self.lost * size + self.extra) // self.whole

    def __repr__(self) -> str:
        cut = 4 if self.high is None else None if self.extra or self.fixed else 7
        return f"Terms({', '.join(f'{name}={getattr(self, name)}' for name in self._fields[:cut])})"


@dataclass(slots=True)
class Record:
    """One play as books remember it: what ``step`` needs to judge its next report."""

    explores: bool
    terms: Terms
    state: State = OPEN
    reward: int | None = None
    """The reported reward in units, as it was before any capping; None if none was reported."""
    drawn: bool = False
    """Whether its default's own draw is expected, which differs from the known value."""


Counts = tuple[tuple[str, int], ...]
"""By how much which counters of the books change."""


class Row(NamedTuple):
    """What an event makes of a play, and which plays it counts."""

    after: State
    counts: Counts = ()


TABLE: dict[tuple[Event, bool, State | None], Row] = {
    (HELD, True, None): Row(OPEN, (("explorations", 1), ("pending", 1))),
    (DEFAULTED, False, None): Row(OPEN, (("default_plays", 1), ("unreported", 1))),
    (REWARDED, True, OPEN): Row(SETTLED, (("pending", -1),)),
    (MISSED, True, OPEN): Row(EXPIRED, (("pending", -1), ("expired", 1))),
    (LATE, True, EXPIRED): Row(SETTLED),
    (VOIDED, True, OPEN): Row(VOID, (("pending", -1), ("explorations", -1), ("voided", 1))),
    (VOIDED, False, OPEN): Row(VOID, (("unreported", -1), ("default_plays", -1), ("voided", 1))),
    (VOIDED, False, EXPIRED): Row(VOID, (("default_plays", -1), ("voided", 1))),
    (AS_DEFAULT, True, OPEN): Row(
        FELL_BACK, (("pending", -1), ("explorations", -1), ("default_plays", 1))
    ),
    (CONFIRMED, False, OPEN): Row(SETTLED, (("unreported", -1),)),
    (CONFIRMED, False, EXPIRED): Row(SETTLED),
    (VALUED, False, SETTLED): Row(SETTLED),
    (VALUED, True, FELL_BACK): Row(FELL_BACK),
    (LAPSED, False, OPEN): Row(EXPIRED, (("unreported", -1),)),
    (ACKNOWLEDGED, True, CAPPED): Row(SETTLED),
}
"""By event, whether the play explores, and the state it is in (None: not decided yet)."""


class Move(NamedTuple):
    """What a report comes to: the play and the counts after it, and by how much the money moves."""

    outcome: Outcome | None
    """None: it contradicts what is booked, and nothing changes."""
    event: Event | None
    """None: nothing happened to the play."""
    explores: bool
    state: State
    reward: int | None
    posted: int = 0
    held: int = 0
    required: int = 0
    """What had to be earned for it, as far as this event says so."""
    counts: Counts = ()


LEASES = {"granted": (0, 1), "returned": (0, -1), "forfeited": (-1, -1)}
"""What becomes of a lease moves posted and held by so many times its amount, or what is left."""


def decided(explores: bool, terms: Terms) -> Move:
    """What a decision comes to: an exploration is held for, a default is credited when reported."""
    event = HELD if explores else DEFAULTED
    after, counts = TABLE[event, explores, None]
    _, held, _ = stands(explores, terms, after, None, 0)
    return Move(BOOKED, event, explores, after, None, 0, held, 0, counts)


def stands(
    explores: bool, terms: Terms, state: State, reward: int | None, high: int
) -> tuple[int, int, int]:
    """What a play adds to posted and held, and what it had to earn; ``high``: r_max in units.

    >>> terms = Terms(value=7, floor=6, hold=5, deposit=1)
    >>> stands(True, terms, OPEN, None, 10), stands(True, terms, SETTLED, 8, 10)
    ((0, 5, 0), (2, 0, 6))
    """
    if state is OPEN:
        return 0, terms.hold if explores else 0, 0
    if state is VOID or (state is EXPIRED and not explores):
        return 0, 0, 0
    if state is EXPIRED:
        return -terms.hold, 0, terms.floor
    if state is FELL_BACK or not explores:
        posted, required = terms.paid(reward)
        return posted, 0, required
    assert reward is not None
    return (high if state is CAPPED else reward) - terms.floor, 0, terms.floor


def step(
    play: Record,
    report: str,
    reward: int | None = None,
    low: int = 0,
    high: int = 0,
    caps: bool = True,
) -> Move:
    """What a report of a play comes to; total: every report of every play has an answer.

    ``report``: one of ``REPORTS``; ``reward`` in units, of ``settle`` alone. ``low`` and ``high``:
    the range the play was decided with. ``caps``: whether a reward above it counts as ``high`` for
    now; else it is a breach.

    >>> play = Record(True, Terms(value=7, floor=6, hold=5, deposit=1))
    >>> move = step(play, "settle", 8, low=1, high=10)
    >>> move.event.value, move.posted, move.held, move.required
    ('outcome.settled', 2, -5, 6)
    """
    explores, state = play.explores, play.state
    waits = state is OPEN or (state is EXPIRED and not explores)
    if report == SETTLE or (report == FALL_BACK and not explores):
        if explores and (state is not FELL_BACK or play.terms.high is None):
            return _rewarded(play, reward, low, high, caps)
        return _played(play, reward, waits, high)
    if report == FALL_BACK:
        if waits:
            return _moved(play, AS_DEFAULT, None, high)
        return _stays(play, Outcome.REPEATED if state is FELL_BACK else None)
    if report == CANCEL:
        if waits:
            return _moved(play, VOIDED, None, high)
        if state is EXPIRED:
            return _stays(play, None)
        return _stays(play, Outcome.REPEATED if state is VOID else Outcome.IGNORED)
    if report == ACKNOWLEDGE:
        if state is CAPPED:
            return _moved(play, ACKNOWLEDGED, play.reward, high)
        return _stays(play, Outcome.IGNORED if state is SETTLED else None)
    if state is OPEN and (explores or report == LAPSE):
        return _moved(play, MISSED if explores else LAPSED, None, high)
    return _stays(play, Outcome.REPEATED if state is EXPIRED else Outcome.IGNORED)


def _rewarded(play: Record, reward: int | None, low: int, high: int, caps: bool) -> Move:
    """The reward of an exploration."""
    state = play.state
    if reward is None or (state is not OPEN and state is not EXPIRED):
        same = reward is not None and state in (SETTLED, CAPPED) and play.reward == reward
        return _stays(play, Outcome.REPEATED if same else None)
    late = state is EXPIRED
    event = LATE if late else REWARDED
    if caps and reward > high:
        return _moved(play, event, reward, high, Outcome.CAPPED, "capped")
    if not low <= reward <= high:
        return _moved(play, event, reward, high, Outcome.BREACH, "breaches")
    return _moved(play, event, reward, high, Outcome.BOOKED_LATE if late else BOOKED)


def _played(play: Record, reward: int | None, waits: bool, high: int) -> Move:
    """The report that the default was played; what it paid may be told now, later or never."""
    known, terms = play.reward, play.terms
    if play.state is VOID or (reward is not None and known is not None and reward != known):
        return _stays(play, None)
    told = reward is not None and known is None
    if terms.high is None:
        off = "mismatches" if told and reward != terms.value and not play.drawn else None
        if waits:
            return _moved(play, CONFIRMED, reward, high, BOOKED, off)
        counts = () if off is None else ((off, 1),)
        return _stays(play, Outcome.REPEATED, reward if told else known, counts)
    if not (waits or told):
        return _stays(play, Outcome.REPEATED)
    event = CONFIRMED if waits else VALUED
    if reward is None or terms.value <= reward <= terms.high:
        return _moved(play, event, reward, high)
    return _moved(play, event, reward, high, Outcome.BREACH, "breaches")


def _moved(
    play: Record,
    event: Event,
    reward: int | None,
    high: int,
    outcome: Outcome = BOOKED,
    flag: str | None = None,
) -> Move:
    """An event happens: the money moves by what the play adds after it and did not before."""
    explores, terms = play.explores, play.terms
    after, counts = TABLE[event, explores, play.state]
    if flag is not None:
        counts = (*counts, (flag, 1))
        after = CAPPED if flag == "capped" else after
    posted, held, required = stands(explores, terms, after, reward, high)
    was_posted, was_held, was_required = stands(explores, terms, play.state, play.reward, high)
    return Move(
        outcome, event, explores, after, reward,
        posted - was_posted, held - was_held, required - was_required, counts,
    )  # fmt: skip


def _stays(
    play: Record, outcome: Outcome | None, reward: int | None = None, counts: Counts = ()
) -> Move:
    """Nothing happens to the play; a reward it had no word of is remembered."""
    reward = play.reward if reward is None else reward
    return Move(outcome, None, play.explores, play.state, reward, counts=counts)


def counts_of(kind: str, explores: bool, lapsed: bool = False) -> Counts:
    """What an entry of a ledger counts; ``explores``: its play, ``lapsed``: a default that was.

    >>> counts_of("decision.voided", explores=False)
    (('unreported', -1), ('default_plays', -1), ('voided', 1))
    >>> counts_of("lease.granted", explores=False)
    ()
    """
    return _COUNTS.get((kind, explores, lapsed), ())


_COUNTS = {
    (str(event), role, before is EXPIRED and not explores): counts
    for (event, explores, before), (_, counts) in reversed(TABLE.items())
    for role in ((explores,) if event is VOIDED else (True, False))
}
