"""Wherever Ctrl-C strikes a worker under a lease, nothing answered is lost and nothing is twice."""

import sys
from fractions import Fraction
from pathlib import Path

import pytest

import surefoot
from leased import kinds, opened
from surefoot import Outcome
from surefoot.live import MemoryStore
from verifying import proved

HOME = Path(surefoot.__file__).parent / "live"
STRUCK = {str(HOME / f"{name}.py") for name in ("worker", "journal", "leases", "reporting", "live")}
"""The files that an interrupt strikes; what a store does in one is its own affair."""


def interrupted(action, strike, opcodes):
    """Whether Ctrl-C at the ``strike``-th event in ``STRUCK`` broke off ``action``; an
    event is the entry of a function or, with ``opcodes``, any instruction."""
    left = [strike]

    def trace(frame, event, arg):
        if frame.f_code.co_filename not in STRUCK:
            return None
        frame.f_trace_opcodes = opcodes
        if event == ("opcode" if opcodes else "call"):
            left[0] -= 1
            if left[0] < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def play_on(live, count):
    """Play and report on; how much was received of it."""
    for number in range(count):
        live.update(live.select(id=f"later-{number}"), 0.25)
    return Fraction(count, 4)


@pytest.mark.parametrize("opcodes", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("size", [2, 50])
def test_a_play_that_is_asked_for_again_is_one_play(tmp_path, size, opcodes):
    """Leases of 2 plays, so that some of it strikes a flush."""
    strike, broken = 0, True
    while broken:
        store = MemoryStore()
        live = opened(store, tmp_path / str(strike), plays=size)
        received = play_on(live, 5)
        broken = interrupted(lambda one=live: one.select(id="mine"), strike, opcodes)
        play = live.select(id="mine")
        assert live.select(id="mine") == play
        live.update(play, 1)
        live.close()
        report = proved(store)
        assert (report["explorations"], report["open"], report["held"]) == (6, 0, 0)
        gained = received + 1 - 6 * Fraction(45, 100)
        assert Fraction(report["posted"], 10**9) == gained
        strike += 1
    assert strike > 10


@pytest.mark.parametrize("opcodes", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("size", [2, 50])
def test_a_reward_that_is_reported_again_is_booked_once(tmp_path, size, opcodes):
    strike, broken = 0, True
    while broken:
        store = MemoryStore()
        live = opened(store, tmp_path / str(strike), plays=size)
        play_on(live, 4)
        play = live.select(id="mine")
        broken = interrupted(lambda one=live, play=play: one.update(play, 1), strike, opcodes)
        assert live.update(play, 1) in (Outcome.BOOKED, Outcome.REPEATED)
        assert live.update(play, 1) is Outcome.REPEATED
        play = live.select()
        live.update(play, 0)
        live.close()
        report = proved(store)
        assert (report["explorations"], report["open"]) == (6, 0)
        assert kinds(store).count("outcome.settled") == 6
        assert Fraction(report["posted"], 10**9) == 2 - 6 * Fraction(45, 100)
        strike += 1
    assert strike > 10


@pytest.mark.parametrize("opcodes", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_an_interrupted_flush_left_is_entered_once(tmp_path, opcodes):
    strike, broken = 0, True
    while broken:
        store = MemoryStore()
        live = opened(store, tmp_path / str(strike))
        play_on(live, 3)
        broken = interrupted(live.flush, strike, opcodes)
        live._worker.abandon()
        opened(store, tmp_path / str(strike)).close()
        report = proved(store)
        assert (report["explorations"], report["open"], report["held"]) == (3, 0, 0)
        strike += 1
    assert strike > 10
