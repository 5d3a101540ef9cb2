"""The audit takes what a live agent wrote, and nothing that was altered."""

from fractions import Fraction

import pytest

from surefoot import UCB1, GenCB, RewardFloor
from surefoot.live import MemoryStore
from surefoot.live.live import Live
from surefoot.testing._fault_audit import Audit
from surefoot.testing._judge import Ack, Judge, Promise

PROMISE = Promise(Fraction(1, 2), Fraction(1, 2), Fraction(0), Fraction(1))


@pytest.fixture
def case():
    """A store with a short ledger, and the judge who was told of it."""
    store, judge = MemoryStore(), Judge(9)
    agent = GenCB(UCB1(2), RewardFloor(0.5, 0.5, reserve=1), default_competes=False)
    live = Live(agent, store)
    judge.promised("default", PROMISE)
    judge.endowed(10**9)
    for number, reward in enumerate((0.0, 1.0, 0.5)):
        play = live.select(id=f"c-{number}")
        page = judge.page(play.id, "default", None)
        judge.answered(page, play)
        judge.made(page, "arm")
        judge.paid(page, Fraction(reward))
        page.reported.add(Fraction(reward))
        outcome = live.update(play, reward)
        page.acks.append(Ack("reward", str(outcome), Fraction(reward)))
    return store, judge


def audited(case, entries):
    store, judge = case
    audit = Audit(judge)
    audit.take(entries)
    audit.close(store.account("default"))
    return dict(judge.problems)


def test_a_sound_ledger_passes(case):
    assert audited(case, list(case[0].entries("default"))) == {}


def test_a_lost_acknowledgement_is_found(case):
    case[1].pages["c-1"].acks.append(Ack("void", "booked"))
    assert audited(case, list(case[0].entries("default"))) == {"lost": 1}


def test_a_play_that_is_missing_is_found(case):
    _, judge = case
    judge.page("c-9", "default", None).acks.append(Ack("answer", "explore"))
    assert audited(case, list(case[0].entries("default"))) == {"lost": 1}


def test_a_second_credit_is_found(case):
    entries = list(case[0].entries("default"))
    assert audited(case, [*entries, entries[-1]]) == {"double": 1}


def test_totals_that_are_off_are_found(case):
    *entries, last = case[0].entries("default")
    assert audited(case, [*entries, last._replace(posted=last.posted + 1)]) == {"wrong": 1}


def test_a_reward_that_nobody_reported_is_found(case):
    case[1].pages["c-0"].reported.clear()
    assert audited(case, list(case[0].entries("default"))) == {"wrong": 1}


def test_a_refusal_without_reason_is_found(case):
    case[1].pages["c-0"].acks.append(Ack("reward", "PlayConflict", Fraction(0)))
    assert audited(case, list(case[0].entries("default"))) == {"lost": 1}
