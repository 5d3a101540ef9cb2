"""Proved, not tried: why a learned default's account is safe at every mean if it is at its ends.

``LearnedAccount`` and ``LearnedBooks`` are run themselves, on integers of which nothing is known.
The account is a sum over plays, so what holds of each play's part, whatever its alpha, margin,
r_min and reward, holds of the account:

(a) between lo and hi, 0 not inside, the part of each play bends downwards: its second differences
    along the lattice are never above zero. So the account is least at one of its ends;
(b) where r_min >= 0 it is at least zero at the mean 0; where hi <= 0 it falls as the mean grows.
    So the upper end alone decides there;
(c) revaluing moves an end inward or, if nothing is left, says so and goes back to lo and hi. What
    is shown at an end may fall by it, so that no hold may be booked meanwhile: least over what is
    left, never.
"""

from fractions import Fraction
from typing import Any

import pytest
import z3

from prover import Int, Path, paths
from surefoot import LearnedDefault, RewardFloor
from surefoot.floors import learned_books
from surefoot.floors.learned import LATTICE, Curve
from surefoot.floors.learned_account import LearnedAccount, Sums

PARTS = ("open", "settled", "defaults")
"""An expired play is a part as an open one is."""
WITH_TAKEN = (*PARTS, "taken")
"""What was forfeited in proportion to the mean is so many times this part."""


class One(dict):
    """The sums of a single play, whose curve cannot be hashed: nothing of it is known."""

    def __init__(self, curve: Curve, sums: Sums) -> None:
        self.pairs = [(curve, sums)]

    def items(self) -> Any:
        return self.pairs


class Part:
    """What one play adds to the account, at means of which nothing is known."""

    def __init__(self, path: Path, part: str) -> None:
        self.path = path
        alpha, margin, low = map(path.fresh, ("alpha", "margin", "low"))
        self.curve = Curve(alpha, margin, low)
        path.assume(alpha >= 0, margin >= 0)
        received = path.fresh("received") if part == "settled" else 0
        if part == "settled":
            path.assume(received >= low)
        self.account = LearnedAccount(0, ())
        if part == "taken":
            self.account.taken = 1
        else:
            self.account.sums = One(self.curve, Sums(**{part: 1, "received": received}))

    def lattice(self, name: str) -> Int:
        return Int(self.path, self.path.fresh(name).term)

    def at(self, step: Any) -> Any:
        """The account at so many steps of the lattice."""
        found = self.account.at(Int(self.path, step * LATTICE)).available
        return found.term if isinstance(found, Int) else found


def holds(part: str, claim: Any) -> bool:
    """Whether a claim, made of a part and a step of the lattice, is true on every path."""

    def run(path: Path) -> Any:
        one = Part(path, part)
        return claim(one, z3.Int("step"))

    found = [path.can_be(z3.Not(fact)) for path, fact in paths(run)]
    return bool(found) and not any(found)


@pytest.mark.parametrize("part", WITH_TAKEN)
@pytest.mark.parametrize("sign", [1, -1], ids=["above zero", "below zero"])
def test_each_part_of_the_account_bends_downwards(part, sign):
    def claim(one, step):
        one.path.assume(sign * step >= 1)
        return one.at(step - 1) + one.at(step + 1) <= 2 * one.at(step)

    assert holds(part, claim)


def test_across_zero_a_part_can_bend_upwards():
    """A default play posts least at the mean 0."""

    def claim(one, step):
        one.path.assume(step == 0)
        return one.at(step - 1) + one.at(step + 1) <= 2 * one.at(step)

    assert not holds("defaults", claim)


@pytest.mark.parametrize("part", PARTS)
def test_with_a_margin_alone_each_part_bends_downwards_across_zero(part):
    def claim(one, step):
        one.path.assume(one.curve.alpha == 0)
        return one.at(step - 1) + one.at(step + 1) <= 2 * one.at(step)

    assert holds(part, claim)


@pytest.mark.parametrize("part", WITH_TAKEN)
def test_where_nothing_received_is_negative_each_part_is_none_at_zero(part):
    def claim(one, step):
        one.path.assume(one.curve.low >= 0, step == 0)
        return one.at(step) >= 0

    assert holds(part, claim)


@pytest.mark.parametrize("part", PARTS)
def test_where_the_default_costs_each_part_falls_as_the_mean_grows(part):
    def claim(one, step):
        one.path.assume(step <= -1)
        return one.at(step + 1) <= one.at(step)

    assert holds(part, claim)


def revalued(path: Path, monkeypatch: Any) -> Any:
    """Books at any ends, after a look that refutes any points, beyond the ends or none."""
    floor = RewardFloor(LearnedDefault((0.1, 0.9)), 0.1, reward_range=(-1, 1))
    books = floor.open()
    low, high = path.fresh("low"), path.fresh("high")
    path.assume(low <= high, low >= books.start.low, high <= books.start.high)
    books.ends = low, high
    refuted = []

    def beyond(side: Any, y: Any, offset: int, delta: Fraction) -> Any:
        found = path.fresh("refuted")
        path.assume(found > y)
        refuted.append(found)
        return found if path.fresh("moves") > 0 else None

    monkeypatch.setattr(learned_books, "_beyond", beyond)
    books._revalue(books.feed)
    return books, low, high


def test_an_end_moves_inward_or_the_books_say_that_nothing_is_left(monkeypatch):
    seen = set()
    for path, (books, low, high) in paths(lambda path: revalued(path, monkeypatch)):
        if books.feed is None:
            assert books.news[-1].event == "default.refuted"
            assert books.ends == (books.start.low, books.start.high)
            assert books.account.ends == books.ends
        else:
            now = books.ends
            assert not path.can_be(z3.Or(now[0].term < low.term, now[1].term > high.term))
            assert not path.can_be(now[0].term > now[1].term)
        seen.add(books.feed is None)
    assert seen == {True, False}


def test_revaluing_between_the_gate_and_its_hold_would_break_the_promise():
    """What is shown at the end can fall: the gate's answer is good until the end moves."""
    found = LearnedAccount(0, (90 * LATTICE,))
    curve, now = Curve(1_000, 0, 0), 50 * LATTICE
    found.move(curve, Sums(), Sums(defaults=9))
    assert found.affords(curve)
    found.move(curve, Sums(), Sums(open=1))
    assert found.at(90 * LATTICE).available == 0
    loss = Curve(1_000, 0, -100 * LATTICE)
    shown = LearnedAccount(0, (90 * LATTICE,))
    shown.move(loss, Sums(), Sums(defaults=21))
    assert shown.affords(loss)
    shown.ends = (now,)
    assert not shown.affords(loss)
    shown.move(loss, Sums(), Sums(open=1))
    assert shown.available < 0
