"""How the arms of one experiment stand, counted anew from the entries of its ledger.

A text of its own: of what the live agents keep for it, it uses the odds sequence alone, one reward
after the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from surefoot.floors.odds import Sequence

OPEN, LOST, OUT = "open", "lost", "left out"
_ENDS = {"outcome.expired": LOST, "outcome.as_default": OUT, "decision.voided": OUT}
DELTA = Fraction(1, 20)


class Counted:
    """The explorations of an experiment, in the order of their decisions."""

    def __init__(self, entries: Iterable[Any], experiment: str) -> None:
        self.plays: dict[str | None, list[Any]] = {}
        """Of each its arm, its end or what it paid, and what it paid after it expired."""
        self.ranges = set[tuple[int, int]]()
        for entry in entries:
            if entry.experiment == experiment:
                self._take(entry.kind, entry.play, entry.payload)

    def _take(self, kind: str, play: str | None, told: Any) -> None:
        if kind in ("experiment.opened", "experiment.configured"):
            self.ranges.add((told["floor"]["low"], told["floor"]["high"]))
        elif kind == "decision.held":
            self.plays[play] = [told["index"], OPEN, None]
        elif kind == "outcome.settled":
            self.plays[play][1] = told["reward"]
        elif kind == "outcome.late":
            self.plays[play][2] = told["reward"]
        elif kind in _ENDS and play in self.plays:
            self.plays[play][1] = _ENDS[kind]

    def wrong(self, rows: Iterable[Any], places: int) -> list[str]:
        """How the rows of ``Live.arms`` differ from the entries."""
        arms = [row for row in rows if row.arm is not None]
        found = []
        for number, row in enumerate(arms):
            due, said = self.row(number), [row.plays, row.open, row.told, row.mean or 0]
            due[3] = float(due[3] * Fraction(1, 10**places))
            if said[:3] != due[:3] or abs(said[3] - due[3]) > 1e-9:
                found.append(f"arm {row.arm} has {said}, its entries {due}")
            if row.why is None and len(self.ranges) == 1:
                ends = self.ends(number)
                told = [Fraction(end) * 10**places for end in (row.low, row.high)]
                if any(abs(a - b) > 2 for a, b in zip(told, ends, strict=True)):
                    found.append(f"arm {row.arm} has the ends {told}, its entries {ends}")
        return found

    def row(self, arm: int) -> list[Any]:
        """Plays, open plays, rewards told, and their mean in units."""
        mine = [play for play in self.plays.values() if play[0] == arm and play[1] != OUT]
        told = [x for play in mine for x in play[1:] if isinstance(x, int)]
        mean = Fraction(sum(told), len(told)) if told else Fraction(0)
        return [len(mine), sum(play[1] == OPEN for play in mine), len(told), mean]

    def ends(self, arm: int) -> tuple[int, int]:
        """The interval of the arm's mean, in units."""
        [(low, high)] = self.ranges
        sequence = Sequence(low, high)
        for of, end, _ in self.plays.values():
            if of != arm or end == OUT:
                continue
            if end == OPEN:
                break
            if end == LOST:
                sequence.lose()
            else:
                sequence.take(end)
        return sequence.ends(DELTA / 2, DELTA / 2)
