"""The account of a reward floor as a list of plays: every amount is added up anew, in fractions.

Written from the promise and its table of events, with nothing rounded and nothing remembered but
the plays. A float means its shortest decimal.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any


class Contradiction(Exception):
    """A report that cannot be true beside what is booked."""


@dataclass
class Play:
    explores: bool
    value: Fraction
    """b_s, what the default is known to be worth."""
    f: Fraction
    h: Fraction
    state: str = "open"
    reward: Fraction | None = None


class NaiveAccount:
    def __init__(
        self, default: Any, alpha: Any, reward_range: Any = (0, 1), reserve: Any = 0
    ) -> None:
        self.default = None if default is None else rational(default)
        self.alpha = rational(alpha)
        self.r_min, self.r_max = map(rational, reward_range)
        self.reserve = rational(reserve)
        self.plays: list[Play] = []
        self.breached = False

    def terms(self, default: Any = None) -> Play:
        """What the next play would be worth, as an exploration."""
        value = self.default if default is None else rational(default)
        f = (1 - self.alpha) * value
        return Play(True, value, f, max(Fraction(0), f - self.r_min))

    def allows(self, default: Any = None) -> bool:
        return self.available() >= self.terms(default).h

    def decide(self, explores: bool, default: Any = None) -> int:
        play = self.terms(default)
        play.explores = explores
        self.plays.append(play)
        return len(self.plays) - 1

    def settle(self, number: int, reward: Any = None) -> str:
        play = self.plays[number]
        r = None if reward is None else rational(reward)
        if play.state in {"void", "fell_back"}:
            raise Contradiction
        if play.state in {"settled", "capped"}:
            if r is not None and play.reward is not None and r != play.reward:
                raise Contradiction
            play.reward = play.reward if r is None else r
            return "repeated"
        late = play.state == "expired"
        play.reward = r
        play.state = "capped" if play.explores and r > self.r_max else "settled"
        if play.state == "capped":
            return "capped"
        if play.explores and r < self.r_min:
            self.breached = True
            return "breach"
        return "booked_late" if late else "booked"

    def acknowledge(self, number: int) -> str:
        play = self.plays[number]
        if play.state == "settled":
            return "ignored"
        if play.state != "capped":
            raise Contradiction
        play.state = "settled"
        return "booked"

    def expire(self, number: int) -> str:
        play = self.plays[number]
        if play.state == "expired":
            return "repeated"
        if play.state != "open" or not play.explores:
            return "ignored"
        play.state = "expired"
        return "booked"

    def void(self, number: int) -> str:
        play = self.plays[number]
        if play.state == "expired":
            raise Contradiction
        if play.state == "void":
            return "repeated"
        if play.state != "open":
            return "ignored"
        play.state = "void"
        return "booked"

    def fall_back(self, number: int) -> str:
        play = self.plays[number]
        if not play.explores:
            return self.settle(number)
        if play.state == "fell_back":
            return "repeated"
        if play.state != "open":
            raise Contradiction
        play.state = "fell_back"
        return "booked"

    def available(self) -> Fraction:
        """reserve + posted - held, by the table."""
        return self.reserve + sum(map(self.posted, self.plays)) - self.held()

    def held(self) -> Fraction:
        waiting = (p.h for p in self.plays if p.explores and p.state == "open")
        return sum(waiting, Fraction(0))

    def posted(self, play: Play) -> Fraction:
        if play.state in {"open", "void"}:
            return Fraction(0)
        if play.state == "expired":
            return -play.h
        if play.state == "fell_back" or not play.explores:
            return play.value - play.f
        return self.credited(play) - play.f

    def credited(self, play: Play) -> Fraction:
        """The reward of a settled exploration; no more than r_max until it is acknowledged."""
        return self.r_max if play.state == "capped" else play.reward

    def earned(self) -> Fraction:
        """What is booked as received: an expired play at its worst, a default at its value."""
        return sum((self.posted(p) + p.f for p in self.plays if self.booked(p)), Fraction(0))

    def required(self) -> Fraction:
        """What the plays booked so far had to earn."""
        return sum((p.f for p in self.plays if self.booked(p)), Fraction(0))

    def booked(self, play: Play) -> bool:
        return play.state not in {"open", "void"}

    def promise(self) -> Fraction:
        """Received reward - sum of f_s + reserve if all that is unknown turns out the worst way.

        An exploration without reward pays r_min, or was never made if that is worse; one that
        expired was made. A default play that nobody reported was never made.
        """
        total = self.reserve
        for play in self.plays:
            if play.explores and play.state in {"settled", "capped"}:
                total += self.credited(play) - play.f
            elif play.state == "fell_back" or (not play.explores and play.state == "settled"):
                total += play.value - play.f
            elif play.explores and play.state == "open":
                total += min(self.r_min - play.f, Fraction(0))
            elif play.state == "expired":
                total += self.r_min - play.f
        return total

    def count(self, explores: bool, *states: str) -> int:
        """How many plays stand so."""
        return sum(p.explores == explores and p.state in states for p in self.plays)


def rational(number: Any) -> Fraction:
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)
