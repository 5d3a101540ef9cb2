"""Every floor passes the kit, and the kit finds what a floor can do wrong."""

import pytest

import surefoot as sf
from surefoot.floors import Account, Outcome, RewardBooks
from surefoot.floors.events import EXPIRED, SETTLED
from surefoot.floors.interval import AGAINST
from surefoot.floors.mean_variance import CHECKS
from surefoot.floors.mean_variance_books import MeanVarianceBooks
from surefoot.floors.plays import Plays
from surefoot.testing import FloorKit
from surefoot.testing._floors import refused

FLOORS = [
    sf.RewardFloor(default=0.7, alpha=0.05),
    sf.RewardFloor(default=0.5, alpha=0.2, reserve=3),
    sf.RewardFloor(default=0.5, alpha=0.2, reward_range=(-1, 1.5)),
    sf.RewardFloor(default=0.5, alpha=0.2, reward_range=(0.2, 1)),
    sf.RewardFloor(default=1 / 3, alpha=0.07, reward_range=(-0.123456789123, 2 / 3), places=2),
    sf.RewardFloor(default=0.5, alpha=0.2, checkpoint=7),
    sf.RewardFloor(default=None, alpha=0.2, reward_range=(-0.5, 1), reserve=1),
    sf.RewardFloor(default=None, alpha=0.2, against="fixed"),
    sf.RewardFloor(default=(0.3, 0.6), alpha=0.2),
    sf.RewardFloor(default=(0.5, 0.6), alpha=0.2, against="fixed"),
    sf.RewardFloor(default=(0.5, 0.6), alpha=0.2, against="fixed", target=0.4),
    sf.RewardFloor(default=-0.25, alpha=0.2, reward_range=(-1, 1), margin=0.05),
    sf.RewardFloor(default=0.5, alpha=0, margin=0.1),
    sf.RewardFloor(default=None, alpha=0.2, reward_range=(-1, 0.5), margin=0.03, reserve=1),
    sf.RewardFloor(default=(-0.3, 0.4), alpha=0.2, reward_range=(-1, 1), margin=0.02),
    sf.RewardFloor((-0.4, -0.3), 0.2, (-1, 0), against="fixed", target=-0.35),
    sf.CostCeiling(default=0.012, alpha=0.5, cost_range=(0, 0.05)),
    sf.CostCeiling(default=0.4, alpha=1.5, cost_range=(-0.2, 1.7), margin=1 / 3, places=2),
    sf.CostCeiling(default=0.5, alpha=0.2, cost_range=(0, 1), checkpoint=7),
    sf.CostCeiling(default=None, alpha=0.3, cost_range=(0, 1), reserve=1),
    sf.CostCeiling(default=(0.2, 0.4), alpha=0.3, cost_range=(0, 1)),
    sf.CostCeiling(default=(0.2, 0.3), alpha=0.6, cost_range=(0, 1), against="fixed"),
    sf.MeanVarianceFloor(default=0.7, alpha=0.05, rho=10),
    sf.MeanVarianceFloor(default=0.5, alpha=0.2, rho=1, reward_range=(-1, 2)),
    sf.MeanVarianceFloor(default=0.7, alpha=0.05, rho=10, check="exact"),
    sf.MeanVarianceFloor(default=0.7, alpha=0.05, rho=10, check="paper"),
]


class TestEveryFloor(FloorKit):
    @pytest.fixture(autouse=True, params=FLOORS, ids=repr)
    def _given(self, request):
        self.floor = request.param

    def make_floor(self):
        return self.floor


def test_no_kind_of_floor_is_left_out():
    reward = [floor for floor in FLOORS if isinstance(floor, sf.RewardFloor)]
    assert {floor.against for floor in reward} == set(AGAINST)
    assert {type(floor.default).__name__ for floor in reward} == {"Decimal", "tuple", "NoneType"}
    rest = [floor for floor in FLOORS if isinstance(floor, sf.MeanVarianceFloor)]
    assert {floor.check for floor in rest} == set(CHECKS)


class Bad(sf.RewardFloor):
    """A reward floor whose books are of the class that a test plants."""

    books = RewardBooks

    def open(self, keep=100_000):
        return self.books(self, Account(reserve=self.unit.floor(self.reserve)), Plays(keep))


class Generous(RewardBooks):
    def affords(self, terms):
        return super().affords(terms._replace(hold=terms.hold * 9 // 10))


class HoldsNothing(RewardBooks):
    def explore(self, terms):
        return super().explore(terms._replace(hold=0))


class RefundsWhatExpired(RewardBooks):
    def expire(self, play):
        record = self.plays.get(play)
        outcome = super().expire(play)
        if outcome is Outcome.BOOKED:
            self.account.posted += record.terms.hold
        return outcome


class CreditsAtOnce(RewardBooks):
    def default(self, terms):
        play = super().default(terms)
        self.settle(play, None)
        return play


class CreditsTwice(RewardBooks):
    def settle(self, play, reward):
        outcome = super().settle(play, reward)
        if outcome is Outcome.REPEATED:
            self.account.posted += self.plays.get(play).terms.deposit
        return outcome


class CountsWhatItRefuses(RewardBooks):
    def settle(self, play, reward):
        self.counters["mismatches"] += 1
        outcome = super().settle(play, reward)
        self.counters["mismatches"] -= 1
        return outcome


class LetsAnExpiredPlayBeVoid(RewardBooks):
    def void(self, play):
        record = self.plays.get(play)
        return Outcome.IGNORED if record.state is EXPIRED else super().void(play)


class TakesLateNews(RewardBooks):
    def expire(self, play):
        record = self.plays.get(play)
        return Outcome.BOOKED if record.state is SETTLED else super().expire(play)


class ForgetsTheHeld(RewardBooks):
    def snapshot(self):
        state = super().snapshot()
        return {**state, "breaches": 0, "voided": 0}


class CountsInFloats(RewardBooks):
    def snapshot(self):
        return {**super().snapshot(), "share": float(self.floor.alpha)}


class ChangesThePast(RewardBooks):
    def settle(self, play, reward):
        record = self.plays.get(play)
        record.terms = self.floor.terms()._replace(hold=record.terms.hold)
        return super().settle(play, reward)


class MiscountsTheOpen(RewardBooks):
    @property
    def waiting(self):
        return self.pending + self.unreported


class KeepsWhatIsVoid(RewardBooks):
    def void(self, play):
        outcome = super().void(play)
        self.account.posted -= outcome is Outcome.BOOKED
        return outcome


class ForgivesDebts(RewardBooks):
    def settle(self, play, reward):
        outcome = super().settle(play, reward)
        self.account.posted = max(0, self.account.posted)
        return outcome


class ShrugsOffABreach(RewardBooks):
    def settle(self, play, reward):
        return super().settle(play, reward if reward is None else max(reward, 0))


class LendsTheReserve(RewardBooks):
    def withdraw_reserve(self, amount):
        self.set_reserve(max(0, self.account.reserve - self.floor.unit.ceil(amount)))


@pytest.mark.parametrize(
    ("bug", "tests"),
    [
        (Generous, ["the_worst_rewards_do_not_break_the_promise"]),
        (HoldsNothing, ["no_order_delay_or_loss_breaks_the_promise"]),
        (RefundsWhatExpired, [
            "no_order_delay_or_loss_breaks_the_promise",
            "expiry_costs_nothing_more_and_the_late_reward_makes_it_good",
        ]),
        (CreditsAtOnce, ["a_default_play_is_credited_when_it_is_reported"]),
        (CreditsTwice, ["a_repeat_changes_nothing"]),
        (CountsWhatItRefuses, ["a_reward_that_is_not_a_number_is_refused_and_changes_nothing"]),
        (LetsAnExpiredPlayBeVoid, [
            "each_report_is_booked_repeated_ignored_or_refused_as_the_table_says"
        ]),
        (TakesLateNews, [
            "each_report_is_booked_repeated_ignored_or_refused_as_the_table_says"
        ]),
        (ForgetsTheHeld, ["the_books_survive_as_text"]),
        (CountsInFloats, ["the_books_hold_whole_numbers_only"]),
        (ChangesThePast, ["a_play_keeps_the_terms_it_was_decided_with"]),
        (MiscountsTheOpen, ["the_statement_says_what_happened"]),
        (KeepsWhatIsVoid, ["a_void_play_gives_back_what_it_held_and_no_more"]),
        (ForgivesDebts, ["reports_in_any_order_give_the_same_books"]),
        (ShrugsOffABreach, ["a_reward_below_the_range_is_booked_as_it_is_and_ends_exploring"]),
        (LendsTheReserve, ["a_reserve_can_be_withdrawn_as_far_as_it_is_not_needed"]),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)  # fmt: skip
def test_a_planted_bug_is_found(bug, tests):
    kit = FloorKit()
    kit.make_floor = lambda: type("Planted", (Bad,), {"books": bug})(default=0.7, alpha=0.05)
    for test in tests:
        with pytest.raises(AssertionError):
            getattr(kit, f"test_{test}")()


class Unread(sf.RewardFloor):
    def read(self, reward, what):
        return 0


class Forgetful(sf.RewardFloor):
    def config(self):
        return {**super().config(), "reserve": "0"}


@pytest.mark.parametrize(
    ("floor", "test"),
    [
        (Unread(0.7, 0.05), "a_reward_that_is_not_a_number_is_refused_and_changes_nothing"),
        (Forgetful(0.7, 0.05, reserve=1), "the_floor_survives_as_text"),
    ],
    ids=lambda case: type(case).__name__,
)
def test_a_floor_that_reads_or_writes_wrong_is_found(floor, test):
    kit = FloorKit()
    kit.make_floor = lambda: floor
    with pytest.raises(AssertionError):
        getattr(kit, f"test_{test}")()


class SeesTheLowEndOnly(MeanVarianceBooks):
    def affords(self, terms):
        account = self.account
        return account.constants.kept(account.moments.plus(account.pending + 1, self.low))


class ForgetsThePending(MeanVarianceBooks):
    def affords(self, terms):
        return self.account.constants.viable(self.account.moments.plus(1, self.low))


@pytest.mark.parametrize(
    ("bug", "rho", "test"),
    [
        (SeesTheLowEndOnly, 0.1, "the_worst_rewards_do_not_break_the_promise"),
        (ForgetsThePending, 1, "no_order_delay_or_loss_breaks_the_promise"),
    ],
)
def test_a_bug_of_a_mean_variance_gate_is_found(bug, rho, test):
    class Planted(sf.MeanVarianceFloor):
        def open(self, keep=100_000):
            return bug(self, super().open().account, Plays(keep))

    kit = FloorKit()
    kit.make_floor = lambda: Planted(default=0.3, alpha=0.05, rho=rho)
    with pytest.raises(AssertionError):
        getattr(kit, f"test_{test}")()


def test_a_floor_that_never_explores_is_told_to_play_for_longer():
    kit = FloorKit()
    kit.make_floor = lambda: sf.RewardFloor(default=0.7, alpha=0.001)
    with pytest.raises(AssertionError, match="higher"):
        kit.test_the_worst_rewards_do_not_break_the_promise()


def test_the_kit_needs_to_be_told_what_to_make():
    with pytest.raises(NotImplementedError):
        FloorKit().make_floor()


def test_a_refusal_that_does_not_come_fails():
    with pytest.raises(AssertionError, match="was not refused"):
        refused(abs, 1)
