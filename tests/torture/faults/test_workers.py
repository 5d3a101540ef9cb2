from surefoot_torture.faults.workers import START, Clock


def test_the_clock_jumps_and_runs_backwards():
    clock = Clock()
    clock.true = 5.0
    assert clock() == START + 5_000_000
    clock.jump(-10)
    assert clock() == START - 5_000_000
    clock.turn()
    assert clock() == START - 5_000_000
    clock.true = 6.0
    assert clock() == START - 6_000_000
    clock.reset()
    assert clock() == START
