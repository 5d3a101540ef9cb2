"""What a default of an interval was told to have paid, and by what it competes meanwhile.

    y_i = (min(max(x_i, l_i), u_i) - l_i)/(u_i - l_i)      each told draw x_i, by its own interval
    theta ~ Beta(1 + S, 1 + n - S)                         n draws, S = sum of y_i, made whole
    value = l + theta (u - l)                              at a play with the interval (l, u)

Ours, after Thompson 1933; the interval is the prior's support, so that nothing outside it is ever
competed with. S is made whole by rounding up with the probability of its fraction, which keeps its
mean; as for [0, 1] rewards of Bernoulli trials (Agrawal, Goyal 2012), the spread is that of draws
of 0 and 1, which vary most of all with their mean. The two uniform numbers of a turn are pure
functions of the agent's key and the turn: a loaded agent, a replay of its ledger and a retry have
the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.floors import Terms
from surefoot.kernels import NANO, beta_quantile, uniform

_PART = int(NANO)
"""One whole y: sums are of whole numbers, so that their order does not matter."""
_ROUND, _THETA = -2, -3  # no arm has these numbers


class Draws:
    """The told draws of one agent's default.

    >>> draws = Draws()
    >>> for paid in [45, 50, 55]:
    ...     draws.take(Terms(40, 0, 0, 0, high=60), paid)
    >>> draws.plays, draws.parts
    (3, 1500000000)
    >>> 40 < draws.sample(Terms(40, 0, 0, 0, high=60), key=7, turn=1) < 60
    True
    """

    __slots__ = ("parts", "plays")

    def __init__(self, plays: int = 0, parts: int = 0) -> None:
        self.plays, self.parts = plays, parts

    def take(self, terms: Terms, paid: int) -> None:
        """Take in what a default play at these terms paid, in units."""
        low, high = terms.value, terms.high
        if high is None or high <= low:  # nothing is learned of a known value
            return
        self.plays += 1
        self.parts += (min(max(paid, low), high) - low) * _PART // (high - low)

    def sample(self, terms: Terms, key: int, turn: int) -> float:
        """A sample of what the default pays at these terms, in units."""
        low, high = terms.value, terms.high
        if high is None or high <= low:
            return low
        won, rest = divmod(self.parts, _PART)
        won += uniform(key, turn, _ROUND) * _PART < rest
        theta = beta_quantile(uniform(key, turn, _THETA), 1.0 + won, 1.0 + self.plays - won)
        return low + theta * (high - low)


def own_key(rng: np.random.Generator) -> int:
    """A key that a generator has from its seed: the same however much was drawn from it.

    >>> rng = np.random.default_rng(0)
    >>> key = own_key(rng)
    >>> _ = rng.random(9)
    >>> own_key(rng) == key != own_key(np.random.default_rng(1))
    True

    Does not hold when: it is not numpy's usual PCG64: then all have the key 0.
    """
    state: Any = rng.bit_generator.state["state"]
    stream = int(state.get("inc", 0)) if isinstance(state, dict) else 0
    return (stream ^ (stream >> 64)) & (2**64 - 1)
