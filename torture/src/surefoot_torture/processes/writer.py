"""A process of a campaign that plays, reports, and notes what it was told, until it is killed."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

from surefoot.errors import StoreUnavailable
from surefoot.floors import Outcome
from surefoot.live.live import Live
from surefoot_torture.processes.children import Diary, opened

T = TypeVar("T")
PATIENCE = 120.0
"""How many seconds a store may be away, if nothing else is said."""

_WAYS = {
    "default": {"update": 8, "void": 1, "fall_back": 1},
    "open": {"update": 10, "capped": 1, "expire": 4, "void": 2, "fall_back": 2},
    "expired": {"update": 1},
    "capped": {"acknowledge": 1},
}
"""What may be reported of a play in a state, and how often."""
_AFTER = {"capped": "capped", "expire": "expired"}


class Writer:
    """Plays at random; its diary says what was meant (``ask``, ``made``) and what was acknowledged
    (``play``, ``told``), and whoever opens it again goes on where it ends.
    """

    def __init__(self, live: Live, diary: Path, seed: int, patience: float = PATIENCE) -> None:
        self.live, self.name, self.patience = live, diary.stem, patience
        self.diary = Diary(diary)
        self.rng = random.Random(seed)  # noqa: S311  (a schedule, no secret)
        self.asked: int = sum(line[0] == "ask" for line in self.diary.lines)
        self.waiting: dict[str, str] = {}
        """The plays that can still be reported, and their state."""

    def run(self, plays: int | None = None) -> int:
        """Play on, for ever or so many plays in all; returns how many there are."""
        self.go_on()
        while plays is None or self.asked < plays:
            self.play()
            for _ in range(self.rng.randrange(3)):
                if self.waiting:
                    self.report(self.rng.choice(list(self.waiting)))
            if self.rng.random() < 0.05:
                surely(self.live.reap, self.patience)  # the leases that are overdue
        return self.asked

    def go_on(self) -> None:
        """Ask again for what was under way when the process before this one was killed."""
        lines = self.diary.lines
        for _, play, index in (line for line in lines if line[0] == "play"):
            self.waiting[play] = "default" if index < 0 else "open"
        for _, play, what, *_ in (line for line in lines if line[0] == "told"):
            self._close(play, what)
        plays = [line for line in lines if line[0] == "play"]
        for _, play, index in plays[-1:]:
            if self.live.play(play).index != index:
                self.diary.note("fault", f"play {play} was another before the kill")
        told = [line for line in lines if line[0] == "told"]
        for _, play, what, reward, _ in told[-1:]:
            self._again(play, what, reward)
        if not lines:
            return
        kind, play, *rest = lines[-1]
        if kind == "ask":
            self._ask(play)
        elif kind == "made":
            self._tell(play, *rest)

    def play(self) -> None:
        """Ask for a play, mostly under an id of one's own."""
        own = f"{self.name}-{self.asked}" if self.rng.random() < 0.8 else None
        self.asked += 1
        self.diary.note("ask", own)
        self._ask(own)

    def report(self, play: str) -> None:
        """Report a play in one of the ways in which it can be reported."""
        ways = _WAYS[self.waiting[play]]
        what = self.rng.choices(list(ways), weights=list(ways.values()))[0]
        reward = None
        if what == "capped":
            reward = "1.5"
        elif what == "update" and self.waiting[play] != "default":
            reward = f"0.{self.rng.randrange(600):03}"  # too little to explore for ever
        self.diary.note("made", play, what, reward)
        self._tell(play, what, reward)
        if self.rng.random() < 0.1:
            self._again(play, what, reward)

    def _ask(self, own: str | None) -> None:
        play = surely(lambda: self.live.select(id=own), self.patience)
        self.diary.note("play", play.id, play.index)
        self.waiting[play.id] = "default" if play.is_default else "open"

    def _tell(self, play: str, what: str, reward: str | None) -> None:
        outcome = surely(lambda: self._call(play, what, reward), self.patience)
        self.diary.note("told", play, what, reward, outcome.value)
        self._close(play, what)

    def _again(self, play: str, what: str, reward: str | None) -> None:
        """A report that was acknowledged is a repeat from then on."""
        outcome = surely(lambda: self._call(play, what, reward), self.patience)
        if outcome not in (Outcome.REPEATED, Outcome.IGNORED):
            self.diary.note("fault", f"{what} of play {play} was booked twice: {outcome}")

    def _call(self, play: str, what: str, reward: str | None) -> Outcome:
        if what in ("update", "capped"):
            return self.live.update(play, None if reward is None else Decimal(reward))
        method: Callable[[str], Outcome] = getattr(self.live, what)
        return method(play)

    def _close(self, play: str, what: str) -> None:
        self.waiting.pop(play, None)
        if what in _AFTER:
            self.waiting[play] = _AFTER[what]


def surely(call: Callable[[], T], patience: float = PATIENCE) -> T:
    """Call until the store is there; what was kept without an answer is found by its id."""
    stop = time.monotonic() + patience
    while True:
        try:
            return call()
        except StoreUnavailable:
            if time.monotonic() > stop:
                raise
            time.sleep(0.05)


def write(
    address: str, name: str, diary: Path, seed: int, plays: int | None, journal: Path | None
) -> int:
    """What a child does: open a Live of its own and play; under leases if there is a journal."""
    live = surely(lambda: opened(address, name, journal))
    asked = Writer(live, diary, seed).run(plays)
    surely(live.close)
    return asked
