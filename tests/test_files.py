"""What is kept of a file, and of what lay in its place, if its writer fails or is killed."""

import errno
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from surefoot._files import create, replacing, sync_folder


def test_a_file_takes_its_place_when_it_is_whole(tmp_path):
    target = tmp_path / "a.b.csv"
    target.write_text("old")
    with replacing(target) as draft:
        draft.write_text("new")
        assert (draft.parent, draft.suffix, target.read_text()) == (tmp_path, ".csv", "old")
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_two_writers_of_one_file_never_share_a_draft(tmp_path):
    target = tmp_path / "a.csv"
    with replacing(target) as one:
        with replacing(target) as other:  # in one process, as two threads would
            one.write_text("one")
            other.write_text("other")
        assert target.read_text() == "other"
    assert target.read_text() == "one"
    assert list(tmp_path.iterdir()) == [target]


def test_a_draft_of_a_long_name_has_a_name_that_fits(tmp_path):
    target = tmp_path / f"{'x' * 243}.parquet"
    with replacing(target) as draft:
        draft.touch()
    assert target.exists()


@pytest.mark.parametrize("links", [True, False])
def test_of_many_that_create_a_file_at_once_one_does(tmp_path, monkeypatch, links):
    def refused(*_):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))  # as on a FAT disk

    if not links:
        monkeypatch.setattr(os, "link", refused)
    target, texts = tmp_path / "a.json", [str(number) * 9000 for number in range(8)]
    together = threading.Barrier(len(texts))

    def begin(text):
        together.wait()
        return create(target, text)

    with ThreadPoolExecutor(len(texts)) as pool:
        who = list(pool.map(begin, texts))
    assert who.count(True) == 1
    assert target.read_text() == texts[who.index(True)]
    assert list(tmp_path.iterdir()) == [target]


def fails(target, error):
    with replacing(target) as draft:
        draft.write_text("half")
        raise error


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_writer_that_fails_leaves_what_was_there(tmp_path, error):
    target = tmp_path / "a"
    target.write_text("old")
    with pytest.raises(error):
        fails(target, error)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_writer_that_is_killed_leaves_what_was_there(tmp_path):
    target = tmp_path / "a"
    target.write_text("old")
    child = os.fork()
    if child == 0:
        with replacing(target) as draft:
            draft.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert target.read_text() == "old"


@pytest.mark.parametrize("name", ["a.tmp", "a.csv.tmp", ".a.csv"])
def test_no_file_of_somebody_else_is_its_draft(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with replacing(tmp_path / "a.csv") as draft:
        draft.touch()
    assert (tmp_path / name).read_text() == "mine"


def test_the_file_is_synced_and_then_its_name(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_ino))
    with replacing(tmp_path / "a") as draft:
        draft.touch()
    assert synced == [(tmp_path / "a").stat().st_ino, tmp_path.stat().st_ino]


def test_a_folder_that_cannot_be_synced_is_no_failure_but_a_broken_disk_is(tmp_path, monkeypatch):
    def number(_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", number)
    code = errno.EINVAL
    sync_folder(tmp_path)
    code = errno.EIO
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        sync_folder(tmp_path)
