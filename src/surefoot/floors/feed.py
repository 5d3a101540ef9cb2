"""Which order default plays are fed to the odds sequence in: that of their decisions.

An index is given when a feeding default play is decided, and the play is fed once all before it
are resolved: told, or never told, which counts at the worst for either end. Fed as they arrive,
bad news told at once would be learned without the good news that is told late.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from surefoot.floors.odds import Sequence, due

Fed = tuple[int | None, ...]
"""Empty: not resolved yet; else what it paid, in units, or None: that was never told."""
UNTOLD: Fed = ()
LOST: Fed = (None,)


class Feed:
    """The default plays that wait for their turn, and the sequence of those that had it.

    >>> feed = Feed(Sequence(0, 100))
    >>> feed.give(7), feed.give(8)
    (0, 1)
    >>> feed.tell(8, (100,))  # play 7 was decided before
    >>> feed.step(), feed.n
    (False, 0)
    >>> feed.tell(7, (0,))
    >>> feed.step(), feed.step(), feed.n
    (True, True, 2)
    """

    __slots__ = ("_order", "given", "sequence", "waiting")

    def __init__(self, sequence: Sequence) -> None:
        self.sequence = sequence
        self.waiting: dict[int, Fed] = {}
        """By play id; in the order of the decisions."""
        self._order = deque[int]()
        """Their ids, void ones too: a dict would search all it has deleted to find the first."""
        self.given = 0
        """How many indexes were given."""

    @property
    def n(self) -> int:
        """How many plays were fed."""
        return self.sequence.n

    def give(self, play: int, fed: Fed = UNTOLD) -> int:
        """Give a default play the next index; returns it."""
        self.waiting[play] = fed
        self._order.append(play)
        self.given += 1
        return self.given - 1

    def waits(self, play: int) -> bool:
        """Whether the play has an index and is not resolved."""
        return self.waiting.get(play) == UNTOLD

    def tell(self, play: int, fed: Fed) -> None:
        """Resolve a play, if that was waited for."""
        if self.waits(play):
            self.waiting[play] = fed

    def leave_out(self, play: int) -> None:
        """The play was never made; what was fed of it stays."""
        self.waiting.pop(play, None)
        while self._order and self._order[-1] not in self.waiting:
            self._order.pop()  # else void plays pile up behind one that is not told

    @property
    def head(self) -> int | None:
        """The play that all others wait for, if it is not resolved."""
        order = self._order
        while order and order[0] not in self.waiting:
            order.popleft()
        return order[0] if order and not self.waiting[order[0]] else None

    def step(self) -> bool:
        """Feed the next play, if it is resolved; whether one was fed."""
        if self.head is not None or not self._order:
            return False
        (paid,) = self.waiting.pop(self._order.popleft())
        if paid is None:
            self.sequence.lose()
        else:
            self.sequence.take(paid)
        return True

    @property
    def due(self) -> bool:
        """Whether the ends are looked at now."""
        return due(self.n)

    def state(self) -> dict[str, Any]:
        """JSON-able state."""
        waiting = [[play, *fed] for play, fed in self.waiting.items()]
        return {"sequence": self.sequence.state(), "given": self.given, "waiting": waiting}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Feed:
        """The inverse of ``state``; ValueError for what is none."""
        feed = cls(Sequence.restored(state["sequence"]))
        feed.given = state["given"]
        feed.waiting = {play: tuple(fed) for play, *fed in state["waiting"]}
        feed._order.extend(feed.waiting)
        order = list(feed.waiting)
        if not feed.n + len(order) <= feed.given or order != sorted(order):
            raise ValueError(
                f"{feed.n} default plays were fed and {len(feed.waiting)} wait, of {feed.given}"
            )
        return feed
