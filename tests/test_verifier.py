import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgers import KINDS, Writer, canonical, hashed, lines, rechained, scheduled
from surefoot import verifier
from surefoot.verifier import FAILED, HOLDS, OTHER, Order, verify
from verifying import problem, refused

SEEDS = range(80)


@pytest.fixture
def writer():
    """Slack 251: one exploration open, one expired, one settled; one default not reported."""
    made = Writer(reserve=3 * 376)
    for name in ("open", "late", "done"):
        made.decide(name, True)
    made.decide("default", False)
    made.expire("late")
    made.settle("done", 376 - 125)
    assert made.slack == 251
    return made


@pytest.mark.parametrize("seed", SEEDS)
def test_a_valid_ledger_verifies(seed):
    writer = scheduled(seed)
    report = verify(lines(writer.entries), writer.entries[-1]["hash"])
    assert report["problems"] == []
    assert report["ok"]
    kinds = [entry["kind"] for entry in writer.entries]
    opening = ("experiment.opened", "endowment.granted")
    opened = next(n for n, kind in enumerate(kinds) if kind not in opening)
    slacks = [e["reserve"] + e["posted"] - e["held"] for e in writer.entries][opened - 1 :]
    assert report["explorations"] == kinds.count("decision.held")
    assert report["decisions"] == report["explorations"] + kinds.count("decision.defaulted")
    assert report["open"] == len(writer.named("open", explores=True))
    assert (report["posted"], report["held"]) == (writer.posted, writer.held)
    assert (report["reserve"], report["available"]) == (writer.reserve, writer.slack)
    assert report["minimum_slack"] == min(slacks) >= 0
    assert report["minimum_at"] == opened + slacks.index(min(slacks))


def test_the_schedules_have_every_kind_of_event_and_of_default():
    kinds = {e["kind"] for seed in SEEDS for e in scheduled(seed).entries}
    assert kinds >= set(verifier.LEGAL) | {"lease.granted", "lease.returned", "lease.forfeited"}
    assert {scheduled(seed, 1).kind for seed in SEEDS} == set(KINDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_of_a_reward_below_its_range_nothing_else_is_said(seed):
    """Unless it costs the promise: then that is said as well."""
    writer = scheduled(seed, breaches=True)
    report = verify(lines(writer.entries))
    low = [e["seq"] for e in writer.entries if e["payload"].get("breach")]
    assert report["breaches"] == len(low)
    assert report["ok"] is not bool(low)
    named = {int(p.split()[1].rstrip(":")) for p in report["problems"] if "reward is" in p}
    assert named <= set(low)
    others = [p for p in report["problems"] if "reward is" not in p]
    assert all("the promise is missed" in p for p in others)


def test_a_breach_that_costs_the_promise_is_both():
    writer = Writer(reserve=376)
    writer.decide("a", True)
    writer.settle("a", -5)
    report = verify(lines(writer.entries))
    assert report["problems"] == [
        "entry 4: reward is -0.005, expected 0..1",
        "entry 4: the promise is missed by 0.005",
        "entry 4: the promise is missed by 0.005 in the order decided",
        "entry 4: the promise is missed by 0.005 in the order reported",
    ]
    assert (report["breaches"], report["violations"]) == (1, 3)


def test_a_breach_that_later_rewards_hide_still_shows_in_the_order_of_decisions():
    writer = Writer(reserve=2 * 376)
    writer.decide("low", True)
    writer.decide("high", True)
    writer.settle("high", 1000)
    writer.settle("low", -500)
    report = verify(lines(writer.entries))
    assert report["available"] > 0
    assert [p.partition(": ")[2] for p in report["problems"]] == [
        "reward is -0.5, expected 0..1",
        "the promise is missed by 0.124 in the order decided",
        "the promise is missed by 0.124 in the order reported",
    ]


def changed(value):
    """Another value of the same kind."""
    if isinstance(value, bool) or value is None:
        return "x"
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return value[:-1] + ("1" if value[-1:] == "0" else "0")
    return [*value, 0] if isinstance(value, list) else {**value, "more": 0}


@pytest.mark.parametrize("seed", [1, 2, 4, 7])
def test_every_edit_of_every_field_is_caught_and_its_entry_named(seed):
    entries = scheduled(seed, 12).entries
    rows, seen = lines(entries), 0
    for at, entry in enumerate(entries):
        edits = [{**entry, name: changed(value)} for name, value in entry.items()]
        edits += [{k: v for k, v in entry.items() if k != name} for name in entry]
        inner = entry["payload"]
        edits += [{**entry, "payload": {**inner, name: changed(inner[name])}} for name in inner]
        for edit in edits:
            row = canonical(edit).encode() + b"\n"
            rest = [*rows[: at + 1], row, *rows[at + 2 :]]
            assert problem(rest).startswith(f"entry {at + 1}: ")
            seen += 1
    assert seen > 30 * len(entries)


AMOUNTS = ("d_posted", "d_held", "posted", "held", "reserve", "seq", "config_version")
TERMS = ("value", "floor", "hold", "deposit", "upper", "low", "high", "reward", "amount", "unspent")


@pytest.mark.parametrize(
    "seed", [*range(2), *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 8))]
)
def test_an_amount_that_is_edited_and_chained_anew_is_caught_without_a_head(seed):
    entries = scheduled(seed, 25).entries
    for at, entry in enumerate(entries):
        about = entry["payload"]
        if entry["kind"] == "lease.returned" or ("floor" in about and entry["play"] is None):
            about = {}
        for name in AMOUNTS + tuple(n for n in TERMS if n in about):
            edited = json.loads(json.dumps(entries))
            inner = edited[at] if name in AMOUNTS else edited[at]["payload"]
            if name == "config_version" and entry["play"] is None:
                continue
            if inner[name] is None or (name == "config_version" and "held" not in entry["kind"]):
                continue
            if name == "reward" and about.get("capped"):
                continue  # what is above its range is credited as the range's end
            inner[name] += 1
            if entry["kind"] == "default.valued":
                inner[name] += 40  # alpha of one unit may round to nothing
            report = verify(lines(rechained(edited)))
            assert not report["ok"], (name, entry)


def test_a_configuration_has_to_be_what_alpha_makes_of_the_default():
    for kind in ("constant", "realised", "fixed"):
        for name in ("value", "floor", "hold", "deposit", "low", "places", "alpha"):
            entries = json.loads(json.dumps(Writer(kind).entries))
            said = entries[0]["payload"]["floor"]
            said[name] = said[name] + 1 if isinstance(said[name], int) else "0.3"
            assert problem(lines(rechained(entries))).startswith("entry 1: ")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alpha", "0"), ("alpha", "1"), ("alpha", 2), ("alpha", "nan"), ("alpha", "1/4"),
        ("alpha", "1e999999999"), ("kind", "mean-variance"), ("strict", False), ("low", 1000),
        ("default", "-0.1"), ("default", ["0.6", "0.3"]), ("default", ["0.3"]), ("default", 5),
        ("against", "nobody"), ("target", "x"), ("low", True), ("low", 2**63),
    ],
)  # fmt: skip
def test_a_configuration_that_no_floor_has_is_refused(name, value):
    entries = Writer().entries
    entries[0]["payload"]["floor"][name] = value
    assert problem(lines(rechained(entries))).startswith("entry 1: ")


def test_lines_missing_swapped_or_twice():
    rows = lines(scheduled(3).entries)
    assert problem(rows[:20] + rows[21:]).startswith("entry 20: seq is 21, expected 20")
    swapped = [*rows[:20], rows[21], rows[20], *rows[22:]]
    assert problem(swapped).startswith("entry 20: seq is 21, expected 20")
    assert problem(rows[:21] + rows[20:]).startswith("entry 21: seq is 20, expected 21")
    assert problem(rows + rows[-1:]).startswith(f"entry {len(rows)}: seq is ")


def test_a_missing_tail_shows_only_against_a_head_that_was_kept():
    entries = scheduled(3).entries
    head, rows = entries[-1]["hash"], lines(entries[:-4])
    assert verify(rows)["ok"]
    assert verify(rows, rows and entries[-5]["hash"])["ok"]
    last = len(entries) - 4
    assert problem(rows, head).startswith(f"entry {last}: no entry up to here has the hash that")
    assert problem(rows, f"{len(entries)}:{head}").startswith(f"entry {last}: no entry up to here")


def test_a_head_that_was_kept_stays_good_when_the_ledger_grows():
    entries = scheduled(3).entries
    for kept in (entries[9], entries[-1]):
        assert verify(lines(entries), kept["hash"])["ok"]
        assert verify(lines(entries), f"{kept['seq']}:{kept['hash']}")["ok"]


def raised():
    """A ledger of one reward, and the same with that reward raised and all totals redone."""
    ledgers = []
    for reward in (400, 900):
        writer = Writer(reserve=1000)
        writer.decide("a", True)
        writer.decide("b", False)
        writer.settle("a", reward)
        writer.confirm("b")
        ledgers.append(writer.entries)
    return ledgers


def test_a_raised_reward_is_caught_by_what_it_no_longer_fits():
    honest, _ = raised()
    rows = lines(honest)
    rows[5] = rows[5].replace(b'"reward":400', b'"reward":900')
    assert problem(rows).startswith("entry 5: hash is ")
    forged = json.loads(json.dumps(honest))
    forged[4]["payload"]["reward"] = 900
    assert problem(lines(rechained(forged))) == "entry 5: reward is 0.9, expected 0.4"
    forged[4]["payload"]["told"] = "0.9"
    assert problem(lines(rechained(forged))) == "entry 5: d_posted is 0.024, expected 0.524"


def test_a_ledger_rewritten_to_its_end_is_caught_against_a_kept_head():
    honest, forged = raised()
    head = honest[-1]["hash"]
    assert verify(lines(forged))["ok"]
    assert problem(lines(forged), head).startswith("entry 6: no entry up to here has the hash")
    assert problem(lines(forged), f"5:{honest[4]['hash']}").startswith("entry 5: hash is ")


def test_a_sound_ledger_of_another_head_is_not_said_to_have_broken_its_promise():
    honest, forged = raised()
    head, fifth = honest[-1]["hash"], honest[4]["hash"]
    for rows, kept in [(forged, head), (forged, f"5:{fifth}"), (honest, f"4:{fifth}"),
                       (honest[:-1], head)]:  # fmt: skip
        report = verify(lines(rows), kept)
        assert not report["ok"]
        assert report["verdict"] == OTHER
        assert report["entries"] == len(rows)
        assert report["violations"] == len(report["problems"]) == 1
    assert verify(lines(honest), f"5:{fifth}")["verdict"] == HOLDS


def test_another_head_beside_another_fault_leaves_the_promise_in_doubt():
    honest, forged = raised()
    short = [*forged[:4], forged[5]]
    for kept in (honest[-1]["hash"], f"3:{honest[4]['hash']}"):
        assert verify(lines(short), kept)["verdict"] == FAILED
    writer = Writer(reserve=1000)
    writer.decide("a", True)
    writer.settle("a", -5)  # a breach
    report = verify(lines(writer.entries), "1" * 64)
    assert (report["verdict"], len(report["problems"])) == (FAILED, 2)


def test_a_forged_hash_breaks_the_chain_at_the_next_entry_or_at_itself():
    entries = json.loads(json.dumps(scheduled(3).entries))
    entries[9]["payload"]["more"] = 1
    entries[9]["hash"] = hashed(entries[9])
    assert problem(lines(entries)).startswith("entry 11: prev is ")


PLANTED = {
    "a hold refunded on expiry": lambda w: w.append("outcome.expired", {}, 0, -376, play="open"),
    "a default credited twice": lambda w: (
        w.confirm("default"), w.append("decision.confirmed", {}, 125, play="default")),
    "a default credited when it is decided": lambda w: w.append(
        "decision.defaulted", {"value": 500, "floor": 376, "deposit": 125}, 125, play="x"),
    "a play settled twice": lambda w: w.settle("done", 251),
    "a reward after a void": lambda w: (w.void("open"), w.settle("open", 1000)),
    "a void after expiry": lambda w: w.append("decision.voided", {}, 376, play="late"),
    "a reward late twice": lambda w: (w.settle("late", 900), w.settle("late", 900)),
    "late before it expired": lambda w: w.append(
        "outcome.late", {"reward": 900}, 900, play="open"),
    "expired twice": lambda w: w.expire("late"),
    "a default that expires": lambda w: w.append("outcome.expired", play="default"),
    "a play that was never decided": lambda w: w.append("outcome.expired", {}, play="nobody"),
    "a play of another experiment": lambda w: w.append(
        "outcome.expired", {}, -376, -376, play="open", experiment="b"),
    "a play decided twice": lambda w: w.decide("open", False),
    "a play without a name": lambda w: w.decide(None, False),
    "a kind that no ledger has": lambda w: w.append("account.gift", {}, 5),
    "an acknowledgement of what was not capped": lambda w: w.append(
        "breach.acknowledged", {"play": "done"}, 5, play="done"),
    "more acknowledged than the rest": lambda w: (
        w.settle("open", 1100),
        w.append("breach.acknowledged", {"play": "open"}, 101, play="open")),
    "credited above the range": lambda w: w.append(
        "outcome.settled", {"reward": 1100, "capped": True}, 1100 - 376, -376, play="open"),
    "capped in silence": lambda w: w.append(
        "outcome.settled", {"reward": 1100}, 1000 - 376, -376, play="open"),
    "a breach in silence": lambda w: w.append(
        "outcome.settled", {"reward": -1}, -377, -376, play="open"),
    "a value of a default that is known": lambda w: (
        w.confirm("default"), w.append("default.valued", {"reward": 900}, 90, play="default")),
    "reserve withdrawn that is held": lambda w: w.append(
        "endowment.withdrawn", {"amount": 252}, reserve=-252),
    "a grant of less than nothing": lambda w: w.append(
        "endowment.granted", {"amount": -1}, reserve=-1),
    "a grant that moves what was posted": lambda w: w.append(
        "endowment.granted", {"amount": 5}, 5),
    "a note that moves the books": lambda w: w.append("assumption.broken", {"what": "x"}, 1),
    "opened twice": lambda w: w.append(
        "experiment.opened", w.entries[0]["payload"], config_version=2),
    "a version left out": lambda w: w.append(
        "experiment.configured", w.entries[0]["payload"], config_version=3),
    "a lease above the slack": lambda w: w.grant("l", 252),
    "a lease granted twice": lambda w: (w.grant("l", 50), w.grant("l", 50)),
    "a lease closed twice": lambda w: (w.grant("l", 50), w.forfeit("l"), w.forfeit("l")),
    "a lease that was returned, forfeited": lambda w: (
        w.grant("l", 50), w.give_back("l"),
        w.append("lease.forfeited", {"lease": "l", "unspent": 50}, -50, -50)),
    "a lease refunded on forfeit": lambda w: (
        w.grant("l", 50), w.append("lease.forfeited", {"lease": "l", "unspent": 50}, 0, -50)),
    "a lease returned with more than is left": lambda w: (
        w.grant("l", 50),
        w.append("lease.returned", {"lease": "l", "unspent": 51, "spent": -1}, held=-51)),
    "a lease overdrawn": lambda w: (w.grant("l", 50), w.decide("x", True, lease="l")),
    "a lease that nobody granted": lambda w: w.append(
        "decision.held", {**w.terms(), "low": 0, "high": 1000, "lease": "no"}, play="x"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_caught_at_its_entry(writer, name):
    PLANTED[name](writer)
    refused(writer)


def test_the_gate_is_exact():
    for reserve in (376, 375):
        writer = Writer(reserve=reserve)
        writer.decide("a", True)
        if reserve == 376:
            assert verify(lines(writer.entries))["minimum_slack"] == 0
        else:
            refused(writer, "the slack less its hold is -0.001, expected >= 0")


def test_a_lease_pays_for_its_plays_even_after_it_was_forfeited():
    writer = Writer(reserve=1000)
    writer.grant("l", 900)
    writer.decide("before", True, lease="l")
    writer.configure("constant", "0.25")
    writer.decide("old", True, lease="l")
    writer.entries[-1]["config_version"] = 1  # it did not know of the change yet
    writer.entries = rechained(writer.entries)
    writer.forfeit("l")
    writer.settle("before", 1000)
    assert verify(lines(writer.entries))["ok"]
    writer.decide("after", True, lease="l")
    refused(writer, "what is left of lease l is -0.228, expected >= 0")


def test_without_a_lease_a_decision_has_the_newest_configuration(writer):
    writer.configure("constant", "0.3")
    writer.append("endowment.granted", {"amount": 900}, reserve=900)
    writer.decide("x", True)
    assert verify(lines(writer.entries))["ok"]
    writer.entries[-1]["config_version"] = 1
    writer.entries = rechained(writer.entries)
    refused(writer, "config_version is 1, expected 2")


def test_several_experiments_share_one_account():
    writer = Writer(reserve=376)
    writer.configure("constant", "0.25", experiment="b")
    writer.decide("a", True)
    assert verify(lines(writer.entries))["ok"]
    writer.append("outcome.expired", {}, -376, -376, play="a", experiment="b")
    refused(writer, "before outcome.expired play a is no open play")


def test_a_text_that_looks_like_a_hash_does_not_confuse_the_chain():
    writer = Writer()
    trick = f'x,"hash":"{"0" * 64}"'
    writer.append("assumption.broken", {"hash": "0" * 64, "what": trick}, actor=trick)
    assert verify(lines(writer.entries))["ok"]


@given(st.data())
def test_the_least_prefix_sum_is_that_of_the_whole_order(data):
    order, kept, twin = Order(), [], []
    order.most = data.draw(st.integers(1, 4))
    for _ in range(data.draw(st.integers(0, 30))):
        value, final = data.draw(st.integers(-9, 9)), data.draw(st.booleans())
        item = order.add(value, final)
        order.most = 3
        twin.append(value)
        if not final:
            kept.append((item, len(twin) - 1))
        if kept and data.draw(st.booleans()):
            item, at = kept.pop(data.draw(st.integers(0, len(kept) - 1)))
            twin[at] = data.draw(st.integers(-9, 9))
            item[:] = twin[at], min(0, twin[at]), True
    sums = [sum(twin[:n]) for n in range(len(twin) + 1)]
    assert order.least() == min(sums)
