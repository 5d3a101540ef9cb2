"""A writer goes on where the one before it was killed, and notes what is not as it was told."""

from itertools import pairwise

import pytest

from surefoot.errors import StoreUnavailable
from surefoot.floors import Outcome
from surefoot.live import MemoryStore
from surefoot_torture.processes import writer
from surefoot_torture.processes.children import opened, read
from surefoot_torture.processes.writer import Writer, surely, write


@pytest.fixture
def live():
    return opened(MemoryStore(), "a", None)


def kinds(path):
    return [line[0] for line in read(path)]


def test_it_notes_what_it_means_before_and_what_it_was_told_after(live, tmp_path):
    diary = tmp_path / "w0.diary"
    assert Writer(live, diary, seed=3).run(60) == 60
    lines = read(diary)
    assert kinds(diary).count("ask") == kinds(diary).count("play") == 60
    for before, after in pairwise(lines):
        if after[0] == "told":
            assert before == ["made", *after[1:4]]
    assert {line[2] for line in lines if line[0] == "told"} == {
        "update", "capped", "acknowledge", "expire", "void", "fall_back"
    }  # fmt: skip


def test_the_next_one_asks_again_for_what_was_under_way(live, tmp_path):
    diary = tmp_path / "w0.diary"
    before = Writer(live, diary, seed=3)
    before.run(5)
    play = live.select(id="w0-5")
    before.diary.note("ask", "w0-5")
    after = Writer(live, diary, seed=4)
    after.go_on()
    assert read(diary)[-1] == ["play", "w0-5", play.index]
    assert after.asked == 6
    assert after.waiting == before.waiting | {"w0-5": "default" if play.is_default else "open"}


def test_the_next_one_reports_again_what_was_under_way(live, tmp_path):
    diary = tmp_path / "w0.diary"
    before = Writer(live, diary, seed=3)
    before.play()
    play = read(diary)[-1][1]
    live.update(play, 0.5)
    before.diary.note("made", play, "update", "0.5")
    after = Writer(live, diary, seed=4)
    after.go_on()
    assert read(diary)[-1] == ["told", play, "update", "0.5", "repeated"]
    assert after.waiting == {}


def test_a_play_that_changed_and_a_report_that_was_lost_are_noted(live, tmp_path, monkeypatch):
    diary = tmp_path / "w0.diary"
    before = Writer(live, diary, seed=3)
    before.play()
    play = read(diary)[-1][1]
    before.diary.note("play", play, 7)
    before.diary.note("told", play, "void", None, "booked")
    Writer(live, diary, seed=4).go_on()
    faults = [line[1] for line in read(diary) if line[0] == "fault"]
    assert [fault.split(":")[0] for fault in faults] == [
        f"play {play} was another before the kill", f"void of play {play} was booked twice"
    ]  # fmt: skip


def test_a_store_that_is_away_is_waited_for_but_not_for_ever(monkeypatch):
    monkeypatch.setattr(writer.time, "sleep", lambda _: None)
    answers = iter([StoreUnavailable("away"), StoreUnavailable("away"), Outcome.BOOKED])

    def call():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert surely(call) is Outcome.BOOKED
    answers = iter([StoreUnavailable("away")] * 2)
    with pytest.raises(StoreUnavailable):
        surely(call, patience=0)


def test_a_child_opens_a_live_of_its_own_and_closes_it(tmp_path):
    path = str(tmp_path / "a.db")
    for n, plays in enumerate((4, 9)):
        assert write(path, "a", tmp_path / "w.diary", n, plays, tmp_path / "journal") == plays
    assert list((tmp_path / "journal").iterdir()) == []
    assert kinds(tmp_path / "w.diary").count("play") == 9
