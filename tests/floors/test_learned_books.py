"""The books of a learned default: the account at every mean, and what feeds the sequence."""

import itertools
import json
import random
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

import surefoot.floors
from interrupts import interrupted
from learned import default_play, opened
from surefoot import CostCeiling, LearnedDefault, Outcome, RewardFloor
from surefoot.errors import InvalidInput, PlayConflict, UnknownPlay
from surefoot.floors import LearnedBooks, State, statement
from surefoot.floors.feed import Feed
from surefoot.floors.learned import LATTICE
from surefoot.floors.learned_books import News
from surefoot.floors.odds import Sequence, due

UNIT = 10**9
FLOORS = str(Path(surefoot.floors.__file__).parent)


def explore(books):
    return books.decide(True, books.terms())


def told(books, *rewards):
    """Default plays that feed, each told at once."""
    for reward in rewards:
        books.settle(default_play(books), reward)


def slack(books, mu):
    return books.account.at(round(mu * UNIT)).available / UNIT


def test_the_account_is_exact_at_every_mean():
    books = opened(alpha=0.1, margin=0.01, reserve=2)
    plays = [explore(books) for _ in range(5)] + [default_play(books) for _ in range(3)]
    books.settle(plays[0], 0.25)
    books.settle(plays[1], 3)  # capped
    books.expire(plays[2])
    books.void(plays[3])
    books.settle(plays[5], 1.0)
    books.settle(plays[6], None)
    for mu in (Fraction(0), Fraction(1, 4), Fraction(7, 10), Fraction(1)):
        given_up = mu / 10 + Fraction(1, 100)
        f = mu - given_up
        exact = 2 + (Fraction(1, 4) - f) + (1 - f) - 2 * max(Fraction(0), f) + 2 * given_up
        assert books.account.at(int(mu * UNIT)).available == exact * UNIT
    books.acknowledge(plays[1])
    assert books.account.at(0).available == (2 + Fraction(13, 4) + 4 * Fraction(1, 100)) * UNIT


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.9])
def test_the_first_exploration_comes_as_early_as_with_a_known_mean(alpha):
    """r_min = 0: the mean falls out of the first inequality."""
    known, books, number = RewardFloor(0.7, alpha).open(), opened(alpha=alpha), 0
    while not known.affords(known.terms()):
        assert not books.affords(books.terms())
        known.settle(known.default(known.terms()), None)
        told(books, float(number % 2))
        number += 1
    assert books.affords(books.terms())


def test_the_gate_asks_at_each_end_and_not_the_least_against_the_largest():
    """Explorations that paid well leave less at the upper end, default plays more."""
    books = opened((0.2, 0.6), alpha=0.5, reward_range=(-1, 1), reserve=2)
    assert [books.account.at(mu).available for mu in books.ends] == [2 * UNIT] * 2
    told(books, *[0.5] * 2)
    low, high = books.account.ends
    stands = [books.account.at(mu).available for mu in (low, high)]
    holds = [1.1 * UNIT, 1.3 * UNIT]
    assert stands == [2.2 * UNIT, 2.6 * UNIT]
    explore(books)
    # Left are 1.1 at the lower end and 1.3 at the upper: 1.1 < 1.3, and yet both are enough.
    assert [books.account.at(mu).available for mu in (low, high)] == holds
    assert books.affords(books.terms())
    explore(books)
    assert not books.affords(books.terms())
    assert books.account.available == 0


def test_a_default_is_credited_at_every_mean_and_fed_once_it_is_told():
    books = opened()
    play = default_play(books)
    assert books.settle(play, None) is Outcome.BOOKED
    assert (slack(books, 1), slack(books, 0.5), books.feed.n) == (0.05, 0.025, 0)
    assert books.settle(play, 0.0) is Outcome.BOOKED
    assert (slack(books, 1), books.feed.n) == (0.05, 1)
    assert books.settle(play, 0.0) is Outcome.REPEATED
    with pytest.raises(PlayConflict, match="play 0 is settled: reward 1"):
        books.settle(play, 1.0)
    assert books.feed.n == 1


def test_plays_are_fed_in_the_order_of_their_decisions():
    books = opened()
    first, second, third = (default_play(books) for _ in range(3))
    books.settle(third, 0.0)
    books.settle(second, 0.0)
    assert books.feed.n == 0
    books.settle(first, 1.0)
    assert books.feed.n == 3


def test_what_is_never_told_counts_as_the_worst():
    sure, books = Sequence(0, UNIT), opened()
    told(books, 0.0)
    lost = default_play(books)
    assert books.expire(lost) is Outcome.BOOKED
    unsaid = default_play(books)
    books.settle(unsaid, None)
    assert books.expire(unsaid) is Outcome.BOOKED
    assert books.expire(unsaid) is Outcome.IGNORED
    sure.take(0)
    sure.lose()
    sure.lose()
    assert books.feed.sequence.state() == sure.state()
    assert [news.play for news in books.news if news.event == "default.expired"] == [lost, unsaid]
    # The late truth is kept, and not fed; the play is credited once it was reported.
    assert slack(books, 1) == 0.1
    assert books.settle(lost, 0.0) is Outcome.BOOKED
    assert books.feed.sequence.state() == sure.state()
    assert slack(books, 1) == pytest.approx(0.15)


def test_void_plays_take_no_place_behind_one_that_is_not_told():
    feed = Feed(Sequence(0, UNIT))
    feed.give(0)
    for play in range(1, 1000):
        feed.give(play)
        feed.leave_out(play)
    assert (len(feed._order), len(feed.waiting), feed.given) == (1, 1, 1000)


def test_the_repeat_of_an_interrupted_void_leaves_the_play_out():
    books = opened()
    gone = default_play(books)
    books.plays.close(gone, State.VOID)  # and nobody else heard of it
    told(books, 0.0)
    assert (books.void(gone), books.feed.n) == (Outcome.REPEATED, 1)


def test_void_plays_and_fall_backs_are_left_out():
    books = opened(reserve=1)
    gone, back, kept = default_play(books), explore(books), default_play(books)
    books.fall_back(back)
    books.settle(kept, 1.0)
    assert books.feed.n == 0
    books.void(gone)
    assert (books.feed.n, books.feed.given) == (1, 2)
    assert slack(books, 1) == pytest.approx(1.1)


def test_plays_that_do_not_feed_move_the_account_alone():
    books = opened()
    play = default_play(books, feeds=False)
    books.settle(play, 0.0)
    assert (books.feed.given, slack(books, 1)) == (0, 0.05)


def test_a_play_that_something_picked_counts_as_the_worst_the_first_of_all_too():
    books, sure = opened(reserve=1), Sequence(0, UNIT)
    books.decide(True, books.terms(), None)
    told(books, 0.0)
    books.decide(True, books.terms(), None)
    sure.lose()
    sure.take(0)
    sure.lose()
    assert books.feed.sequence.state() == sure.state()


def test_a_reward_of_the_default_outside_the_range_ends_the_probability():
    books, sure = opened(), Sequence(0, UNIT)
    play = default_play(books)
    assert books.settle(play, 1.5) is Outcome.BREACH
    sure.take(UNIT)
    assert books.feed.sequence.state() == sure.state()
    assert (books.breaches, statement(books).promise_void) == (1, True)
    assert LearnedBooks.restored(books.floor, books.snapshot()).promise_void


def test_a_play_that_nobody_remembers_is_not_waited_for_for_ever():
    floor = RewardFloor(LearnedDefault((0, 1)), 0.05)
    books = floor.open(keep=3)
    books.settle(default_play(books), None)
    told(books, 0.0, 0.0)
    assert books.feed.n == 0
    told(books, 0.0)
    assert books.feed.n == 4


def test_ends_move_at_the_due_times_alone_to_the_least_that_is_refuted():
    books, rng = opened(), random.Random(3)
    side, at = books.feed.sequence.above, books.ends[1]
    for number in range(1, 400):
        told(books, float(rng.random() < 0.3))
        moved = books.ends[1] != at
        assert due(number) or not moved
        at = books.ends[1]
        if moved:
            assert books.news[-1] == News("default.revalued", number, at)
            assert side.refutes(UNIT - at, Fraction(1, 20))
            assert not side.refutes(UNIT - at + LATTICE, Fraction(1, 20))
        elif due(number):
            assert not side.refutes(UNIT - at + LATTICE, Fraction(1, 20))
    assert 0.3 < at / UNIT < 0.5


def test_what_was_decided_is_valued_at_the_end_as_it_is_now():
    books = opened(alpha=0.5, reserve=1)
    terms = books.terms()
    play = explore(books)
    assert (terms.hold, terms.value) == (UNIT // 2, UNIT)
    told(books, *[0.0] * 8)
    mu = books.ends[1]
    assert mu < UNIT / 2
    # One exploration is open and eight default plays were reported, all at half of the mean.
    assert books.account.available == UNIT - mu // 2 + 8 * mu // 2
    books.settle(play, 0.0)
    assert books.account.available == UNIT + 7 * mu // 2
    assert statement(books).default == (Decimal(0), Decimal(mu).scaleb(-9))
    assert statement(books).at == Decimal(mu).scaleb(-9)


def test_where_nothing_is_left_between_the_ends_they_go_back_for_good():
    books = opened((0.5, 0.9))
    told(books, *[0.0] * 40)
    assert books.feed is None
    assert books.ends == (UNIT // 2, 9 * UNIT // 10)
    assert books.news[-1].event == "default.refuted"
    before = list(books.news)
    told(books, *[1.0] * 40)
    assert list(books.news) == before
    # From here on an exploration has to be afforded at both ends.
    assert books.account.ends == books.ends
    assert LearnedBooks.restored(books.floor, books.snapshot()).feed is None


def test_both_ends_are_learned_with_half_of_delta_each():
    books, rng = opened((0.1, 0.9), reward_range=(-1, 1)), random.Random(0)
    sequence, half, found = Sequence(-UNIT, UNIT), Fraction(1, 40), []
    for number in range(1, 257):
        paid = rng.choice((0, 1))
        told(books, float(paid))
        sequence.take(paid * UNIT)
        if due(number):
            found.append(sequence.ends(half, half, LATTICE))
    low, high = max(low for low, _ in found), min(high for _, high in found)
    assert books.ends == books.account.ends == (low, high)
    assert 0.1 * UNIT < low < UNIT / 2 < high < 0.9 * UNIT


def test_no_more_reserve_is_withdrawn_than_the_ends_leave():
    books = opened((0.2, 0.6), alpha=0.5, reward_range=(-1, 1), reserve=3)
    explore(books)
    with pytest.raises(InvalidInput, match=r"the most is 1\.7"):
        books.withdraw_reserve(2)
    books.withdraw_reserve(1)
    assert books.account.available == 7 * UNIT // 10
    books.add_reserve(1)
    assert books.account.available == 17 * UNIT // 10


def test_a_play_keeps_the_alpha_margin_and_range_that_it_was_decided_with():
    books = opened((0.1, 1), alpha=0.5, reserve=2)
    first, old = explore(books), default_play(books)
    books.change(alpha=0.1, margin=0.2, reward_range=(0.1, 1))
    second = explore(books)
    # Holds at 1: 1 - .5 - 0 = .5, and 1 - .3 - .1 = .6.
    assert slack(books, 1) == pytest.approx(0.9)
    books.settle(first, 0.0)
    books.settle(old, None)
    books.settle(second, 0.5)
    assert slack(books, 1) == pytest.approx(2 - 0.5 + 0.5 + (0.5 - 0.7))


def test_a_new_interval_moves_the_ends_inward():
    books = opened((0, 0.9))
    told(books, *[0.0] * 9)
    high = books.ends[1]
    books.change(default=LearnedDefault((0.1, 0.8)))
    assert books.ends == (UNIT // 10, high)
    assert books.feed.n == 9
    with pytest.raises(InvalidInput, match="leaves nothing: the mean was learned to lie in"):
        books.change(default=LearnedDefault((0.7, 0.8)))
    assert books.ends == (UNIT // 10, high)


def test_another_default_starts_a_new_sequence_with_the_least_that_is_left():
    books = opened((0.2, 0.8), alpha=0.5)
    told(books, 1.0, 1.0)
    play = default_play(books)
    other = LearnedDefault((0.1, 0.9))
    with pytest.raises(PlayConflict, match="another default is learned anew, with no play open"):
        books.change(default=other)
    books.expire(play)
    # Two default plays: .2 at .2 and .8 at .8; nobody knows which, so .2 is carried over.
    books.change(default=other)
    assert [slack(books, mu) for mu in (0.1, 0.5, 0.9)] == [0.2] * 3
    assert (books.feed.n, books.ends) == (0, (UNIT // 10, 9 * UNIT // 10))
    books.settle(play, 1.0)  # it was decided under the default before
    assert [slack(books, mu) for mu in (0.1, 0.9)] == [0.2] * 2
    assert statement(books).slack == statement(books).earned - statement(books).required


def test_what_was_forfeited_stays_so_under_another_default():
    books = opened(alpha=0.5, max_slack=0.1)
    told(books, *[1.0] * 3)
    books.forfeit()
    assert statement(books).forfeited == Decimal("1.4")
    books.change(default=LearnedDefault((0, 0.5), delta=0.1))
    assert statement(books).forfeited == Decimal("1.4")


def test_a_learned_default_takes_no_known_ones_place():
    learned, known = opened(), RewardFloor(0.5, 0.05).open()
    for books, default in ((learned, 0.5), (known, LearnedDefault((0, 1)))):
        before = books.snapshot()
        with pytest.raises(InvalidInput, match="learned from the first play on, or never"):
            books.change(default=default)
        assert books.snapshot() == before


@pytest.mark.parametrize(
    ("between", "before", "after"),
    [
        ((0, 1), (0, 1), (0, 2)),  # a draw of 2 would refute too much
        ((0.1, 0.9), (0, 1), (-1, 1)),  # received may be negative now: the lower end is not asked
        ((0.1, 0.9), (-1, 1), (-2, 1)),
    ],
)
def test_a_range_is_not_widened_where_the_sequence_rests_on_it(between, before, after):
    books = opened(between, reward_range=before)
    snapshot = books.snapshot()
    with pytest.raises(InvalidInput, match="cannot be wider while the default is learned"):
        books.change(reward_range=after)
    assert books.snapshot() == snapshot


def random_books(seed):
    """Books in the middle of everything."""
    rng, plays = random.Random(seed), []
    books = opened((0.1, 0.9), alpha=0.3, reward_range=(-1, 1), reserve=3)
    for number in range(120):
        explores = books.affords(books.terms()) and rng.random() < 0.7
        plays.append(books.decide(explores, books.terms(), rng.choice([True, False, None])))
        if number == 60:
            books.change(alpha=0.2, margin=0.01)
        for play in rng.sample(plays, min(2, len(plays))):
            reports = [
                lambda play: books.settle(play, rng.choice((-0.5, 0.0, 1.0, 2.0))),
                books.expire, books.void, books.fall_back, books.acknowledge,
            ]  # fmt: skip
            try:
                rng.choice(reports)(play)
            except PlayConflict:
                plays.remove(play)
    return books


@pytest.mark.parametrize("seed", range(5))
def test_books_are_saved_and_go_on(seed):
    books = random_books(seed)
    text = json.dumps(books.snapshot())
    again = LearnedBooks.restored(books.floor, json.loads(text))
    assert json.dumps(again.snapshot()) == text
    for each in (books, again):
        told(each, *[0.0] * 9)
    assert again.snapshot() == books.snapshot()


REPORTS = {
    "settle": ("settle", 0.5),
    "capped": ("settle", 2),
    "late": ("settle", 0.5),
    "expire": ("expire",),
    "void": ("void",),
    "fall_back": ("fall_back",),
}


def after(report, strike):
    """Books that were saved and read after a report that was interrupted, and what they have."""
    books = opened(reward_range=(-1, 1), reserve=5)
    play, (name, *told) = explore(books), REPORTS[report]
    if report == "late":
        books.expire(play)
    broken = interrupted(lambda: getattr(books, name)(play, *told), strike, False, FLOORS)
    for _ in range(2):
        books = LearnedBooks.restored(books.floor, json.loads(json.dumps(books.snapshot())))
        getattr(books, name)(play, *told)
    if report == "capped":
        books.acknowledge(play)
    return broken, books.account.available


@pytest.mark.parametrize("report", REPORTS)
def test_books_of_an_interrupted_report_are_read_and_have_booked_no_more(report):
    _, whole = after(report, 10_000)
    for strike in itertools.count():
        broken, available = after(report, strike)
        assert available <= whole
        if not broken:
            break


DAMAGES = {
    "the account": lambda saved: saved["account"].__setitem__(1, saved["account"][1] + 1),
    "an open play more": lambda saved: saved["learned"]["sums"][0].__setitem__(3, 99),
    "nothing received": lambda saved: saved["learned"]["sums"][0].__setitem__(7, 0),
    "another end": lambda saved: saved["learned"]["ends"].__setitem__(1, UNIT // 2),
    "an end off the lattice": lambda saved: saved["learned"]["ends"].__setitem__(0, 1),
    "another start": lambda saved: saved["learned"]["start"].__setitem__(0, UNIT // 2),
    "one end alone": lambda saved: saved["learned"]["start"].__setitem__(2, False),
    "a later first play": lambda saved: saved["learned"].__setitem__("first", 121),
    "a narrower range": lambda saved: saved["learned"]["feed"]["sequence"].__setitem__(1, 1),
    "another draw": lambda saved: saved["learned"]["feed"]["waiting"][-1].append(1),
    "a draw to come": lambda saved: saved["learned"]["feed"]["waiting"].append([200]),
    "an index less": lambda saved: saved["learned"]["feed"].__setitem__("given", 0),
    "a play less": lambda saved: saved["plays"]["live"].pop(),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_books_that_do_not_add_up_are_not_read(damage):
    books = random_books(1)
    saved = json.loads(json.dumps(books.snapshot()))
    DAMAGES[damage](saved)
    with pytest.raises((ValueError, UnknownPlay), match=r"\w"):
        LearnedBooks.restored(books.floor, saved)


def test_a_ceiling_is_asked_at_the_cheapest_default():
    ceiling = CostCeiling(LearnedDefault((0.01, 0.03)), alpha=0.5, cost_range=(0, 0.1), reserve=1)
    books = ceiling.open()
    told(books, *[0.03] * 3)
    shown = statement(books)
    assert shown.default == (Decimal("0.01"), Decimal("0.03"))
    assert shown.at == Decimal("0.01")
    assert books.account.available == UNIT + 3 * 5_000_000


def test_feed_refuses_what_it_has_not_written():
    state = Feed(Sequence(0, 10)).state()
    with pytest.raises(ValueError, match="0 default plays were fed and 2 wait, of 1"):
        Feed.restored({**state, "given": 1, "waiting": [[0], [1, 5]]})
