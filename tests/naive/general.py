"""The general floor as a list of plays: signed values, a margin, intervals; and the same in costs.

Every amount is added up anew from the table of events. With ``places`` each amount is rounded to
the unit as the table says; without, nothing is. ``promise`` is no table: it is what has been
received less what was asked, at the worst of everything that nobody knows.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import Any

from naive.account import Contradiction, NaiveAccount, rational

Ends = tuple[Fraction, Fraction]


@dataclass
class GeneralPlay:
    explores: bool
    default: Fraction | Ends
    """What the default is known to be worth at this play, or between what."""
    f: Fraction
    h: Fraction
    d: Fraction
    """What it posts when it is reported played and nothing is known of what it paid."""
    alpha: Fraction
    margin: Fraction
    state: str = "open"
    reward: Fraction | None = None
    said: dict[Any, Fraction] = field(default_factory=dict)
    """Amounts that were worked out, by what they follow from."""


def once(amount: Callable[[Any, GeneralPlay], Fraction]) -> Callable[[Any, GeneralPlay], Fraction]:
    """Work out an amount of a play once for all the times that it stands alike."""

    @functools.wraps(amount)
    def found(account: Any, play: GeneralPlay) -> Fraction:
        key = amount, play.state, play.reward
        if key not in play.said:
            play.said[key] = amount(account, play)
        return play.said[key]

    return found


class GeneralAccount(NaiveAccount):
    """Rewards; f = v - e, e = alpha*|v| + margin."""

    plays: list[GeneralPlay]  # type: ignore[assignment]

    def __init__(
        self,
        default: Any = None,
        alpha: Any = 0,
        reward_range: Any = (0, 1),
        reserve: Any = 0,
        places: int | None = None,
        against: str = "realised",
        target: Any = None,
        margin: Any = 0,
        max_slack: Any = None,
    ) -> None:
        self.default = None if default is None else known(default)
        self.alpha, self.margin = rational(alpha), rational(margin)
        self.unit = None if places is None else Fraction(1, 10**places)
        self.range = rational(reward_range[0]), rational(reward_range[1])
        self.read_range()
        self.reserve = self.down(rational(reserve))
        self.level = None
        if against == "fixed":
            self.level = self.best(self.default) if target is None else rational(target)
        self.max_slack = None if max_slack is None else self.down(rational(max_slack))
        self.forfeited = Fraction(0)
        self.mismatches = 0
        self.plays = []
        self.breached = False

    def read_range(self) -> None:
        self.r_min, self.r_max = self.down(self.range[0]), self.down(self.range[1])

    def down(self, x: Fraction) -> Fraction:
        return x if self.unit is None else floor(x / self.unit) * self.unit

    def up(self, x: Fraction) -> Fraction:
        return -self.down(-x)

    def read(self, r: Fraction) -> Fraction:
        """What is told, as it counts."""
        return self.down(r)

    def best(self, default: Ends) -> Fraction:
        return default[1]

    def e(self, x: Fraction) -> Fraction:
        return self.alpha * abs(x) + self.margin

    def least_e(self, default: Ends) -> Fraction:
        """alpha*|x| is least at an end, or at 0 if that lies between."""
        inside = [x for x in (*default, Fraction(0)) if default[0] <= x <= default[1]]
        return min(map(self.e, inside))

    def terms(self, default: Any = None) -> GeneralPlay:
        v = self.default if default is None else known(default)
        if self.level is not None:
            f = self.up(self.level - self.e(self.level))
            d = self.down(v[0]) - f
        elif isinstance(v, tuple):
            f, d = self.up(v[1] - self.e(v[1])), self.down(self.least_e(v))
        else:
            f, d = self.up(v - self.e(v)), self.down(self.e(v))
        return GeneralPlay(True, v, f, max(Fraction(0), f - self.r_min), d, self.alpha, self.margin)

    def forfeit(self) -> Fraction:
        """What is given up at a decision, before the gate is asked."""
        if self.max_slack is None:
            return Fraction(0)
        given_up = max(Fraction(0), self.available() - self.max_slack)
        self.forfeited += given_up
        return given_up

    def too_bad(self, r: Fraction) -> bool:
        return self.read(r) < self.r_min

    def too_good(self, r: Fraction) -> bool:
        return self.read(r) > self.r_max

    def settle(self, number: int, reward: Any = None) -> str:
        play = self.plays[number]
        r = None if reward is None else rational(reward)
        drawn = play.state == "fell_back" and isinstance(play.default, tuple)
        if not play.explores or drawn:
            return self.default_told(play, r)
        if r is None:
            raise Contradiction
        if play.state in {"settled", "capped"}:
            if self.read(r) != self.read(play.reward):
                raise Contradiction
            return "repeated"
        if play.state not in {"open", "expired"}:
            raise Contradiction
        late, play.reward, play.state = play.state == "expired", r, "settled"
        if self.too_good(r):
            play.state = "capped"
            return "capped"
        if self.too_bad(r):
            self.breached = True
            return "breach"
        return "booked_late" if late else "booked"

    def default_told(self, play: GeneralPlay, r: Fraction | None) -> str:
        if play.state == "void":
            raise Contradiction
        if r is not None and play.reward is not None and self.read(r) != self.read(play.reward):
            raise Contradiction
        first = play.state in {"open", "expired"}
        told = r is not None and play.reward is None
        play.reward = r if told else play.reward
        play.state = "settled" if first else play.state
        if not isinstance(play.default, tuple):
            self.mismatches += told and self.read(r) != self.read(play.default)
            return "booked" if first else "repeated"
        if told and not self.read(play.default[0]) <= self.read(r) <= self.read(play.default[1]):
            self.breached = True
            return "breach"
        return "booked" if first or told else "repeated"

    def void(self, number: int) -> str:
        play = self.plays[number]
        if play.state == "expired" and not play.explores:
            play.state = "void"
            return "booked"
        return super().void(number)

    def available(self) -> Fraction:
        return super().available() - self.forfeited

    @once
    def posted(self, play: GeneralPlay) -> Fraction:  # type: ignore[override]
        if play.state in {"open", "void"} or (play.state == "expired" and not play.explores):
            return Fraction(0)
        if play.state == "expired":
            return -play.h
        if play.state == "fell_back" or not play.explores:
            return self.paid(play)
        return self.gained(play)

    def gained(self, play: GeneralPlay) -> Fraction:
        """By a settled exploration; no more than at r_max until that is acknowledged."""
        r = self.r_max if play.state == "capped" else self.read(play.reward)
        return r - play.f

    def paid(self, play: GeneralPlay) -> Fraction:
        """By a default play that was reported."""
        x = play.reward
        if not isinstance(play.default, tuple) or x is None:
            return play.d
        low, high = play.default
        if self.level is not None:
            return self.down(min(x, high)) - play.f
        size = self.earns if self.never_loses(play.default) else abs
        e = lambda value: play.alpha * size(value) + play.margin  # noqa: E731
        return self.down(min(e(x), e(min(max(x, low), high))))

    def earns(self, x: Fraction) -> Fraction:
        return x

    def never_loses(self, default: Ends) -> bool:
        """Then a draw below it, which broke what was declared, posts on the same line."""
        return default[0] >= 0

    def promise(self) -> Fraction:
        """Received + reserve - asked, exactly, if all that is unknown turns out the worst way."""
        return self.reserve - self.forfeited + sum(map(self.promised, self.plays))

    @once
    def promised(self, play: GeneralPlay) -> Fraction:
        if play.state == "open" and play.explores:
            return min(self.received(play) - self.asked(play), Fraction(0))
        if play.explores and play.state in {"settled", "capped", "expired"}:
            return self.received(play) - self.asked(play)
        if play.state in {"settled", "fell_back"}:
            return self.surplus(play)
        return Fraction(0)

    def received(self, play: GeneralPlay) -> Fraction:
        """By an exploration: told, or the worst that was declared."""
        worst, best = self.range
        if play.state == "capped":
            return best
        return worst if play.reward is None else play.reward

    def asked(self, play: GeneralPlay) -> Fraction:
        """Of an exploration; it may stand in for any draw of the default."""
        e = lambda x: play.alpha * abs(x) + play.margin  # noqa: E731
        return max(x - e(x) for x in self.draws(play))

    def surplus(self, play: GeneralPlay) -> Fraction:
        """Of a default play: the least that it can have brought above what it was asked."""
        e = lambda x: play.alpha * abs(x) + play.margin  # noqa: E731
        if not isinstance(play.default, tuple):
            return e(play.default)
        x = play.reward
        if self.level is not None:
            return (play.default[0] if x is None else x) - (self.level - e(self.level))
        return min(map(e, self.draws(play))) if x is None else e(x)

    def draws(self, play: GeneralPlay) -> list[Fraction]:
        """Where x and x - e(x) can be least or most: the ends, and 0 if it lies between."""
        if self.level is not None:
            return [self.level]
        if not isinstance(play.default, tuple):
            return [play.default]
        low, high = play.default
        return [low, high, *([Fraction(0)] if low < 0 < high else [])]


class CostAccount(GeneralAccount):
    """Costs, as the table of a ceiling is written: g = C + e, e = alpha*C + margin.

    ``cost_range`` takes the place of ``reward_range``. A cost counts up, what may be spent down.
    """

    def __init__(self, default: Any = None, alpha: Any = 0, cost_range: Any = (0, 1), **more: Any):
        super().__init__(default, alpha, cost_range, **more)

    def read_range(self) -> None:
        self.c_min, self.c_max = self.up(self.range[0]), self.up(self.range[1])

    def read(self, c: Fraction) -> Fraction:
        return self.up(c)

    def best(self, default: Ends) -> Fraction:
        return default[0]

    def terms(self, default: Any = None) -> GeneralPlay:
        """f is g here: what may be spent."""
        C = self.default if default is None else known(default)
        if self.level is not None:
            g = self.down(self.level + self.e(self.level))
            d = g - self.up(C[1])
        elif isinstance(C, tuple):
            g, d = self.down(C[0] + self.e(C[0])), self.down(self.least_e(C))
        else:
            g, d = self.down(C + self.e(C)), self.down(self.e(C))
        return GeneralPlay(True, C, g, max(Fraction(0), self.c_max - g), d, self.alpha, self.margin)

    def too_bad(self, c: Fraction) -> bool:
        return self.read(c) > self.c_max

    def too_good(self, c: Fraction) -> bool:
        return self.read(c) < self.c_min

    def gained(self, play: GeneralPlay) -> Fraction:
        c = self.c_min if play.state == "capped" else self.read(play.reward)
        return play.f - c

    def paid(self, play: GeneralPlay) -> Fraction:
        if self.level is not None and play.reward is not None:
            return play.f - self.up(max(play.reward, play.default[0]))
        return super().paid(play)

    def earns(self, c: Fraction) -> Fraction:
        return -c

    def never_loses(self, default: Ends) -> bool:
        return default[1] <= 0

    def received(self, play: GeneralPlay) -> Fraction:
        least, most = self.range
        if play.state == "capped":
            return -least
        return -(most if play.reward is None else play.reward)

    def asked(self, play: GeneralPlay) -> Fraction:
        e = lambda C: play.alpha * abs(C) + play.margin  # noqa: E731
        return max(-C - e(C) for C in self.draws(play))

    def surplus(self, play: GeneralPlay) -> Fraction:
        if self.level is None:
            return super().surplus(play)
        cost = play.default[1] if play.reward is None else play.reward
        return self.level + play.alpha * abs(self.level) + play.margin - cost


def known(default: Any) -> Fraction | Ends:
    if isinstance(default, tuple | list):
        return rational(default[0]), rational(default[1])
    return rational(default)
