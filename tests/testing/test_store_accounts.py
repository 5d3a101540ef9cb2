"""What the first half of the kit finds: a gate, sums or a chain that are not exact."""

import pytest

from surefoot.live import MemoryStore, entries
from surefoot.live.store import Tx
from surefoot.testing._store_accounts import AccountTests


class Kit(AccountTests):
    def make_store(self, clock=None):
        return MemoryStore()


def test_a_gate_that_is_one_off_is_found(monkeypatch):
    append = Tx.append

    def generous(self, kind, *, gate=None, **rest):
        return append(self, kind, gate=None if gate is None else gate - 1, **rest)

    monkeypatch.setattr(Tx, "append", generous)
    with pytest.raises(Exception, match="below 0"):
        Kit().test_the_gate_is_exact()


def test_totals_that_are_not_checked_are_found(monkeypatch):
    def totals(self, kind, payload, d_posted, d_held, d_reserve):
        row = self.row
        return row.posted + d_posted, row.held, row.reserve + d_reserve, False

    monkeypatch.setattr(Tx, "_totals", totals)
    for test in (
        "test_the_chain_and_the_running_sums_are_right",
        "test_no_entry_may_take_a_strict_account_below_0_but_a_breach",
    ):
        with pytest.raises(AssertionError):
            getattr(Kit(), test)()


def test_a_broken_chain_is_found(monkeypatch):
    chained = entries.chained
    broken = lambda **fields: chained(**fields)._replace(hash="0" * 64)  # noqa: E731
    monkeypatch.setattr(entries, "chained", broken)
    with pytest.raises(AssertionError):
        Kit().test_the_chain_and_the_running_sums_are_right()


def test_a_payload_that_is_shared_is_found(monkeypatch):
    monkeypatch.setattr(entries, "checked_payload", lambda payload: (payload, "{}"))
    with pytest.raises(AssertionError):
        Kit().test_an_appended_payload_is_a_copy()


def test_a_transaction_that_lives_on_is_found(monkeypatch):
    monkeypatch.setattr(Tx, "over", property(lambda self: False, lambda self, over: None))
    with pytest.raises(AssertionError):
        Kit().test_a_transaction_ends_with_its_work()
