"""Wherever Ctrl-C strikes a worker under a lease, nothing answered is lost and nothing is twice."""

from fractions import Fraction
from pathlib import Path

import pytest

import surefoot
from interrupts import interrupted
from leased import kinds, opened
from surefoot import Outcome
from surefoot.live import MemoryStore
from verifying import proved

HOME = Path(surefoot.__file__).parent / "live"
PARTS = "worker", "flushing", "journal", "leases", "reporting", "engine", "live"
STRUCK = tuple(str(HOME / f"{name}.py") for name in PARTS)
"""The files that an interrupt strikes; what a store does in one is its own affair."""


def play_on(live, count):
    """Play, and report a quarter each."""
    for number in range(count):
        live.update(live.select(id=f"later-{number}"), 0.25)


def strikes(folder, opcodes, prepare, plays=10):
    """A live agent for each point where the action that ``prepare`` gives can be broken off, and
    that was broken off there."""
    strike, broken = 0, True
    while broken:
        live = opened(MemoryStore(), folder / str(strike), plays=plays)
        broken = interrupted(prepare(live), strike, opcodes, STRUCK)
        yield live
        strike += 1
    assert strike > 10


@pytest.mark.parametrize("opcodes", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("size", [2, 50])
def test_a_play_that_is_asked_for_again_is_one_play(tmp_path, size, opcodes):
    """Leases of 2 plays, so that some of it strikes a flush."""

    def select(live):
        play_on(live, 5)
        return lambda: live.select(id="mine")

    for live in strikes(tmp_path, opcodes, select, size):
        play = live.select(id="mine")
        assert live.select(id="mine") == play
        live.update(play, 1)
        live.close()
        report = proved(live.store)
        assert (report["explorations"], report["open"], report["held"]) == (6, 0, 0)
        assert Fraction(report["posted"], 10**9) == 5 * Fraction(1, 4) + 1 - 6 * Fraction(45, 100)


@pytest.mark.parametrize("opcodes", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("size", [2, 50])
def test_a_reward_that_is_reported_again_is_booked_once(tmp_path, size, opcodes):
    plays = []

    def update(live):
        play_on(live, 4)
        plays.append(live.select(id="mine"))
        return lambda: live.update(plays[-1], 1)

    for live in strikes(tmp_path, opcodes, update, size):
        play = plays[-1]
        assert live.update(play, 1) in (Outcome.BOOKED, Outcome.REPEATED)
        assert live.update(play, 1) is Outcome.REPEATED
        play = live.select()
        live.update(play, 0)
        live.close()
        report = proved(live.store)
        assert (report["explorations"], report["open"]) == (6, 0)
        assert kinds(live.store).count("outcome.settled") == 6
        assert Fraction(report["posted"], 10**9) == 2 - 6 * Fraction(45, 100)


@pytest.mark.parametrize("opcodes", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_an_interrupted_flush_left_is_entered_once(tmp_path, opcodes):
    def flush(live):
        play_on(live, 3)
        return live.flush

    for live in strikes(tmp_path, opcodes, flush):
        live._worker.abandon()
        opened(live.store, live._worker.settings.journal).close()
        report = proved(live.store)
        assert (report["explorations"], report["open"], report["held"]) == (3, 0, 0)
