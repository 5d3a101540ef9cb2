"""The books an agent keeps of a floor: the account, and what each report books in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from surefoot._exact import negated, share
from surefoot._types import JsonObject, Number
from surefoot.floors.events import (
    ACKNOWLEDGE,
    CANCEL,
    EXPIRE,
    FALL_BACK,
    FELL_BACK,
    OPEN,
    SETTLE,
    Counts,
    Move,
    Outcome,
    Record,
    Terms,
    decided,
    step,
)
from surefoot.floors.interval import read_told
from surefoot.floors.plays import Plays, conflict
from surefoot.floors.protocol import is_ceiling

if TYPE_CHECKING:
    from surefoot.floors.mean_variance_account import MeanVarianceAccount
    from surefoot.floors.protocol import Floor
    from surefoot.floors.reward_books import Account


SAVED = (
    "explorations", "default_plays", "voided", "expired", "breaches", "capped", "mismatches",
)  # fmt: skip
COUNTERS = (*SAVED, "pending", "unreported")
"""What is counted of the plays; the last two also follow from the plays that are kept.

``pending``: explorations with neither reward nor end; ``unreported``: default plays decided and not
yet reported.
"""


class _Counter:
    """A counter of the books, to be read."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, books: Books, owner: type) -> int:
        return books.counters[self.name]


class Books:
    """The books one agent keeps of a floor: gate, plays and what each report books.

    Every method checks first and changes after, so an error leaves everything as it was. A decision
    holds before it opens its play, a report closes its play before it moves the account:
    interrupted in between, and sent again, either can only book too little. What a report comes to
    is ``events.step``'s to say; what is asked of the account, and what a move does to it, is its
    own affair.
    """

    decided, step = staticmethod(decided), staticmethod(step)

    __slots__ = (
        "_usual", "_usual_starts", "_usual_terms", "account", "coins", "counters", "floor", "high",
        "learns", "low", "max_slack", "measure", "plays", "ranges", "required",
    )  # fmt: skip

    explorations, default_plays, pending, unreported = (
        _Counter(),
        _Counter(),
        _Counter(),
        _Counter(),
    )
    voided, expired = _Counter(), _Counter()
    breaches, capped, mismatches = _Counter(), _Counter(), _Counter()

    forfeited: int = 0
    """What was above ``max_slack``, all in all, in units."""
    caps: ClassVar[bool]
    """Whether a reward above r_max is credited as r_max; else it is a breach."""
    several: ClassVar[bool] = False
    """Whether they are those of several floors."""

    def __init__(
        self,
        floor: Floor,
        account: Account | MeanVarianceAccount,
        plays: Plays,
    ) -> None:
        self.floor = floor
        self.account = account
        self.plays = plays
        self.required = 0
        self.measure = "reward"
        """What is reported of a play, as errors name it."""
        self.max_slack: int | None = None
        """The most slack that a decision may find, in units; None: there is no most."""
        self.learns = False
        """Whether the default is learned, so that ``enter`` is told which plays feed that."""
        self.counters = dict.fromkeys(COUNTERS, 0)
        """A dict, since most plays move four of them, and ``setattr`` takes twice as long."""
        low, high = floor.reward_range
        self.low, self.high = floor.unit.floor(low), floor.unit.floor(high)
        self.ranges = [(0, self.low, self.high)]
        """Each range that ever was, in units, with the first play decided under it."""
        self.coins = {coin: floor.unit.quick(coin) for coin in (0.0, 1.0)}
        """The rewards of most plays, in units; the unit stays while the floor may change."""
        self._usual_terms: Terms | None = None
        self._usual: dict[Any, Move] = {}
        self._usual_starts: list[Move | None] = [None, None]
        """What came of plays at these terms, as ``events`` said: of open ones by their reward, of
        decisions by whether they explore. Most plays have terms and reward of another before them,
        and a floor's own terms go with its range."""

    def terms(self, default: Any = None) -> Terms:
        """What the next play is worth, as the books stand."""
        return self.floor.terms(default)

    def affords(self, terms: Terms) -> bool:
        """The gate: whether an exploration at these terms may be decided."""
        return self.account.affords(terms.hold)

    def forfeit(self) -> None:
        """Give up what is above ``max_slack``; asked at a decision, before the gate, and nowhere
        else: it is what may lower the account, beside deciding, leasing and withdrawing."""

    def ahead(self, terms: Terms) -> int:
        """What the gate counts in besides what is available; in units."""
        return 0

    def standing(self, terms: Terms) -> tuple[int, int, int, int]:
        """What a play at these terms tells of the books: slack, held, waiting and ahead."""
        account = self.account
        return account.available, account.held, self.waiting, self.ahead(terms)

    def explore(self, terms: Terms) -> int:
        """Book that an exploration was decided; returns its play id."""
        return self.decide(True, terms)

    def default(self, terms: Terms) -> int:
        """Book that the default was decided; nothing is credited before it is reported."""
        return self.decide(False, terms)

    def decide(self, explores: bool, terms: Terms) -> int:
        """Book a decision; returns its play id."""
        move = self._usual_starts[explores] if terms is self._usual_terms else None
        if move is None:
            move = self.decided(explores, terms)
            if self.caps:
                self._at(terms)
                self._usual_starts[explores] = move
        # In this order an interrupt leaves at most a play that is counted and never made.
        self.account.book(move)
        counters = self.counters
        for name, change in move.counts:
            counters[name] += change
        return self.plays.open(explores, terms)

    def _count(self, counts: Counts) -> None:
        counters = self.counters
        for name, change in counts:
            counters[name] += change

    def _at(self, terms: Terms) -> None:
        """Remember what comes of plays at these terms, and not of others."""
        if terms is not self._usual_terms or len(self._usual) > 100:
            self._usual_terms, self._usual, self._usual_starts = terms, {}, [None, None]

    def settle(self, play: int, reward: Any) -> Outcome:
        """Book a reward: in time, late, or the report that a default play was played."""
        return self.report(play, SETTLE, reward)

    def report(self, play: int, report: str, reward: Any = None) -> Outcome:
        """Book one of ``events.REPORTS``; ``reward``: what it paid, of ``settle`` alone."""
        plays = self.plays
        record, move = plays.get(play), None
        # The usual answer, without a call at every play.
        if record.terms is self._usual_terms and report is SETTLE and record.state is OPEN:
            usual = type(reward) is float if record.explores else reward is None
            move = self._usual.get(reward) if usual else None
        if move is None:
            move = self.judged(play, record, report, reward)
        outcome, event, _, state, units, _, _, _, _ = move
        if event is None:
            record.reward = units
        else:
            plays.close(play, state, units)
        self.post(move)
        assert outcome is not None
        return outcome

    def judged(self, play: int, record: Record, report: str, reward: Any = None) -> Move:
        """What a report comes to; PlayConflict if it contradicts what is booked."""
        move = self._judged(play, record, report, reward)
        usual = report is SETTLE and record.state is OPEN
        usual = usual and (type(reward) is float if record.explores else reward is None)
        if usual and self.caps and len(self.ranges) == 1:
            self._at(record.terms)
            self._usual[reward] = move
        return move

    def post(self, move: Move) -> None:
        """Let what a report came to move the counts and the account; its play is closed."""
        counters, (_, event, _, _, _, _, _, required, counts) = self.counters, move
        for name, change in counts:
            counters[name] += change
        if event is not None:
            self.account.book(move)
            self.required += required

    def _judged(self, play: int, record: Record, report: str, reward: Any) -> Move:
        """As ``judged``, of any report."""
        units, explores = None, record.explores
        played = not explores or (record.state is FELL_BACK and record.terms.high is not None)
        if report == SETTLE and (reward is not None or not played):  # a random default's may follow
            units = self.coins.get(reward) if type(reward) is float else None
            if units is None:
                units = None if played else self.floor.unit.quick(reward)
            if units is None:
                what = f"{self.measure} of play {play}"
                terms = record.terms if played else None
                units = read_told(self.floor, terms, reward, what)
        move = self.came_to(play, record, report, units)
        if move.outcome is None:
            raise conflict(play, record, report, self.as_told(reward), self.measure)
        return move

    def as_told(self, reward: Any) -> Any:
        """A reward as it was told: a cost is what the books take the negative of."""
        costs = reward is not None and is_ceiling(self.floor)
        return negated(reward, self.measure) if costs else reward

    def came_to(self, play: int, record: Record, report: str, units: int | None = None) -> Move:
        """What a report of a reward in units comes to; its outcome is None if it contradicts."""
        low, high = self.range_of(play)
        return self.step(record, report, units, low, high, self.caps)

    def enter(self, play: int, feeds: bool | None) -> None:
        """Where the default is learned: whether a play just opened feeds that, see there."""

    def acknowledge(self, play: int) -> Outcome:
        """An operator confirms a reward above r_max: the rest of it is credited."""
        return self.report(play, ACKNOWLEDGE)

    def expire(self, play: int) -> Outcome:
        """No reward came in time: book the worst. A default play has nothing to expire."""
        return self.report(play, EXPIRE)

    def void(self, play: int) -> Outcome:
        """The play was never made, for good."""
        return self.report(play, CANCEL)

    def fall_back(self, play: int) -> Outcome:
        """An exploration was decided, but the client played the default instead."""
        return self.report(play, FALL_BACK)

    def held_out(self, play: int) -> None:
        """Expect the draw of a default play that was held out: it is no mismatch."""
        self.plays.get(play).drawn = True

    def range_of(self, play: int) -> tuple[int, int]:
        """The range of rewards that a play was decided with, in units."""
        return self.low, self.high

    def change(self, **settings: Any) -> None:
        """Change the floor for the plays to come; each play keeps what it was decided with."""
        raise NotImplementedError

    def add_reserve(self, amount: Number) -> None:
        """Let more be lost from now on."""
        raise NotImplementedError

    def withdraw_reserve(self, amount: Number) -> None:
        """Let less be lost from now on."""
        raise NotImplementedError

    def unit_reward(self, reward: Any, play: int | None = None) -> float:
        """(r - r_min)/(r_max - r_min), within [0, 1]: the reward that a policy for [0, 1] learns.

        ``play``: the one it was booked for, whose record has it in units.
        """
        units = self.coins.get(reward) if type(reward) is float else None
        if units is None and play is not None:
            units = self.plays.get(play).reward
        if units is None:
            units = self.floor.read(reward, "reward")
        low, high = self.low, self.high
        # The usual case of share, without a call at every play.
        return (units - low) / (high - low) if low <= units <= high else share(units, low, high)

    @property
    def known(self) -> int:
        """How many plays count as made: explorations that are not void, defaults reported."""
        counters = self.counters
        return counters["explorations"] + counters["default_plays"] - counters["unreported"]

    @property
    def asked(self) -> int:
        """What the plays booked so far had to earn, in units."""
        return self.required

    @property
    def waiting(self) -> int:
        """How many explorations may still move the account for the worse."""
        return self.pending

    @property
    def two_valued(self) -> bool:
        """Whether each exploration so far is known to have paid r_min or r_max."""
        return False

    @property
    def promise_void(self) -> bool:
        """Whether a breach has ended the promise for good."""
        return False

    def snapshot(self) -> JsonObject:
        """JSON-able state."""
        return {
            "account": self.account.numbers(),
            "plays": {**self.plays.snapshot(), "known": self.known},
            "required": self.required,
            **{name: self.counters[name] for name in SAVED},
        }

    @classmethod
    def restored(cls, floor: Any, state: JsonObject) -> Self:
        """The inverse of ``snapshot``."""
        plays, numbers = Plays.restored(state["plays"]), state["account"]
        if any(type(number) is not int for number in numbers):
            raise ValueError(f"the account {numbers} is not one of whole numbers")
        books = cls(floor, cls._account(floor, numbers), plays)
        if not books._covers_pending():
            raise ValueError(f"the account {numbers} does not cover the pending plays")
        books.required = state["required"]
        pending, unreported = plays.waiting()
        books.counters = {name: state[name] for name in SAVED}
        books.counters |= {"pending": pending, "unreported": unreported}
        return books

    @classmethod
    def _account(cls, floor: Any, numbers: list[int]) -> Any:
        """The account of those ``numbers()``."""
        raise NotImplementedError

    def _covers_pending(self) -> bool:
        """Whether the account knows of all plays that could still cost something."""
        raise NotImplementedError
