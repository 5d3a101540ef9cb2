import json

import pytest

from surefoot.cli import _terminal
from surefoot.cli._terminal import Watched, drawing, tell, watch

STEPS = [("starting", 0, 2), ("compiling", 0, 2), ("running", 1, 2), ("running", 2, 2)]


def test_steps_are_drawn_to_the_end_with_rate_and_time_left(capsys, monkeypatch):
    monkeypatch.setattr(_terminal, "_drawn", lambda: True)
    assert watch(iter(STEPS)) == Watched(2, stopped=False)
    shown = capsys.readouterr()
    assert "compiling the engine for this machine, once" in shown.err
    assert "2/2 runs" in shown.err
    assert "/s" in shown.err
    assert "left" in shown.err
    assert shown.out == ""


def test_without_a_terminal_there_are_lines_in_place_of_a_bar(capsys):
    assert watch(iter([*STEPS[:3], ("waiting", 1, 2), STEPS[3]])) == Watched(2, stopped=False)
    shown = capsys.readouterr()
    said = shown.err.splitlines()
    assert said[:2] == [
        "compiling the engine for this machine, once",
        "no worker for a minute; waiting for one",
    ]
    assert said[2].startswith("running: 2 of 2 runs; ")
    assert said[2].endswith(" a second, 0 s left")
    assert (len(said), shown.out) == (3, "")


@pytest.mark.parametrize(("done", "total", "rate"), [(5, 11, 2.0), (1, 11, None)])
def test_for_a_machine_each_line_is_json_with_rate_and_time_left(
    capsys, monkeypatch, done, total, rate
):
    now = iter(range(100))
    monkeypatch.setattr(_terminal, "monotonic", lambda: next(now))
    steps = iter([("starting", 1, total), ("running", done, total), ("running", done, total)])
    assert not watch(steps, as_json=True).stopped
    (line,) = capsys.readouterr().err.splitlines()
    found = json.loads(line)
    assert (found["doing"], found["done"], found["total"]) == ("running", done, total)
    if rate is None:
        assert found["rate"] is found["left"] is None
    else:
        assert found["left"] == pytest.approx((total - done) / found["rate"], abs=0.1)


def test_ctrl_c_says_how_far_it_came():
    def steps():
        yield "starting", 1, 5
        yield "running", 2, 5
        raise KeyboardInterrupt

    assert watch(steps()) == Watched(5, stopped=True)


def test_ctrl_c_before_the_first_step():
    def steps():
        raise KeyboardInterrupt
        yield

    assert watch(steps()) == Watched(0, stopped=True)


def test_the_bar_goes_on_while_figures_are_drawn(capsys):
    with drawing(2, "panels") as drawn:
        drawn()
        drawn()
    shown = capsys.readouterr()
    assert "drawing" in shown.err
    assert "2/2 panels" in shown.err
    assert shown.out == ""


def test_a_line_is_told_on_stderr_as_it_is(capsys):
    tell("stopped in /tmp/[x]")
    assert capsys.readouterr().err == "stopped in /tmp/[x]\n"
