"""The contract of a store, as tests: derive a class from the kit and say how to make yours.

class TestMine(StoreKit):
    def make_store(self, clock=None):
        return MyStore(...) if clock is None else MyStore(..., clock=clock)
"""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

from surefoot.live.store import Tx
from surefoot.testing._store_accounts import AccountTests
from surefoot.testing._store_plays import PlayTests
from surefoot.testing._stores import ACCOUNT, check_chain, explore, fund, settle


class StoreKit(AccountTests, PlayTests):
    """What every store must keep; a test class that pytest collects once ``make_store`` is there.

    Holds when: each test starts on an empty store and ``make_store`` within one test opens the
    same one. Does not hold when: your store relaxes the contract of ``Store``; then a test fails.
    """


class DurableStoreKit(StoreKit):
    """What a store that outlives its process must keep as well.

    Holds when: ``address`` is what ``open_store`` opens as the same store in another process.
    """

    address: str

    def test_a_store_that_is_opened_again_is_as_it_was(self) -> None:
        fund(self.store, 100)
        self.do(lambda tx: explore(tx, 5, play="mine"))
        self.store.snapshot(ACCOUNT, 2, b"state")
        before = list(self.store.entries(ACCOUNT))
        self.store.close()
        with self.make_store() as again:
            assert list(again.entries(ACCOUNT)) == before
            assert again.latest_snapshot(ACCOUNT) == (2, b"state")
            again.transact(ACCOUNT, lambda tx: settle(tx, "mine", reward=5))
            check_chain(again)
            assert again.account(ACCOUNT).posted == 4

    def test_two_stores_on_one_ledger_see_each_other(self) -> None:
        fund(self.store, 8)
        with self.make_store() as other:
            other.transact(ACCOUNT, lambda tx: explore(tx, 5, play="mine"))
            assert self.do(lambda tx: explore(tx, 5)) is None
            self.do(lambda tx: settle(tx, "mine", reward=5))
            assert other.account(ACCOUNT) == self.row

    def test_racing_processes_get_what_the_account_affords_and_no_more(self) -> None:
        fund(self.store, 200 * 3 + 2)
        racers = [self._racer() for _ in range(2)]
        won = [int(seq) for racer in racers for seq in racer.communicate(timeout=120)[0].split()]
        assert [racer.returncode for racer in racers] == [0, 0]
        assert sorted(won) == list(range(2, 202))
        row = self.row
        assert (row.seq, row.held, row.available) == (201, 600, 2)
        check_chain(self.store)

    def test_what_was_acknowledged_survives_a_kill(self) -> None:
        fund(self.store, 10**9)
        acknowledged = []
        for kept in (1, 7, 30):
            with self._racer() as racer:
                assert racer.stdout is not None
                acknowledged += [int(racer.stdout.readline()) for _ in range(kept)]
                racer.kill()
                # Not communicate(), which would miss what readline() has read ahead.
                acknowledged += [int(seq) for seq in racer.stdout.read().split()]
        check_chain(self.store)
        seqs = {entry.seq for entry in self.store.entries(ACCOUNT)}
        assert set(acknowledged) <= seqs
        # At most the one exploration that was not answered yet is there besides, for each kill.
        assert len(acknowledged) >= 38
        assert len(seqs) - 1 - len(acknowledged) <= 3
        assert self.row.held == 3 * (len(seqs) - 1)

    def test_reading_entries_takes_no_more_memory_for_a_longer_ledger(self) -> None:
        def grow(tx: Tx) -> None:
            for _ in range(2500):
                tx.append("verified", experiment="e", payload={"text": "x" * 300})

        peaks = []
        for _ in range(3):
            self.do(grow)
            tracemalloc.start()
            assert sum(1 for _ in self.store.entries(ACCOUNT)) == self.row.seq
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert peaks[-1] < 1.3 * peaks[0]

    def _racer(self) -> subprocess.Popen[str]:
        """Another process that explores until the account affords no more."""
        program = "import sys; from surefoot.testing._stores import race; race(*sys.argv[1:])"
        command = [sys.executable, "-c", program, self.address, ACCOUNT]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603
