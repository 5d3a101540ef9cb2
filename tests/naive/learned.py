"""The account of a learned default at every mean that the default may have, in fractions.

mu0 is unknown in lo..hi. The account at mu is added up anew from the plays, whatever mu is; the
ends are found by looking at the exact sequence, and nothing is remembered but plays and ends.
Amounts are units of the books, ends are multiples of ``LATTICE`` units; added up they are whole
numbers of ten-thousandths of a unit, since alpha has four decimals.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, prod
from typing import Any

from naive.account import rational

LATTICE = WHOLE = 10**4
ODDS = [2**k for k in range(17)]
"""256 times the odds 2^-8..2^8, and so whole."""


@dataclass
class LearnedPlay:
    """``alpha``, ``margin``, ``r_min``: as it was decided; its amounts are ten-thousandths."""

    explores: bool
    alpha: int
    margin: int
    r_min: int
    feeds: bool = False
    state: str = "open"
    reward: int | None = None
    lost: bool = False
    """Whether it fed the worst, since nothing came of it in time."""

    def e(self, mu: Any) -> Any:
        return self.alpha * abs(mu) + self.margin * WHOLE

    def f(self, mu: Any) -> Any:
        return mu * WHOLE - self.e(mu)

    def h(self, mu: Any) -> Any:
        return max(0, self.f(mu) - self.r_min * WHOLE)


class LearnedAccount:
    """``between``, ``delta``: of the default; the others as a reward floor takes them."""

    def __init__(
        self,
        between: Any,
        delta: Any,
        alpha: Any,
        reward_range: Any = (0, 1),
        reserve: Any = 0,
        places: int = 9,
        margin: Any = 0,
        max_slack: Any = None,
    ) -> None:
        self.scale = 10**places
        lo, hi = (rational(end) * self.scale for end in between)
        self.lo, self.hi = floor(lo / LATTICE) * LATTICE, ceil(hi / LATTICE) * LATTICE
        self.low, self.high = self.lo, self.hi
        self.r_min, self.r_max = (floor(rational(end) * self.scale) for end in reward_range)
        self.alpha, self.margin = rational(alpha), floor(rational(margin) * self.scale)
        self.reserve = floor(rational(reserve) * self.scale)
        self.max_slack = None if max_slack is None else floor(rational(max_slack) * self.scale)
        self.forfeited, self.slope = Fraction(0), 0
        """What was given up at every mean alike, and in proportion to it: for each lattice step."""
        self.one_sided = (self.r_min >= 0 and lo >= 0) or hi <= 0
        self.delta = rational(delta) / (1 if self.one_sided else 2)
        self.plays: list[LearnedPlay] = []
        self.taken: list[int | None] = []
        """What the sequence was fed; None: nothing came in time."""
        self.passed = 0
        """How many of the plays that feed are behind: taken, or void."""
        self.is_refuted = False
        self.events: list[tuple[Any, ...]] = []

    def at(self, mu: Any) -> Fraction:
        """A(mu): reserve + posted - held, were mu the default's mean."""
        total = self.reserve * WHOLE + sum(self.adds(play, mu) for play in self.plays)
        return Fraction(total) / WHOLE - self.forfeited - Fraction(self.slope * mu, LATTICE)

    def forfeit(self) -> None:
        """What the least account has above the most slack is given up.

        Where one end counts because nothing received is negative, nothing may be taken at 0.
        """
        if self.max_slack is not None:
            over = max(Fraction(0), self.available() - self.max_slack)
            if len(self.ends()) == 1 and self.high > 0:
                self.slope += int(over / (self.high // LATTICE))
            else:
                self.forfeited += over

    def adds(self, play: LearnedPlay, mu: Any) -> Any:
        if play.state == "fell_back" or (not play.explores and play.state == "settled"):
            return play.e(mu)
        if not play.explores or play.state == "void":
            return 0
        if play.state in {"open", "expired"}:
            return -play.h(mu)
        return self.credited(play) * WHOLE - play.f(mu)

    def credited(self, play: LearnedPlay) -> int:
        return self.r_max if play.state == "capped" else play.reward

    def held(self, mu: Any) -> Fraction:
        waiting = (p.h(mu) for p in self.plays if p.explores and p.state == "open")
        return Fraction(sum(waiting)) / WHOLE

    def ends(self) -> list[int]:
        """The means that the promise is kept at: these decide for all between."""
        one = self.one_sided and not self.is_refuted
        return [self.high] if one else [self.low, self.high]

    def available(self) -> Fraction:
        return min(map(self.at, self.ends()))

    def terms(self) -> LearnedPlay:
        alpha = self.alpha * WHOLE
        assert alpha == int(alpha)
        return LearnedPlay(True, int(alpha), self.margin, self.r_min)

    def allows(self) -> bool:
        return self.left() >= 0

    def left(self) -> Fraction:
        """What an exploration leaves at the end where that is least."""
        play = self.terms()
        return min(self.at(mu) - Fraction(play.h(mu), WHOLE) for mu in self.ends())

    def decide(self, explores: bool, feeds: bool | None = False) -> int:
        """``feeds``: None where somebody picked this play, who may know what it would pay: it has
        an index, whether it explores or not, and counts at the worst."""
        play = self.terms()
        play.explores, play.lost = explores, feeds is None
        play.feeds = not self.is_refuted and (feeds is None or (feeds and not explores))
        self.plays.append(play)
        self.look()
        return len(self.plays) - 1

    def settle(self, number: int, reward: Any = None) -> None:
        """A report that contradicts none before it."""
        play = self.plays[number]
        told = None if reward is None else floor(rational(reward) * self.scale)
        if play.reward is None:
            play.reward = told
        if play.explores and play.state in {"open", "expired"}:
            play.state = "capped" if told > self.r_max else "settled"
        elif not play.explores and play.state in {"open", "expired"}:
            play.state = "settled"
        self.look()

    def expire(self, number: int) -> None:
        play = self.plays[number]
        if not play.explores and play.reward is None and play.state in {"open", "settled"}:
            play.lost = True
        if play.state == "open":
            play.state = "expired"
        self.look()

    def void(self, number: int) -> None:
        self.plays[number].state = "void"
        self.look()

    def fall_back(self, number: int) -> None:
        self.plays[number].state = "fell_back"

    def look(self) -> None:
        """Take what is resolved, in the order of decisions, and move the ends at the due times."""
        feeding = [play for play in self.plays if play.feeds]
        while self.passed < len(feeding) and self.resolved(feeding[self.passed]):
            play = feeding[self.passed]
            self.passed += 1
            if not self.left_out(play) and not self.is_refuted:
                self.taken.append(None if play.lost else self.inside(play.reward))
                if due(len(self.taken)):
                    self.look_at(self.taken)

    def left_out(self, play: LearnedPlay) -> bool:
        """A void default play; an exploration has an index only since somebody picked it."""
        return play.state == "void" and not play.explores

    def resolved(self, play: LearnedPlay) -> bool:
        return play.lost or self.left_out(play) or play.reward is not None

    def inside(self, reward: int) -> int:
        return min(max(reward, self.r_min), self.r_max)

    def look_at(self, values: list[int | None]) -> None:
        high = self.least_refuted(values)
        low = self.low if self.one_sided else self.greatest_refuted(values)
        if high < max(low, self.lo) or low > self.hi:
            self.low, self.high, self.is_refuted = self.lo, self.hi, True
            self.events.append(("refuted", len(values)))
        elif (low, high) != (self.low, self.high):
            self.low, self.high = low, high
            self.events.append(("revalued", len(values), low, high))

    def least_refuted(self, values: list[int | None]) -> int:
        """No higher than the upper end was; all above a refuted one are refuted."""
        bets = self.bets([0 if x is None else self.r_max - x for x in values])
        high = self.high
        while self.refuted(bets, self.r_max - (high - LATTICE), len(values)):
            high -= LATTICE
        return high

    def greatest_refuted(self, values: list[int | None]) -> int:
        bets = self.bets([0 if x is None else x - self.r_min for x in values])
        low = self.low
        while self.refuted(bets, low + LATTICE - self.r_min, len(values)):
            low += LATTICE
        return low

    def bets(self, ys: list[int]) -> list[int]:
        """What each of the bets has come to, 256^n-fold; ``ys``: how far the values lie from their
        end."""
        width = self.r_max - self.r_min
        return [prod(256 * width + t * y for y in ys) for t in ODDS]

    def refuted(self, bets: list[int], at: int, n: int) -> bool:
        """Whether W_n is 1/delta or more; ``at``: how far the candidate lies from the end."""
        width = self.r_max - self.r_min
        if not 0 <= at <= width:
            return False
        paid = [(256 * width + t * at) ** n for t in ODDS]
        rough = sum((bet << 99) // one for bet, one in zip(bets, paid, strict=True))
        asked = len(ODDS) / self.delta
        if not rough <= asked * 2**99 <= rough + len(ODDS):  # so near that it has to be exact
            return rough > asked * 2**99
        return sum(map(Fraction, bets, paid)) >= asked


def due(n: int) -> bool:
    """At every n up to 64, then 64 times for each doubling."""
    step = 1
    while n > 128 * step - 1:
        step *= 2
    return n % step == 0
