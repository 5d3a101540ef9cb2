"""Policies of one's own as kernels: what is wrong is found early, and said in a sentence."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.kernels import (
    NANO,
    IndexKernels,
    IndexPolicy,
    KernelPolicy,
    Kernels,
    add_units,
    count_and_sum,
    register,
    registry,
    uniform,
    warm,
)
from surefoot.live import MemoryStore
from surefoot.simulation.loop import ARM
from surefoot.testing import PolicyKit

FLOOR = sf.RewardFloor(default=0.5, alpha=0.2, reserve=3)
ARMS = sf.BernoulliArms([0.2, 0.5, 0.8])


@pytest.fixture(autouse=True)
def registered():
    """What a test registers is forgotten behind it: ``warmup`` compiles all that is known."""
    tables = registry.KERNELS, registry.INDEX_KERNELS
    before = [dict(table) for table in tables]
    yield
    for table, kept in zip(tables, before, strict=True):
        table.clear()
        table.update(kept)


def log(policy, m):
    return math.log(m)


def mean(policy, state, k):
    return state[1][k] / policy.unit / state[0][k] if state[0][k] else math.inf


def widened(policy, state, k, s, best):
    return mean(policy, state, k) + policy.c * s / state[0][k] if state[0][k] else math.inf


def narrowed(policy, state, k, s, best):
    return mean(policy, state, k) - 0.3 * s / state[0][k] if state[0][k] else math.inf


class Record(NamedTuple):
    c: float = 1.0
    unit: float = NANO


class Mine(IndexPolicy):
    def __init__(self, n_arms=None, arms=None, c=1.0):
        super().__init__(Record(float(c)), n_arms, arms)


def index_policy(index=widened, scale=log):
    register(Record, IndexKernels(count_and_sum, scale, index, add_units))
    return Mine


def at_random(policy, state, m, key, context, allowed):
    return max((uniform(key, m, k), k) for k in allowed)[1], math.inf


def later(policy, state, m, key, context, allowed):
    return at_random(policy, state, m, key, context, allowed) if m > 20 else (m % 3, 1.0)


class Undeclared(KernelPolicy):
    def __init__(self, n_arms=None, arms=None):
        super().__init__(Record(), n_arms, arms)


class Declared(Undeclared):
    draws = True


@pytest.mark.parametrize(("index", "scale"), [(narrowed, log), (widened, lambda policy, m: 1 / m)])
def test_the_kit_finds_an_index_and_a_scale_that_fall(index, scale):
    kit = PolicyKit()
    kit.make_policy = lambda: index_policy(index, scale)(3)
    with pytest.raises(AssertionError, match="must not fall as the"):
        kit.test_its_index_does_not_fall_as_the_scale_grows()
    kit.make_policy = lambda: index_policy()(3)
    kit.test_its_index_does_not_fall_as_the_scale_grows()


def test_draws_that_are_not_declared_are_an_error_at_once():
    register(Record, Kernels(count_and_sum, at_random, add_units))
    with pytest.raises(InvalidInput, match="say `draws = True` in its class"):
        Undeclared(3)
    assert 0 <= sf.GenCB(Declared(3), FLOOR, seed=1).select().index < 3


def test_or_when_they_come_first():
    register(Record, Kernels(count_and_sum, later, add_units))
    kit = PolicyKit()
    kit.make_policy = lambda: Undeclared(3)
    with pytest.raises(InvalidInput, match="draws = True"):
        kit.test_it_declares_its_draws_where_it_draws()
    policy = Undeclared(3)
    with pytest.raises(InvalidInput, match="draws = True"):
        policy.peek(21)
    kit.make_policy = lambda: Declared(3)
    kit.test_it_declares_its_draws_where_it_draws()


def test_a_record_that_is_not_registered():
    class Other(NamedTuple):
        c: float = 1.0

    with pytest.raises(InvalidInput, match=r"call register\(Other, Kernels\(...\)\)"):
        KernelPolicy(Other(), 3)
    register(Other, Kernels(count_and_sum, at_random, add_units))
    with pytest.raises(InvalidInput, match=r"call register\(Other, IndexKernels\(...\)\)"):
        IndexPolicy(Other(), 3)


def test_a_kernel_of_other_arguments_is_refused_when_it_is_registered():
    with pytest.raises(InvalidInput, match="index of Record takes 4 arguments, and is called with"):
        index_policy(lambda policy, state, k, s: 1.0)
    with pytest.raises(InvalidInput, match="best of Record takes 5"):
        register(Record, Kernels(count_and_sum, widened, add_units))
    with pytest.raises(InvalidInput, match="record = 3 must be a class derived from NamedTuple"):
        register(3, Kernels(count_and_sum, at_random, add_units))  # type: ignore[arg-type]


def test_a_constructor_of_other_names_cannot_be_made_from_its_config():
    index_policy()

    class Named(IndexPolicy):
        def __init__(self, arms, width):
            super().__init__(Record(width), None, arms)

    with pytest.raises(InvalidInput, match="its constructor must take arms, c"):
        Named.from_config(Named(["a"], 1.0).config())


def lived(store, arms=("a", "b"), c=2.0):
    return sf.Live(sf.GenCB(Mine(arms=list(arms), c=c), FLOOR, seed=1), store, name="x")


def test_arms_are_added_to_a_live_policy_of_ones_own():
    index_policy()
    store = MemoryStore()
    live = lived(store)
    for _ in range(4):
        live.update(live.select(), reward=1)
    live.add_arms(["c"])
    assert live.select().arm == "c"
    live.add_arms(["d"])
    assert live.config["policy"]["arms"] == ["a", "b", "c", "d"]
    for arms in (("a", "b"), ("a", "b", "c", "d")):  # the code of then, and of today
        again = lived(store, arms)
        assert again.account == live.account
        assert again.config == live.config
    live.close()
    assert lived(store).select().arm == "c"  # its first reward is still to come
    with pytest.raises(InvalidInput, match="arms"):
        lived(store, ("a", "e"))


def test_a_run_of_simulate_can_be_replayed_live():
    register(Record, Kernels(count_and_sum, later, add_units))
    agent = sf.GenCB(Declared(3), FLOOR)
    result = sf.simulate({"a": agent}, ARMS, 60, seed=4, checkpoints="all", engine="plain")
    agent.rng = np.random.default_rng(np.random.SeedSequence(result.seed, spawn_key=(0, 1)))
    live, key, arms = sf.Live(agent, MemoryStore()), result.plan.key(0), []
    for _ in range(60):
        play = live.select()
        arms.append(play.index)
        paid = {} if play.is_default else {"reward": ARMS.pull(key, play.play.turn, play.index)}
        live.update(play, **paid)
    assert arms == result.runs[0]["a"].books[:, ARM].tolist()
    assert {0, 1, 2} <= set(arms)


def helper(number):
    return number


def uncompilable(policy, state, k, s, best):
    return helper(1.0 * k)


def test_one_policy_that_cannot_be_compiled_leaves_the_others_compiled(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(warm, "_READY", {})
    monkeypatch.setattr(warm, "LIVE", {})
    ours = type(sf.UCB1(2).record)
    for record in registry.KERNELS.keys() - {ours}:  # the fixture brings them back
        del registry.KERNELS[record]
    index_policy(uncompilable)
    with pytest.raises(
        InvalidInput, match=r"cannot compile \S*test_own\.Record: .*marked @jittable"
    ):
        sf.warmup()
    assert sf.UCB1(2)._compiled is not None
    assert Mine(2)._compiled is None


def test_a_result_says_what_drove_each_agent():
    class Overrides(sf.UCB1):
        def best(self, context: Any, rng: Any, allowed: Any = None) -> Any:
            return super().best(context, rng, allowed)

    agents = {
        "kernels": sf.GenCB(index_policy()(3), FLOOR),
        "overrides": sf.GenCB(Overrides(3), FLOOR),
    }
    result = sf.simulate(agents, ARMS, horizon=9, engine="plain")
    assert result.engines == {"kernels": "plain", "overrides": "stepwise"}
    pytest.importorskip("numba")
    agents = {"UCB1": sf.GenCB(sf.UCB1(3), FLOOR)}
    assert sf.simulate(agents, ARMS, horizon=9, engine="compiled").engines == {"UCB1": "compiled"}
