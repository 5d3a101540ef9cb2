"""Plays held out of a live experiment: drawn by the play, the same for every worker, and proved."""

import json

import pytest

from ledgers import rechained
from surefoot import KLMS, UCB1, GenCB, Outcome, RewardFloor
from surefoot.agents.draws import own_key
from surefoot.agents.holdout import HELD
from surefoot.errors import InvalidInput
from surefoot.kernels import uniform
from surefoot.live import Lease, MemoryStore, fold
from surefoot.live.entries import exported
from surefoot.live.live import Live
from surefoot.live.play import LivePlay
from surefoot.verifier import verify
from verifying import proved

FLOOR = RewardFloor(0.5, 0.2, reserve=10)


def agent(policy=None, **settings):
    return GenCB(policy or UCB1(2), FLOOR, seed=3, **settings)


@pytest.fixture
def store():
    return MemoryStore()


def held_out(play):
    return play.reason == "HOLDOUT"


@pytest.mark.parametrize("policy", [UCB1, KLMS])
def test_it_is_the_agent_of_one_process_play_for_play(store, policy):
    live, twin = Live(agent(policy(3)), store, holdout=0.3), agent(policy(3), holdout=0.3)
    for visit in range(120):
        play, other = live.select(), twin.select()
        assert (play.arm, play.reason, play.propensity) == (
            other.arm, other.reason, other.propensity,
        )  # fmt: skip
        for one, given in ((live, play), (twin, other)):
            one.update(given, visit % 3 > 0)
        if visit == 60:
            live = Live(None, store)
    assert live.account.mismatches == twin.account.mismatches
    proved(store)


def test_the_share_may_come_with_the_agent_and_is_said_once(store):
    live = Live(agent(holdout=0.25), store)
    assert live.config["settings"]["holdout"] == "0.25"
    with pytest.raises(InvalidInput, match=r"holdout = 0\.3 differs from the agent's own, 0\.25"):
        Live(agent(holdout=0.25), MemoryStore(), holdout=0.3)
    for given in ({"holdout": 0.25}, {}):
        Live(None, store, **given).close()
    with pytest.raises(InvalidInput, match=r"holdout = '0\.3' differs from '0\.25'"):
        Live(None, store, holdout=0.3)
    with pytest.raises(InvalidInput, match=r"holdout = '0\.3' differs from '0\.25'"):
        Live(agent(), store, holdout=0.3)
    assert Live(live.config, MemoryStore()).config == live.config
    for wrong in (0, 1, -0.5, "much", float("nan")):
        with pytest.raises(InvalidInput, match="holdout"):
            Live(agent(), MemoryStore(), holdout=wrong)
    assert "holdout" not in Live(agent(), MemoryStore()).config["settings"]


def test_it_may_change_and_a_repeat_changes_nothing(store):
    live = Live(agent(), store)
    assert not any(held_out(live.select()) for _ in range(40))
    for _ in range(2):
        live.change(holdout=0.9)
    assert sum(held_out(play) for play in live.select_many(40)) > 25
    live.pause()
    assert {play.reason for play in live.select_many(20)} == {"PAUSED"}
    live.resume()
    live.change(holdout=None)
    assert not any(held_out(play) for play in live.select_many(40))
    assert "holdout" not in live.config["settings"]
    kinds = [entry.kind for entry in store.entries("default")]
    assert kinds.count("experiment.configured") == 2
    proved(store)


def test_one_id_is_drawn_alike_by_every_worker_and_by_whoever_reads_the_ledger(store, tmp_path):
    Live(agent(), store, holdout=0.4).close()
    leased = [Live(None, store, lease=Lease(tmp_path / w, plays=5)) for w in "ab"]
    plain, seen = Live(None, store), {}
    for visit in range(60):
        own = f"visit-{visit}" if visit % 3 else None
        plays = [live.select(id=own) for live in (*leased, plain)]
        seen.update({play.id: held_out(play) for play in plays})
        if own is not None:
            assert len({held_out(play) for play in plays}) == 1
        for live, play in zip((*leased, plain), plays, strict=True):
            live.update(play, visit % 2)
    for live in leased:
        live.close()
    key, number, names = own_key(agent().rng), 0, set()
    for entry in store.entries("default"):
        if entry.kind in ("decision.held", "decision.defaulted"):
            own = entry.payload.get("asked", entry.play)
            turn = number if own.startswith("p-") else fold._number(own)
            drawn = uniform(key, turn, HELD) < 0.4
            assert drawn == (entry.payload["reason"] == "HOLDOUT")
            number, names = number + 1, names | {entry.play}
    assert len(names) == number > 60
    assert 0.2 < sum(seen.values()) / len(seen) < 0.6
    proved(store)


def test_what_a_held_out_play_paid_is_no_mismatch_however_late(store):
    clock = iter(range(0, 10**12, 10**6))
    store = MemoryStore(clock=lambda: next(clock))
    live = Live(agent(), store, holdout=0.5, reward_window=1e-6)
    held = [play for play in live.select_many(60) if held_out(play)]
    live.update(held[0], 1)
    live.reap()
    for play in held[1:]:
        assert live.update(play, 0) is Outcome.BOOKED  # it had been forgotten
    live.pause()
    live.update(live.select(), 1)
    assert live.account.mismatches == 1  # the pause's
    assert live.monitor().told == len(held) + 1
    assert live.account == Live(None, store).account
    proved(store)


def test_in_shadow_the_default_is_certain(store):
    live = Live(agent(KLMS(2)), store, shadow=True)
    assert live.select().propensity == 1.0
    live.change(shadow=False)
    for _ in range(6):
        play = live.select()
        live.update(play, 1)
    assert 0 < play.propensity < 1
    form = json.loads(json.dumps(play.to_json()))
    assert LivePlay.from_json(form) == play
    assert LivePlay.from_json(form).propensity == play.play.propensity
    del form["play"]["propensity"]  # as earlier releases said it
    assert LivePlay.from_json(form).propensity is None
    for wrong in ("0", "2", "nan", "x", None, 1):
        form["play"]["propensity"] = wrong
        with pytest.raises(InvalidInput):
            LivePlay.from_json(form)


def _rows(store):
    row = store.account("default")
    return [json.loads(line) for line in exported("default", row.places, store.entries("default"))]


@pytest.mark.parametrize("how", ["explores", "arm", "without", "hidden", "propensity"])
def test_a_forged_holdout_is_found(store, how):
    live = Live(agent(), store, holdout=0.5)
    plays = live.select_many(12)
    for play in plays:
        live.update(play, 1)
    rows = _rows(store)
    entries = rows[1:]
    out = next(e for e in entries if e["payload"].get("reason") == "HOLDOUT")
    arm = next(e for e in entries if e["kind"] == "decision.held")
    if how == "explores":  # a regular arm that is said to be held out
        arm["payload"]["reason"], wrong = "HOLDOUT", arm
    elif how == "arm":
        out["payload"] |= {"arm": 0, "index": 0}
        wrong = out
    elif how == "without":
        del entries[0]["payload"]["config"]["settings"]["holdout"]
        wrong = out
    elif how == "hidden":  # its reward would be a mismatch
        out["payload"]["reason"] = "SLACK_SHORT"
        wrong = next(e for e in entries if "reward" in e["payload"] and e["play"] == out["play"])
    else:
        arm["payload"]["propensity"], wrong = "1.5", arm
    text = [json.dumps(row, sort_keys=True, separators=(",", ":")).encode() + b"\n"
            for row in [rows[0], *rechained(entries)]]  # fmt: skip
    report = verify(text)
    assert not report["ok"]
    assert report["problems"][0].startswith(f"entry {wrong['seq']:,}: ")
