"""Run the books' own code on integers of which nothing is known, along every path it can take.

A comparison of such integers asks z3 whether it can be true and whether it can be false, and where
it can be both, the code is run once more for the other answer. What holds at the end of every path
holds for all integers that meet the assumptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import z3


class Path:
    """One way through the code: what was assumed, and how each open question was answered."""

    def __init__(self, answers: list[bool]) -> None:
        self.solver = z3.Solver()
        self.answers = answers
        self.asked = 0
        self.shares: list[tuple[Any, Any]] = []
        self.names = 0

    def fresh(self, name: str) -> Int:
        """An integer of which nothing is known yet."""
        self.names += 1
        return Int(self, z3.Int(f"{name}{self.names}"))

    def assume(self, *facts: Any) -> None:
        """Go on only where these hold."""
        for fact in facts:
            self.solver.add(fact.term if isinstance(fact, Bool) else fact)

    def can_be(self, fact: Any) -> bool:
        """Whether there may be integers of which it is true; no only where z3 is sure."""
        return self.solver.check(fact) != z3.unsat

    def decide(self, fact: Any) -> bool:
        """Which way a comparison goes on this path."""
        if self.asked == len(self.answers):
            self.answers.append(self.can_be(fact))
        answer = self.answers[self.asked]
        self.asked += 1
        self.solver.add(fact if answer else z3.Not(fact))
        return answer

    def share(self, of: Any) -> Int:
        """(lost*x + extra) // whole, of which is known only that it never falls when x grows: a
        lemma, proved apart."""
        share = z3.Int(f"share{len(self.shares)}")
        for other, its in self.shares:
            self.assume(z3.Implies(of <= other, share <= its))
            self.assume(z3.Implies(of >= other, share >= its))
        self.shares.append((of, share))
        return Int(self, share)


def paths(run: Callable[[Path], Any]) -> Iterator[tuple[Path, Any]]:
    """Every path through ``run`` that some integers take, with what it came to."""
    waiting: list[list[bool]] = [[]]
    while waiting:
        known = waiting.pop()
        path = Path(list(known))
        result = run(path)
        waiting += [
            [*path.answers[:turn], False]
            for turn in range(len(known), len(path.answers))
            if path.answers[turn]
        ]
        if path.solver.check() != z3.unsat:
            yield path, result


class Bool:
    """A comparison; Python asks for its truth where the code branches."""

    def __init__(self, path: Path, term: Any) -> None:
        self.path, self.term = path, term

    def __bool__(self) -> bool:
        return self.path.decide(self.term)


class Int:
    """A whole number of which only the path's assumptions are known."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, path: Path, term: Any) -> None:
        self.path, self.term = path, term

    def __add__(self, other: Any) -> Int:
        return Int(self.path, self.term + plain(other))

    def __sub__(self, other: Any) -> Int:
        return Int(self.path, self.term - plain(other))

    def __rsub__(self, other: Any) -> Int:
        return Int(self.path, plain(other) - self.term)

    def __neg__(self) -> Int:
        return Int(self.path, -self.term)

    def __mul__(self, other: Any) -> Any:
        return Product(self, other) if isinstance(other, Int) else Int(self.path, self.term * other)

    def __floordiv__(self, whole: int) -> Int:
        quotient = self.path.fresh("quotient")
        rest = self.term - quotient.term * whole
        self.path.assume(0 <= rest, rest < whole)
        return quotient

    def __lt__(self, other: Any) -> Bool:
        return Bool(self.path, self.term < plain(other))

    def __le__(self, other: Any) -> Bool:
        return Bool(self.path, self.term <= plain(other))

    def __gt__(self, other: Any) -> Bool:
        return Bool(self.path, self.term > plain(other))

    def __ge__(self, other: Any) -> Bool:
        return Bool(self.path, self.term >= plain(other))

    def __eq__(self, other: object) -> Bool:  # type: ignore[override]
        return Bool(self.path, self.term == plain(other))

    def __ne__(self, other: object) -> Bool:  # type: ignore[override]
        return Bool(self.path, self.term != plain(other))

    def __abs__(self) -> Int:
        return self if self >= 0 else -self

    __radd__ = __add__
    __rmul__ = __mul__


class Product:
    """Two numbers times each other, and what is added: looked at only once it is divided."""

    def __init__(self, one: Int, other: Int) -> None:
        self.one, self.other = one, other

    def __add__(self, extra: Int) -> Product:
        return self  # a share is of a number, with whatever is added to each

    def __floordiv__(self, whole: Any) -> Int:
        path = self.one.path
        if isinstance(whole, Int):
            return path.share(self.other.term)
        # What is divided by a number that is known is a multiple of it: ends are chosen so.
        quotient = path.fresh("quotient")
        path.assume(quotient.term * whole == self.one.term * self.other.term)
        return quotient


def plain(value: Any) -> Any:
    """As z3 takes it."""
    return value.term if isinstance(value, Int) else value
