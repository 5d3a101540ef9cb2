import pytest

from surefoot.floors import Account

F, H, D = 665, 615, 35
"""f, h and a default's deposit, for mu0 = 700, alpha = .05, r_min = 50."""

# The table of events, row by row: what each posts, what it does to what is held.
ROWS = [
    ("hold", {"hold": H}, 0, +H),
    ("settle", {"gain": 1000 - F, "hold": H}, 1000 - F, -H),
    ("settle", {"gain": 50 - F, "hold": H}, 50 - F, -H),
    ("expire", {"hold": H}, -H, -H),
    ("settle_late", {"gain": 1000 - F, "hold": H}, 1000 - F + H, 0),
    ("void", {"hold": H}, 0, -H),
    ("fall_back", {"deposit": D, "hold": H}, D, -H),
    ("deposit", {"deposit": D}, D, 0),
    ("acknowledge", {"rest": 17}, 17, 0),
]


@pytest.mark.parametrize(("event", "amounts", "posted", "held"), ROWS)
def test_each_event_is_its_row_of_the_table(event, amounts, posted, held):
    account = Account(reserve=3, posted=100, held=2000)
    getattr(account, event)(**amounts)
    assert account == Account(3, 100 + posted, 2000 + held)


@pytest.mark.parametrize(
    ("event", "amounts", "change"),
    [
        ("settle", {"gain": 50 - F, "hold": H}, 0),  # at its worst
        ("settle", {"gain": 1000 - F, "hold": H}, 950),
        ("expire", {"hold": H}, 0),
        ("void", {"hold": H}, H),
        ("fall_back", {"deposit": D, "hold": H}, D + H),
    ],
)
def test_no_end_of_an_exploration_lowers_what_is_available(event, amounts, change):
    account = Account(held=H)
    before = account.available
    getattr(account, event)(**amounts)
    assert account.available - before == change


def test_expiry_and_its_late_truth_are_together_a_settlement():
    late, timely = Account(held=H), Account(held=H)
    late.expire(H)
    late.settle_late(700 - F, H)
    timely.settle(700 - F, H)
    assert late == timely


def test_a_tie_is_allowed():
    account = Account(reserve=10, posted=5, held=3)
    assert account.available == 12
    assert account.affords(12)
    assert not account.affords(13)


def test_only_a_hold_can_close_the_gate():
    account = Account(posted=H)
    account.hold(H)
    assert account.available == 0
    assert account.affords(0)
    assert not account.affords(1)
