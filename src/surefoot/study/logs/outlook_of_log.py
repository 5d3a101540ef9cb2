"""A plan of what a log says: its default, the worlds it may stand for, and its poor case."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from surefoot._exact import exact
from surefoot._types import Number, Seed
from surefoot.study.logs.backtest_runs import BacktestRuns
from surefoot.study.logs.copies import NORMAL, redrawn
from surefoot.study.logs.outlook import Outlook, Seen
from surefoot.study.logs.subject import Subject

_WORLDS = 2
"""Apart from the draws of a backtest, whose worlds have streams of their own."""


def outlook_of(
    subject: Subject,
    alpha: Number | None = None,
    reward_range: tuple[Number, Number] | None = None,
    reserve: Number = 0,
    traffic: int | None = None,
    horizon: int | None = None,
    policy: str = "klucb",
    runs: int = 30,
    seed: Seed = 0,
) -> Outlook:
    """An outlook whose default, plausible and poor means are those of a log.

    The default is declared at the upper end of its logged mean, 1.96 standard errors above it; a
    plausible world is what the rows drawn again, arm by arm, show, one for each run; in the poor
    one each arm pays the lower end of its mean. All are cut to the reward range.

    >>> log = {"arm": ["a", "b"] * 50, "reward": [0, 1] * 25 + [1, 1] * 25}
    >>> outlook = outlook_of(Subject(log, "a", "Try", "A log."), 0.1, runs=2, horizon=100)
    >>> str(outlook.value), [str(mean) for mean in outlook.means]
    ('0.634897', ['1'])
    """
    asked = BacktestRuns(subject, alpha, policy, 2, horizon, seed, reward_range)
    logged, rows = asked.worlds.logged, asked.rows
    low, high = (exact(end, "reward_range") for end in asked.floor.reward_range)
    rng = np.random.default_rng(np.random.SeedSequence(asked.seed, spawn_key=(_WORLDS,)))

    def cut(means: Any) -> list[Decimal]:
        """Of the arms besides the default, within the range, with six figures."""
        return [
            min(high, max(low, Decimal(f"{mean:.6g}"))) for mean in means[: rows.n_arms].tolist()
        ]

    worlds = [cut(redrawn(rows, asked.worlds.default, rng).means) for _ in range(runs)]
    seen = Seen(subject.title, str(subject.default), worlds,
                cut(logged.means - NORMAL * logged.errors))  # fmt: skip
    return Outlook(
        asked.value, asked.floor.alpha, cut(logged.means), (low, high), reserve, traffic, horizon,
        policy, runs, asked.seed, seen,
    )  # fmt: skip
