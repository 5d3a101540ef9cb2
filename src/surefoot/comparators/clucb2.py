"""CLUCB2: Garcelon, Ghavamzadeh, Lazaric, Pirotta 2020, known default."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from surefoot._types import Number, Seed
from surefoot.agents.play import Play, Reason
from surefoot.comparators.base import failure
from surefoot.comparators.clucb import KERNELS, CLUCBRecord
from surefoot.comparators.ellipsoid import (
    NOW,
    SUM,
    TRIED,
    ByEllipsoid,
    Linear,
    add_row,
    ellipsoid,
    lower,
    units_of_one,
)
from surefoot.floors import Terms
from surefoot.oracles.base import whole
from surefoot.policies.options import Ridge, ridge_given
from surefoot.policies.sets import feature_rows

GRID = tuple(0.01 * 1.6**k for k in range(12))
"""Where the Chernoff bound is looked at; ours."""


def received(total: float, m: int, level: float) -> float:
    """psi_L from rewards alone: a lower bound on the sum of the means of m rewards in [0, 1].

        Y - sqrt(m/2 * ln(pi^2 m^2/(6 delta)))              Azuma-Hoeffding, a union over m
        max_lam (lam*Y - ln(J/delta)) / (e^lam - 1)         Ville, lam from a grid of J

    Source: ours in place of the paper's martingale constants, which we could not read. ``total``:
    Y, the sum of the rewards; ``level``: ln(1/delta). Each holds with probability 1 - delta at all
    m at once; the larger is returned, so their delta is to be halved.

    >>> round(received(80.0, 100, math.log(20)), 1), received(0.0, 0, 1.0)
    (54.8, 0.0)
    """
    if m == 0:
        return 0.0
    azuma = total - math.sqrt(m / 2 * (math.log(math.pi**2 / 6 * m * m) + level))
    paid = math.log(len(GRID)) + level
    return max(0.0, azuma, *((lam * total - paid) / math.expm1(lam) for lam in GRID))


class CLUCB2(ByEllipsoid):
    """Play the most promising arm among those that keep the floor on means; else the default.

        safe(a):  N0*mu0 + psi_L + max(0, min_theta <theta, x_a>) >= (1-alpha)*mu0*t
        argmax over safe a of <x_a, theta_hat> + beta*||x_a||_{V^-1};  none safe: the default

    psi_L bounds the means of the explored plays from below: the better of what the ellipsoid
    proves of the sum of their features and of what the rewards received prove (``received``).

    Source: Garcelon et al. 2020, Algorithm CLUCB2: the structure is recalled, not read in the
    original. Choices of ours: psi_L's constants, which can be proved; delta is split evenly over
    the three bounds used; the joint bound of history and candidate is used where it is better than
    the two bounds apart; ``radius`` and the other options are those of ``CLUCB``; rewards of
    another range are scaled to [0, 1] for the bounds on rewards; a pending play counts at r_min.

    ``checkpoint=n``: the floor is asked at multiples of n plays only (their relaxed constraint):
    what the default will earn before the next one is counted in.

    >>> agent = CLUCB2([[1.0, 0.0], [0.0, 1.0]], default=0.5, alpha=0.5, delta=0.01)
    >>> agent.update(agent.select())
    <Outcome.BOOKED: 'booked'>
    >>> agent.select().arm
    0

    Holds when: as ``CLUCB``, and rewards come before the next decision, or late for reasons that
    have nothing to do with them. Does not hold when: rewards are not linear in x; one asks it of
    received reward: the account is measured here, not kept.
    """

    def __init__(
        self,
        arms: Any,
        default: Number | None = None,
        alpha: Number = 0.05,
        delta: float = 0.001,
        *,
        labels: Sequence[Any] | None = None,
        ridge: Ridge | None = None,
        checkpoint: int = 1,
        reward_range: tuple[Number, Number] = (0, 1),
        seed: Seed = None,
        **old: Any,
    ) -> None:
        features = feature_rows(arms, "arms")
        chance = failure(delta)
        share = chance / 3
        options = ridge_given(ridge, old, "CLUCB2")
        given = ellipsoid(features, share, "arms", options, "determinant")
        self.checkpoint = whole(checkpoint, "checkpoint", 1)
        self._level = -math.log(share)
        self.settings = {**given.config, "delta": chance, "checkpoint": self.checkpoint}
        record = CLUCBRecord(features, *given.settings, -math.inf)
        self.bounds = _Rewarded(features, labels, record, KERNELS, given.bound)
        super().__init__(self.bounds, default, alpha, reward_range, seed)

    def _decide(self, context: Any, allowed: Sequence[int] | None, terms: Terms) -> Play:
        best, score = self.bounds.peek(self.turns + 1, allowed, context)
        arms = range(len(self.labels)) if allowed is None else allowed
        proved, due = self._proofs(arms, context), self._due(terms)
        safe = [arm for arm, units in proved.items() if units >= due]
        if not safe:
            choice = self._choice(best, score, margin=proved[best] - due)
            return self._play_default(terms, Reason.NOT_PROVED, choice)
        arm, score = self.bounds.peek(self.turns + 1, safe, context)
        self.turns += 1
        choice = self._choice(arm, score, margin=proved[arm] - due)
        return self._explore(arm, choice, Reason.SLACK_OK, terms)

    def _due(self, terms: Terms) -> int:
        """What the explorations and this one must earn: the floor at the next checkpoint, less the
        default's plays until then."""
        books = self.books
        t = books.explorations + books.default_plays + 1
        ahead = -t % self.checkpoint
        return terms.floor * (t + ahead) - terms.value * (books.default_plays + ahead)

    def _proofs(self, arms: Sequence[int], context: Any) -> dict[int, int]:
        """For each arm, a lower bound on the means of all explorations and one of it, in units."""
        books, m = self.books, self.bounds.learnt
        one = units_of_one(self.floor)
        low, width = books.low / one, (books.high - books.low) / one
        features, state = self.bounds.record_with(context).features, self.bounds.lists
        radius = state[NOW][0]
        share = received((self.bounds.total - low * m) / width, m, self._level)
        past = max(low * m + width * share, lower(state, state[SUM], 0, radius))
        proofs = {}
        for arm in arms:
            state[TRIED][:] = state[SUM]
            add_row(state[TRIED], features, arm)
            apart = past + max(low, lower(state, features, arm, radius))
            proved = max(apart, lower(state, state[TRIED], 0, radius))
            proofs[arm] = self._units(proved)
        return proofs


class _Rewarded(Linear):
    """The policy of CLUCB, and the sum of all rewards it has learned."""

    total = 0.0
    kept = ("total",)

    def update(self, arm: int, reward: float, context: Any) -> None:
        """Learn one reward of one arm."""
        super().update(arm, reward, context)
        self.total += reward
