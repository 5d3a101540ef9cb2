"""A connection to PostgreSQL that nobody waits on for ever, whatever becomes of the network.

TCP notices that what was sent is not acknowledged, and that nobody is there any more. That a peer
acknowledges all and never answers, only the one who waits for it can tell.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from math import ceil, inf
from typing import Any

import psycopg


class Silent(psycopg.OperationalError):
    """The server said nothing for too long."""


class Patient(psycopg.Connection[Any]):
    """psycopg's connection; it is closed once a wait takes longer than ``patience`` seconds."""

    patience: float = inf
    idle = False
    """Whether it has served before, and may have died since."""

    def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        """What psycopg waits by, always; Silent when that takes too long."""
        try:
            return super().wait(_bounded(gen, self.patience), *args, **options)
        except Silent:
            self.close()  # says nothing that could wait: whatever comes of it, nobody hears
            raise


def _bounded(gen: Any, patience: float) -> Generator[Any, Any, Any]:
    """The same generator, which psycopg resumes several times a second, with an end."""
    stop = time.monotonic() + patience
    try:
        wants = next(gen)
        while True:
            ready = yield wants
            if not ready and time.monotonic() > stop:
                raise Silent(f"no answer within {patience:g} s")
            wants = gen.send(ready)
    except StopIteration as end:
        return end.value


def bounds(timeout: float) -> dict[str, int]:
    """libpq's own bounds, in its units: on connecting, on what is sent, on who is not there."""
    seconds = max(1, ceil(timeout))
    return {
        "connect_timeout": max(2, seconds),  # libpq takes no less
        "tcp_user_timeout": ceil(timeout * 1000),
        "keepalives": 1,
        "keepalives_idle": seconds,
        "keepalives_interval": max(1, seconds // 3),
        "keepalives_count": 3,
    }
