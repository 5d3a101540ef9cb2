"""What clients do to a worker that answers: they claim no play that they did not make."""

import random
from collections import Counter

from surefoot.live import MemoryStore
from surefoot.live.play import LivePlay
from surefoot_torture.faults.plan import planned
from surefoot_torture.faults.workers import Clock
from surefoot_torture.faults.world import World

CREDITED = {
    "outcome.settled": "arm", "outcome.late": "arm", "outcome.as_default": "default",
    "decision.confirmed": "default",
}  # fmt: skip


def lived(seed, folder=None):
    """A world that ran, with leases if there is a folder for journals."""
    rng, clock = random.Random(seed), Clock()
    plan = planned(rng, (10, 30), leases=folder is not None)
    if folder is not None:
        plan = plan._replace(workers=3, roams=True)
    world = World(plan, rng, MemoryStore(clock), clock, "a", folder)
    world.run()
    for worker in world.workers:
        for live in worker.lives.values():
            live.close()
    return world


def test_whatever_is_credited_was_made():
    credited = 0
    for seed in range(40):
        world = lived(seed)
        for entry in world.inner.entries("a"):
            if entry.kind in CREDITED:
                credited += 1
                assert world.judge.pages[entry.play].made == CREDITED[entry.kind]
    assert credited > 300


def test_of_the_plays_that_one_id_became_under_leases_one_is_made_at_most(tmp_path):
    twins = 0
    for seed in range(60):
        world = lived(seed, tmp_path / str(seed))
        plays = {}
        for entry in world.inner.entries("a"):
            if entry.kind.startswith("decision.") and "request" in entry.payload:
                plays[entry.play] = LivePlay.of(entry, world.judge.places).id
            if entry.kind in CREDITED:
                assert world.judge.pages[plays[entry.play]].made == CREDITED[entry.kind]
        made = Counter(own(name) for name, page in world.judge.pages.items() if page.made)
        given = Counter(own(name) for name, page in world.judge.pages.items() if page.answer)
        assert set(made.values()) <= {1}
        twins += sum(count > 1 for count in given.values())
    assert twins > 20


def own(name):
    return name.partition(".")[0]
