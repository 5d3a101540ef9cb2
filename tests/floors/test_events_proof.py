"""Proved, not tried: what the events do to the account, for all plays and all amounts.

``step``, ``decided`` and ``Account`` are run themselves, on integers of which nothing is known (see
``prover``). Of a floor whose default is known or an interval, with linear accounts:

(a) what is available falls only when an exploration is decided (which the gate allows), a lease is
    granted (the same gate), reserve is withdrawn, or a reward breaks what was declared: a breach;
(b) posted and held are at every moment the sums of what each play adds as it stands;
(c) what is available never falls below zero without a breach.

What is assumed of a play's terms: its hold is at least 0 and at least f - r_min, its deposit at
least 0 and no more than any draw of its interval gives up, and an interval's l at most its u.
``(lost*x + extra) // whole`` is nonlinear: of it is assumed only that it grows with x, which is a
lemma of its own below. Checkpoints and mean-variance floors, whose gates multiply, stay with the
laws in ``tests/laws.py``.
"""

import random
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
import z3

import general_laws
import mutants
from prover import Int, Path, paths, plain
from surefoot import CostCeiling, RewardFloor
from surefoot.floors import Account, Outcome, RewardBooks, State, Terms
from surefoot.floors.events import LEASES, REPORTS, Event, Record

STATES = {
    True: [State.OPEN, State.SETTLED, State.CAPPED, State.EXPIRED, State.VOID, State.FELL_BACK],
    False: [State.OPEN, State.SETTLED, State.EXPIRED, State.VOID],
}
REWARDED = {State.SETTLED, State.CAPPED}
CASES = [
    (explores, state, has_reward, interval)
    for explores, interval in product((True, False), (None, "realised", "fixed"))
    for state in STATES[explores]
    for has_reward in (True, False)
    if has_reward == (state in REWARDED) or (state is State.SETTLED and not explores)
    or (state is State.FELL_BACK and interval)
]  # fmt: skip
"""Whether the play explores, its state, whether its reward is known, and of what kind its default
is: all that a play can be, as the first theorem shows."""


class World:
    """An account and one of its plays, of which no number is known."""

    def __init__(self, path: Path, case: Any, account: type[Account] = Account) -> None:
        explores, state, has_reward, interval = case
        self.path = path
        value, floor, hold, deposit = map(path.fresh, ("value", "floor", "hold", "deposit"))
        self.low, self.high = path.fresh("low"), path.fresh("high")
        more: Any = tuple(map(path.fresh, ("u", "lost", "whole", "extra"))) if interval else ()
        self.terms = Terms(
            value, floor, hold, deposit, *more, *((True,) if interval == "fixed" else ())
        )
        path.assume(self.low < self.high, hold >= 0, hold >= floor - self.low, deposit >= 0)
        if interval:
            low, high = value.term, more[0].term
            path.assume(low <= high)
            least = z3.If(low >= 0, low, z3.If(high <= 0, -high, 0))
            path.assume(
                deposit == value - floor if self.terms.fixed else deposit <= path.share(least)
            )
        reward = path.fresh("reward") if has_reward else None
        self.play = Record(explores, self.terms, state, reward)
        if state is State.CAPPED:
            path.assume(reward > self.high)
        self.account = account(*map(path.fresh, ("reserve", "posted", "held")))
        path.assume(self.available >= 0)

    @property
    def available(self) -> Int:
        account: Any = self.account
        return account.reserve + account.posted - account.held

    def adds(self, state: State, reward: Any) -> tuple[Any, Any]:
        """What the play adds to posted and held: said here once more, apart from ``stands``."""
        explores, terms = self.play.explores, self.terms
        if state is State.OPEN:
            return 0, terms.hold.term if explores else 0
        if state is State.VOID or (state is State.EXPIRED and not explores):
            return 0, 0
        if state is State.EXPIRED:
            return -terms.hold.term, 0
        if state is State.CAPPED:
            return self.high.term - terms.floor.term, 0
        if state is State.SETTLED and explores:
            return reward.term - terms.floor.term, 0
        if terms.high is None or reward is None:
            return terms.deposit.term, 0
        x, low, high = reward.term, terms.value.term, terms.high.term
        counted = z3.If(x < high, x, high)
        if terms.fixed:
            return counted - terms.floor.term, 0
        near = z3.If(counted < low, low, counted)
        given_up = [self.path.share(z3.If(z3.Or(low >= 0, z >= 0), z, -z)).term for z in (x, near)]
        return z3.If(given_up[0] < given_up[1], *given_up), 0

    def moved(self, posted: Any, held: Any, by: Any, held_by: Any) -> bool:
        """Whether the account can have moved by anything else."""
        ours = plain(self.account.posted) - posted.term, plain(self.account.held) - held.term
        return self.path.can_be(z3.Or(ours[0] != by, ours[1] != held_by))


def moves(case: Any, step: Any, account: type[Account] = Account) -> Any:
    """Every path of every report of such a play: the world after it, what it was, and the move."""
    for report, told in product(REPORTS, (False, True)):
        if told and report != "settle":
            continue

        def run(path: Path, report: str = report, told: bool = told) -> Any:
            world = World(path, case, account)
            reward = path.fresh("told") if told else None
            move = step(world.play, report, reward, world.low, world.high, True)
            before = world.available, world.account.posted, world.account.held
            world.account.book(move)
            return world, before, move

        for path, found in paths(run):
            yield path, *found


def broken(
    step: Any = RewardBooks.step, decided: Any = RewardBooks.decided, account: Any = Account
) -> Iterator[str]:
    """Which of the theorems do not hold, each with the case that breaks it."""
    for case in CASES:
        if case[1] is State.OPEN:
            yield from broken_by_its_decision(case, decided, account)
        for path, world, (available, posted, held), move in moves(case, step, account):
            what = f"{case[0], case[1].value}: {move.event}"
            if move.outcome is not Outcome.BREACH:
                if path.can_be(plain(world.available) < available.term):
                    yield f"(a) {what}"
                if path.can_be(plain(world.available) < 0):
                    yield f"(c) {what}"
            was = world.adds(world.play.state, world.play.reward)
            now = world.adds(move.state, move.reward)
            if world.moved(posted, held, now[0] - was[0], now[1] - was[1]):
                yield f"(b) {what}"


def broken_by_its_decision(case: Any, decided: Any, account: Any) -> Iterator[str]:
    explores = case[0]

    def run(path: Path) -> Any:
        world = World(path, case, account)
        posted, held = world.account.posted, world.account.held
        allowed = not explores or bool(world.account.affords(world.terms.hold))
        if allowed:
            world.account.book(decided(explores, world.terms))
        return world, posted, held, allowed

    for path, (world, posted, held, allowed) in paths(run):
        adds = world.adds(State.OPEN, None) if allowed else (0, 0)
        if path.can_be(plain(world.available) < 0):
            yield f"(c) {explores}: decided"
        if world.moved(posted, held, *adds):
            yield f"(b) {explores}: decided"


def test_the_theorems_hold():
    assert list(broken()) == []


@pytest.mark.parametrize(
    ("parts", "theorem"),
    [
        ({"account": mutants.PendingIgnored}, "(c) True: decided"),
        ({"account": mutants.DebtForgiven}, "(b)"),
        ({"step": mutants.refund_on_expiry}, "(a) (True, 'expired'): outcome.late"),
        ({"step": mutants.credited_before, "decided": mutants.credited}, "(b) False: decided"),
        ({"step": mutants.late_truth_twice}, "(b) (True, 'expired'): outcome.late"),
        ({"step": mutants.expired_forgotten}, "(b) (True, 'open'): outcome.expired"),
        ({"step": mutants.breach_clipped}, "(b) (True, 'open'): outcome.settled"),
        ({"step": mutants.void_after_settled}, "(a) (True, 'settled'): decision.voided"),
    ],
    ids=lambda part: next(iter(part.values())).__name__ if isinstance(part, dict) else "",
)  # fmt: skip
def test_a_planted_fault_has_a_counterexample(parts, theorem):
    """Those of the planted mutants that break a theorem; the others break what laws say besides:
    a tie, the rounding of the terms, which reports are legal, what a refused report leaves."""
    assert any(each.startswith(theorem) for each in broken(**parts))


def test_topping_up_by_the_nearer_of_draw_and_upper_end_has_a_counterexample(monkeypatch):
    """Where u is below 0 that end gives up more than a draw above it does."""
    paid = Terms.paid

    def nearer(terms: Any, reward: Any) -> Any:
        if terms.high is None or terms.fixed or reward is None:
            return paid(terms, reward)
        posted = terms.given_up(min(reward, terms.high))
        return posted, min(reward, terms.high) - posted

    monkeypatch.setattr(Terms, "paid", nearer)
    case = (False, State.SETTLED, False, "realised")
    found = [
        path.can_be(plain(world.account.posted) - posted.term > world.adds(*after)[0] - was[0])
        for path, world, (_, posted, _), move in moves(case, RewardBooks.step)
        for was, after in [(world.adds(State.SETTLED, None), (move.state, move.reward))]
    ]
    assert any(found)


def test_a_play_becomes_nothing_but_what_was_looked_at():
    """Every case is followed by a case: the theorems hold of a play's whole life."""
    for case in CASES:
        for path, world, _, move in moves(case, RewardBooks.step):
            after = case[0], move.state, move.reward is not None, case[3]
            assert after in CASES
            if move.state is State.CAPPED:
                assert not path.can_be(move.reward.term <= world.high.term)


def test_what_lowers_the_available_amount_is_exactly_what_is_listed():
    lowers = set()
    for case in CASES:
        for path, world, (available, *_), move in moves(case, RewardBooks.step):
            if path.can_be(world.available.term < available.term):
                lowers.add((move.outcome, move.event))
    assert lowers == {
        (Outcome.BREACH, Event.REWARDED),
        (Outcome.BREACH, Event.LATE),
        (Outcome.BREACH, Event.CONFIRMED),
        (Outcome.BREACH, Event.VALUED),
    }


def test_a_withdrawal_leaves_what_open_plays_may_lose():
    def run(path: Path) -> Any:
        world, taken = World(path, CASES[0]), path.fresh("taken")
        path.assume(taken > 0, world.account.reserve >= 0)
        if taken <= world.account.spare:
            world.account.reserve -= taken
        return world

    for path, world in paths(run):
        assert not path.can_be(z3.Or(world.available.term < 0, world.account.reserve.term < 0))


def test_what_is_forfeited_leaves_the_most_slack_that_is_kept():
    def run(path: Path) -> Any:
        world = World(path, CASES[0])
        books: Any = RewardFloor(0.5, 0.1, max_slack=1).open()
        books.account, books.max_slack = world.account, path.fresh("most")
        path.assume(books.max_slack >= 0)
        before = world.available
        books.forfeit()
        return world, before, books

    for path, (world, before, books) in paths(run):
        most, now = books.max_slack.term, world.available.term
        assert not path.can_be(z3.Or(now < 0, now != z3.If(before.term > most, most, before.term)))
        assert not path.can_be(plain(books.forfeited) != before.term - now)


def test_a_lease_is_paid_for_when_it_is_granted_and_costs_nothing_later():
    """Granted: held, if affordable. Spent: nothing moves. Closed: no more is released than held."""

    def run(path: Path) -> Any:
        world, amount, left = World(path, CASES[0]), path.fresh("amount"), path.fresh("left")
        path.assume(left >= 0, left <= amount)
        if not world.account.affords(amount):
            return None
        for kind, of in (("granted", amount), ("forfeited", left)):
            before = world.available
            posted, held = LEASES[kind]
            world.account.posted += posted * of
            world.account.held += held * of
        return world, before

    for path, found in paths(run):
        if found is not None:
            world, before = found
            assert not path.can_be(world.available.term < 0)
            assert not path.can_be(world.available.term < before.term)


def test_lemma_a_share_never_falls_when_what_it_is_of_grows():
    """(lost*x + extra) // whole for lost >= 0, whole > 0, with quotients and rests written out."""
    lost, whole, x, y, q, r, s, t, extra = z3.Ints("lost whole x y q r s t extra")
    solver = z3.Solver()
    solver.add(lost >= 0, whole > 0, x <= y)
    solver.add(
        lost * x + extra == whole * q + r, 0 <= r, r < whole
    )  # q = (lost*x + extra) // whole
    solver.add(lost * y + extra == whole * s + t, 0 <= t, t < whole)
    # From q > s the difference, lost*(y-x) = whole*(s-q) + t - r, would be below zero.
    solver.add(lost * (y - x) == lost * y - lost * x, lost * (y - x) >= 0)
    solver.add(z3.Implies(s - q <= -1, whole * (s - q) <= -whole))
    solver.add(whole * (s - q) == whole * s - whole * q)
    solver.add(q > s)
    assert solver.check() == z3.unsat


@pytest.mark.parametrize("costs", [False, True], ids=["rewards", "costs"])
@pytest.mark.parametrize("places", [0, 2, 9])
def test_what_is_assumed_of_terms_is_so(places, costs):
    """Of values, ends and levels of any sign, and of an alpha above 1 for costs."""
    for seed in range(60):
        for interval in (False, True):
            settings, _ = general_laws.case(random.Random(seed), costs, 4, places, interval)
            if settings["default"] is not None:
                floor = (CostCeiling if costs else RewardFloor)(**settings)
                check_assumed(floor.terms(), floor.unit.floor(floor.reward_range[0]))


def check_assumed(terms, r_min):
    assert terms.hold == max(0, terms.floor - r_min)
    assert terms.deposit >= 0
    if terms.high is None:
        return
    assert terms.value <= terms.high
    assert terms.lost >= 0
    assert terms.whole > 0
    if terms.fixed:
        assert terms.deposit == terms.value - terms.floor
    else:
        crosses = [0] if terms.value <= 0 <= terms.high else []
        ends = [terms.value, terms.high, *crosses]
        assert terms.deposit <= min(map(terms.given_up, ends))
