"""One text, three drivers and a twin: live, plain, compiled and naive agree at every play."""

from operator import ne
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import surefoot as sf
from naive import simulate as naive
from surefoot.environments.linear import embedding
from surefoot.simulation import loop, stepwise
from surefoot.simulation.loop import ARM, BELOW, DEFAULTS, GATES, LEAST, SLACK, T
from surefoot.simulation.plan import Plan
from surefoot.simulation.runner import choose

RANGES = [(0, 1), (-1, 2), (-0.5, 1.25), (0, 3), (-1, 1), (-20, 20)]
RADII = ("simple", "iterated", "libbandit")
cents = st.integers(1, 99).map(lambda n: n / 100)


class World(NamedTuple):
    """An environment, and agents of every kind with one default, one alpha and one range."""

    environment: object
    floor: sf.RewardFloor
    seed: int
    horizon: int

    def agents(self):
        K, floor = self.environment.n_arms, self.floor
        ucb1 = {
            "printed": sf.GenCB(sf.UCB1(K), floor, default_competes=False),
            "competing": sf.GenCB(sf.UCB1(K), floor, default_competes=True),
            "plain": sf.Plain(sf.UCB1(K), floor),
            "wide": sf.Plain(sf.UCB1(K, c=0.5), floor),
        }
        conucb = {
            radius: sf.ConUCB(
                K, floor.default, floor.alpha, 0.01, radius, "bounded",
                reward_range=floor.reward_range,
            )
            for radius in RADII
        }  # fmt: skip
        return {**ucb1, **conucb, "klucb": sf.GenCB(sf.KLUCB(K), floor)}

    def plan(self, names=None, **changes):
        agents = {k: agent for k, agent in self.agents().items() if names is None or k in names}
        return Plan(agents, self.environment, self.horizon, self.seed, "all", **changes)


def explores(floor):
    """One under which no play could ever explore, as units are so coarse, is refused."""
    terms = floor.terms()
    assume(terms.deposit > 0 or floor.unit.floor(floor.reserve) >= terms.hold)
    return floor


@st.composite
def worlds(draw):
    mu0, alpha, (low, high) = draw(cents), draw(cents), draw(st.sampled_from(RANGES))
    K = draw(st.integers(1, 40) | st.integers(1, 3))
    some = draw(st.lists(st.sampled_from([0.0, 1.0, mu0]) | cents, min_size=1, max_size=4))
    means = [draw(st.sampled_from(some)) for _ in range(K)]
    places = draw(st.sampled_from([None, None, 2, 4]))
    reserve = draw(st.sampled_from([0, 0, 0.5, 7]))
    return World(
        sf.BernoulliArms(means),
        explores(sf.RewardFloor(mu0, alpha, (low, high), reserve, places)),
        draw(st.integers(0, 2**32)),
        draw(st.integers(1, 250)),
    )


@st.composite
def logs(draw):
    """Logged rewards of any size and sign, on a lattice finer or coarser than the books'."""
    low, high = draw(st.sampled_from(RANGES[1:]))
    thousandths = st.integers(int(low * 1000), int(high * 1000)).map(lambda n: n / 1000)
    rewards = {arm: draw(st.lists(thousandths, min_size=1, max_size=5)) for arm in range(3)}
    frame = {
        "arm": [arm for arm, paid in rewards.items() for _ in paid],
        "reward": [reward for paid in rewards.values() for reward in paid],
    }
    places = draw(st.sampled_from([None, 2, 0]))
    mu0 = draw(st.integers(1, int(high * 4)).map(lambda n: n / 4))
    floor = sf.RewardFloor(mu0, draw(cents), (low, high), draw(st.sampled_from([0, 3])), places)
    return World(sf.ReplayLog(frame), explores(floor), draw(st.integers(0, 99)), 120)


def driven_live(plan, name):
    return stepwise.drive(
        plan.agents[name], plan.environment, plan.tops[name], plan.key(0),
        np.random.SeedSequence(0), plan.checkpoints, lambda: False,
    )  # fmt: skip


def assert_same(one, other):
    """A failure names the plays, not the whole of both traces."""
    assert np.flatnonzero((one.books != other.books).any(axis=1)).tolist() == []
    # The compiled sums are added chunk by chunk.
    np.testing.assert_allclose(one.losses, other.losses, rtol=1e-11, atol=1e-9)


def assert_all_drivers_agree(plan):
    assert plan.stepwise == []
    by_numba, by_python = plan.run(0, choose("compiled")), plan.run(0, choose("plain"))
    for name in plan.agents:
        assert_same(by_numba[name], by_python[name])
        assert_same(by_numba[name], driven_live(plan, name))


@settings(max_examples=40)
@given(worlds())
def test_live_plain_and_compiled_make_the_same_plays_with_the_same_books(world):
    assert_all_drivers_agree(world.plan())


@settings(max_examples=15)
@given(logs())
def test_so_they_do_where_books_are_coarser_or_finer_than_rewards(world):
    assert_all_drivers_agree(world.plan({"printed", "competing", "simple"}))


@settings(max_examples=100)
@given(worlds())
def test_the_books_are_the_naive_ones_at_every_play(world):
    floor, environment = world.floor, world.environment
    if floor.places == 2:  # mu0 and f are then rounded, and the twin knows no rounding
        floor = sf.RewardFloor(floor.default, floor.alpha, floor.reward_range, floor.reserve)
    plan = world._replace(floor=floor).plan({"printed", "competing", "plain"})
    traces = plan.run(0, choose("compiled"))
    common = (environment.n_arms, floor.default, floor.alpha, *floor.reward_range, floor.reserve)
    for name, twin in {
        "printed": naive.Settings(*common),
        "competing": naive.Settings(*common, competes=True),
        "plain": naive.Settings(*common, guarded=False),
    }.items():
        rows = naive.run(twin, lambda m, k: environment.pull(plan.key(0), m, k), world.horizon)
        unit = 10**floor.places
        expected = [
            [t, row.default_plays, row.slack * unit, row.least * unit, row.violating, row.arm]
            for t, row in enumerate(rows, start=1)
        ]
        books = traces[name].books[:, [T, DEFAULTS, SLACK, LEAST, BELOW, ARM]]
        assert [pair for pair in zip(books.tolist(), expected, strict=True) if ne(*pair)] == []


@given(worlds())
def test_losses_are_the_gaps_of_the_arms_played(world):
    plan = world.plan({"printed"})
    trace = plan.run(0, choose("compiled"))["printed"]
    arms, means = trace.books[:, ARM], world.environment.means
    top = max(means.max(), float(world.floor.default))
    columns = top - means, means, means**2, means * (1 - means)
    for noted, each in zip(trace.losses.T, columns, strict=True):
        expected = np.cumsum(np.where(arms < 0, 0.0, each[arms]))
        assert noted == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(cents, st.lists(cents, min_size=3, max_size=3, unique=True), st.integers(0, 99))
def test_one_base_path_serves_every_alpha(mu0, alphas, seed):
    """Three alphas in one call are three calls of one, for every gate that shares a path."""

    def agents(alpha):
        floor = sf.RewardFloor(mu0, alpha)
        return {
            f"GenCB {alpha}": sf.GenCB(sf.UCB1(4), floor, default_competes=False),
            f"competing {alpha}": sf.GenCB(sf.UCB1(4), floor),
            f"ConUCB {alpha}": sf.ConUCB(4, mu0, alpha, 0.01),
        }

    def run(agents):
        plan = Plan(agents, sf.BernoulliArms([0.9, 0.6, 0.6, 0.1]), 300, seed, "all")
        return plan, plan.run(0, choose("compiled"))

    plan, together = run({name: a for alpha in alphas for name, a in agents(alpha).items()})
    assert [len(names) for _, names in plan.paths] == [3, 3, 3]
    for alpha in alphas:
        for name, agent in agents(alpha).items():
            assert_same(run({name: agent})[1][name], together[name])


@given(cents, cents, st.integers(0, 99))
def test_turns_are_taken_after_the_default_plays_of_the_closed_form(mu0, alpha, seed):
    floor, environment = sf.RewardFloor(mu0, alpha), sf.BernoulliArms([0.7, 0.5, 0.2])
    agents = {
        "UCB1": sf.Plain(sf.UCB1(3), floor),
        "GenCB": sf.GenCB(sf.UCB1(3), floor, default_competes=False),
    }
    plan = Plan(agents, environment, 400, seed, "all")
    traces = plan.run(0, choose("compiled"))
    path = traces["UCB1"].books[:, ARM].tolist()
    rewards = [environment.pull(plan.key(0), m, arm) for m, arm in enumerate(path, start=1)]
    waits = naive.default_plays_before(rewards, mu0, alpha)
    books = traces["GenCB"].books
    taken = books[books[:, ARM] >= 0]
    assert taken[:, ARM].tolist() == path[: len(taken)]
    assert taken[:, DEFAULTS].tolist() == waits[: len(taken)]


def test_policies_whose_parameters_are_equal_numbers_have_paths_of_their_own():
    """UCB1(c=2) and KLUCB(c=2) have records that are equal as tuples."""
    environment, floor = sf.BernoulliArms([0.6, 0.5, 0.4]), sf.RewardFloor(0.5, 0.1)
    agents = {"a": sf.Plain(sf.UCB1(3, c=2.0), floor), "b": sf.Plain(sf.KLUCB(3, c=2.0), floor)}
    plan = Plan(agents, environment, 200, 0, "all")
    traces = plan.run(0, choose("compiled"))
    for name in agents:
        assert_same(traces[name], driven_live(plan, name))
    assert traces["a"].books[:, ARM].tolist() != traces["b"].books[:, ARM].tolist()


def test_a_default_that_wins_is_played_by_choice_and_the_clock_goes_on():
    """So an arm with early bad luck is looked at again, however rarely."""
    agents = {"GenCB": sf.GenCB(sf.UCB1(2), sf.RewardFloor(0.9, 0.5))}
    plan = Plan(agents, sf.BernoulliArms([0, 0]), 500, 0, "all")
    books = plan.run(0, choose("compiled"))["GenCB"].books
    free = books[1:][books[:-1, SLACK] >= 450_000_000][-200:]
    by_choice = (free[:, ARM] == -1).sum()
    assert 180 < by_choice < 200


@pytest.mark.parametrize("engine", ["compiled", "plain"])
def test_a_score_that_only_equals_the_defaults_value_is_not_above_it(engine):
    """KL-UCB's index of an arm that always paid 1 is 1, and so is this default."""
    agents = {"GenCB": sf.GenCB(sf.KLUCB(1), sf.RewardFloor(1, 0.5))}
    plan = Plan(agents, sf.BernoulliArms([1]), 50, 0, "all")
    books = plan.run(0, choose(engine))["GenCB"].books
    assert books[:, ARM].tolist() == [-1, 0] + [-1] * 48


@pytest.mark.parametrize("agent", ["printed", "plain", "simple"])
def test_every_agent_of_ours_names_a_gate(agent):
    world = World(sf.BernoulliArms([0.5]), sf.RewardFloor(0.5, 0.5), 0, 1)
    assert world.agents()[agent].gate in GATES


@st.composite
def linear_worlds(draw):
    """Embedded instances, their features doubled at times, so that arms tie."""
    d, seed = draw(st.sampled_from([2, 3, 5])), draw(st.integers(0, 99))
    X, theta = embedding(draw(st.integers(1, 8)), d, seed)
    if draw(st.booleans()):
        X = np.concatenate([X, X])
    options = sf.Ridge(
        radius=draw(st.sampled_from(["paper", "determinant"])),
        noise=draw(st.sampled_from([0.5, 1.0])),
        theta_bound=0.75,
    )
    share, alpha = draw(cents), draw(cents)
    return X, theta, options, share, alpha, draw(st.integers(0, 99))


@given(linear_worlds())
@settings(max_examples=15)
def test_linear_agents_make_the_same_plays_in_every_driver(world):
    X, theta, options, mu0, alpha, seed = world
    floor = sf.RewardFloor(mu0, alpha)
    agents = {
        "printed": sf.gencb_clb(X, mu0, alpha, ridge=options),
        "competing": sf.GenCB(sf.LinUCB(X, ridge=options), floor),
        "plain": sf.Plain(sf.LinUCB(X, ridge=options), floor),
        "CLUCB": sf.CLUCB(X, mu0, alpha, 0.01, ridge=options),
    }
    plan = Plan(agents, sf.LinearArms(X, theta), 150, seed, "all")
    assert not plan.stepwise
    assert_all_drivers_agree(plan)


@given(linear_worlds(), st.integers(1, 3))
@settings(max_examples=15)
def test_so_do_agents_of_super_arms(world, k):
    X, theta, options, share, alpha, seed = world
    # Of base arms with equal bounds either may come first: shrunk apart, no two are equal.
    X = X * (1 - np.arange(len(X)) / 100)[:, None]
    k = min(k, len(X))
    oracle, mu0 = sf.TopK(k), round(share * k, 2)
    floor = sf.RewardFloor(mu0, alpha, (0, k))
    agents = {
        "printed": sf.gencb_cccb(X, oracle, mu0, alpha, ridge=options),
        "competing": sf.GenCB(sf.C2UCB(X, oracle, ridge=options), floor),
        "plain": sf.Plain(sf.C2UCB(X, oracle, ridge=options), floor),
        "C3UCB": sf.C3UCB(X, oracle, mu0, alpha, 0.01, ridge=options),
    }
    plan = Plan(agents, sf.CombinatorialArms(X, theta, oracle), 150, seed, "all")
    assert not plan.stepwise
    assert_all_drivers_agree(plan)


def test_other_super_arms_are_driven_play_by_play_on_the_same_noise():
    """Every pair of four arms, enumerated, is TopK(2)."""
    X, theta = embedding(4, 3, 0)
    pairs = sf.Enumerated([[a, b] for a in range(4) for b in range(a)])
    floor = sf.RewardFloor(0.5, 0.5, (0, 2))
    agents = {
        name: sf.GenCB(sf.C2UCB(X, oracle), floor)
        for name, oracle in {"top": sf.TopK(2), "pairs": pairs}.items()
    }
    plan = Plan(agents, sf.CombinatorialArms(X, theta, sf.TopK(2)), 100, 0, "all")
    assert plan.stepwise == ["pairs"]
    traces = plan.run(0, choose("compiled"))
    assert_same(traces["top"], traces["pairs"])


def test_the_columns_are_all_of_them_and_the_state_comes_first():
    state = [loop.T, loop.DEFAULTS, loop.SLACK, loop.LEAST, loop.BELOW, loop.NEXT]
    assert [*state, loop.ARM] == list(range(loop.COLUMNS))
    losses = [loop.GAP, loop.MEAN, loop.SQUARE, loop.VARIANCE]
    assert losses == list(range(loop.SUMS))


def test_a_blank_trace_has_one_row_for_each_checkpoint():
    blank = loop.blank(3)
    assert blank.books.shape == (3, loop.COLUMNS)
    assert blank.books.dtype == np.int64
    assert blank.losses.shape == (3, loop.SUMS)
    assert not blank.books.any()
    assert not blank.losses.any()
