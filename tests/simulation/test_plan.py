import tracemalloc

import numpy as np
import pytest

import surefoot as sf
from contestants import ENVIRONMENT, gencb, three, traces
from surefoot.errors import InvalidInput
from surefoot.simulation import loop, stages, stops
from surefoot.simulation.calendar import calendar
from surefoot.simulation.fast import chunks
from surefoot.simulation.loop import ARM, LEAST, T
from surefoot.simulation.plan import Plan
from surefoot.simulation.runner import choose


@pytest.mark.parametrize("block", [7, 100, 8192])
def test_the_result_does_not_depend_on_the_block(monkeypatch, block):
    expected = traces(three(), 500)
    monkeypatch.setattr(stages, "BLOCK", block)
    assert traces(three(), 500) == expected


def test_blocks_take_hardly_a_turn_past_the_horizon(monkeypatch):
    monkeypatch.setattr(stages, "BLOCK", 100)
    taken = []
    engine = choose("plain")
    walk = loop.base_path

    def counting(*arguments):
        taken.append(len(arguments[-1].arms))
        walk(*arguments)

    drivers = engine.driver(object)._replace(walk=counting)
    Plan({"UCB1": three()["UCB1"]}, ENVIRONMENT, 201).run(
        0, engine._replace(driver=lambda _: drivers)
    )
    assert taken == [67, 67, 67]


def test_memory_does_not_grow_with_the_horizon():
    def peak(horizon):
        made = Plan(three(), ENVIRONMENT, horizon, 0)
        made.run(0, choose("compiled"))  # compiled and loaded before it is measured
        tracemalloc.start()
        made.run(0, choose("compiled"))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    short, long = peak(100_000), peak(1_000_000)
    assert long < 1.5 * short
    assert long < 2_000_000


def test_a_full_trace_is_made_only_on_request():
    assert len(Plan(three(), ENVIRONMENT, 10**9).checkpoints) < 400
    assert len(Plan(three(), ENVIRONMENT, 1000, checkpoints="all").checkpoints) == 1000


def test_checkpoints_are_rows_of_the_full_trace():
    every = Plan(three(), ENVIRONMENT, 700, 0, "all").run(0, choose("compiled"))
    for wanted in (None, [1, 50, 699], np.array([13]), (700,), range(100, 400, 100), []):
        made = Plan(three(), ENVIRONMENT, 700, 0, wanted)
        assert made.checkpoints[-1] == 700
        for name, trace in made.run(0, choose("compiled")).items():
            rows = made.checkpoints - 1
            columns = [T, *range(1, LEAST + 1), ARM]
            assert trace.books[:, columns].tolist() == every[name].books[rows][:, columns].tolist()
            assert trace.losses.tolist() == every[name].losses[rows].tolist()


def test_the_grid_is_even_and_dense_early():
    points = Plan(three(), ENVIRONMENT, 100_000).checkpoints
    assert points[0] == 1
    assert points[-1] == 100_000
    assert set(range(1, 10)) <= set(points.tolist())
    assert np.diff(points).max() <= 100_000 / 240 + 1


def test_noise_keys_are_of_the_seed_and_the_run():
    keys = {Plan(three(), ENVIRONMENT, 1, seed).key(run) for seed in range(9) for run in range(9)}
    assert len(keys) == 81
    assert Plan(three(), ENVIRONMENT, 1, 3).key(4) == Plan(three(), ENVIRONMENT, 99, 3).key(4)


def test_a_run_is_given_up_between_two_blocks(monkeypatch):
    monkeypatch.setattr(stages, "BLOCK", 10)
    asked = []

    def stopped():
        asked.append(True)
        return len(asked) > 3

    with pytest.raises(stops.Stopped):
        Plan(three(), ENVIRONMENT, 1000).run(0, choose("plain"), stopped)
    assert len(asked) == 4


def test_an_agent_without_a_floor_regrets_against_the_best_arm():
    made = Plan({"UCB1": sf.Plain(sf.UCB1(2))}, ENVIRONMENT, 10)
    assert (made.tops["UCB1"], made.default_gap("UCB1")) == (0.8, 0.0)


def test_where_the_default_is_best_the_regret_is_against_it():
    made = Plan({"a": sf.GenCB(sf.UCB1(2), sf.RewardFloor(0.9, 0.1))}, ENVIRONMENT, 10)
    assert (made.tops["a"], made.default_gap("a")) == (0.9, 0.0)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", ["UCB1", "ConUCB"])
def test_the_last_of_a_billion_plays_on_the_largest_books_stay_within_64_bits(name, sign):
    """9.223372036 at 9 places is the widest range with which 1e9 plays fit an int64."""
    high = 9.223372036
    widest = sf.RewardFloor(high, 0.01, (0, high))
    agents = {
        "UCB1": sf.Plain(sf.UCB1(1), widest),
        "ConUCB": sf.ConUCB(1, high, 0.01, reward_range=(0, high)),
    }
    made = Plan(agents, sf.BernoulliArms([0]), 10**9, checkpoints=[10**9 - 1])
    assert agents[name].floor.places == 9
    ends = []
    for engine in (choose("compiled"), choose("plain")):
        one = calendar(agents[name], 1.0, made.checkpoints, engine)
        value, floor, *_ = one.terms
        played, explored = 10**9 - 50, 60
        slack = played * (value - floor if sign > 0 else -floor)
        reward = value if sign > 0 else 0
        for column, number in enumerate([played, played - explored, slack, slack, 0, 0]):
            one.books[column] = number
        pledges = [(explored + j) * value for j in range(1, 101)]
        numbers = engine.array([0.0])
        block = stages.blank_block(100, chunks.blank(100, (numbers, numbers), 0.0, True), engine)
        for j in range(100):
            block.rewards[j], block.pledges[j] = reward, pledges[j]
        engine.survey(block, True, False)
        one.take(block)
        ends.append((list(one.books), one.trace().books.tolist()))
    assert ends[0] == ends[1]
    assert ends[0][0][T] == 10**9


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"agents": {}}, "agents = {} must be a non-empty dict"),
        ({"agents": [gencb()]}, "must be a non-empty dict"),
        ({"agents": {"a": sf.UCB1(2)}}, "is not an agent; wrap a policy"),
        ({"agents": {"a": gencb(n_arms=3)}}, "agent 'a' has 3 arms, the environment 2"),
        (
            {"agents": {"a": sf.GenCB(sf.UCB1(2), sf.RewardFloor(None, 0.1))}},
            "agent 'a' has a floor without one known default",
        ),
        ({"agents": {"a": gencb(places=12)}}, "agent 'a' keeps books of 12 places"),
        (
            {"agents": {"a": gencb(reward_range=(0.5, 1))}},
            "the environment pays (0, 1), outside the reward_range (0.5, 1) of agent 'a'",
        ),
        ({"environment": [0.5, 0.4]}, "environment = [0.5, 0.4] does not follow"),
        ({"horizon": 0}, "horizon = 0 must be an int >= 1"),
        ({"horizon": 10.0}, "horizon = 10.0 must be an int >= 1"),
        ({"horizon": True}, "horizon = True must be an int >= 1"),
        ({"horizon": 10**9 + 1}, "horizon = 1000000001 is above 1000000000"),
        ({"seed": -1}, "seed = -1 must be an int >= 0"),
        ({"seed": 1.5}, "seed = 1.5 must be an int >= 0"),
        ({"seed": "abc"}, "seed = 'abc' must be an int >= 0"),
        ({"checkpoints": "some"}, "checkpoints = 'some' must be None, 'all' or a list"),
        ({"checkpoints": 5}, "checkpoints = 5 must be None, 'all' or a list"),
        ({"checkpoints": [0, 5]}, "checkpoints: a play = 0 must be an int >= 1"),
        ({"checkpoints": [1.5]}, "checkpoints: a play = 1.5 must be an int >= 1"),
        ({"checkpoints": [5, 11]}, "checkpoints: play 11 is after the horizon 10"),
        ({"checkpoints": np.array(5)}, "checkpoints = array(5) must be None, 'all' or a list"),
        ({"checkpoints": np.array([[5]])}, "checkpoints = array([[5]]) must be None, 'all' or"),
        ({"checkpoints": b"ab"}, "checkpoints = b'ab' must be None, 'all' or a list"),
        ({"checkpoints": [10**5000]}, "checkpoints: play <int of too many digits> is after"),
        ({"checkpoints": 10**5000}, "checkpoints = <int of too many digits> must be"),
        ({"horizon": 10**5000}, "horizon = <int of too many digits> is above"),
        ({"horizon": -(10**5000)}, "horizon = <int of too many digits> must be an int >= 1"),
        ({"seed": -(10**5000)}, "seed = <int of too many digits> must be an int >= 0"),
        ({"agents": 10**5000}, "agents = <int of too many digits> must be a non-empty dict"),
        ({"agents": {"a": 10**5000}}, "agents['a'] = <int of too many digits> is not an agent"),
        ({"agents": {3: gencb()}}, "agent name 3 must be a string"),
        ({"agents": {10**5000: gencb()}}, "agent name <int of too many digits> must be a string"),
        ({"environment": 10**5000}, "environment = <int of too many digits> does not follow"),
    ],
)
def test_refused(changes, said):
    arguments = {"agents": {"a": gencb()}, "environment": ENVIRONMENT, "horizon": 10, **changes}
    with pytest.raises(InvalidInput) as error:
        Plan(**arguments)
    assert said in str(error.value)


def test_a_horizon_of_a_billion_and_numpy_numbers_are_fine():
    made = Plan({"a": gencb()}, ENVIRONMENT, np.int64(10**9), np.int64(3), np.array([5, 6]))
    assert made.horizon == 10**9
    assert made.entropy == 3
    assert made.checkpoints.tolist() == [5, 6, 10**9]
