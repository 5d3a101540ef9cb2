import random

import pytest

from surefoot import UCB1, GenCB, RewardFloor
from surefoot.errors import StoreUnavailable
from surefoot.live import MemoryStore
from surefoot.live.live import Live
from surefoot_torture.faults.host import Host

CUTS = 4
"""A seed by which a power cut takes a part of a journal."""


@pytest.fixture
def make(tmp_path):
    def make(durable):
        host = Host(tmp_path / "host", 20, 60.0, durable)
        agent = GenCB(UCB1(2), RewardFloor(0.5, 0.5, reserve=9), default_competes=False)
        live = Live(agent, MemoryStore(), lease=host.lease)
        notes = []
        for number in range(6):
            live.select(id=f"c-{number}")
            notes.append(host.answered(live))
        return host, live, notes

    return make


def journal(host):
    return next(host.folder.glob("*.journal")).read_bytes()


def test_a_power_cut_takes_an_end_and_says_which_answers_went_with_it(make):
    host, live, notes = make(durable=False)
    before = journal(host)
    live._worker.abandon()
    host.power_cut(random.Random(CUTS))
    left = journal(host)
    assert before.startswith(left)
    whole = left.count(b"\n") - 1
    assert 0 < whole < 6
    assert [note.lost for note in notes] == [number >= whole for number in range(6)]


def test_what_came_through_one_power_cut_is_on_the_disk(make):
    host, live, _ = make(durable=False)
    live._worker.abandon()
    host.power_cut(random.Random(CUTS))
    left = journal(host)
    for seed in range(30):
        host.look()
        host.power_cut(random.Random(seed))
    assert journal(host) == left


def test_what_was_synced_stays(make):
    host, live, notes = make(durable=True)
    before = journal(host)
    live._worker.abandon()
    host.power_cut(random.Random(1))
    assert journal(host) == before
    assert not any(note.lost for note in notes)


def test_a_machine_that_starts_again_has_another_boot(make):
    host, *_ = make(durable=True)
    before = host.lease.boot
    host.power_cut(random.Random(1))
    assert host.lease.boot != before


def test_a_full_disk_refuses_one_answer_and_the_journal_stays_whole(make):
    host, live, _ = make(durable=False)
    before = journal(host)
    host.fill(live)
    with pytest.raises(StoreUnavailable, match="No space left"):
        live.select(id="c-9")
    assert journal(host) == before
    assert not live.select(id="c-9").is_default
