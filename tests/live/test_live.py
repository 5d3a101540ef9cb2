"""A live agent decides and books what the agent in a process of its own does."""

import copy
import pickle
import random
import threading
from decimal import Decimal

import numpy as np
import pytest

from learners import Counter, Softmax
from surefoot import (
    C2UCB,
    KLUCB,
    MVUCB,
    UCB1,
    ConUCB,
    GenCB,
    LinUCB,
    MeanVarianceFloor,
    Outcome,
    Plain,
    RewardFloor,
    TopK,
)
from surefoot.errors import InvalidInput, PlayConflict, RewardOutOfRange, UnknownPlay
from surefoot.live import Lease, MemoryStore
from surefoot.live.live import Live
from surefoot.live.store import open_store
from verifying import proved


def agent(policy=None, floor=None, **options):
    return GenCB(policy or UCB1(3), floor or RewardFloor(0.5, 0.1), seed=1, **options)


def same(play, live):
    ours = (play.arm, play.index, play.reason, play.slack, play.worst_case, play.choice, play.turn)
    inner = live.play
    theirs = (live.arm, live.index, live.reason, live.slack, live.worst_case, inner.choice)
    assert ours == (*theirs, inner.turn)
    assert (play.terms, play.pending, play.unreported, play.held) == (
        inner.terms, inner.pending, inner.unreported, inner.held,
    )  # fmt: skip


CASES = {
    "constant": (agent, lambda rng: None, lambda rng: None),
    "printed": (lambda: agent(default_competes=False), lambda rng: None, lambda rng: None),
    "labels": (lambda: agent(KLUCB(arms=["UA", "AA"])), lambda rng: None, lambda rng: None),
    "reserve": (
        lambda: agent(floor=RewardFloor(0.5, 0.1, reserve=2)),
        lambda rng: None,
        lambda rng: None,
    ),
    "per play": (
        lambda: agent(floor=RewardFloor(None, 0.25)),
        lambda rng: None,
        lambda rng: rng.choice([0.3, 0.5, (0.25, 0.75)]),
    ),
    "realised": (
        lambda: agent(floor=RewardFloor((0.5, 0.75), 0.25)),
        lambda rng: None,
        lambda rng: None,
    ),
    "fixed": (
        lambda: agent(floor=RewardFloor((0.5, 0.6), 0.25, against="fixed", target=0.6)),
        lambda rng: None,
        lambda rng: None,
    ),
    "own policy with randomness and contexts": (
        lambda: agent(Softmax(3, 2)),
        lambda rng: np.array([rng.random(), 1.0]),
        lambda rng: None,
    ),
    "linear": (
        lambda: agent(LinUCB(arms=np.eye(2))),
        lambda rng: None,
        lambda rng: None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_decisions_and_books_as_in_process(case):
    make, contexts, defaults = CASES[case]
    rng = random.Random(7)
    inner, store = make(), MemoryStore()
    live = Live(make(), store)
    waiting = []
    for turn in range(150):
        context, default = contexts(rng), defaults(rng)
        play, given = inner.select(context, default=default), live.select(context, default=default)
        same(play, given)
        waiting.append((play, given))
        rng.shuffle(waiting)
        while len(waiting) > rng.randrange(6):
            play, given = waiting.pop()
            reward = None if play.is_default else float(rng.random() < 0.8)
            assert inner.update(play, reward) == live.update(given.id, reward)
        assert inner.account == live.account
        if turn % 40 == 20:  # as after a crash: nothing is closed
            live = Live(make(), store)
            assert live.degraded is None
    assert live.account.explorations > 10
    proved(store)


def test_super_arms_learn_from_their_base_rewards():
    X = np.eye(4)

    def make():
        policy = C2UCB(base_arms=X, oracle=TopK(2))
        return agent(policy, RewardFloor(1, 0.25, reward_range=(0, 2)))

    rng, inner, store = random.Random(3), make(), MemoryStore()
    live = Live(make(), store)
    for turn in range(60):
        play, given = inner.select(), live.select()
        same(play, given)
        if play.is_default:
            assert inner.update(play) == live.update(given)
            continue
        base = [rng.random() for _ in play.arm]
        with pytest.raises(InvalidInput, match=f"play {given.id} is the super arm"):
            live.update(given, reward=1.0)
        reward = 0.5 if turn % 3 == 0 else None
        assert inner.update(play, reward, base) == live.update(given, reward, base)
        assert live.update(given, reward, base) is Outcome.REPEATED
        if turn % 20 == 10:
            live = Live(None, store)
    assert inner.account == live.account
    simple = Live(agent(floor=RewardFloor(0.5, 0.1, reserve=1)), MemoryStore())
    play = simple.select()
    with pytest.raises(InvalidInput, match="it is no super arm"):
        simple.update(play, base_rewards=[1])


def test_a_lost_answer_is_asked_for_again_by_its_id():
    store = MemoryStore()
    seen, unseen = np.eye(3).tolist(), (np.eye(3) / 2).tolist()
    live = Live(agent(LinUCB(np.eye(3)), RewardFloor(0.5, 0.1, reserve=1)), store)
    play = live.select(seen, allowed=[2, 1], id="visit-7")
    assert not play.is_default
    assert live.select(seen, allowed=[1, 2, 2], id="visit-7") == play
    assert Live(None, store).select(seen, allowed=[1, 2], id="visit-7") == play
    for other in [(unseen, [1, 2], None), (seen, [1], None), (seen, [1, 2], 1)]:
        with pytest.raises(PlayConflict, match="another request"):
            live.select(*other, id="visit-7")
    assert live.account.plays == 1
    live.update("visit-7", 1)
    assert live.select(seen, allowed=[1, 2], id="visit-7") == play  # settled since


@pytest.mark.parametrize("bad", ["", "a b", "x" * 65, "ü", 7, "p-3"])
def test_an_id_is_a_short_word_of_the_callers_own(bad):
    live = Live(agent(), MemoryStore())
    before = live.account
    with pytest.raises(InvalidInput, match="id = "):
        live.select(id=bad)
    assert live.account == before


def test_an_identical_outcome_is_nothing_new_and_another_is_refused():
    live = Live(agent(floor=RewardFloor(0.5, 0.1, reserve=5)), MemoryStore())
    first, second = live.select(), live.select()
    live.update(first, 0.5)
    after = live.account
    assert live.update(first, Decimal("0.50")) is Outcome.REPEATED
    assert live.expire(first) is live.void(first) is Outcome.IGNORED
    for contradiction in (lambda: live.update(first, 0.6), lambda: live.fall_back(first)):
        with pytest.raises(PlayConflict, match=f"play {first.id} is settled"):
            contradiction()
    live.void(second)
    assert live.void(second) is Outcome.REPEATED
    with pytest.raises(PlayConflict, match="void"):
        live.update(second, 1)
    assert live.account.earned == after.earned


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "1", True and [1], None])
def test_a_reward_that_is_no_number_changes_nothing(bad):
    store = MemoryStore()
    live = Live(agent(floor=RewardFloor(0.5, 0.1, reserve=5)), store)
    play = live.select()
    before = store.account("default")
    with pytest.raises(InvalidInput, match="reward"):
        live.update(play, bad)
    assert store.account("default") == before
    assert live.update(play, 1) is Outcome.BOOKED


def test_rewards_outside_the_range():
    store = MemoryStore()
    live = Live(agent(floor=RewardFloor(0.5, 0.1, reserve=5)), store)
    high, low = live.select(), live.select()
    with pytest.warns(RewardOutOfRange, match=high.id):
        assert live.update(high, 7) is Outcome.CAPPED
    assert live.account.earned == 1
    assert Live(None, store).acknowledge(high) is Outcome.BOOKED
    assert live.acknowledge(high) is Outcome.IGNORED
    assert live.account.earned == 7
    with pytest.warns(RewardOutOfRange):
        assert live.update(low, -20) is Outcome.BREACH
    assert live.account.slack < 0
    assert live.account.breaches == 1
    assert live.select().reason == "SLACK_SHORT"


@pytest.mark.parametrize("id", ["nobody", "p-99", 3, None])
def test_a_play_that_nobody_made(id):  # noqa: A002
    live = Live(agent(), MemoryStore())
    for report in (live.update, live.expire, live.void, live.fall_back, live.acknowledge):
        with pytest.raises(UnknownPlay):
            report(id)


@pytest.mark.parametrize(
    ("given", "options", "field"),
    [
        (GenCB(UCB1(3), RewardFloor(0.5, 0.2)), {}, "floor.alpha"),
        (GenCB(UCB1(3), RewardFloor(0.6, 0.1)), {}, "floor.default"),
        (GenCB(UCB1(4), RewardFloor(0.5, 0.1)), {}, "arms"),
        (GenCB(UCB1(3, c=1.0), RewardFloor(0.5, 0.1)), {}, "policy.c"),
        (GenCB(KLUCB(3), RewardFloor(0.5, 0.1)), {}, "policy"),
        (GenCB(UCB1(3), RewardFloor(0.5, 0.1), default_competes=False), {}, "default_competes"),
        (GenCB(UCB1(3), RewardFloor(0.5, 0.1)), {"reward_window": 60}, "reward_window"),
        (GenCB(UCB1(3), RewardFloor(0.5, 0.1)), {"shadow": True}, "shadow"),
        (GenCB(UCB1(3), RewardFloor(0.5, 0.1, places=6)), {}, "places"),
    ],
)
def test_another_configuration_is_an_error_that_names_the_field(given, options, field):
    store = MemoryStore()
    Live(agent(), store).select()
    before = store.account("default")
    with pytest.raises(InvalidInput, match=field.replace(".", r"\.")):
        Live(given, store, **options)
    assert store.account("default") == before


def test_the_store_wins_over_the_agent_given():
    store = MemoryStore()
    live = Live(agent(), store)
    live.change(alpha=0.25)
    again = Live(agent(), store)  # the agent it was opened with is not another one
    assert again.select().play.terms.deposit == 125_000_000
    assert Live(GenCB(UCB1(3), RewardFloor(0.5, 0.25)), store).degraded is None


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (Plain(UCB1(2)), "give a GenCB"),
        (ConUCB(2, 0.5, 0.1), "give a GenCB"),
        (UCB1(2), "give a GenCB"),
        (GenCB(MVUCB(2, rho=1), MeanVarianceFloor(0.5, 0.1, rho=1)), "only RewardFloor itself"),
        (GenCB(UCB1(2), RewardFloor(0.5, 0.1, checkpoint=5)), "checkpoint = 5"),
        (GenCB(UCB1(2), RewardFloor(0.5, 0.1, places=12)), "places = 12"),
    ],
)
def test_what_cannot_go_live(given, why):
    with pytest.raises(InvalidInput, match=why):
        Live(given, MemoryStore())


def test_an_agent_that_played_before_and_one_that_learned_before():
    played = agent()
    played.select()
    with pytest.raises(InvalidInput, match="has made 1 plays"):
        Live(played, MemoryStore())
    learned = agent(floor=RewardFloor(0.5, 0.1, reserve=1))
    for arm in range(3):
        learned.policy.best(None, None)
        learned.policy.update(arm, float(arm == 1), None)
    live = Live(learned, MemoryStore())  # warm: history informs, and credits nothing
    assert live.account.earned == 0
    assert live.select().arm == 1


def test_without_an_agent_there_has_to_be_an_experiment():
    store = MemoryStore()
    with pytest.raises(InvalidInput, match="no such experiment"):
        Live(None, store)
    Live(agent(), store)
    with pytest.raises(InvalidInput, match="name = 'other'"):
        Live(None, store, "other", account="default")


def test_two_lives_on_one_store_take_in_what_the_other_did():
    store, inner = MemoryStore(), agent()
    lives = [Live(agent(), store), Live(None, store)]
    rng = random.Random(5)
    for _ in range(100):
        play, given = inner.select(), rng.choice(lives).select()
        same(play, given)
        reward = None if play.is_default else 1.0
        assert inner.update(play, reward) == rng.choice(lives).update(given, reward)
    assert lives[0].account == lives[1].account == inner.account


@pytest.mark.parametrize("target", [":memory:", "ledger.db"])
def test_threads_share_a_live(target, tmp_path):
    with open_store(target if target == ":memory:" else tmp_path / target) as store:
        live = Live(agent(floor=RewardFloor(0.5, 0.1, reserve=2)), store)

        def visit():
            for _ in range(20):
                play = live.select()
                live.update(play, None if play.is_default else 0.0)

        threads = [threading.Thread(target=visit) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        statement = live.account
        assert (statement.plays, statement.pending, statement.unreported) == (160, 0, 0)
        assert 0 <= statement.slack < Decimal("0.45") + 8 * Decimal("0.05")
        report = proved(store)
        assert report["decisions"] == 160
        assert report["violations"] == 0


def test_a_file_is_gone_on_with_and_closed_by_whoever_opened_it(tmp_path):
    inner = agent()
    for part in range(4):
        with Live(agent() if part % 2 == 0 else None, tmp_path / "ledger.db") as live:
            for _ in range(15):
                play, given = inner.select(), live.select()
                same(play, given)
                reward = None if play.is_default else 1
                assert inner.update(play, reward) == live.update(given, reward)
            assert inner.account == live.account


def test_a_play_explains_itself_as_in_process():
    inner, live = agent(), Live(agent(), MemoryStore())
    for _ in range(20):
        play, given = inner.select(), live.select()
        told = inner.explain(play).split(" ", 2)[2]
        assert live.explain(given) == live.explain(given.id) == f"Play {given.id} {told}"
        reward = None if play.is_default else 1
        inner.update(play, reward)
        live.update(given, reward)


def test_a_policy_that_cannot_learn_a_reward_has_it_booked_all_the_same():
    class Deaf(Counter):
        def update(self, arm, reward, context):
            raise RuntimeError("deaf")

    store = MemoryStore()
    live = Live(agent(Deaf(2), RewardFloor(0.5, 0.1, reserve=1)), store)
    play = live.select()
    with pytest.raises(RuntimeError, match="deaf"):
        live.update(play, 1)
    assert live.account.earned == 1
    assert live.update(play, 1) is Outcome.REPEATED


def test_several_experiments_share_one_account():
    store = MemoryStore()
    left = Live(agent(floor=RewardFloor(0.5, 0.1, reserve=1)), store, "left", account="firm")
    right = Live(agent(UCB1(2), RewardFloor(0.4, 0.25)), store, "right", account="firm")
    rng, lives, plays = random.Random(2), [left, right], 0
    for _ in range(200):
        live = rng.choice(lives)
        play = live.select()
        plays += live is left
        live.update(play, None if play.is_default else float(rng.random() < 0.3))
    assert left.account.slack == right.account.slack >= 0
    assert left.account.plays == plays
    parts = [live.account.earned - live.account.required for live in lives]
    assert left.account.slack == left.account.reserve + sum(parts)
    stranger = right.select()
    with pytest.raises(UnknownPlay, match="'left'"):
        left.update(stranger)
    assert Live(None, store, "left", account="firm").account == left.account
    proved(store, "firm")


def test_a_live_says_whose_ledger_it_is_and_asks_nobody(tmp_path, monkeypatch):
    path = tmp_path / "shop.db"
    store = open_store(path)
    rich = agent(floor=RewardFloor(0.5, 0.1, reserve=99))
    leased = Live(rich, store, "colour", account="shop", lease=Lease(journal=tmp_path / "j"))
    start = f"Live('colour', account='shop', store=SQLiteStore({str(path)!r}), lease="
    assert repr(leased) == f"{start}None)"
    leased.update(leased.select(), 1)
    for name in ("transact", "account", "entries", "play"):
        monkeypatch.setattr(store, name, None)
    assert repr(leased).startswith(f"{start}'w-")
    leased._engine.degraded = "x"
    assert repr(leased).endswith(", degraded='x')")
    monkeypatch.undo()
    leased._engine.degraded = None
    leased.close()
    assert repr(leased) == f"{start}None, closed)"
    store.close()
    assert repr(leased) == f"{start}None, closed)"


@pytest.mark.parametrize("how", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_live_is_neither_pickled_nor_copied(how):
    with pytest.raises(InvalidInput, match=r"open one of your own: Live\(None, store, 'default'\)"):
        how(Live(agent(), MemoryStore()))


@pytest.mark.parametrize("how", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_store_is_neither_pickled_nor_copied(how, tmp_path):
    for store in (MemoryStore(), open_store(tmp_path / "shop.db")):
        with store, pytest.raises(InvalidInput, match="store belongs to the process that opened"):
            how(store)
