import pytest

from surefoot.floors import Account, State, Terms
from surefoot.floors.events import Record, decided, step

F, H, D = 665, 615, 35
"""f, h and a default's deposit, for mu0 = 700, alpha = .05, r_min = 50."""
TERMS = Terms(700, F, H, D)
RANGE = (50, 1000)


def of(state=State.OPEN, reward=None, explores=True):
    return Record(explores, TERMS, state, reward)


# The table of events, row by row: what each posts, what it does to what is held.
ROWS = [
    (decided(True, TERMS), 0, +H),
    (decided(False, TERMS), 0, 0),
    (step(of(), "settle", 1000, *RANGE), 1000 - F, -H),
    (step(of(), "settle", 50, *RANGE), 50 - F, -H),
    (step(of(), "settle", 1017, *RANGE), 1000 - F, -H),
    (step(of(), "expire"), -H, -H),
    (step(of(State.EXPIRED), "settle", 1000, *RANGE), 1000 - F + H, 0),
    (step(of(), "void"), 0, -H),
    (step(of(), "fall_back"), D, -H),
    (step(of(explores=False), "settle"), D, 0),
    (step(of(explores=False), "lapse"), 0, 0),
    (step(of(State.EXPIRED, explores=False), "settle"), D, 0),
    (step(of(State.CAPPED, 1017), "acknowledge", None, *RANGE), 17, 0),
]


@pytest.mark.parametrize(("move", "posted", "held"), ROWS)
def test_each_event_is_its_row_of_the_table(move, posted, held):
    account = Account(reserve=3, posted=100, held=2000)
    account.book(move)
    assert account == Account(3, 100 + posted, 2000 + held)


@pytest.mark.parametrize(
    ("report", "reward", "change"),
    [
        ("settle", 50, 0),  # at its worst
        ("settle", 1000, 950),
        ("expire", None, 0),
        ("void", None, H),
        ("fall_back", None, D + H),
    ],
)
def test_no_end_of_an_exploration_lowers_what_is_available(report, reward, change):
    account = Account(held=H)
    before = account.available
    account.book(step(of(), report, reward, *RANGE))
    assert account.available - before == change


def test_expiry_and_its_late_truth_are_together_a_settlement():
    late, timely = Account(held=H), Account(held=H)
    late.book(step(of(), "expire"))
    late.book(step(of(State.EXPIRED), "settle", 700, *RANGE))
    timely.book(step(of(), "settle", 700, *RANGE))
    assert late == timely


def test_a_tie_is_allowed():
    account = Account(reserve=10, posted=5, held=3)
    assert account.available == 12
    assert account.affords(12)
    assert not account.affords(13)


def test_only_a_hold_can_close_the_gate():
    account = Account(posted=H)
    account.book(decided(True, TERMS))
    assert account.available == 0
    assert account.affords(0)
    assert not account.affords(1)
