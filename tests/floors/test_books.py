import copy
import json
import sys
from decimal import Decimal
from fractions import Fraction
from math import ceil

import numpy as np
import pytest

import laws
from surefoot._exact import shown
from surefoot.errors import InvalidInput, PlayConflict, UnknownPlay
from surefoot.floors import Outcome, RewardBooks, RewardFloor, State


def opened(**settings):
    return RewardFloor(**settings).open()


def rich(**settings):
    """Books that can afford what a test wants to show."""
    return opened(**{"default": 0.5, "alpha": 0.5, "reserve": 100, **settings})


def deep(books):
    """Everything the books hold, copied."""
    plays = {name: getattr(books.plays, name) for name in books.plays.__slots__}
    quick = {
        "_usual",
        "_usual_starts",
        "_usual_terms",
    }  # what is looked up, to be as fast the next time
    slots = [name for kind in type(books).__mro__ for name in getattr(kind, "__slots__", ())]
    own = {name: getattr(books, name) for name in slots if name not in {"plays", "floor", *quick}}
    return copy.deepcopy((plays, own))


def explore(books):
    return books.explore(books.floor.terms())


def available(books):
    return books.floor.unit.decimal(books.account.available)


@pytest.mark.parametrize(
    "law",
    [
        law
        for name, law in vars(laws).items()
        if name.startswith("check_") and "decisions" not in name
    ],
)
def test_the_law_holds(law):
    law(opened)


def test_the_first_exploration_is_the_papers_on_the_whole_grid():
    """Floats put 84 to 300 of these 9,801 pairs at another play, depending on how they sum."""
    wrong = []
    for a in range(1, 100):
        for mu in range(1, 100):
            books, t = opened(default=mu / 100, alpha=a / 100), 1
            while not laws.step(books, 0):
                t += 1
            if t != ceil(Fraction(100 - a, a)) + 1:
                wrong.append((a, mu))
    assert wrong == []


@pytest.mark.parametrize(("mu0", "alpha"), [(0.7, 0.05), (0.3, 0.29), (1, 0.57), (0.01, 0.99)])
def test_five_thousand_zeros(mu0, alpha):
    books, m, a = opened(default=mu0, alpha=alpha), 0, Fraction(str(alpha))
    for t in range(1, 5001):
        m += laws.step(books, 0)
        assert m == a * t // 1
        assert books.account.available >= 0


def test_a_thousand_decisions_without_news_stop_exploring():
    books = rich(reserve=3)
    explored = [
        bool(books.affords(books.floor.terms()) and explore(books) + 1) for _ in range(1000)
    ]
    assert explored == [True] * 12 + [False] * 988  # 3 / .25


def test_a_breach_is_booked_as_it_is_and_stops_exploring_until_it_is_earned_back():
    books = rich(reserve=1)
    terms = books.floor.terms()
    assert books.settle(explore(books), -2) is Outcome.BREACH
    assert available(books) == Decimal("-1.25")
    assert books.breaches == 1
    deposits = 0
    while not books.affords(terms):
        books.settle(books.default(terms), None)
        deposits += 1
    assert (deposits, available(books)) == (6, Decimal("0.25"))


def test_a_breach_may_come_late():
    books = rich(reserve=1)
    play = explore(books)
    books.expire(play)
    assert books.settle(play, Decimal("-0.5")) is Outcome.BREACH
    assert available(books) == 1 - Decimal("0.75")


def test_with_nothing_to_lose_even_an_empty_account_explores():
    """f <= r_min: h = 0, and what is won is more than what the floor asks."""
    books = opened(default=0.5, alpha=0.5, reward_range=(0.3, 1))
    assert books.floor.terms().hold == 0
    play = explore(books)
    assert available(books) == 0
    books.settle(play, 0.3)
    assert available(books) == Decimal("0.05")


@pytest.mark.parametrize("reward", [1.5, 1e300, Decimal("1e400"), 10**40, np.float32(1.5)])
def test_a_reward_above_the_range_counts_as_r_max_until_it_is_acknowledged(reward):
    books = rich()
    play = explore(books)
    assert books.settle(play, reward) is Outcome.CAPPED
    assert available(books) == 100 - Decimal("0.25") + 1
    assert books.settle(play, reward) is Outcome.REPEATED
    assert books.acknowledge(play) is Outcome.BOOKED
    assert Fraction(available(books)) == 100 - Fraction(1, 4) + Fraction(str(reward))
    assert books.acknowledge(play) is Outcome.IGNORED
    assert books.settle(play, reward) is Outcome.REPEATED


NO_NUMBERS = [
    (float("nan"), "nan"),
    (float("-inf"), "-inf"),
    (1e400, "inf"),  # Python reads it as infinity
    (Decimal("NaN"), "NaN"),
    (Decimal("sNaN"), "sNaN"),
    (Decimal("-Infinity"), "-Infinity"),
    (Decimal("1e1001"), "1E+1001"),
    (Decimal("1e-1001"), "1E-1001"),
    (Decimal("1e999999"), "1E+999999"),
    (10**5000, "int of too many digits"),
    (np.float32("nan"), "nan"),
    ("0.5", "'0.5'"),
    (b"1", "b'1'"),
    (1j, "1j"),
    ([0.5], "[0.5]"),
    (np.array([0.5]), "array([0.5])"),
    (np.datetime64("2020-01-01", "ns"), "datetime64"),
    (np.timedelta64("NaT"), "NaT"),
    (Fraction(1, 3), "Fraction(1, 3)"),
]


@pytest.mark.parametrize(("reward", "named"), [*NO_NUMBERS, (None, "None")], ids=shown)
@pytest.mark.parametrize("state", ["open", "expired", "settled", "void"])
def test_a_reward_that_is_no_number_changes_nothing(reward, named, state):
    books = rich()
    explore(books)
    play = explore(books)
    if state != "open":
        {"expired": books.expire, "void": books.void}.get(state, lambda p: books.settle(p, 1))(play)
    before = deep(books)
    with pytest.raises(InvalidInput) as error:
        books.settle(play, reward)
    assert deep(books) == before
    assert f"reward of play {play}" in str(error.value)
    assert named in str(error.value)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(("reward", "named"), NO_NUMBERS, ids=shown)
def test_nor_does_one_that_comes_with_a_default_play(reward, named):
    books = rich()
    play = books.default(books.floor.terms())
    before = deep(books)
    with pytest.raises(InvalidInput, match=f"reward of play {play}"):
        books.settle(play, reward)
    assert deep(books) == before


@pytest.mark.parametrize(
    ("reward", "booked"),
    [
        (True, "1"),
        (np.bool_(True), "1"),
        (np.float32(0.1), "0.1"),  # its float64 is 0.10000000149...
        (np.array(0.1, dtype=np.float32), "0.1"),
        (np.float16(0.1), "0.1"),
        (np.float64(0.1), "0.1"),
        (np.int64(1), "1"),
        (np.uint8(0), "0"),
        (0.1 + 0.2, "0.300000000"),  # 0.30000000000000004, rounded down
        (0.7 - 0.4, "0.299999999"),  # 0.29999999999999993
        (-0.0, "0"),
        (Decimal("0E+999999"), "0"),
        (Decimal("1e-400"), "0"),
        (5e-324, "0"),
    ],
)
def test_a_reward_means_its_shortest_decimal_rounded_down(reward, booked):
    books = rich()
    assert books.settle(explore(books), reward) is Outcome.BOOKED
    assert available(books) == 100 - Decimal("0.25") + Decimal(booked)


STRANGERS = [-1, 2, 10**9, 10**5000, 0.0, 1.0, True, False, "0", None, [], np.float64(0), b"0"]


@pytest.mark.parametrize("play", STRANGERS, ids=shown)
@pytest.mark.parametrize("report", ["settle", "expire", "void", "fall_back", "acknowledge"])
def test_a_play_never_given_out_is_named_and_changes_nothing(play, report):
    books = rich()
    explore(books)
    books.default(books.floor.terms())
    before = deep(books)
    with pytest.raises(UnknownPlay) as error:
        getattr(books, report)(play, *([1] if report == "settle" else []))
    assert deep(books) == before
    assert "was never given out" in str(error.value)
    assert shown(play) in str(error.value)


# For each state: what each report makes of it. "!" contradicts, "=" repeats, "-" is ignored.
LIFE = {
    #             settle 1  settle .5  expire  void  fall_back  acknowledge
    "settled": ("=", "!", "-", "-", "!", "-"),
    "capped": ("!", "!", "-", "-", "!", "booked"),
    "expired": ("booked_late", "booked_late", "=", "!", "!", "!"),
    "void": ("!", "!", "-", "=", "!", "!"),
    "fell_back": ("!", "!", "-", "-", "=", "!"),
    "open": ("booked", "booked", "booked", "booked", "booked", "!"),
}
REPORTS = [("settle", 1), ("settle", 0.5), ("expire",), ("void",), ("fall_back",), ("acknowledge",)]


@pytest.mark.parametrize("state", LIFE)
@pytest.mark.parametrize("column", range(len(REPORTS)))
def test_what_each_report_makes_of_each_state(state, column):
    books, (name, *reward) = rich(), REPORTS[column]
    play = explore(books)
    reached = {
        "settled": lambda: books.settle(play, 1),
        "capped": lambda: books.settle(play, 2),
        "expired": lambda: books.expire(play),
        "void": lambda: books.void(play),
        "fell_back": lambda: books.fall_back(play),
    }
    reached.get(state, lambda: None)()
    assert books.plays.get(play).state is State(state)
    before, expected = deep(books), LIFE[state][column]
    shown_as = "executed as default" if state == "fell_back" else state
    if expected == "!":
        with pytest.raises(PlayConflict, match=f"play {play} is {shown_as}: "):
            getattr(books, name)(play, *reward)
        assert deep(books) == before
    else:
        outcome = {"=": "repeated", "-": "ignored"}.get(expected, expected)
        assert getattr(books, name)(play, *reward) == outcome
        assert (deep(books) == before) == (expected in {"=", "-"})


def test_a_default_play_is_credited_once_and_only_when_reported():
    books = rich()
    play = books.default(books.floor.terms())
    assert available(books) == 100
    assert books.settle(play, None) is Outcome.BOOKED
    assert available(books) == Decimal("100.25")
    assert books.settle(play, None) is Outcome.REPEATED
    assert books.fall_back(play) is Outcome.REPEATED
    assert books.expire(play) is books.void(play) is Outcome.IGNORED
    assert available(books) == Decimal("100.25")


def test_what_a_default_really_paid_is_recorded_and_counted_only():
    books = rich()
    first, second = (books.default(books.floor.terms()) for _ in range(2))
    books.settle(first, 0.5)
    books.settle(second, None)
    assert books.mismatches == 0
    assert books.settle(second, 0.9) is Outcome.REPEATED
    assert books.settle(second, 0.9) is Outcome.REPEATED
    assert books.mismatches == 1
    assert available(books) == Decimal("100.5")
    for play, other in ((first, 0.6), (second, 0.5)):
        before = deep(books)
        with pytest.raises(PlayConflict, match=f"play {play} .* reward {other}"):
            books.settle(play, other)
        assert deep(books) == before


def test_a_void_default_was_never_made():
    books = rich()
    play = books.default(books.floor.terms())
    books.void(play)
    before = deep(books)
    for report in (lambda: books.settle(play, None), lambda: books.fall_back(play)):
        with pytest.raises(PlayConflict, match=f"play {play} is void"):
            report()
    assert books.void(play) is Outcome.REPEATED
    assert deep(books) == before
    assert (books.default_plays, books.voided) == (0, 1)


def test_books_beyond_int64_survive_json():
    books = rich(reserve=Decimal("1e12"), places=15)
    books.settle(explore(books), -(10**20))
    open_, late, capped = (explore(books) for _ in range(3))
    books.expire(late)
    books.settle(capped, 10**25)
    books.settle(books.default(books.floor.terms()), 0.1)
    assert abs(books.account.posted) > 2**63
    text = json.dumps(books.snapshot(), allow_nan=False)
    again = RewardBooks.restored(books.floor, json.loads(text))
    assert deep(again) == deep(books)
    for twin in (books, again):
        twin.settle(open_, 1)
        twin.settle(late, 0)
        twin.acknowledge(capped)
    assert again.snapshot() == books.snapshot()


@pytest.mark.parametrize(
    ("reward", "told"), [(-1, 0.0), (-5, 0.0), (0.25, 0.5), (1.5, 1.0), (Decimal("1e400"), 1.0)]
)
def test_a_policy_for_unit_rewards_is_told_its_place_in_the_range(reward, told):
    books = rich(reward_range=(-1, 1.5))
    assert books.unit_reward(reward) == told


TO_INTERRUPT = {
    "settle": lambda books, play: books.settle(play, 1),
    "cap": lambda books, play: books.settle(play, 2),
    "acknowledge": lambda books, play: books.acknowledge(play),
    "expire": lambda books, play: books.expire(play),
    "late": lambda books, play: books.settle(play, 1),
    "void": lambda books, play: books.void(play),
    "fall_back": lambda books, play: books.fall_back(play),
    "default": lambda books, play: books.settle(play, None),
    "draw": lambda books, play: books.settle(play, 0.6),
    "late draw": lambda books, play: books.settle(play, 0.6),
}


def _before(kind):
    """Books in which one report is due, and the play it is about."""
    books = opened(default=(0.4, 0.6) if "draw" in kind else 0.5, alpha=0.5)
    for _ in range(3):
        books.settle(books.default(books.floor.terms()), None)
    decide = books.default if "draw" in kind or kind == "default" else books.explore
    play = decide(books.floor.terms())
    if kind == "late draw":
        books.settle(play, None)
    if kind == "late":
        books.expire(play)
    if kind == "acknowledge":
        books.settle(play, 2)
    return books, play


def _interrupted(report, books, play, at):
    """Run a report, but stop it before its ``at``-th instruction; whether it came so far."""
    seen = 0

    def trace(frame, event, argument):
        nonlocal seen
        frame.f_trace_opcodes = True
        if event == "opcode":
            seen += 1
            if seen == at:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        report(books, play)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


@pytest.mark.parametrize("kind", TO_INTERRUPT)
def test_a_report_that_was_interrupted_and_sent_again_never_overstates(kind):
    """Ctrl-C can come between any two instructions; a report sent again is not paid twice."""
    report = TO_INTERRUPT[kind]
    books, play = _before(kind)
    report(books, play)
    truth, at = books.account.available, 1
    while True:
        books, play = _before(kind)
        if not _interrupted(report, books, play, at):
            break
        report(books, play)
        assert books.account.available <= truth, at
        assert books.account.held >= 0, at
        at += 1
    assert at > 20


def test_what_counts_as_made_is_known_and_comes_back():
    """Explorations do until they are void, default plays once they are reported."""
    books = RewardFloor(0.5, 0.5).open()
    made = []
    for explores in (True, False, True, False, True):
        (books.explore if explores else books.default)(books.terms())
        made.append(books.known)
    for report, play, *reward in (
        ("void", 0), ("settle", 1, None), ("expire", 2), ("void", 3), ("fall_back", 4)
    ):  # fmt: skip
        getattr(books, report)(play, *reward)
        made.append(books.known)
    assert made == [1, 1, 2, 2, 3, 2, 3, 3, 3, 3]
    books.settle(2, 1.0)
    again = RewardBooks.restored(books.floor, books.snapshot())
    assert (again.known, again.pending, again.unreported) == (3, 0, 0)
