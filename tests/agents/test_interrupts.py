"""Wherever Ctrl-C strikes, the promise holds over the plays that were handed out.

The judge counts in Fractions what was handed out and made; it knows nothing of the books.
"""

from fractions import Fraction
from pathlib import Path

import pytest

import surefoot
from interrupts import interrupted
from learners import Counter
from surefoot.agents import GenCB
from surefoot.floors import RewardFloor

HOME = str(Path(surefoot.__file__).parent)
MU0 = Fraction(1, 2)
STEPS = ("select", "update", "update default", "void", "void default", "expire", "fall_back")


class World:
    """All explorations pay 0, all that is handed out is made but what was asked to be void."""

    def __init__(self, n, alpha, before):
        floor = RewardFloor(default=0.5, alpha=alpha, checkpoint=n)
        self.agent = GenCB(Counter(3), floor, seed=0, default_competes=False)
        self.n, self.share = n, 1 - Fraction(str(alpha))
        self.made, self.received, self.worst = 0, Fraction(0), []
        for _ in range(before):
            self.turn()

    def count(self, is_default):
        self.made += 1
        self.received += MU0 * is_default
        if self.made % self.n == 0:
            self.worst.append(self.received - self.share * MU0 * self.made)

    def turn(self):
        play = self.agent.select()
        self.count(play.is_default)
        self.agent.update(play, None if play.is_default else 0)

    def broken_at(self, step):
        """Run one step that may be broken off; returns what to do about the play afterwards."""
        agent = self.agent
        if step == "select":
            return agent.select
        wanted = step.endswith("default")
        play = agent.select()
        while play.is_default != wanted:
            self.count(play.is_default)
            agent.update(play, None if play.is_default else 0)
            play = agent.select()
        if step.startswith("void"):
            return lambda: agent.void(play)
        self.count(play.is_default or step == "fall_back")
        if step.startswith("update"):
            return lambda: agent.update(play, None if play.is_default else 0)
        return lambda: getattr(agent, step)(play)


def strikes(step, n, alpha, before, opcodes):
    """Every point where the step can be broken off, with the world that goes on after it."""
    strike, broken = 0, True
    while broken:
        world = World(n, alpha, before)
        broken = interrupted(world.broken_at(step), strike, opcodes, HOME)
        if step != "select" or broken:
            yield world
        strike += 1


@pytest.mark.parametrize("opcodes", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(("n", "alpha"), [(2, 0.25), (3, 0.34), (4, 0.3), (4, 0.6)])
def test_no_interrupt_breaks_the_promise_at_a_checkpoint(n, alpha, step, opcodes):
    seen = 0
    for before in range(n):
        for world in strikes(step, n, alpha, before, opcodes):
            for _ in range(6 * n):
                world.turn()
            assert min(world.worst) >= 0
            seen += 1
    assert seen > 3 * n


def test_a_play_that_nobody_was_told_of_is_void():
    """Struck where the play is booked but not yet returned, it would hold for ever."""
    voided = 0
    for world in strikes("select", 4, 0.6, 0, True):
        account = world.agent.account
        voided += account.voided
        if account.voided:
            assert (account.plays, account.pending, account.held, account.slack) == (0, 0, 0, 0)
    assert voided > 3


def test_two_interrupts_a_play_break_nothing_either():
    for seed in range(150):
        world = World(3, 0.34, 0)
        for k in range(12):
            strike = 7 + (seed * 13 + k * 29) % 230
            interrupted(world.agent.select, strike, True, HOME)
            world.turn()
        for _ in range(12):
            world.turn()
        assert min(world.worst) >= 0


def test_an_interrupt_while_a_report_is_noted_leaves_the_evidence_whole(tmp_path):
    """An id without its arm had kept the agent from being saved."""
    for strike in range(1_000):
        agent = GenCB(Counter(3), RewardFloor(default=0.5, alpha=0.5), seed=0)
        play = agent.select()
        ended = not interrupted(lambda: agent.update(play), strike, True, f"{HOME}/agents/tally")  # noqa: B023
        agent.update(play)
        after = agent.select()
        agent.update(after, 1.0)
        assert agent.arms()[after.index].told == 1
        agent.save(tmp_path / "agent.json")
        if ended:
            return
