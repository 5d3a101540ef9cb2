"""Runs that are killed between two blocks, and taken up by a plan that is made anew."""

import io
import itertools

import numpy as np


class Killed(Exception):
    """The process is gone, so to say."""


class Memory:
    """Keeps the state of a run at one of the times it is asked, and ends the run there."""

    def __init__(self, at=None, state=None):
        self.at, self.state, self.asked = at, state, itertools.count()

    def kept(self):
        return self.state

    def keep(self, state, ending):
        if next(self.asked) == self.at:
            self.state = through_a_file(state())
            raise Killed


class Kept:
    """Keeps the state of a run at the ``at``-th time it is asked, and lets the run go on."""

    def __init__(self, at):
        self.left, self.state = at, None

    def kept(self):
        return self.state

    def keep(self, state, ending):
        self.left -= 1
        if self.left == 0:
            self.state = state()


def through_a_file(state):
    """What comes back of a state that is written and read."""
    file = io.BytesIO()
    np.savez(file, **state)
    with np.load(io.BytesIO(file.getvalue()), allow_pickle=False) as read:
        return dict(read)


def blocks(plan, engine, run=0):
    """How often a run could stop."""
    memory = Memory()
    plan.run(run, engine, keeper=memory)
    return next(memory.asked)


def killed(plan, engine, at, run=0, state=None):
    """The state of a run that is killed when it is asked for the ``at``-th time."""
    memory = Memory(at, state)
    try:
        plan.run(run, engine, keeper=memory)
    except Killed:
        return memory.state
    raise AssertionError("the run ended before it was killed")


def resumed(plan, engine, state, run=0):
    return plan.run(run, engine, keeper=Memory(state=state))


def same(one, other):
    """To the last bit, in every column."""
    assert list(one) == list(other)
    for name, trace in one.items():
        assert (trace.books == other[name].books).all(), name
        assert trace.losses.tobytes() == other[name].losses.tobytes(), name
        assert trace.faults == other[name].faults
    return True


def differ(one, other):
    try:
        same(one, other)
    except AssertionError:
        return True
    return False
