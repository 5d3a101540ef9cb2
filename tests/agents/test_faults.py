"""With ``on_fault="default"`` a policy that fails costs default plays and nothing else."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from learners import Hostile, Least, Mute, Scripted, snapshot
from surefoot.agents.faults import LONGEST, described
from surefoot.errors import InvalidInput

RICH = sf.RewardFloor(default=0.5, alpha=0.2, reserve=100)


def faulting(policy, floor=RICH, **settings):
    return sf.GenCB(policy, floor, seed=0, on_fault="default", **settings)


class Sayer(Least):
    """Answers what it was given, by a function that may raise."""

    def __init__(self, answer):
        self.answer = answer

    def best(self, context, rng, allowed=None):
        rng.random()
        return self.answer()

    def select(self, context, rng):
        return self.best(context, rng)[0]


def boom():
    raise RuntimeError("no model yet")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (boom, "RuntimeError: no model yet"),
        (lambda: (0, float("nan")), "InvalidInput: Sayer.best returned (0, nan)"),
        (lambda: (3, 1.0), "InvalidInput: Sayer chose 3"),
        (lambda: (-1, 1.0), "InvalidInput: Sayer chose -1"),
        (lambda: (True, 1.0), "InvalidInput: Sayer chose True"),
        (lambda: (np.array([1, 2]), 1.0), "InvalidInput: Sayer chose array([1, 2])"),
        (lambda: None, "InvalidInput: Sayer.best returned None"),
        (lambda: 7, "InvalidInput: Sayer.best returned 7"),
    ],
)
def test_a_policy_that_fails_plays_the_default(answer, says):
    agent = faulting(Sayer(answer))
    play = agent.select()
    assert (play.arm, play.index, play.reason) == (None, -1, sf.Reason.POLICY_FAULT)
    assert play.fault.startswith(says)
    assert agent.explain(play).startswith(
        f"Play 0 is the default because the policy failed ({says}"
    )
    assert (agent.turns, play.turn, agent.faults, agent.last_fault) == (1, 1, 1, play.fault)
    agent.update(play)
    assert agent.account.default_plays == 1
    assert agent.account.slack == Fraction("100.1")  # credited as any default play


def test_faults_are_counted_for_the_reader():
    agent = faulting(Sayer(boom))
    agent.select_many(3)
    assert repr(agent).endswith(": 0 explorations, 3 default plays, 3 faults of the policy")


def test_an_arm_that_is_not_allowed_is_a_fault():
    agent = faulting(Sayer(lambda: (0, 1.0)))
    assert agent.select(allowed=[0]).arm == 0
    assert agent.select(allowed=[1, 2]).reason is sf.Reason.POLICY_FAULT


def test_the_error_goes_to_the_caller_unless_the_agent_was_told_otherwise():
    agent = sf.GenCB(Sayer(boom), RICH)
    with pytest.raises(RuntimeError, match="no model yet"):
        agent.select()
    assert (agent.faults, agent.turns, agent.account.plays) == (0, 0, 0)
    with pytest.raises(InvalidInput, match="on_fault = 'ignore' must be one of 'raise', 'default'"):
        sf.GenCB(Least(), RICH, on_fault="ignore")


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_is_no_fault(stop):
    def answer():
        raise stop

    agent = faulting(Sayer(answer))
    with pytest.raises(stop):
        agent.select()
    assert (agent.faults, agent.account.plays, agent.asking) == (0, 0, False)
    agent.policy.answer = lambda: (1, 1.0)
    assert agent.select().arm == 1


def test_what_the_caller_got_wrong_is_refused_and_no_fault():
    class Picky(Least):
        def check(self, context):
            if context is None:
                raise InvalidInput("context is missing")
            if context == "odd":
                raise RuntimeError("the check itself fails")

    agent = faulting(Picky())
    with pytest.raises(InvalidInput, match="context is missing"):
        agent.select()
    with pytest.raises(InvalidInput, match="has no best"):
        agent.select("fine", allowed=[0])
    with pytest.raises(InvalidInput, match="is not one of this agent's 3 arms"):
        agent.select("fine", allowed=[9])
    assert (agent.faults, agent.turns, agent.account.plays) == (0, 0, 0)
    assert agent.select("odd").arm == 0  # the policy can be asked all the same
    with pytest.raises(RuntimeError):
        sf.GenCB(Picky(), RICH).select("odd")


def test_a_fault_takes_no_random_numbers():
    one, other = (faulting(Scripted(3, RuntimeError(), (0, 1.0))) for _ in range(2))
    before = one.rng.bit_generator.state
    one.policy.best = lambda context, rng, allowed=None: rng.random() and boom()
    assert one.select().reason is sf.Reason.POLICY_FAULT
    assert one.rng.bit_generator.state == before == other.rng.bit_generator.state


def test_a_score_of_the_default_that_is_no_number_is_a_fault():
    class Unsure(Sayer):
        def sure(self, value):
            return float("nan")

    play = faulting(Unsure(lambda: (0, 1.0))).select()
    assert play.fault.startswith("InvalidInput: Unsure.sure(0.5) returned nan")
    with pytest.raises(InvalidInput, match=r"Unsure.sure\(0.5\) returned nan"):
        sf.GenCB(Unsure(lambda: (0, 1.0)), RICH).select()


class Forgetful(Least):
    """Cannot learn a reward of 0.25."""

    def update(self, arm, reward, context):
        if reward == 0.25:
            raise ZeroDivisionError("singular")


def test_a_reward_that_cannot_be_learned_is_booked_and_its_play_closed():
    agent = faulting(Forgetful())
    play = agent.select()
    assert agent.update(play, 0.25) is sf.Outcome.BOOKED
    assert (agent.faults, agent.last_fault) == (1, "ZeroDivisionError: singular")
    assert agent.account.pending == 0
    assert agent.account.slack == Fraction("99.85")
    assert agent.update(play, 0.25) is sf.Outcome.REPEATED
    assert agent.faults == 1  # it was told once
    assert not agent.open_plays
    strict = sf.GenCB(Forgetful(), RICH)
    play = strict.select()
    with pytest.raises(ZeroDivisionError):
        strict.update(play, 0.25)
    assert list(strict.open_plays) == [0]  # a repeat tells it again


def test_faults_are_saved(tmp_path):
    agent = faulting(Scripted(3, RuntimeError("gone"), (0, 1.0), (2, 1.0)))
    first = agent.select()
    agent.save(tmp_path / "a.json")
    again = sf.load(tmp_path / "a.json", policy=Scripted(3))
    assert (again.on_fault, again.faults, again.last_fault) == ("default", 1, "RuntimeError: gone")
    assert again.explain(0) == agent.explain(first)
    assert again.update(first) is sf.Outcome.BOOKED
    again.policy.answers = [RuntimeError("again"), (2, 1.0)]
    assert again.select().fault == "RuntimeError: again"
    assert again.faults == 2


def test_an_agent_without_faults_is_saved_as_before():
    assert '"faults"' not in snapshot(faulting(Least()))
    assert '"on_fault"' not in snapshot(sf.GenCB(Least(), RICH))


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("two\nlines\0 and\ud800 more"), "ValueError: two lines and more"),
        (Mute(), "Mute: its own text raises"),
        (OSError("postgresql://ann:secret@host/shop"), "OSError: postgresql://ann:***@host/shop"),
    ],
)
def test_a_fault_is_one_line_that_any_store_can_keep(error, line):
    assert described(error) == line
    assert described(ValueError("x" * 10**6)) == f"ValueError: {'x' * (LONGEST - 15)}..."


def test_simulated_play_by_play_a_faulty_policy_keeps_its_floor():
    class Moody(Sayer):
        def __init__(self):
            self.asked = 0

        def best(self, context, rng, allowed=None):
            self.asked += 1
            return boom() if self.asked % 2 else (int(rng.integers(3)), 1.0)

    arms = sf.BernoulliArms([0.1, 0.5, 0.9])
    agents = {
        "moody": faulting(Moody(), sf.RewardFloor(0.5, 0.2)),
        "ours": faulting(sf.UCB1(3), sf.RewardFloor(0.5, 0.2)),
    }
    result = sf.simulate(agents, arms, horizon=300, runs=2, seed=0, engine="plain")
    assert result.engines == {"moody": "stepwise", "ours": "plain"}
    asked = 300 - result.frame.filter(agent="moody", t=300)["default_plays"]  # all but faults
    assert result.faults["ours"] == 0
    assert asked.sum() <= result.faults["moody"] <= asked.sum() + 2
    assert result.summary()["moody"]["violating_rounds"]["max"] == 0


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    scores=st.booleans(),
    low=st.sampled_from([0, -1]),
    steps=st.lists(
        st.tuples(st.sampled_from(["report", "expire", "void", "keep"]), st.booleans()),
        min_size=5,
        max_size=60,
    ),
)
def test_a_hostile_policy_breaks_neither_floor_nor_agent(seed, scores, low, steps):
    floor = sf.RewardFloor(default=0.5, alpha=0.4, reward_range=(low, 1), reserve=2)
    agent = faulting(Hostile(seed, scores), floor)
    worst, least = Fraction(2), Fraction(3, 10)  # the reserve, and (1-alpha) mu0
    known = Fraction(2)  # slack by a count of its own: pending plays at their worst
    for how, restricted in steps:
        before = (agent.turns, agent.faults)
        play = agent.select([1.0, 2.0], allowed=[0, 2] if restricted and scores else None)
        assert play.reason in ("SLACK_OK", "SLACK_SHORT", "POLICY_FAULT", "DEFAULT_BEST")
        assert agent.turns - before[0] == (play.reason is not sf.Reason.SLACK_SHORT)
        assert agent.faults - before[1] >= (play.reason is sf.Reason.POLICY_FAULT)
        if not play.is_default:
            known -= least - low
            if how == "report":
                agent.update(play, low)
            elif how == "expire":
                agent.expire(play)
            elif how == "void":
                agent.void(play)
                known += least - low
        elif how != "keep":
            agent.update(play)
            known += Fraction(1, 2) - least
        worst = min(worst, known)
        assert agent.account.slack == known
    assert worst >= 0
