"""An agent of several floors: one play, several measures, an objective of its own."""

import copy
from decimal import Decimal

import numpy as np
import pytest

from learners import Counter, Waiting
from surefoot import UCB1, ConUCB, GenCB, Plain, RewardFloor, load
from surefoot.agents.saving import FORMAT, _canonical, _digest, agent_to_json
from surefoot.errors import DamagedFile, InvalidInput, PlayConflict, RewardOutOfRange
from surefoot.floors import Outcome

FLOORS = {"quality": RewardFloor(0.8, 0.5), "speed": RewardFloor(0.5, 0.5)}


def agent(policy=None, **settings):
    return GenCB(policy or Counter(3), FLOORS, seed=0, **settings)


def exploration(one):
    play = one.select()
    while play.is_default:
        one.update(play)
        play = one.select()
    return play


def test_a_play_explores_if_every_account_affords_its_hold():
    one = agent()
    plays = []
    for _ in range(4):
        plays.append(one.select())
        if plays[-1].is_default:
            one.update(plays[-1])
        else:
            one.update(plays[-1], reward=0, measures={"quality": 1, "speed": 0})
    assert [play.is_default for play in plays] == [True, False, True, False]
    assert one.explain(plays[2]) == (
        "Play 2 is the default because an exploration could lose 0.25 and the slack of speed is 0, "
        "0.25 too little."
    )


def test_measures_come_apart_and_each_settles_its_own_account():
    one = agent()
    play = exploration(one)
    assert one.update(play, measures={"speed": 0.5}) is Outcome.BOOKED
    assert (one.accounts["quality"].pending, one.accounts["speed"].pending) == (1, 0)
    assert one.update(play, reward=3, measures={"speed": 0.5, "quality": 2}) is Outcome.CAPPED
    assert play.outcomes == {"quality": "capped", "speed": "repeated", "reward": "booked"}
    assert one.policy.learnt == [(0, 3.0, None)]


def test_a_measure_that_is_named_twice_expires_once(tmp_path):
    one = agent()
    play = exploration(one)
    one.expire(play, ["speed", "speed"])
    assert (one.accounts["speed"].expired, one.accounts["speed"].held) == (1, 0)
    one.save(tmp_path / "agent.json")
    assert load(tmp_path / "agent.json", policy=Counter(3)).accounts == one.accounts


def test_a_play_that_was_told_of_is_not_void_and_releases_no_hold():
    one = agent()
    play = exploration(one)
    one.update(play, measures={"speed": 0.5})
    with pytest.raises(PlayConflict, match="quality is open, speed is settled, reward is open"):
        one.void(play)
    assert one.accounts["quality"].pending == 1


def test_a_report_is_booked_whole_or_not_at_all():
    one = agent()
    play = exploration(one)
    before = one.books.snapshot()
    for measures in (
        {"quality": 0.7, "speed": "fast"},
        {"quality": 1, "spede": 1},
        [1, 2],
        {"reward": 1},
    ):
        with pytest.raises(InvalidInput):
            one.update(play, reward=1, measures=measures)
    assert one.books.snapshot() == before


def test_a_policy_for_rewards_in_0_1_needs_the_range_of_the_objective():
    with pytest.raises(InvalidInput, match="objective_range is missing: UCB1 takes rewards in"):
        agent(UCB1(3))
    assert agent(UCB1(3), objective_range=(0, 10)).arms()[0].plays == 0


def test_an_objective_below_zero_closes_no_gate():
    one = agent(objective_range=(-1, 0))
    one.update(exploration(one), reward=-1, measures={"quality": 1, "speed": 1})
    assert not one.select().is_default


class Measurer(Counter):
    """Learns measures as well, and may fail to."""

    measures, fails = True, False

    def update(self, arm, reward, context, measures):
        if self.fails:
            raise OSError("the disk is full")
        self.learnt.append((reward, measures))


def test_a_policy_that_learns_measures_hears_of_each_once_also_after_a_load(tmp_path):
    one = agent(Measurer(3))
    play = exploration(one)
    one.update(play, measures={"speed": 0.5})
    one.save(tmp_path / "agent.json")
    one = load(tmp_path / "agent.json", policy=Measurer(3))
    one.update(play, reward=3, measures={"speed": 0.5})
    one.save(tmp_path / "agent.json")
    one = load(tmp_path / "agent.json", policy=Measurer(3))
    one.update(play.id, measures={"quality": 2, "speed": 0.5})
    assert one.policy.learnt == [(None, {"speed": 0.5}), (3.0, {}), (None, {"quality": 1.0})]
    assert not one.owed


def test_what_a_policy_failed_to_learn_is_told_again_by_a_repeat():
    one = agent(Measurer(3))
    play = exploration(one)
    one.policy.fails = True
    with pytest.raises(OSError, match="full"):
        one.update(play, reward=1, measures={"speed": 0.5})
    one.policy.fails = False
    assert one.update(play, reward=1, measures={"speed": 0.5}) is Outcome.REPEATED
    assert one.policy.learnt == [(1.0, {"speed": 0.5})]


def test_what_was_reported_of_a_play_is_no_part_of_it(tmp_path):
    one = agent(UCB1(3), objective_range=(0, 1))
    play = exploration(one)
    one.save(tmp_path / "agent.json")
    loaded = load(tmp_path / "agent.json")
    loaded.update(play.id, measures={"speed": 0.5})
    assert loaded.open_plays[play.id][0] == play
    assert loaded.update(play, reward=1, measures={"quality": 0.5}) is Outcome.BOOKED
    loaded.save(tmp_path / "agent.json")
    assert load(tmp_path / "agent.json").books.snapshot() == loaded.books.snapshot()


def test_books_that_are_not_those_of_the_floors_are_a_damaged_file(tmp_path):
    one = agent(UCB1(3), objective_range=(0, 1))
    exploration(one)
    body = agent_to_json(one)
    for spoil in (
        lambda body: body["books"]["each"].pop("speed"),
        lambda body: body["books"]["each"]["speed"]["plays"].update(next_id=7),
        lambda body: body["books"]["each"]["speed"]["account"].__setitem__(2, 0),
        lambda body: body["floor"]["floors"].pop(),
    ):
        spoilt = copy.deepcopy(body)
        spoil(spoilt)
        text = _canonical(spoilt)
        head = f'"format":"{FORMAT}","version":2,"sha256":"{_digest(text)}"'
        (tmp_path / "agent.json").write_text(f'{{{head},"body":{text}}}')
        with pytest.raises(DamagedFile):
            load(tmp_path / "agent.json")


def test_a_floor_changes_by_its_name():
    one = agent()
    one.change("quality", alpha=0.1)
    one.change(floor="speed", default=0.6)
    one.add_reserve(2, floor="speed")
    assert (one.floor.floors["quality"].alpha, one.accounts["speed"].slack) == (Decimal("0.1"), 2)
    for wrong in ({"alpha": 0.1}, {"floor": "reward", "alpha": 0.1}):
        with pytest.raises(InvalidInput, match="name one of 'quality', 'speed'"):
            one.change(**wrong)
    with pytest.raises(InvalidInput, match="this one has one; leave floor out"):
        GenCB(Counter(3), FLOORS["speed"]).change("speed", alpha=0.1)


def test_an_objective_waits_until_no_measure_can_come_any_more():
    one = agent(Waiting(3), default_objective=0.5)
    play = exploration(one)
    one.expire(play, "speed")
    assert (one.policy.open[play.index], play.outcomes) == (1, {"speed": "booked"})
    one.expire(play)
    assert one.policy.open[play.index] == 0
    assert one.update(play, reward=1) is Outcome.BOOKED
    assert one.update(play, measures={"quality": 1, "speed": 1}) is Outcome.BOOKED_LATE
    with pytest.raises(PlayConflict, match="reward 2 contradicts"):
        one.update(play, reward=2)


def test_a_fall_back_and_a_default_play_are_credited_to_every_floor():
    one = agent()
    one.fall_back(exploration(one))
    one.pause()
    play = one.select()
    one.update(play, measures={"speed": 0.5})
    assert one.update(play, reward=0.3, measures={"quality": 0.7}) is Outcome.BOOKED
    assert play.outcomes == {"quality": "repeated", "speed": "booked", "reward": "booked"}
    slacks = {name: account.slack for name, account in one.accounts.items()}
    assert slacks == {"quality": Decimal("1.2"), "speed": Decimal("0.75")}  # three deposits each
    assert [account.mismatches for account in one.accounts.values()] == [1, 0]


def test_an_objective_out_of_its_range_is_cut_with_a_warning():
    one = agent(objective_range=(0, 1))
    play = exploration(one)
    with pytest.warns(RewardOutOfRange, match="reward -1 of play 1 is outside objective_range"):
        assert one.update(play, reward=-1) is Outcome.BOOKED
    assert one.policy.learnt == [(0, 0.0, None)]


def test_the_default_competes_by_its_objective_alone():
    one = agent(UCB1(3), objective_range=(0, 1), default_objective=0.9)
    for _ in range(300):
        play = one.select()
        one.update(play, reward=0.1, measures={"quality": 1, "speed": 1})
    assert one.select().choice.rival == 0.9
    blind = agent(UCB1(3), objective_range=(0, 1))
    assert "the default does not compete: default_objective" in blind.explain(exploration(blind))
    with pytest.raises(InvalidInput, match="default_objective says what the default brings"):
        agent(UCB1(3), objective_range=(0, 1), default_competes=True)


def test_one_floor_named_reward_is_the_one_floor():
    named = GenCB(UCB1(3), {"reward": FLOORS["speed"]}, seed=0)
    single = GenCB(UCB1(3), FLOORS["speed"], seed=0)
    for turn in range(100):
        ours, theirs = named.select(), single.select()
        assert ours[:11] == theirs[:11]
        reward = None if ours.is_default else float(turn % 3 == 0)
        assert named.update(ours, reward) is single.update(theirs, reward)
    assert named.accounts == single.accounts


def test_plain_measures_every_account():
    one = Plain(UCB1(3), FLOORS, objective_range=(0, 1))
    for _ in range(3):
        one.update(one.select(), 0, measures={"quality": 0, "speed": 0})
    slacks = [account.slack for account in one.accounts.values()]
    assert slacks == [Decimal("-1.2"), Decimal("-0.75")]
    with pytest.raises(InvalidInput, match="this agent has several accounts"):
        _ = one.account


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda one: one.select(default=0.4), "give a dict by their names"),
        (lambda one: one.select(default={"speed": 7}), "'speed': default = 7 lies outside"),
        (lambda one: one.select(default={"x": 0.4}), "'x' is none of this agent's"),
        (lambda one: one.update(0, measures={"speed": np.ones(2)}), "speed of play 0 must be a nu"),
        (lambda one: one.update(0, cost=1), "this agent has several floors"),
        (lambda one: one.acknowledge(0), "name of the measure is missing"),
        (lambda one: one.expire(0, []), "expires nothing"),
        (lambda one: one.expire(0, "x"), "names: 'x' is none"),
        (lambda one: one.expire(0, 5), "names: 5 is none"),
        (lambda one: one.expire(0, [None]), "names: None is none of this agent's"),
        (lambda one: GenCB(UCB1(3), FLOORS, fund=True, objective_range=(0, 1)), "fund = True"),
        (lambda one: GenCB(UCB1(3), [FLOORS["speed"]]), "given by the names of their measures"),
        (lambda one: GenCB(UCB1(3), {}), "must be a dict from name to floor"),
        (lambda one: GenCB(UCB1(3), {3: FLOORS["speed"]}), "must be a text"),
        (lambda one: GenCB(UCB1(3), FLOORS["speed"], objective_range=(0, 1)), "guards it"),
        (lambda one: GenCB(UCB1(3), FLOORS, objective_range=(1, 0)), "objective_range = "),
        (lambda one: ConUCB(3, FLOORS, 0.1, 0.1), "knows one default"),
    ],
)  # fmt: skip
def test_what_several_floors_cannot_take_is_one_sentence(call, says):
    one = agent()
    one.select()
    before = one.books.snapshot()
    with pytest.raises(InvalidInput, match=says):
        call(one)
    assert one.books.snapshot() == before


def test_a_log_is_learned_in_the_range_of_the_objective():
    log = {"arm": [0, 1, 2], "reward": [1, 2, 0]}
    assert agent(UCB1(3), objective_range=(0, 2)).learn(log) == 3
    with pytest.raises(InvalidInput, match=r"is 2, outside \(0, 1\)"):
        agent(UCB1(3), objective_range=(0, 1)).learn(log)
    assert agent().learn(log) == 3


def test_an_uplift_is_of_the_objective_whatever_the_floors_count():
    one = GenCB(UCB1(3), FLOORS, 0, holdout=0.3, objective_range=(-1, 1), default_objective=0.25)
    for _ in range(50):
        one.update(one.select(), 0.25, measures={"quality": 0.5, "speed": 0.5})
    found = one.uplift()
    assert 0 < found.held_out < 50
    assert found.mean == 0  # all that was told is what the default is worth


@pytest.mark.filterwarnings("error")
def test_a_warning_that_is_an_error_is_one_once():
    one = agent(objective_range=(0, 1))
    play = exploration(one)
    with pytest.raises(RewardOutOfRange):
        one.update(play, 3)
    one.update(play, 3)
    assert one.open_plays == {}
    assert one.policy.learnt == [(play.index, 1.0, None)]
