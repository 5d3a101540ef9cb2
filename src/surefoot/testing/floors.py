"""The contract of a floor, as tests: derive a class from the kit and say how to make yours.

class TestMine(FloorKit):
    def make_floor(self):
        return RewardFloor(default=0.7, alpha=0.05)
"""

from __future__ import annotations

import itertools
import json
from decimal import Decimal
from typing import Any

import numpy as np

from surefoot._types import JsonObject
from surefoot.errors import SurefootError
from surefoot.floors import Books, Outcome, statement
from surefoot.floors.protocol import is_ceiling
from surefoot.testing._floors import FloorMaker, Pair, after, rational, refused

SEEDS = range(3)


class FloorKit(FloorMaker):
    """What every floor must keep; a test class that pytest collects once ``make_floor`` is there.

    The promise is judged from decisions and reports alone, in fractions. ``plays``: how long the
    worst case lasts, 300. ``make_default(rng)``: the default of one play, where the floor has no
    constant one. ``make_reward(rng)``: a reward within the range and of the books' unit.

    ``asks(default)``: what a play has to earn, for a floor of your own class. ``worth(default)``:
    what its default is worth, where that is a key of a table, say, and no number.

    Holds when: your floor is a RewardFloor, a CostCeiling or a MeanVarianceFloor, or promises that
    the rewards reach the sum of what the plays have to earn. Does not hold when: its books promise
    something else; then a test fails.
    """

    def test_the_worst_rewards_do_not_break_the_promise(self) -> None:
        for end in self.make_floor().reward_range:  # to a variance the best may be the worst
            pair, rng, explored = self.pair(), np.random.default_rng(0), 0
            for _ in range(self.plays):
                play = pair.decide(True, self.default(rng))
                explores = pair.outcomes.plays[play].explores
                explored += explores
                pair.report("settle", play, end if explores else None)
                check_kept(pair)
            assert explored, f"no exploration in {self.plays} plays: set `plays` higher"

    def test_no_order_delay_or_loss_breaks_the_promise(self) -> None:
        for seed in SEEDS:
            for pair in self.history(seed):
                check_kept(pair)

    def test_each_report_is_booked_repeated_ignored_or_refused_as_the_table_says(self) -> None:
        low, high = self.make_floor().reward_range
        ends: list[tuple[str, ...]] = [("expire",), ("void",), ("fall_back",), ("acknowledge",)]
        default = self.first_default()
        for explores in (True, False):
            rewards = (low, high, 2 * high - low if explores else None)
            reports: list[Any] = [*(("settle", reward) for reward in rewards), *ends]
            for course in itertools.product(reports, repeat=3):
                pair = self.pair()
                play = pair.force(explores, default)
                for name, *reward in course:
                    pair.report(name, play, *reward)  # which compares, and fails

    def test_a_repeat_changes_nothing(self) -> None:
        for name in ("settle", "expire", "void", "fall_back"):
            for explores in (True, False):
                pair = self.saved_up()
                play = self.explored(pair) if explores else self.default_play(pair)
                reward = self.make_reward(np.random.default_rng(0)) if explores else None
                given = [reward] if name == "settle" else []
                pair.report(name, play, *given)
                before = pair.books.snapshot()
                assert pair.report(name, play, *given) in (Outcome.REPEATED, Outcome.IGNORED)
                assert pair.books.snapshot() == before

    def test_reports_in_any_order_give_the_same_books(self) -> None:
        for seed in SEEDS:
            rng, reports = np.random.default_rng(seed), self.reports(seed)
            assert len({self.booked(seed, reports, rng) for _ in range(3)}) == 1

    def test_a_reward_that_is_not_a_number_is_refused_and_changes_nothing(self) -> None:
        pair = self.saved_up()
        plays = [self.explored(pair), self.default_play(pair)]
        bad: list[Any] = [float("nan"), float("inf"), -float("inf"), Decimal("NaN"), "0.5", [1], 1j]
        before = pair.books.snapshot()
        for play in plays:
            for reward in [*bad, *([None] if play == plays[0] else [])]:
                refused(pair.books.settle, play, reward)
                assert pair.books.snapshot() == before

    def test_a_report_of_an_unknown_play_is_refused_and_changes_nothing(self) -> None:
        pair = self.saved_up()
        self.explored(pair)
        before, books = pair.books.snapshot(), pair.books
        unknown: list[Any] = [-1, len(pair.outcomes.plays), 10**20, "0", None, 0.0, True]
        for play in unknown:
            refused(books.settle, play, 0)
            for report in (books.expire, books.void, books.fall_back, books.acknowledge):
                refused(report, play)
            assert books.snapshot() == before

    def test_the_books_survive_as_text(self) -> None:
        for seed in SEEDS:
            *_, pair = self.history(seed)
            books, floor = pair.books, pair.floor
            again = type(books).restored(floor, json.loads(json.dumps(books.snapshot())))
            assert again.snapshot() == books.snapshot()
            assert statement(again) == statement(books)
            assert self.gone_on(again) == self.gone_on(books)

    def test_the_floor_survives_as_text(self) -> None:
        floor = self.make_floor()
        again = type(floor).from_config(json.loads(json.dumps(floor.config())))
        assert again == floor == self.make_floor()
        assert again.open().snapshot() == floor.open().snapshot()
        default = self.default(np.random.default_rng(0))
        assert again.terms(default) == floor.terms(default)

    def test_the_books_hold_whole_numbers_only(self) -> None:
        def found(text: str) -> None:
            raise AssertionError(f"the books hold the float {text}")

        for pair in self.history(0):
            json.loads(json.dumps(pair.books.snapshot()), parse_float=found, parse_constant=found)

    def test_a_play_keeps_the_terms_it_was_decided_with(self) -> None:
        """A change is refused and changes nothing, or means the plays to come only."""
        ours, theirs = self.saved_up(), self.saved_up()
        for pair in (ours, theirs):
            self.explored(pair)
            self.default_play(pair)
        before, floor = ours.books.snapshot(), ours.books.floor
        try:
            ours.books.change(alpha=(1 + getattr(floor, "alpha", 0)) / 2)
        except SurefootError:
            assert ours.books.snapshot() == before
            assert ours.books.floor == floor
            return
        ours.outcomes.floor = ours.books.floor
        for number, fate in enumerate(ours.outcomes.plays):
            if fate.state == "open":
                reward = self.make_floor().reward_range[0] if fate.explores else None
                for pair in (ours, theirs):
                    pair.report("settle", number, reward)
        assert ours.books.account.numbers() == theirs.books.account.numbers()
        for _ in range(20):
            self.explored(ours)
            check_kept(ours)

    def test_the_statement_says_what_happened(self) -> None:
        for seed in SEEDS:
            for pair in itertools.islice(self.history(seed), 0, None, 3):
                check_statement(pair, statement(pair.books))

    def test_expiry_costs_nothing_more_and_the_late_reward_makes_it_good(self) -> None:
        late, timely = self.saved_up(), self.saved_up()
        play = self.explored(late)
        assert play == self.explored(timely)
        available = late.books.account.available
        late.report("expire", play)
        assert late.books.account.available == available
        reward = self.make_reward(np.random.default_rng(0))
        assert late.report("settle", play, reward) is Outcome.BOOKED_LATE
        assert timely.report("settle", play, reward) is Outcome.BOOKED
        assert late.books.account.numbers() == timely.books.account.numbers()

    def test_a_void_play_gives_back_what_it_held_and_no_more(self) -> None:
        pair = self.saved_up()
        while not pair.books.affords(pair.books.terms(default := self.first_default())):
            pair.report("settle", pair.decide(False, default), None)
        before = pair.books.account.numbers()
        play = pair.decide(True, default)
        assert pair.outcomes.plays[play].explores
        assert pair.books.account.numbers() != before
        pair.report("void", play)
        assert pair.books.account.numbers() == before

    def test_a_default_play_is_credited_when_it_is_reported(self) -> None:
        pair = self.saved_up()
        before = pair.books.account.numbers()
        play = self.default_play(pair)
        assert pair.books.account.numbers() == before
        pair.report("settle", play, None)
        assert pair.books.account.numbers() != before

    def test_a_reward_below_the_range_is_booked_as_it_is_and_ends_exploring(self) -> None:
        pair = self.saved_up()
        play, (low, high) = self.explored(pair), self.make_floor().reward_range
        assert pair.report("settle", play, low - 1000 * (high - low)) is Outcome.BREACH
        assert statement(pair.books).breaches == 1
        assert not pair.books.affords(pair.books.terms(self.first_default()))

    def test_a_reserve_can_be_withdrawn_as_far_as_it_is_not_needed(self) -> None:
        books, ends = self.saved_up().books, self.make_floor().reward_range
        amount = 2 * max(map(abs, ends))
        before, had = books.snapshot(), statement(books).reserve
        try:
            books.add_reserve(amount)
        except SurefootError:
            refused(books.withdraw_reserve, amount)
        else:
            has = statement(books).reserve
            refused(books.withdraw_reserve, has + 1)
            books.withdraw_reserve(has - had)
        assert books.snapshot() == before

    def first_default(self) -> Any:
        """The default of a play, the same at each call."""
        return self.default(np.random.default_rng(0))

    def default_play(self, pair: Pair) -> int:
        """Decide a default play."""
        return pair.decide(False, self.first_default())

    def gone_on(self, books: Books) -> JsonObject:
        """Some books after 60 more plays, all at their worst."""
        default = self.first_default()
        for _ in range(60):
            terms = books.terms(default)
            if books.affords(terms):
                books.settle(books.explore(terms), books.floor.reward_range[0])
            else:
                books.settle(books.default(terms), None)
        return books.snapshot()

    def reports(self, seed: int) -> list[list[tuple[Any, ...]]]:
        """For each of 30 plays what it is and then what is reported of it, in order."""
        rng, made = np.random.default_rng(seed), list[list[tuple[Any, ...]]]()
        for play in range(30):
            explores = rng.random() < 0.7
            end = str(rng.choice(["settle", "settle", "settle", "void", "fall_back"]))
            reward = [self.make_reward(rng) if explores else None] if end == "settle" else []
            late = explores and end == "settle" and rng.random() < 0.3
            own = [("expire", play)] if late else []
            made.append([("explore" if explores else "default",), *own, (end, play, *reward)])
        return made

    def booked(self, seed: int, reports: list[list[tuple[Any, ...]]], rng: Any) -> str:
        """The books after each play's reports in their order, those of different plays in any."""
        books, defaults = self.make_floor().open(), np.random.default_rng(seed)
        for (decided,), *_ in reports:
            getattr(books, decided)(books.terms(self.default(defaults)))
        return after(books, [own[1:] for own in reports], rng)


def check_kept(pair: Pair) -> None:
    """The promise, by the outcomes; and that the books do not overstate it."""
    kept = pair.outcomes.least()
    assert kept >= 0, f"the promise is broken by {float(-kept)}"
    if pair.floor.rho is None and pair.floor.checkpoint is None:
        assert 0 <= rational(statement(pair.books).slack) <= kept


def check_statement(pair: Pair, says: Any) -> None:
    """Each field against what became of the plays; a ceiling's are of costs."""
    outcomes, unit = pair.outcomes, rational(pair.floor.unit.decimal(1))
    count, made = outcomes.count, ("open", "settled", "capped", "expired")
    costs = is_ceiling(pair.floor)
    earned, required = (says.spent, says.allowed) if costs else (says.earned, says.required)
    earned, required = (-1 if costs else 1) * earned, (-1 if costs else 1) * required
    assert says.slack == says.reserve + earned - required - says.held - says.forfeited
    assert says.held >= 0
    assert 0 <= rational(required) - outcomes.required() < (len(outcomes.plays) + 1) * unit
    assert says.explorations == count(True, *made)
    assert says.default_plays == count(False, *made) + count(True, "fell_back")
    assert says.plays == says.explorations + says.default_plays
    assert says.unreported == count(False, "open")
    waits = outcomes.unknown if pair.floor.rho is not None else count(True, "open")
    assert says.pending == waits
    assert says.voided == count(True, "void") + count(False, "void")
    assert says.expired >= count(True, "expired")
    assert (says.breaches, says.capped, says.mismatches, says.promise_void) == (0, 0, 0, False)
    assert rational(says.reserve) <= rational(pair.floor.reserve)
