"""The contract of a store, first half: accounts, their chain, their gate, their transactions."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from surefoot._types import JsonObject
from surefoot.errors import UnknownAccount
from surefoot.live import entries
from surefoot.live.entries import GENESIS, Entry
from surefoot.live.store import AccountRow, Tx
from surefoot.testing._stores import (
    ACCOUNT,
    Opened,
    check_chain,
    explore,
    fund,
    refused,
    settle,
    together,
)

EXPERIMENT = "Überraschung 靴 \U0001f45f"


class AccountTests(Opened):
    """Accounts, their chain, their gate, their transactions."""

    def test_an_account_starts_empty_and_opens_again_as_it_is(self) -> None:
        row = self.row
        assert row == AccountRow(ACCOUNT, places=2, strict=True)
        assert (row.seq, row.head, row.available) == (0, GENESIS, 0)
        assert self.store.open_account(ACCOUNT, places=2, strict=True) == row
        assert "places" in refused(lambda: self.store.open_account(ACCOUNT, 3, True))
        assert "strict" in refused(lambda: self.store.open_account(ACCOUNT, 2, False))
        self.store.open_account("another", places=9, strict=False)
        assert self.store.accounts() == ["another", ACCOUNT]

    def test_an_unknown_account_is_an_error_everywhere(self) -> None:
        store = self.store
        reads: list[Callable[[], Any]] = [
            lambda: store.account("none"),
            lambda: store.transact("none", lambda tx: tx.row),
            lambda: store.entries("none"),
            lambda: store.play("none", "p-1"),
            lambda: store.snapshot("none", 1, b""),
            lambda: store.latest_snapshot("none"),
        ]
        for read in reads:
            assert "none" in refused(read, UnknownAccount)
        assert store.accounts() == [ACCOUNT]

    def test_the_chain_and_the_running_sums_are_right(self) -> None:
        fund(self.store, 100)
        for hold in range(1, 11):
            self.do(partial(explore, hold=hold))
        self.do(lambda tx: settle(tx, "p-2", reward=3))
        check_chain(self.store)
        row = self.row
        assert (row.seq, row.posted, row.held, row.reserve) == (12, 2, 54, 100)

    def test_what_is_read_back_is_what_was_appended(self) -> None:
        payload = {
            "text": "ü 靴 \U0001f45f \0 \ud800 \" \\ ' \n",
            "big": 10**30,
            "deep": [1, None, True, {"b": [], "a": {}}],
        }
        named: dict[str, Any] = {"experiment": EXPERIMENT, "actor": "käthe", "config_version": 7}
        appended = self.do(lambda tx: tx.append("verified", payload=payload, **named))
        assert [appended] == list(self.store.entries(ACCOUNT))
        assert appended is not None
        assert (appended.payload, appended.experiment) == (payload, EXPERIMENT)
        assert (appended.actor, appended.config_version, appended.play) == ("käthe", 7, None)
        assert entries.parse(entries.line(appended)) == appended

    def test_an_appended_payload_is_a_copy(self) -> None:
        payload: JsonObject = {"arms": ["a"]}

        def work(tx: Tx) -> None:
            tx.append("arms.added", experiment="e", payload=payload)
            payload["arms"].append("b")

        self.do(work)
        assert [e.payload for e in self.store.entries(ACCOUNT)] == [{"arms": ["a"]}]

    def test_the_gate_is_exact(self) -> None:
        fund(self.store, 10)
        assert self.do(lambda tx: explore(tx, 11)) is None
        assert self.do(lambda tx: explore(tx, 10)) is not None
        assert self.do(lambda tx: explore(tx, 1)) is None
        assert (self.row.available, self.row.seq) == (0, 2)

    def test_racing_threads_get_what_the_account_affords_and_no_more(self) -> None:
        fund(self.store, 777 * 3 + 2)
        won: list[Entry] = []

        def race() -> None:
            while (entry := self.do(lambda tx: explore(tx, 3))) is not None:
                won.append(entry)

        together(race, threads=8)
        assert len(won) == len({entry.seq for entry in won}) == 777
        row = self.row
        assert (row.seq, row.held, row.available) == (778, 777 * 3, 2)
        check_chain(self.store)

    def test_a_work_that_fails_leaves_nothing(self) -> None:
        fund(self.store, 10)
        before = self.row

        def work(tx: Tx) -> None:
            explore(tx, 5, play="mine")
            assert tx.row.seq == 2
            raise KeyError("the work's own error")

        assert "own error" in refused(lambda: self.do(work), KeyError)
        assert self.row == before
        assert self.store.play(ACCOUNT, "mine") is None
        self.do(lambda tx: explore(tx, 5, play="mine"))
        check_chain(self.store)

    def test_a_work_that_fails_takes_no_other_with_it(self) -> None:
        fund(self.store, 1000)
        lock = threading.Lock()
        numbers = iter(range(40))

        def call() -> None:
            with lock:
                number = next(numbers)

            def work(tx: Tx) -> None:
                explore(tx, 5, play=f"mine-{number}")
                if number % 2:
                    raise KeyError(number)

            self.do(work)

        assert [type(problem) for problem in together(call, threads=40)] == [KeyError] * 20
        plays = [entry.play for entry in self.store.entries(ACCOUNT, after=1)]
        assert sorted(plays, key=str) == sorted(f"mine-{number}" for number in range(0, 40, 2))
        assert self.row.held == 100
        check_chain(self.store)

    def test_a_refused_append_changes_nothing_and_the_work_may_go_on(self) -> None:
        fund(self.store, 10)

        def work(tx: Tx) -> tuple[Any, ...]:
            for problem in self.bad_appends(tx):
                refused(problem)
            return tx.row, explore(tx, 5)

        before = self.row
        row, entry = self.do(work)
        assert row == before
        assert (entry.seq, entry.play) == (2, "p-2")
        check_chain(self.store)

    def bad_appends(self, tx: Tx) -> Iterator[Callable[[], Any]]:
        """Appends that no ledger can hold."""
        deep: list[Any] = []
        for _ in range(100_000):
            deep = [deep]
        payloads: list[Any] = [
            {"x": 0.5}, {"x": float("nan")}, {"x": (1,)}, {"x": b"1"}, {1: "x"}, [], None,
            {"x": deep}, {"x": 10**5000},
        ]  # fmt: skip
        for payload in payloads:
            yield partial(tx.append, "verified", experiment="e", payload=payload)
        good: dict[str, Any] = {"experiment": "e", "payload": {}}
        changes: list[dict[str, Any]] = [
            {"kind": "no.such"}, {"kind": None}, {"experiment": "\0"}, {"experiment": "\ud800"},
            {"experiment": "e" * 201}, {"actor": 1}, {"config_version": "1"}, {"d_posted": 0.5},
            {"d_posted": True}, {"d_posted": 2**63}, {"d_held": 2**63}, {"d_held": -1},
            {"d_reserve": -11}, {"d_held": 11}, {"d_posted": -11}, {"gate": 0.5}, {"play": "a b"},
            {"kind": "decision.held", "payload": {"hold": -1}},
            {"kind": "decision.held", "payload": {"hold": 1.5}},
            {"kind": "decision.held", "payload": {"hold": 1, "deadline": "soon"}},
            {"kind": "decision.held", "payload": {"hold": 1, "request": 7}},
            {"kind": "decision.held", "payload": {"hold": 1}, "play": "a" * 65},
            {"kind": "decision.held", "payload": {"hold": 1}, "play": ""},
            {"kind": "decision.held", "payload": {}},
            {"kind": "outcome.settled"},
        ]  # fmt: skip
        for change in changes:
            yield partial(tx.append, **{"kind": "verified", **good, **change})

    def test_no_entry_may_take_a_strict_account_below_0_but_a_breach(self) -> None:
        fund(self.store, 10)

        def lose(amount: int, breach: bool) -> None:
            self.append("assumption.broken", {"breach": breach}, d_posted=-amount)

        refused(lambda: lose(11, breach=False))
        lose(15, breach=True)
        row = self.row
        assert (row.available, row.breached, row.strict) == (-5, True, True)
        refused(lambda: lose(1, breach=False))
        assert self.do(lambda tx: explore(tx, 0)) is None
        fund(self.store, 4)
        assert self.row.breached
        fund(self.store, 1)
        assert not self.row.breached
        refused(lambda: lose(1, breach=False))

    def test_an_account_that_is_not_strict_may_be_below_0(self) -> None:
        self.store.open_account("wide", places=2, strict=False)
        self.store.transact(
            "wide", lambda tx: tx.append("verified", experiment="e", d_posted=-5, payload={})
        )
        row = self.store.account("wide")
        assert (row.available, row.breached) == (-5, False)

    def test_accounts_are_apart(self) -> None:
        self.store.open_account("other", places=2, strict=True)
        fund(self.store, 10)
        self.do(lambda tx: explore(tx, 5, play="mine"))
        assert self.store.play("other", "mine") is None
        assert self.store.transact("other", lambda tx: explore(tx, 5, play="mine")) is None
        assert (self.store.account("other").seq, self.row.seq) == (0, 2)

    def test_a_transaction_ends_with_its_work(self) -> None:
        kept: list[Tx] = []
        self.do(kept.append)
        calls: list[Callable[[], Any]] = [
            lambda: explore(kept[0]), lambda: kept[0].play("p-1"), lambda: kept[0].due(0),
            lambda: kept[0].lease("l"), kept[0].leases, kept[0].entries,
        ]  # fmt: skip
        for call in calls:
            assert "over" in refused(call)

    def test_a_transaction_inside_a_work_is_refused(self) -> None:
        def work(tx: Tx) -> Any:
            return self.do(lambda inner: inner.row)

        assert "work" in refused(lambda: self.do(work))
        fund(self.store, 1)
        assert self.row.seq == 1

    def test_entries_come_in_pages(self) -> None:
        fund(self.store, 5000)
        self.do(lambda tx: [explore(tx) for _ in range(2500)])
        seqs = [entry.seq for entry in self.store.entries(ACCOUNT)]
        assert seqs == list(range(1, 2502))
        for after, limit, expected in [
            (0, 0, []), (0, 3, [1, 2, 3]), (2499, None, [2500, 2501]), (2501, None, []),
            (9999, 5, []), (998, 4, [999, 1000, 1001, 1002]), (0, 2001, list(range(1, 2002))),
        ]:  # fmt: skip
            found = [entry.seq for entry in self.store.entries(ACCOUNT, after, limit)]
            assert found == expected
        bad: list[tuple[Any, Any]] = [(-1, None), (0, -1), (0.5, None), ("0", None), (0, True)]
        for ask in bad:
            refused(partial(self.store.entries, ACCOUNT, *ask))

    def test_a_work_reads_the_entries_before_it_and_its_own(self) -> None:
        fund(self.store, 5000)
        self.do(lambda tx: [explore(tx) for _ in range(1500)])

        def work(tx: Tx) -> list[list[int]]:
            explore(tx)
            explore(tx)
            asked = [(0, None), (1499, None), (1501, 1), (1502, None), (2000, None), (0, 2)]
            return [[entry.seq for entry in tx.entries(*a)] for a in asked]

        everything, tail, one, last, none, first = self.do(work)
        assert everything == list(range(1, 1504))
        assert (tail, one, last) == ([1500, 1501, 1502, 1503], [1502], [1503])
        assert (none, first) == ([], [1, 2])

    def test_the_clock_can_be_given(self) -> None:
        moments = iter(range(100, 10**6, 7))
        with self.make_store(clock=lambda: next(moments)) as store:
            store.open_account("timed", places=2, strict=True)
            entry, now = store.transact(
                "timed",
                lambda tx: (tx.append("verified", experiment="e", payload={}), tx.now),
            )
            assert entry is not None
            assert entry.at == now
            assert (now - 100) % 7 == 0
            assert store.now() > now

    def test_its_own_clock_tells_the_time(self) -> None:
        assert abs(self.store.now() - time.time_ns() // 1000) < 60 * 10**6
