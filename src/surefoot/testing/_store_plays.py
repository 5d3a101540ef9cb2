"""The contract of a store, second half: plays, leases, deadlines, snapshots."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from surefoot.errors import PlayConflict
from surefoot.live.store import LeaseRow, Tx
from surefoot.testing._stores import (
    ACCOUNT,
    MOVES,
    Opened,
    check_chain,
    default,
    explore,
    fund,
    refused,
    settle,
    together,
)


class PlayTests(Opened):
    """Plays, leases, deadlines, snapshots."""

    def test_a_play_is_kept_as_it_was_decided(self) -> None:
        fund(self.store, 100)
        payload = {
            "arm": ["a", 2], "index": 3, "hold": 7, "floor": 5, "low": -2, "high": 9,
            "request": "f00d", "deadline": 1234,
        }  # fmt: skip
        self.append("decision.held", payload, play="my-play", d_held=7)
        row = self.play("my-play")
        assert (row.id, row.experiment, row.seq, row.role) == ("my-play", "e", 2, "explore")
        assert (row.arm, row.index, row.hold, row.floor, row.low) == (["a", 2], 3, 7, 5, -2)
        assert (row.high, row.request, row.deadline, row.state) == (9, "f00d", 1234, "open")
        assert self.store.play(ACCOUNT, "p-1") is None

    def test_a_play_id_can_be_taken_once(self) -> None:
        fund(self.store, 100)
        self.do(lambda tx: explore(tx, 5, play="mine"))
        taken: list[str] = []

        def race() -> None:
            self.do(lambda tx: explore(tx, 5, play="yours"))
            taken.append("yours")

        assert len(together(race, threads=8)) == 7
        assert len(taken) == 1
        for take in (explore, default):
            again = partial(self.do, partial(take, play="mine"))
            assert "mine" in refused(again, PlayConflict)
        assert self.row.seq == 3

    def test_a_caller_cannot_take_an_id_that_the_ledger_may_give(self) -> None:
        fund(self.store, 100)
        assert "p-7" in refused(lambda: self.do(lambda tx: explore(tx, 5, play="p-7")))
        given = self.do(lambda tx: explore(tx, 5))
        assert given is not None
        assert (given.play, given.seq) == ("p-2", 2)

    def test_no_reward_is_credited_twice(self) -> None:
        fund(self.store, 100)
        self.do(lambda tx: explore(tx, 5, play="mine"))
        conflicts = together(lambda: self.do(lambda tx: settle(tx, "mine", reward=4)), threads=8)
        assert [type(problem) for problem in conflicts] == [PlayConflict] * 7
        row = self.row
        assert (row.seq, row.posted, row.held) == (3, 3, 0)

    def test_only_legal_moves_are_made(self) -> None:
        reach = {
            "open": [],
            "settled": ["outcome.settled"],
            "expired": ["outcome.expired"],
            "late": ["outcome.expired", "outcome.late"],
            "voided": ["decision.voided"],
            "as_default": ["outcome.as_default"],
            "valued": ["outcome.as_default", "default.valued"],
        }
        legal = {(path[-1], state) for state, path in reach.items() if path}
        follows = {"late": "expired", "valued": "as_default"}
        self.check_moves("held", reach, legal, follows)

    def test_only_legal_moves_of_a_default_are_made(self) -> None:
        reach = {
            "open": [],
            "confirmed": ["decision.confirmed"],
            "valued": ["decision.confirmed", "default.valued"],
            "voided": ["decision.voided"],
            "expired": ["default.expired"],
        }
        legal = {(path[-1], state) for state, path in reach.items() if path}
        late = {("expired", "decision.confirmed"), ("expired", "decision.voided")}
        self.check_moves("defaulted", reach, legal, {"valued": "confirmed"}, late)

    def check_moves(
        self,
        decision: str,
        reach: dict[str, list[str]],
        legal: set[tuple[str, str]],
        follows: dict[str, str],
        late: Iterable[tuple[str, str]] = (),
    ) -> None:
        """Try every move from every state a play of this decision can be in."""
        allowed = {(follows.get(state, "open"), kind) for kind, state in legal} | set(late)
        for number, (state, path) in enumerate(reach.items()):
            for kind in MOVES:
                play = f"{number}-{kind.replace('.', '-')}"

                self.append(f"decision.{decision}", {"hold": 0}, play=play)
                for step in path:
                    self.append(step, play=play)
                move = partial(self.append, kind, play=play)
                if (state, kind) in allowed:
                    move()
                else:
                    refused(move, PlayConflict)
                    assert self.play(play).state == state
        check_chain(self.store)

    def test_a_move_of_an_unknown_play_is_a_conflict(self) -> None:
        for kind in MOVES:
            refused(partial(self.append, kind, play="no"), PlayConflict)
        assert self.row.seq == 0

    def test_a_reward_above_its_range_waits_for_one_acknowledgement(self) -> None:
        fund(self.store, 100)
        self.do(lambda tx: explore(tx, 5, play="mine"))
        payload = {"reward": 100, "told": ["250", "1"], "capped": True}
        self.append("outcome.settled", payload, play="mine")
        row = self.play("mine")
        assert (row.state, row.reward, row.told, row.capped) == ("settled", 100, ["250", "1"], True)
        acknowledge = partial(self.append, "breach.acknowledged", {"play": "mine"}, play="mine")
        acknowledge()
        assert self.play("mine") == row._replace(capped=False)
        refused(acknowledge, PlayConflict)

    def test_due_finds_open_plays_past_their_deadline(self) -> None:
        fund(self.store, 100)
        for play, deadline in [("c", 30), ("a", 10), ("b", 20), ("never", None), ("settled", 5)]:
            self.append("decision.held", {"hold": 0, "deadline": deadline}, play=play)
        for play, deadline in [("default", 25), ("confirmed", 5)]:
            self.append("decision.defaulted", {"hold": 0, "deadline": deadline}, play=play)
        self.append("decision.confirmed", play="confirmed")
        self.do(lambda tx: settle(tx, "settled", reward=1))

        def expire_first(tx: Tx) -> list[list[str]]:
            found = [[row.id for row in tx.due(20)], [row.id for row in tx.due(10**6, limit=2)]]
            tx.append("outcome.expired", experiment="e", play="a", payload={})
            late = {"hold": 0, "deadline": 15}
            tx.append("decision.held", experiment="e", play="new", payload=late)
            found.append([row.id for row in tx.due(10**6, limit=3)])
            return found

        found = self.do(expire_first)
        assert found == [["a"], ["a", "b"], ["new", "b", "default"]]
        due = self.do(lambda tx: tx.due(10**6))
        assert [row.id for row in due] == ["new", "b", "default", "c"]

    def test_a_lease_is_spent_and_returned_once(self) -> None:
        fund(self.store, 100)
        self._grant("l-1", 10)
        self._grant("l-2", 10)

        def spend(tx: Tx) -> list[str]:
            self._explore_under(tx, "l-1", 7)
            refused(lambda: self._explore_under(tx, "l-1", 4), PlayConflict)
            self._explore_under(tx, "l-1", 3)
            refused(lambda: self._explore_under(tx, "none", 1), PlayConflict)
            return [lease.id for lease in tx.leases()]

        assert self.do(spend) == ["l-1", "l-2"]
        lease = self.do(lambda tx: tx.lease("l-1"))
        assert lease == LeaseRow("l-1", "e", "worker", 1, 10, 10, 99)
        refused(lambda: self._close("l-1", "returned", unspent=3), PlayConflict)
        self._close("l-1", "returned", unspent=0)
        for again in ("returned", "forfeited"):
            refused(partial(self._close, "l-1", again, unspent=0), PlayConflict)
        refused(lambda: self._grant("l-1", 10), PlayConflict)
        refused(lambda: self._close("none", "returned", unspent=0), PlayConflict)
        assert [row.id for row in self.do(lambda tx: tx.leases())] == ["l-2"]
        check_chain(self.store)

    def test_a_forfeited_lease_takes_what_its_worker_still_had(self) -> None:
        fund(self.store, 100)
        self._grant("l-1", 10)
        self.do(lambda tx: self._explore_under(tx, "l-1", 4))
        self._close("l-1", "forfeited", unspent=6)

        def zombie(tx: Tx) -> int:
            self._explore_under(tx, "l-1", 5)
            refused(lambda: self._explore_under(tx, "l-1", 2), PlayConflict)
            row = tx.lease("l-1")
            assert row is not None
            return row.unspent

        assert self.do(zombie) == 1
        self._grant("l-2", 10)
        self._close("l-2", "returned", unspent=10)
        late = partial(self.do, lambda tx: self._explore_under(tx, "l-2", 1))
        refused(late, PlayConflict)

    def test_a_lease_is_closed_once_by_racing_threads(self) -> None:
        fund(self.store, 100)
        self._grant("l-1", 10)
        problems = together(lambda: self._close("l-1", "forfeited", unspent=10), threads=8)
        assert [type(problem) for problem in problems] == [PlayConflict] * 7
        row = self.row
        assert (row.posted, row.held) == (-10, 0)

    def _grant(self, lease: str, amount: int) -> None:
        payload = {"lease": lease, "owner": "worker", "epoch": 1, "amount": amount, "expires": 99}
        self.append("lease.granted", payload, d_held=amount, gate=amount)

    def _explore_under(self, tx: Tx, lease: str, hold: int) -> None:
        payload = {"arm": 0, "index": 0, "hold": hold, "lease": lease}
        tx.append("decision.held", experiment="e", payload=payload)

    def _close(self, lease: str, how: str, unspent: int) -> None:
        payload = {"lease": lease, "unspent": unspent}
        lost = unspent if how == "forfeited" else 0
        self.append(f"lease.{how}", payload, d_posted=-lost, d_held=-unspent)

    def test_the_newest_snapshot_of_each_experiment_is_found(self) -> None:
        assert self.store.latest_snapshot(ACCOUNT) is None
        for seq in (5, 9, 7):
            self.store.snapshot(ACCOUNT, seq, bytes([seq, 0, 255]))
        self.store.snapshot(ACCOUNT, 3, b"b", experiment="b")
        self.store.snapshot(ACCOUNT, 3, b"bb", experiment="b")
        assert self.store.latest_snapshot(ACCOUNT) == (9, b"\x09\x00\xff")
        assert self.store.latest_snapshot(ACCOUNT, experiment="b") == (3, b"bb")
        assert self.store.latest_snapshot(ACCOUNT, experiment="c") is None
