"""A loaded agent goes on as if it had never stopped; what is no saved agent is never a start."""

import hashlib
import json
import os
import random
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import surefoot as sf
from learners import Counter, Scripted, Softmax, snapshot
from surefoot import KLUCB, MVUCB, UCB1, ConUCB, GenCB, MeanVarianceFloor, Plain, RewardFloor
from surefoot.agents.saving import FORMAT, _canonical, _digest
from surefoot.comparators import (
    C3UCB,
    CLUCB,
    CLUCB2,
    BudgetFirst,
    C3UCBUnknown,
    CLUCBUnknown,
    ConUCBUnknown,
    UnbalancedMOSS,
)
from surefoot.errors import DamagedFile, InvalidInput, SurefootError
from surefoot.oracles import (
    Enumerated,
    Matching,
    PartitionMatroid,
    ShortestPath,
    SpanningTree,
    TopK,
)  # fmt: skip
from surefoot.policies import C2UCB, Ball, LinUCB, Ridge

ROWS = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]
WIDE = RewardFloor(0.5, 0.2, (-1, 2), reserve=6)

AGENTS = {
    "GenCB(UCB1)": (lambda: GenCB(UCB1(3), RewardFloor(0.5, 0.2, reserve=2), seed=1), None),
    "GenCB(UCB1), labels": (lambda: GenCB(UCB1(arms=["UA", 7, "é"]), WIDE), None),
    "GenCB(UCB1), as printed": (lambda: sf.gencb_cmab(3, 0.4, 0.4), None),
    "GenCB(KLUCB)": (lambda: GenCB(KLUCB(3, c=3), RewardFloor(0.1, 0.5, reserve=1)), None),
    "GenCB, own defaults": (
        lambda: GenCB(UCB1(2), RewardFloor(None, 0.2, reserve=2)),
        None,
    ),
    "GenCB(MVUCB), viable": (
        lambda: GenCB(MVUCB(3, 0.5, (-1, 2)), MeanVarianceFloor(0.5, 0.9, 0.5, (-1, 2), places=2)),
        None,
    ),
    "GenCB(MVUCB), as printed": (lambda: sf.mv_cucb(3, 0.7, 0.5, 10), None),
    "GenCB(own), mean-variance": (
        lambda: GenCB(Counter(3), MeanVarianceFloor(0.8, 0.9, 9, check="exact")),
        lambda: Counter(3),
    ),
    "Plain(MVUCB)": (lambda: Plain(MVUCB(3, 2), MeanVarianceFloor(0.5, 0.2, 2)), None),
    "Plain": (lambda: Plain(UCB1(3), WIDE, seed=2), None),
    "Plain, no floor": (lambda: Plain(KLUCB(2)), None),
    "ConUCB": (
        lambda: ConUCB(default=0.4, alpha=0.4, delta=0.1, scale="bounded", arms=["a", "b"], seed=3),
        None,
    ),
    "BudgetFirst": (lambda: BudgetFirst(2, 0.5, 0.9, 60, 0.3), None),
    "UnbalancedMOSS": (lambda: UnbalancedMOSS(None, 0.5, 0.5, 99, arms=["a", "b"]), None),
    "GenCB(LinUCB)": (lambda: GenCB(LinUCB(ROWS, ridge=Ridge(noise=0.1)), WIDE), None),
    "GenCB(LinUCB), a ball": (lambda: GenCB(LinUCB(Ball(1, 2)), WIDE), None),
    "GenCB(C2UCB)": (lambda: GenCB(C2UCB(ROWS, TopK(2), labels=["a", 7, "b"]), WIDE), None),
    "Plain(C2UCB)": (lambda: Plain(C2UCB(ROWS, Enumerated([[0, 1], [2]])), WIDE), None),
    "GenCB(C2UCB), matching": (
        lambda: GenCB(C2UCB(ROWS, Matching((1, 3))), WIDE),
        None,
    ),
    "CLUCB": (
        lambda: CLUCB(ROWS, 0.4, 0.6, 0.1, labels=["x", "y", "z"], ridge=Ridge(noise=0.1)),
        None,
    ),
    "CLUCB2": (lambda: CLUCB2(ROWS, 0.4, 0.6, ridge=Ridge(noise=0.1), checkpoint=7), None),
    "C3UCB": (lambda: C3UCB(ROWS, TopK(2), 0.8, 0.6, 0.1, ridge=Ridge(noise=0.1)), None),
    "C3UCB, enumerated": (
        lambda: C3UCB(
            ROWS, Enumerated([[0, 1], [2]]), 0.8, 0.6, ridge=Ridge(noise=0.1), labels=[3, 2, 1]
        ),
        None,
    ),
    "ConUCBUnknown": (lambda: ConUCBUnknown(2, 0.6, 0.3, scale="bounded"), None),
    "CLUCBUnknown": (lambda: CLUCBUnknown(ROWS, [0.2, 0.2], 0.6, ridge=Ridge(noise=0.05)), None),
    "C3UCBUnknown": (
        lambda: C3UCBUnknown(ROWS, TopK(2), 0.6, horizon=99, ridge=Ridge(noise=0.1)),
        None,
    ),
    "GenCB(own)": (lambda: GenCB(Counter(3), WIDE), lambda: Counter(3)),
    "GenCB(own), drawing": (lambda: GenCB(Softmax(4, 2), WIDE, seed=4), lambda: Softmax(4, 2)),
    "Plain(own)": (lambda: Plain(Softmax(2, 2), seed=5), lambda: Softmax(2, 2)),
}


def act(agent, plays, rng):
    """One random thing that can happen to an agent, and what came of it."""
    name = rng.choice(
        ["select"] * 8 + ["select_many", "pause", "resume", "resume", "explain"]
        + ["update"] * 9 + ["expire", "void", "fall_back", "acknowledge"]
    )  # fmt: skip
    drawing = isinstance(agent.policy, Softmax)
    checked = hasattr(agent.policy, "check")
    context = None if checked else rng.choice([None, (1, "a"), {1: [2.5]}])
    context = np.array([rng.random(), 1]) if drawing else context
    default = rng.choice([0.3, Decimal("0.45")]) if agent.floor.default is None else None
    try:
        if name in {"pause", "resume"}:
            return getattr(agent, name)()
        if name == "select" or not plays:
            plays.append(agent.select(context, default=default))
            return plays[-1]
        if name == "select_many":
            plays += agent.select_many(3, context, default=default)
            return plays[-3:]
        play = plays[rng.randrange(max(0, len(plays) - 12), len(plays))]
        play = play.id if rng.random() < 0.5 else play
        if name == "update" and getattr(agent.policy, "semi_bandit", False):
            return report(agent, play, plays, rng)
        if name == "update":
            return agent.update(play, rng.choice([0, 1, 1, 0.3, np.float32(0.7), 5, -2, None]))
        return getattr(agent, name)(play)
    except SurefootError as error:
        return str(error)


def report(agent, play, plays, rng):
    """A super arm's play is reported by its base arms."""
    arm = next(one.arm for one in plays if play in (one, one.id))
    if arm is None:
        return agent.update(play, rng.choice([None, 0.4]))
    reward = rng.choice([None, None, None, 0.4])
    return agent.update(play, reward, {e: rng.choice([0, 0.25, 1]) for e in arm})


def life(make, fresh, seed, path, stops=()):
    """Everything that came of 150 random acts, the agent saved and loaded at the stops."""
    agent, plays, rng, results = make(), [], random.Random(seed), []
    agent.rng = np.random.default_rng(seed)
    for moment in range(150):
        if moment in stops:
            before = snapshot(agent)
            agent.save(path)
            agent = sf.load(path, None if fresh is None else fresh())
            assert snapshot(agent) == before
        results.append(repr(act(agent, plays, rng)))
    return results, snapshot(agent), agent.account


@pytest.mark.parametrize(("make", "fresh"), AGENTS.values(), ids=list(AGENTS))
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1), stops=st.sets(st.integers(1, 149), max_size=5))
def test_it_goes_on_as_if_it_had_never_stopped(tmp_path, make, fresh, seed, stops):
    path = tmp_path / "agent.json"
    assert life(make, fresh, seed, path, stops) == life(make, fresh, seed, path)


def waiting():
    """An agent with one play of every sort that can still change."""
    agent = GenCB(UCB1(3), RewardFloor(0.5, 0.2, reserve=3), seed=1)
    plays = agent.select_many(4)
    agent.expire(plays[0])
    agent.update(plays[1], 7)
    agent.pause()
    return agent, [*plays, agent.select()]


def test_all_that_waits_is_there_again(tmp_path):
    agent, plays = waiting()
    agent.save(tmp_path / "agent.json")
    again = sf.load(tmp_path / "agent.json")
    for one in (agent, again):
        assert one.paused
        assert one.update(plays[0], 1) == "booked_late"
        assert one.acknowledge(plays[1]) == "booked"
        assert one.update(plays[2].id, 0) == "booked"
        assert "explores arm 0, which scores 2.16511" in one.explain(plays[3].id)
        assert one.void(plays[3]) == "booked"
        assert one.update(plays[4]) == "booked"
    assert again.account == agent.account
    assert snapshot(again) == snapshot(agent)


def test_what_a_policy_of_ones_own_says_comes_back_as_it_was(tmp_path):
    """Number keys, tuples, infinities and arrays, which JSON alone would change or refuse."""
    agent = GenCB(Softmax(2, 3), WIDE, seed=1)
    context = np.array([[1.5, -0.0, 2]], dtype=np.float32)[0]
    agent.update(agent.select(context), 1)
    agent.select(context)
    agent.save(tmp_path / "agent.json")
    again = sf.load(tmp_path / "agent.json", Softmax(2, 3))
    np.testing.assert_array_equal(again.policy.weights, agent.policy.weights)
    kept = again.open_plays[1][1]
    assert (kept.dtype, kept.tobytes()) == (context.dtype, context.tobytes())


@pytest.fixture
def saved(tmp_path):
    """A saved agent's path."""
    path = tmp_path / "agent.json"
    waiting()[0].save(path)
    return path


def refused(path, error, message, policy=None):
    """Loading is refused in one line that names the file or the policy."""
    with pytest.raises(error, match=message) as refusal:
        sf.load(path, policy)
    assert "\n" not in str(refusal.value)


FOREIGN = {
    "empty": b"",
    "blank": b"  \n",
    "a list": b"[]",
    "a number": b"5",
    "nothing": b"null",
    "an object": b"{}",
    "another format": b'{"format": "other-agent", "version": 1}',
    "text": b"agent: GenCB",
    "binary": b"\x80\x04\x95\x00\x00\x00",
    "another encoding": '{"format": "é"}'.encode("utf-16"),
    "deep": b"[" * 100_000,
    "a long number": b"1" * 5000,
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=list(FOREIGN))
def test_a_foreign_file_is_no_saved_agent(tmp_path, content):
    path = tmp_path / "agent.json"
    path.write_bytes(content)
    refused(path, DamagedFile, f"^{re.escape(str(path))} is not a saved agent: ")


def test_a_folder_is_no_saved_agent(tmp_path):
    refused(tmp_path, DamagedFile, "is not a saved agent: it is a folder")


def test_a_file_that_is_not_there_is_no_empty_start(tmp_path):
    refused(tmp_path / "agent.json", InvalidInput, r"agent.json does not exist; give the file")


def test_a_file_cut_off_anywhere_is_no_saved_agent(saved):
    whole = saved.read_bytes().rstrip()
    for length in range(0, len(whole), 7):
        saved.write_bytes(whole[:length])
        refused(saved, DamagedFile, "is not a saved agent")


def test_a_file_with_any_byte_changed_is_damaged(saved):
    whole, rng = saved.read_bytes().rstrip(), random.Random(1)
    for _ in range(500):
        spot = rng.randrange(len(whole))
        other = rng.choice([byte for byte in b'059aZ",:{}[] ' if byte != whole[spot]])
        saved.write_bytes(whole[:spot] + bytes([other]) + whole[spot + 1 :])
        refused(saved, DamagedFile, "is not a saved agent|is damaged: its checksum|has version")


def test_an_edited_amount_is_damage(saved):
    text = saved.read_text(encoding="utf-8")
    edited = text.replace('"reserve":"3"', '"reserve":"9"')
    assert edited != text
    saved.write_text(edited, encoding="utf-8")
    refused(saved, DamagedFile, "is damaged: its checksum is wrong; restore it from a copy")
    saved.write_text(text.replace('"turns":4', '"turns":NaN'), encoding="utf-8")
    refused(saved, DamagedFile, "is damaged: its checksum is wrong")


def test_another_way_to_write_the_same_json_is_not(saved):
    document = json.loads(saved.read_text(encoding="utf-8"))
    saved.write_text(json.dumps(document, indent=2), encoding="utf-8")
    assert snapshot(sf.load(saved)) == snapshot(waiting()[0])


@pytest.mark.parametrize("version", [0, 1, 3, "2", None])
def test_another_version_is_not_guessed_at(saved, version):
    document = json.loads(saved.read_text(encoding="utf-8"))
    saved.write_text(json.dumps({**document, "version": version}), encoding="utf-8")
    refused(saved, DamagedFile, f"has version {version!r}, this release reads 2; load it with")


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("agent", "Oracle"), ("books", {}), ("books", None), ("policy", {"kind": "UCB1"}),
        ("rng", {}), ("rng", 5), ("open", [[1, 2]]), ("floor", {"alpha": "x"}),
        ("settings", {"speed": 1}),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit_are_damage_even_under_a_right_checksum(saved, part, value):
    document = json.loads(saved.read_text(encoding="utf-8"))
    document["body"][part] = value
    document["sha256"] = _digest(_canonical(document["body"]))
    saved.write_text(json.dumps(document), encoding="utf-8")
    refused(saved, DamagedFile, "the parts of the saved agent do not fit together")


def test_the_checksum_is_that_of_the_body_as_written(saved):
    """So that a shell can check it too."""
    text = saved.read_text(encoding="utf-8")
    start = text.index('"body":') + len('"body":')
    body = text[start:].rstrip()[:-1]
    assert hashlib.sha256(body.encode()).hexdigest() == json.loads(text)["sha256"]
    assert json.loads(text)["format"] == FORMAT


class TestThePolicyOfOnesOwn:
    @pytest.fixture
    def own(self, tmp_path):
        path = tmp_path / "agent.json"
        agent = GenCB(Counter(3), WIDE)
        agent.select()
        agent.save(path)
        return path

    def test_has_to_be_passed_again(self, own):
        refused(
            own, InvalidInput, r"your own class Counter; pass a fresh one: load\(path, policy=Co"
        )

    @pytest.mark.parametrize(
        ("policy", "message"),
        [
            (Softmax(3, 2), "is not of the saved policy's class Counter"),
            (UCB1(3), "is not of the saved policy's class Counter"),
            (Counter, "is not of the saved policy's class Counter"),
            (7, "is not of the saved policy's class Counter"),
            (Counter(4), r"policy has the arms \[0, 1, 2, 3\], the saved one \[0, 1, 2\]"),
        ],
    )
    def test_has_to_be_the_same(self, own, policy, message):
        refused(own, InvalidInput, message, policy)

    def test_is_not_passed_for_one_of_ours(self, saved, tmp_path):
        refused(saved, InvalidInput, "the saved policy is a UCB1 of surefoot's own", UCB1(3))
        ConUCB(2, 0.5, 0.5).save(tmp_path / "conucb.json")
        refused(tmp_path / "conucb.json", InvalidInput, "the saved agent is a ConUCB", UCB1(2))

    def test_is_not_mistaken_for_one_of_ours_of_the_same_name(self, tmp_path):
        own = type("UCB1", (UCB1,), {})
        GenCB(own(2), WIDE).save(tmp_path / "agent.json")
        refused(tmp_path / "agent.json", InvalidInput, "your own class UCB1")
        assert type(sf.load(tmp_path / "agent.json", own(2)).policy) is own


class TestASaveThatFails:
    """It leaves the old file as it was, and nothing beside it."""

    def fails(self, saved, agent, error, message):
        before = saved.read_bytes()
        with pytest.raises(error, match=message):
            agent.save(saved)
        assert saved.read_bytes() == before
        assert list(saved.parent.iterdir()) == [saved]

    @pytest.mark.parametrize("broken", ["fsync", "replace"])
    def test_on_the_way(self, saved, monkeypatch, broken):
        def crash(*_):
            raise OSError("disk full")

        monkeypatch.setattr(*{"fsync": (os, "fsync"), "replace": (Path, "replace")}[broken], crash)
        agent = sf.load(saved)
        agent.resume()
        agent.select()
        self.fails(saved, agent, OSError, "disk full")

    def test_for_a_context_json_cannot_say(self, saved):
        agent = GenCB(Counter(2), WIDE)
        agent.select({"user": object()})
        self.fails(saved, agent, InvalidInput, "the context of pending play 0 holds <object")
        agent.void(0)
        agent.save(saved)

    @pytest.mark.parametrize("state", [{"when": print}, {"deep": []}], ids=["function", "deep"])
    def test_for_a_state_json_cannot_say(self, saved, state):
        if "deep" in state:
            state["deep"].append(state)
        policy = Counter(2)
        policy.state = lambda: state
        message = r"state\(\) of Counter holds <built-in|more than 100 containers"
        self.fails(saved, GenCB(policy, WIDE), InvalidInput, message)

    def test_for_an_agent_of_ones_own(self, saved):
        own = type("Careful", (GenCB,), {})
        self.fails(saved, own(UCB1(2), WIDE), InvalidInput, "Careful cannot be saved; save GenCB")

    def test_where_no_file_can_be(self, saved):
        for place in (saved.parent, saved.parent / "no" / "agent.json"):
            with pytest.raises(InvalidInput, match="must name a file in a folder that exists"):
                waiting()[0].save(place)


def test_a_half_written_draft_of_a_killed_process_is_not_the_file(saved):
    """What a kill in the middle leaves behind has another name."""
    before = snapshot(sf.load(saved))
    saved.with_name(f".{saved.stem}.1.json").write_text('{"format":"surefoot-agent","ver')
    assert snapshot(sf.load(saved)) == before


def test_saving_changes_nothing(saved):
    agent, _ = waiting()
    before = snapshot(agent)
    for _ in range(2):
        agent.save(saved)
    assert snapshot(agent) == before


def test_a_scored_choice_of_any_float_comes_back(tmp_path):
    scores = [float("inf"), 0.1, 1e-300]
    agent = Plain(Scripted(2, *((1, score) for score in scores)))
    plays = agent.select_many(3)
    agent.save(tmp_path / "agent.json")
    again = sf.load(tmp_path / "agent.json", Scripted(2))
    assert [again.open_plays[play.id][0] for play in plays] == plays


@pytest.mark.parametrize(
    "oracle",
    [
        TopK(2), Matching((1, 3)), Enumerated([[0, 2], [1]]), PartitionMatroid([[0, 1], [2]]),
        SpanningTree([(0, 1), (1, 2), (0, 2)]),
        ShortestPath([("s", "a"), ("a", "t"), ("s", "t")], "s", "t"),
    ],
    ids=repr,
)  # fmt: skip
def test_every_oracle_of_ours_comes_back(tmp_path, oracle):
    for agent in (GenCB(C2UCB(ROWS, oracle), WIDE), C3UCB(ROWS, oracle, 0.5)):
        agent.select_many(3)
        agent.save(tmp_path / "agent.json")
        again = sf.load(tmp_path / "agent.json")
        assert again.policy.oracle == oracle
        assert snapshot(again) == snapshot(agent)
        assert again.select() == agent.select()


def test_a_process_that_knows_no_comparator_yet_loads_one(tmp_path):
    ConUCB(2, 0.5, 0.5).save(tmp_path / "agent.json")
    code = f"import surefoot as sf; print(sf.load({str(tmp_path / 'agent.json')!r}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("ConUCB(")


def test_an_oracle_that_is_a_function_is_not_saved(tmp_path):
    agent = GenCB(C2UCB(ROWS, lambda weights: [0]), WIDE)
    with pytest.raises(InvalidInput, match="cannot be saved"):
        agent.save(tmp_path / "agent.json")
    assert list(tmp_path.iterdir()) == []


class Renamed(Counter):
    """A policy whose code has changed since it was saved."""

    def restore(self, state):
        return state["no such key"]


def test_a_fault_of_the_users_own_restore_is_not_called_damage(tmp_path):
    GenCB(Renamed(2), RewardFloor(0.5, 0.2)).save(tmp_path / "agent.json")
    said = r"restore\(\) of your own Renamed fails on the state that was saved \(KeyError: 'no such"
    refused(tmp_path / "agent.json", InvalidInput, said, Renamed(2))

    def test_has_the_settings_it_said(self, tmp_path):
        class Said(Counter):
            rate = 0.5

            def config(self):
                return {"rate": self.rate, "weights": np.ones(2)}

        path = tmp_path / "agent.json"
        GenCB(Said(2), WIDE).save(path)
        assert type(sf.load(path, Said(2)).policy) is Said
        other = Said(2)
        other.rate = 0.75
        refused(path, InvalidInput, r"rate = 0\.75 of the policy differs from 0\.5", other)
        Said.config = lambda self: [1]
        with pytest.raises(InvalidInput, match="it must be a dict of settings"):
            GenCB(Said(2), WIDE).save(path)
