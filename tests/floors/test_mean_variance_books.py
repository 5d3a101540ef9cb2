"""Whatever happens in the range, in any order: after every arrival the promise holds, exactly."""

import json
import random
from decimal import Decimal
from fractions import Fraction

import pytest

from naive.account import Contradiction
from naive.mean_variance import NaiveMeanVariance
from surefoot.errors import InvalidInput, PlayConflict
from surefoot.floors import MeanVarianceBooks, MeanVarianceFloor, Outcome, State, statement

REPORTS = ("settle", "settle", "settle", "expire", "void", "fall_back")
NARROW = {"default": 0.62, "alpha": 0.1, "rho": 0.02, "reward_range": (0.6, 1)}
"""Every reward is above what the promise asks of one; only their variance can break it."""


class Pair:
    """Books and their twin: what is decided and reported goes to both."""

    def __init__(self, **settings):
        self.books = MeanVarianceFloor(**settings).open()
        self.twin = NaiveMeanVariance(**settings)

    def decide(self, wanted=True):
        terms = self.books.terms()
        allowed = self.books.affords(terms)
        assert allowed == self.twin.allows()
        explores = allowed and wanted
        play = self.books.explore(terms) if explores else self.books.default(terms)
        assert play == self.twin.decide(explores)
        return play, explores

    def report(self, name, *arguments):
        before = self.books.snapshot()
        try:
            ours = str(getattr(self.books, name)(*arguments))
        except PlayConflict:
            ours = "contradiction"
            assert self.books.snapshot() == before
        try:
            theirs = getattr(self.twin, name)(*arguments)
        except Contradiction:
            theirs = "contradiction"
        assert ours == theirs, (name, arguments)


def setting(rng, check):
    """A setting that the check is not refused for."""
    while True:
        low = rng.choice((0, 0, -0.5, -3, 0.6))
        high = 1 if check == "paper" else rng.choice((1, 1, 5, 2.5))
        mu0 = round(rng.uniform(max(low, 0.05), min(0.9, high)), 2)
        rho = rng.choice((0.1, 0.2, 1, 3, 10, 30))
        chosen = {"default": mu0, "alpha": rng.choice((0.02, 0.05, 0.2, 0.5, 0.9)), "rho": rho}
        bounds = (0, 1) if check == "paper" else (low, high)
        try:
            MeanVarianceFloor(**chosen, reward_range=bounds, check=check)
        except InvalidInput:
            continue
        return {**chosen, "reward_range": bounds, "check": check}


def adversary(rng, twin):
    """A reward of the range: at random, or what does most harm, or what steers the mean."""
    low, high = map(float, twin.ends)
    style = rng.random()
    if style < 0.3:
        return round(rng.uniform(low, high), 2)
    if style < 0.6:
        return rng.choice((low, high))
    known = twin.known()
    if style < 0.8:
        return min(low, high, key=lambda r: twin.slack([*known, Fraction(repr(r))]))
    mean = float(sum(known)) / len(known) if known else low
    return high if mean < (float(twin.mu0) + high) / 2 else low


def stress(seed, plays, check):
    """An adversary's schedule, with plays that come late, never, or turn out otherwise."""
    rng = random.Random(seed)
    pair = Pair(**(NARROW if check == "viable" and seed % 10 == 0 else setting(rng, check)))
    patience, most = rng.choice((1, 1, 5)), rng.choice((0, 2, 5))
    explored = 0
    for _ in range(plays):
        play, explores = pair.decide(wanted=rng.random() < 0.9)
        explored += explores
        late = explores and rng.random() < 0.5 and pair.twin.pending() <= most
        if not late:
            pair.report("settle", play, adversary(rng, pair.twin) if explores else None)
        for _ in range(rng.randrange(patience)):
            name, other = rng.choice(REPORTS), rng.randrange(len(pair.twin.plays))
            if name == "settle":
                reward = adversary(rng, pair.twin) if pair.twin.plays[other][0] else None
                pair.report(name, other, reward)
            else:
                pair.report(name, other)
        assert pair.twin.slack(pair.twin.known()) >= 0
        assert pair.books.account.available >= 0
    assert pair.twin.worst() >= 0
    return explored


def test_viable_never_breaks_the_promise():
    assert sum(stress(seed, 40, "viable") for seed in range(50)) > 100


@pytest.mark.parametrize("check", ["exact", "paper"])
def test_nor_do_the_others_where_they_are_not_refused(check):
    assert sum(stress(seed, 40, check) for seed in range(30)) > 30


@pytest.mark.slow
@pytest.mark.parametrize("check", ["viable", "exact", "paper"])
def test_nor_in_a_thousand_longer_runs(check):
    assert sum(stress(seed, 60, check) for seed in range(1000, 2000)) > 1000


def opened(**settings):
    """Books that can afford what a test wants to show: a slack of 5 after twenty default plays."""
    floor = MeanVarianceFloor(**{"default": 0.5, "alpha": 0.5, "rho": 1, **settings})
    books = floor.open()
    for _ in range(20):
        books.settle(books.default(books.terms()), None)
    return books


def explore(books):
    return books.explore(books.terms())


def test_an_expired_play_stays_pending_until_its_truth_arrives():
    books = opened()
    play = explore(books)
    held = books.account.held
    assert books.expire(play) is Outcome.BOOKED
    assert (books.account.held, books.waiting, statement(books).pending) == (held, 1, 1)
    assert books.settle(play, 1) is Outcome.BOOKED_LATE
    assert (books.account.held, books.waiting) == (0, 0)


def test_explorations_without_news_come_to_an_end():
    books, explored = opened(), 0
    while books.affords(books.terms()):
        explore(books)
        explored += 1
        assert books.account.available >= 0
    assert 5 < explored < 20


@pytest.mark.parametrize("reward", [1.5, -0.25, 10**6, Decimal("-1.5")])
def test_a_reward_out_of_the_range_is_booked_as_it_is_and_voids_the_promise(reward):
    books = opened()
    play = explore(books)
    assert not statement(books).promise_void
    assert books.settle(play, reward) is Outcome.BREACH
    assert books.plays.get(play).state is State.SETTLED
    assert books.settle(play, reward) is Outcome.REPEATED
    assert books.acknowledge(play) is Outcome.IGNORED
    state = statement(books)
    assert (state.breaches, state.capped, state.promise_void) == (1, 0, True)
    assert books.account.moments.total == 20 * 5 * 10**8 + Fraction(reward) * 10**9
    assert state.slack == state.reserve + state.earned - state.required - state.held


def test_a_breach_may_come_late():
    books = opened()
    play = explore(books)
    books.expire(play)
    assert books.settle(play, -1) is Outcome.BREACH


@pytest.mark.parametrize("reward", [0.1234, Decimal("1e-9"), 1 / 3, float("nan"), "0.5", None])
def test_a_reward_off_the_lattice_is_refused_and_changes_nothing(reward):
    books = opened(places=3)
    play = explore(books)
    before = books.snapshot()
    with pytest.raises(InvalidInput, match=f"reward of play {play}"):
        books.settle(play, reward)
    assert books.snapshot() == before
    assert books.settle(play, 0.123) is Outcome.BOOKED


def test_the_statement_in_numbers():
    """Twenty rewards of .5 and one of 1: n*MV = 11 - 21*var, 21*var = 20/21*.25."""
    books = opened(places=4)
    books.settle(explore(books), 1)
    books.settle(explore(books), 0)
    play = explore(books)
    state = statement(books)
    assert state.required == Decimal("5.5")
    assert state.earned == Decimal("10.5")  # 11 - .5: the mean is .5 again
    assert state.held == Decimal("0.4892")  # .25 + 22/23*.25, up
    assert state.slack == state.earned - state.required - state.held
    assert (state.plays, state.explorations, state.default_plays, state.pending) == (23, 3, 20, 1)
    books.void(play)
    assert statement(books).held == 0


def test_a_default_play_counts_at_its_known_value_whatever_it_paid():
    books = opened()
    before = books.account.moments
    assert books.settle(books.default(books.terms()), 0.75) is Outcome.BOOKED
    assert books.account.moments == before.plus(1, 5 * 10**8)
    assert books.mismatches == 1


def test_books_survive_json_and_go_on():
    books = opened()
    plays = [explore(books) for _ in range(3)]
    books.expire(plays[0])
    state = json.loads(json.dumps(books.snapshot()))
    again = MeanVarianceBooks.restored(books.floor, state)
    for one in (books, again):
        assert one.settle(plays[0], 0.25) is Outcome.BOOKED_LATE
        assert one.settle(plays[1], 1) is Outcome.BOOKED
    assert again.snapshot() == books.snapshot()
    assert again.account == books.account
    assert again.terms() == books.terms()


def test_an_account_that_forgets_an_expired_play_is_not_taken_up():
    """It could then explore as if that reward could do no harm."""
    books = opened()
    books.expire(explore(books))
    state = books.snapshot()
    for numbers in ([*state["account"][:3], 0], [20.0, *state["account"][1:]]):
        with pytest.raises(ValueError, match="the account"):
            MeanVarianceBooks.restored(books.floor, {**state, "account": numbers})


def test_what_a_policy_is_told_is_on_the_unit_scale():
    books = MeanVarianceFloor(0.5, 0.5, 2, reward_range=(-1, 3)).open()
    assert [books.unit_reward(reward) for reward in (-1, 0, 3, 7)] == [0, 0.25, 1, 1]
    assert books.unit_reward(0.5) == 0.375


@pytest.mark.parametrize("settings", [{"alpha": 0.2}, {"rho": 2}, {"default": 0.7}, {}])
def test_its_terms_do_not_change_while_the_books_go_on(settings):
    books = MeanVarianceFloor(0.62, 0.1, 10).open()
    named = ", ".join(settings) or "a mean-variance floor"
    with pytest.raises(InvalidInput, match=f"{named} cannot change .* past ones included"):
        books.change(**settings)


@pytest.mark.parametrize("name", ["add_reserve", "withdraw_reserve"])
def test_it_has_no_reserve(name):
    with pytest.raises(InvalidInput, match="amount = 1 of reserve: a mean-variance promise has"):
        getattr(MeanVarianceFloor(0.62, 0.1, 10).open(), name)(1)
