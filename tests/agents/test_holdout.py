"""A share of plays takes the default by a draw, whoever runs it, and teaches nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot import Reason
from surefoot.errors import InvalidInput

FLOOR = sf.RewardFloor(0.5, 0.2)


def _played(agent: Any, n: int) -> list[Any]:
    plays = []
    for t in range(n):
        play = agent.select()
        plays.append(play)
        agent.update(play, reward=None if play.is_default else float(t % 3 > 0))
    return plays


def test_a_tenth_of_the_plays_is_held_out_and_the_policys_turns_are_as_before() -> None:
    rich = sf.RewardFloor(0.5, 0.2, reserve=10_000)
    held = _played(sf.GenCB(sf.Thompson(3), rich, 5, False, holdout=0.1), 2_000)
    out = [play.id for play in held if play.reason is Reason.HOLDOUT]
    assert 140 < len(out) < 260
    free = [play for play in held if play.reason is not Reason.HOLDOUT]
    twin, paid = sf.GenCB(sf.Thompson(3), rich, 5, False), iter(free)
    for play in paid:  # the same turns, fed the same rewards, without the default plays between
        other = twin.select()
        assert (other.index, other.turn) == (play.index, play.turn)
        twin.update(other, reward=float(play.id % 3 > 0))


def test_it_is_a_function_of_seed_and_play_and_survives_a_file(tmp_path: Path) -> None:
    def out(agent: Any, n: int) -> list[int]:
        return [play.id for play in _played(agent, n) if play.reason is Reason.HOLDOUT]

    first = sf.GenCB(sf.UCB1(3), FLOOR, seed=1, holdout=0.3)
    early = out(first, 50)
    first.save(tmp_path / "agent.json")
    again = sf.load(tmp_path / "agent.json")
    late = out(again, 50)
    assert again.holdout == 0.3
    assert early + late == out(sf.Plain(sf.KLMS(2), FLOOR, 1, holdout=0.3), 100)
    assert early + late != out(sf.GenCB(sf.UCB1(3), FLOOR, seed=2, holdout=0.3), 100)


def test_a_told_draw_of_a_held_out_play_is_no_mismatch(tmp_path: Path) -> None:
    agent = sf.GenCB(sf.UCB1(2), FLOOR, seed=0, holdout=0.5)
    held, other = [], []
    for _ in range(40):
        play = agent.select()
        if play.is_default:
            (held if play.reason is Reason.HOLDOUT else other).append(play)
        else:
            agent.update(play, reward=1)
    for play in held[:-1]:
        agent.update(play, reward=0)
    assert agent.account.mismatches == 0
    agent.save(tmp_path / "agent.json")
    again = sf.load(tmp_path / "agent.json")
    again.update(held[-1].id, reward=1)
    assert again.account.mismatches == 0
    again.update(other[0].id, reward=0)
    assert again.account.mismatches == 1
    assert "a draw held it out" in agent.explain(held[0])


def test_a_paused_agent_holds_nothing_out_and_an_open_gate_does() -> None:
    agent = sf.GenCB(sf.UCB1(2), FLOOR, seed=0, holdout=0.9)
    agent.pause()
    assert {play.reason for play in agent.select_many(20)} == {Reason.PAUSED}
    agent.resume()
    assert Reason.HOLDOUT in {play.reason for play in agent.select_many(20)}


@pytest.mark.parametrize(
    ("policy", "competes"),
    [
        (lambda: sf.EpsilonGreedy(3, epsilon=0.5), True),
        (lambda: sf.KLMS(3), True),
        (lambda: sf.KLMS(3), False),
        (lambda: sf.UCB1(3), True),
    ],
    ids=["epsilon", "klms", "alone", "ucb1"],
)
def test_propensities_are_those_with_the_holdout(policy: Any, competes: bool) -> None:
    """Each play's probability, and that a weighted sum over all arms is unbiased."""
    means, default, share, runs, plays = (0.2, 0.4, 0.6), 0.5, 0.25, 200, 15
    off = np.zeros(runs)
    for run in range(runs):
        luck = np.random.default_rng(run)
        floor = sf.RewardFloor(default, 0.5, reserve=100)
        agent = sf.GenCB(policy(), floor, run, default_competes=competes, holdout=share)
        for _ in range(plays):
            play = agent.select()
            paid = float(luck.random() < (default if play.is_default else means[play.index]))
            agent.update(play, reward=None if play.is_default else paid)
            if play.is_default:  # the value of always playing the default, off policy
                off[run] += (paid - 0.2) / play.propensity / plays
            if play.reason is Reason.HOLDOUT and not competes:
                assert play.propensity == share
    assert abs(off.mean() - 0.3) < 3.5 * off.std() / runs**0.5


def test_a_closed_gate_is_certain_held_out_or_not() -> None:
    agent = sf.GenCB(sf.Thompson(2), sf.RewardFloor(0.5, 0.01), seed=0, holdout=0.5)
    plays = [agent.select() for _ in range(20)]
    assert {play.propensity for play in plays} == {1.0}
    assert {play.reason for play in plays} == {Reason.HOLDOUT, Reason.SLACK_SHORT}


def test_what_may_fail_or_compete_by_a_draw_is_not_known() -> None:
    rich = sf.RewardFloor((0.4, 0.6), 0.5, reserve=100)
    for agent in (
        sf.GenCB(sf.UCB1(2), rich, 0, holdout=0.5),
        sf.GenCB(sf.Thompson(2), sf.RewardFloor(0.5, 0.5, reserve=100), 0, holdout=0.5),
    ):
        assert {agent.select().propensity for _ in range(9)} == {None}


@pytest.mark.parametrize("share", [0, 1, -0.1, 2, True, "0.1", float("nan")])
def test_a_share_that_is_none_is_refused(share: Any) -> None:
    with pytest.raises(InvalidInput, match="holdout"):
        sf.GenCB(sf.UCB1(2), FLOOR, holdout=share)


def test_without_a_default_there_is_nothing_to_hold_out_for() -> None:
    with pytest.raises(InvalidInput, match="give it a floor"):
        sf.Plain(sf.UCB1(2), holdout=0.1)


@pytest.mark.parametrize(
    ("make", "env"),
    [
        (lambda **more: sf.GenCB(sf.KLMS(2), FLOOR, **more), sf.BernoulliArms([0.4, 0.7])),
        (lambda **more: sf.Plain(sf.UCB1(2), FLOOR, **more), sf.BernoulliArms([0.4, 0.7])),
        (
            lambda **more: sf.GenCB(sf.UCB1(2), FLOOR, **more),
            sf.Delayed(sf.BernoulliArms([0.4, 0.7]), 3),
        ),
    ],
    ids=["klms", "plain", "late"],
)
def test_the_engine_and_a_user_hold_out_the_same_plays(make: Any, env: Any) -> None:
    """``simulate``, compiled and plain, against the agent play by play."""
    from surefoot.simulation import plan, runner, stepwise

    agents = {"held": make(holdout=0.2), "free": make()}
    if isinstance(agents["held"].policy, sf.UCB1):  # other tests compile that, too
        plain, compiled = (
            sf.simulate({"held": agents["held"]}, env, 300, 2, 7, checkpoints="all", engine=engine)
            for engine in ("plain", "compiled")
        )
        assert plain.frame.equals(compiled.frame)
    one = plan.Plan(agents, env, 300, seed=7, checkpoints="all")
    engine = runner.choose("plain")
    for run in range(2):
        traces = one.run(run, engine)
        by_hand = stepwise.drive(
            make(holdout=0.2), env, one.tops["held"], one.key(run), one._stream(run, 1),
            one.checkpoints, lambda: False,
        )  # fmt: skip
        np.testing.assert_array_equal(traces["held"].books, by_hand.books)
        np.testing.assert_allclose(traces["held"].losses, by_hand.losses)
        assert (traces["held"].books[-1] != traces["free"].books[-1]).any()
