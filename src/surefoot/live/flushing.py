"""Turns of the threads that flush a journal, and when the next flush is due."""

from __future__ import annotations

import threading
import time

monotonic = time.monotonic
_PATIENCE = 3
"""How often the pause between two flushes is doubled at most."""


class FlushTurn:
    """One flush at a time, and after flushes that failed a longer pause before the next.

    A flush is due once twice ``plays`` steps are in the journal, or half of ``term`` is over, in
    microseconds. Each failure in a row doubles both, counted from that failure.
    """

    def __init__(self, plays: int, term: int) -> None:
        self.lock = threading.RLock()
        """Held by the thread that flushes; taken before the worker's own lock, never after it."""
        self.done = self.failures = 0
        """How many flushes ended, and how many failed."""
        self.why = ""
        """The error of the newest failure."""
        self._plays, self._term = plays, term
        self._since = self._tried = monotonic()
        self._in_a_row = self._left = 0
        """How many failed in a row, and how many steps the newest failure left."""

    @property
    def elapsed(self) -> int:
        """How long ago the newest flush was, in microseconds."""
        return int((monotonic() - self._since) * 1e6)

    @property
    def late(self) -> bool:
        """Whether half of the lease's term is over."""
        return 2 * (monotonic() - self._since) * 1e6 >= self._term

    def due(self, steps: int) -> bool:
        """Whether a flush is due, with so many steps in the journal."""
        if steps - self._left >= 2 * self._plays << self._in_a_row:
            return True
        return 2 * (monotonic() - self._tried) * 1e6 >= self._term << self._in_a_row

    def ended(self) -> None:
        """A flush is in the ledger."""
        self._since = self._tried = monotonic()
        self._in_a_row = self._left = 0
        self.done += 1

    def failed(self, failures: int, why: str, steps: int) -> None:
        """A flush failed, with so many steps in the journal; ``failures``: as before it."""
        self.failures, self.why = failures + 1, why
        self._in_a_row = min(self._in_a_row + 1, _PATIENCE)
        self._tried, self._left = monotonic(), steps
