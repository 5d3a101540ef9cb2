"""What each arm of one agent has paid, and what is sure of its mean at every moment.

A play feeds the odds sequence (``floors.odds``) of its arm in the order of the decisions, once all
earlier plays of that arm are closed. One that expired counts as the worst for either end, and what
it paid after all counts in the mean alone. Void plays and fall-backs are left out. So the choice of
the arm may depend on all rewards before; what must not be is that something else picks the plays:
once a play was given a context, ``allowed`` or a default of its own, there are no intervals.

Reports are only noted, and taken in many at a time: most of what a play costs is saved.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot._exact import fraction
from surefoot._types import JsonObject, Number
from surefoot.agents.play import Play, Reason
from surefoot.agents.uplift import Gain, waiting
from surefoot.floors.odds import Sequence
from surefoot.floors.protocol import is_ceiling

if TYPE_CHECKING:
    from surefoot.agents.agent import Agent

LAST = 1_000
"""The plays that ``ArmStanding.share`` is of."""
LIMIT, MOST = 1_024, 50_000
"""How many reports are noted before they are taken in; more where more plays are open."""
DISTINCT = 8_192
"""How many different rewards are counted before they are multiplied into the sequences."""
ARM_BITS = 32
"""The arm's number and 1 take so many bits of what is noted, the play's id those above."""
_ARM = (1 << ARM_BITS) - 1
BEHIND = 4_096
"""How many closed plays may wait behind an open one, and 4 more for each that is open."""
FORCED = frozenset({Reason.SLACK_SHORT, Reason.PAUSED, Reason.SAVING_UP, Reason.HOLDOUT})
"""Default plays that no context has picked."""
CONTEXTS = "contexts pick the plays"
ALLOWED = "allowed picks the plays"
DEFAULTS = "defaults of single plays pick them"
UNTOLD = "no reward of the default was told"
UNBOUNDED = "objective_range was not given"

DEFAULT, CHOSEN = -1, -2
"""The default where arms have their numbers, and by choice, where that is no draw of its mean."""
Row = tuple[int, int, int | None]
"""A closed play: its id, its arm, and what it paid in units; None: that never came."""


class ArmStanding(NamedTuple):
    """How one arm stands, see ``Agent.arms``."""

    arm: Any
    """As the user named it; None: the default."""
    plays: int
    """How many plays were made of it, open ones too."""
    open: int
    """How many of them wait for their reward."""
    told: int
    """How many rewards were told."""
    mean: float | None
    """The mean of those; None before the first."""
    share: float
    """Its share of the last 1,000 plays."""
    low: float | None
    """The interval that holds the arm's mean at every moment; None where there is none."""
    high: float | None
    why: str | None = None
    """Why there is no interval."""


class Paid:
    """What one arm has paid: how many rewards, their sum, and the plays without one."""

    __slots__ = ("lost", "told", "total")

    def __init__(self, told: int = 0, total: int = 0, lost: int = 0) -> None:
        self.told, self.total, self.lost = told, total, lost

    def take(self, x: int | None, count: int) -> None:
        """The same end of so many plays."""
        if x is None:
            self.lost += count
        else:
            self.told += count
            self.total += x * count


class Tally:
    """The evidence of one agent on its arms.

    Memory is bounded by the number of arms and of open plays.
    """

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high
        self.since = 0
        """The first play that feeds the sequences: they begin anew when the range changes."""
        self.moved = 0
        """The first play that feeds the default's: it begins anew when the default changes."""
        self.aside = False
        """Whether plays may come that count in the means alone; they are numbered below 0."""
        self.plain = False
        """Whether ids and arms are all that must be noted: plays that were kept would be work for
        Python's garbage collection."""
        self.told: list[int] = []
        self.mute: list[int] = []
        """Then the ids and arms of what was told, and of default plays reported without reward;
        both in one number, so that no interrupt leaves one without the other."""
        self.log: list[Play] = []
        """Plays that were told, not taken in yet."""
        self.untold: list[Play] = []
        """Default plays that were reported without a reward, not taken in yet."""
        self.limit = LIMIT
        self.ended: list[Row] = []
        """Plays that expired, not taken in yet."""
        self.lost = set[int]()
        """Plays that count as lost and may still be told."""
        self.behind: list[Row] = []
        """Closed plays of arms of which an earlier one is open."""
        self.pending: Counter[tuple[int, int | None]] = Counter()
        """How often which arm paid what, of plays that feed."""
        self.paid: dict[int, Paid] = {}
        self.sequences: dict[int, Sequence] = {}
        self.recent: list[tuple[list[int], list[int]]] = []
        """Ids and arms of closed plays, as they were taken in; the last plays are among them."""
        self.picked: str | None = None
        self.gain: Gain | None = None
        """The books of the uplift, of an agent with a holdout."""
        self.ended_plays: list[Play] = []
        """Of such an agent the plays that expired or fell back, not taken in yet."""

    def pick(self, agent: Agent, context: Any, allowed: Any) -> None:
        """A play was given a context, some arms only, or a default of its own."""
        if self.picked is None:
            self.fold(agent)  # what was told before was picked by nothing
            self.plain = False
            given = CONTEXTS if context is not None else ALLOWED if allowed is not None else None
            self.picked = given or DEFAULTS

    def note(self, agent: Agent, play: Play, told: bool) -> None:
        """A play was reported, and is open no longer."""
        noted: list[Any]
        if self.plain:
            noted = self.told if told else self.mute
            noted.append((play.id << ARM_BITS) + play.index + 1)
        else:
            noted = self.log if told else self.untold
            noted.append(play)
        if len(noted) >= self.limit:
            self.fold(agent)

    def lose(self, agent: Agent, play: Play, again: bool = True) -> None:
        """A play expired; ``again``: whether it stays open, else ``late`` tells what it paid."""
        place = self._place(agent, play)
        if not again:
            self.recent.append(([play.id], [place]))
        if play.id in self.lost:  # it counts as lost already
            if not again:
                self.lost.discard(play.id)
            return
        self.ended.append((play.id, place, None))
        if again:
            self.lost.add(play.id)
        if self.gain is not None:
            self.ended_plays.append(play)

    def late(self, place: int, paid: int | None) -> None:
        """What a play that expired paid after all: only the mean takes it; None: it was void."""
        of = self._paid(place)
        of.lost -= 1
        if paid is not None:
            of.take(paid, 1)

    def valued(self, number: int, paid: int) -> None:
        """What a default play paid was told after its report, by which it counts as lost."""
        if number >= self.since:
            self.late(DEFAULT, paid)

    def leave_out(self, play: Play, void: bool) -> None:
        """A play was void, or the default was played in its place."""
        self.lost.discard(play.id)
        if play.index < 0 and not void:
            if self.plain:
                self.mute.append((play.id << ARM_BITS) + play.index + 1)
            else:
                self.untold.append(play)
        elif self.gain is not None and not void:
            self.ended_plays.append(play)

    def fold(self, agent: Agent) -> None:
        """Take in what was noted."""
        plays = agent.books.plays
        if self.plain:
            noted = self.told + self.mute
            numbers = [one >> ARM_BITS for one in noted]
            places = [(one & _ARM) - 1 for one in noted]
            paid = plays.rewards(numbers[: len(self.told)]) + [None] * len(self.mute)
            self.told, self.mute = [], []
        else:
            numbers, places, paid = self._of_plays(agent)
        if numbers:
            self.recent.append((numbers, places))
        bound = plays.next_id - LAST
        self.recent = [part for part in self.recent if max(part[0]) >= bound]
        waits = self.ended or self.lost or self.behind or agent.open_plays
        if waits or self.since or self.aside:
            self._in_order(agent, zip(numbers, places, paid, strict=True))
        else:
            self.pending.update(zip(places, paid, strict=True))
        if len(self.pending) > DISTINCT:
            self._settle()
        self.limit = min(max(LIMIT, len(agent.open_plays)), MOST)

    def _measure(self, agent: Agent, gain: Gain, noted: Iterable[tuple[Play, int | None]]) -> None:
        """Take in plays for the uplift; one that counted as lost counts no more."""
        rows = [gain.row(play, None) for play in self.ended_plays]
        rows += [gain.row(play, x) for play, x in noted if play.id not in self.lost]
        self.ended_plays.clear()
        gain.take(rows, waiting(agent, self.lost), BEHIND + 4 * len(agent.open_plays))

    def _of_plays(self, agent: Agent) -> tuple[list[int], list[int], list[int | None]]:
        """Ids, arms and rewards of the plays that were noted."""
        log = self.log + self.untold
        numbers = [play.id for play in log]
        places = [self._place(agent, play) for play in log]
        told = agent.books.plays.rewards(numbers[: len(self.log)])
        paid = told + [None] * len(self.untold)
        self.log.clear()
        self.untold.clear()
        if self.gain is not None:
            self._measure(agent, self.gain, zip(log, paid, strict=True))
        return numbers, places, paid

    def _place(self, agent: Agent, play: Play) -> int:
        """The arm's number; the default's where something else may have picked it is another."""
        if play.index >= 0:
            return play.index if agent.labels else 0
        if play.id < self.moved:
            return CHOSEN
        if self.picked is None or (play.reason in FORCED and agent.floor.default is not None):
            return DEFAULT
        return CHOSEN

    def _feeding(self, news: Iterable[Row]) -> Iterator[Row]:
        """Of new rows those that feed; the mean alone takes what the others paid."""
        for row in news:
            late = row[0] in self.lost and row[2] is not None
            if late:  # it counted as lost
                self.lost.discard(row[0])
                self._paid(row[1]).lost -= 1
            if late or row[0] < self.since:
                self._paid(row[1]).take(row[2], 1)
            else:
                yield row

    def _in_order(self, agent: Agent, noted: Iterable[Row]) -> None:
        """Take in rows of arms of which some play may be open, or may have been counted lost."""
        news: Iterable[Row] = chain(self.ended, noted)
        if self.lost or self.since or self.aside:  # else each feeds
            news = self._feeding(news)
        rows = [*self.behind, *news]
        self.ended.clear()
        rows.sort(key=itemgetter(0))
        heads = self._heads(agent)
        excess = len(rows) - BEHIND - 4 * len(heads)
        if excess > 0:
            given_up = [row for row in heads if row[0] < rows[excess][0]]
            self.lost.update(number for number, _ in given_up)
            if self.gain is not None:
                self.ended_plays += [agent.open_plays[number][0] for number, _ in given_up]
            rows += [(number, place, None) for number, place in given_up]
            rows.sort(key=itemgetter(0))
            heads = heads[len(given_up) :]
        first = {place: number for number, place in reversed(heads)}
        self.behind = [row for row in rows if row[0] >= first.get(row[1], math.inf)]
        self.pending.update(row[1:] for row in rows if row[0] < first.get(row[1], math.inf))

    def _heads(self, agent: Agent) -> list[tuple[int, int]]:
        """The plays that others may have to wait for: id and arm, in the order of decisions."""
        return [
            (number, self._place(agent, play))
            for number, (play, _) in agent.open_plays.items()
            if number >= self.since and number not in self.lost
        ]

    def _paid(self, place: int) -> Paid:
        return self.paid.setdefault(place, Paid())

    def _settle(self) -> None:
        """Multiply what was counted into the sequences."""
        for place, counts in self.by_arm().items():
            for x, count in counts.items():
                self._paid(place).take(x, count)
            if place != CHOSEN:
                self.sequences.setdefault(place, Sequence(self.low, self.high)).take_counts(counts)
        self.pending.clear()

    def by_arm(self) -> dict[int, dict[int | None, int]]:
        """What is pending: how often each arm paid what."""
        counted: dict[int, dict[int | None, int]] = {}
        for (place, x), count in self._sorted():  # products round by the order of their factors
            counted.setdefault(place, {})[x] = count
        return counted

    def last(self, agent: Agent) -> dict[int, int]:
        """The arm of each closed play among the last ones."""
        bound = agent.books.plays.next_id - LAST
        rows = chain.from_iterable(zip(*part, strict=True) for part in self.recent)
        return {number: place for number, place in rows if number >= bound}

    def restart(self, agent: Agent) -> None:
        """The range of rewards changed: the sequences begin anew with the plays to come."""
        self.fold(agent)
        self._settle()
        for _, place, x in self.behind:
            self._paid(place).take(x, 1)
        self.behind = []
        self.sequences.clear()
        self.low, self.high = agent.books.low, agent.books.high
        self.since = agent.books.plays.next_id
        if self.gain is not None:
            self.gain = Gain(self.low, self.high, self.since)

    def move_default(self, agent: Agent) -> None:
        """The default changes: its sequence begins anew with the plays to come."""
        self.fold(agent)
        self._settle()
        self.plain = False
        self.sequences.pop(DEFAULT, None)
        self.behind = [
            (number, CHOSEN if place == DEFAULT else place, x) for number, place, x in self.behind
        ]
        self.moved = agent.books.plays.next_id

    def standings(self, agent: Agent, delta: Fraction) -> tuple[ArmStanding, ...]:
        """One row for each arm, and one for the default where it was played."""
        self.fold(agent)
        view = _View(self, agent, delta)
        rows = [view.standing(number, label) for number, label in enumerate(agent.labels)]
        if agent.books.default_plays:
            rows.append(view.standing(DEFAULT, None))
        return tuple(rows)

    def state(self, agent: Agent) -> JsonObject:
        """JSON-able state; takes in what was noted."""
        self.fold(agent)
        return self.kept(agent)

    def _sorted(self) -> list[tuple[tuple[int, int | None], int]]:
        return sorted(
            self.pending.items(), key=lambda row: (row[0][0], row[0][1] is None, row[0][1] or 0)
        )

    def kept(self, agent: Agent) -> JsonObject:
        """JSON-able state of what was taken in."""
        return {
            "range": [self.low, self.high, self.since],
            "lost": sorted(self.lost),
            "behind": [list(row) for row in self.behind],
            "pending": [[*key, count] for key, count in self._sorted()],
            "paid": [[k, one.told, one.total, one.lost] for k, one in sorted(self.paid.items())],
            "sequences": [[k, one.state()] for k, one in sorted(self.sequences.items())],
            "recent": _run(self.last(agent)),
            "picked": self.picked,
            **({"moved": self.moved} if self.moved else {}),
            **({} if self.gain is None else {"gain": self.gain.state()}),
        }

    @classmethod
    def restored(cls, state: JsonObject) -> Tally:
        """The inverse of ``state``."""
        low, high, since = state["range"]
        tally = cls(low, high)
        tally.since = since
        tally.lost = set(state["lost"])
        tally.behind = [(number, place, x) for number, place, x in state["behind"]]
        tally.pending = Counter({(place, x): count for place, x, count in state["pending"]})
        tally.paid = {place: Paid(*numbers) for place, *numbers in state["paid"]}
        tally.sequences = {place: Sequence.restored(one) for place, one in state["sequences"]}
        first, run = state["recent"]
        made = [(first + i, place) for i, place in enumerate(run) if place is not None]
        tally.recent = [([n for n, _ in made], [place for _, place in made])] if made else []
        tally.picked, tally.moved = state["picked"], state.get("moved", 0)
        if "gain" in state:
            tally.gain = Gain.restored(state["gain"])
        return tally


def _run(places: dict[int, int]) -> list[Any]:
    """The arms of plays as a list from the first of them on; None: not known, or void."""
    first, end = min(places, default=0), max(places, default=-1) + 1
    return [first, [places.get(number) for number in range(first, end)]]


class _View:
    """What is read from a tally at one moment."""

    def __init__(self, tally: Tally, agent: Agent, delta: Fraction) -> None:
        self.tally, self.agent, self.delta = tally, agent, delta
        self.unit = Fraction(agent.floor.unit.decimal(1))
        self.counts = tally.by_arm()
        self.paid: defaultdict[int, Paid] = defaultdict(Paid)
        """What each arm has paid, plays that feed no sequence yet counted in."""
        for place, past in tally.paid.items():
            paid = self.paid[max(place, DEFAULT)]
            paid.told, paid.total = paid.told + past.told, paid.total + past.total
            paid.lost += past.lost
        for place, counts in self.counts.items():
            for x, count in counts.items():
                self.paid[max(place, DEFAULT)].take(x, count)
        for _, place, x in tally.behind:
            self.paid[max(place, DEFAULT)].take(x, 1)
        self.waits = Counter(
            max(tally._place(agent, play), DEFAULT)
            for number, (play, _) in agent.open_plays.items()
            if number not in tally.lost
        )
        bound = agent.books.plays.next_id - LAST
        made = tally.last(agent)
        for number, (play, _) in agent.open_plays.items():
            if number >= bound:
                made[number] = play.index
        self.window = Counter(max(place, DEFAULT) for place in made.values())
        self.made = len(made) or 1

    def standing(self, place: int, label: Any) -> ArmStanding:
        """The row of one arm."""
        paid, unit = self.paid[place], self.unit
        mean = float(Fraction(paid.total, paid.told) * unit) if paid.told else None
        why, low, high = self._why(place, paid), None, None
        if why is None:
            below, above = self._sequence(place).ends(self.delta / 2, self.delta / 2)
            low, high = float(below * unit), float(above * unit)
        if is_ceiling(self.agent.floor):  # of costs, and not of what is spared
            mean = None if mean is None else 0.0 - mean
            low, high = (None, None) if low is None or high is None else (0.0 - high, 0.0 - low)
        waits = self.waits[place]
        return ArmStanding(
            label, paid.told + paid.lost + waits, waits, paid.told, mean,
            self.window[place] / self.made, low, high, why,
        )  # fmt: skip

    def _why(self, place: int, paid: Paid) -> str | None:
        """Why an arm has no interval; None: it has one."""
        if not getattr(self.agent.floor, "bounded", True):
            return UNBOUNDED
        if place != DEFAULT:
            return self.tally.picked
        if self.agent.floor.default is None:
            return DEFAULTS
        return None if paid.told else UNTOLD

    def _sequence(self, place: int) -> Sequence:
        tally = self.tally
        kept = tally.sequences.get(place)
        sequence = Sequence(tally.low, tally.high) if kept is None else kept.copied()
        sequence.take_counts(self.counts.get(place, {}))
        return sequence


def checked_delta(delta: Number) -> Fraction:
    """The probability with which a statement may fail, if it is one."""
    hint = "it is the probability with which an interval may fail, e.g. 0.05"
    return fraction(delta, "delta", hint, Fraction)
