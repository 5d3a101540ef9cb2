"""Each thing that must not happen to a ledger is found by the audit, and by nothing else."""

from fractions import Fraction

import pytest

from surefoot.live import MemoryStore
from surefoot.live.entries import GENESIS, chained
from surefoot_torture.processes.audit import Told, audit, found
from surefoot_torture.processes.children import opened, read
from surefoot_torture.processes.writer import Writer


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """An account, its entries, and the diary of the one process that played."""
    diary, store = tmp_path_factory.mktemp("audit") / "w0.diary", MemoryStore()
    live = opened(store, "a", None)
    Writer(live, diary, seed=3).run(80)
    return store.account("a"), list(store.entries("a")), read(diary)


def rechained(row, entries):
    """The same entries with totals, numbers and hashes that follow, and their account."""
    prev, posted, held, reserve, kept = GENESIS, 0, 0, 0, []
    for seq, entry in enumerate(entries, start=1):
        posted, held = posted + entry.d_posted, held + entry.d_held
        reserve += entry.payload["amount"] if entry.kind == "endowment.granted" else 0
        fields = entry._asdict() | {"seq": seq, "prev": prev, "posted": posted, "held": held}
        del fields["hash"]
        kept.append(chained(**fields))
        prev = kept[-1].hash
    return row._replace(seq=len(kept), head=prev, posted=posted, held=held), kept


def problems(row, entries, lines):
    return found(*rechained(row, entries), Told(lines))


def test_a_ledger_as_it_should_be_has_no_problems(played):
    row, entries, lines = played
    assert rechained(row, entries) == (row, entries)
    assert found(row, entries, Told(lines)) == []
    assert len({entry.kind for entry in entries}) >= 10


def first(entries, kind):
    return next(n for n, entry in enumerate(entries) if entry.kind == kind)


def test_a_lost_play_is_found(played):
    row, entries, lines = played
    assert "play b was acknowledged as arm 2, but is lost" in problems(
        row, entries, [*lines, ["play", "b", 2]]
    )


def test_a_play_that_became_another_is_found(played):
    row, entries, lines = played
    at = first(entries, "decision.held")
    play = entries[at].play
    other = [["play", play, 9] if line[:2] == ["play", play] else line for line in lines]
    assert any(f"play {play} was acknowledged as arm 9" in p for p in problems(row, entries, other))


@pytest.mark.parametrize("kind", ["outcome.settled", "outcome.late", "decision.voided"])
def test_a_lost_report_is_found(played, kind):
    row, entries, lines = played
    at = first(entries, kind)
    rest = [*entries[:at], *entries[at + 1 :]]
    assert any("but is lost" in p for p in problems(row, rest, lines))


@pytest.mark.parametrize("kind", ["outcome.settled", "outcome.late", "decision.confirmed"])
def test_a_report_booked_twice_is_found(played, kind):
    row, entries, lines = played
    twice = entries[first(entries, kind)]
    assert any(
        f"play {twice.play} was reported 2 times" in p
        for p in problems(row, [*entries, twice], lines)
    )


def test_a_reward_that_nobody_reported_is_found(played):
    row, entries, lines = played
    entry = entries[first(entries, "outcome.settled")]
    silent = [line for line in lines if line[:2] != ["made", entry.play]]
    assert any("nobody reported" in p for p in problems(row, entries, silent))
    other = [
        ["made", *line[1:3], "0.0001"] if line[:2] == ["made", entry.play] else line
        for line in lines
    ]
    found = problems(row, entries, other)
    assert any("nobody did" in p for p in found)
    assert any("above the truth" in p for p in found)


def test_an_amount_that_is_off_is_found(played):
    row, entries, lines = played
    at = first(entries, "outcome.settled")
    more = entries[at]._replace(d_posted=entries[at].d_posted + 1)
    found = problems(row, [*entries[:at], more, *entries[at + 1 :]], lines)
    assert any("but add up to" in p for p in found)
    assert any(f"entry {at + 1}: d_posted" in p for p in found)


def test_an_account_that_states_another_slack_is_found(played):
    row, entries, lines = played
    stated = [Fraction(1), Fraction(0), Fraction(2)]
    assert "but add up to" in found(row, entries, Told(lines), stated)[0]


def test_an_edited_entry_is_found(played):
    row, entries, lines = played
    edited = [*entries[:4], entries[4]._replace(at=1), *entries[5:]]
    assert any("hash" in p for p in found(row, edited, Told(lines)))


def test_faults_that_a_writer_noted_are_found(played):
    row, entries, lines = played
    assert found(row, entries, Told([*lines, ["fault", "it forgot"]])) == ["it forgot"]


def test_the_books_of_leases_add_up(tmp_path):
    path, diary, journal = str(tmp_path / "a.db"), tmp_path / "w0.diary", tmp_path / "journal"
    live = opened(path, "a", journal)
    Writer(live, diary, seed=3).run(60)
    live.close()
    report = audit(path, "a", [diary], journal)
    assert report["problems"] == []
    assert report["acknowledged"] > 60
    assert report["entries"] > report["acknowledged"]
    assert 0 < report["seconds"] < 60
