"""The workers of a simulation, and the clock that they share."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.errors import InvalidInput, PlayConflict, StoreUnavailable, UnknownPlay
from surefoot.floors import Outcome
from surefoot.live.live import Live
from surefoot_torture.faults.host import Host
from surefoot_torture.faults.plan import Balked, Setup
from surefoot_torture.faults.store import Faulty

if TYPE_CHECKING:
    from surefoot_torture.faults.world import World

START = 1_800_000_000_000_000
"""Where the store's clock starts, in microseconds since 1970."""
DONE = "done"
"""The answer to what returns nothing."""


class Crash(BaseException):
    """The worker's process is gone."""


class Clock:
    """The store's clock: it may jump, and run backwards."""

    def __init__(self) -> None:
        self.true = 0.0
        """The simulation's own time, in seconds."""
        self.reset()

    def reset(self) -> None:
        """Start again."""
        self.true, self._offset, self._rate = 0.0, 0.0, 1

    def __call__(self) -> int:
        return START + int(1_000_000 * (self._rate * self.true + self._offset))

    def jump(self, seconds: float) -> None:
        """Be wrong by so much more."""
        self._offset += seconds

    def turn(self) -> None:
        """Run the other way from now on."""
        self._offset += 2 * self._rate * self.true
        self._rate = -self._rate


class Worker:
    """A process: a live agent of each experiment, over a store of its own that breaks."""

    def __init__(self, world: World, host: Host | None) -> None:
        self.world, self.host = world, host
        self.store = Faulty(world.inner)
        self.lives: dict[str, Live] = {}
        self.asleep = 0.0
        """Until when it is stopped."""

    def live(self, setup: Setup) -> Live:
        """The agent of an experiment; opened, or recovered, when it is first needed."""
        found = self.lives.get(setup.name)
        if found is None:
            found = self.lives[setup.name] = self.world.open(setup, self)
        return found

    def kill(self) -> None:
        """Drop all that is in memory."""
        for live in self.lives.values():
            if live._worker is not None:
                live._worker.abandon()
        self.lives.clear()

    def serve(self, setup: Setup, request: Callable[[Live], Any]) -> Any:
        """The answer to a request, which may be an error; None if none comes."""
        try:
            live = self.live(setup)
            answer = request(live)
            answer = DONE if answer is None else answer
        except Crash:
            self.kill()
            return None
        except StoreUnavailable:
            return None
        except (InvalidInput, PlayConflict, UnknownPlay) as error:
            return error
        except Balked as error:  # at a reward: it is booked all the same
            return Outcome.BOOKED if "update" in error.args else None
        except Exception as error:  # noqa: BLE001  (whatever it is, it must not happen)
            self.world.judge.wrong("broken", _where(error))
            return None
        if live.degraded:
            self.world.judge.wrong("broken", f"degraded: {live.degraded}")
        return answer


def _where(error: Exception) -> str:
    """An error in one line, with the innermost places it came through."""
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    places = " > ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)
    return f"{type(error).__name__}: {error} ({places})"
