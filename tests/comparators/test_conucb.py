"""ConUCB decides as its author's text does, with every radius and scale."""

import math
import random
import re
from fractions import Fraction

import pytest

from naive import conucb
from naive.conucb import DEFAULT, Settings
from surefoot import ConUCB, Reason
from surefoot.comparators.conucb import RADII, SCALES, record_of
from surefoot.errors import InvalidInput

QUOTED = {
    # radius: (regular arms, psi at 1, 10, 1e3 and 1e5 plays); the author's K counts the default
    "simple": (72, (26.97, 40.79, 68.42, 96.05)),
    "iterated": (72, (18.39, 19.72, 20.86, 21.41)),
    "libbandit": (71, (18.23, 20.09, 21.67, 22.44)),
}


def compare(settings, chances, horizon, seed=0):
    """Play by play against the twin; how often each was played, the default last."""
    agent = ConUCB(*settings)
    rng, history, played = random.Random(seed), [], [0] * (settings.n_arms + 1)
    for _ in range(horizon):
        expected, play = conucb.decide(settings, history), agent.select()
        assert play.index == expected.arm
        if expected.wanted == DEFAULT:
            assert play.reason is Reason.DEFAULT_BEST
        else:
            assert play.choice.margin == math.floor(expected.xi * 10**9)
        reward = None if play.is_default else int(rng.random() < chances[play.index])
        agent.update(play, reward)
        history.append((play.index, reward))
        played[play.index] += 1
    return played


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("radius", RADII)
def test_every_decision_is_the_twins(radius, scale):
    for seed in range(3):
        rng = random.Random(f"{radius} {scale} {seed}")
        n_arms = rng.randint(1, 5)
        mu0, alpha = rng.randint(20, 80) / 100, rng.randint(20, 90) / 100
        settings = Settings(n_arms, mu0, alpha, rng.choice([0.05, 0.001]), radius, scale)
        played = compare(settings, [rng.random() for _ in range(n_arms)], 250, seed)
        assert sum(played[:-1]) > 0


def test_bounds_that_prove_something_let_it_explore_more():
    """Long enough for lower bounds above zero to carry plays; the default is not best."""
    settings = Settings(1, 0.3, 0.4, 0.1, "iterated", "bounded")
    explored, _ = compare(settings, [0.95], 400)
    assert explored > 0.4 * 400 + 40


@pytest.mark.parametrize("k", [2, 4, 5, 10, 20])
@pytest.mark.parametrize("mu0", [0.3, 0.7])
def test_at_alpha_1_over_k_the_first_exploration_is_an_exact_tie(k, mu0):
    agent = ConUCB(3, mu0, 1 / k, 0.01)
    for _ in range(k - 1):
        play = agent.select()
        assert play.reason is Reason.NOT_PROVED
        agent.update(play)
    play = agent.select()
    assert (play.index, play.choice.margin) == (0, 0)


def test_a_best_default_is_absorbing():
    settings = Settings(2, 0.9, 0.9, 0.5, "iterated", "bounded")
    assert compare(settings, [0, 0], 300)[DEFAULT] > 200
    agent = ConUCB(*settings)
    reasons = []
    for _ in range(300):
        play = agent.select()
        agent.update(play, None if play.is_default else 0)
        reasons.append(play.reason)
    first = reasons.index(Reason.DEFAULT_BEST)
    assert set(reasons[first:]) == {Reason.DEFAULT_BEST}


def test_a_tie_with_the_default_is_the_default():
    agent = ConUCB(1, 0.5, 0.5, 0.1)
    agent.policy.update(0, 0.5, None)
    agent.policy._state[2][0] = 0.5
    assert agent.select().reason is Reason.DEFAULT_BEST
    agent.policy._state[2][0] = math.nextafter(0.5, 1)
    assert agent.select().reason is not Reason.DEFAULT_BEST


def test_unplayed_arms_come_first_with_lower_bound_zero():
    agent = ConUCB(3, 0.5, 0.5, 0.01)
    indices = []
    while len(indices) < 3:
        play = agent.select()
        agent.update(play, None if play.is_default else 1)
        if not play.is_default:
            assert play.choice.score == math.inf
            indices.append(play.index)
    assert indices == [0, 1, 2]


def test_pending_expired_and_void_plays_are_the_twins():
    """A pending or expired play counts in t and pays r_min; a void one never was."""
    settings, rng = Settings(2, 0.5, 0.6, 0.05, "iterated", "bounded"), random.Random(4)
    agent, history, waiting = ConUCB(*settings), [], []
    for _ in range(300):
        play = agent.select()
        assert play.index == conucb.decide(settings, history).arm
        if not play.is_default and rng.random() < 0.2:
            agent.void(play)
            continue
        history.append((play.index, None))
        if not play.is_default:
            waiting.append((len(history) - 1, play))
        while waiting and rng.random() < 0.3:
            place, play = waiting.pop(rng.randrange(len(waiting)))
            if rng.random() < 0.5:
                agent.expire(play)
            history[place] = (play.index, 1)
            agent.update(play, 1)
    assert agent.account.pending == len(waiting)
    assert agent.account.explorations > 100


def test_another_range_moves_the_floor_and_not_the_bounds():
    """A reward of (-1, 5) is its place in the range; what is proved is counted in rewards."""
    agent, rng = ConUCB(2, 2, 0.5, 0.1, scale="bounded", reward_range=(-1, 5)), random.Random(2)
    twin, history, explored = Settings(2, 0.5, 0.5, 0.1, scale="bounded"), [], 0
    for t in range(1, 301):
        play = agent.select()
        wanted, rewards = play.choice.arm, [[r for a, r in history if a == arm] for arm in (0, 1)]
        lower = [Fraction(conucb.bounds(twin, past)[1]) for past in rewards]
        xi = 2 * (t - 1 - explored) - Fraction(1, 2) * 2 * t + (6 * lower[wanted] - 1)
        xi += sum(len(past) * (6 * low - 1) for past, low in zip(rewards, lower, strict=True))
        assert play.choice.score == conucb.bounds(twin, rewards[wanted])[0]
        assert play.choice.margin == math.floor(xi * 10**play.places)
        assert play.is_default == (xi < 0)
        if play.is_default:
            agent.update(play)
            continue
        place = int(rng.random() < 0.9)
        agent.update(play, 6 * place - 1)
        history.append((play.index, Fraction(place)))
        explored += 1
    assert explored > 100


@pytest.mark.parametrize("radius", RADII)
def test_psi_is_as_quoted(radius):
    n_arms, quoted = QUOTED[radius]
    for s, psi in zip((1, 10, 10**3, 10**5), quoted, strict=True):
        assert round(conucb.psi(radius, n_arms, 1e-4, s), 2) == psi
        agent = ConUCB(n_arms, 0.5, 0.1, 1e-4, radius)
        state = agent.policy._state
        state[0][0], state[1][0] = s - 1, 0
        agent.policy.update(0, 0.0, None)
        assert state[2][0] ** 2 * s == pytest.approx(psi, abs=0.005)


def test_scales_multiply_psi():
    def radius(scale):
        agent = ConUCB(3, 0.5, 0.1, 0.01, scale=scale)
        agent.policy.update(0, 0.0, None)
        return agent.policy._state[2][0]

    assert radius("bounded") ** 2 * 2 == pytest.approx(radius("paper") ** 2)
    assert radius("libbandit") ** 2 == pytest.approx(radius("paper") ** 2 * 2)


def test_psi_is_cut_at_zero():
    """ln ln 2 < 0: with a large delta the iterated logarithm would go below zero at one play."""
    assert conucb.psi("libbandit", 2, 0.9, 1) < 0
    agent = ConUCB(2, 0.5, 0.1, 0.9, "libbandit")
    agent.policy.update(0, 0.25, None)
    assert (agent.policy._state[2][0], agent.policy._state[3][0]) == (0.25, 0.25)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"default": None}, "default is missing"),
        ({"delta": 0}, "delta = 0 must lie strictly between 0 and 1"),
        ({"delta": 1}, "delta = 1 must lie"),
        ({"delta": math.nan}, "delta must be finite, got nan"),
        ({"delta": "0.1"}, "delta must be a number, got '0.1'"),
        ({"delta": True}, "delta = True must lie"),
        ({"radius": "wide"}, "radius = 'wide' must be one of 'simple', 'iterated', 'libbandit'"),
        ({"radius": None}, "radius = None must be one of"),
        ({"scale": 1}, "scale = 1 must be one of 'bounded', 'paper', 'libbandit'"),
        ({"scale": ["paper"]}, "scale = ['paper'] must be one of"),
        ({"radius": "libbandit", "n_arms": 1, "delta": 0.9}, "delta = 0.9 is too large for radius"),
        ({"alpha": 1}, "alpha = 1 must lie"),
        ({"default": 2}, "default = 2 lies outside"),
        ({"n_arms": 0}, "n_arms = 0 must be"),
        ({"arms": ["a"]}, "give exactly one"),
    ],
    ids=str,
)
def test_what_it_is_not_defined_for_is_refused(settings, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        ConUCB(**{"n_arms": 2, "default": 0.5, "alpha": 0.1, **settings})


def test_it_knows_one_default():
    """With a default of its own at each play the sum over default plays would be another."""
    agent = ConUCB(2, 0.5, 0.1)
    with pytest.raises(InvalidInput, match=r"default = 0\.4: ConUCB knows one constant default"):
        agent.select(default=0.4)
    assert agent.account.plays == 0


def test_the_pole_is_named():
    with pytest.raises(InvalidInput, match="has a pole there; take a smaller delta"):
        record_of(1, 2 / math.e, "libbandit", "paper")
