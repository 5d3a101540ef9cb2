"""The mean-variance promise from the stored rewards: every sum anew, in fractions, no shortcut.

The slack of a list of rewards is n*(rho*mean - variance) - (1-alpha)*rho*mu0*n.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

from naive.account import Contradiction, rational


@dataclass
class NaiveMeanVariance:
    default: Any
    alpha: Any
    rho: Any
    reward_range: Any = (0, 1)
    check: str = "viable"
    plays: list[list[Any]] = field(default_factory=list)
    """[whether it explores, its state, its reward] of each play."""

    def __post_init__(self) -> None:
        self.mu0, self.a, self.r = map(rational, (self.default, self.alpha, self.rho))
        self.ends = tuple(map(rational, self.reward_range))

    def slack(self, rewards: Sequence[Fraction]) -> Fraction:
        if not rewards:
            return Fraction(0)
        n, mean = len(rewards), sum(rewards) / len(rewards)
        deviations = sum((reward - mean) ** 2 for reward in rewards)
        return n * self.r * mean - deviations - (1 - self.a) * self.r * self.mu0 * n

    def viable(self, rewards: Sequence[Fraction]) -> bool:
        """S >= n*max(0, d - sqrt(c))^2, d = |mean-mu0|, c = alpha*rho*mu0, without the root."""
        slack = self.slack(rewards)
        if not rewards:
            return slack >= 0
        n, c = len(rewards), self.a * self.r * self.mu0
        d = abs(sum(rewards) / n - self.mu0)
        if d * d <= c:
            return slack >= 0
        # d - sqrt(c) <= sqrt(S/n), so d^2 <= c + S/n + 2 sqrt(c S/n).
        rest = d * d - c - slack / n
        return slack >= 0 and (rest <= 0 or rest * rest <= 4 * c * slack / n)

    def known(self) -> list[Fraction]:
        return [reward for _, state, reward in self.plays if state in {"settled", "fell_back"}]

    def pending(self) -> int:
        return sum(explores and state in {"open", "expired"} for explores, state, _ in self.plays)

    def cases(self, unknown: int) -> Iterable[list[Fraction]]:
        """The known rewards and so many unknown ones, each at an end of the range."""
        for ends in combinations_with_replacement(self.ends, unknown):
            yield [*self.known(), *ends]

    def worst(self) -> Fraction:
        """The least slack that pending rewards, any number of them, may lead to."""
        return min(self.slack(case) for u in range(self.pending() + 1) for case in self.cases(u))

    def allows(self) -> bool:
        unknown = self.pending()
        if self.check == "viable":
            return all(map(self.viable, self.cases(unknown + 1)))
        if self.check == "exact":
            return all(self.slack(case) >= 0 for case in self.cases(unknown + 1))
        # (t-1)*MV_{t-1} - 2 >= (1-alpha)*MV0*t
        asked = 2 + (1 - self.a) * self.r * self.mu0
        return all(self.slack(case) >= asked for case in self.cases(unknown))

    def decide(self, explores: bool) -> int:
        self.plays.append([explores, "open", None])
        return len(self.plays) - 1

    def settle(self, number: int, reward: Any = None) -> str:
        explores, state, known = self.plays[number]
        if state in {"void", "fell_back"}:
            raise Contradiction
        if not explores:
            self.plays[number] = [False, "settled", self.mu0]
            return "booked" if state == "open" else "repeated"
        if state == "settled":
            if known == rational(reward):
                return "repeated"
            raise Contradiction
        self.plays[number] = [True, "settled", rational(reward)]
        return "booked" if state == "open" else "booked_late"

    def expire(self, number: int) -> str:
        return self._end(number, "expired", explores=True)

    def void(self, number: int) -> str:
        if self.plays[number][1] == "expired":
            raise Contradiction
        return self._end(number, "void", explores=False)

    def _end(self, number: int, end: str, explores: bool) -> str:
        explored, state, _ = self.plays[number]
        if state == "open" and (explored or not explores):
            self.plays[number][1] = end
            return "booked"
        return "repeated" if state == end else "ignored"

    def fall_back(self, number: int) -> str:
        explores, state, _ = self.plays[number]
        if not explores:
            return self.settle(number)
        if state == "fell_back":
            return "repeated"
        if state != "open":
            raise Contradiction
        self.plays[number][1:] = "fell_back", self.mu0
        return "booked"


def index(rewards: Sequence[Fraction], m: int, n_arms: int, rho: float) -> float:
    """MV + (5+rho) sqrt(ln(12 K m^3) / 2N) of one arm's rewards in [0, 1]; infinite without any."""
    if not rewards:
        return math.inf
    n = len(rewards)
    mean = float(sum(rewards)) / n
    variance = max(0.0, float(sum(r * r for r in rewards)) / n - mean * mean)
    level = math.log(12 * n_arms) + 3 * math.log(m)
    return rho * mean - variance + (5 + rho) * math.sqrt(level / (2 * n))


def choose(arms: Sequence[Sequence[Fraction]], m: int, rho: float) -> tuple[int, float]:
    """The first arm of the largest index, and that index."""
    indices = [index(rewards, m, len(arms), rho) for rewards in arms]
    return indices.index(max(indices)), max(indices)
