"""A run that is killed between two blocks goes on elsewhere, and is the same to the last bit."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from late import ARMS, DRIFT
from stopping import Memory, blocks, differ, killed, resumed, same, through_a_file
from surefoot.simulation import stages, stops
from surefoot.simulation.fast import chunks
from surefoot.simulation.plan import Plan
from surefoot.simulation.runner import choose
from surefoot.study.runs import joint_plan
from surefoot.study.sweep import read

PANELS = ["cmab-K24-alpha0.05", "clb-d5-alpha0.01", "cccb-d5-alpha0.01", "mv-K24-alpha0.05-rho10"]
FLOOR = sf.RewardFloor(0.5, 0.3)


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    monkeypatch.setattr(stages, "BLOCK", 100)


def panel(name, horizon=700):
    """Two panels of one plan."""
    first = read(name).model_copy(update={"horizon": horizon})
    return joint_plan([first, first.model_copy(update={"alpha": 2 * first.alpha})])


class Counting(sf.UCB1):
    """A policy of one's own, with draws of its own: it plays any arm at times."""

    def best(self, context, rng, allowed=None):
        arm, score = super().best(context, rng, allowed)
        return (int(rng.integers(self.n_arms)), score) if rng.random() < 0.3 else (arm, score)


def by_play(engine):
    """One agent of each way to be driven; in compiled form those that other tests compile."""
    fund = {"fund": sf.GenCB(sf.UCB1(3), FLOOR, fund=True)} if engine == "plain" else {}
    agents = {
        "late": sf.GenCB(sf.UCB1(3), FLOOR),
        "own": sf.GenCB(Counting(3), FLOOR),
        "free": sf.Plain(sf.UCB1(3), FLOOR),
        **fund,
    }
    return Plan(agents, sf.Delayed(ARMS, (0, 20)), 350, 5)


@pytest.mark.parametrize("name", PANELS)
@settings(max_examples=4)
@given(st.data())
def test_a_run_of_each_problem_goes_on_bit_for_bit(name, data):
    engine = choose("compiled")
    whole = panel(name).run(1, engine)
    at = data.draw(st.integers(0, blocks(panel(name), engine, 1) - 1))
    same(whole, resumed(panel(name), engine, killed(panel(name), engine, at, 1), 1))


@pytest.mark.parametrize("engine", ["plain", "compiled"])
@settings(max_examples=8)
@given(st.data())
def test_agents_that_are_driven_by_play_go_on_bit_for_bit(engine, data):
    loops = choose(engine)
    plan = by_play(engine)
    assert plan.by_play
    assert plan.stepwise == ["own"]
    at = data.draw(st.integers(0, blocks(plan, loops) - 1))
    same(plan.run(0, loops), resumed(by_play(engine), loops, killed(plan, loops, at)))


POLICIES = {
    "KLUCB": lambda: sf.KLUCB(3),
    "AdaUCB": lambda: sf.AdaUCB(3),
    "Thompson": lambda: sf.Thompson(3),
    "KLMS": lambda: sf.KLMS(3),
    "EpsilonGreedy": lambda: sf.EpsilonGreedy(3),
    "sliding": lambda: sf.UCB1(3, window=40),
    "discounted": lambda: sf.UCB1(3, discount=0.97),
}


@pytest.mark.parametrize("world", [ARMS, sf.Delayed(ARMS, 7), DRIFT])
@settings(max_examples=4)
@given(st.sampled_from(sorted(POLICIES)), st.data())
def test_any_policy_goes_on_in_plain_text(world, policy, data):
    def made():
        agents = {"it": sf.GenCB(POLICIES[policy](), FLOOR), "free": sf.Plain(POLICIES[policy]())}
        return Plan(agents, world, 250, 3)

    engine = choose("plain")
    at = data.draw(st.integers(0, blocks(made(), engine) - 1))
    same(made().run(0, engine), resumed(made(), engine, killed(made(), engine, at)))


def test_a_run_may_be_killed_again_and_again():
    engine, state = choose("compiled"), None
    for _ in range(blocks(panel(PANELS[0]), engine) - 1):  # each process takes one block
        state = killed(panel(PANELS[0]), engine, 1, state=state)
    same(panel(PANELS[0]).run(0, engine), resumed(panel(PANELS[0]), engine, state))


def test_a_run_goes_on_where_it_stopped():
    """No turn is taken twice: what is finished is not even begun."""
    engine = choose("compiled")
    plan = panel(PANELS[0])
    state = killed(plan, engine, blocks(plan, engine) - 1)
    assert blocks_left(plan, engine, state) == 1


def blocks_left(plan, engine, state):
    memory = Memory(state=state)
    plan.run(0, engine, keeper=memory)
    return next(memory.asked)


NEEDED = r"now\.(turns|before|calendar\.\d\.(books|marks|trace\.\w+))"


@pytest.mark.parametrize("name", PANELS)
def test_a_mutant_that_forgets_a_row_is_caught(name):
    engine, plan = choose("compiled"), panel(name)
    fresh, state, whole = killed(plan, engine, 0), killed(plan, engine, 4), plan.run(0, engine)
    needed = [key for key in state if re.fullmatch(NEEDED, key)]
    assert len(needed) > 8
    for key in needed:
        assert differ(whole, resumed(plan, engine, {**state, key: fresh[key]})), key


def test_without_the_sums_behind_the_last_chunk_only_the_losses_differ():
    engine, plan = choose("compiled"), panel(PANELS[0])
    whole, state = plan.run(0, engine), killed(plan, engine, 3)
    mutant = resumed(plan, engine, {**state, "now.before": np.zeros(4)})
    assert all((whole[name].books == trace.books).all() for name, trace in mutant.items())
    assert any((whole[name].losses != trace.losses).any() for name, trace in mutant.items())


def test_a_state_is_small():
    """As the state of the paper's largest panel, which is kept every half minute."""
    plan = joint_plan([read("cmab-K144-alpha0.05")])
    state = killed(plan, choose("compiled"), 9)
    assert sum(row.nbytes for row in state.values()) < 200_000


DAMAGED = {
    "a stage too many": lambda state: {**state, "stage": np.array([9])},
    "a stage below zero": lambda state: {**state, "stage": np.array([-1])},
    "half a stage": lambda state: {**state, "stage": np.array([0.5])},
    "no stage": lambda state: without(state, "stage"),
    "other checkpoints": lambda state: {**state, "0.trace.books": np.zeros((3, 7), np.int64)},
    "an arm fewer": lambda state: {**state, "now.policy.0": state["now.policy.0"][:-1]},
    "other floats": lambda state: {**state, "now.before": state["now.before"].astype(np.float32)},
    "a row too many": lambda state: {**state, "now.more": np.zeros(1)},
    "an agent too many": lambda state: {**state, "7.trace.books": np.zeros(1)},
    "a row too few": lambda state: without(state, "now.before"),
    "an agent too few": lambda state: without(state, "0."),
}


def without(state, start):
    return {key: row for key, row in state.items() if not key.startswith(start)}


@pytest.mark.parametrize("damage", sorted(DAMAGED))
def test_a_state_of_another_plan_is_no_use_and_does_no_harm(damage):
    engine = choose("compiled")
    plan = panel(PANELS[0])
    last = blocks(plan, engine) - 1
    state = DAMAGED[damage](killed(plan, engine, last))
    with pytest.warns(RuntimeWarning, match="starts again"):
        again = resumed(plan, engine, state)
    same(plan.run(0, engine), again)


class Mute(Counting):
    def state(self):
        raise NotImplementedError


class Forgetful(Counting):
    def restore(self, state):
        raise NotImplementedError("no way back")


@pytest.mark.parametrize("policy", [Mute, Forgetful])
def test_a_policy_without_a_way_back_starts_again(policy):
    def made():
        agents = {"first": sf.GenCB(sf.UCB1(3), FLOOR), "own": sf.GenCB(policy(3), FLOOR)}
        return Plan(agents, ARMS, 300, 1)

    engine, whole = choose("plain"), made().run(0, choose("plain"))
    state = killed(made(), engine, 100)
    assert state["stage"].tolist() == [1]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        memory = Memory(state=state)
        same(whole, made().run(0, engine, keeper=memory))
    assert [str(one.message).count("no way back") for one in told] == [1] * (policy is Forgetful)
    assert next(memory.asked) == 300  # the first agent is done


def test_an_agent_class_of_ones_own_starts_again():
    """It may know more than an agent of ours does."""

    class Odd(sf.GenCB):
        seen = 0

        def select(self, *args, **options):
            self.seen += 1
            return super().select(*args, **options)

    plan = Plan({"it": Odd(sf.UCB1(3), FLOOR)}, ARMS, 60, 1)
    state = killed(plan, choose("plain"), 30)
    assert set(state) == {"stage"}
    same(plan.run(0, choose("plain")), resumed(plan, choose("plain"), state))


def test_who_stops_is_asked_first_whether_to_keep():
    """So that Ctrl-C keeps what there is."""
    told = []

    class Listening(Memory):
        def keep(self, state, ending):
            told.append(ending)

    asked = iter([False, False, True])
    with pytest.raises(stops.Stopped):
        panel(PANELS[0]).run(0, choose("compiled"), lambda: next(asked), Listening())
    assert told == [False, False, True]


def test_a_state_is_a_copy():
    engine, plan, found = choose("plain"), panel(PANELS[3], 300), []

    class Looking(Memory):
        def keep(self, state, ending):
            taken = state()
            found.append((taken, through_a_file(taken)))

    plan.run(0, engine, keeper=Looking())
    for taken, then in found:
        assert all((taken[key] == then[key]).all() for key in then)


def test_sums_go_on_from_the_block_before():
    """What ``before`` is for, in the survey itself."""
    block = stages.blank_block(64, chunks.blank(64, (np.ones(1), np.ones(1)), 1.0, True), engine())
    for _ in range(2):
        chunks.survey(block, False, False)
    assert block.chunks.before[-1].tolist() == [0.0, 128.0, 128.0, 128.0]


def engine():
    return choose("compiled")
