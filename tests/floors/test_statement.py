from dataclasses import asdict
from decimal import Decimal, localcontext

from surefoot.floors import RewardFloor, statement


def test_fresh_books():
    state = statement(RewardFloor(0.5, 0.5, reserve=2).open())
    assert state.slack == state.reserve == 2
    assert {name for name, amount in asdict(state).items() if amount} == {"slack", "reserve"}


def test_each_amount_and_count_is_what_happened():
    """f = .25 and a default earns .5; rewards lie in [-1, 1], so a hold is 1.25."""
    books = RewardFloor(0.5, 0.5, reward_range=(-1, 1), reserve=20).open()
    terms = books.floor.terms()
    plays = [books.explore(terms) for _ in range(8)] + [books.default(terms) for _ in range(4)]
    books.settle(plays[0], 0.75)
    books.settle(plays[1], 5)  # capped
    books.settle(plays[2], -3)  # a breach
    books.expire(plays[3])
    books.expire(plays[4])
    books.settle(plays[4], 0)  # late
    books.void(plays[5])
    books.fall_back(plays[6])
    books.settle(plays[8], None)
    books.settle(plays[9], 0.25)  # a mismatch
    books.void(plays[10])
    state = statement(books)
    assert asdict(state) == {
        "earned": Decimal("0.75") + 1 - 3 - 1 + 0 + Decimal("0.5") * 3,
        "required": Decimal("0.25") * 8,
        "held": Decimal("1.25"),
        "reserve": Decimal(20),
        "slack": Decimal(16),
        "forfeited": Decimal(0),
        "plays": 10,
        "default_plays": 4,
        "explorations": 6,
        "pending": 1,
        "unreported": 1,
        "expired": 2,
        "voided": 2,
        "breaches": 1,
        "capped": 1,
        "mismatches": 1,
        "promise_void": False,
        "default": None,
        "at": None,
    }
    assert state.slack == state.reserve + state.earned - state.required - state.held


def test_amounts_are_exact_whatever_the_decimal_context():
    books = RewardFloor(0.5, 0.5, reserve=Decimal("123456.789012345")).open()
    with localcontext(prec=2):
        assert str(statement(books).slack) == "123456.789012345"


def test_a_unit_coarser_than_one_is_shown_in_full():
    books = RewardFloor(10**30, 0.5, reward_range=(0, 10**30), reserve=10**30).open()
    assert statement(books).slack == 10**30
