"""The probability of each play: exact where it is known, and None where it is not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf

MAKERS: dict[str, Any] = {
    "epsilon": lambda: sf.EpsilonGreedy(4, epsilon=0.3),
    "klms": lambda: sf.KLMS(4),
}
RICH = sf.RewardFloor(0.5, 0.5, reserve=10_000)


class Halves:
    """A policy of one's own that draws one of two arms, and says so."""

    n_arms = 2

    def select(self, context: Any, rng: Any) -> int:
        return int(rng.integers(2))

    def update(self, arm: Any, reward: Any, context: Any) -> None: ...

    def state(self) -> Any:
        return None

    def restore(self, state: Any) -> None: ...

    def propensities(self, context: Any = None, allowed: Any = None) -> list[float]:
        return [0.5, 0.5]


def test_a_play_that_nothing_drew_has_probability_one() -> None:
    agent = sf.GenCB(sf.Thompson(2), sf.RewardFloor(0.5, 0.05), seed=0)
    assert agent.select().propensity == 1.0  # a closed gate
    agent.pause()
    assert agent.select().propensity == 1.0
    rich = sf.GenCB(sf.UCB1(2), RICH, seed=0)
    assert {rich.select().propensity for _ in range(9)} == {1.0}
    assert rich.select(allowed=[]).propensity == 1.0
    plain = sf.Plain(sf.LinUCB(np.eye(2)), RICH)
    assert plain.select().propensity == 1.0
    proved = sf.ConUCB(n_arms=2, default=0.5, alpha=0.1)
    assert proved.select().propensity == 1.0


@pytest.mark.parametrize("policy", [sf.Thompson(2), sf.LinTS(np.eye(2)), sf.GaussianThompson(2)])
def test_what_is_not_known_is_none(policy: Any) -> None:
    assert sf.GenCB(policy, RICH, seed=0).select().propensity is None


def test_neither_is_what_a_drawn_default_or_an_oracle_of_ones_own_decides() -> None:
    floor = sf.RewardFloor((0.4, 0.6), 0.5, reserve=100)
    assert sf.GenCB(sf.UCB1(2), floor, seed=0).select().propensity is None
    assert sf.GenCB(sf.UCB1(2), floor, 0, default_competes=False).select().propensity == 1.0
    theirs = sf.C2UCB(np.eye(3), sf.as_oracle(lambda w: [0], n_base=3))
    assert sf.Plain(theirs).select().propensity is None
    assert sf.Plain(sf.C2UCB(np.eye(3), sf.TopK(1))).select().propensity == 1.0


def test_a_policy_of_ones_own_is_believed_where_no_default_competes() -> None:
    assert sf.Plain(Halves()).select().propensity == 0.5

    class Mute(Halves):
        propensities = None  # type: ignore[assignment]

    class Failing(Halves):
        def propensities(self, context: Any = None, allowed: Any = None) -> list[float]:
            raise RuntimeError("not fitted yet")

    class Wrong(Halves):
        def propensities(self, context: Any = None, allowed: Any = None) -> list[float]:
            return [0.0]

    for kind in (Mute, Failing, Wrong):
        assert sf.Plain(kind()).select().propensity is None

    class Scoring(Halves):
        def best(self, context: Any, rng: Any, allowed: Any = None) -> tuple[int, float]:
            return self.select(context, rng), rng.random()

    assert sf.GenCB(Scoring(), RICH, 0, default_competes=True).select().propensity is None
    assert sf.GenCB(Scoring(), RICH, 0, default_competes=False).select().propensity == 0.5


def test_a_fault_is_not_known() -> None:
    class Broken(Halves):
        def select(self, context: Any, rng: Any) -> int:
            raise RuntimeError

    assert sf.GenCB(Broken(), RICH, 0, on_fault="default").select().propensity is None


def test_funding_leaves_no_choice() -> None:
    agent = sf.GenCB(sf.EpsilonGreedy(2), sf.RewardFloor(0.5, 0.5, reserve=1), 0, fund=True)
    agent.update(agent.select(), reward=1)
    play = agent.select()
    assert (play.reason, play.propensity) == (sf.Reason.FUNDING, 1.0)


@pytest.mark.parametrize("rival", [0.1, 0.55, 0.9])
@pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
def test_probabilities_are_those_of_the_draws_with_a_default_that_competes(
    make: Any, rival: float
) -> None:
    """The same turn under many keys: how often it comes to each arm, or to the default."""
    policy, rng = make(), np.random.default_rng(1)
    for arm, plays, wins in ((0, 4, 2), (1, 5, 3), (2, 3, 0), (3, 6, 3)):
        for i in range(plays):
            policy.update(arm, float(i < wins), None)
    seen: Counter[int] = Counter()
    n = 4_000
    policy.select(None, rng)
    turn = policy.turns + 1
    for key in range(n):
        policy.key = key * 7919 + 1
        arm, score = policy.peek(turn)
        seen[arm if score > rival else -1] += 1
        one = -1 if score <= rival else arm
        if key < 50:  # known of the turn or not, it is the same
            short = policy.chance(turn, one, rival, None, score)
            assert short == pytest.approx(policy.chance(turn, one, rival), abs=1e-12)
    said = {arm: policy.chance(turn, arm, rival) for arm in (-1, 0, 1, 2, 3)}
    assert sum(said.values()) == pytest.approx(1)
    for arm, p in said.items():
        assert abs(seen[arm] / n - p) <= 4.5 * (p * (1 - p) / n) ** 0.5 + 1e-9
    for arm in range(4):
        assert policy.propensities()[arm] == pytest.approx(policy.chance(turn, arm), abs=1e-12)


@pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
def test_what_an_agent_says_weighs_its_rewards_to_the_truth(make: Any) -> None:
    """Inverse propensities of logged plays, the default's among them, are unbiased."""
    means, default, runs, plays = (0.2, 0.5, 0.6, 0.7), 0.45, 150, 20
    off = np.zeros(runs)
    for run in range(runs):
        luck, policy = np.random.default_rng(run), make()
        agent = sf.GenCB(policy, sf.RewardFloor(default, 0.5, reserve=100), seed=run)
        for _ in range(plays):
            turn = policy.turns + 1
            possible = [arm for arm in (-1, 0, 1, 2, 3) if policy.chance(turn, arm, default) > 0]
            truth = sum((default if arm < 0 else means[arm]) - 0.3 for arm in possible)
            play = agent.select()
            paid = float(luck.random() < (default if play.is_default else means[play.index]))
            agent.update(play, reward=None if play.is_default else paid)
            off[run] += (paid - 0.3) / play.propensity - truth
    assert abs(off.mean()) < 3.5 * off.std() / runs**0.5
    assert off.std() / runs**0.5 < 1.5  # of 20 plays whose truths add up to about 15


def test_saved_plays_keep_it_and_older_files_have_none(tmp_path: Path) -> None:
    from surefoot.agents.saving import agent_from_json, agent_to_json

    agent = sf.GenCB(sf.EpsilonGreedy(3, epsilon=0.4), RICH, seed=3)
    play = [agent.select() for _ in range(5)][-1]
    agent.save(tmp_path / "agent.json")
    again = sf.load(tmp_path / "agent.json")
    assert again.open_plays[play.id][0].propensity == play.propensity
    body = agent_to_json(agent)
    for row, _ in body["open"]:
        del row["propensity"]
    old: Any = agent_from_json(body, None)
    assert old.open_plays[play.id][0].propensity is None
