"""A bound: the terms of a theorem, where they come from, and how far they can be trusted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from surefoot.errors import InvalidInput
from surefoot.theory.inputs import Curve, Floats, number, plays

REGULAR = "regular arms"
DEFAULT = "default arm"
TABLE = "order only, as printed in the table"


@dataclass(frozen=True, slots=True)
class Term:
    """One summand: what it is due to, its formula in plain letters, and its curve over T."""

    name: str
    formula: str
    curve: Curve


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound on regret as a function of the horizon: ``bound(T)``, a sum of ``terms``.

    ``kind``: "E" on expected regret, "H" with high probability (the paper's Table 1, "Type").
    ``source``: the theorem. ``trusted``: whether ``bound(T)`` is a number that regret surely
    keeps; False means that only the order is meant, for the reason given in ``note``: compare
    shapes, not heights, and draw it with ``through``. T is a number or an array of any shape.
    Raises InvalidInput for T < 1.

    >>> bound = Bound("UCB", (Term("regular arms", "8 ln T", lambda T: 8 * np.log(T)),), "E",
    ...               "an example", trusted=True, note="")
    >>> bound(1), bound([1, 10]).round(1).tolist()
    (0.0, [0.0, 18.4])
    """

    name: str
    terms: tuple[Term, ...]
    kind: Literal["E", "H"]
    source: str
    trusted: bool
    note: str

    def __call__(self, T: Any) -> Any:
        """The bound at T; a float for a number, an array for an array."""
        horizon = plays(T)
        total = sum(term.curve(horizon) for term in self.terms)
        return np.asarray(total) if horizon.ndim else float(np.asarray(total))

    def parts(self, T: Any) -> dict[str, Any]:
        """The value of each term at T, by name."""
        horizon = plays(T)
        values = {term.name: term.curve(horizon) for term in self.terms}
        return {n: v if horizon.ndim else float(v) for n, v in values.items()}

    def through(self, T: Any, value: Any) -> Bound:
        """The same shape, scaled to pass through (T, value): how an order is drawn by a curve.

        >>> order = Bound("GenCB", (Term("regular arms", "H ln T", np.log),), "E", "Theorem 2",
        ...               trusted=False, note="order only")
        >>> drawn = order.through(100, 50.0)
        >>> round(drawn(100), 9), round(drawn(10_000), 9), drawn.note
        (50.0, 100.0, 'order only; scaled by 10.86')
        """
        here, wanted = self(number(T, "T")), number(value, "value")
        if not (here > 0 and wanted > 0):
            raise InvalidInput(
                f"{self.name} is {here} at T = {T} and should be {value}: both must be > 0 "
                "to scale one to the other; choose a later T"
            )
        factor = wanted / here
        terms = tuple(replace(term, curve=_times(factor, term.curve)) for term in self.terms)
        note = "; ".join(filter(None, [self.note, f"scaled by {factor:.4g}"]))
        return replace(self, terms=terms, trusted=False, note=note)


def order(name: str, kind: Literal["E", "H"], source: str, note: str, *terms: Term) -> Bound:
    """A bound of which only the order is meant."""
    return Bound(name, terms, kind, source, trusted=False, note=note)


def constant(value: float) -> Curve:
    """A curve that does not depend on T."""
    return lambda T: np.full_like(T, value)


def _times(factor: float, curve: Curve) -> Curve:
    def scaled(T: Floats) -> Floats:
        return factor * curve(T)

    return scaled
