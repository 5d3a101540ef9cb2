"""The audit takes what a live agent wrote, and nothing that was altered."""

from fractions import Fraction

import pytest

from surefoot import UCB1, GenCB, RewardFloor
from surefoot.live import MemoryStore
from surefoot.live.leases import Lease
from surefoot.live.live import Live
from surefoot_torture.faults.audit import Audit
from surefoot_torture.faults.judge import Ack, Judge, Promise

PROMISE = Promise(Fraction(1, 2), Fraction(1, 2), Fraction(0), Fraction(1))


@pytest.fixture
def case():
    """A store with a short ledger, and the judge who was told of it."""
    store, judge = opened()
    live = Live(agent(), store)
    for number, reward in enumerate((0.0, 1.0, 0.5)):
        reported(judge, live, live.select(id=f"c-{number}"), reward)
    return store, judge


@pytest.fixture
def twice(tmp_path):
    """The same of one id that two workers with leases were asked for."""
    store, judge = opened()
    lives = [Live(agent(), store, lease=Lease(tmp_path / name, owner=name)) for name in "ab"]
    plays = [live.select(id="c") for live in lives]
    for live, play in zip(lives, plays, strict=True):
        reported(judge, live, play, 0.5)
    for live in lives:
        live.close()
    return store, judge


def agent():
    return GenCB(UCB1(2), RewardFloor(0.5, 0.5, reserve=9), default_competes=False)


def opened():
    judge = Judge(9)
    judge.promised("default", PROMISE)
    judge.endowed(9 * 10**9)
    return MemoryStore(), judge


def reported(judge, live, play, reward):
    page = judge.page(play.id, "default", None)
    judge.answered(page, play)
    judge.made(page, "arm")
    judge.paid(page, Fraction(reward))
    page.reported.add(Fraction(reward))
    outcome = live.update(play, reward)
    page.acks.append(Ack("reward", str(outcome), Fraction(reward)))


def audited(case, entries=None, leased=False):
    store, judge = case
    audit = Audit(judge, leased)
    audit.take(store.entries("default") if entries is None else entries)
    audit.close(store.account("default"))
    return dict(judge.problems)


def test_a_sound_ledger_passes(case):
    assert audited(case) == {}


def test_a_lost_acknowledgement_is_found(case):
    case[1].pages["c-1"].acks.append(Ack("void", "booked"))
    assert audited(case) == {"lost": 1}


def test_a_play_that_is_missing_is_found(case):
    _, judge = case
    judge.page("c-9", "default", None).acks.append(Ack("answer", "explore"))
    assert audited(case) == {"lost": 1}


def test_a_second_credit_is_found(case):
    entries = list(case[0].entries("default"))
    assert audited(case, [*entries, entries[-1]]) == {"double": 1}


def test_totals_that_are_off_are_found(case):
    *entries, last = case[0].entries("default")
    assert audited(case, [*entries, last._replace(posted=last.posted + 1)]) == {"wrong": 1}


def test_a_reward_that_nobody_reported_is_found(case):
    case[1].pages["c-0"].reported.clear()
    assert audited(case) == {"wrong": 1}


def test_a_refusal_without_reason_is_found(case):
    case[1].pages["c-0"].acks.append(Ack("reward", "PlayConflict", Fraction(0)))
    assert audited(case) == {"lost": 1}


def test_one_id_that_two_workers_gave_out_is_two_plays_each_with_its_page(twice):
    assert len(twice[1].pages) == 2
    assert audited(twice, leased=True) == {}


def test_what_was_reported_of_one_of_two_plays_is_not_found_in_the_other(twice):
    one = next(iter(twice[1].pages.values()))
    one.acks.append(Ack("reward", "repeated", Fraction(1)))
    assert audited(twice, leased=True) == {"lost": 1}


@pytest.mark.parametrize(("outcome", "found"), [("PlayConflict", {}), ("booked", {"lost": 1})])
def test_a_bare_id_that_was_given_out_under_leases_is_refused(twice, outcome, found):
    twice[1].page("c", "default", None).acks.append(Ack("void", outcome))
    assert audited(twice, leased=True) == found


def test_a_play_under_a_configuration_that_never_was_is_found(case):
    entries = [
        entry._replace(config_version=2) if entry.kind == "decision.held" else entry
        for entry in case[0].entries("default")
    ]
    assert audited(case, entries, leased=True) == {"wrong": 1}
