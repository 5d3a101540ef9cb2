from decimal import Decimal

import pytest

from leased import agent
from surefoot import UCB1, GenCB, RewardFloor
from surefoot.errors import UnknownPlay
from surefoot.live import MemoryStore
from surefoot.live.engine import Report, Reported, book
from surefoot.live.live import Live


def settling(reward):
    return Report("settle", Reported.of(reward, "a"))


def case():
    store = MemoryStore()
    live = Live(agent(), store)
    play = live.select(id="a")
    [entry] = list(store.entries("default", play.seq - 1))
    return live._engine.fold, store.play("default", "a"), live._engine.fold.open_play(entry)


@pytest.mark.parametrize(
    "report",
    [settling(0.25), settling(Decimal("1e-3")), settling(2), Report("expire"), Report("void"),
     Report("fall_back")],
)  # fmt: skip
def test_a_report_read_again_books_the_same(report):
    fold, row, given = case()
    first = book(fold.agent, fold.settings, row, given, report)
    again = book(fold.agent, fold.settings, row, given, Report.from_text(report.how, first.text))
    assert again.outcome is first.outcome
    assert again.lines == first.lines
    assert again.text == first.text


def test_a_report_of_a_default_says_what_it_paid_or_nothing():
    store = MemoryStore()
    live = Live(agent(reserve=0), store)
    live.select(id="a")
    [entry] = list(store.entries("default", 1))
    fold = live._engine.fold
    row, given = store.play("default", "a"), live._engine.fold.open_play(entry)
    for reward, text in ((None, None), (0.75, "0.75")):
        first = book(fold.agent, fold.settings, row, given, settling(reward))
        again = book(fold.agent, fold.settings, row, given, Report.from_text("settle", first.text))
        assert first.text == text
        assert again.lines == first.lines


def test_what_is_no_play_is_one_error():
    live = Live(agent(), MemoryStore())
    for play in (None, 3, b"a"):
        with pytest.raises(UnknownPlay):
            live.update(play, 1)


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "", ".", "a.", "a.b.c", "x" * 65])
def test_what_can_be_no_id_is_no_play_and_reaches_no_store(name):
    live = Live(GenCB(UCB1(2), RewardFloor(0.5, 0.5)), MemoryStore())
    for ask in (lambda: live.update(name, 1), lambda: live.play(name), lambda: live.explain(name)):
        with pytest.raises(UnknownPlay):
            ask()
