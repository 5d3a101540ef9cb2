"""A judge of reward floors who knows what every play would have paid, in fractions.

Not the table of events but the promise itself: the world draws, before anything is decided, what
the default would pay at each play and what an exploration would, and the judge adds up.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from naive.account import rational


@dataclass
class Made:
    """One play of the world: what was decided, and what is known and true of it."""

    explores: bool
    draw: Fraction
    """What the default pays, or would have."""
    reward: Fraction
    """What an exploration pays."""
    state: str = "open"
    told: bool = False
    """Whether the default's draw was reported."""


class Judge:
    """The promise over the plays made; ``settings`` are those of the floor."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.low, self.high = map(rational, settings["default"])
        self.alpha, self.reserve = rational(settings["alpha"]), rational(settings["reserve"])
        self.r_min = rational(settings["reward_range"][0])
        fixed = settings["against"] == "fixed"
        target = settings["target"]
        self.level = (self.high if target is None else rational(target)) if fixed else None
        self.plays: list[Made] = []

    def asked(self, play: Made) -> Fraction:
        """What the promise asks of one play that was made."""
        return (1 - self.alpha) * (play.draw if self.level is None else self.level)

    def kept(self) -> Fraction:
        """Received + reserve - asked; what is open pays its worst: r_min, or it was not made."""
        total = self.reserve
        for play in self.plays:
            if play.state == "fell_back" or (not play.explores and play.state == "settled"):
                total += play.draw - self.asked(play)
            elif play.explores and play.state == "settled":
                total += play.reward - self.asked(play)
            elif play.explores and play.state == "expired":
                total += self.r_min - self.asked(play)
            elif play.explores and play.state == "open":
                total += min(self.r_min - self.asked(play), Fraction(0))
        return total

    def available(self) -> Fraction:
        """The table of account.md, of fractions: reserve + posted - held."""
        f = (1 - self.alpha) * (self.high if self.level is None else self.level)
        h = max(Fraction(0), f - self.r_min)
        total = self.reserve
        for play in self.plays:
            if play.state == "fell_back" or (not play.explores and play.state == "settled"):
                value = play.draw if play.told else self.low
                total += self.alpha * value if self.level is None else value - f
            elif play.explores and play.state in {"open", "expired"}:
                total -= h
            elif play.explores and play.state == "settled":
                total += play.reward - f
        return total


class Worlds:
    """Every way the open plays may turn out, for a promise at every n-th play made.

    A void play, and any open one, may never have been made; an open exploration that was made pays
    r_min. The judge tries all numbers of each kind.
    """

    def __init__(self, mu0: Any, alpha: Any, r_min: Any, reserve: Any, n: int) -> None:
        self.mu0, self.alpha, self.r_min = map(rational, (mu0, alpha, r_min))
        self.reserve, self.n = rational(reserve), n
        self.plays: list[Made] = []

    def worst(self) -> Fraction | None:
        """The least that is kept in a world that stands at a checkpoint; None if none does."""
        f = (1 - self.alpha) * self.mu0
        sure = [p for p in self.plays if p.state not in {"open", "void"}]
        kept = self.reserve + sum((self.received(p) - f for p in sure), Fraction(0))
        explorations = sum(p.explores and p.state == "open" for p in self.plays)
        defaults = sum(not p.explores and p.state == "open" for p in self.plays)
        return min(
            (
                kept + i * (self.r_min - f) + j * (self.mu0 - f)
                for i in range(explorations + 1)
                for j in range(defaults + 1)
                if (len(sure) + i + j) % self.n == 0
            ),
            default=None,
        )

    def received(self, play: Made) -> Fraction:
        if play.state == "fell_back" or not play.explores:
            return self.mu0
        return play.reward if play.state == "settled" else self.r_min
