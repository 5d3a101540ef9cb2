"""The books of a floor whose default is learned: the account at every mean, and what feeds it."""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from surefoot._types import JsonObject
from surefoot.errors import InvalidInput, PlayConflict
from surefoot.floors.events import (
    BOOKED,
    EXPIRE,
    LAPSE,
    LAPSED,
    VOID,
    Move,
    Outcome,
    Record,
    Terms,
)
from surefoot.floors.feed import LOST, UNTOLD, Fed, Feed
from surefoot.floors.learned import (
    LATTICE,
    Curve,
    LearnedDefault,
    Start,
    curve_now,
    curve_of,
    own_default,
    start_of,
)
from surefoot.floors.learned_account import NOTHING, LearnedAccount, Sums, counted
from surefoot.floors.odds import Odds, Sequence
from surefoot.floors.plays import Plays
from surefoot.floors.reward_books import RewardBooks

if TYPE_CHECKING:
    from surefoot.floors.general import GeneralFloor

REVALUED, REFUTED = "default.revalued", "default.refuted"
NEWS = 1_000
"""How many of the latest events are kept."""
BEHIND = 100_000
"""So many default plays wait behind one that is not told; then it counts as never told."""


class News(NamedTuple):
    """What happened to a learned default, apart from what was reported of a single play."""

    event: str
    """default.revalued, default.refuted or default.expired."""
    n: int
    """After so many plays were fed."""
    end: int | None = None
    """Where the end is now that moved, in units of the books."""
    play: int | None = None
    """The default play that counts as never told."""


class LearnedMove(Move):
    """What a report comes to, as a move of the sums and of the sequence."""

    play: int
    curve: Curve
    before: Sums
    after: Sums
    fed: Fed
    """What a default play is known to have paid by this report."""


class LearnedBooks(RewardBooks):
    """The books of a floor with a ``LearnedDefault``.

    The gate asks at each end in use; a report moves the account at every mean, by what it adds to
    the sums; when the odds sequence refutes an end it moves inward, and all that was ever decided
    is valued there. ``decide`` is told whether a default play feeds the sequence.
    """

    account: LearnedAccount  # type: ignore[assignment]
    floor: GeneralFloor
    _given_up: int = 0
    """What was forfeited at every mean alike."""
    feeder: ClassVar[type[Feed]] = Feed

    def __init__(self, floor: GeneralFloor, account: LearnedAccount, plays: Plays) -> None:
        super().__init__(floor, account, plays)  # type: ignore[arg-type]
        self.learns = True
        self.first = 0
        """The first play under this default; what was decided before moves the account no more."""
        self.unbounded = False
        """Whether a default play paid what is outside the range, which bounds no probability."""
        self.news = deque[News](maxlen=NEWS)
        self._begin()

    @classmethod
    def opened(cls, floor: GeneralFloor, keep: int) -> Self:
        """Fresh books; ``keep``: closed plays remembered."""
        reserve = floor.unit.floor(floor.reserve)
        return cls(floor, LearnedAccount(reserve, ()), Plays(keep))

    def _begin(self) -> None:
        """Start the sequence of the floor's default, with the ends where it says."""
        self.start = start_of(self.floor)
        self.feed: Feed | None = self.feeder(Sequence(self.low, self.high))
        """None once the interval was empty: nothing is learned any more."""
        self.ends = self.start.low, self.start.high
        self._look_at()

    def _look_at(self) -> None:
        """Let the account be asked at the ends in use.

        What was carried over below 0 leaves A(0) there; then U decides alone no longer.
        """
        both = self.start.both or self.feed is None or self.account.before < 0
        self.account.ends = self.ends if both else self.ends[1:]
        self._curve = curve_now(self.floor)
        self._shown: dict[int, Terms] = {}

    def terms(self, default: Any = None) -> Terms:
        """What the next play is worth at the end where it would leave the least."""
        if default is not None:
            raise own_default(default)
        mu = self.account.tightest(self._curve)
        found = self._shown.get(mu)
        if found is None:
            found = self._shown[mu] = self._curve.terms(mu, self.ends[1])
        return found

    def affords(self, terms: Terms) -> bool:
        """The gate, at each end in use."""
        return self.account.affords(self._curve)

    def standing(self, terms: Terms) -> tuple[int, int, int, int]:
        """What the next play tells of the books: slack, held, waiting and ahead."""
        available, held, _ = self.account.at(self.account.tightest(self._curve))
        return available, held, self.counters["pending"], 0

    def forfeit(self) -> None:
        """Give up what is above ``max_slack`` at the end where the least is available."""
        assert self.max_slack is not None
        # The account first: an interrupt may book too little.
        self._given_up += self.account.forfeit(self.max_slack)

    @property
    def forfeited(self) -> int:
        """What was given up, at the binding end; in units."""
        account = self.account
        return self._given_up + account.taken * (account.binding // LATTICE)

    @forfeited.setter
    def forfeited(self, amount: int) -> None:
        self._given_up = amount

    def decide(self, explores: bool, terms: Terms, feeds: bool | None = False) -> int:
        """Book a decision; returns its play id. ``feeds``: see ``enter``."""
        move = self.decided(explores, terms)
        self.account.move(self._curve, NOTHING, counted(explores, move.state, None, self.high))
        self._count(move.counts)
        play = self.plays.open(explores, terms)
        self.enter(play, feeds)
        return play

    def enter(self, play: int, feeds: bool | None) -> None:
        """Give a play just opened its place in the order of what is fed, if it feeds.

        ``feeds``: whether it does if it is a default play. None: something picked it by what the
        default would pay, so it counts at the worst, whatever is played.
        """
        record, feed = self.plays.get(play), self.feed
        record.drawn = not record.explores  # a default may pay anything
        if feed is None:
            return
        if feeds is None:
            feed.give(play, LOST)
        elif feeds and not record.explores:
            feed.give(play)
        else:
            return
        self._advance()

    def came_to(
        self, play: int, record: Record, report: str, units: int | None = None
    ) -> LearnedMove:
        """What a report of a reward in units comes to; its outcome is None if it contradicts.

        To expire a default play, an open one or one reported without its reward, feeds the worst.
        """
        if report == EXPIRE and not record.explores:
            report = LAPSE
        move, (low, high) = super().came_to(play, record, report, units), self.range_of(play)
        outcome, counts, fed, paid = move.outcome, move.counts, UNTOLD, move.reward
        waits = self.feed is not None and self.feed.waits(play)
        if outcome is not None and not record.explores:
            if paid is not None and (waits or record.reward is None):
                fed = (min(max(paid, low), high),)
            if paid is not None and record.reward is None:
                outcome = BOOKED if outcome is Outcome.REPEATED else outcome
                if not low <= paid <= high:
                    outcome, counts = Outcome.BREACH, (*counts, ("breaches", 1))
            elif paid is None and report == LAPSE and waits:
                outcome, fed = BOOKED, LOST
        found = LearnedMove(outcome, *move[1:-1], counts)
        found.play, found.fed, found.curve = play, fed, curve_of(record.terms, low)
        found.before = counted(record.explores, record.state, record.reward, high)
        found.after = counted(record.explores, move.state, move.reward, high)
        return found

    def post(self, move: Move) -> None:
        """Let what a report came to move the counts, the account and the sequence."""
        assert isinstance(move, LearnedMove)
        self._count(move.counts)
        if move.play >= self.first:
            self.account.move(move.curve, move.before, move.after)
        if move.explores:
            return
        self.unbounded = self.unbounded or move.outcome is Outcome.BREACH
        feed, play = self.feed, move.play
        if feed is None:
            return
        if move.fed == LOST:
            self._lose(feed, play)
        elif move.state is VOID:  # a repeat, too: the first report may have been interrupted
            feed.leave_out(play)
        elif move.fed != UNTOLD:
            feed.tell(play, move.fed)
        self._advance()

    def _lose(self, feed: Feed, play: int) -> None:
        """Let a default play count as never told."""
        feed.tell(play, LOST)
        self.news.append(News(LAPSED, feed.n, play=play))

    def _advance(self) -> None:
        """Feed what can be fed, and look at the ends when that is due."""
        feed = self.feed
        while feed is not None:
            while feed.step():
                if feed.due and not self._revalue(feed):
                    return
            head = feed.head
            if head is None or (len(feed.waiting) <= BEHIND and self.plays.knows(head)):
                return
            self._lose(feed, head)

    def _revalue(self, feed: Feed) -> bool:
        """Move the ends that the sequence refutes inward; False if nothing is left between them."""
        sequence, delta, (low, high) = feed.sequence, self.start.delta, self.ends
        moved = False
        refuted = _beyond(sequence.above, sequence.high - high, sequence.high % LATTICE, delta)
        if refuted is not None:
            high, moved = sequence.high - refuted, True
            self.news.append(News(REVALUED, feed.n, high))
        if self.start.both:
            refuted = _beyond(sequence.below, low - sequence.low, -sequence.low % LATTICE, delta)
            if refuted is not None:
                low, moved = sequence.low + refuted, True
                self.news.append(News(REVALUED, feed.n, low))
        if not moved:
            return True
        if low > high:
            self.feed, low, high = None, self.start.low, self.start.high
            self.news.append(News(REFUTED, feed.n))
        self.ends = low, high
        self._look_at()
        return self.feed is not None

    def change(self, **settings: Any) -> None:
        """Change the floor for the plays to come; each play keeps what it was decided with.

        A ``between`` that lies within the one before, at the same delta, moves the ends inward.
        Any other LearnedDefault is another default: the least that the account is between the ends
        is carried over, and a new sequence starts. PlayConflict for that while plays are open.
        """
        floor, old = self.floor.changed(**settings), self.floor.default
        new = floor.default
        same = isinstance(new, LearnedDefault) and _within(new, old)
        if same:
            self._check_range(floor)
            start = start_of(floor)
            low, high = max(self.ends[0], start.low), min(self.ends[1], start.high)
            if low > high:
                unit = floor.unit.decimal
                raise InvalidInput(
                    f"default = {new} leaves nothing: the mean was learned to lie in "
                    f"({unit(self.ends[0])}, {unit(self.ends[1])}); another default is another "
                    "delta, or a between that is not within the one before"
                )
        elif isinstance(new, LearnedDefault):  # else it is refused below
            self._check_nothing_open()
        super().change(**settings)
        if same:
            self.start = self.start._replace(low=start.low, high=start.high)
            self.ends = low, high
            self._look_at()
        else:
            self._carry_over()
            self._begin()

    def _check_range(self, floor: GeneralFloor) -> None:
        """InvalidInput for a range in which what was fed, or the end in use, proves nothing."""
        if self.feed is None:
            return
        unit, (r_min, r_max) = floor.unit, floor.reward_range
        low, high, known = unit.floor(r_min), unit.floor(r_max), self.feed.sequence
        below = low < known.low if self.start.both else low < 0 < self.start.high
        if high > known.high or below:
            raise InvalidInput(
                f"reward_range = ({r_min}, {r_max}) cannot be wider while the default is learned "
                f"from rewards within ({unit.decimal(known.low)}, {unit.decimal(known.high)}): "
                "start a new agent"
            )

    def _check_nothing_open(self) -> None:
        if self.pending or self.unreported:
            raise PlayConflict(
                f"another default is learned anew, with no play open ({self.pending} explorations "
                f"and {self.unreported} default plays are): report, void or expire them first"
            )

    def _carry_over(self) -> None:
        """Take the least that the account is between the ends for what was posted so far."""
        account = self.account
        self.required = self.asked
        least = min(account.at(mu).available for mu in self.ends)
        self._given_up = self.forfeited
        account.before, account.taken, account.sums = least - account.reserve, 0, {}
        self.first = self.plays.next_id

    @property
    def asked(self) -> int:
        """What the plays booked so far had to earn, at the binding end; in units."""
        return self.required + self.account.at(self.account.binding).required

    @property
    def promise_void(self) -> bool:
        """Whether the probability is bounded no longer."""
        return self.unbounded

    def snapshot(self) -> JsonObject:
        """JSON-able state."""
        return {
            **super().snapshot(),
            "forfeited": self._given_up,
            "learned": {
                "sums": self.account.rows(),
                "taken": self.account.taken,
                "before": self.account.before,
                "start": [*self.start[:3]],
                "ends": list(self.ends),
                "slacks": self._slacks(),
                "first": self.first,
                "unbounded": self.unbounded,
                "feed": None if self.feed is None else self.feed.state(),
                "news": [list(each) for each in self.news],
            },
        }

    @classmethod
    def restored(cls, floor: Any, state: JsonObject) -> Self:
        """The inverse of ``snapshot``; ValueError where sums, plays and account do not agree."""
        books, kept = super().restored(floor, state), state["learned"]
        account = books.account
        account.before, account.taken = kept["before"], kept["taken"]
        account.sums = {Curve(*row[:3]): Sums(*row[3:]) for row in kept["sums"]}
        low, high, both = kept["start"]
        books.start = Start(low, high, both, Fraction(floor.default.delta) / (2 if both else 1))
        books.ends, books.first = tuple(kept["ends"]), kept["first"]
        books.unbounded = kept["unbounded"]
        books.feed = None if kept["feed"] is None else Feed.restored(kept["feed"])
        books.news.extend(News(*each) for each in kept["news"])
        books._look_at()
        books._check_learned()
        books._check_sums([*state["account"], *kept["slacks"]])
        return books

    @classmethod
    def _account(cls, floor: Any, numbers: list[int]) -> Any:
        return LearnedAccount(numbers[0], ())

    def _covers_pending(self) -> bool:
        return True  # the sums tell, once they are there

    def _check_learned(self) -> None:
        """ValueError unless ends and feed are of this floor, and what waits is what was told."""
        at, (low, high), (_, _, both, _) = start_of(self.floor), self.ends, self.start
        whole = all(type(x) is int for x in (low, high, self.first)) and type(both) is bool
        within = at.low <= low <= high <= at.high and not (low % LATTICE or high % LATTICE)
        if not (whole and within and self.start[:2] == at[:2] and type(self.unbounded) is bool):
            raise ValueError(f"the ends {self.ends} of {self.start} are not between {at[:2]}")
        if not 0 <= self.first <= self.plays.next_id:
            raise ValueError(f"the default begins at play {self.first}, which is still to come")
        feed = self.feed
        if feed is None:
            return
        sequence = feed.sequence
        if sequence.high < self.high or (both and sequence.low > self.low) or at.both > both:
            raise ValueError(f"rewards of {sequence.low}..{sequence.high} prove nothing here")
        for play, fed in feed.waiting.items():
            self._check_waits(play, fed)

    def _check_waits(self, play: int, fed: Fed) -> None:
        told = fed in (UNTOLD, LOST) or (len(fed) == 1 and type(fed[0]) is int)
        told = told and type(play) is int and self.first <= play < self.plays.next_id
        if told and self.plays.knows(play):
            record, (low, high) = self.plays.get(play), self.range_of(play)
            paid = UNTOLD if record.reward is None else (min(max(record.reward, low), high),)
            told = fed == LOST or (fed in (UNTOLD, paid) and not record.explores)
        if not told:
            raise ValueError(f"play {play} waits to be fed as {fed}, which it was not told to pay")

    def _check_sums(self, numbers: list[int]) -> None:
        """ValueError unless the live plays are in the sums, and these come to the account."""
        live: dict[Curve, Sums] = {}
        for play, record in self.plays.live():
            if play >= self.first:
                low, high = self.range_of(play)
                curve = curve_of(record.terms, low)
                one = counted(record.explores, record.state, record.reward, high)
                live[curve] = live.get(curve, NOTHING).plus(one)
        for curve in {*live, *self.account.sums}:
            of, kept = live.get(curve, NOTHING), self.account.sums.get(curve, NOTHING)
            if not kept.covers(of):
                raise ValueError(f"the sums {kept} of {curve} do not cover the live plays {of}")
        found = [*self.account.numbers(), *self._slacks()]
        if found != numbers:
            raise ValueError(f"the sums come to {found}, the account to {numbers}")

    def _slacks(self) -> list[int]:
        """What is available at either end."""
        return [self.account.at(mu).available for mu in self.ends]


def _beyond(side: Odds, y: int, offset: int, delta: Fraction) -> int | None:
    """Where an end at ``y`` moves to: the largest refuted one, if the one after ``y`` is."""
    after = y + LATTICE
    if after > side.width or not side.refutes(after, delta):
        return None
    return side.edge(delta, LATTICE, offset)


def _within(new: LearnedDefault, old: Any) -> bool:
    """Whether it is the same default, known to lie within the interval before."""
    (low, high), (first, last) = new.between, old.between
    return bool(new.delta == old.delta and first <= low and high <= last)
