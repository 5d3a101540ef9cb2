"""What the second half of the kit finds: moves, ids and leases that a store must not allow."""

import pytest

from surefoot.live import MemoryStore
from surefoot.live.store import tx
from surefoot.testing._store_plays import PlayTests


class Kit(PlayTests):
    def make_store(self, clock=None):
        return MemoryStore()


def test_the_gate_of_moves_is_what_it_checks(monkeypatch):
    settled = lambda row, kind, payload: row._replace(state="settled")  # noqa: E731
    monkeypatch.setattr(tx, "moved", settled)
    for test in ("test_no_reward_is_credited_twice", "test_only_legal_moves_are_made"):
        with pytest.raises(AssertionError):
            getattr(Kit(), test)()


def test_a_lease_that_can_be_overdrawn_is_found(monkeypatch):
    monkeypatch.setattr(tx, "drawn", lambda row, lease, hold: row)
    with pytest.raises(AssertionError):
        Kit().test_a_lease_is_spent_and_returned_once()


def test_a_lease_that_can_be_closed_twice_is_found(monkeypatch):
    leased = tx.leased

    def again(row, kind, experiment, payload):
        if kind != "lease.granted" and row is not None:
            row = row._replace(state="open")
        return leased(row, kind, experiment, payload)

    monkeypatch.setattr(tx, "leased", again)
    with pytest.raises(AssertionError):
        Kit().test_a_lease_is_spent_and_returned_once()


def test_a_capped_reward_that_is_forgotten_is_found(monkeypatch):
    moved = tx.moved
    forget = lambda *move: moved(*move)._replace(capped=False)  # noqa: E731
    monkeypatch.setattr(tx, "moved", forget)
    with pytest.raises(AssertionError):
        Kit().test_a_reward_above_its_range_waits_for_one_acknowledgement()


def test_a_play_that_is_due_and_not_open_is_found(monkeypatch):
    monkeypatch.setattr(
        "surefoot.live.store.tx.is_due",
        lambda row, now: row.deadline is not None and row.deadline < now,
    )
    with pytest.raises(AssertionError):
        Kit().test_due_finds_open_plays_past_their_deadline()
