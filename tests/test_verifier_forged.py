"""Ledgers forged and chained anew to their end: every hash is right, what they say is not."""

import json

import numpy as np
import pytest

from ledgers import Writer, lines, rechained
from surefoot import C2UCB, UCB1, GenCB, RewardFloor, TopK
from surefoot.live import MemoryStore
from surefoot.live.entries import exported
from surefoot.live.live import Live
from surefoot.verifier import verify
from verifying import problem, refused


def forged(entries, at, path, value):
    """The same ledger with one value replaced, by its path, and every hash made anew."""
    entries = json.loads(json.dumps(entries))
    *inner, last = path.split(".")
    place = entries[at - 1]
    for name in inner:
        place = place[name]
    place[last] = value
    return rechained(entries)


@pytest.fixture
def writer():
    return Writer(reserve=4 * 376)


IDS = ["order-1", "p-3"]


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("end", ["settle", "void", "confirm", "acknowledge"])
@pytest.mark.parametrize("again", [False, True])
def test_an_id_is_one_play_also_after_it_is_closed(writer, name, end, again):
    writer.decide(name, end != "confirm")
    if end == "settle":
        writer.settle(name, 400)
    elif end == "acknowledge":
        writer.settle(name, 1100)
        writer.acknowledge(name)
    else:
        getattr(writer, end)(name)
    writer.decide(name, again)
    refused(writer, f"play is {name}, expected an id of its own")


@pytest.mark.parametrize("name", ["p-2", "p-4", "p-30"])
def test_a_name_that_the_store_gives_is_that_of_its_entry(writer, name):
    writer.decide(name, True)
    refused(writer, f"play is {name}")


@pytest.mark.parametrize(
    ("told", "reward"),
    [("0.4", 401), ("0.4009", 401), ("-0.0001", 0), ("4e-1", 4), ("1", 100), ("0.4 ", 400),
     (400, 400), (None, 400), ({"base": ["0.4"]}, 400), ({"reward": "0.5", "base": []}, 400)],
)  # fmt: skip
def test_a_reward_is_what_was_told_of_it(writer, told, reward):
    writer.decide("a", True)
    writer.settle("a", reward)
    writer.entries[-1]["payload"]["told"] = told
    writer.entries = rechained(writer.entries)
    refused(writer)


@pytest.mark.parametrize(
    ("told", "reward"),
    [("0.4", 400), ("0.4009", 400), ("-0.0001", -1), ("4e-1", 400), ("1E+0", 1000), ("-0.5", -500),
     ({"reward": "0.4", "base": ["1", "2"]}, 400), ("-0", 0), ("1.000000", 1000)],
)  # fmt: skip
def test_a_reward_is_told_in_any_decimal_and_rounded_down(told, reward):
    writer = Writer(low=-500, high=1500, reserve=4000)
    writer.decide("a", True)
    writer.settle("a", reward)
    writer.entries[-1]["payload"]["told"] = told
    assert verify(lines(rechained(writer.entries)))["ok"]


def test_the_base_rewards_of_a_super_arm_make_its_reward():
    store = MemoryStore()
    policy = C2UCB(base_arms=np.eye(4), oracle=TopK(2))
    live = Live(GenCB(policy, RewardFloor(0.5, 0.1, reserve=9, reward_range=(0, 4))), store)
    live.update(live.select(), base_rewards=[0.25, 0.5])
    entries = [entry._asdict() for entry in store.entries("default")]
    assert verify(lines(entries, "default", 9))["ok"]
    first = problem(lines(forged(entries, 4, "payload.told", ["0.25", "0.6"]), "default", 9))
    assert first == "entry 4: reward is 0.75, expected 0.85"


CONFIGURED = {
    "default": "0.5", "alpha": "0.3", "places": 4, "against": "fixed", "target": "0.5",
    "reward_range": ["0", "2"], "reserve": "1", "checkpoint": 5,
}  # fmt: skip


@pytest.mark.parametrize("name", CONFIGURED)
@pytest.mark.parametrize("changed", [False, True])
def test_the_floor_in_units_is_the_one_that_was_given(writer, name, changed):
    if changed:
        writer.configure("constant", "0.25")
    at = 3 if changed else 1
    first = problem(lines(forged(writer.entries, at, f"payload.config.floor.{name}",
                                 CONFIGURED[name])))  # fmt: skip
    assert first.startswith((f"entry {at}: config.floor", f"entry {at}: the floor's"))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("config", []), ("config.floor", None), ("config.settings", {}), ("config.policy", "UCB1"),
        ("config.settings.shadow", "no"), ("config.settings.reward_window", 0),
        ("config.settings.reward_window", 1.5), ("config.policy.arms", None), ("floor.known", "x"),
        ("floor.reserve", 5), ("floor.value", 501), ("config.floor.reward_range", "01"),
    ],
)  # fmt: skip
def test_a_configuration_has_all_its_parts(writer, path, value):
    if value == 1.5:
        value = "1.5"
    rows = lines(forged(writer.entries, 1, f"payload.{path}", value))
    assert problem(rows).startswith("entry 1: ")


def test_a_change_keeps_the_arms(writer):
    writer.arms = ["a", "b", "c"]
    writer.configure("constant", "0.3")
    refused(writer, "config.policy.arms")


def test_the_reserve_that_an_experiment_is_opened_with_is_granted_next():
    store = MemoryStore()
    Live(GenCB(UCB1(2), RewardFloor(0.5, 0.1, reserve=2)), store).add_reserve(3)
    entries = [entry._asdict() for entry in store.entries("default")]
    assert verify(lines(entries, "default", 9))["ok"]
    for name in ("floor", "config.floor"):
        value = 10**9 if name == "floor" else "1"
        entries = forged(entries, 1, f"payload.{name}.reserve", value)
    first = problem(lines(entries, "default", 9))
    assert first == "entry 2: the reserve that is granted is 2, expected 1"
    first = problem(lines(rechained([entries[0], {**entries[2], "seq": 2}]), "default", 9))
    assert first.startswith("entry 2: the reserve that is granted is 3")


def test_a_paused_experiment_explores_nothing(writer):
    writer.pause()
    writer.decide("a", False)
    writer.decide("b", True)
    refused(writer, "none while the experiment is paused")


def test_a_pause_is_of_one_experiment_and_ends(writer):
    writer.configure("constant", "0.25", experiment="b")
    writer.append("experiment.state", {"state": "paused"}, experiment="b")
    writer.decide("a", True)
    writer.pause(), writer.pause()
    writer.decide("b", True)
    assert verify(lines(writer.entries))["ok"]


def test_under_a_lease_a_worker_may_explore_till_it_hears_of_the_pause(writer):
    writer.grant("l", 800)
    writer.pause()
    writer.decide("a", True, lease="l")
    assert verify(lines(writer.entries))["ok"]
    writer.configure("constant", "0.25")
    writer.decide("b", True, lease="l")
    refused(writer, "none while the experiment is paused")


def test_an_arm_that_was_removed_is_not_explored(writer):
    writer.append("arms.removed", {"arms": ["a"]})
    writer.decide("a", True, index=1)
    writer.append("arms.added", {"arms": ["a"]})
    writer.decide("b", True, index=0)
    writer.append("arms.removed", {"arms": ["a"]})
    writer.decide("c", True, index=0)
    refused(writer, "no arm that was removed")


def test_under_a_lease_a_worker_may_not_have_heard_of_a_removal(writer):
    writer.grant("l", 800)
    writer.append("arms.removed", {"arms": ["a"]})
    writer.decide("a", True, lease="l")
    assert verify(lines(writer.entries))["ok"]
    writer.configure("constant", "0.25")
    writer.decide("b", True, lease="l")
    refused(writer, "no arm that was removed")


def test_in_shadow_mode_nothing_is_explored():
    for lease in (None, "l"):
        writer = Writer(reserve=4 * 376, shadow=True)
        if lease:
            writer.grant(lease, 800)
        writer.decide("a", True, lease=lease)
        refused(writer, "none in shadow mode")


@pytest.mark.parametrize(
    "more",
    [{"index": 2}, {"index": -1}, {"index": True}, {"arm": "b"}, {"arm": None}, {"allowed": [1]},
     {"arm": {"tuple": ["a", "x"]}}, {"arm": {"tuple": ["a"]}, "index": 1}, {"allowed": 5}],
    ids=str,
)  # fmt: skip
def test_an_arm_is_one_that_its_experiment_has(writer, more):
    writer.decide("a", True, **more)
    refused(writer)


ARMS = {
    "added that are there": ("arms.added", ["a"]),
    "removed that are unknown": ("arms.removed", ["x"]),
    "removed that are none": ("arms.removed", []),
    "no list": ("arms.removed", "a"),
}


@pytest.mark.parametrize("name", ARMS)
def test_arms_change_when_an_entry_says_so(writer, name):
    kind, arms = ARMS[name]
    writer.append(kind, {"arms": arms})
    refused(writer)


@pytest.mark.parametrize("kind", ["arms.added", "arms.removed", "experiment.state"])
def test_a_change_that_was_made_before_has_no_second_entry(writer, kind):
    payload = {"state": "paused"} if kind == "experiment.state" else {
        "arms": ["c" if kind == "arms.added" else "a"]}  # fmt: skip
    writer.append(kind, payload)
    writer.append(kind, payload)
    refused(writer)


@pytest.mark.parametrize("state", ["running", "stopped", None])
def test_a_state_is_another_than_before(writer, state):
    writer.append("experiment.state", {"state": state})
    refused(writer, "expected paused")


def test_a_change_of_the_reserve_has_an_id_of_its_own(writer):
    for kind, sign in (("endowment.granted", 1), ("endowment.withdrawn", -1)):
        payload = {"amount": 50, "id": kind[-7:], "asked": "0.05"}
        writer.append(kind, payload, reserve=50 * sign)
    assert verify(lines(writer.entries))["ok"]
    writer.append("endowment.granted", {"amount": 50, "id": "granted", "asked": "0.05"}, reserve=50)
    refused(writer, "id is granted, expected one of its own")


def test_two_experiments_of_one_account_may_use_one_id(writer):
    writer.configure("constant", "0.25", experiment="b")
    payload = {"amount": 50, "id": "x", "asked": "0.05"}
    for experiment in "ab":
        writer.append("endowment.granted", payload, reserve=50, experiment=experiment)
    assert verify(lines(writer.entries))["ok"]


@pytest.mark.parametrize(
    ("kind", "amount", "asked"),
    [("granted", 50, "0.0499"), ("granted", 51, "0.05"), ("withdrawn", 50, "0.0501"),
     ("granted", 50, None), ("granted", 50, 0)],
)  # fmt: skip
def test_a_change_of_the_reserve_is_what_was_asked(writer, kind, amount, asked):
    reserve = amount if kind == "granted" else -amount
    payload = {"amount": amount, "id": "x", "asked": asked}
    writer.append(f"endowment.{kind}", payload, reserve=reserve)
    refused(writer)


def test_amounts_that_were_asked_finer_than_the_unit_are_rounded_against_the_caller(writer):
    for kind, reserve in (("granted", 50), ("withdrawn", -50)):
        asked = "0.0509" if reserve > 0 else "0.0491"
        writer.append(f"endowment.{kind}", {"amount": 50, "id": kind, "asked": asked},
                      reserve=reserve)  # fmt: skip
    assert verify(lines(writer.entries))["ok"]


LEASES = {
    "epoch": 2,
    "expires": 5,
}


@pytest.mark.parametrize("name", LEASES)
def test_a_lease_is_dated_by_its_entry(writer, name):
    writer.grant("l", 500)
    writer.entries = forged(writer.entries, 3, f"payload.{name}", LEASES[name])
    refused(writer, f"{name} is {LEASES[name]}")


def test_a_lease_is_granted_once_also_after_it_was_returned(writer):
    writer.grant("l", 500)
    writer.give_back("l")
    writer.grant("l", 500)
    refused(writer, "lease is l, expected an id that no other lease has")


@pytest.mark.parametrize("explores", [False, True])
def test_nothing_is_decided_under_a_lease_that_was_returned(writer, explores):
    writer.grant("l", 500)
    row = dict(writer.leases["l"])
    writer.give_back("l")
    writer.leases["l"] = row
    writer.decide("a", explores)
    writer.entries[-1]["payload"] |= {"lease": "l", "unspent": 500}
    writer.entries = rechained(writer.entries)
    refused(writer, "lease is l, expected one that its experiment was granted and has")


def test_a_lease_is_of_one_experiment(writer):
    writer.configure("constant", "0.25", experiment="b")
    writer.grant("l", 500)
    writer.append("lease.returned", {"lease": "l", "unspent": 500, "spent": 0}, held=-500,
                  experiment="b")  # fmt: skip
    refused(writer, "lease.returned of lease is l")


@pytest.mark.parametrize("unspent", [501, 375, None])
def test_what_a_worker_says_is_left_is_no_more_than_there_is(writer, unspent):
    writer.grant("l", 500)
    writer.decide("a", True, lease="l", unspent=unspent)
    refused(writer, "unspent is")


def test_what_a_forfeited_lease_spent_is_what_its_plays_hold(writer):
    writer.grant("l", 500)
    writer.decide("a", True, lease="l")
    writer.forfeit("l")
    assert verify(lines(writer.entries))["ok"]
    writer.entries = forged(writer.entries, 5, "payload.spent", 0)
    refused(writer, "spent is 0, expected 0.376")


@pytest.mark.parametrize("deadline", [None, 1_700_000_000_000_013, 1_700_000_000_000_015, "x"])
def test_a_deadline_is_the_window_after_the_decision(deadline):
    writer = Writer(reserve=4 * 376, reward_window=10**6)
    writer.decide("a", True, deadline=1_700_000_001_000_014)
    assert verify(lines(writer.entries))["ok"]
    writer.decide("b", True, deadline=deadline)
    refused(writer, "deadline is")


def test_without_a_window_there_is_no_deadline(writer):
    writer.decide("a", True, deadline=1_700_000_001_000_014)
    refused(writer, "deadline is")


def test_under_a_lease_a_deadline_is_after_the_grant():
    writer = Writer(reserve=4 * 376, reward_window=10**6)
    writer.grant("l", 800)
    writer.decide("a", True, lease="l", deadline=1_700_000_001_000_014)
    assert verify(lines(writer.entries))["ok"]
    writer.decide("b", True, lease="l", deadline=1_700_000_001_000_013)
    refused(writer, "deadline is")


TERMS = ("value", "floor", "hold", "deposit", "low", "high")


@pytest.mark.parametrize("kind", ["constant", "realised", "fixed"])
@pytest.mark.parametrize("explores", [False, True])
@pytest.mark.parametrize("drop", [False, True])
def test_the_terms_of_a_play_are_all_there_and_those_of_its_default(kind, explores, drop):
    writer = Writer(kind, reserve=2000)
    writer.decide("a", explores)
    assert verify(lines(writer.entries))["ok"]
    told = writer.entries[-1]["payload"]
    names = [name for name in (*TERMS, "loss", "upper", "lost", "whole") if name in told]
    assert len(names) >= 4
    for name in names:
        wrong = json.loads(json.dumps(writer.entries))
        if drop:
            del wrong[-1]["payload"][name]
        else:
            wrong[-1]["payload"][name] += 1
        assert problem(lines(rechained(wrong))).startswith(f"entry {len(wrong)}: {name} is")


REPORTS = ["settle", "expire", "void", "fall_back", "confirm", "value", "late"]


@pytest.mark.parametrize("kind", ["constant", "realised", "fixed"])
@pytest.mark.parametrize("report", REPORTS)
def test_what_a_play_had_to_earn_is_derived_anew(kind, report):
    writer = Writer(kind, reserve=2000)
    writer.decide("a", report not in ("confirm", "value"))
    if report == "late":
        writer.expire("a")
        writer.settle("a", 400)
    elif report == "value":
        writer.confirm("a")
        if kind == "constant":
            return
        writer.value("a", 555)
    else:
        writer.settle("a", 400) if report == "settle" else getattr(writer, report)("a")
    assert verify(lines(writer.entries))["ok"]
    asked = writer.entries[-1]["payload"].get("asked", 0)
    writer.entries = forged(writer.entries, len(writer.entries), "payload.asked", asked + 1)
    refused(writer, "asked is")


@pytest.mark.parametrize(("reward", "said"), [(500, True), (400, False), (400, None)])
def test_a_default_that_paid_another_value_is_marked_so(writer, reward, said):
    for name, paid in (("a", 500), ("b", 400)):
        writer.decide(name, False)
        writer.confirm(name, paid)
    assert verify(lines(writer.entries))["ok"]
    writer.decide("c", False)
    writer.confirm("c", reward)
    told = writer.entries[-1]["payload"]
    told.pop("mismatch", None)
    if said is not None:
        told["mismatch"] = said
    writer.entries = rechained(writer.entries)
    refused(writer, "mismatch is")


@pytest.mark.parametrize("report", ["expire", "void", "fall_back"])
def test_a_report_without_a_reward_has_none(writer, report):
    writer.decide("a", True)
    getattr(writer, report)("a")
    writer.entries = forged(writer.entries, 4, "payload.reward", 400)
    refused(writer, "reward of")


def test_a_late_reward_is_learned_for_the_arm_that_was_played(writer):
    writer.decide("a", True, index=1)
    writer.expire("a")
    writer.settle("a", 400)
    for arm, index, fine in (("b", 1, True), ("a", 0, False), ("a", 1, False)):
        entries = forged(writer.entries, 5, "payload.arm", arm)
        entries = forged(entries, 5, "payload.index", index)
        assert verify(lines(entries))["ok"] is fine


def test_an_acknowledgement_names_its_own_play(writer):
    writer.decide("a", True)
    writer.settle("a", 1100)
    writer.acknowledge("a")
    writer.entries = forged(writer.entries, 5, "payload.play", "b")
    refused(writer, "play is b, expected a")


@pytest.mark.parametrize("version", [0, 2, -1])
@pytest.mark.parametrize("kind", ["void", "pause", "grant", "endow", "note"])
def test_every_entry_is_under_a_configuration_that_there_is(writer, kind, version):
    writer.decide("a", True)
    do = {
        "void": lambda: writer.void("a"),
        "pause": writer.pause,
        "grant": lambda: writer.grant("l", 50),
        "endow": lambda: writer.append("endowment.granted", {"amount": 5}, reserve=5),
        "note": lambda: writer.append("assumption.broken", {}),
    }
    do[kind]()
    writer.entries[-1]["config_version"] = version
    writer.entries = rechained(writer.entries)
    refused(writer, f"config_version is {version}")


def test_an_experiment_that_was_never_opened_has_no_entries(writer):
    writer.append("assumption.broken", {}, experiment="ghost", config_version=1)
    refused(writer, "config_version is 1, expected one of 0 of ghost")


def shop():
    store = MemoryStore()
    live = Live(GenCB(UCB1(2), RewardFloor(0.5, 0.5)), store, "colour", account="shop")
    live.update(live.select())
    return store


def test_the_header_is_of_the_account_that_the_entries_are_of():
    store = shop()
    rows = list(exported("shop", 9, store.entries("shop")))
    report = verify(rows)
    assert (report["ok"], report["account_from"]) == (True, "entries")
    rows[0] = rows[0].replace(b"shop", b"mall")
    assert problem(rows) == "entry 1: the header's account is mall, expected shop"


def test_an_older_ledger_does_not_say_whose_it_is_and_the_report_says_so():
    entries = [entry._asdict() for entry in shop().entries("shop")]
    del entries[0]["payload"]["account"]
    report = verify(lines(rechained(entries), "mall", 9))
    assert (report["ok"], report["account"], report["account_from"]) == (True, "mall", "header")


def test_parts_of_any_type_are_a_problem_and_no_crash(writer):
    """Every value of a ledger's payloads, replaced by values of every type."""
    writer.decide("a", True, allowed=[0, 1])
    writer.settle("a", 1100)
    writer.acknowledge("a")
    writer.grant("l", 500)
    writer.decide("b", True, lease="l")
    writer.give_back("l")
    writer.append("arms.removed", {"arms": ["a"]})
    writer.append("endowment.granted", {"amount": 50, "id": "x", "asked": "0.05"}, reserve=50)
    assert verify(lines(writer.entries))["ok"]

    def places(value, path):
        if isinstance(value, dict):
            for name, inner in value.items():
                yield f"{path}.{name}"
                yield from places(inner, f"{path}.{name}")

    for at, entry in enumerate(writer.entries, 1):
        for path in places(entry["payload"], "payload"):
            for value in (None, [], {}, "x", -1, True, [[]], {"tuple": 5}, [{}]):
                report = verify(lines(forged(writer.entries, at, path, value)))
                assert report["ok"] or report["problems"][0].startswith("entry ")


@pytest.mark.parametrize(
    ("at", "path", "value", "said"),
    [
        (4, "payload.told", [], "told is []"),
        (4, "payload.told", ["0.3"], "told is ['0.3']"),
        (4, "payload.capped", 0, "capped is 0, expected False"),
        (5, "payload.lease", 1, "lease is 1, expected a str"),
    ],
)
def test_a_part_of_another_type_is_no_equal(writer, at, path, value, said):
    """JSON's false is not 0, and only a super arm is told a list: one reward of each base arm."""
    writer.decide("a", True)
    writer.settle("a", 300)
    writer.grant("l", 500)
    assert verify(lines(writer.entries))["ok"]
    assert said in problem(lines(forged(writer.entries, at, path, value)))


@pytest.mark.parametrize("name", ["value", "floor", "hold", "deposit", "upper"])
def test_a_floor_whose_plays_bring_their_default_has_no_terms_of_its_own(name):
    writer = Writer("per_play", reserve=700)
    assert verify(lines(writer.entries))["ok"]
    first = problem(lines(forged(writer.entries, 1, f"payload.floor.{name}", 9)))
    assert first == f"entry 1: {name} is 0.009, expected None"


def test_zero_is_not_false(writer):
    """An amount of a play's own default that is 0 may not be written as false."""
    writer.decide("a", False, own="0")
    assert verify(lines(writer.entries))["ok"]
    first = problem(lines(forged(writer.entries, 3, "payload.floor", False)))
    assert first == "entry 3: floor is False, expected 0"
