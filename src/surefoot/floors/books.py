"""The books an agent keeps of a floor: the account, and what each report books in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from surefoot.floors.account import Account
from surefoot.floors.plays import (
    CAPPED,
    EXPIRED,
    FELL_BACK,
    OPEN,
    SETTLED,
    VOID,
    Outcome,
    Plays,
    Record,
    Terms,
    conflict,
)

if TYPE_CHECKING:
    from surefoot.floors.mean_variance import MeanVarianceFloor
    from surefoot.floors.mean_variance_account import MeanVarianceAccount
    from surefoot.floors.reward import RewardFloor

BOOKED = Outcome.BOOKED  # before Python 3.12 a member of an enumeration is slow to find


class Books:
    """The books one agent keeps of a floor: gate, plays and what each report books.

    Every method checks first and changes after, so an error leaves everything as it was. A decision
    holds before it opens its play, a report closes its play before it moves the account:
    interrupted in between, and sent again, either can only book too little. What is asked of the
    account, and what an event does to it, is its own affair.
    """

    __slots__ = (
        "account", "breaches", "capped", "coins", "default_plays", "expired", "explorations",
        "floor", "high", "low", "mismatches", "plays", "ranges", "required", "voided",
    )  # fmt: skip

    caps: ClassVar[bool]
    """Whether a reward above r_max is credited as r_max; else it is a breach."""

    def __init__(
        self,
        floor: RewardFloor | MeanVarianceFloor,
        account: Account | MeanVarianceAccount,
        plays: Plays,
    ) -> None:
        self.floor = floor
        self.account = account
        self.plays = plays
        self.required = 0
        self.explorations = self.default_plays = self.voided = 0
        self.expired = self.breaches = self.capped = self.mismatches = 0
        low, high = floor.reward_range
        self.low, self.high = floor.unit.floor(low), floor.unit.floor(high)
        self.ranges = [(0, self.low, self.high)]
        """Each range that ever was, in units, with the first play decided under it."""
        self.coins = {coin: floor.unit.quick(coin) for coin in (0.0, 1.0)}
        """The rewards of most plays, in units; the unit stays while the floor may change."""

    def terms(self, default: Any = None) -> Terms:
        """What the next play is worth, as the books stand."""
        return self.floor.terms(default)

    def affords(self, terms: Terms) -> bool:
        """The gate: whether an exploration at these terms may be decided."""
        return self.account.affords(terms.hold)

    def ahead(self, terms: Terms) -> int:
        """What the gate counts in besides what is available; in units."""
        return 0

    def standing(self, terms: Terms) -> tuple[int, int, int, int]:
        """What a play at these terms tells of the books: slack, held, waiting and ahead."""
        account = self.account
        return account.available, account.held, self.waiting, self.ahead(terms)

    def explore(self, terms: Terms) -> int:
        """Book that an exploration was decided; returns its play id."""
        self.account.hold(terms.hold)
        self.explorations += 1
        return self.plays.open(True, terms)

    def default(self, terms: Terms) -> int:
        """Book that the default was decided; nothing is credited before it is reported."""
        self.default_plays += 1
        return self.plays.open(False, terms)

    def settle(self, play: int, reward: Any) -> Outcome:
        """Book a reward: in time, late, or the report that a default play was played."""
        record = self.plays.get(play)
        state, terms = record.state, record.terms
        of_default = not record.explores or (state is FELL_BACK and terms.high is not None)
        if of_default:  # a random one's reward may follow
            return self._settle_default(play, record, reward)
        units = self.coins.get(reward) if type(reward) is float else None
        if units is None:
            units = self.floor.unit.quick(reward)
            if units is None:
                units = self.floor.read(reward, f"reward of play {play}")
        if state is not OPEN and state is not EXPIRED:
            if state in (SETTLED, CAPPED) and record.reward == units:
                return Outcome.REPEATED
            raise conflict(play, record, f"reward {reward}")
        # The usual answer, without a call at every play.
        low, high = (self.low, self.high) if len(self.ranges) == 1 else self.range_of(play)
        above = units > high and self.caps
        floor, late = terms.floor, state is EXPIRED
        gain = (high if above else units) - floor
        self.plays.close(play, CAPPED if above else SETTLED, units)
        if late:
            self.account.settle_late(gain, terms.hold)
        else:
            self.account.settle(gain, terms.hold)
            self.required += floor
        if above:
            self.capped += 1
            return Outcome.CAPPED
        if not low <= units <= high:
            self.breaches += 1
            return Outcome.BREACH
        return Outcome.BOOKED_LATE if late else BOOKED

    def _settle_default(self, play: int, record: Record, reward: Any) -> Outcome:
        known, units = record.reward, None
        if reward is not None:
            units = self.floor.read(reward, f"reward of play {play}")
        if record.state is VOID:
            raise conflict(play, record, "a report that it was played")
        if units is not None and known is not None and units != known:
            raise conflict(play, record, f"reward {reward}")
        terms, first = record.terms, record.state is OPEN
        told = units is not None and known is None
        if told and terms.high is None and units != terms.value:
            self.mismatches += 1
        if not first and (terms.high is None or not told):
            record.reward = known if units is None else units
            return Outcome.REPEATED
        posted, asked = terms.paid(units)
        if first:
            self.plays.close(play, SETTLED, units)
        else:
            record.reward = units
            posted, asked = posted - terms.deposit, asked - terms.paid(None)[1]
        self.account.deposit(posted)
        self.required += asked
        if units is None or terms.high is None or terms.value <= units <= terms.high:
            return BOOKED
        self.breaches += 1
        return Outcome.BREACH

    def acknowledge(self, play: int) -> Outcome:
        """An operator confirms a reward above r_max: the rest of it is credited."""
        record = self.plays.get(play)
        if record.state is SETTLED:
            return Outcome.IGNORED
        if record.state is not CAPPED or record.reward is None:
            raise conflict(play, record, "acknowledging a reward above the range")
        assert isinstance(self.account, Account)  # no other books cap
        self.plays.close(play, SETTLED, record.reward)
        self.account.acknowledge(record.reward - self.range_of(play)[1])
        return BOOKED

    def expire(self, play: int) -> Outcome:
        """No reward came in time: book the worst. A default play has nothing to expire."""
        record = self.plays.get(play)
        if record.state is not OPEN or not record.explores:
            return Outcome.REPEATED if record.state is EXPIRED else Outcome.IGNORED
        self.plays.close(play, EXPIRED)
        self.account.expire(record.terms.hold)
        self.required += record.terms.floor
        self.expired += 1
        return BOOKED

    def void(self, play: int) -> Outcome:
        """The play was never made, for good."""
        record = self.plays.get(play)
        if record.state is EXPIRED:
            raise conflict(play, record, "a void")
        if record.state is not OPEN:
            return Outcome.REPEATED if record.state is VOID else Outcome.IGNORED
        self.plays.close(play, VOID)
        if record.explores:
            self.account.void(record.terms.hold)
            self.explorations -= 1
        else:
            self.default_plays -= 1
        self.voided += 1
        return BOOKED

    def fall_back(self, play: int) -> Outcome:
        """An exploration was decided, but the client played the default instead."""
        record = self.plays.get(play)
        if not record.explores:
            return self._settle_default(play, record, None)
        if record.state is FELL_BACK:
            return Outcome.REPEATED
        if record.state is not OPEN:
            raise conflict(play, record, "a report that the default was played instead")
        self.plays.close(play, FELL_BACK)
        posted, asked = record.terms.paid(None)
        self.account.fall_back(posted, record.terms.hold)
        self.required += asked
        self.explorations -= 1
        self.default_plays += 1
        return BOOKED

    def range_of(self, play: int) -> tuple[int, int]:
        """The range of rewards that a play was decided with, in units."""
        return self.low, self.high

    def change(self, **settings: Any) -> None:
        """Change the floor for the plays to come; each play keeps what it was decided with."""
        raise NotImplementedError

    def add_reserve(self, amount: Any) -> None:
        """Let more be lost from now on."""
        raise NotImplementedError

    def withdraw_reserve(self, amount: Any) -> None:
        """Let less be lost from now on."""
        raise NotImplementedError

    def unit_reward(self, reward: Any, play: int | None = None) -> float:
        """(r - r_min)/(r_max - r_min), within [0, 1]: what a policy for [0, 1] rewards is told.

        ``play``: the one it was booked for, whose record has it in units.
        """
        units = self.coins.get(reward) if type(reward) is float else None
        if units is None and play is not None:
            units = self.plays.get(play).reward
        if units is None:
            units = self.floor.read(reward, "reward")
        low, high = self.low, self.high
        if not low <= units <= high:
            units = low if units < low else high
        return (units - low) / (high - low)

    def unit_default(self, terms: Terms) -> float:
        """The default's value on the same scale."""
        return (terms.value - self.low) / (self.high - self.low)

    @property
    def asked(self) -> int:
        """What the plays booked so far had to earn, in units."""
        return self.required

    @property
    def waiting(self) -> int:
        """How many explorations may still move the account for the worse."""
        return self.plays.pending

    @property
    def two_valued(self) -> bool:
        """Whether each exploration so far is known to have paid r_min or r_max."""
        return False

    @property
    def promise_void(self) -> bool:
        """Whether a breach has ended the promise for good."""
        return False

    _COUNTERS = (
        "required", "explorations", "default_plays", "voided",
        "expired", "breaches", "capped", "mismatches",
    )  # fmt: skip

    def snapshot(self) -> dict[str, Any]:
        """JSON-able state."""
        return {
            "account": self.account.numbers(),
            "plays": self.plays.snapshot(),
            **{name: getattr(self, name) for name in self._COUNTERS},
        }

    @classmethod
    def restored(cls, floor: Any, state: dict[str, Any]) -> Self:
        """The inverse of ``snapshot``."""
        plays, numbers = Plays.restored(state["plays"]), state["account"]
        if any(type(number) is not int for number in numbers):
            raise ValueError(f"the account {numbers} is not one of whole numbers")
        books = cls(floor, cls._account(floor, numbers), plays)
        if not books._covers_pending():
            raise ValueError(f"the account {numbers} does not cover the pending plays")
        for name in cls._COUNTERS:
            setattr(books, name, state[name])
        if "known" not in state["plays"]:  # a file older than that count
            plays.known = books.explorations + books.default_plays - plays.unreported
        return books

    @classmethod
    def _account(cls, floor: Any, numbers: list[int]) -> Any:
        """The account of those ``numbers()``."""
        raise NotImplementedError

    def _covers_pending(self) -> bool:
        """Whether the account knows of all plays that could still cost something."""
        raise NotImplementedError
