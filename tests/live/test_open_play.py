from surefoot import UCB1, GenCB, LinUCB, RewardFloor
from surefoot.live import MemoryStore
from surefoot.live.live import Live
from surefoot.live.play import OpenPlay
from surefoot.policies import Ridge


def test_a_play_tells_again_what_its_policy_needs_to_learn():
    store = MemoryStore()
    rows = [[1.0, 0.5], [0.0, 1.0]]
    policy = LinUCB(rows, labels=["UA", "AA"], ridge=Ridge(feature_bound=2))
    agent = GenCB(policy, RewardFloor(0.5, 0.5, reserve=5))
    live = Live(agent, store)
    play = live.select(rows, allowed=["AA"])
    [entry] = store.entries("default", play.seq - 1)
    given = OpenPlay.of(entry, live._engine.fold.agent, own=True)
    assert (given.arm, given.number, given.action, given.context) == ("AA", 1, 1, rows)
    told = given.again()
    assert live._engine.fold.agent.actions.action(told["index"], told["arm"]) == 1
    assert OpenPlay.of(entry._replace(payload={**entry.payload, **told}), agent, own=True) == given
    assert OpenPlay.of(entry, agent, own=False).action is None


def test_a_default_has_no_action_of_the_policy():
    store = MemoryStore()
    live = Live(GenCB(UCB1(2), RewardFloor(0.5, 0.5)), store)
    play = live.select()
    [entry] = store.entries("default", play.seq - 1)
    given = OpenPlay.of(entry, live._engine.fold.agent, own=True)
    assert (given.explores, given.action, given.arm) == (False, -1, None)
