"""The uplift over a holdout: by its formula, in the order of decisions, and it covers."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot import Reason
from surefoot.agents import tally as tallies
from surefoot.agents.uplift import PSI, RATES, boundary
from surefoot.errors import InvalidInput

SHARE = 0.2


def _agent(seed: int = 0, policy: Any = None, share: float = SHARE) -> Any:
    floor = sf.RewardFloor(0.5, 0.2, reserve=10_000)
    policy = sf.EpsilonGreedy(2, epsilon=0.5) if policy is None else policy
    return sf.GenCB(policy, floor, seed, default_competes=False, holdout=share)


def _by_formula(rows: list[tuple[Any, Any]], share: float = SHARE) -> tuple[float, float, float]:
    """Mean, low and high of closed plays in the order of decisions: (play, what it paid)."""
    reach, n = 1 / min(share, 1 - share), len(rows)
    ends = []
    for worst in (True, False):
        total = squares = 0.0
        for play, paid in rows:
            held = play.reason is Reason.HOLDOUT
            if play.is_default and play.propensity == 1.0:
                continue
            if paid is None:
                paid = float(held) if worst else float(not held)
            z = -(paid - 0.5) / share if held else (paid - 0.5) / (1 - share)
            total, squares = total + z, squares + z * z
        ends.append((total, boundary(squares / reach**2, 0.025) * reach))
    (low, below), (high, above) = ends
    least, most = max(-1, (low - below) / n), min(1, (high + above) / n)
    return min(max((low + high) / 2 / n, least), most), least, most


def test_a_delta_that_no_float_holds_leaves_the_range_alone() -> None:
    agent = _agent()
    for _ in range(30):
        agent.update(agent.select(), reward=1)
    for delta in (Decimal("1e-400"), 1e-320):
        found = agent.uplift(delta)
        assert (found.low, found.high) == (-1.0, 1.0)


def test_the_factors_are_bets_and_rise_in_the_reward() -> None:
    """exp(l x - psi(l) x^2) <= 1 + l x, and it rises in x: what the proof rests on."""
    x = np.linspace(-1, 1, 4_001)
    for rate, psi in zip(RATES, PSI, strict=True):
        factor = np.exp(rate * x - psi * x * x)
        assert (factor <= 1 + rate * x + 1e-15).all()
        assert (np.diff(factor) > 0).all()
    steep = 0.7  # beyond 1/2 it would fall again before 1
    assert (np.diff(np.exp(steep * x + (math.log1p(-steep) + steep) * x * x)) < 0).any()


@given(st.randoms(use_true_random=False))
def test_it_is_its_formula_in_the_order_of_the_decisions(rng: random.Random) -> None:
    agent = _agent(rng.randrange(99))
    agent.tally.limit = 3
    fate: dict[int, list[Any]] = {}
    out: list[Any] = []
    for _ in range(rng.randrange(1, 60)):
        if rng.random() < 0.5 or not out:
            play = agent.select()
            out.append(play)
            fate[play.id] = [play, "open"]
            continue
        play = out.pop(rng.randrange(len(out)))
        what, paid = rng.random(), rng.randrange(2)
        if what < 0.7 or (play.is_default and what < 0.9):
            told = None if play.is_default and what < 0.2 else paid
            agent.update(play, reward=told)
            fate[play.id][1] = told
        elif what < 0.8:
            agent.expire(play)
            fate[play.id][1] = None
            if rng.random() < 0.5:
                agent.update(play, reward=1)
        elif what < 0.9:
            agent.fall_back(play)
            fate[play.id][1] = None
        else:
            agent.void(play)
            del fate[play.id]
    rows: list[tuple[Any, Any]] = []
    for play, paid in fate.values():
        if paid == "open":
            break
        rows.append((play, paid))
    found = agent.uplift()
    assert found.plays == len(rows)
    if rows:
        want = _by_formula(rows)
        assert (found.mean, found.low, found.high) == pytest.approx(want, abs=1e-8)
    else:
        assert (found.mean, found.low, found.high) == (0, -1, 1)


def test_the_estimate_lies_in_its_interval_where_one_play_weighs_ten() -> None:
    """A gain of 5 per play cannot be, of rewards in [0, 1]: what would be .5/.1 is told as 1."""
    agent = sf.GenCB(sf.UCB1(2), sf.RewardFloor(0.5, 0.1, reserve=9), seed=0, holdout=0.9)
    while agent.uplift().plays == 0:
        play = agent.select()
        if play.is_default:
            agent.void(play)
        else:
            agent.update(play, reward=1)
    found = agent.uplift()
    assert (found.plays, found.held_out) == (1, 0)
    assert (found.low, found.mean, found.high) == (-1, 1, 1)


def test_where_the_default_is_certain_nothing_is_gained_and_nothing_needs_to_be_told() -> None:
    agent = sf.GenCB(sf.UCB1(2), sf.RewardFloor(0.5, 0.001), seed=0, holdout=0.5)
    for _ in range(100):
        agent.update(agent.select())
    found = agent.uplift()
    assert (found.plays, found.sure, found.lost, found.mean) == (100, 100, 0, 0)
    assert found.high < 0.3  # of 100 zeros


def test_a_default_that_was_not_told_counts_at_its_worst() -> None:
    told, silent = _agent(3), _agent(3)
    for _ in range(400):
        for agent in (told, silent):
            play = agent.select()
            quiet = agent is silent and play.is_default
            agent.update(play, reward=None if quiet else play.id % 2)
    told, silent = told.uplift(), silent.uplift()
    assert silent.low < told.low < told.high < silent.high
    assert (silent.lost, told.lost) == (silent.held_out, 0)


def test_without_a_holdout_it_is_refused() -> None:
    with pytest.raises(InvalidInput, match="holds out none"):
        sf.GenCB(sf.UCB1(2), sf.RewardFloor(0.5, 0.2)).uplift()


def test_a_file_keeps_it(tmp_path: Path) -> None:
    agent, rng = _agent(), random.Random(0)
    for _ in range(300):
        play = agent.select()
        if rng.random() < 0.95:
            agent.update(play, reward=rng.random())
    agent.save(tmp_path / "agent.json")
    again = sf.load(tmp_path / "agent.json")
    for one in (agent, again):
        for play, _ in list(one.open_plays.values()):
            one.update(play, reward=0.5)
    assert agent.uplift() == again.uplift()
    assert again.uplift().plays == 300


def test_an_open_play_holds_up_only_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallies, "BEHIND", 40)
    agent = _agent(policy=sf.UCB1(2))
    stuck = agent.select()
    for _ in range(300):
        agent.update(agent.select(), reward=1)
        agent.tally.limit = 10
    found = agent.uplift()
    assert found.plays > 250
    assert found.lost == 1
    assert len(agent.tally.gain.behind) < 60
    agent.update(stuck, reward=1)
    assert (agent.uplift().plays, agent.uplift().lost) == (301, 1)


def _running(seed: int, means: tuple[float, ...], n: int, lose: float = 0.0) -> tuple[bool, float]:
    """Whether the running uplift was in the interval at each look of a policy that learns."""
    policy = sf.UCB1(len(means))
    agent, luck = _agent(seed, policy, share=0.1), np.random.default_rng(seed)
    truth, inside, width = 0.0, True, 0.0
    for t in range(1, n + 1):
        arm, _ = policy.peek(policy.turns + 1)
        truth += means[arm] - 0.5
        play = agent.select()
        paid = float(luck.random() < (0.5 if play.is_default else means[play.index]))
        if paid and not play.is_default and luck.random() < lose:
            agent.expire(play)
        else:
            agent.update(play, reward=paid)
        if t % max(1, t // 16) == 0:
            found = agent.uplift()
            width = found.high - found.low
            inside = inside and found.low <= truth / t <= found.high
    return inside, width


def test_it_covers_a_learning_policys_running_uplift_at_every_look() -> None:
    runs = [_running(seed, means, 300) for seed in range(8) for means in ((0.5, 0.5), (0.2, 0.9))]
    assert sum(inside for inside, _ in runs) >= 15
    assert sum(_running(seed, (0.3, 0.8), 300, lose=0.5)[0] for seed in range(8)) >= 7


@pytest.mark.slow
def test_at_ten_thousand_plays_it_is_at_most_three_times_as_wide_as_a_normal_one() -> None:
    inside, width = _running(1, (0.5, 0.5, 0.55), 10_000)
    normal = 2 * 1.96 * math.sqrt(0.25 / 1_000 + 0.25 / 9_000)
    assert inside
    assert width <= 3 * normal
