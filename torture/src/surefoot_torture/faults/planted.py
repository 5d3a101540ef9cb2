"""Planted bugs: the mistakes one makes with such books, put into the real code for a while.

What finds none of them proves nothing. Each is as consistent as a real one would be: where the
agents' own checks would see it at once, they are told the same lie.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from unittest import mock

from surefoot.errors import SurefootError
from surefoot.floors import Outcome, RewardBooks, RewardFloor
from surefoot.floors.events import SETTLED, Event, Move, Record, step
from surefoot.live import engine, ids, journal, leases, worker
from surefoot.live.engine import Engine, Report
from surefoot.live.fold import Fold
from surefoot.live.store import MemoryStore, Tx, tx

Patch = Callable[[Any, str, Any], None]

_append, _reported = Tx.append, Fold._reported
_start = Engine.start
_asked = RewardFloor._floor_and_hold


@contextmanager
def planted(bug: str) -> Iterator[None]:
    """Put a bug of ``BUGS`` or ``OF_LEASES`` into the code; it is gone afterwards."""
    with ExitStack() as stack:

        def patch(owner: Any, name: str, new: Any) -> None:
            stack.enter_context(mock.patch.object(owner, name, new))

        (BUGS | OF_LEASES)[bug](patch)
        yield


def credited_on_decide(patch: Patch) -> None:
    """An exploration is booked as if it had paid its best; its reward then corrects that."""

    def append(tx: Tx, kind: str, **told: Any) -> Any:
        if kind == "decision.held":
            told["d_posted"] = told["payload"]["high"] - told["payload"]["floor"]
        elif kind.startswith(("outcome.", "decision.voided")):
            row = tx.play(told["play"])
            if row is not None and row.role == "explore" and row.state == "open":
                told["d_posted"] = told.get("d_posted", 0) - (row.high - row.floor)
        return _append(tx, kind, **told)

    patch(Tx, "append", append)


def default_credited_when_decided(patch: Patch) -> None:
    """A default counts once it was decided, played or not."""

    def append(tx: Tx, kind: str, **told: Any) -> Any:
        if kind == "decision.defaulted":
            told["d_posted"] = told["payload"]["deposit"]
        elif kind == "decision.confirmed":
            told["d_posted"] = 0
        return _append(tx, kind, **told)

    patch(Tx, "append", append)


def refunded_on_expiry(patch: Patch) -> None:
    """A reward that did not come in time frees its hold, until it comes."""

    def refund(move: Move, play: Record) -> Move:
        if move.event is Event.MISSED:
            return move._replace(posted=0)
        late = move.event is Event.LATE
        return move._replace(posted=move.posted - play.terms.hold) if late else move

    _moves(patch, refund)


def _moves(patch: Patch, change: Callable[[Move, Record], Move]) -> None:
    """Let reports come to something else."""

    def stepped(play: Record, *told: Any) -> Move:
        return change(step(play, *told), play)

    patch(engine, "step", stepped)


def settled_twice(patch: Patch) -> None:
    """A reward that is reported again is credited again."""

    def again(move: Move, play: Record) -> Move:
        if not play.explores or play.state is not SETTLED or move.outcome is not Outcome.REPEATED:
            return move
        assert play.reward is not None
        posted = play.reward - play.terms.floor
        return move._replace(event=Event.REWARDED, posted=posted)

    _moves(patch, again)
    _let(patch, "outcome.settled")


def voided_after_its_reward(patch: Patch) -> None:
    """A play that was settled can be voided, which releases its hold once more."""

    def stepped(play: Record, report: str, *told: Any) -> Move:
        move = step(play, report, *told)
        if report != "void" or not play.explores or play.state is not SETTLED:
            return move
        return move._replace(outcome=Outcome.BOOKED, event=Event.VOIDED, held=-play.terms.hold)

    patch(engine, "step", stepped)
    _let(patch, "decision.voided")


def _let(patch: Patch, kind: str) -> None:
    """Let a kind of entry follow a settlement, and the fold not wonder at it."""
    patch(tx, "LEGAL", {*tx.LEGAL, (kind, "explore", "settled")})

    def reported(fold: Fold, entry: Any) -> None:
        if entry.kind != kind or entry.play in fold.waiting:
            _reported(fold, entry)

    patch(Fold, "_reported", reported)


def hold_dropped_on_restart(patch: Patch) -> None:
    """A worker that starts takes open explorations for not made, as their process died."""

    def start(engine: Engine, *opening: Any) -> None:
        _start(engine, *opening)
        for play, given in list(engine.fold.waiting.items()):
            if given.explores:
                with suppress(SurefootError):
                    engine.run(engine.report, play, Report("void"))

    patch(Engine, "start", start)


def gate_above_instead_of_at_least(patch: Patch) -> None:
    """A tie does not count as enough."""
    patch(RewardBooks, "affords", lambda books, terms: books.account.available > terms.hold)


def gate_in_floats(patch: Patch) -> None:
    """The gate adds up money in floats."""

    def enough(books: Any, hold: int) -> bool:
        reserve, posted, held = (part / 1e9 for part in (books.reserve, books.posted, books.held))
        return bool(reserve + posted - held >= hold / 1e9)

    def append(tx: Tx, kind: str, *, gate: int | None = None, **told: Any) -> Any:
        if gate is not None and enough(tx.row, gate):
            gate = None
        return _append(tx, kind, gate=gate, **told)

    patch(RewardBooks, "affords", lambda books, terms: enough(books.account, terms.hold))
    patch(Tx, "append", append)


def late_reward_credited_twice(patch: Patch) -> None:
    """A reward after its expiry restores twice what was booked too low."""

    def twice(move: Move, _: Record) -> Move:
        return move._replace(posted=2 * move.posted) if move.event is Event.LATE else move

    _moves(patch, twice)


def floor_of_the_newest_configuration(patch: Patch) -> None:
    """A report is booked by the floor in force, not by that of its play."""
    book = engine.book

    def newest(agent: Any, settings: Any, row: Any, play: Any, report: Report) -> Any:
        floor = agent.books.floor
        if floor.default is not None and floor.terms().value == play.terms.value:
            play = play._replace(terms=floor.terms())
        return book(agent, settings, row, play, report)

    for module in (engine, worker):
        patch(module, "book", newest)


def floor_rounded_down(patch: Patch) -> None:
    """What a play is asked is rounded in its favour."""

    def asked(floor: RewardFloor, value: Any) -> tuple[int, int]:
        f, hold = _asked(floor, value)
        lost, whole, _ = floor._share
        p, q = floor.unit.ratio(value)
        short = (whole - lost) * p % (whole * q) > 0
        return f - short, max(0, hold - short)

    patch(RewardFloor, "_floor_and_hold", asked)


def answered_before_the_commit(patch: Patch) -> None:
    """The store answers, and at times what it answered is not kept."""
    transact = MemoryStore.transact

    def lossy(store: MemoryStore, account: str, work: Any) -> Any:
        if store.account(account).seq % 23 != 22:
            return transact(store, account, work)
        before = copy.deepcopy(store._find(account))
        answer = transact(store, account, work)
        store._accounts[account] = before
        return answer

    patch(MemoryStore, "transact", lossy)


def lease_closed_twice(patch: Patch) -> None:
    """A worker that wakes up returns the lease that was forfeited meanwhile."""
    close, granted, returned = leases.close, leases.grant, leases.give_back
    given: dict[str, list[str]] = {}

    def grant(tx: Tx, engine: Engine, settings: Any, owner: str, hold: int) -> Any:
        lease = granted(tx, engine, settings, owner, hold)
        if lease is not None:
            given.setdefault(owner, []).append(lease.id)
        return lease

    def give_back(tx: Tx, engine: Engine, owner: str, whole: bool = True) -> None:
        returned(tx, engine, owner, whole)
        for name in given.pop(owner, ()):
            lease = tx.lease(name)
            if lease is not None and lease.state == "forfeited":
                close(tx, engine, lease, "returned")

    of_lease = tx.leased

    def leased(row: Any, kind: str, *rest: Any) -> Any:
        closed = row is not None and row.state == "forfeited"
        return of_lease(row._replace(state="open") if closed else row, kind, *rest)

    patch(leases, "grant", grant)
    patch(leases, "give_back", give_back)
    patch(tx, "leased", leased)


def lease_refunded_on_forfeit(patch: Patch) -> None:
    """A worker that is not heard of has spent nothing, it is thought."""
    close = leases.close
    patch(leases, "close", lambda tx, engine, lease, _: close(tx, engine, lease, "returned"))
    closed = tx.drawn

    def drawn(row: Any, lease: str, hold: int) -> Any:
        if row is not None and row.state == "returned":
            return row._replace(spent=row.spent + hold)
        return closed(row, lease, hold)

    patch(tx, "drawn", drawn)


def steps_flushed_twice(patch: Patch) -> None:
    """What a flush entered whose answer was lost is entered again, under another name."""
    decided = leases.enter_decision

    def again(tx: Tx, engine: Engine, step: Any, twins: dict[str, str]) -> None:
        row = tx.play(step["play"])
        if row is not None and row.lease == step["payload"]["lease"]:
            spare = f"{row.id}-x"
            step, twins[step["play"]] = {**step, "play": spare}, spare
        decided(tx, engine, step, twins)

    patch(leases, "enter_decision", again)


def lease_returned_after_a_power_cut(patch: Patch) -> None:
    """A journal that lost its end counts as whole."""
    found = journal.left_behind

    def left_behind(*where: Any) -> Iterator[Any]:
        for each in found(*where):
            yield each._replace(whole=True)

    patch(worker, "left_behind", left_behind)


def reports_not_journalled(patch: Patch) -> None:
    """A report is answered before it is on the disk."""
    write = journal.Journal.write

    def forgetful(file: journal.Journal, steps: list[dict[str, Any]]) -> None:
        if "kind" in steps[0]:
            write(file, steps)

    patch(journal.Journal, "write", forgetful)


def credited_to_the_twin(patch: Patch) -> None:
    """A report by id is credited to the other play of that id, which has it in the ledger."""

    def found(read: Any, name: str) -> Any:
        return read(name.partition(".")[0])

    patch(ids, "find", found)


BUGS: dict[str, Callable[[Patch], None]] = {
    bug.__name__: bug
    for bug in (
        credited_on_decide, default_credited_when_decided, refunded_on_expiry, settled_twice,
        voided_after_its_reward, hold_dropped_on_restart, gate_above_instead_of_at_least,
        gate_in_floats, late_reward_credited_twice, floor_of_the_newest_configuration,
        floor_rounded_down, answered_before_the_commit,
    )
}  # fmt: skip
"""The planted bugs by name."""

OF_LEASES: dict[str, Callable[[Patch], None]] = {
    bug.__name__: bug
    for bug in (
        lease_closed_twice, lease_refunded_on_forfeit, steps_flushed_twice,
        lease_returned_after_a_power_cut, reports_not_journalled, credited_to_the_twin,
    )
}  # fmt: skip
"""Those that need schedules with leases."""
