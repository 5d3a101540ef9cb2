from surefoot.cli._terminal import Watched, drawing, tell, watch


def test_steps_are_drawn_to_the_end(capsys):
    steps = iter([("starting", 0, 2), ("compiling", 0, 2), ("running", 1, 2), ("running", 2, 2)])
    assert watch(steps) == Watched(2, stopped=False)
    shown = capsys.readouterr()
    assert "compiling the engine for this machine, once" in shown.err
    assert shown.out == ""


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
