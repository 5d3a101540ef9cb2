"""One copy of a log's rewards: what each arm pays there, what plays of them bring, its table."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from surefoot.environments._table import TableRecord, with_one
from surefoot.study.logs.rows import Floats, Ints, Rows

NORMAL: Final = 1.96
"""Standard errors to either side of a mean, at 95 %."""
_SIX = Context(prec=6, rounding=ROUND_CEILING)


class Default(NamedTuple):
    """What is known of the default besides its rows."""

    most: Decimal
    """No reward is above this."""
    known: Decimal | None = None
    """What it pays, of a default without rows in the log; None: it has rows."""


class Gain(NamedTuple):
    """What some plays of the arms bring above the default."""

    value: float
    error: float
    """Its standard error, the plays held fixed."""

    @property
    def t(self) -> float:
        """The value in standard errors; 0 where nothing was explored, or nothing differs."""
        return self.value / self.error if self.error else 0.0


class Copy:
    """A log's rewards, or a shuffled or redrawn copy of them, in place of its own.

    ``amounts``, ``weights``: by arm, as in ``rows``; no weights: the log's own.

    >>> from surefoot._exact import Unit
    >>> rows = Rows(np.array([1, 0, 1]), np.array([8, 6, 6]), Unit(1))
    >>> copy = Copy(rows, Default(Decimal(1)), rows.amounts)
    >>> copy.means.tolist(), round(copy.mean, 9), round(copy.gain(np.array([10.0])).value, 9)
    ([0.6000000000000001, 0.7000000000000001], 0.7, -1.0)
    """

    def __init__(
        self, rows: Rows, default: Default, amounts: Ints, weights: Floats | None = None
    ) -> None:
        self.rows, self.default, self.amounts, self.weights = rows, default, amounts, weights
        self.moments = rows.moments(amounts, weights)
        one = float(rows.unit.decimal(1))
        self.means = self.moments.means * one
        """Of each arm, the default's last if it has rows."""
        self.errors = np.sqrt(self.moments.squares) * one
        """Their standard errors."""
        known = default.known
        self.mean = float(self.means[-1] if known is None else known)
        """The default's."""
        self.error = float(self.errors[-1]) if known is None else 0.0

    @property
    def credited(self) -> Decimal:
        """What a default play counts as: the upper end of its mean, six figures, rounded up.

        Credited above its true worth, the promise holds against the true one. Credited below it,
        at v, alpha becomes 1 - (1-alpha) v/true (ours).
        """
        if self.default.known is not None:
            return self.default.known
        end = _SIX.create_decimal(
            f"{self.mean + NORMAL * self.error:.12g}"
        )  # floats' dust is no digit
        return min(self.default.most, end)

    def gain(self, plays: Floats) -> Gain:
        """What these plays of each arm bring at the means, not at the rewards that they drew.

        sum w_i (mean_i - default), its variance sum w_i^2 s_i^2/n_i + (sum w_i)^2 s_0^2/n_0 (ours).
        """
        n = self.rows.n_arms
        value = float((plays * (self.means[:n] - self.mean)).sum())
        square = float(((plays * self.errors[:n]) ** 2).sum()) + (plays.sum() * self.error) ** 2
        return Gain(value, float(np.sqrt(square)))

    @cached_property
    def _table(self) -> TableRecord:
        """Of all arms that have rows, the default too."""
        joined = self.default.known is None
        return self.rows.record(self.amounts, self.weights, joined=joined)

    def record(self, *, joined: bool = False) -> TableRecord:
        """The table that a run draws from; ``joined``: the default is one of its arms, the last."""
        table, known, n = self._table, self.default.known, self.rows.n_arms
        if not joined:
            return TableRecord(table.rewards, table.starts[:n], table.sizes[:n])
        return table if known is None else with_one(table, self.rows.unit.floor(known))

    def paid(self, *, joined: bool = False) -> Floats:
        """The mean of each arm of that table."""
        means = self.means[: self.rows.n_arms]
        return np.append(means, self.mean) if joined else means


def of_log(rows: Rows, default: Default) -> Copy:
    """The log's own rewards."""
    return Copy(rows, default, rows.amounts)


def shuffled(rows: Rows, default: Default, rng: np.random.Generator) -> Copy:
    """A copy in which no arm is better; a default without rows is worth what all rows are."""
    copy = Copy(rows, default, rows.shuffled(rng))
    if default.known is None:
        return copy
    mean = Decimal(repr(float(rows.amounts.mean()))) * rows.unit.decimal(1)
    return Copy(rows, default._replace(known=_SIX.plus(mean)), copy.amounts)


def redrawn(rows: Rows, default: Default, rng: np.random.Generator) -> Copy:
    """A log that the same arms might have left."""
    return Copy(rows, default, *rows.redrawn(rng))
