"""Planted mutants: each is the code with one plausible fault, and each law named here kills it."""

from typing import Any

import pytest

import laws
from surefoot import UCB1, GenCB
from surefoot.errors import PlayConflict
from surefoot.floors import Account, Outcome, RewardBooks, RewardFloor, State, Terms
from surefoot.floors.plays import Plays, Record


def opens(
    floor: type[RewardFloor] = RewardFloor,
    account: type[Account] = Account,
    plays: type[Plays] = Plays,
    books: type[RewardBooks] = RewardBooks,
) -> Any:
    """A maker of books in which one part may be a mutant."""

    def make(**settings: Any) -> RewardBooks:
        terms = floor(**settings)
        return books(terms, account(terms.unit.floor(terms.reserve)), plays())

    return make


def builds(policy: type[UCB1] = UCB1, agent: type[GenCB] = GenCB) -> Any:
    """A maker of agents in which policy or agent may be a mutant."""

    def make(n_arms: int, mu0: float, alpha: float, default_competes: bool) -> GenCB:
        floor = RewardFloor(mu0, alpha)
        return agent(policy(n_arms), floor, seed=0, default_competes=default_competes)

    return make


class StrictGate(Account):
    """`>` for `>=`."""

    def affords(self, hold: int) -> bool:
        return self.available > hold


class PendingIgnored(Account):
    """The gate does not ask what explorations without reward may still lose."""

    def affords(self, hold: int) -> bool:
        return self.reserve + self.posted >= hold


class RefundOnExpiry(Account):
    """The hold is given back when no reward came in time."""

    def expire(self, hold: int) -> None:
        self.held -= hold

    def settle_late(self, gain: int, hold: int) -> None:
        self.posted += gain


class DebtForgiven(Account):
    """What is posted never falls below zero: bad news first is cheaper than bad news last."""

    def settle(self, gain: int, hold: int) -> None:
        super().settle(gain, hold)
        self.posted = max(0, self.posted)


class CreditAtDecide(RewardBooks):
    """A default play is credited before anybody said that it was played."""

    def default(self, terms: Terms) -> int:
        self.account.deposit(terms.deposit)
        return super().default(terms)

    def _settle_default(self, play: int, record: Record, reward: Any) -> Outcome:
        if record.state is State.OPEN:
            self.account.posted -= record.terms.deposit
        return super()._settle_default(play, record, reward)


class FloorRoundedDown(RewardFloor):
    """f is rounded down, so that a hold is a fraction of a unit too small."""

    def _terms(self, value: Any) -> Terms:
        terms = super()._terms(value)
        lost, whole = self._share
        p, q = self.unit.ratio(value)
        floor = (whole - lost) * p // (whole * q)
        hold = max(0, floor - self.unit.floor(self.reward_range[0]))
        return terms._replace(floor=floor, hold=hold)


class DepositRoundedUp(RewardFloor):
    """A default play brings a fraction of a unit too much."""

    def _terms(self, value: Any) -> Terms:
        terms = super()._terms(value)
        lost, whole = self._share
        p, q = self.unit.ratio(value)
        return terms._replace(deposit=-(-lost * p // (whole * q)))


class LateTruthTwice(Plays):
    """An expired play stays expired when its truth came: the truth may come, and pay, again."""

    def close(self, play: int, state: State, reward: int | None = None) -> None:
        late = self.get(play).state is State.EXPIRED
        super().close(play, State.EXPIRED if late else state, reward)


class VoidAfterExpiry(RewardBooks):
    """What expiry booked is given back when the play is called void."""

    def void(self, play: int) -> Outcome:
        record = self.plays.get(play)
        if record.state is State.EXPIRED:
            self.account.posted += record.terms.hold
            self.plays.close(play, State.VOID)
            return Outcome.BOOKED
        return super().void(play)


class AboveRangeInFull(RewardBooks):
    """Cents sent for dollars are believed."""

    def settle(self, play: int, reward: Any) -> Outcome:
        outcome = super().settle(play, reward)
        if outcome is Outcome.CAPPED:
            self.acknowledge(play)
        return outcome


class BreachClipped(RewardBooks):
    """A reward below r_min is booked as r_min."""

    def settle(self, play: int, reward: Any) -> Outcome:
        outcome = super().settle(play, reward)
        if outcome is Outcome.BREACH:
            self.account.posted += self.low - self.floor.unit.read(reward, "reward")
        return outcome


class ExpiredForgotten(RewardBooks):
    """An expired play is closed: its truth is taken for a contradiction."""

    def expire(self, play: int) -> Outcome:
        outcome = super().expire(play)
        if outcome is Outcome.BOOKED:
            self.plays.close(play, State.VOID)
        return outcome


class VoidAfterSettled(RewardBooks):
    """Calling a settled play void takes its reward out again: the last report wins."""

    def void(self, play: int) -> Outcome:
        record = self.plays.get(play)
        if record.state is State.SETTLED and record.explores and record.reward is not None:
            self.account.posted -= record.reward - record.terms.floor
            return Outcome.BOOKED
        return super().void(play)


class ErrorLeavesTrace(RewardBooks):
    """A refused report is counted as a mismatch all the same."""

    def settle(self, play: int, reward: Any) -> Outcome:
        try:
            return super().settle(play, reward)
        except PlayConflict:
            self.mismatches += 1
            raise


class ClockBehind(UCB1):
    """m - 1 for m in the logarithm."""

    def peek(self, turn: int, allowed: Any = None) -> tuple[int, float]:
        return super().peek(max(1, turn - 1), allowed)


class CalendarClock(GenCB):
    """t for m in the logarithm: the policy's clock runs while the gate is closed."""

    def select(self, *arguments: Any, **named: Any) -> Any:
        self.policy.turns = self.account.plays
        return super().select(*arguments, **named)


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
    PendingIgnored: (opens(account=PendingIgnored), (laws.check_delay, laws.check_promise)),
    RefundOnExpiry: (opens(account=RefundOnExpiry), (laws.check_promise, laws.check_table)),
    DebtForgiven: (opens(account=DebtForgiven), (laws.check_commute, laws.check_promise)),
    CreditAtDecide: (
        opens(books=CreditAtDecide),
        (laws.check_promise, laws.check_table, laws.check_histories),
    ),
    FloorRoundedDown: (opens(floor=FloorRoundedDown), (laws.check_promise,)),
    DepositRoundedUp: (opens(floor=DepositRoundedUp), (laws.check_promise,)),
    LateTruthTwice: (opens(plays=LateTruthTwice), (laws.check_promise, laws.check_table)),
    VoidAfterExpiry: (opens(books=VoidAfterExpiry), (laws.check_promise, laws.check_table)),
    VoidAfterSettled: (opens(books=VoidAfterSettled), (laws.check_table,)),
    ExpiredForgotten: (opens(books=ExpiredForgotten), (laws.check_table,)),
    AboveRangeInFull: (opens(books=AboveRangeInFull), (laws.check_promise, laws.check_table)),
    BreachClipped: (opens(books=BreachClipped), (laws.check_table,)),
    ErrorLeavesTrace: (opens(books=ErrorLeavesTrace), (laws.check_promise, laws.check_table)),
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
