"""What a worker's journal keeps, and what is read of one that was left behind."""

import errno
import os
import resource
import signal
from pathlib import Path

import pytest

from surefoot.errors import DamagedFile, InvalidInput, StoreUnavailable
from surefoot.live.journal import Header, Journal, _line, boot_id, left_behind


def header(owner="w1", boot="b", durable=False, experiment="e", ledger="h"):
    return Header("shop", experiment, ledger, owner, boot, durable)


def found(folder, boot="b", **own):
    return [(left.header.owner, left.steps, left.whole)
            for left in left_behind(folder, header(boot=boot, **own))]  # fmt: skip


def test_what_was_written_is_there_after_the_process_is_gone(tmp_path):
    journal = Journal(tmp_path / "new", header())
    journal.write([{"play": "a", "text": "ü"}])
    journal.write([{"play": "b"}])
    journal.close()
    assert found(tmp_path / "new") == [("w1", [{"play": "a", "text": "ü"}, {"play": "b"}], True)]


def test_a_journal_in_use_is_not_left_behind(tmp_path):
    with_steps = Journal(tmp_path, header())
    with_steps.write({"play": "a"})
    other = Journal(tmp_path, header("w2"))
    other.close()
    assert found(tmp_path) == [("w2", [], True)]


def test_a_journal_is_taken_once(tmp_path):
    Journal(tmp_path, header()).close()
    for left in left_behind(tmp_path, header()):
        assert found(tmp_path) == []  # locked by whoever looks at it
        left.path.unlink()
    assert found(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_the_journals_of_other_experiments_are_left_alone(tmp_path):
    Journal(tmp_path, header(experiment="other")).close()
    assert found(tmp_path) == []
    assert found(tmp_path, experiment="other") == [("w1", [], True)]


def test_what_is_in_the_ledger_is_forgotten(tmp_path):
    journal = Journal(tmp_path, header())
    journal.write([{"play": "a"}])
    journal.forget(journal.end)
    journal.write([{"play": "b"}])
    journal.close()
    assert found(tmp_path) == [("w1", [{"play": "b"}], True)]


def test_a_torn_last_line_was_never_answered(tmp_path):
    journal = Journal(tmp_path, header())
    journal.write([{"play": "a"}])
    journal.write([{"play": "b"}])
    journal.close()
    whole = journal.path.read_bytes()
    start = whole.index(b"\n") + 1
    for end in range(start, len(whole) + 1):
        journal.path.write_bytes(whole[:end])
        [(_, steps, is_whole)] = found(tmp_path)
        assert steps == [{"play": "a"}, {"play": "b"}][: whole[start:end].count(b"\n")]
        assert is_whole


def test_a_torn_first_line_is_no_journal_yet(tmp_path):
    journal = Journal(tmp_path, header())
    journal.close()
    line = journal.path.read_bytes()
    for end in range(len(line) - 1):
        journal.path.write_bytes(line[:end])
        assert found(tmp_path) == []


def test_a_line_lost_within_is_known_to_be_missing(tmp_path):
    journal = Journal(tmp_path, header())
    for play in "abc":
        journal.write([{"play": play}])
    journal.close()
    lines = journal.path.read_bytes().split(b"\n")
    lines[2] = b"\0" * len(lines[2])
    journal.path.write_bytes(b"\n".join(lines))
    assert found(tmp_path) == [("w1", [{"play": "a"}, {"play": "c"}], False)]


@pytest.mark.parametrize(("boot", "durable", "whole"), [
    ("b", False, True), ("c", False, False), ("c", True, True), ("", False, False),
])  # fmt: skip
def test_after_a_power_cut_only_a_synced_journal_is_whole(tmp_path, boot, durable, whole):
    Journal(tmp_path, header(boot=boot and "b", durable=durable)).close()
    assert found(tmp_path, boot) == [("w1", [], whole)]


def test_this_machine_has_one_boot_id():
    assert boot_id() == boot_id()


def test_a_full_disk_is_an_error_and_leaves_no_half_line(tmp_path):
    """In a child, as the limit on the size of files is the process's."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        journal = Journal(tmp_path, header())
        journal.write([{"play": "a"}])
        size = journal.path.stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, resource.RLIM_INFINITY))
        try:
            journal.write([{"play": "b" * 100}])
        except StoreUnavailable:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, resource.RLIM_INFINITY))
            journal.write([{"play": "c"}])
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert found(tmp_path) == [("w1", [{"play": "a"}, {"play": "c"}], True)]


def test_a_forked_child_must_not_write(tmp_path):
    journal = Journal(tmp_path, header())
    child = os.fork()
    if child == 0:
        try:
            journal.write([{}])
        except InvalidInput:
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_folder_that_cannot_be_is_one_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="journal"):
        Journal(tmp_path / "file", header())


def test_a_closed_journal_takes_no_more(tmp_path):
    journal = Journal(tmp_path, header())
    journal.remove()
    journal.close()
    with pytest.raises(InvalidInput, match="closed"):
        journal.write([{}])


def open_files():
    return len(list(Path("/dev/fd").iterdir()))


@pytest.mark.parametrize(("number", "remedy"), [
    (errno.ENOSPC, "make room there, or name a folder"), (errno.EIO, "; name a folder"),
])  # fmt: skip
def test_a_journal_that_cannot_be_made_leaves_nothing(tmp_path, monkeypatch, number, remedy):
    def fails(_):
        raise OSError(number, os.strerror(number))

    opened = open_files()
    monkeypatch.setattr(os, "fsync", fails)
    for _ in range(3):
        with pytest.raises(InvalidInput, match=remedy):
            Journal(tmp_path, header())
    assert open_files() == opened
    assert list(tmp_path.iterdir()) == []


def test_what_is_left_of_a_journal_that_was_never_ready_is_removed(tmp_path):
    journal = Journal(tmp_path, header())
    draft = journal.path.rename(tmp_path / ".w1.new")
    assert found(tmp_path) == []
    assert draft.exists()  # its maker is at work
    journal.close()
    assert found(tmp_path) == []
    assert not draft.exists()


@pytest.mark.parametrize("content", [b"", b"of somebody else\n", b"h\n" * 2, "steps"])
def test_another_hidden_file_is_left_alone(tmp_path, content):
    if content == "steps":
        content = _line(header()._asdict()) + _line({"play": "a"})
    (tmp_path / ".w1.new").write_bytes(content)
    assert found(tmp_path) == []
    assert (tmp_path / ".w1.new").read_bytes() == content


def of_another_version(folder, *steps, **fields):
    path = folder / "x.journal"
    said = {key: value for key, value in (header()._asdict() | fields).items() if value is not None}
    path.write_bytes(b"".join(map(_line, [said, *steps])))
    return path


@pytest.mark.parametrize("fields", [{"version": 2}, {"boot": None}])
def test_a_journal_of_another_version_is_neither_ignored_nor_deleted(tmp_path, fields):
    path = of_another_version(tmp_path, {"play": "a"}, **fields)
    before = path.read_bytes()
    with pytest.raises(DamagedFile, match=r"x.journal' is a journal of another version"):
        found(tmp_path)
    assert path.read_bytes() == before
    assert found(tmp_path, experiment="other") == []


def test_a_journal_of_another_version_without_a_play_is_in_nobodys_way(tmp_path):
    path = of_another_version(tmp_path, version=2)
    Journal(tmp_path, header()).close()
    assert found(tmp_path) == [("w1", [], True)]
    assert path.exists()


def test_a_journal_of_another_ledger_stays_where_it_is(tmp_path):
    journal = Journal(tmp_path, header())
    journal.write([{"play": "a"}])
    journal.close()
    assert found(tmp_path, ledger="another") == []
    assert found(tmp_path) == [("w1", [{"play": "a"}], True)]


def test_what_is_no_journal_of_ours_stops_nobody(tmp_path):
    (tmp_path / "folder.journal").mkdir()
    (tmp_path / "list.journal").write_bytes(_line([1, 2]))
    (tmp_path / "text.journal").write_text("mine")
    assert found(tmp_path) == []
    assert len(list(tmp_path.iterdir())) == 3


def test_a_journal_that_was_deleted_takes_no_more_steps(tmp_path):
    journal = Journal(tmp_path, header())
    journal.write([{"play": "a"}])
    journal.path.unlink()
    with pytest.raises(StoreUnavailable, match=r"was deleted, nothing was decided or booked"):
        journal.write([{"play": "b"}])
    assert journal.steps() == [{"play": "a"}]
