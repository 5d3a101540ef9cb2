"""What clients do to a worker that answers: they claim no play that they did not make."""

import random

from surefoot.live import MemoryStore
from surefoot.testing._fault_plan import planned
from surefoot.testing._fault_workers import Clock
from surefoot.testing._fault_world import World

CREDITED = {
    "outcome.settled": "arm", "outcome.late": "arm", "outcome.as_default": "default",
    "decision.confirmed": "default",
}  # fmt: skip


def test_whatever_is_credited_was_made():
    credited = 0
    for seed in range(40):
        rng, clock = random.Random(seed), Clock()
        world = World(planned(rng, (10, 30)), rng, MemoryStore(clock), clock, "a")
        world.run()
        for entry in world.inner.entries("a"):
            if entry.kind in CREDITED:
                credited += 1
                assert world.judge.pages[entry.play].made == CREDITED[entry.kind]
    assert credited > 300
