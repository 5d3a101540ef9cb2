"""Long runs on disk: what is whole and of this run comes back, and nothing else."""

import hashlib
import io
import shutil
import warnings
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.simulation import stops
from surefoot.study.results import open_runs
from surefoot.study.results.open_runs import (
    OpenRun,
    clear,
    count,
    discard,
    open_file,
    packed,
    unpacked,
)

CELLS = ["0123456789abcdef", "fedcba9876543210"]
STATE = {"stage": np.array([0]), "now.books": np.arange(9), "now.losses": np.array([0.1, -2.0])}


class Clock:
    """Seconds that pass when told."""

    now = 100.0

    def __call__(self):
        return self.now


def at(folder, cells=CELLS, run=3, clock=None):
    return OpenRun(folder, cells, run, clock or Clock())


def kept(folder, **others):
    """A file of a state, and where it is."""
    clock = Clock()
    keeper = at(folder, clock=clock, **others)
    clock.now += 31
    keeper.keep(lambda: STATE, False)
    return keeper.file


def assert_equal(one, other):
    assert {k: (v.dtype, v.tolist()) for k, v in one.items()} == {
        k: (v.dtype, v.tolist()) for k, v in other.items()
    }


def test_what_is_kept_comes_back(tmp_path):
    file = kept(tmp_path)
    assert file == tmp_path / "open" / "0123456789abcdef-3.npz"
    assert_equal(at(tmp_path).kept(), STATE)
    assert [path.name for path in file.parent.iterdir()] == [file.name]  # no draft
    with np.load(file, allow_pickle=False) as read:  # anybody can read it
        assert "now.books" in read


def test_a_run_is_kept_every_half_minute(tmp_path):
    clock, asked = Clock(), []
    keeper = at(tmp_path, clock=clock)
    assert keeper.kept() is None
    for second in range(1, 100):
        clock.now = 100.0 + second
        keeper.keep(lambda: (asked.append(clock.now), STATE)[1], False)
    assert asked == [130.0, 160.0, 190.0]


@pytest.mark.parametrize(("seconds", "there"), [(1, False), (4, True)])
def test_a_run_that_is_given_up_is_kept_if_it_is_worth_it(tmp_path, seconds, there):
    clock = Clock()
    keeper = at(tmp_path, clock=clock)
    clock.now += seconds
    keeper.keep(lambda: STATE, True)
    assert keeper.file.exists() == there


def test_finished_runs_leave_nothing_behind(tmp_path):
    files = [kept(tmp_path, run=run) for run in (3, 4, 9)]
    discard(tmp_path, CELLS, range(3, 5))
    assert [file.exists() for file in files] == [False, False, True]
    draft = files[2].with_name(f".{files[2].stem}.{'0' * 32}.npz")
    draft.touch()  # of a process that was killed as it wrote
    assert count(tmp_path) == 1
    discard(tmp_path, CELLS, [9, 10])
    assert list(tmp_path.iterdir()) == []
    assert count(tmp_path) == 0
    discard(tmp_path, CELLS, [9])


def test_clearing_leaves_what_no_study_wrote(tmp_path):
    kept(tmp_path)
    mine = kept(tmp_path, run=4).with_name("mine.npz")
    mine.touch()
    clear(tmp_path)
    assert list(mine.parent.iterdir()) == [mine]


def test_other_runs_and_other_cells_have_other_files(tmp_path):
    kept(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert at(tmp_path, run=4).kept() is None
        assert at(tmp_path, cells=CELLS[::-1]).kept() is None


def sealed(body):
    return body + hashlib.sha256(body).hexdigest().encode()


def with_pickle(data):
    """A whole file, with an object in it that numpy would have to unpickle."""
    file = io.BytesIO()
    np.savez(file, run=np.array([print], object), allow_pickle=True)
    with zipfile.ZipFile(file, "a") as archive:
        archive.comment = b"0" * 64
    return sealed(file.getvalue()[:-64])


def of(head):
    return packed({"run": stops.text_of(head), **STATE})


HEAD = {"format": 1, "cells": CELLS, "run": 3}
DAMAGED = {
    "empty": lambda data: b"",
    "cut at the end": lambda data: data[:-1],
    "cut in the middle": lambda data: data[: len(data) // 2],
    "cut at the start": lambda data: data[1:],
    "longer": lambda data: data + b"\0",
    "another comment": lambda data: data[:-64] + b"0" * 64,
    "zeros": lambda data: bytes(len(data)),
    "text": lambda data: b"not a run" * 100,
    "a part that is not there": lambda data: data[:200] + data[300:],
    "two files": lambda data: data + data,
    "a pickle": with_pickle,
    "no archive": lambda data: sealed(b"whole, but nothing"),
    "no head": lambda data: packed(STATE),
    "a head that is no JSON": lambda data: packed({"run": np.zeros(3, np.uint8), **STATE}),
    "another run": lambda data: of({**HEAD, "run": 4}),
    "another cell": lambda data: of({**HEAD, "cells": CELLS[:1]}),
    "the cells in another order": lambda data: of({**HEAD, "cells": CELLS[::-1]}),
    "an older format": lambda data: of({**HEAD, "format": 0}),
    "a format of the future": lambda data: of({**HEAD, "format": 2}),
}


@pytest.mark.parametrize("damage", sorted(DAMAGED))
def test_what_is_damaged_or_foreign_is_ignored_with_a_warning(tmp_path, damage):
    file = kept(tmp_path)
    file.write_bytes(DAMAGED[damage](file.read_bytes()))
    with pytest.warns(RuntimeWarning, match=r"0123456789abcdef-3.npz .*: run 3 starts again"):
        assert at(tmp_path).kept() is None


@given(st.data())
def test_no_flipped_bit_is_overlooked(data):
    whole = packed(STATE)
    place, bit = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(0, 7))
    other = bytearray(whole)
    other[place] ^= 1 << bit
    with pytest.raises(ValueError, match="is damaged"):
        unpacked(bytes(other))


def test_a_folder_in_the_files_place_is_out_of_reach(tmp_path):
    kept(tmp_path).unlink()
    open_file(tmp_path, CELLS, 3).mkdir()
    with pytest.warns(RuntimeWarning, match=r"is out of reach \(Is a directory\)"):
        assert at(tmp_path).kept() is None


def test_a_run_goes_on_where_nothing_can_be_kept(tmp_path):
    """As on a full disk; it is said once."""
    (tmp_path / "open").write_text("in the way")
    clock = Clock()
    keeper = at(tmp_path, clock=clock)
    clock.now += 31
    with pytest.warns(RuntimeWarning, match="if it is killed, the run starts again"):
        keeper.keep(lambda: STATE, False)
    clock.now += 31
    keeper.keep(lambda: STATE, False)


def test_a_folder_that_another_run_has_just_removed_is_made_again(tmp_path, monkeypatch):
    shutil.rmtree(kept(tmp_path).parent)
    write, calls = open_runs.replacing, []

    def racing(path):
        calls.append(path)
        if len(calls) == 1:
            raise FileNotFoundError(2, "No such file or directory")
        return write(path)

    monkeypatch.setattr(open_runs, "replacing", racing)
    assert kept(tmp_path).exists()
    assert len(calls) == 2
