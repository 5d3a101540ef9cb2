"""A kill at each write of a scenario, and what a recovery with a bug in it would do."""

import copy

import pytest

from campaigning import campaign
from surefoot.errors import UnknownPlay
from surefoot.live import MemoryStore, recovery
from surefoot_torture.processes import sweep as sweeps
from surefoot_torture.processes.children import Diary
from surefoot_torture.processes.sweep import (
    Clock,
    Mortal,
    Point,
    calm_in_memory,
    in_memory,
    killed,
)


@pytest.fixture(scope="module")
def calm():
    return calm_in_memory()


def test_the_scenario_has_all_that_may_happen(calm):
    store = MemoryStore(clock := Clock())
    sweeps.proceed(store, clock, Diary())
    assert {entry.kind for entry in store.entries("scenario")} == {
        "experiment.opened", "experiment.configured", "experiment.state", "arms.added",
        "arms.removed", "decision.held", "decision.defaulted", "decision.confirmed",
        "decision.voided", "outcome.settled", "outcome.expired", "outcome.late",
        "outcome.as_default", "breach.acknowledged", "endowment.granted", "endowment.withdrawn",
    }  # fmt: skip


def test_snapshots_are_among_the_writes(monkeypatch):
    seqs, snapshot = [], Mortal.snapshot

    def counted(self, account, seq, *rest, **named):
        seqs.append(seq)
        snapshot(self, account, seq, *rest, **named)

    monkeypatch.setattr(Mortal, "snapshot", counted)
    calm_in_memory()
    assert len(seqs) >= 6


def test_a_kill_at_any_write_changes_nothing_in_the_end(calm, tmp_path):
    points = [point for point in calm.points() if not point.then]
    assert len(points) >= 140
    assert [problem for point in points[::3] for problem in killed(tmp_path, point, calm.end)] == []


def test_a_kill_in_the_recovery_from_a_kill_changes_nothing_either(calm, tmp_path):
    points = [point for point in calm.points() if point.then]
    assert len(points) > 1000
    assert [p for point in points[::29] for p in killed(tmp_path, point, calm.end)] == []


def test_processes_that_end_at_a_statement_change_nothing():
    report = campaign("--sweep", "--stride", 50)
    assert report["kill_points"] == -(-report["kill_points_there"] // 50) > 30


@pytest.mark.slow
def test_every_kill_point_there_is_is_covered():
    report = campaign("--sweep")
    assert report["kill_points"] == report["kill_points_there"] > 1500


def test_a_recovery_that_loses_a_turn_of_the_policy_is_found(calm, monkeypatch):
    restored = recovery.restored

    def forgetful(*words):
        fold = restored(*words)
        if fold.exists:
            fold.agent.turns -= 1
        return fold

    monkeypatch.setattr(recovery, "restored", forgetful)
    assert in_memory(Point("memory", 40, True))[0] != calm.end


def test_a_store_that_forgets_what_it_acknowledged_is_found(monkeypatch):
    write = Mortal._write

    def forgetful(self, call):
        before = copy.deepcopy(self._accounts)
        answer = write(self, call)
        if [len(each["scenario"].plays) for each in (before, self._accounts) if each] == [5, 6]:
            self._accounts = before
        return answer

    monkeypatch.setattr(Mortal, "_write", forgetful)
    with pytest.raises(UnknownPlay, match="v-5"):
        calm_in_memory()
