"""The noise is good enough to be called random, and the same in numpy, Python and numba."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from surefoot.environments import BernoulliArms
from surefoot.environments._kernels import DRAWS, draw
from surefoot.kernels.noise import noise
from surefoot.simulation import compiled

N = 2**18
KEYS = np.random.SeedSequence(20201214).generate_state(4, np.uint64).tolist()
UNLIKELY = 1e-4  # each check is made a few dozen times, on draws that never change

words = st.integers(0, 2**64 - 1)
turns = st.integers(1, 10**9 + 10_000)
arms = st.integers(0, 10**4)


def bits(key, turn, arm):
    """The noise for arrays: numpy's 64-bit words wrap around as the kernel's do."""
    with np.errstate(over="ignore"):
        return noise(*(np.asarray(part, dtype=np.uint64) for part in (key, turn, arm)))


def streams():
    """N draws along each of the three directions, from a few origins."""
    walk = np.arange(N, dtype=np.uint64)
    for key in KEYS:
        yield "turns", bits(key, walk + 1, 0)
        yield "late turns", bits(key, walk + 10**9 - N, 7)
        yield "arms", bits(key, 1, walk)
        yield "keys", bits(np.uint64(key) + walk, 1, 0)
        yield "every 1024th turn", bits(key, walk * 1024 + 1, 3)
        yield "arms within turns", bits(key, walk // 64 + 1, walk % 64)


@pytest.fixture(scope="module")
def drawn():
    return list(streams())


def test_numpy_words_draw_what_python_draws():
    key, walk = KEYS[0], range(1, 200)
    assert bits(key, list(walk), 5).tolist() == [noise(key, turn, 5) for turn in walk]


def test_each_of_the_64_bits_is_balanced(drawn):
    for name, stream in drawn:
        for bit in range(64):
            ones = int((stream >> np.uint64(bit) & np.uint64(1)).sum())
            assert abs(ones - N / 2) < 4.5 * np.sqrt(N / 4), (name, bit)


def test_no_two_bits_of_a_draw_go_together(drawn):
    for name, stream in drawn[:6]:
        signs = np.unpackbits(stream.view(np.uint8).reshape(N, 8), axis=1).astype(np.float32) - 0.5
        together = np.abs(np.corrcoef(signs, rowvar=False) - np.eye(64)).max()
        assert together < 6 / np.sqrt(N), name


def test_draws_are_uniform(drawn):
    for name, stream in drawn:
        fractions = (stream >> np.uint64(11)) * 2.0**-53
        assert stats.kstest(fractions, "uniform").pvalue > UNLIKELY, name
        for shift in (56, 30, 0):
            counts = np.bincount(stream >> np.uint64(shift) & np.uint64(255), minlength=256)
            assert stats.chisquare(counts).pvalue > UNLIKELY, (name, shift)


def test_neighbours_are_independent(drawn):
    """Pairs of draws next to each other fill the square evenly; so do triples the cube."""
    for name, stream in drawn:
        digits = (stream >> np.uint64(60)).astype(np.int64)
        pairs = np.bincount(digits[0::2] * 16 + digits[1::2], minlength=256)
        assert stats.chisquare(pairs).pvalue > UNLIKELY, name
        cut = digits[: N // 3 * 3].reshape(-1, 3)
        triples = np.bincount(cut @ [256, 16, 1], minlength=4096)
        assert stats.chisquare(triples).pvalue > UNLIKELY, name
        agreeing = np.bitwise_count(stream[1:] ^ stream[:-1]).astype(np.float64)
        assert abs(agreeing.mean() - 32) < 5 * 4 / np.sqrt(N), name


def test_one_flipped_bit_of_any_argument_flips_half_of_the_draw():
    count = 4096
    keys = np.random.default_rng(1).integers(0, 2**64, count, dtype=np.uint64)
    steps = np.arange(count, dtype=np.uint64)
    for argument, width in ((0, 64), (1, 30), (2, 13)):
        for bit in range(width):
            before = [keys, steps + 1, steps % 100]
            after = list(before)
            after[argument] = before[argument] ^ np.uint64(1 << bit)
            flipped = np.bitwise_count(bits(*before) ^ bits(*after)).astype(np.float64)
            assert abs(flipped.mean() - 32) < 5 * 4 / np.sqrt(count), (argument, bit)


def test_rewards_of_two_arms_or_two_runs_are_uncorrelated():
    walk = np.arange(1, N + 1)
    series = [bits(key, walk, arm) >> np.uint64(63) for key in KEYS for arm in range(8)]
    together = np.corrcoef(np.array(series, dtype=np.float64))
    assert np.abs(together - np.eye(len(series))).max() < 5 / np.sqrt(N)


@pytest.fixture(scope="module")
def compiled_noise():
    numba = pytest.importorskip("numba")
    compiled.engine()

    @numba.njit
    def call(key, turn, arm):
        return noise(key, turn, arm)

    return call


@given(words, turns, arms)
def test_compiled_draws_are_the_plain_ones(compiled_noise, key, turn, arm):
    assert compiled_noise(np.uint64(key), turn, arm) == noise(key, turn, arm)


@given(words, turns)
def test_a_draw_is_the_kernel_of_the_records_class(key, turn):
    record = BernoulliArms([0.3, 0.6]).record
    assert draw(record, key, turn, 1) == DRAWS[type(record)](record, key, turn, 1)
