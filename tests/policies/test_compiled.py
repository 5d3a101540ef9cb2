"""Compiled policies decide as plain ones, to the last bit, and treat bad input alike."""

import json
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.comparators import conucb, moss
from surefoot.errors import InvalidInput
from surefoot.kernels import registry, warm
from surefoot.kernels.policy import IndexPolicy
from surefoot.policies import C2UCB, KLUCB, MVUCB, UCB1, AdaUCB, LinUCB, Ridge

pytest.importorskip("numba")

ROWS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.8, 0], [0.6, 0.8, 0], [0, 0.1, 0.2]])
INDEX = {
    "UCB1": UCB1,
    "UCB1, narrow": lambda n: UCB1(n, c=0.02),
    "KLUCB": KLUCB,
    "KLUCB, c=3": lambda n: KLUCB(n, c=3),
    "AdaUCB": AdaUCB,
    "MVUCB": lambda n: MVUCB(n, rho=3),
    "ConUCB": lambda n: IndexPolicy(conucb.record_of(n, 0.01, "simple", "paper"), n, None),
    "ConUCB, iterated": lambda n: IndexPolicy(
        conucb.record_of(n, 0.01, "iterated", "bounded"), n, None
    ),
    "MOSS": lambda n: IndexPolicy(moss.MOSSRecord(300.0), n, None),
}
DRAWING = {
    "EpsilonGreedy": lambda n: sf.EpsilonGreedy(n, epsilon=0.3),
    "EpsilonGreedy, decreasing": lambda n: sf.EpsilonGreedy(n, gap=0.5, c=0.5),
    "GaussianThompson": sf.GaussianThompson,
    "KLMS": sf.KLMS,
    "Thompson": sf.Thompson,
    "UCB1, discounted": lambda n: sf.UCB1(n, discount=0.9),
    "UCB1, sliding": lambda n: sf.UCB1(n, window=50),
    "Thompson, discounted": lambda n: sf.Thompson(n, discount=0.9),
    "Thompson, sliding": lambda n: sf.Thompson(n, window=50),
}
LINEAR = {
    "LinUCB": lambda: LinUCB(ROWS),
    "LinUCB, determinant": lambda: LinUCB(ROWS, ridge=Ridge(radius="determinant", noise=0.5)),
    "LinUCB, contexts": lambda: LinUCB(dim=3, ridge=Ridge(feature_bound=1)),
    "LinUCB, ball": lambda: LinUCB(sf.Ball(1.0, 3)),
    "C2UCB": lambda: C2UCB(ROWS, sf.TopK(2)),
    "C2UCB, no list": lambda: C2UCB(ROWS, sf.Enumerated([(0, 1), (2, 3, 4), (1, 5)])),
}


@pytest.fixture(scope="module", autouse=True)
def wrappers():
    """The compiled wrappers; what other tests make stays plain."""
    before, warm._READY = warm._READY, {}
    warm.warm_up()
    ready, warm._READY = warm._READY, before
    return ready


def both(make, wrappers):
    """A plain policy, and a compiled one."""
    plain = make()
    before, warm._READY = warm._READY, wrappers
    try:
        compiled = make()
    finally:
        warm._READY = before
    assert (plain._compiled, compiled._compiled is None) == (None, False)
    return plain, compiled


@pytest.mark.parametrize("make", INDEX.values(), ids=list(INDEX))
@settings(max_examples=25, deadline=None)
@given(n_arms=st.integers(1, 12), delay=st.integers(0, 20), seed=st.integers(0, 2**32 - 1))
def test_index_policies_in_lockstep(make, wrappers, n_arms, delay, seed):
    rng, waiting = np.random.default_rng(seed), []
    plain, compiled = both(lambda: make(n_arms), wrappers)
    rewards = (0.0, 1.0) if seed % 2 else (0.0, 0.1, 0.3, 1 / 3, 1.0)
    for turn in range(120):
        allowed = sorted({0, int(rng.integers(n_arms))}) if turn % 5 == 4 else None
        chosen, expected = (p.best(None, None, allowed) for p in (compiled, plain))
        assert chosen == expected
        assert [type(one) for one in chosen] == [int, float]
        waiting.append(chosen[0])
        if seed % 3:
            compiled.opened(chosen[0], None)
            plain.opened(chosen[0], None)
        while len(waiting) > delay:
            arm, reward = waiting.pop(0), float(rng.choice(rewards))
            assert compiled.pledge(arm) == plain.pledge(arm)
            if not seed % 3 or rng.random() < 0.8:  # else it is void
                compiled.update(arm, reward, None)
                plain.update(arm, reward, None)
            if seed % 3:
                compiled.closed(arm, None)
                plain.closed(arm, None)
    assert json.loads(json.dumps(compiled.state())) == plain.state()


@pytest.mark.parametrize("make", DRAWING.values(), ids=list(DRAWING))
def test_policies_that_draw_in_lockstep(make, wrappers):
    plain, compiled = both(lambda: make(4), wrappers)
    rngs = [np.random.default_rng(3) for _ in range(2)]
    for turn in range(300):
        allowed = [1, 2] if turn % 7 == 6 else None
        arm, score = plain.best(None, rngs[0], allowed)
        found = compiled.best(None, rngs[1], allowed)
        assert found == (arm, score)
        assert [type(one) for one in found] == [int, float]
        for policy in (plain, compiled):
            policy.update(arm, (0.0, 1.0, 0.25)[turn % 3], None)
    assert json.loads(json.dumps(compiled.state())) == plain.state()
    again = make(4)
    again.restore(json.loads(json.dumps(compiled.state())))
    assert [again.best(None, None) for _ in range(9)] == [plain.best(None, None) for _ in range(9)]


@pytest.mark.parametrize("make", LINEAR.values(), ids=list(LINEAR))
def test_linear_policies_in_lockstep(make, wrappers):
    rng, (plain, compiled) = np.random.default_rng(1), both(make, wrappers)
    contexts = make().arms is None and not getattr(make(), "set", None)
    for turn in range(700):  # beyond where the inverse is rebuilt
        context = ROWS[rng.integers(6, size=4)] if contexts or turn % 7 == 6 else None
        if context is not None and not contexts:
            context = ROWS[::-1] if plain.n_arms else None
        allowed = [1, 3] if turn % 5 == 4 and plain.numbered else None
        chosen, expected = (p.best(context, None, allowed) for p in (compiled, plain))
        assert chosen == expected
        assert type(chosen[1]) is float
        reward = rng.choice((0.0, 0.5, 1.0), 3).tolist()[: len(np.atleast_1d(chosen[0]))]
        paid = tuple(reward) if plain.semi_bandit else reward[0]
        compiled.update(chosen[0], paid, context)
        plain.update(chosen[0], paid, context)
    assert json.loads(json.dumps(compiled.state())) == plain.state()
    assert compiled.theta_hat == plain.theta_hat


@pytest.mark.parametrize(
    ("arm", "reward"),
    [(9, 0.5), (-9, 0.5), (0, float("nan")), ("a", 0.5), (1.0, 0.5), (0, "1"), (0, Decimal(1))],
)
def test_bad_input_of_an_index_policy_is_the_same_error_and_changes_nothing(wrappers, arm, reward):
    plain, compiled = both(lambda: UCB1(3), wrappers)
    before = compiled.state()
    with pytest.raises((IndexError, ValueError, TypeError)) as expected:
        plain.update(arm, reward, None)
    with pytest.raises(expected.type):
        compiled.update(arm, reward, None)
    assert compiled.state() == before


def test_unusual_input_is_learned_alike(wrappers):
    plain, compiled = both(lambda: UCB1(3), wrappers)
    for arm, reward in ((-1, 1), (np.int64(1), True), (0, 2.5), (1, -0.5), (2, np.float64(0.25))):
        plain.update(arm, reward, None)
        compiled.update(arm, reward, None)
        assert compiled.state() == plain.state()
        assert compiled.best(None, None) == plain.best(None, None)


def test_bad_input_of_a_linear_policy_is_refused(wrappers):
    _, compiled = both(lambda: LinUCB(ROWS), wrappers)
    before = compiled.state()
    for arm, reward, context in (
        (6, 0.5, None), (-1, 0.5, None), (True, 0.5, None), (0, float("nan"), None), (0, "1", None),
        (0, 0.5, ROWS * 2), (0, 0.5, [[1.0]]),
    ):  # fmt: skip
        with pytest.raises(InvalidInput):
            compiled.update(arm, reward, context)
    with pytest.raises(InvalidInput, match="allowed"):
        compiled.best(None, None, [6])
    assert compiled.state() == before


def test_a_state_that_leaves_int64_stays_plain(wrappers):
    _, compiled = both(lambda: UCB1(2), wrappers)
    compiled.restore({"turns": 3, "arms": [[1, 2], [2**70, 0]]})
    assert compiled._compiled is None
    assert compiled.best(None, None)[0] == 0


def test_a_frozen_array_of_features_will_do(wrappers):
    rows = ROWS.copy()
    rows.flags.writeable = False
    plain, compiled = both(lambda: LinUCB(rows), wrappers)
    assert compiled.best(rows, None) == plain.best(rows, None)


@pytest.mark.parametrize("make", INDEX.values(), ids=list(INDEX))
def test_an_index_policy_that_is_corrected_is_as_if_it_had_been_told_at_once(make, wrappers):
    rng = np.random.default_rng(2)
    (plain, compiled), told = both(lambda: make(3), wrappers), make(3)
    for _ in range(60):
        arm, old, new = int(rng.integers(3)), float(rng.random()), float(rng.integers(0, 11) / 10)
        for policy in (plain, compiled):
            policy.update(arm, old, None)
        told.update(arm, new, None)
        for policy in (plain, compiled):
            policy.correct(arm, old, new, None)
            assert json.loads(json.dumps(policy.state())) == told.state()
        chosen = told.best(None, None)
        assert (plain.best(None, None), compiled.best(None, None)) == (chosen, chosen)


def test_a_linear_policy_that_is_corrected_says_the_same_compiled_and_plain(wrappers):
    plain, compiled = both(lambda: LinUCB(ROWS), wrappers)
    told = LinUCB(ROWS)
    for turn in range(600):  # V^-1 is rebuilt in between
        arm, new = turn % len(ROWS), (turn % 7) / 10
        for policy in (plain, compiled):
            policy.update(arm, 0.0, None)
            policy.correct(arm, 0.0, new, None)
        told.update(arm, new, None)
    for policy in (plain, compiled):
        assert np.allclose(policy.theta_hat, told.theta_hat, rtol=1e-12, atol=1e-12)
        assert policy.peek(601)[0] == told.peek(601)[0]


def test_a_class_of_the_same_name_elsewhere_gets_none_of_our_compiled_code(wrappers, monkeypatch):
    """Compiled wrappers belong to a class, not to what it is called."""
    ours = type(UCB1(2).record)
    theirs = type(ours.__name__, (ours,), {"__module__": "theirs"})
    kernels = registry.INDEX_KERNELS[ours]
    monkeypatch.setitem(registry.INDEX_KERNELS, theirs, kernels)
    monkeypatch.setitem(registry.KERNELS, theirs, registry.KERNELS[ours])
    monkeypatch.setattr(warm, "_READY", wrappers)
    assert IndexPolicy(UCB1(2).record, 2, None)._compiled is not None
    assert IndexPolicy(theirs(*UCB1(2).record), 2, None)._compiled is None
