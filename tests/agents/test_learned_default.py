"""An agent whose default is learned: what it shows, saves and refuses."""

import json
import random
from decimal import Decimal

import pytest

from surefoot import (
    UCB1,
    CostCeiling,
    GenCB,
    LearnedDefault,
    Live,
    Plain,
    Reason,
    RewardFloor,
    Thompson,
    load,
)
from surefoot.errors import DamagedFile, InvalidInput, RewardOutOfRange
from surefoot.live import MemoryStore


def agent_of(floor=None, **settings):
    floor = floor or RewardFloor(LearnedDefault((0, 1)), alpha=0.2)
    return GenCB(Thompson(n_arms=2), floor, seed=0, **settings)


def drive(agent, plays, seed=0, mu0=0.3):
    rng = random.Random(seed)
    for _ in range(plays):
        play = agent.select()
        agent.update(play, float(rng.random() < (mu0 if play.is_default else 0.5)))
    return agent


def test_the_account_is_shown_at_the_end_that_decides():
    agent = drive(agent_of(), 200)
    shown = agent.account
    low, high = shown.default
    assert (low, shown.at) == (0, high)
    assert Decimal("0.3") < high < Decimal("0.7")
    assert shown.slack == shown.earned - shown.required - shown.held
    form = json.loads(json.dumps(shown.to_json()))
    assert form["default"] == [f"{low:f}", f"{high:f}"]
    assert type(shown).from_json(form) == shown
    for name, value in {"default": ["0.1"], "at": None}.items():
        with pytest.raises(InvalidInput, match=f"statement: {name}"):
            type(shown).from_json({**form, name: value})


def test_it_explains_which_mean_the_numbers_are_for():
    agent = agent_of()
    assert agent.explain(agent.select()) == (
        "Play 0 is the default because an exploration could lose 0.8 and the slack is 0 with the "
        "default's mean taken for 1, 0.8 too little."
    )


class Modest(UCB1):
    def best(self, *_):
        return 0, 0.9


def test_it_competes_at_its_upper_end():
    agent = GenCB(Modest(2), RewardFloor(LearnedDefault((0, 1)), 0.2, reserve=1), seed=0)
    play = agent.select()
    assert (play.reason, play.choice.rival) == (Reason.DEFAULT_BEST, 1.0)


def test_what_a_default_of_costs_costs_is_learned_in_costs():
    ceiling = CostCeiling(LearnedDefault((0.01, 0.05)), alpha=0.5, cost_range=(0, 0.1))
    agent, rng = GenCB(UCB1(2), ceiling, seed=0), random.Random(1)
    for _ in range(200):
        play = agent.select()
        agent.update(play, cost=rng.choice((0.03, 0.05) if play.is_default else (0.01, 0.02)))
    low, high = agent.account.default
    assert Decimal("0.01") < low < Decimal("0.04") < high == Decimal("0.05")
    assert agent.account.at == low
    assert f"with the default's mean taken for {low.normalize()}" in agent.explain(play)
    assert agent.account.slack >= 0


def test_an_agent_goes_on_where_it_was_saved(tmp_path):
    agent = drive(agent_of(), 60)
    kept = [agent.select() for _ in range(5)]
    agent.update(agent.select(allowed=[0]), 0.5)
    agent.save(tmp_path / "agent.json")
    again = load(tmp_path / "agent.json")
    assert again.feeding.picked
    for each in (agent, again):
        for play in kept:
            each.update(play.id, 1.0)
        drive(each, 60, seed=1)
    assert again.account == agent.account
    assert again.books.snapshot() == agent.books.snapshot()


def test_a_file_whose_sums_do_not_add_up_is_damaged(tmp_path):
    agent = drive(agent_of(), 20)
    agent.books.account.before += 1
    state = agent.books.snapshot()
    agent.books.account.before -= 1
    agent.books.snapshot = lambda: {**state, "account": agent.books.account.numbers()}
    agent.save(tmp_path / "agent.json")
    with pytest.raises(DamagedFile, match="the sums come to"):
        load(tmp_path / "agent.json")


def test_a_default_that_pays_what_it_cannot_warns_and_ends_the_probability():
    agent = agent_of()
    with pytest.warns(RewardOutOfRange, match="the promise has no known probability any more"):
        agent.update(agent.select(), 2)
    assert agent.account.promise_void


def test_a_late_reward_of_a_default_play_counts_in_its_mean_alone():
    agent = agent_of()
    lost, silent = agent.select(), agent.select()
    agent.expire(lost)
    agent.update(silent)
    agent.expire(silent)
    assert agent.books.feed.n == 2
    for play in (lost, silent):
        agent.update(play, 0.0)
    row = next(row for row in agent.arms() if row.arm is None)
    assert (row.told, row.mean, agent.books.feed.n) == (2, 0.0, 2)


def test_max_slack_is_what_is_left_at_the_end_that_decides():
    floor = RewardFloor(LearnedDefault((0, 1)), alpha=0.2, max_slack=1)
    agent = GenCB(Thompson(n_arms=2), floor, seed=0)
    agent.pause()
    for _ in range(30):
        agent.update(agent.select(), 1.0)
    play = agent.select()
    assert play.slack == 1
    shown = agent.account
    assert shown.slack == shown.earned - shown.required - shown.forfeited == 1


def test_several_floors_learn_their_defaults_from_the_same_plays():
    floors = {
        "quality": RewardFloor(LearnedDefault((0, 1)), 0.2),
        "cost": CostCeiling(LearnedDefault((0.01, 0.05)), alpha=0.5, cost_range=(0, 0.1)),
        "speed": RewardFloor(0.5, 0.2),
    }
    agent = GenCB(UCB1(2), floors, seed=0, objective_range=(0, 1))
    rng = random.Random(0)
    for number in range(300):
        play = agent.select()
        told = {
            "quality": float(rng.random() < 0.6),
            "cost": rng.choice((0.01, 0.05)),
            "speed": 0.5,
        }
        if number % 50 == 49:
            agent.expire(play)
        else:
            agent.update(play, reward=0.5, measures=told)
    books = agent.books.guards
    fed = {name: books[name].feed.n for name in ("quality", "cost")}
    assert fed["quality"] == fed["cost"] > 20
    quality, cost = (agent.accounts[name] for name in ("quality", "cost"))
    assert quality.default[1] < 1
    assert Decimal("0.01") < cost.default[0] < Decimal("0.03")
    assert min(quality.slack, cost.slack) >= 0


def test_with_a_default_of_its_own_on_another_floor_no_play_forced_by_the_gate_feeds():
    floors = {"quality": RewardFloor(LearnedDefault((0, 1)), 0.2), "cost": RewardFloor(None, 0.2)}
    agent = GenCB(UCB1(2), floors, seed=0, objective_range=(0, 1))
    for _ in range(3):
        play = agent.select(default={"cost": 0.5})
        assert play.reason is Reason.SLACK_SHORT
        agent.update(play, measures={"quality": 0.5})
    assert agent.books.guards["quality"].feed.given == 0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda floor: GenCB(UCB1(2), floor, fund=True), "fund = True needs the default's known"),
        (
            lambda floor: Live(GenCB(UCB1(2), floor), MemoryStore()),
            "cannot go live in this version",
        ),
    ],
    ids=["fund", "live"],
)
def test_what_needs_a_known_default_refuses_one_that_is_learned(make, words):
    with pytest.raises(InvalidInput, match=words):
        make(RewardFloor(LearnedDefault((0, 1)), alpha=0.2))


def test_an_agent_without_a_gate_measures_against_it():
    agent = Plain(UCB1(2), RewardFloor(LearnedDefault((0, 1)), 0.2), seed=0, holdout=0.5)
    drive(agent, 100)
    assert agent.books.feed.n == agent.books.default_plays > 30
