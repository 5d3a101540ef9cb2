"""What a lease is, and how the ledger opens, spends and closes it."""

import pytest

from leased import agent, kinds, opened
from surefoot.errors import InvalidInput
from surefoot.live import Lease, MemoryStore, ids, leases
from surefoot.live.live import Live
from verifying import proved

HOLD = 450_000_000


@pytest.mark.parametrize("given", [
    {"journal": ""}, {"journal": 1}, {"plays": 0}, {"plays": True}, {"plays": 1.5},
    {"seconds": 0}, {"seconds": None}, {"seconds": "soon"}, {"durable": 1}, {"owner": "a b"},
    {"owner": "x" * 17}, {"owner": 3},
])  # fmt: skip
def test_a_lease_that_makes_no_sense_is_one_error(tmp_path, given):
    with pytest.raises(InvalidInput, match=next(iter(given))):
        Lease(**{"journal": tmp_path, **given})


def step(play, lease, hold=HOLD, kind="decision.held"):
    """As a worker's journal has it."""
    told = {
        "reason": "SLACK_OK", "turn": 1, "request": "r", "deadline": None, "pending": 0,
        "unreported": 0, "choice": None, "value": 500_000_000, "floor": HOLD, "hold": hold,
        "deposit": 50_000_000, "arm": 0, "index": 0, "low": 0, "high": 10**9, "score": None,
        "lease": lease, "unspent": 10 * HOLD,
    }  # fmt: skip
    return {"kind": kind, "play": play, "payload": told, "version": 1}


def transacted(live, work):
    def run(tx):
        live._engine.current(tx)
        return work(tx)

    return live._engine.run(run)


def granted(live, folder, plays=10):
    settings = Lease(folder, plays=plays)
    return transacted(live, lambda tx: leases.grant(tx, live._engine, settings, "w", HOLD))


def test_a_lease_is_for_as_many_plays_as_asked(tmp_path):
    live = Live(agent(), MemoryStore())
    lease = granted(live, tmp_path)
    assert (lease.amount, lease.unspent) == (10 * HOLD, 10 * HOLD)
    assert live.account.held == 4.5


@pytest.mark.parametrize(("reserve", "most"), [(3.5, None), (3.6, 900_000_000), (4, 10**9)])
def test_there_is_none_before_a_fourth_of_the_account_pays_for_two(tmp_path, reserve, most):
    live = Live(agent(reserve=reserve), MemoryStore())
    lease = granted(live, tmp_path)
    assert (lease and lease.amount) == most


def test_what_is_left_is_given_back(tmp_path):
    store = MemoryStore()
    live = Live(agent(), store)
    lease = granted(live, tmp_path)
    transacted(live, lambda tx: leases.enter_steps(tx, live._engine, [(step("a", lease.id), None)]))
    transacted(live, lambda tx: leases.give_back(tx, live._engine, "w"))
    assert store.account("default").held == HOLD
    transacted(live, lambda tx: leases.give_back(tx, live._engine, "w"))
    assert kinds(store).count("lease.returned") == 1
    proved(store)


def test_a_step_is_entered_once(tmp_path):
    store = MemoryStore()
    live = Live(agent(), store)
    lease = granted(live, tmp_path)
    steps = [step("a", lease.id), {"play": "a", "lease": lease.id, "how": "settle", "told": "1"}]
    for _ in range(3):
        transacted(
            live, lambda tx: leases.enter_steps(tx, live._engine, [(each, None) for each in steps])
        )
    assert kinds(store)[-2:] == ["decision.held", "outcome.settled"]


def test_a_taken_id_is_entered_under_another_name_and_only_once(tmp_path):
    store = MemoryStore()
    live = Live(agent(), store)
    lease = granted(live, tmp_path)
    live.select(id="a")
    steps = [step("a", lease.id), {"play": "a", "lease": lease.id, "how": "settle", "told": "1"}]
    for _ in range(2):
        twins = transacted(
            live, lambda tx: leases.enter_steps(tx, live._engine, [(each, None) for each in steps])
        )
        assert twins == {"a": ids.twin_id("a", lease.id)}
    assert kinds(store)[-2:] == ["decision.held", "outcome.settled"]
    assert store.play("default", ids.twin_id("a", lease.id)).state == "settled"
    assert store.play("default", "a").state == "open"
    proved(store)


def test_a_report_whose_decision_was_lost_is_kept_and_not_booked(tmp_path):
    """As after a power cut; by then the id may have been given out again."""
    store = MemoryStore()
    live = Live(agent(reserve=0), store)
    live.select(id="a")
    told = {"play": "a", "lease": "w-9", "how": "settle", "told": "1"}
    transacted(live, lambda tx: leases.enter_steps(tx, live._engine, [(told, None)]))
    [entry] = [entry for entry in store.entries("default") if entry.kind == "assumption.broken"]
    assert (entry.payload["play"], entry.payload["told"]) == ("a.w-9", "1")
    assert store.play("default", "a").state == "open"
    assert store.account("default").posted == 0


def test_overdue_leases_are_forfeited_whoever_asks(tmp_path):
    now = [10**15]
    store = MemoryStore(lambda: now[0])
    live = opened(store, tmp_path)
    live.select()
    live.flush()
    boss = Live(None, store)
    now[0] += 60 * 10**6
    boss.reap()
    assert "lease.forfeited" not in kinds(store)
    now[0] = 10**15 + 10**9
    live.reap()  # its own lease it gives back
    assert "lease.forfeited" not in kinds(store)
    boss.reap()
    assert kinds(store).count("lease.forfeited") == 1
    assert float(boss.account.slack) == 100 - 4.5 - 0.45
    proved(store)


def test_a_clock_that_jumps_costs_exploration_and_not_the_promise(tmp_path):
    now = [10**15]
    store = MemoryStore(lambda: now[0])
    live, boss = opened(store, tmp_path), Live(None, store)
    for days in (30, -60, 31, -1):
        for _ in range(5):
            live.update(live.select(), 0)
        now[0] += days * 86_400 * 10**6
        boss.reap()
        assert live.account.slack >= 0
    live.close()
    assert proved(store)["explorations"] == 20
