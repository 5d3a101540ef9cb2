"""When rewards arrive: after a delay, or at the end of their batch."""

import copy
import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.environments import Environment
from surefoot.environments._kernels import draws_for
from surefoot.environments._timing import LONGEST
from surefoot.errors import InvalidInput

ARMS = sf.BernoulliArms([0.8, 0.2])
PLAYS = range(1, 20_001)


def delays(env, key=5):
    return [env.arrival(key, play) - play for play in PLAYS]


def test_a_constant_delay_is_the_same_for_every_play():
    assert set(delays(sf.Delayed(ARMS, 7))) == {7}
    assert set(delays(sf.Delayed(ARMS, 0))) == {0}


def test_a_range_of_delays_is_drawn_evenly():
    drawn = delays(sf.Delayed(ARMS, (2, 5)))
    shares = [drawn.count(delay) / len(drawn) for delay in range(2, 6)]
    assert sum(shares) == 1
    assert all(abs(share - 0.25) < 4 * math.sqrt(0.25 * 0.75 / len(drawn)) for share in shares)


def test_geometric_delays_have_their_mean_and_their_law():
    drawn = delays(sf.Delayed(ARMS, mean=4))
    assert abs(sum(drawn) / len(drawn) - 4) < 4 * math.sqrt(20 / len(drawn))  # variance (1-p)/p^2
    for longer in (1, 3, 10):
        share = sum(delay >= longer for delay in drawn) / len(drawn)
        law = 0.8**longer
        assert abs(share - law) < 4 * math.sqrt(law * (1 - law) / len(drawn))
    assert max(drawn) <= sf.Delayed(ARMS, mean=4).longest
    for none in (0, 5e-324, 1e-17):
        assert set(delays(sf.Delayed(ARMS, mean=none))) == {0}


def test_delays_depend_on_the_key_and_the_play_alone():
    env = sf.Delayed(ARMS, mean=4)
    assert delays(env) == delays(sf.Delayed(sf.BernoulliArms([0.1]), mean=4))
    assert delays(env, 5) != delays(env, 6)


def test_delays_tell_nothing_of_the_rewards():
    env = sf.Delayed(sf.BernoulliArms([0.5, 0.5]), mean=4)
    late = [play for play in PLAYS if env.arrival(5, play) - play > 3]
    paid = sum(env.pull(5, play, 0) for play in late) / len(late)
    assert abs(paid - 0.5) < 4 * math.sqrt(0.25 / len(late))


@given(st.integers(1, 10**9), st.integers(1, 10_000))
def test_a_batch_ends_at_a_multiple_of_its_size(play, size):
    due = sf.Batched(ARMS, size).arrival(5, play)
    assert due % size == 0
    assert play <= due < play + size


@pytest.mark.parametrize("wrap", [sf.Delayed, sf.Batched])
def test_all_else_is_that_of_the_environment_inside(wrap):
    world = sf.CombinatorialArms([[1, 0], [0, 1], [0.5, 0.5]], [0.25, 0.5], sf.TopK(2))
    env = wrap(world, 3)
    assert isinstance(env, Environment)
    assert (env.n_arms, env.places, env.reward_range, env.best) == (3, 0, (0, 2), world.best)
    for name in ("means", "variances", "semi_bandit", "oracle", "record"):
        assert getattr(env, name) is getattr(world, name)
    assert env.value((0, 1)) == 0.75
    assert [env.pull(3, m, 1) for m in range(99)] == [world.pull(3, m, 1) for m in range(99)]
    assert draws_for(env)
    assert not hasattr(env, "no_such_thing")


def test_a_subclass_that_pays_otherwise_has_no_kernel():
    class Doubled(sf.Delayed):
        def pull(self, key, turn, arm, *play):
            return 1.0 - super().pull(key, turn, arm, *play)

    assert not draws_for(Doubled(ARMS, 3))


def test_it_cannot_be_changed_and_can_be_copied():
    env = sf.Delayed(ARMS, (1, 3))
    with pytest.raises(AttributeError, match="Delayed cannot be changed"):
        env.timing = None
    with pytest.raises(AttributeError, match="Delayed cannot be changed"):
        del env.env
    for twin in (copy.copy(env), copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert repr(twin) == repr(env) == "Delayed(BernoulliArms([0.8, 0.2]), (1, 3))"
        assert delays(twin)[:50] == delays(env)[:50]


def test_it_says_what_it_is():
    assert repr(sf.Delayed(ARMS, 100)) == f"Delayed({ARMS}, 100)"
    assert repr(sf.Delayed(ARMS, mean=100)) == f"Delayed({ARMS}, mean=100)"
    assert repr(sf.Batched(ARMS, 50)) == f"Batched({ARMS}, 50)"


@pytest.mark.parametrize(
    ("kind", "given", "named", "said"),
    [
        (sf.Delayed, (ARMS,), {}, "delay = None, mean = None: give one of the two"),
        (
            sf.Delayed,
            (
                ARMS,
                3,
            ),
            {"mean": 3},
            "delay = 3, mean = 3: give one of the two",
        ),
        (
            sf.Delayed,
            (
                ARMS,
                -1,
            ),
            {},
            "delay = -1 must be an int from 0 to 1000000",
        ),
        (
            sf.Delayed,
            (
                ARMS,
                2.5,
            ),
            {},
            "delay = 2.5 must be an int from 0",
        ),
        (
            sf.Delayed,
            (
                ARMS,
                True,
            ),
            {},
            "delay = True must be an int from 0",
        ),
        (
            sf.Delayed,
            (
                ARMS,
                LONGEST + 1,
            ),
            {},
            "delay = 1000001 must be an int from 0",
        ),
        (
            sf.Delayed,
            (
                ARMS,
                (3, 2),
            ),
            {},
            r"delay = \(3, 2\) must have low <= high",
        ),
        (
            sf.Delayed,
            (
                ARMS,
                (1, 2, 3),
            ),
            {},
            "must be an int or a pair",
        ),
        (
            sf.Delayed,
            (
                ARMS,
                (0, "x"),
            ),
            {},
            r"delay\[1\] = 'x' must be an int",
        ),
        (sf.Delayed, (ARMS,), {"mean": -1}, "mean = -1 of the delays must be a number >= 0"),
        (sf.Delayed, (ARMS,), {"mean": float("nan")}, "mean"),
        (sf.Delayed, (ARMS,), {"mean": 10**6}, "give a smaller one, at most 27000"),
        (sf.Delayed, (ARMS,), {"mean": 1e300}, "give a smaller one, at most 27000"),
        (
            sf.Batched,
            (
                ARMS,
                0,
            ),
            {},
            "size = 0 must be an int from 1",
        ),
        (
            sf.Delayed,
            (
                [0.8, 0.2],
                3,
            ),
            {},
            "must be an environment",
        ),
        (
            sf.Delayed,
            (
                sf.BernoulliArms,
                3,
            ),
            {},
            "must be an environment",
        ),
        (
            sf.Delayed,
            (
                sf.Batched(ARMS, 3),
                3,
            ),
            {},
            "says itself when rewards arrive",
        ),
        (
            sf.Batched,
            (
                sf.Delayed(ARMS, 3),
                3,
            ),
            {},
            "says itself when rewards arrive",
        ),
    ],
)
def test_errors_name_the_value_and_the_remedy(kind, given, named, said):
    with pytest.raises(InvalidInput, match=said):
        kind(*given, **named)


def test_the_longest_mean_delay_that_an_error_recommends_is_taken():
    assert sf.Delayed(ARMS, mean=27_000).longest <= LONGEST
