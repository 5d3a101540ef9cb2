"""Several decisions in one commit are what as many single ones are."""

import pytest

from leased import Clock, agent, kinds, opened
from live.postgres import database, postgres  # noqa: F401  (fixtures)
from surefoot.errors import InvalidInput, PlayConflict, StoreUnavailable
from surefoot.live import Live, MemoryStore, open_store
from surefoot_torture.faults.store import Faulty
from verifying import proved


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def address(request, tmp_path):
    if request.param == "postgres":
        return request.getfixturevalue("database")
    return ":memory:" if request.param == "memory" else str(tmp_path / "shop.db")


def test_the_ledger_is_that_of_single_decisions(address):
    lives = [
        Live(agent(), open_store(where, clock=Clock()), reward_window=60)
        for where in (address, ":memory:")
    ]
    asked = [{"id": f"v-{n}"} if n % 3 else {"allowed": [0, 2]} for n in range(30)]
    many = lives[0].select_many(asked)
    one = [lives[1].select(**each) for each in asked]
    assert many == one
    assert [play.seq for play in many] == [play.seq for play in one]
    lives[0].update(many[0], 1)
    lives[1].update(one[0], 1)
    lives[0].select_many(4)
    for _ in range(4):
        lives[1].select()
    heads = [live.store.account("default").head for live in lives]
    assert heads[0] == heads[1]
    proved(lives[0].store)
    for live in lives:
        live.close()
        live.store.close()


def test_it_is_one_commit_in_the_order_asked_for(tmp_path):
    store = Faulty(MemoryStore())
    live = Live(agent(), store)
    before = store.commits
    first, second, again = live.select_many([{"id": "b"}, {"id": "a"}, {"id": "b"}])
    assert store.commits == before + 1
    assert (first.id, second.id, again) == ("b", "a", first)
    assert live.select_many([{"id": "c"}, {"id": "a"}])[1] == second
    assert live.select(id="c").id == "c"
    assert live.select_many([]) == live.select_many(0) == []
    assert store.commits == before + 3  # the repeat above is a transaction, too


@pytest.mark.parametrize("leased", [False, True])
def test_a_conflict_or_a_bad_request_decides_nothing(tmp_path, leased):
    store = MemoryStore()
    live = opened(store, tmp_path) if leased else Live(agent(), store)
    live.select(id="taken")
    live.flush()
    entries, books = len(kinds(store)), live.account
    other = {"id": "taken", "allowed": [0]}
    for bad, error in (
        ([{"id": "new"}, other], PlayConflict),
        ([{"id": "new"}, {"id": "new", "allowed": [0]}], PlayConflict),
        ([{"id": "new"}, {"allowed": ["nobody"]}], InvalidInput),
        ([{"id": "new"}, {"context": [1.0]}], InvalidInput),
        ([{"id": "new"}, {"default": "much"}], InvalidInput),
        ([{"id": "new"}, {"id": "p-7"}], InvalidInput),
        ([{"id": "new"}, {"reward": 1}], InvalidInput),
        ([{"id": "new"}, "other"], InvalidInput),
        ({"id": "new"}, InvalidInput),
        (-1, InvalidInput),
        (True, InvalidInput),
        (None, InvalidInput),
    ):
        with pytest.raises(error):
            live.select_many(bad)
        live.flush()
    assert [kind for kind in kinds(store)[entries:] if not kind.startswith("lease.")] == []
    assert live.account == books
    assert live.select(id="new").id.partition(".")[0] == "new"


def test_a_policy_that_fails_at_the_second_leaves_nothing_of_the_first():
    from learners import Scripted
    from surefoot import GenCB, RewardFloor

    given = GenCB(Scripted(2, (0, 0.5), KeyError("x"), (1, 0.5)), RewardFloor(0.5, 0.5, reserve=9))
    live = Live(given, MemoryStore())
    with pytest.raises(KeyError):
        live.select_many([{"id": "a"}, {"id": "b"}])
    assert "decision.held" not in kinds(live.store)
    assert live.account.pending == 0


def test_an_answer_that_is_lost_is_asked_for_again():
    store = Faulty(MemoryStore())
    live = Live(agent(), store)
    asked = [{"id": f"v-{n}"} for n in range(5)]
    store.break_at(1, kept=True)
    with pytest.raises(StoreUnavailable):
        live.select_many(asked)
    plays = live.select_many(asked)
    assert kinds(store).count("decision.held") == 5
    assert live.select_many(asked) == plays


def test_under_a_lease_they_are_one_write_to_the_journal(tmp_path):
    store = Faulty(MemoryStore())
    live = opened(store, tmp_path, plays=20)
    live.select()
    before, lines = store.commits, len(live._worker._journal.steps())
    plays = live.select_many([{"id": f"v-{n}"} for n in range(6)])
    assert store.commits == before
    assert len(live._worker._journal.steps()) == lines + 6
    assert [play.lease for play in plays] == [plays[0].lease] * 6
    assert live.select(id="v-3") == plays[3]
    assert live.select_many([{"id": "v-3"}, {"id": "v-5"}]) == [plays[3], plays[5]]
    live._worker.abandon()
    opened(store, tmp_path).close()
    assert kinds(store).count("decision.held") == 7
    proved(store)


def test_more_than_a_lease_covers_is_decided_by_the_account(tmp_path):
    store = MemoryStore()
    live = opened(store, tmp_path, plays=3)
    live.select()
    plays = live.select_many(12)
    assert [play.lease for play in plays] == [None] * 12
    assert not any(play.is_default for play in plays)
    assert live.select().lease is not None
    live.close()
    assert proved(store)["explorations"] == 14


def test_the_same_entries_under_a_lease(tmp_path, monkeypatch):
    monkeypatch.setattr("surefoot.live.worker.fresh", lambda: "same")
    monkeypatch.setattr("surefoot.live.flushing.monotonic", lambda: 0.0)
    heads = []
    for folder in ("many", "one"):
        live = opened(MemoryStore(clock=Clock()), tmp_path / folder, plays=50)
        if folder == "many":
            live.select_many([{"id": f"v-{n}"} for n in range(8)])
        else:
            for n in range(8):
                live.select(id=f"v-{n}")
        live.close()
        heads.append(live.store.account("default").head)
    assert heads[0] == heads[1]
