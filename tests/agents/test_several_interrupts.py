"""Wherever Ctrl-C strikes, each floor's promise holds, and a play has one id in all books.

The judge counts in Fractions what was handed out and made; it knows nothing of the books.
"""

from fractions import Fraction
from pathlib import Path

import pytest

import surefoot
from interrupts import interrupted
from learners import Counter
from surefoot.agents import GenCB
from surefoot.errors import PlayConflict
from surefoot.floors import CostCeiling, RewardFloor

HOME = str(Path(surefoot.__file__).parent)
SETTINGS = {"quality": (Fraction(2, 5), Fraction(2, 5)), "speed": (Fraction(1, 2), Fraction(1, 2))}
# Quality is closed first and is the tighter one: a hold that comes back too early is spent.
STEPS = (
    "select", "update", "one measure", "default", "void", "void default", "expire", "fall_back",
)  # fmt: skip


class World:
    """All explorations pay 0; what is handed out is made, but where a void came through."""

    def __init__(self, before):
        floors = {
            name: RewardFloor(float(value), float(alpha))
            for name, (value, alpha) in SETTINGS.items()
        }
        self.agent = GenCB(Counter(3), floors, seed=0)
        self.slack = dict.fromkeys(SETTINGS, Fraction(0))
        self.worst = []
        self.handed_out = set()
        for _ in range(before):
            self.turn()

    def count(self, play, as_default=False):
        assert play.id not in self.handed_out
        self.handed_out.add(play.id)
        for name, (value, alpha) in SETTINGS.items():
            received = value if play.is_default or as_default else 0
            self.slack[name] += received - (1 - alpha) * value
        self.worst.append(min(self.slack.values()))

    def tell(self, play):
        measures = {} if play.is_default else {"quality": 0, "speed": 0}
        self.agent.update(play, 0 if measures else None, measures=measures)

    def turn(self):
        play = self.agent.select()
        self.count(play)
        self.tell(play)

    def play(self, default):
        while True:
            play = self.agent.select()
            if play.is_default == default:
                return play
            self.count(play)
            self.tell(play)

    def broken_at(self, step):
        """A step that may be broken off, and the play it is about, uncounted."""
        agent = self.agent
        if step == "select":
            return agent.select, None
        play = self.play(step.endswith("default"))
        calls = {
            "one measure": lambda: agent.update(play, measures={"speed": 0}),
            "void": lambda: agent.void(play),
            "void default": lambda: agent.void(play),
            "expire": lambda: agent.expire(play),
            "fall_back": lambda: agent.fall_back(play),
        }
        return calls.get(step, lambda: self.tell(play)), play


def worlds(step, opcodes, before=(0, 1, 2)):
    """Every point where the step can be broken off, with the world and what to do again."""
    for turns in before:
        strike, broken = 0, True
        while broken:
            world = World(turns)
            call, play = world.broken_at(step)
            broken = interrupted(call, strike, opcodes, HOME)
            if broken:
                yield world, call, play
            strike += 1


@pytest.mark.parametrize("opcodes", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("step", STEPS)
def test_no_interrupt_breaks_a_promise_or_parts_the_ids(step, opcodes):
    seen = 0
    for world, call, play in worlds(step, opcodes):
        if play is not None:
            call()  # sent again, it comes through
            if not step.startswith("void"):
                world.count(play, step == "fall_back")
        for _ in range(12):
            world.turn()
        assert min(world.worst) >= 0
        assert len({books.plays.next_id for books in world.agent.books.all}) == 1
        seen += 1
    assert seen > 6


@pytest.mark.parametrize("opcodes", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("step", ["void", "fall_back"])
@pytest.mark.parametrize("measure", ["quality", "speed"])
def test_a_void_that_was_broken_off_releases_no_hold_of_a_play_that_was_made(
    measure, step, opcodes
):
    """The client did not hear an answer, and tells what the play brought after all."""
    for world, _, play in worlds(step, opcodes):
        try:
            world.agent.update(play, measures={measure: 0})
        except PlayConflict:
            continue  # it came through in the end: nobody can tell otherwise
        world.count(play)
        for _ in range(12):
            world.turn()
        assert min(world.worst) >= 0


@pytest.mark.parametrize("opcodes", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_change_that_was_broken_off_leaves_no_terms_of_a_range_that_is_gone(opcodes):
    """Else a hold would not cover a cost that the new range allows."""
    strike, broken = 0, True
    while broken:
        floors = {"cost": CostCeiling(0.5, 0.2, (0, 1), reserve=9)}
        agent = GenCB(Counter(3), floors, seed=0)
        agent.update(agent.select(), measures={"cost": 1})
        broken = interrupted(
            lambda one=agent: one.change(floor="cost", cost_range=(0, 3)), strike, opcodes, HOME
        )
        terms, books = agent.books.terms().each[0], agent.books.guards["cost"]
        assert terms.floor - terms.hold <= books.low
        strike += 1
    assert strike > 6
