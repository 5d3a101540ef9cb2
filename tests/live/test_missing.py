"""What a play that expires teaches: its worst, until the true reward takes that back."""

import json
import random

import pytest

import surefoot as sf
from learners import Counter
from surefoot import KLUCB, UCB1, GenCB, LinUCB, Outcome, RewardFloor
from surefoot.errors import InvalidInput
from surefoot.live import Lease, MemoryStore
from surefoot.live.live import Live
from surefoot.testing._policies import alike
from verifying import proved


class Correctable(Counter):
    def correct(self, arm, old, new, context):
        self.learnt.append((arm, old, new, context))


def agent(policy=None, low=0, high=1):
    floor = RewardFloor((low + high) / 2, 0.5, (low, high), reserve=50)
    return GenCB(UCB1(2) if policy is None else policy, floor, 0, default_competes=False)


def taught(live):
    return live._engine.fold.agent.policy.state()


def told(live):
    """Of each arm, how many rewards it was told, and their sum."""
    return taught(live)["arms"][:2]


def opened(store, **settings):
    return Live(agent(), store, reward_window=60, **settings)


def told_at_once(rewards, like=None):
    """What the policy of an agent would know if each reward had come at once."""
    twin = (agent() if like is None else like).policy
    for arm, reward in rewards:
        twin.update(arm, reward, None)
    return twin.state()["arms"][:2]


def test_clicks_alone_do_not_make_a_bad_arm_look_good():
    """An arm of .1 was played 599 of 600 times against one of .9: it knew 53 of 53 successes."""
    now, chances = [0], random.Random(0)
    live = Live(
        agent(KLUCB(2)), MemoryStore(clock=lambda: now[0]), reward_window=60, learn_missing="worst"
    )
    counts = [0, 0]
    for _ in range(600):
        play = live.select()
        now[0] += 90_000_000
        if play.is_default:
            live.update(play)
            continue
        counts[play.index] += 1
        if chances.random() < (0.1, 0.9)[play.index]:
            live.update(play, 1)
        else:
            live.reap()
    assert counts[1] > 500, counts


@pytest.mark.parametrize("how", ["expire", "reap"])
def test_an_expiry_teaches_the_worst_and_a_late_reward_takes_its_place(how):
    now = [0]
    store = MemoryStore(clock=lambda: now[0])
    live = opened(store)
    play = live.select()
    if how == "expire":
        live.expire(play)
    else:
        now[0] = 61_000_000
        assert live.reap() == [play.id]
    assert told(live) == told_at_once([(0, 0.0)])
    assert live.expire(play) is Outcome.REPEATED
    assert told(live) == told_at_once([(0, 0.0)])
    assert live.update(play, 0.75) is Outcome.BOOKED_LATE
    assert told(live) == told_at_once([(0, 0.75)])
    assert live.update(play, 0.75) is Outcome.REPEATED
    proved(store)


def test_the_worst_is_that_of_the_range():
    live = Live(agent(low=-1, high=3), MemoryStore(), reward_window=60)
    live.expire(play := live.select())
    live.update(play, 1)
    assert told(live) == told_at_once([(0, 0.5)], agent(low=-1, high=3))
    linear = Live(agent(LinUCB([[1, 0], [0, 1]]), -1, 3), MemoryStore(), reward_window=60)
    linear.expire(play := linear.select())
    assert linear._engine.fold.agent.policy.theta_hat[0] == -0.5
    linear.update(play, 3)
    assert linear._engine.fold.agent.policy.theta_hat[0] == 1.5


def test_what_was_taught_is_taken_back_after_the_range_changed():
    policy = Correctable(2)
    live = Live(agent(policy, 0, 4), MemoryStore(), reward_window=60, learn_missing="worst")
    live.expire(play := live.select())
    live.change(reward_range=(-2, 4))
    live.expire(other := live.select())
    live.update(play, 1)
    live.update(other, 2)
    learnt = live._engine.fold.agent.policy.learnt
    assert learnt == [(0, 0.0, None), (1, -2.0, None), (0, 0.0, 1.0, None), (1, -2.0, 2.0, None)]


@pytest.mark.parametrize("closed", [False, True])
def test_recovery_from_entries_and_from_a_snapshot_teaches_the_same(closed):
    store = MemoryStore()
    live = opened(store)
    plays = [live.select() for _ in range(6)]
    for play in plays[:4]:
        live.expire(play)
    if closed:
        live.close()
        live = Live(None, store)
    live.update(plays[0], 1)
    again = Live(None, store)
    assert again.degraded is None
    assert taught(again) == taught(live)
    again.update(plays[1], 0.5)
    again.update(plays[5], 0.25)
    arms = [play.index for play in plays]
    rewards = 1, 0.5, 0, 0, None, 0.25
    pairs = [pair for pair in zip(arms, rewards, strict=True) if pair[1] is not None]
    assert told(again) == told_at_once(pairs)
    assert taught(again)["arms"][2] == [int(arm == arms[4]) for arm in range(2)]
    proved(store)


def test_a_play_keeps_what_its_expiry_teaches_when_the_setting_changes():
    store = MemoryStore()
    live = opened(store)
    first, second = live.select(), live.select()
    live.expire(first)
    live.change(learn_missing="skip")
    third = live.select()
    live.expire(second)  # decided while expiries taught
    live.expire(third)
    assert told(live) == told_at_once([(first.index, 0.0), (second.index, 0.0)])
    live.change(learn_missing="worst")
    for play in (first, second, third):
        assert live.update(play, 1) is Outcome.BOOKED_LATE
    arms = [(play.index, 1.0) for play in (first, second, third)]
    assert told(live) == told_at_once(arms)
    assert taught(Live(None, store)) == taught(live)


def test_another_experiments_reaper_teaches_as_well():
    now = [0]
    store = MemoryStore(clock=lambda: now[0])
    left = Live(agent(), store, "left", account="firm", reward_window=1)
    right = Live(agent(Counter(2)), store, "right", account="firm")
    play = left.select()
    now[0] = 2_000_000
    assert right.reap() == [play.id]
    left.update(play, 0.5)
    assert told(left) == told_at_once([(0, 0.5)])


def test_the_usual_setting():
    """The worst for a new experiment with a window whose policy can take it back; else nothing."""

    def setting(agent, **settings):
        return Live(agent, MemoryStore(), **settings).config["settings"]["learn_missing"]

    assert setting(agent(), reward_window=60) == "worst"
    assert setting(agent(), reward_window=60, learn_missing="skip") == "skip"
    assert setting(agent()) == "skip"
    assert setting(agent(), learn_missing="worst") == "worst"
    assert setting(agent(Counter(2)), reward_window=60) == "skip"
    assert setting(agent(Correctable(2)), reward_window=60) == "worst"
    assert setting(super_arms(), reward_window=60) == "skip"


def super_arms():
    policy = sf.C2UCB([[1, 0], [0, 1], [1, 1]], sf.TopK(2))
    return GenCB(policy, RewardFloor(1, 0.5, (0, 2), reserve=9), 0)


def test_the_worst_is_refused_where_it_could_not_be_taken_back():
    for policy, why in ((Counter(2), "no correct"), (None, "base rewards")):
        other = super_arms() if policy is None else agent(policy)
        with pytest.raises(InvalidInput, match=f"learn_missing = 'worst'.*{why}"):
            Live(other, MemoryStore(), learn_missing="worst")
        live = Live(other, MemoryStore())
        with pytest.raises(InvalidInput, match=why):
            live.change(learn_missing="worst")
        assert live.config["settings"]["learn_missing"] == "skip"
    with pytest.raises(InvalidInput, match="learn_missing = 'best' must be"):
        Live(agent(), MemoryStore(), learn_missing="best")


def test_experiments_of_before_keep_skipping(monkeypatch):
    """Their configuration has no such field, and none is asked for when they are opened again."""
    from surefoot.live import configuration

    store = MemoryStore()
    with monkeypatch.context() as old:
        old.setattr(configuration.Settings, "written", _without)
        old.setattr(
            configuration.Settings, "decided", lambda self, _: self._replace(learn_missing="skip")
        )
        live = opened(store)
    assert "learn_missing" not in next(iter(store.entries("default"))).payload["config"]["settings"]
    config = live.config
    for given in (agent(), config, json.loads(json.dumps(config)), None):
        again = Live(given, store, reward_window=60)
        again.expire(again.select())
        assert told(again) == told_at_once([])
    with pytest.raises(InvalidInput, match="learn_missing = 'worst' differs from 'skip'"):
        opened(store, learn_missing="worst")


def _without(self):
    return {"reward_window": self.reward_window, "shadow": self.shadow}


def test_an_experiment_is_opened_again_whatever_is_in_force():
    store = MemoryStore()
    opened(store)
    opened(store).change(learn_missing="skip")
    live = opened(store)
    live.expire(live.select())
    assert told(live) == told_at_once([])
    assert opened(store, learn_missing="skip").config == live.config


def test_a_policy_that_lost_its_correct_is_refused():
    store = MemoryStore()
    Live(agent(Correctable(2)), store, reward_window=60)

    class Counts(Counter):
        pass

    Counts.__name__ = "Correctable"
    with pytest.raises(InvalidInput, match="has no correct"):
        Live(agent(Counts(2)), store, reward_window=60)


def test_a_policy_that_cannot_take_it_is_booked_on():
    class Picky(Correctable):
        def correct(self, arm, old, new, context):
            raise RuntimeError("no")

    store = MemoryStore()
    live = Live(agent(Picky(2)), store, reward_window=60)
    live.expire(play := live.select())
    with pytest.raises(RuntimeError):
        live.update(play, 1)
    assert live.update(play, 1) is Outcome.REPEATED
    assert Live(agent(Picky(2)), store, reward_window=60).account == live.account


def leased(store, tmp_path, folder="journals", **settings):
    given = agent() if not store.accounts() else None
    lease = Lease(tmp_path / folder, plays=10, owner="w")
    return Live(given, store, reward_window=None if given is None else 60, lease=lease, **settings)


def local(live):
    return live._worker._local.agent.policy.state()["arms"][:2]


def test_under_a_lease_the_workers_copy_learns_too(tmp_path):
    store = MemoryStore()
    live = leased(store, tmp_path)
    play, other = live.select(), live.select()
    assert play.lease is not None
    live.expire(play)
    assert local(live) == told_at_once([(0, 0.0)])
    live.update(play, 0.75)
    live.expire(other)
    assert local(live) == told_at_once([(play.index, 0.75), (other.index, 0.0)])
    live.flush()
    assert told(live) == told_at_once([(play.index, 0.75), (other.index, 0.0)])
    live.update(other, 0.5)  # from the ledger: its copy has learned the expiry or not
    live.flush()
    pairs = [(play.index, 0.75), (other.index, 0.5)]
    assert told(live) == local(live) == told_at_once(pairs)
    live.close()
    assert told(Live(None, store)) == told_at_once(pairs)
    proved(store)


def test_a_late_reward_of_what_another_worker_expired_waits_for_the_flush(tmp_path):
    store = MemoryStore()
    live = leased(store, tmp_path)
    play = live.select()
    live.flush()
    live.select()  # a lease, and a copy that has heard of no expiry
    other = leased(store, tmp_path, "elsewhere")
    other.expire(play.id)
    other.flush()
    known = live._worker._own.pop(play.id)
    assert known.row.state == "open"
    assert live.update(play.id, 1) is Outcome.BOOKED_LATE
    assert local(live) == told_at_once([])
    live.flush()
    assert told(live) == told_at_once([(0, 1.0)])


def test_what_a_dead_worker_left_teaches_the_same(tmp_path):
    store = MemoryStore()
    live = leased(store, tmp_path)
    play, other = live.select(), live.select()
    live.expire(play)
    live.update(play, 0.5)
    live.expire(other)
    live._worker.abandon()
    again = leased(store, tmp_path)
    assert told(again) == told_at_once([(play.index, 0.5), (other.index, 0.0)])


def test_a_play_under_a_forfeited_lease_expires_and_teaches(tmp_path):
    now = [0]
    store = MemoryStore(clock=lambda: now[0])
    live = leased(store, tmp_path)
    play = live.select()
    now[0] = 3_600_000_000
    reaper = leased(store, tmp_path, "elsewhere")
    reaper.reap()
    live.flush()
    assert reaper.reap() == [play.id.split(".")[0]]
    assert live.update(play, 1) in (Outcome.BOOKED, Outcome.BOOKED_LATE)
    live.flush()
    assert told(live) == told_at_once([(0, 1.0)])
    proved(store)


def test_a_linear_policy_is_as_if_told_at_once_up_to_rounding():
    store = MemoryStore()
    rows = [[1.0, 0.2], [0.3, 1.0]]
    live = Live(agent(LinUCB(rows)), store, reward_window=60)
    twin = LinUCB(rows)
    for visit in range(40):
        play = live.select()
        if play.is_default:
            live.update(play)
            continue
        live.expire(play)
        live.update(play, reward := (visit % 5) / 4)
        twin.update(play.index, reward, None)
    assert alike(taught(live)["ridge"], twin.state()["ridge"])
