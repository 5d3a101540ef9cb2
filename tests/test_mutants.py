"""Planted mutants: each law named here kills the mutant that it is named with."""

from typing import Any

import pytest

import laws
from mutants import (
    AboveRangeInFull,
    BreachClipped,
    CalendarClock,
    ClockBehind,
    CreditAtDecide,
    DebtForgiven,
    DepositRoundedUp,
    ErrorLeavesTrace,
    ExpiredForgotten,
    FloorRoundedDown,
    LateTruthTwice,
    PendingIgnored,
    RefundOnExpiry,
    StrictGate,
    VoidAfterExpiry,
    VoidAfterSettled,
    builds,
    opens,
)

BOOKS = {
    StrictGate: (
        opens(account=StrictGate),
        (
            laws.check_first_exploration,
            laws.check_default_plays,
            laws.check_least_exploring,
            laws.check_table,
        ),
    ),
    PendingIgnored: (
        opens(account=PendingIgnored),
        (laws.check_delay, laws.check_promise),
    ),
    RefundOnExpiry: (
        opens(books=RefundOnExpiry),
        (laws.check_promise, laws.check_table),
    ),
    DebtForgiven: (
        opens(account=DebtForgiven),
        (laws.check_commute, laws.check_promise),
    ),
    CreditAtDecide: (
        opens(books=CreditAtDecide),
        (laws.check_promise, laws.check_table, laws.check_histories),
    ),
    FloorRoundedDown: (
        opens(floor=FloorRoundedDown),
        (laws.check_promise,),
    ),
    DepositRoundedUp: (
        opens(floor=DepositRoundedUp),
        (laws.check_promise,),
    ),
    LateTruthTwice: (
        opens(books=LateTruthTwice),
        (laws.check_promise, laws.check_table),
    ),
    VoidAfterExpiry: (
        opens(books=VoidAfterExpiry),
        (laws.check_promise, laws.check_table),
    ),
    VoidAfterSettled: (opens(books=VoidAfterSettled), (laws.check_table,)),
    ExpiredForgotten: (opens(books=ExpiredForgotten), (laws.check_table,)),
    AboveRangeInFull: (
        opens(books=AboveRangeInFull),
        (laws.check_promise, laws.check_table),
    ),
    BreachClipped: (opens(books=BreachClipped), (laws.check_table,)),
    ErrorLeavesTrace: (
        opens(books=ErrorLeavesTrace),
        (laws.check_promise, laws.check_table),
    ),
}
AGENTS = {
    ClockBehind: (builds(policy=ClockBehind), (laws.check_decisions,)),
    CalendarClock: (builds(agent=CalendarClock), (laws.check_decisions,)),
}
KILLS = [
    pytest.param(make, law, id=f"{mutant.__name__}-{law.__name__}")
    for mutant, (make, killers) in {**BOOKS, **AGENTS}.items()
    for law in killers
]


@pytest.mark.parametrize(("make", "law"), KILLS)
def test_the_law_kills_the_mutant(make: Any, law: Any) -> None:
    with pytest.raises(AssertionError):
        law(make, shrink=False)


def test_the_agent_itself_decides_as_its_twin() -> None:
    """The books' own laws are asked of the real books in tests/floors."""
    laws.check_decisions(builds())


def test_no_law_is_one_that_nothing_could_break() -> None:
    used = {law for _, killers in {**BOOKS, **AGENTS}.values() for law in killers}
    assert used == {law for name, law in vars(laws).items() if name.startswith("check_")}
