"""The matching that compiled policies choose is the one that the oracle chooses, ties included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from gram_cases import assert_same, walked
from surefoot.errors import InvalidInput
from surefoot.kernels import registry
from surefoot.oracles import Matching
from surefoot.policies import _matching
from surefoot.simulation import loop
from surefoot.simulation.fast import c2ucb, gram


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6), st.sampled_from([0, 0, 1, 4]),
    st.sampled_from(["full", "most"]), st.floats(0, 0.7),
)  # fmt: skip
def test_it_chooses_as_the_oracle_does(seed, rows, columns, levels, cover, share):
    """``levels``: of how few sizes the weights are, 0 for any; they may be negative."""
    rng = np.random.default_rng(seed)
    never = [divmod(e, columns) for e in range(rows * columns) if rng.random() < share]
    try:
        oracle = Matching((rows, columns), never, cover)
    except InvalidInput:  # too many are forbidden
        oracle = Matching((rows, columns))
    _, _, pairs, permitted = oracle.assignment
    room, out = _matching.room(rows, columns, pairs), [0] * pairs
    for _ in range(3):  # in the same room
        w = rng.normal(size=rows * columns)
        if levels:
            w = np.round(w * levels) / levels
        _matching.match(w.tolist(), rows, columns, pairs, permitted, *room, out)
        assert tuple(out) == oracle(w)


def test_only_matchings_of_one_size_are_compiled():
    class Mine(Matching):
        pass

    assert Matching((2, 3), [(0, 0)]).assignment == (2, 3, 2, [0, 1, 1, 1, 1, 1])
    assert Matching((2, 3), cover="any").assignment is None
    assert Mine((2, 3)).assignment is None
    X = np.eye(6)
    assert sf.C2UCB(X, Matching((2, 3))).record.k == 2
    assert sf.C2UCB(X, Matching((2, 3), cover="any")).record is None
    assert sf.C2UCB(X, Mine((2, 3))).record is None


@pytest.mark.parametrize("never", [(), [(0, 1), (2, 2)]])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2)])
def test_the_policy_plays_its_matchings_live_plain_and_fast(shape, never):
    oracle = Matching(shape, [pair for pair in never if pair[0] < shape[0] and pair[1] < shape[1]])
    world = sf.LinearArms.embedded(shape[0] * shape[1], 4, 1)
    policy = sf.C2UCB(world.X, oracle, ridge=sf.Ridge(theta_bound=0.8, noise=0.5))
    given = (policy.record, world, 3, [150])
    fast, _ = walked(c2ucb.walk, gram.init, *given)
    plain, _ = walked(loop.base_path, registry.init, *given)
    assert_same(fast, plain)
    state = registry.init(policy.record, world.n_arms)
    for m in range(1, 40):
        arm, score = policy.best(None, np.random.default_rng(0))
        assert registry.best(policy.record, state, m, 0, None, range(len(policy.features))) == (
            0,
            score,
        )
        assert tuple(state[7]) == arm
        rewards = [float((m + e) % 2) for e in arm]
        policy.update(arm, rewards, None)
        for e, reward in zip(arm, rewards, strict=True):
            registry.update(policy.record, state, e, reward)
