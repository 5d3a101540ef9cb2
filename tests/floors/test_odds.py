"""The odds sequence: never above its formula, as wide as its table, and it covers."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import odds as naive

from surefoot.floors.odds import WHOLE, Odds, Restarts, Sequence, due

DELTA = Fraction(1, 20)


@pytest.mark.parametrize("enough", [300, pytest.param(2_100, marks=pytest.mark.slow)])
def test_it_is_never_above_the_exact_fraction(enough: int) -> None:
    rng, points, close = random.Random(1), 0, 0
    while points < enough:
        width, n = rng.choice([1, 7, 100, 10**9, 10**12 + 7]), rng.randrange(1, 20)
        top = rng.choice([width, max(1, width // 20)])
        values = [rng.randint(0, top) for _ in range(n)]
        one, many = Odds(width), Odds(width)
        for y in values:
            one.take(y)
        many.take_many(values)
        for _ in range(60):
            y = rng.randint(0, 2 * sum(values) // n + 1) % (width + 1)
            exact = naive.wealth(values, y, width)
            # The least delta at which the exact sequence refutes, and a hair less: nobody may.
            hair = Fraction(1, 10**9)
            if exact > 1 + hair:
                assert not one.refutes(y, 1 / exact * (1 - hair * hair))
                assert not many.refutes(y, 1 / exact * (1 - hair * hair))
                close += one.refutes(y, 1 / exact * (1 + hair))
                close += many.refutes(y, 1 / exact * (1 + hair))
                points += 1
    assert close == 2 * points  # and within a billionth of it


def test_restarts_are_never_above_the_exact_fraction() -> None:
    rng = random.Random(2)
    for _ in range(60):
        width, n = rng.choice([1, 7, 10**9, 10**12 + 7]), rng.randrange(1, 15)
        pairs = [(rng.randint(0, width), rng.randint(0, width)) for _ in range(n)]
        side = Restarts()
        for y, declared in pairs:
            unit = rng.choice([1, 3, 10**40])
            side.take(y * unit, declared * unit, width * unit)
        exact = naive.wealth_of_restarts(*zip(*pairs, strict=True), width) * WHOLE
        assert exact * (1 - Fraction(1, 10**20)) < side.wealth <= exact


@given(
    st.integers(1, 60).flatmap(
        lambda width: st.tuples(st.just(width), st.lists(st.integers(0, width), max_size=25))
    )
)
def test_the_end_is_the_largest_refuted_point(case: tuple[int, list[int]]) -> None:
    width, values = case
    side = Odds(width)
    for y in values:
        side.take(y)
    assert side.edge(DELTA) == naive.edge(values, width, DELTA)


@given(st.lists(st.one_of(st.none(), st.integers(-12, 14)), max_size=60), st.integers(1, 7))
def test_ends_lie_on_the_lattice_and_are_mirrored(rewards: list[int | None], step: int) -> None:
    ours, mirror = Sequence(-10, 10), Sequence(-10, 10)
    for x in rewards:
        if x is None:
            ours.lose()
            mirror.lose()
        else:
            ours.take(x)
            mirror.take(-x)
    low, high = ours.ends(DELTA, DELTA, step)
    assert (-high, -low) == mirror.ends(DELTA, DELTA, step)
    for end, inward, side in ((high, -1, ours.above), (low, 1, ours.below)):
        if abs(end) == 10:
            continue
        assert end % step == 0
        y = 10 - end if inward < 0 else end + 10
        assert side.refutes(y, DELTA)
        assert y + step > 20 or not side.refutes(y + step, DELTA)
    assert Sequence.restored(ours.state()).state() == ours.state()


@pytest.mark.parametrize(
    ("rate", "n", "wide"),
    [(0.5, 1_000, 0.104), (0.05, 1_000, 0.516), (0.005, 1_000, 2.09), (0.005, 100_000, 0.157)],
)
def test_the_table_of_widths(rate: float, n: int, wide: float) -> None:
    ones, sequence = round(rate * n), Sequence(0, 10**9)
    sequence.take_many([10**9] * ones + [0] * (n - ones))
    upper = sequence.upper(DELTA, step=10**4) / 1e9
    assert (upper - rate) / rate == pytest.approx(wide, rel=0.02)


def test_money_is_not_charged_the_variance_of_coins() -> None:
    draws = np.random.default_rng(0).beta(0.98, 48, 1_000)  # mean .02, as is its deviation
    money = Sequence(0, 10**9)
    money.take_many((draws * 1e9).astype(int).tolist())
    upper = money.upper(DELTA) / 1e9
    assert (upper - draws.mean()) / draws.mean() == pytest.approx(0.21, rel=0.05)


def test_times_to_look_are_64_a_doubling() -> None:
    assert [n for n in range(-1, 65) if due(n)] == list(range(1, 65))
    for power in range(6, 14):
        assert sum(map(due, range(2**power, 2 ** (power + 1)))) == 64


def _refuted(mean: float, n: int, seed: int, lose: float = 0.0, as_they_come: bool = False) -> bool:
    """Whether mu0 itself is ever left out, on coins; zeros are told at once, ones 50 plays late."""
    rng = np.random.default_rng(seed)
    coins = (rng.random(n) < mean).astype(int)
    order = np.argsort(np.arange(n) + 50 * coins, kind="stable") if as_they_come else np.arange(n)
    lost = (rng.random(n) < lose) & (coins == 1)
    taken = [None if lost[i] else int(coins[i]) * 1000 for i in order]
    sequence, mu0, done = Sequence(0, 1000), round(1000 * mean), 0
    for look in filter(due, range(1, n + 1)):
        sequence.take_many(taken[done:look])
        done = look
        if sequence.above.refutes(1000 - mu0, DELTA / 2):
            return True
        if sequence.below.refutes(mu0, DELTA / 2):
            return True
    return False


def test_the_mean_is_left_out_in_at_most_delta_of_all_runs() -> None:
    assert sum(_refuted(0.3, 200, seed) for seed in range(30)) <= 4  # delta is .05
    assert sum(_refuted(0.3, 200, seed, lose=0.5) for seed in range(20)) <= 3
    assert sum(_refuted(0.3, 200, seed, as_they_come=True) for seed in range(10)) == 10


@pytest.mark.slow
@pytest.mark.parametrize("mean", [0.5, 0.05])
def test_the_mean_is_left_out_in_at_most_delta_of_long_runs(mean: float) -> None:
    assert sum(_refuted(mean, 4_000, seed) for seed in range(300)) <= 26  # .05 and 3 deviations


def test_a_damaged_state_is_refused() -> None:
    low, high, n, above, below = Sequence(0, 5).state()
    for damaged in (
        [low, high, 1.0, above, below],
        [low, high, n, above[:-1], below],
        [high, low, n, above, below],
        [low, high, n, above, [[0, 1], *below[1:]]],
    ):
        with pytest.raises(ValueError, match="the sequence of"):
            Sequence.restored(damaged)
