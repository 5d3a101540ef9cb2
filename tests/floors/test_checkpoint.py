"""At every n-th play made the promise holds, whichever of the open plays were made."""

import random
from decimal import Decimal
from fractions import Fraction

import pytest

from naive.floors import Made, Worlds
from surefoot.errors import InvalidInput, PlayConflict
from surefoot.floors import RewardBooks, RewardFloor
from surefoot.floors.checkpoint import still_to_come
from surefoot.floors.events import decided


def floor(**settings):
    return RewardFloor(**{"default": 0.5, "alpha": 0.1, "checkpoint": 10, **settings})


MORE = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(10, 60)]


@pytest.mark.parametrize("seed", [*range(10), *MORE])
def test_in_every_world_the_promise_holds_at_every_checkpoint(seed):
    """3,000 schedules of 30 decisions; reports of any play in any order, or none for ever."""
    rng, seen, ahead = random.Random(seed), 0, 0
    for _ in range(50):
        for books, worlds in schedule(rng):
            worst = worlds.worst()
            seen += worst is not None
            ahead += books.account.available < 0
            assert worst is None or worst >= 0
    assert seen > 1000
    assert ahead > 300


def schedule(rng):
    n, low = rng.choice((2, 3, 5, 8)), rng.choice((Fraction(0), Fraction(0), Fraction(-1, 2)))
    mu0, alpha = Fraction(rng.randint(2, 10), 10), Fraction(rng.randint(1, 9), 10)
    reserve = Fraction(rng.choice((0, 0, 1, 10)), 10)
    numbers = [decimal(x) for x in (mu0, alpha, low, reserve)]
    books = floor(
        default=numbers[0], alpha=numbers[1], reward_range=(numbers[2], 1), reserve=numbers[3],
        checkpoint=n,
    ).open()  # fmt: skip
    worlds = Worlds(mu0, alpha, low, reserve, n)
    # Who reports little leaves much to guess; who reports at once sees the gate go far ahead.
    haste, eager = rng.choice((0.2, 0.6, 1)), rng.choice((0.5, 0.9, 1))
    for turn in range(45):
        if turn < 30:
            decide(books, worlds, rng.random() < eager, max(low, Fraction(rng.choice((0, 0, 1)))))
            yield books, worlds
        waiting = [number for number, play in enumerate(worlds.plays) if play.state == "open"]
        while waiting and rng.random() < haste:
            report(books, worlds, waiting.pop(rng.randrange(len(waiting))), rng)
            yield books, worlds


def decimal(number):
    return Decimal(number.numerator) / number.denominator


def decide(books, worlds, wanted, reward):
    terms = books.terms()
    explores = wanted and books.affords(terms)
    (books.explore if explores else books.default)(terms)
    worlds.plays.append(Made(explores, worlds.mu0, min(reward, worlds.r_min + reward)))


def report(books, worlds, number, rng):
    play = worlds.plays[number]
    kinds = ("settled", "settled", "settled", "void", "expired", "fell_back")
    play.state = rng.choice(kinds if play.explores else ("settled", "settled", "void"))
    {
        "settled": lambda: books.settle(number, decimal(play.reward) if play.explores else None),
        "void": lambda: books.void(number),
        "expired": lambda: books.expire(number),
        "fell_back": lambda: books.fall_back(number),
    }[play.state]()


@pytest.mark.parametrize("counts", ["decided", "reported at once"])
def test_a_gate_that_counts_plays_as_decided_would_be_caught(counts, monkeypatch):
    """Of a default play decided before a checkpoint and void after it nothing can be spent."""
    if counts == "decided":
        monkeypatch.setattr(
            RewardBooks,
            "affords",
            lambda self, terms: self.account.affords(
                terms.hold
                - still_to_come(self.explorations + self.default_plays, self.floor.checkpoint)
                * terms.deposit
            ),
        )
    rng = random.Random(1)
    worsts = [worlds.worst() for _ in range(200) for _, worlds in schedule(rng)]
    broken = any(worst is not None and worst < 0 for worst in worsts)
    assert broken == (counts == "decided")


@pytest.mark.parametrize(("n", "alpha"), [(1, 0.1), (10, 0.1), (20, 0.1), (7, 0.3), (100, 0.05)])
def test_reported_at_once_it_is_the_printed_test(n, alpha):
    """R + N0*mu0 + (t'-t)*mu0 >= (1-alpha)*mu0*t', t' the next multiple of n from t on."""
    books = floor(alpha=alpha, checkpoint=n).open()
    mu0, share, received = Fraction(1, 2), 1 - Fraction(str(alpha)), Fraction(0)
    rng = random.Random(n)
    for t in range(1, 400):
        end, terms = -(-t // n) * n, books.terms()
        assert books.affords(terms) == (received + (end - t) * mu0 >= share * mu0 * end)
        if books.affords(terms):
            reward = rng.randint(0, 1)
            books.settle(books.explore(terms), reward)
            received += reward
        else:
            books.settle(books.default(terms), None)
            received += mu0
        if t % n == 0:
            assert received >= share * mu0 * t


def test_with_enough_ahead_the_first_play_explores():
    books = floor(checkpoint=10).open()  # h = .45, d = .05
    books.explore(books.terms())
    assert books.account.available == -450_000_000
    assert not books.affords(books.terms())
    assert not floor(checkpoint=9).open().affords(books.terms())


def test_an_interval_may_be_checkpointed():
    books = floor(default=(0.5, 0.5)).open()
    assert books.affords(books.terms())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"checkpoint": 0}, "checkpoint = 0 must be an int >= 1"),
        ({"checkpoint": -3}, "checkpoint = -3 must be"),
        ({"checkpoint": True}, "checkpoint = True must be"),
        ({"checkpoint": 10.0}, "checkpoint = 10.0 must be"),
        ({"checkpoint": float("nan")}, "checkpoint = nan must be"),
        ({"checkpoint": "10"}, "checkpoint = '10' must be"),
        ({"default": None}, "checkpoint = 10 needs a constant default"),
    ],
)
def test_what_is_no_checkpoint_is_named(settings, message):
    with pytest.raises(InvalidInput) as error:
        floor(**settings)
    assert message in str(error.value)


def test_a_play_brings_no_default_of_its_own():
    with pytest.raises(InvalidInput, match=r"default = 0\.5 of one play: a checkpointed floor"):
        floor().terms(0.5)


def test_its_terms_change_only_with_nothing_open_and_nothing_spent_ahead():
    books = floor().open()
    play = books.explore(books.terms())
    for reason in ("1 are", r"it is -0\.450000000"):
        with pytest.raises(PlayConflict, match=reason):
            books.change(alpha=0.2)
        books.expire(play)
    books.settle(play, 1)
    books.change(alpha=0.2, checkpoint=None)
    books.explore(books.terms())
    with pytest.raises(PlayConflict):
        books.change(checkpoint=5)


def test_it_is_saved_with_the_books():
    first = floor().open()
    first.explore(first.terms())
    again = RewardBooks.restored(RewardFloor.from_config(first.floor.config()), first.snapshot())
    for _ in range(30):
        terms = first.terms()
        assert first.affords(terms) == again.affords(terms)
        for books in (first, again):
            books.settle(books.default(terms), None)


def test_a_hold_that_an_interrupt_left_keeps_the_terms():
    """Of whose play nobody knows any more, so the next terms could not count on equal plays."""
    books = floor(reserve=5).open()
    books.account.book(decided(True, books.terms()))
    with pytest.raises(PlayConflict, match=r"0 are\), nothing held \(0\.450000000 is\)"):
        books.change(alpha=0.2)


def test_books_written_before_plays_were_counted_go_on():
    books = floor().open()
    for _ in range(3):
        books.settle(books.default(books.terms()), None)
    books.default(books.terms())
    books.explore(books.terms())
    state = books.snapshot()
    del state["plays"]["known"]
    assert RewardBooks.restored(books.floor, state).snapshot() == books.snapshot()
