import json

import numpy as np
import pytest

from learners import Softmax
from surefoot import C2UCB, KLUCB, UCB1, GenCB, LinUCB, RewardFloor, TopK
from surefoot.errors import InvalidInput
from surefoot.live import MemoryStore
from surefoot.live.configuration import (
    Settings,
    built,
    check_same,
    grown,
    opened,
    sealed,
    settings_of,
    unknown,
)
from surefoot.live.live import Live

POLICIES = {
    "UCB1": UCB1(3),
    "KLUCB": KLUCB(arms=["UA", "AA"]),
    "LinUCB": LinUCB(arms=np.eye(2)),
    "C2UCB": C2UCB(base_arms=np.eye(3), oracle=TopK(2)),
}


def floats(value):
    if isinstance(value, dict):
        return any(map(floats, value.values()))
    return any(map(floats, value)) if isinstance(value, list) else isinstance(value, float)


@pytest.mark.parametrize("name", POLICIES)
def test_an_agent_comes_back_as_it_was(name):
    agent = GenCB(POLICIES[name], RewardFloor(0.5, 0.1, reserve=2), seed=5, default_competes=False)
    payload = opened(agent, Settings(60, True))
    assert not floats(payload)
    config = json.loads(json.dumps(payload["config"]))
    again = built(config, None)
    assert repr(again) == repr(agent)
    assert again.default_competes is False
    assert again.rng.bit_generator.state == agent.rng.bit_generator.state
    assert settings_of(config) == Settings(60, True, "skip" if name == "C2UCB" else "worst")
    assert opened(again, Settings(60, True)) == payload
    check_same(config, [payload["config"]], "shop")


@pytest.mark.parametrize(
    ("floor", "expected"),
    [
        (RewardFloor(0.5, 0.1), {"known": "constant", "value": 500_000_000, "hold": 450_000_000}),
        (RewardFloor(None, 0.1), {"known": "per_play", "value": None, "hold": None}),
        (RewardFloor((0.5, 1), 0.25), {"known": "interval", "upper": 10**9, "floor": 75 * 10**7}),
    ],
)
def test_the_floor_is_told_in_units(floor, expected):
    told = opened(GenCB(UCB1(2), floor), Settings())["floor"]
    assert {key: told[key] for key in expected} == expected
    assert (told["kind"], told["strict"], told["alpha"]) == ("reward", True, str(floor.alpha))


def test_a_policy_of_ones_own_is_passed_again():
    agent = GenCB(Softmax(2, 3), RewardFloor(0.5, 0.1))
    config = opened(agent, Settings())["config"]
    with pytest.raises(InvalidInput, match="your own class Softmax"):
        built(config, None)
    assert built(config, Softmax(2, 3)).policy.n_arms == 2


def test_what_was_learned_and_the_seed_are_no_difference():
    one, other = (GenCB(UCB1(2), RewardFloor(0.5, 0.1), seed=seed) for seed in (1, 2))
    other.policy.update(0, 1.0, None)
    check_same(*(opened(other, Settings())["config"], [opened(one, Settings())["config"]]), "shop")


def test_floats_are_spelled_out():
    assert sealed({"a": [0.1, 1, None, True]}) == {"a": [{"float": "0.1"}, 1, None, True]}


def test_a_live_is_made_of_the_config_of_another():
    one = Live(GenCB(UCB1(2), RewardFloor(0.5, 0.1), seed=3), MemoryStore(), reward_window=5)
    one.change(alpha=0.25)
    other = Live(json.loads(json.dumps(one.config)), MemoryStore())
    assert other.config == one.config
    assert other.select().play.terms == one.select().play.terms
    for bad in ({}, {"floor": {}}, {**one.config, "settings": {}}):
        with pytest.raises(InvalidInput, match="not a config of a live agent"):
            Live(bad, MemoryStore())


@pytest.mark.parametrize("kind", [UCB1, KLUCB])
def test_what_was_learned_stays_and_the_new_arm_is_unknown(kind):
    policy, whole = kind(2), kind(3)
    for each in (policy, whole):
        for arm, reward in ((0, 1.0), (1, 0.0), (0, 0.5)):
            each.best(None, None)
            each.update(arm, reward, None)
    bigger = grown(policy, [2])
    assert bigger.state() == whole.state()
    assert bigger.best(None, None)[0] == 2
    assert policy.n_arms == 2


@pytest.mark.parametrize("labels", [[], "AA", [1.5], ["B", "B"]])
def test_what_can_be_no_labels(labels):
    with pytest.raises(InvalidInput):
        unknown(("UA", "AA"), labels)


def test_labels_that_are_there_are_not_unknown():
    assert unknown(("UA", "AA"), ["AA", "DL"]) == ["DL"]


def test_arms_that_are_more_than_labels():
    with pytest.raises(InvalidInput, match="arms cannot be added to LinUCB"):
        grown(LinUCB(arms=[[1.0, 0.0], [0.0, 1.0]]), [2])
