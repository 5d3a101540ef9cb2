"""An interval default competes by a sample of the posterior of what it was told to have paid."""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import surefoot as sf
from learners import snapshot
from leased import opened
from surefoot.agents.draws import Draws, own_key
from surefoot.floors import Terms
from surefoot.kernels import uniform
from surefoot.live import MemoryStore
from surefoot.live.entries import exported
from surefoot.live.fold import Fold
from surefoot.verifier import verify

FLOOR = sf.RewardFloor(default=(0.4, 0.8), alpha=0.25, reserve=20)


def terms(low, high):
    return Terms(low, 0, 0, 0, high=high)


INTERVALS = st.tuples(st.integers(0, 100), st.integers(0, 100)).map(sorted)


@settings(max_examples=50)
@given(
    told=st.lists(st.tuples(INTERVALS, st.integers(-50, 150)), max_size=60),
    ends=INTERVALS,
    key=st.integers(0, 2**64 - 1),
    turn=st.integers(1, 10**9),
)
def test_a_sample_is_the_quantile_of_the_posterior_in_its_interval(told, ends, key, turn):
    draws, sums, count = Draws(), Fraction(0), 0
    for (low, high), paid in told:
        draws.take(terms(low, high), paid)
        if low < high:  # the obvious twin
            count += 1
            sums += Fraction(int(Fraction(min(max(paid, low), high) - low, high - low) * 10**9))
    assert (draws.plays, draws.parts) == (count, sums)
    whole, rest = divmod(sums / 10**9, 1)
    won = whole + (uniform(key, turn, -2) < rest)
    theta = stats.beta.ppf(uniform(key, turn, -3), float(1 + won), float(1 + count - won))
    low, high = ends
    value = draws.sample(terms(low, high), key, turn)
    assert value == pytest.approx(low + theta * (high - low), abs=1e-7 * (high - low))
    assert low <= value <= high


def test_the_order_of_the_draws_does_not_matter():
    paid = np.random.default_rng(3).integers(40, 81, 500).tolist()
    one, other = Draws(), Draws()
    for x, y in zip(paid, reversed(paid), strict=True):
        one.take(terms(40, 83), x)
        other.take(terms(40, 83), y)
    assert (one.plays, one.parts) == (other.plays, other.parts)


def rivals(agent, plays=40, paid=(0.4, 0.8, 0.6)):
    """The default's value at each turn of the policy; each default play pays in turn."""
    found = []
    for number in range(plays):
        play = agent.select()
        if play.choice is not None:
            found.append(play.choice.rival)
        agent.update(play, paid[number % 3] if play.is_default else 0.3)
    return found


def test_it_competes_within_its_interval_and_near_its_mean_once_that_is_known():
    agent = sf.GenCB(sf.KLUCB(2), FLOOR, seed=1)
    agent.draws = Draws(10**6, 10**15 // 4)  # a mean of 0.5
    found = rivals(agent)
    assert len(found) > 30
    assert len(set(found)) == len(found)
    assert 0.499 < min(found) < max(found) < 0.501
    fresh = rivals(sf.GenCB(sf.KLUCB(2), FLOOR, seed=1))
    assert 0.4 < min(fresh) < 0.5 < max(fresh) < 0.8


def test_a_known_default_competes_by_its_value():
    agent = sf.GenCB(sf.UCB1(2), sf.RewardFloor(None, 0.25, reserve=20), seed=1)
    agent.draws = Draws(10, 5 * 10**9)
    for default in (0.5, Decimal("0.7"), (0.6, 0.6)):
        play = agent.select(default=default)
        value = default[0] if isinstance(default, tuple) else default
        assert play.choice.rival == float(value)
        agent.void(play)


def test_what_counts_as_a_told_draw():
    agent = sf.GenCB(sf.UCB1(2), FLOOR, seed=0)
    seen = []

    def told(*report, **how):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcome = agent.update(*report, **how)
        seen.append((agent.draws.plays, agent.draws.parts / 10**9))
        return outcome

    agent.pause()
    play = agent.select()
    told(play)  # played, and not known what for
    told(play, 0.6)
    told(play, 0.6)  # a repeat
    told(agent.select(), 0.9)  # above its interval: a breach, and counts as the upper end
    told(agent.select(), 0.1)
    agent.resume()
    explored = agent.select()
    told(explored, 0.5)  # an arm's, not the default's
    fell = agent.select()
    agent.fall_back(fell)
    told(fell, 0.5)
    expected = [(0, 0), (1, 0.5), (1, 0.5), (2, 1.5), (3, 1.5), (3, 1.5), (4, 1.75)]
    assert [plays for plays, _ in seen] == [plays for plays, _ in expected]
    assert [parts for _, parts in seen] == pytest.approx([parts for _, parts in expected])


def test_the_key_is_the_seed_s():
    one, other = (sf.GenCB(sf.UCB1(2), FLOOR, seed=seed) for seed in (1, 2))
    assert own_key(one.rng) != own_key(other.rng)
    assert own_key(np.random.Generator(np.random.MT19937(1))) == 0


def test_a_loaded_agent_competes_as_the_saved_one(tmp_path):
    agent = sf.GenCB(sf.KLUCB(2), FLOOR, seed=1)
    rivals(agent, 25)
    agent.save(tmp_path / "a.json")
    again = sf.load(tmp_path / "a.json")
    assert again.draws.plays == agent.draws.plays > 0
    assert rivals(again) == rivals(agent)
    assert snapshot(again) == snapshot(agent)


def test_a_live_agent_learns_its_draws_from_the_ledger(tmp_path):
    store = MemoryStore()
    live = sf.Live(sf.GenCB(sf.KLUCB(2), FLOOR, seed=1), store)
    own = sf.GenCB(sf.KLUCB(2), FLOOR, seed=1)
    rng = np.random.default_rng(0)
    for _ in range(40):
        play, twin = live.select(), own.select()
        assert play.play.choice == twin.choice  # as an agent in a process of its own
        paid = [0.4, 0.8, 0.7][rng.integers(3)] if play.is_default else 0.3
        if play.is_default and rng.random() < 0.5:
            live.update(play)
            own.update(twin)
        live.update(play, paid)
        own.update(twin, paid)
    fold = Fold("default", None)
    for entry in store.entries("default"):
        fold.apply(entry)
    assert fold.state() == live._engine.fold.state()
    assert fold.agent.draws.plays == own.draws.plays > 5
    again = Fold("default", None)
    again.restore(fold.state())
    assert again.agent.draws.parts == own.draws.parts
    twin = fold.branch("lease", 0).agent
    assert (twin.draws.plays, twin.draws.parts) == (own.draws.plays, own.draws.parts)
    assert own_key(twin.rng) != own_key(fold.agent.rng)
    twin.draws.take(terms(0, 1), 1)
    assert fold.agent.draws.plays == own.draws.plays


def test_under_a_lease_the_worker_learns_its_draws_at_once(tmp_path):
    store = MemoryStore()
    live = opened(store, tmp_path, sf.GenCB(sf.KLUCB(2), FLOOR, seed=1))
    for paid in (0.4, 0.8, 0.6):
        live.update(live.select(allowed=[]), paid)
    assert live._worker._local.agent.draws.plays == 3
    late = live.select(allowed=[])
    live.update(late)
    live.flush()
    live.update(late, 0.7)  # told when the ledger has the play
    live.close()
    fold = Fold("default", None)
    for entry in store.entries("default"):
        fold.apply(entry)
    assert (fold.agent.draws.plays, fold.agent.draws.parts) == (4, 2_250_000_000)
    assert verify(exported("default", 9, store.entries("default")))["ok"]


class LowerEnd(sf.GenCB):
    """What came before: the default competes at the lower end of its interval."""

    def default_score(self, terms):
        return self.sure_score(terms.value)


def regret(kind, means, mean0, seed, horizon):
    """Against the best of arms and default; the default pays one end of its interval or the other,
    by a coin: no draws within it spread more."""
    floor = sf.RewardFloor(default=(0.4, 0.8), alpha=0.1)
    agent = kind(sf.Thompson(n_arms=len(means)), floor, seed=seed)
    arms, best = sf.BernoulliArms(means), max(*means, mean0)
    paid = np.where(np.random.default_rng(seed).random(horizon) < (mean0 - 0.4) / 0.4, 0.8, 0.4)
    total = 0.0
    for turn in range(horizon):
        play = agent.select()
        if play.is_default:
            agent.update(play, float(paid[turn]))
        else:
            agent.update(play, arms.pull(seed, play.turn, play.index))
        total += best - (mean0 if play.is_default else means[play.index])
        assert agent.account.slack >= 0
    return total


@pytest.mark.slow
def test_where_the_default_is_best_less_is_lost_than_at_the_lower_end():
    worse = [0.5] * 3 + [0.45] * 3 + [0.4] * 3
    ours, before = (
        np.array([regret(kind, worse, 0.6, seed, 10_000) for seed in range(8)])
        for kind in (sf.GenCB, LowerEnd)
    )
    assert ours.mean() < before.mean() / 2
    better = [0.8] + [0.5] * 8
    ours, before = (
        np.mean([regret(kind, better, 0.6, seed, 10_000) for seed in range(4)])
        for kind in (sf.GenCB, LowerEnd)
    )
    assert ours < 1.2 * before
