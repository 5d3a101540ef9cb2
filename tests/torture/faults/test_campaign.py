"""Agents under simulated faults keep the promise; with a bug in them they are found out."""

import json

import pytest

from live.postgres import database, postgres  # noqa: F401  (fixtures)
from surefoot.errors import InvalidInput
from surefoot.live.fold import Fold
from surefoot_torture.cli import main
from surefoot_torture.faults.campaign import Campaign, schedule
from surefoot_torture.faults.planted import BUGS, OF_LEASES, planted

SHORT = 4, 20
PART = 250


def found(campaign):
    """What a campaign found to be wrong; nothing, if all is well."""
    assert sum(1 for _ in campaign.run()) > 0
    assert campaign.report()["faults"] > 0
    return campaign.sentence() if campaign.failed else ""


@pytest.mark.parametrize("part", range(6))
def test_no_schedule_breaks_anything_in_memory(part):
    assert found(Campaign("memory", PART, seed=part * PART, size=SHORT)) == ""


@pytest.mark.parametrize("part", range(2))
def test_no_schedule_with_leases_breaks_anything_in_memory(part):
    assert found(Campaign("memory", PART, seed=part * PART, size=SHORT, leases=True)) == ""


@pytest.mark.slow
@pytest.mark.parametrize("leases", [False, True])
def test_no_long_schedule_breaks_anything_in_memory(leases):
    assert found(Campaign("memory", 500, seed=10**6, size=(60, 300), leases=leases)) == ""


@pytest.mark.parametrize("leases", [False, True])
def test_no_schedule_breaks_anything_in_sqlite(tmp_path, leases):
    assert found(Campaign(str(tmp_path / "ledger.db"), 10, size=SHORT, leases=leases)) == ""


@pytest.mark.parametrize("leases", [False, True])
def test_no_schedule_breaks_anything_in_postgresql(database, leases):  # noqa: F811  (a fixture)
    assert found(Campaign(database, 3, size=SHORT, leases=leases)) == ""


@pytest.mark.parametrize("bug", [*BUGS, *OF_LEASES])
def test_a_planted_bug_is_caught(bug):
    with planted(bug):
        campaign = Campaign("memory", 400, seed=5000, size=(5, 40), leases=bug in OF_LEASES)
        assert not all(verdict.ok for verdict in campaign.run())


def test_an_open_play_that_is_never_closed_is_found(monkeypatch):
    """Every agent of a ledger counts alike, and too much: only the judge's own text can tell."""
    monkeypatch.setattr(Fold, "tell_closed", lambda fold, name, play: fold.counted.discard(name))
    assert " wrong" in found(Campaign("memory", 20, size=SHORT))


def test_one_seed_is_one_schedule():
    assert schedule(11, size=SHORT) == schedule(11, size=SHORT)
    assert schedule(11, size=SHORT, leases=True) == schedule(11, size=SHORT, leases=True)
    assert schedule(11, size=SHORT) != schedule(12, size=SHORT)


def test_a_campaign_that_was_stopped_goes_on_from_its_file(tmp_path):
    file = tmp_path / "campaign.json"
    stopped = Campaign("memory", 4, size=SHORT, resume=file)
    runs = stopped.run()
    next(runs)
    runs.close()
    again = Campaign("memory", 4, size=SHORT, resume=file)
    assert again.done == 1
    assert [verdict.seed for verdict in again.run()] == [1, 2, 3]
    whole = Campaign("memory", 4, size=SHORT)
    assert sum(1 for _ in whole.run()) == 4
    assert {**again.report(), "seconds": 0} == {**whole.report(), "seconds": 0}


def test_the_file_of_another_campaign_is_refused(tmp_path):
    file = tmp_path / "campaign.json"
    assert sum(1 for _ in Campaign("memory", 1, size=SHORT, resume=file).run()) == 1
    with pytest.raises(InvalidInput, match="seed = 0, not 7"):
        Campaign("memory", 1, seed=7, size=SHORT, resume=file)


def test_the_command_says_what_it_ran(capsys):
    assert main(["faults", "--schedules", "2", "--seed", "3", "--size", "4-20"]) == 0
    told = capsys.readouterr().out
    assert "schedules 2 · seeds 3..4" in told
    assert "violations 0 · lost 0 · double 0" in told


def test_the_command_prints_json(capsys):
    assert main(["faults", "--schedules", "3", "--size", "4-20", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["schedules"], report["seeds"], report["bound"]) == (3, [0, 2], 1.0)


def test_the_command_names_the_seeds_that_failed_and_how_to_run_them_again(capsys):
    with planted("default_credited_when_decided"):
        assert main(["faults", "--schedules", "3", "--size", "4-20"]) == 1
    told = capsys.readouterr().out
    assert "again: surefoot-torture faults --seed " in told
    assert "95 %" not in told
