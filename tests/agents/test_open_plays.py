"""A policy is told which of its plays wait for their reward, and no play is counted for ever."""

import json
from collections import Counter as Tally

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import surefoot as sf
from learners import Counter, Least, Waiting
from surefoot import GenCB, Outcome, Plain, RewardFloor
from surefoot.agents.saving import _canonical, _digest
from surefoot.errors import InvalidInput, PlayConflict
from surefoot.policies.base import counts_open

ARMS = 3


def agent(policy=None, reserve=4):
    policy = Waiting(ARMS) if policy is None else policy
    return GenCB(policy, RewardFloor(0.5, 0.5, reserve=reserve), 0, default_competes=False)


class OpenPlays(RuleBasedStateMachine):
    """What the policy counts, beside a dictionary of the plays that wait."""

    def __init__(self):
        super().__init__()
        self.agent = agent()
        self.waiting, self.plays, self.rewards = {}, [], {}

    @property
    def policy(self):
        return self.agent.policy

    @rule(n=st.integers(1, 3), fails=st.sampled_from([None, None, "best", "opened"]))
    def decide(self, n, fails):
        if fails:
            self.policy.fails.add(fails)
        try:
            given = self.agent.select_many(n)
        except RuntimeError:
            return  # nothing was given out
        finally:
            self.policy.fails.clear()
        self.plays += given
        self.waiting |= {play.id: play.index for play in given if not play.is_default}

    @rule(data=st.data(), reward=st.sampled_from([0, 1]), fails=st.booleans())
    @precondition(lambda self: self.plays)
    def settle(self, data, reward, fails):
        play = data.draw(st.sampled_from(self.plays))
        reward = None if play.is_default else self.rewards.setdefault(play.id, reward)
        if fails:
            self.policy.fails.add("update")
        try:
            self.agent.update(play, reward)
        except RuntimeError:
            return  # booked and not learned: it waits for the repeat
        except PlayConflict:
            del self.rewards[play.id]
        finally:
            self.policy.fails.clear()
        self.waiting.pop(play.id, None)

    @rule(data=st.data(), how=st.sampled_from(["void", "fall_back", "expire"]))
    @precondition(lambda self: self.plays)
    def end(self, data, how):
        play = data.draw(st.sampled_from(self.plays))
        try:
            outcome = getattr(self.agent, how)(play)
        except PlayConflict:
            return
        if outcome is Outcome.BOOKED:
            self.waiting.pop(play.id, None)

    @rule(told=st.booleans())
    def save_and_load(self, told):
        body = json.loads(_canonical(sf.agents.saving.agent_to_json(self.agent)))
        if not told:  # as a release wrote it whose policies heard of no open play
            del body["lapsed"]
            state = {"dict": [["turn", 0], ["told", [0] * ARMS], ["open", [0] * ARMS]]}
            body["policy"]["state"] = state
            for play in self.waiting:  # its policy failed to learn: so it is not told again
                if self.agent.books.plays.get(play).state != "open":
                    return
        self.agent = sf.agents.saving.agent_from_json(body, Waiting(ARMS))

    @invariant()
    def what_waits_is_what_the_policy_counts(self):
        tally = Tally(self.waiting.values())
        assert self.policy.open == [tally[arm] for arm in range(ARMS)]


TestOpenPlays = OpenPlays.TestCase


def test_a_batch_is_of_as_many_arms_as_there_are():
    assert [play.arm for play in agent().select_many(6)] == [0, 1, 2, 0, 1, 2]
    assert [play.arm for play in Plain(Waiting(3)).select_many(4)] == [0, 1, 2, 0]


def test_a_default_that_is_the_best_opens_nothing():
    chosen = GenCB(Waiting(2), RewardFloor(0.9, 0.5, reserve=9), 0)
    chosen.update(chosen.select(), 1)
    plays = chosen.select_many(4)
    assert [play.reason for play in plays][-1] == "DEFAULT_BEST"
    assert sum(chosen.policy.open) == sum(not play.is_default for play in plays) < 4


def test_an_expiry_closes_and_its_late_reward_is_learned():
    one = agent()
    play = one.select()
    one.expire(play)
    assert (one.policy.open[0], one.policy.told[0]) == (0, 0)
    one.update(play, 1)
    one.update(play, 1)
    assert (one.policy.open[0], one.policy.told[0]) == (0, 1)


def test_a_context_comes_with_both():
    heard = []

    class Hears(Waiting):
        def opened(self, arm, context):
            heard.append(("opened", arm, context))

        def closed(self, arm, context):
            heard.append(("closed", arm, context))

    one = agent(Hears(2))
    one.void(one.select({"hour": 9}))
    assert heard == [("opened", 0, {"hour": 9}), ("closed", 0, {"hour": 9})]


def test_a_super_arm_comes_in_the_policys_numbers():
    heard = []

    class Hears(sf.C2UCB):
        def opened(self, arm, context):
            heard.append(arm)

        closed = opened

    policy = Hears([[1, 0], [0, 1], [1, 1]], sf.TopK(2), labels=["a", "b", "c"])
    one = GenCB(policy, RewardFloor(1, 0.5, (0, 2), reserve=9), 0)
    play = one.select()
    one.update(play, base_rewards=[1, 0])
    numbers = tuple("abc".index(label) for label in play.arm)
    assert heard == [numbers, numbers]


def test_who_is_told():
    class Half(Counter):
        def opened(self, arm, context): ...

    class Asks(Waiting):
        counts_open = False

    assert counts_open(Waiting(2))
    assert not any(map(counts_open, (Least(), Half(2), Asks(2))))
    one = agent(Asks(2))
    one.void(one.select())
    assert "lapsed" not in sf.agents.saving.agent_to_json(one)


def test_a_file_of_an_older_release_opens_what_waits(tmp_path):
    path = tmp_path / "old.json"
    one = agent(reserve=9)
    plays = one.select_many(5)
    one.expire(plays[0])
    one.update(plays[1], 1)
    one.save(path)
    document = json.loads(path.read_text())
    del document["body"]["lapsed"]
    fresh = {"dict": [["turn", 5], ["told", [0, 1, 0]], ["open", [0, 0, 0]]]}
    document["body"]["policy"]["state"] = fresh
    document["sha256"] = _digest(_canonical(document["body"]))
    path.write_text(json.dumps(document))
    again = sf.load(path, Waiting(ARMS))
    assert again.policy.open == one.policy.open == [1, 1, 1]
    for play in plays:
        again.update(play.id, 1)
    assert again.policy.open == [0, 0, 0]
    assert again.policy.told == [2, 2, 1]

    class Deaf(Waiting):
        def opened(self, arm, context):
            raise ValueError("no")

    Deaf.__name__ = "Waiting"
    with pytest.raises(InvalidInput, match=r"opened\(\) of your own Waiting fails on an open play"):
        sf.load(path, Deaf(ARMS))


def test_an_agent_that_counts_faults_goes_on_where_opening_fails():
    one = GenCB(Waiting(2), RewardFloor(0.5, 0.5, reserve=4), 0, False, "default")
    one.policy.fails.add("opened")
    first, second = one.select_many(2)
    assert (first.arm, one.faults, one.policy.open) == (0, 1, [1, 0])
    one.update(first, 1)
    one.expire(second)
    one.update(second, 1)
    assert (one.faults, one.policy.open, one.policy.told) == (1, [0, 0], [2, 0])
    assert one.lapsed == set()


@pytest.mark.parametrize("how", ["void", "fall_back", "expire"])
def test_a_repeat_closes_what_an_interrupt_left_open(how):
    one = agent()
    play = one.select()
    getattr(one.books, how)(play.id)  # booked, and then struck
    assert getattr(one, how)(play) is Outcome.REPEATED
    assert one.policy.open == [0, 0, 0]
    assert getattr(one, how)(play) is Outcome.REPEATED
    assert (play.id in one.open_plays) == (play.id in one.lapsed) == (how == "expire")
