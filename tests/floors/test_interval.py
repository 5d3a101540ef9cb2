"""A default that pays at random: the promise is kept against its own draws, or a fixed level."""

import copy
import json
import random
from decimal import Decimal
from fractions import Fraction

import pytest

from naive.floors import Judge, Made
from surefoot.errors import InvalidInput, PlayConflict
from surefoot.floors import Outcome, RewardBooks, RewardFloor, State, Terms, statement

NAN = float("nan")


def opened(**settings):
    settings = {"default": (0.4, 0.6), "alpha": 0.5, "reserve": 10, **settings}
    return RewardFloor(**settings).open()


def fixed(**settings):
    return opened(**{"against": "fixed", **settings})


def available(books):
    return books.floor.unit.decimal(books.account.available)


def case(rng, against, places):
    """Settings of a floor, on a lattice of so many decimals."""

    def between(low, high):
        return Decimal(rng.randint(low * 10**places, high * 10**places)).scaleb(-places)

    low = rng.choice((Decimal(0), Decimal(0), between(-1, 0)))
    alpha = min(max(between(0, 1), Decimal("0.1")), Decimal("0.9"))
    ends = sorted((between(0, 1), between(0, 1)))
    if against == "fixed":  # l >= (1-alpha)*u
        ends[0] = max(ends[0], min(ends[1], (1 - alpha) * ends[1] + Decimal("0.01")))
    return {
        "default": tuple(ends),
        "alpha": alpha,
        "reward_range": (low, 1),
        "reserve": rng.choice((0, 0, Decimal("0.7"), 2)),
        "against": against,
        "target": rng.choice((None, ends[0] + Decimal("0.001"))) if against == "fixed" else None,
    }


def history(seed, against, places, digits):
    """An adversary's schedule: any order of reports, defaults whose reward comes late or never."""
    rng = random.Random(seed)
    settings = case(rng, against, places)
    books, judge = RewardFloor(**settings).open(), Judge(settings)
    for turn in range(70):
        if turn < 25:
            decide(books, judge, rng, digits)
            yield books, judge
        if judge.plays and rng.random() < 0.8:
            report(books, judge, rng.randrange(len(judge.plays)), rng)
            yield books, judge


def decide(books, judge, rng, digits):
    terms = books.terms()
    explores = rng.random() < 0.8 and books.affords(terms)
    (books.explore if explores else books.default)(terms)
    share = Fraction(rng.choice((0, 10**digits, rng.randint(0, 10**digits))), 10**digits)
    reward = judge.r_min + (1 - judge.r_min) * rng.choice((0, 0, share, 1))
    judge.plays.append(Made(explores, judge.low + share * (judge.high - judge.low), reward))


def report(books, judge, number, rng):
    """One report that contradicts none before it."""
    play = judge.plays[number]
    kind = rng.choice(("settle", "settle", "expire", "void", "fall_back"))
    if play.state == "open" and kind == "void":
        books.void(number)
        play.state = "void"
    elif play.explores and play.state == "open" and kind in {"expire", "fall_back"}:
        getattr(books, kind)(number)
        play.state = "expired" if kind == "expire" else "fell_back"
    elif play.explores and play.state in {"open", "expired"}:
        books.settle(number, decimal(play.reward))
        play.state = "settled"
    elif play.state == "fell_back" or (not play.explores and play.state != "void"):
        told = rng.random() < 0.5
        books.settle(number, decimal(play.draw) if told else None)
        play.told |= told
        play.state = "settled" if play.state == "open" else play.state


def decimal(number):
    """Exact: every denominator here divides a power of ten."""
    return Decimal(number.numerator) / number.denominator


MORE = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 20)]


@pytest.mark.parametrize("against", ["realised", "fixed"])
@pytest.mark.parametrize("seed", [*range(2), *MORE])
def test_the_promise_is_kept_on_every_schedule(against, seed):
    """2,000 schedules for each promise, with numbers finer than the unit, too."""
    assert all(keeps(100 * seed + each, against) for each in range(100))


def keeps(seed, against):
    """Whether, at every moment of one schedule, books that never overstate keep the promise."""
    schedule = history(seed, against, places=6, digits=6)
    return all(0 <= Fraction(available(books)) <= judge.kept() for books, judge in schedule)


MUTANTS = {
    "half of f": ("realised", lambda t: t._replace(floor=t.floor // 2, hold=t.hold // 2)),
    "alpha*u": ("realised", lambda t: t._replace(deposit=t.lost * t.high // t.whole)),
    "late draws in full": ("realised", lambda t: t._replace(lost=1, whole=1)),
    "u": ("fixed", lambda t: t._replace(deposit=t.high - t.floor)),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_of_the_terms_is_caught(mutant, monkeypatch):
    against, change = MUTANTS[mutant]
    terms = RewardFloor.terms
    monkeypatch.setattr(RewardFloor, "terms", lambda self, own=None: change(terms(self, own)))
    assert not all(keeps(seed, against) for seed in range(100))


@pytest.mark.parametrize("against", ["realised", "fixed"])
@pytest.mark.parametrize("seed", range(2))
def test_on_the_lattice_the_books_are_the_table(against, seed):
    for each in range(50):
        for books, judge in history(100 * seed + each, against, places=3, digits=2):
            assert Fraction(available(books)) == judge.available()
            ours = statement(books)
            assert ours.slack == ours.reserve + ours.earned - ours.required - ours.held


def test_against_its_own_draws_it_earns_alpha_of_each():
    books = opened()  # f = .5 * .6, h = .3
    assert books.terms() == Terms(4 * 10**8, 3 * 10**8, 3 * 10**8, 2 * 10**8, 6 * 10**8, 1, 2)
    play = books.default(books.terms())
    assert books.settle(play, None) is Outcome.BOOKED
    assert available(books) == Decimal("10.2")
    assert books.settle(play, 0.5) is Outcome.BOOKED
    assert available(books) == Decimal("10.25")
    state = statement(books)
    assert (state.earned, state.required) == (Decimal("0.5"), Decimal("0.25"))


def test_against_a_level_it_earns_what_it_pays_above_the_floor():
    books = fixed(target=0.7)  # f = .35
    play = books.default(books.terms())
    books.settle(play, None)
    assert available(books) == Decimal("10.05")
    books.settle(play, 0.6)
    assert available(books) == Decimal("10.25")
    state = statement(books)
    assert (state.earned, state.required) == (Decimal("0.6"), Decimal("0.35"))


@pytest.mark.parametrize("make", [opened, fixed])
def test_an_interval_of_one_point_is_a_known_default(make):
    interval, known = make(default=(0.5, 0.5), alpha=0.3), opened(default=0.5, alpha=0.3)
    assert interval.terms()[:4] == known.terms()[:4]
    rng = random.Random(0)
    for _ in range(300):
        reward = rng.randint(0, 1)
        explores = known.affords(known.terms())
        assert interval.affords(interval.terms()) == explores
        for books in (interval, known):
            play = (books.explore if explores else books.default)(books.terms())
            books.settle(play, reward if explores else rng.choice((None, 0.5)))
        assert interval.account == known.account
        assert interval.required == known.required


# What a second report makes of a first, for a default play. "!": a contradiction.
REPEATS = [
    (None, None, "repeated"),
    (None, 0.5, "booked"),
    (None, 0.4, "booked"),
    (None, 0.7, "breach"),
    (None, 0.3, "breach"),
    (0.5, 0.5, "repeated"),
    (0.5, None, "repeated"),
    (0.5, 0.6, "!"),
    (0.4, 0.6, "!"),  # what counted as l until then was l
    (0.7, 0.7, "repeated"),
    (0.7, 0.8, "!"),  # both count as u
    (0.3, 0.4, "!"),
]


@pytest.mark.parametrize("make", [opened, fixed])
@pytest.mark.parametrize(("first", "second", "outcome"), REPEATS)
@pytest.mark.parametrize("fell_back", [False, True])
def test_what_a_second_report_makes_of_a_first(make, first, second, outcome, fell_back):
    books = make()
    play = (books.explore if fell_back else books.default)(books.terms())
    if fell_back:
        books.fall_back(play)
    books.settle(play, first)
    before = copy.deepcopy(books.snapshot())
    if outcome == "!":
        with pytest.raises(PlayConflict, match=f"play {play} .*reward {second}"):
            books.settle(play, second)
    else:
        assert books.settle(play, second) is Outcome(outcome)
    assert (books.snapshot() == before) == (outcome in {"!", "repeated"})
    assert books.mismatches == 0


@pytest.mark.parametrize(
    ("make", "reward", "booked"),
    [
        (opened, 0.3, "0.15"),
        (opened, 0, "0"),
        (opened, -1, "-0.5"),
        (opened, 0.7, "0.3"),  # counts as u, and no acknowledging changes that
        (fixed, 0.2, "-0.1"),
        (fixed, 0.9, "0.3"),
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_a_draw_outside_its_interval_is_a_breach_booked_on_the_safe_side(
    make, reward, booked, late
):
    books = make()
    play = books.default(books.terms())
    if late:
        books.settle(play, None)
    assert books.settle(play, reward) is Outcome.BREACH
    assert available(books) == 10 + Decimal(booked)
    assert books.breaches == 1
    assert books.settle(play, reward) is Outcome.REPEATED
    assert books.acknowledge(play) is Outcome.IGNORED
    assert books.breaches == 1


def test_a_void_default_and_a_void_exploration_have_no_draw():
    books = opened()
    for play in (books.default(books.terms()), books.explore(books.terms())):
        books.void(play)
        with pytest.raises(PlayConflict):
            books.settle(play, 0.5)


@pytest.mark.parametrize("reward", [NAN, float("inf"), "0.5", [0.5]])
def test_a_draw_that_is_no_number_changes_nothing(reward):
    books = opened()
    play = books.default(books.terms())
    for _ in range(2):
        before = copy.deepcopy(books.snapshot())
        with pytest.raises(InvalidInput, match=f"reward of play {play}"):
            books.settle(play, reward)
        assert books.snapshot() == before
        books.settle(play, None)


REFUSED = [
    ({"default": (0.6, 0.4)}, "default = (0.6, 0.4) must have l <= u within"),
    ({"default": (-0.1, 0.4)}, "default = (-0.1, 0.4) must have l <= u within reward_range (0, 1)"),
    ({"default": (0.4, 1.1)}, "within reward_range (0, 1)"),
    ({"default": (0.4, 0.6), "reward_range": (0.5, 1)}, "within reward_range (0.5, 1)"),
    ({"default": (0.4, NAN)}, "default u must be finite"),
    ({"default": ("0.4", 0.6)}, "default l must be a number"),
    ({"default": (0.4,)}, "default = (0.4,) must be one number, or a pair (l, u)"),
    ({"default": (0.1, 0.4, 0.6)}, "must be one number, or a pair"),
    ({"against": "money"}, "against = 'money' must be one of 'realised', 'fixed'"),
    ({"against": None}, "against = None must be one of"),
    ({"against": True}, "against = True must be one of"),
    ({"target": 0.5}, "target = 0.5 is the level of a promise against='fixed'"),
    ({"against": "fixed", "target": NAN}, "target must be finite"),
    ({"against": "fixed", "target": "1"}, "target must be a number"),
    ({"against": "fixed", "default": 0.5}, "known value leaves nothing to promise"),
    ({"against": "fixed", "default": (0.1, 0.6)}, "needs l >= g - alpha*|g| - margin: l = 0.1"),
    ({"against": "fixed", "target": 0.81}, "needs l >= g - alpha*|g| - margin: l = 0.4"),
    (
        {"against": "fixed", "default": (Decimal("0.3"), Decimal("0.6000000000001"))},
        "l = 0.300000000 < 0.300000001 with g = 0.6000000000001",
    ),
]


@pytest.mark.parametrize(("wrong", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_a_promise_that_cannot_be_kept_is_refused(wrong, message):
    with pytest.raises(InvalidInput) as error:
        RewardFloor(**{"default": (0.4, 0.6), "alpha": 0.5, **wrong})
    assert message in str(error.value)


def test_at_a_tie_even_a_default_that_earns_nothing_is_safe():
    books = fixed(default=(0.3, 0.6))
    assert books.terms().deposit == 0


def test_a_play_may_bring_its_own_interval():
    books = opened(default=None)
    own = books.terms((0.2, 0.3))
    assert own == opened(default=[0.2, 0.3]).terms()
    books.settle(books.default(own), 0.3)
    books.settle(books.default(books.terms(0.5)), None)  # or a known value
    assert available(books) == Decimal("10.4")
    with pytest.raises(InvalidInput, match=r"l <= u"):
        books.terms((0.3, 0.2))


def test_a_plays_own_interval_may_be_held_against_a_fixed_level():
    books = fixed(default=None, target=0.6)
    assert books.terms((0.3, 0.9)).floor == 300_000_000
    with pytest.raises(InvalidInput, match=r"needs l >= g - alpha\*\|g\| - margin"):
        books.terms((0.29, 0.9))
    with pytest.raises(InvalidInput, match="known value"):
        books.terms(0.5)


@pytest.mark.parametrize("make", [opened, fixed])
def test_floor_and_books_come_back_from_json(make):
    books = make()
    plays = [books.default(books.terms()) for _ in range(3)]
    books.settle(plays[0], None)
    books.settle(plays[1], 0.5)
    floor, state = json.loads(json.dumps([books.floor.config(), books.snapshot()]))
    again = RewardBooks.restored(RewardFloor.from_config(floor), state)
    assert again.floor == books.floor
    for each in (books, again):
        each.settle(plays[0], 0.6)
        each.settle(plays[2], 0.4)
    assert again.snapshot() == books.snapshot()
    assert again.plays.get(plays[0]).state is State.SETTLED


def test_only_a_constant_known_default_at_every_play_is_plain():
    assert RewardFloor(0.5, 0.5).plain
    for settings in ({"default": (0.5, 0.5)}, {"default": None}, {"checkpoint": 5}):
        assert not RewardFloor(**{"default": 0.5, "alpha": 0.5, **settings}).plain


def test_floors_of_different_promises_differ_and_say_how():
    floor = RewardFloor((0.4, 0.6), 0.5, against="fixed", target=0.7, checkpoint=3)
    assert repr(floor) == (
        "RewardFloor(default=(0.4, 0.6), alpha=0.5, reward_range=(0, 1), reserve=0, places=9, "
        "against='fixed', target=0.7, checkpoint=3)"
    )
    same = RewardFloor.from_config(json.loads(json.dumps(floor.config())))
    assert same == floor
    assert hash(same) == hash(floor)
    assert RewardFloor((0.4, 0.6), 0.5, against="fixed") != RewardFloor((0.4, 0.6), 0.5)
    assert RewardFloor(0.5, 0.5, checkpoint=2) != RewardFloor(0.5, 0.5)


def test_settings_of_an_older_file_are_read():
    floor = RewardFloor(0.5, 0.5)
    config = {k: v for k, v in floor.config().items() if k not in {"against", "target"}}
    del config["checkpoint"]
    assert RewardFloor.from_config(config) == floor
