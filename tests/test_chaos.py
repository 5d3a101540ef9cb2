"""The chaos rig: a little of it runs here; its auditor accuses where it must, and only there."""

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from rig.auditor import Facts, Gap, audit
from rig.diary import Call, Diary, read
from rig.doors import DOORS
from rig.episodes import EPISODES
from rig.ledger import Entry, Ledger
from surefoot.errors import StoreUnavailable

COMMAND = [sys.executable, Path(__file__).parents[1] / "scripts" / "chaos.py"]


def chaos(*words, patience=300):
    return subprocess.run(
        [*COMMAND, *map(str, words)], capture_output=True, text=True, timeout=patience, check=False
    )


@pytest.fixture
def story():
    return Story()


class Story:
    """What clients were told, and a ledger that says the same, unless a test spoils it."""

    def __init__(self, reserve=4):
        self.reserve, self.calls, self.entries, self.more = reserve, [], [], {}
        self.time = 0.0

    def call(self, what, took=0.01, worker="w0", error=None, crash=None, told=None, **about):
        self.time += 1
        call = Call(worker, 1, {"what": what, "at": self.time, **about})
        end = {"at": self.time + took, "queued": 0.0}
        if error is not None:
            end |= {"error": error, "text": error}
        elif crash is not None:
            end["crash"] = crash
        else:
            end["told"] = told or {}
        call.end(end)
        self.calls.append(call)
        return call

    def enter(self, kind, play, **payload):
        seq = len(self.entries) + 1
        self.entries.append(Entry(seq, kind, "shop", play, 0, 0, 0, 0, 4, payload, f"hash {seq}"))

    def decide(self, name, index=0, lease=None, enter=True, **more):
        called = name if lease is None else f"{name}.{lease}"
        told = {"play": called, "index": index, "lease": lease}
        self.call("select", id=name, told=told, **more)
        if enter:
            kind = "decision.held" if index >= 0 else "decision.defaulted"
            self.enter(kind, name, index=index, lease=lease)

    def report(self, name, index=0, reward=1, what="update", enter="outcome.settled"):
        told = {"outcome": "booked"}
        self.call(what, play=name, index=index, reward=reward, told=told)
        if enter is not None:
            self.enter(enter, name, reward=None if reward is None else reward * 10**9)

    def kinds(self, **more):
        last = self.entries[-1] if self.entries else None
        row = None if last is None else (last.seq, last.hash, 0, 0, 4)
        ledger = Ledger(self.entries, row, {entry.play: "open" for entry in self.entries})
        facts = Facts(
            self.calls, ledger, Fraction(self.reserve), more.pop("gaps", []), [], {}, {},
            self.time + 100, frozenset(call.worker for call in self.calls),
        )._replace(**more)  # fmt: skip
        return [finding.kind for finding in audit(facts)]


def test_the_auditor_has_nothing_to_say_of_a_true_story(story):
    for number in range(10):
        story.decide(f"visit-{number}")
    for number in range(10):
        story.report(f"visit-{number}", reward=number % 2)
    story.decide("visit-10", index=-1)
    story.report("visit-10", index=-1, reward=None, enter="decision.confirmed")
    story.decide("visit-11", lease="w0-7")
    assert story.kinds() == []


def test_more_at_stake_than_earned_is_a_violation(story):
    for number in range(11):  # ten times 0.4 is the reserve
        story.decide(f"visit-{number}")
    assert story.kinds() == ["violation"]


def test_a_reward_counts_from_the_moment_it_is_reported(story):
    for number in range(10):
        story.decide(f"visit-{number}")
    story.report("visit-0")
    story.decide("visit-10")
    assert story.kinds() == []


def test_an_answer_that_is_not_in_the_ledger_is_lost(story):
    story.decide("visit-0")
    story.decide("visit-1", enter=False)
    assert story.kinds() == ["lost"]


def test_a_report_that_is_not_in_the_ledger_is_lost(story):
    story.decide("visit-0")
    story.report("visit-0", enter=None)
    assert story.kinds() == ["lost"]


def test_a_report_of_another_reward_is_lost(story):
    story.decide("visit-0")
    story.report("visit-0", reward=1, enter=None)
    story.enter("outcome.settled", "visit-0", reward=0)
    assert story.kinds() == ["lost"]


def test_what_the_rig_took_back_is_not_lost_but_what_came_later_is(story):
    story.decide("visit-0", enter=False)
    gap = Gap(0.5, 1.5)
    story.enter("experiment.opened", None)
    assert story.kinds(gaps=[gap]) == []
    story.decide("visit-1", index=-1, enter=False)
    assert story.kinds(gaps=[gap]) == ["lost"]


def test_who_knew_better_explores_no_more_on_a_store_that_was_set_back(story):
    story.decide("visit-0", enter=False)
    story.decide("visit-1")
    assert story.kinds(gaps=[Gap(0.5, 1.5)]) == ["violation"]
    story.calls[1].worker = "stranger"
    assert story.kinds(gaps=[Gap(0.5, 1.5)]) == []


def test_two_answers_for_one_id_are_double(story):
    story.decide("visit-0", index=0)
    story.decide("visit-0", index=1, enter=False)
    assert "double" in story.kinds()


def test_an_answer_under_another_name_is_double(story):
    told = {"play": "visit-9", "index": 0, "lease": None}
    story.call("select", id="visit-0", told=told)
    story.enter("decision.held", "visit-9", index=0)
    assert story.kinds() == ["double"]


@pytest.mark.parametrize("again", ["outcome.settled", "outcome.late", "decision.voided"])
def test_a_play_that_is_credited_twice_is_double(story, again):
    story.decide("visit-0")
    story.report("visit-0")
    story.enter(again, "visit-0", reward=10**9)
    assert "double" in story.kinds()


def test_a_call_of_more_than_ten_seconds_is_a_hang_unless_its_process_was_stopped(story):
    call = story.call("account", took=10.5)
    assert story.kinds() == ["hang"]
    assert story.kinds(pauses={1: [(call.began, call.began + 1)]}) == []
    call.queued = 1.0
    assert story.kinds() == []


def test_a_call_that_never_returns_is_a_hang_unless_its_process_was_killed(story):
    call = story.call("account")
    call.ended = call.told = None
    assert story.kinds() == ["hang"]
    assert story.kinds(deaths={1: call.began + 1}) == []


def test_an_error_of_nobodys_is_a_traceback(story):
    story.call("select", crash="Traceback\nValueError: odd", id="visit-0")
    assert story.kinds() == ["traceback"]


def test_to_be_refused_needs_a_reason(story):
    call = story.call("select", error="StoreUnavailable", id="visit-0")
    assert story.kinds() == ["other"]
    assert story.kinds(storms=[(call.began - 1, call.began + 1)]) == []


def test_an_account_unlike_its_entries_is_found(story):
    story.decide("visit-0")
    last = story.entries[-1]
    story.entries[-1] = last._replace(reserve=5)
    assert story.kinds() == ["other"]


def test_a_diary_keeps_what_came_of_each_call(tmp_path):
    def refused():
        raise StoreUnavailable("away")

    diary = Diary(tmp_path / "w0.diary")
    diary.call("select", lambda: 7, lambda seven: {"play": seven}, id="visit-0")
    assert diary.call("select", refused)[0] is None
    diary.call("select", lambda: 1 / 0)
    diary.note(call=99, what="account")  # and here it was killed
    first, second, third, last = read(diary.path)[0]
    assert (first.told, first.error, first.about["id"]) == ({"play": 7}, None, "visit-0")
    assert (second.told, second.error, second.text) == (None, "StoreUnavailable", "away")
    assert "ZeroDivisionError" in third.crash
    assert (last.ended, last.worker) == (None, "w0")


def test_every_door_names_episodes_that_there_are():
    assert [name for name, door in DOORS.items() if not set(door.episodes) <= set(EPISODES)] == []
    assert all(door.episodes and door.open.__doc__ for door in DOORS.values())


def test_what_the_doors_bend_is_there():
    assert {name: door.missing for name, door in DOORS.items() if door.missing} == {}


def test_workers_that_are_killed_leave_nothing_wrong():
    run = chaos("--only", "killed on SQLite", "--times", 1, "--json")
    [report] = json.loads(run.stdout)
    assert (report["findings"], run.returncode) == ([], 0), run.stderr
    assert report["counts"]["answers"] > 5


@pytest.mark.slow
def test_an_open_door_is_found():
    run = chaos("--only", "calm", "--times", 1, "--door", "ids are not looked up")
    assert "double: calm, seed 0" in run.stdout
    assert run.returncode == 1


@pytest.mark.slow
def test_every_kind_of_trouble_leaves_nothing_wrong():
    run = chaos("--times", len(EPISODES), "--minutes", 30, "--json", patience=1800)
    found = {report["episode"]: report["findings"] for report in json.loads(run.stdout)}
    assert {name: findings for name, findings in found.items() if findings} == {}
    assert run.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_each_door_is_found(door):
    run = chaos("--doors", door, patience=900)
    assert run.returncode == 0, run.stdout
