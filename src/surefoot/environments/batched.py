"""Batched: rewards that come together, at the end of each batch of plays."""

from __future__ import annotations

from typing import Any

from surefoot.environments._kernels import WRAPPERS
from surefoot.environments._timing import BATCH, Timing, Wrapper, whole


class Batched(Wrapper):
    """An environment whose rewards are known at the end of their batch of ``size`` plays.

        arrival of play t = size * ceil(t / size)

    Source: Perchet, Rigollet, Chassang, Snowberg 2016, with batches of one size. ``env``: any
    environment; ``size``: plays a batch, an int >= 1, 1 being no batches. Plays are counted with
    the default's, from the first of the run. Raises InvalidInput for another number, and for an
    environment that has delays. Holds, defaults and the horizon: as ``Delayed``.

    >>> from surefoot import BernoulliArms
    >>> env = Batched(BernoulliArms([0.8, 0.2]), 100)
    >>> [env.arrival(key=7, play=play) for play in (1, 99, 100, 101)]
    [100, 100, 100, 200]

    Holds when: batches are of one size. Does not hold when: a batch lasts a day of varying traffic.
    """

    def __init__(self, env: Any, size: int) -> None:
        plays = whole(size, "size", 1)
        super().__init__(env, Timing(BATCH, plays, plays - 1, 0.0))

    @property
    def size(self) -> int:
        """Plays a batch."""
        return self.timing.low

    def __repr__(self) -> str:
        return f"Batched({self.env!r}, {self.size})"


WRAPPERS.add(Batched)
