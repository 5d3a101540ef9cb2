"""The judge of a simulation: what was promised, from the clients' diary alone, in fractions.

A text of its own: it shares no arithmetic with the floors, the live agents or the verifier.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import ceil, floor
from typing import Any, NamedTuple

KINDS = ("violation", "lost", "double", "wrong", "broken")
"""A promise missed; an acknowledgement lost; a credit given twice; books that are not exact; an
agent that stopped, raised what it may not, or does not come back as it was."""

Known = Fraction | tuple[Fraction, Fraction] | None
"""A default: its value, an interval it surely pays within, or that each play brings its own."""


class Promise(NamedTuple):
    """The floor of an experiment from some moment on."""

    default: Known
    alpha: Fraction
    low: Fraction
    high: Fraction
    fixed: bool = False
    """Whether an interval default is held against a fixed level, which is ``target`` or its u."""
    target: Fraction | None = None


class Worth(NamedTuple):
    """What one play is worth: exact, and as the books round it, in whole units."""

    least: Fraction
    """The worst reward of an arm, exact."""
    asked: Fraction
    """f, exact."""
    sure: Fraction
    """What the default brings above what is asked of it, at least."""
    share: Fraction
    """How much of each unit that an interval default pays above its l counts."""
    value: int
    floor: int
    hold: int
    deposit: int
    upper: int | None
    low: int
    high: int

    def told(self) -> tuple[int, int, int, int, int | None]:
        """As much of it as an answer says."""
        return self.value, self.floor, self.hold, self.deposit, self.upper

    def above(self, reward: int) -> int:
        """What an interval default posts once its reward is known, in units."""
        assert self.upper is not None
        share = self.share
        return floor(share * min(reward, self.upper)) - floor(share * self.value)


def worth(promise: Promise, own: Known, places: int) -> Worth:
    """What a play under a promise is worth; ``own``: the default that it brought, if it did.

    >>> worth(Promise(Fraction("0.5"), Fraction("0.25"), Fraction(0), Fraction(1)), None, 2).told()
    (50, 38, 38, 12, None)
    """
    known = promise.default if own is None else own
    assert known is not None
    scale, kept = 10**places, 1 - promise.alpha
    random = isinstance(known, tuple)
    low, high = known if isinstance(known, tuple) else (known, known)
    level = promise.target if random and promise.target is not None else high
    asked = kept * level
    value, f = floor(low * scale), ceil(asked * scale)
    least = floor(promise.low * scale)
    against_level = random and promise.fixed
    if against_level:
        deposit, sure = value - f, low - asked
    else:
        deposit = floor(promise.alpha * (value if random else low * scale))
        sure = promise.alpha * low
    return Worth(
        promise.low, asked, sure, Fraction(1) if against_level else promise.alpha, value, f,
        max(0, f - least), deposit, floor(high * scale) if random else None,
        least, floor(promise.high * scale),
    )  # fmt: skip


class Note:
    """Whether an answer was lost with the power of the machine that gave it."""

    __slots__ = ("lost",)

    def __init__(self) -> None:
        self.lost = False


class Ack:
    """What a client was told."""

    __slots__ = ("kind", "note", "outcome", "reward")

    def __init__(self, kind: str, outcome: str, reward: Fraction | None = None) -> None:
        self.kind, self.outcome, self.reward = kind, outcome, reward
        self.note: Note | None = None

    @property
    def excused(self) -> bool:
        """Whether it may be gone: a machine without ``durable`` lost its power."""
        return self.note is not None and self.note.lost


class Page:
    """What the diary says of one play."""

    __slots__ = ("acks", "answer", "experiment", "made", "own", "paid", "reported", "worth")

    def __init__(self, experiment: str, own: Known) -> None:
        self.experiment, self.own = experiment, own
        self.answer: Any = None
        """The play as answered; None: its client never got to know."""
        self.worth: Worth | None = None
        self.made: str | None = None
        """What was truly played: "arm", "default", or None."""
        self.paid: Fraction | None = None
        self.acks: list[Ack] = []
        self.reported: set[Fraction | None] = set()
        """The rewards that its client ever sent."""


class Judge:
    """Keeps the diary and the true sum: what the plays truly made brought above what was asked.

    Moments are told in the order in which they happen; the promise is checked at each.
    """

    def __init__(self, places: int) -> None:
        self.places = places
        self.promises: dict[str, list[Promise]] = {}
        self.pages: dict[str, Page] = {}
        self.problems: Counter[str] = Counter()
        self.told: list[str] = []
        """The first problems, in words."""
        self.reserve = 0
        self.slack = Fraction(0)
        """The reserve and the true sum, every reward not paid yet at its worst."""
        self.explored = self.decided = 0
        self._overstated = False
        self._worths: dict[Any, Worth] = {}

    def wrong(self, kind: str, what: str) -> None:
        """Note a problem."""
        assert kind in KINDS
        self.problems[kind] += 1
        if len(self.told) < 10 and f"{kind}: {what}" not in self.told:
            self.told.append(f"{kind}: {what}")

    def promised(self, experiment: str, promise: Promise) -> None:
        """An experiment was opened or changed: this holds for the plays to come."""
        self.promises.setdefault(experiment, []).append(promise)

    def endowed(self, units: int) -> None:
        """The reserve grew, or shrank."""
        self.reserve += units
        self._moved(Fraction(units, 10**self.places), "a change of the reserve")

    def worth(self, experiment: str, version: int, own: Known) -> Worth:
        """What a play decided under the n-th promise of an experiment is worth."""
        key = experiment, version, own
        if key not in self._worths:
            promise = self.promises[experiment][version]
            self._worths[key] = worth(promise, own, self.places)
        return self._worths[key]

    def page(self, play: str, experiment: str, own: Known) -> Page:
        """The diary's page of a play, by what its client knows it by."""
        return self.pages.setdefault(play, Page(experiment, own))

    def answered(self, page: Page, play: Any) -> Ack:
        """A client got a play; what it is called has to mean the same play ever after."""
        before = page.answer
        ack = Ack("answer", "default" if play.is_default else "explore")
        if before is None:
            page.answer = play
            page.worth = self.as_told(page, play)
            page.acks.append(ack)
            self.decided += 1
            self.explored += not play.is_default
        elif before != play:
            self.wrong("wrong", f"play {play.id} was answered as {before}, then as {play}")
        return ack

    def as_told(self, page: Page, play: Any) -> Worth:
        """The worth of a play, found by the terms it was answered with."""
        terms = play.play.terms
        said = (terms.value, terms.floor, terms.hold, terms.deposit, terms.high)
        versions = range(len(self.promises[page.experiment]))
        for version in reversed(versions):
            found = self.worth(page.experiment, version, page.own)
            if found.told() == said:
                return found
        due = self.worth(page.experiment, versions[-1], page.own)
        self.wrong("wrong", f"play {play.id} has the terms {said}, expected {due.told()}")
        return due

    def made(self, page: Page, what: str) -> None:
        """A play was truly made: "arm" or "default"."""
        assert page.worth is not None
        assert page.made is None
        page.made = what
        known = page.worth
        self._moved(known.least - known.asked if what == "arm" else known.sure, "a play")

    def paid(self, page: Page, reward: Fraction) -> None:
        """Its true reward is there, whoever knows of it."""
        assert page.worth is not None
        assert page.made is not None
        assert page.paid is None
        page.paid = reward
        known = page.worth
        if page.made == "arm":
            self._moved(reward - known.least, "a reward")
        elif known.upper is not None:
            above = reward - Fraction(known.value, 10**self.places)
            self._moved(known.share * above, "a default's reward")

    def _moved(self, gain: Fraction, what: str) -> None:
        self.slack += gain
        if self.slack < 0:
            self.wrong("violation", f"{what} left the plays truly made at {float(self.slack):.9f}")

    def claimed(self, units: int) -> None:
        """The account says that so much is available: never more than there truly is."""
        if units > self.slack * 10**self.places and not self._overstated:
            self._overstated = True
            there = float(self.slack * 10**self.places)
            self.wrong("violation", f"the account has {units} units, there are {there}")

    def brought(self, page: Page) -> Fraction | None:
        """What a play truly made has brought above its f by now; None if it was not made."""
        if page.made is None:
            return None
        known = page.worth
        assert known is not None
        if page.made == "arm":
            return (known.least if page.paid is None else page.paid) - known.asked
        if page.paid is None or known.upper is None:
            return known.sure
        return known.sure + known.share * (page.paid - Fraction(known.value, 10**self.places))

    def refused(self, page: Page, kind: str, problem: str) -> None:
        """A client's report was refused; the audit says whether it had to be."""
        page.acks.append(Ack(kind, problem))
