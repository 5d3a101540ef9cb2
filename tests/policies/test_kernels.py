"""The dispatchers pick by the record's class; the argmax takes the first; sums are exact."""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.kernels import registry
from surefoot.kernels.registry import (
    INDEX_KERNELS,
    KERNELS,
    IndexKernels,
    add,
    argmax,
    count_and_sum,
    register,
)


class Table(NamedTuple):
    """A policy whose indices are given."""

    values: tuple[float, ...]


@pytest.fixture
def kernels():
    """Table's kernels, which note the bests they are told."""
    told: list[float] = []

    def index(policy: Table, state: Any, k: int, s: float, best: float) -> float:
        told.append(best)
        return policy.values[k] + s

    register(Table, IndexKernels(count_and_sum, lambda policy, m: 0.0, index, add))
    yield told
    del KERNELS[Table], INDEX_KERNELS[Table]


VALUES = st.lists(st.sampled_from([0.0, 0.5, math.inf, -math.inf]) | st.floats(-1, 1), min_size=1)


@pytest.mark.usefixtures("kernels")
@given(VALUES.map(tuple), st.data())
def test_argmax_is_the_first_of_the_largest(values, data):
    arms = sorted(data.draw(st.sets(st.sampled_from(range(len(values))), min_size=1)))
    best = max(values[arm] for arm in arms)
    first = next(arm for arm in arms if values[arm] == best)
    assert argmax(Table(values), ([], []), 1, arms) == (first, best)


def test_argmax_tells_each_index_the_best_so_far(kernels):
    argmax(Table((1.0, 3.0, 2.0, 4.0)), ([], []), 1, range(4))
    assert kernels == [-math.inf, 1.0, 3.0, 3.0]


@pytest.mark.usefixtures("kernels")
def test_the_dispatchers_call_the_kernels_of_the_record():
    record = Table((1.0, 2.0))
    state = registry.init(record, 2)
    registry.update(record, state, 1, 0.25)
    assert state == ([0, 1], [0, 250_000_000], [0, 0])
    assert registry.scale(record, 5) == 0.0
    assert registry.index(record, state, 1, 0.5, 0.0) == 2.5
    assert registry.pledge(record, state, 1) == 0.0
    assert registry.best(record, state, 5, 0, None, range(2)) == (1, 2.0)
    assert registry.width(record) == 1
    assert registry.member(record, state, 1, 0) == 1


def test_a_record_without_kernels_is_a_bug():
    class Stranger(NamedTuple):
        c: float = 1.0

    with pytest.raises(KeyError):
        registry.scale(Stranger(), 1)


@given(st.permutations([0.1, 0.2, 0.3, 0.7, 1 / 3, 1.0, 1e-9, 0.000065]))
def test_sums_are_the_same_in_whatever_order_the_rewards_came(rewards):
    state = count_and_sum(None, 1)
    for reward in rewards:
        add(None, state, 0, reward)
    exact = sum((Fraction(repr(r)) for r in rewards if r != 1 / 3), Fraction(333_333_333, 10**9))
    assert state == ([8], [exact * 10**9], [0])
