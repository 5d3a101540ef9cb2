"""Mutants of the books: each is the code with one plausible fault, for laws and proof to find."""

from typing import Any

from surefoot import UCB1, GenCB
from surefoot.errors import PlayConflict
from surefoot.floors import Account, Outcome, RewardBooks, RewardFloor, State, Terms
from surefoot.floors.events import Event, Move, Record, decided, stands, step
from surefoot.floors.plays import Plays


def opens(
    floor: type[RewardFloor] = RewardFloor,
    account: type[Account] = Account,
    books: type[RewardBooks] = RewardBooks,
) -> Any:
    """A maker of books in which one part may be a mutant."""

    def make(**settings: Any) -> RewardBooks:
        terms = floor(**settings)
        return books(terms, account(terms.unit.floor(terms.reserve)), Plays())

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


def refund_on_expiry(play: Record, report: str, *told: Any) -> Move:
    """The hold is given back when no reward came in time."""
    move = step(play, report, *told)
    if move.event is Event.MISSED:
        return move._replace(posted=0)
    late = move.event is Event.LATE
    return move._replace(posted=move.posted - play.terms.hold) if late else move


class RefundOnExpiry(RewardBooks):
    step = staticmethod(refund_on_expiry)


class DebtForgiven(Account):
    """What is posted never falls below zero: bad news first is cheaper than bad news last."""

    def book(self, move: Move) -> None:
        super().book(move)
        self.posted = max(0, self.posted)


def credited(explores: bool, terms: Terms) -> Move:
    """A default play is credited before anybody said that it was played."""
    return decided(explores, terms)._replace(posted=0 if explores else terms.deposit)


def credited_before(play: Record, report: str, *told: Any) -> Move:
    """The report of a default play that was credited at its decision."""
    move = step(play, report, *told)
    confirmed = move.event is Event.CONFIRMED
    return move._replace(posted=move.posted - play.terms.deposit) if confirmed else move


class CreditAtDecide(RewardBooks):
    decided = staticmethod(credited)
    step = staticmethod(credited_before)


class FloorRoundedDown(RewardFloor):
    """f is rounded down, so that a hold is a fraction of a unit too small."""

    def _terms(self, value: Any) -> Terms:
        terms = super()._terms(value)
        lost, whole, _ = self._share
        p, q = self.unit.ratio(value)
        floor = (whole - lost) * p // (whole * q)
        hold = max(0, floor - self.unit.floor(self.reward_range[0]))
        return terms._replace(floor=floor, hold=hold)


class DepositRoundedUp(RewardFloor):
    """A default play brings a fraction of a unit too much."""

    def _terms(self, value: Any) -> Terms:
        terms = super()._terms(value)
        lost, whole, _ = self._share
        p, q = self.unit.ratio(value)
        return terms._replace(deposit=-(-lost * p // (whole * q)))


def late_truth_twice(play: Record, report: str, *told: Any) -> Move:
    """An expired play stays expired when its truth came: the truth may come, and pay, again."""
    move = step(play, report, *told)
    return move._replace(state=State.EXPIRED) if move.event is Event.LATE else move


class LateTruthTwice(RewardBooks):
    step = staticmethod(late_truth_twice)


def void_after_expiry(play: Record, report: str, *told: Any) -> Move:
    """What expiry booked is given back when the play is called void."""
    move = step(play, report, *told)
    if report == "void" and play.explores and play.state is State.EXPIRED:
        made = move._replace(outcome=Outcome.BOOKED, event=Event.VOIDED, state=State.VOID)
        return made._replace(posted=play.terms.hold)
    return move


class VoidAfterExpiry(RewardBooks):
    step = staticmethod(void_after_expiry)


def above_range_in_full(play: Record, report: str, *told: Any) -> Move:
    """Cents sent for dollars are believed."""
    move = step(play, report, *told)
    if move.outcome is not Outcome.CAPPED:
        return move
    assert move.reward is not None
    over = move.reward - told[2]
    return move._replace(state=State.SETTLED, posted=move.posted + over)


class AboveRangeInFull(RewardBooks):
    step = staticmethod(above_range_in_full)


def breach_clipped(play: Record, report: str, *told: Any) -> Move:
    """A reward below r_min is booked as r_min."""
    move = step(play, report, *told)
    if move.outcome is not Outcome.BREACH or not play.explores:
        return move
    assert move.reward is not None
    return move._replace(posted=move.posted + told[1] - move.reward)


class BreachClipped(RewardBooks):
    step = staticmethod(breach_clipped)


def expired_forgotten(play: Record, report: str, *told: Any) -> Move:
    """An expired play is closed: its truth is taken for a contradiction."""
    move = step(play, report, *told)
    return move._replace(state=State.VOID) if move.event is Event.MISSED else move


class ExpiredForgotten(RewardBooks):
    step = staticmethod(expired_forgotten)


def void_after_settled(play: Record, report: str, *told: Any) -> Move:
    """Calling a settled play void takes its reward out again: the last report wins."""
    move = step(play, report, *told)
    settled = play.state is State.SETTLED and play.explores and play.reward is not None
    if report == "void" and settled:
        taken = stands(True, play.terms, play.state, play.reward, 0)[0]
        return move._replace(outcome=Outcome.BOOKED, event=Event.VOIDED, posted=-taken)
    return move


class VoidAfterSettled(RewardBooks):
    step = staticmethod(void_after_settled)


class ErrorLeavesTrace(RewardBooks):
    """A refused report is counted as a mismatch all the same."""

    def settle(self, play: int, reward: Any) -> Outcome:
        try:
            return super().settle(play, reward)
        except PlayConflict:
            self.counters["mismatches"] += 1
            raise


class ClockBehind(UCB1):
    """m - 1 for m in the logarithm."""

    def peek(self, turn: int, allowed: Any = None, context: Any = None) -> tuple[int, float]:
        return super().peek(max(1, turn - 1), allowed, context)


class CalendarClock(GenCB):
    """t for m in the logarithm: the policy's clock runs while the gate is closed."""

    def select(self, *arguments: Any, **named: Any) -> Any:
        self.policy.turns = self.account.plays
        return super().select(*arguments, **named)
