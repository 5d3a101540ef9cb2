"""A backtest of a log, as its definition reads: lists, fractions, one play after the other.

UCB1 is the policy, rewards are 0 or 1, the default is the last arm. Only what random numbers are
drawn for which world is taken over from the program: they are its definition, too.
"""

import math
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from naive import noise, simulate

Log = list[tuple[int, int]]
"""Arm and reward of each row."""


class Found(NamedTuple):
    mean: float
    low: float
    high: float
    in_sample: float
    luck: float
    p: Fraction
    t: float
    pays: bool


def backtest(
    log: Log, arms: int, alpha: Any, horizon: int, runs: int, copies: int, seed: int
) -> Found:
    """``arms``: the default among them."""
    whole = [reward for _, reward in log]
    everywhere = [played(by_arm(log, arms), whole, alpha, horizon, seed, (0, run, 0))
                  for run in range(runs)]  # fmt: skip
    own = by_arm(log, arms)
    g = mean(gain(plays, own) for plays in everywhere)
    t = clear(everywhere[:2], own, whole)
    luck, alike = [], 0
    for copy in range(copies):
        shuffled = by_arm(shuffle(log, rng(seed, 1, copy)), arms)
        pair = [played(shuffled, whole, alpha, horizon, seed, (1, copy, run)) for run in range(2)]
        luck.append(mean(gain(plays, shuffled) for plays in pair))
        alike += clear(pair, shuffled, whole) >= t
    drawn = []
    for copy in range(copies):
        redrawn = redraw(own, whole, rng(seed, 2, copy))
        plays = played(redrawn, whole, alpha, horizon, seed, (2, copy, 0))
        drawn.append(float(gain(plays, redrawn)))
    p = Fraction(1 + alike, 1 + copies)
    least, high = np.quantile(drawn, 0.025), np.quantile(drawn, 0.975)
    pays = p <= Fraction(5, 100) and least > 0
    low = least if pays else min(0.0, least - max(0.0, float(mean(luck))))
    return Found(
        min(max(float(g - mean(luck)), low), high),
        low, high, float(g), float(mean(luck)), p, t, bool(pays),
    )  # fmt: skip


def rng(seed: int, kind: int, copy: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(kind, copy, 2)))


def by_arm(log: Log, arms: int) -> list[list[int]]:
    return [[reward for own, reward in log if own == arm] for arm in range(arms)]


def mean(values: Any) -> Fraction:
    listed = list(values)
    return sum(map(Fraction, listed), Fraction(0)) / len(listed)


def variance(values: list[int]) -> Fraction:
    return mean((value - mean(values)) ** 2 for value in values)


def squared_error(own: list[int], whole: list[int]) -> Fraction:
    """Of an arm's mean: ten paying rows' worth of the whole log mixed into its variance."""
    paying = sum(reward != 0 for reward in whole)
    mixed = 10 * Fraction(len(whole), paying)
    n = len(own)
    return (n * variance(own) + mixed * variance(whole)) / (n + mixed) / n


def shuffle(log: Log, random: np.random.Generator) -> Log:
    rewards = random.permutation([reward for _, reward in log]).tolist()
    return [(arm, reward) for (arm, _), reward in zip(log, rewards, strict=True)]


def redraw(own: list[list[int]], whole: list[int], random: np.random.Generator) -> list[list[int]]:
    """Each arm's rows again; one paying row's worth of the whole log where fewer than 30 pay."""
    in_order = [reward for rewards in own for reward in rewards]
    worth = Fraction(len(whole), sum(reward != 0 for reward in whole))
    numbers = iter(random.random(len(whole)).tolist())
    drawn: list[list[int]] = []
    for rewards in own:
        others = worth if sum(reward != 0 for reward in rewards) < 30 else Fraction(0)
        again = []
        for _ in rewards:
            at = Fraction(next(numbers)) * (len(rewards) + others)
            beyond = at - len(rewards)
            again.append(
                rewards[int(at)] if beyond < 0 else in_order[int(beyond / worth * len(whole))]
            )
        drawn.append(again)
    return drawn


def credited(own: list[int], whole: list[int]) -> Fraction:
    """The upper end of the default's mean, six figures, rounded up; a reward is at most 1."""
    end = float(mean(own)) + 1.96 * math.sqrt(squared_error(own, whole))
    figures = Context(prec=6, rounding=ROUND_CEILING).create_decimal(f"{end:.12g}")
    return min(Fraction(1), Fraction(figures))


def played(
    own: list[list[int]], whole: list[int], alpha: Any, horizon: int, seed: int,
    spot: tuple[int, int, int],
) -> list[int]:  # fmt: skip
    """How often a guarded run plays each arm besides the default, which competes."""
    stream = np.random.SeedSequence(seed, spawn_key=spot)
    key = int(stream.generate_state(1, np.uint64)[0])
    value = credited(own[-1], whole)
    others = own[:-1]

    def pull(m: int, arm: int) -> int:
        rewards = others[arm]
        return rewards[(noise.bits(key, m, arm) >> 32) * len(rewards) >> 32]

    mu0 = value.numerator / value.denominator  # of six figures: its shortest decimal is exact
    settings = simulate.Settings(len(others), mu0, alpha, competes=True)
    rows = simulate.run(settings, pull, horizon)
    return [sum(row.arm == arm for row in rows) for arm in range(len(others))]


def gain(plays: list[int], own: list[list[int]]) -> Fraction:
    default = mean(own[-1])
    return sum(
        (n * (mean(rewards) - default) for n, rewards in zip(plays, own[:-1], strict=True)),
        Fraction(0),
    )


def clear(pair: list[list[int]], own: list[list[int]], whole: list[int]) -> float:
    """The gain of mean plays in standard errors; 0 where there is none."""
    w = [mean(plays) for plays in zip(*pair, strict=True)]
    value = sum(
        (n * (mean(rewards) - mean(own[-1])) for n, rewards in zip(w, own[:-1], strict=True)),
        Fraction(0),
    )
    square = sum(
        (n**2 * squared_error(rewards, whole) for n, rewards in zip(w, own[:-1], strict=True)),
        sum(w, Fraction(0)) ** 2 * squared_error(own[-1], whole),
    )
    return float(value) / math.sqrt(square) if square else 0.0
