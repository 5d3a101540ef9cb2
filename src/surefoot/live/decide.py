"""Decide: look up the id, let the policy propose, and ask the account; in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surefoot.agents.packing import pack
from surefoot.agents.play import Play, Reason
from surefoot.errors import PlayConflict
from surefoot.live import names
from surefoot.live.entries import Entry
from surefoot.live.fold import Fold
from surefoot.live.opening import WORST, sealed
from surefoot.live.play import DEGRADED, SHADOW, Request, check_free, payload
from surefoot.live.store import Tx

if TYPE_CHECKING:
    from surefoot.live.live import Live


def decided(live: Live, tx: Tx, asked: Request, own: str | None) -> Entry:
    """The entry of a decision: that of its id if there is one, else a new one."""
    if own is not None:
        check_free(own)
        row = tx.play(own)
        if row is not None:
            if names.made(own, row.lease):
                raise other_request(own)
            return repeated(live, tx, asked, own)
    fold = live._current(tx)
    if own is not None and own in fold.waiting:  # decided before: its row is gone
        live._agrees(tx, own, None)
        raise live._unlike(own)
    if live.degraded:
        return _default(live, tx, _unproposed(live, asked), asked, None, own, reason=DEGRADED)
    play = fold.decide(asked.context, asked.allowed, asked.default)
    with fold.moved():
        return _appended(live, tx, play, asked, own)


def repeated(live: Live, tx: Tx, asked: Request, play: str) -> Entry:
    """The entry of a play that was decided before, for the same request."""
    row = tx.play(play)
    if row is not None and row.experiment != live.name:
        raise PlayConflict(
            f"id = {play!r} was given out by experiment {row.experiment!r}; experiments that share "
            f"an account share its ids: say '{live.name}-{play}', for example"
        )
    if row is None or row.request != asked.digest:
        raise other_request(play)
    return live._entry(tx, row.seq)


def _appended(live: Live, tx: Tx, play: Play, asked: Request, own: str | None) -> Entry:
    """Ask the account for what the policy proposed; if it says no, the default it is."""
    fold = live._fold
    instead = play._replace(arm=None, index=-1)
    if fold.settings.shadow and not play.is_default:
        shadow, allowed = sealed(pack(play.arm, "arm")), fold.numbers(asked.allowed)
        return _default(live, tx, instead, asked, allowed, own, reason=SHADOW, shadow=shadow)
    kind, told = proposal(fold, play, asked, tx.now)
    hold = None if play.is_default else play.terms.hold
    entry = live._append(tx, kind, told, play=own, d_held=hold or 0, gate=hold, done=True)
    if entry is not None:
        return entry
    fold.lose()  # the store has less than the fold believed: it is right
    short = instead._replace(reason=Reason.SLACK_SHORT, choice=None)
    return _default(live, tx, short, asked, told.get("allowed"), own)


def proposal(fold: Fold, play: Play, asked: Request, now: int) -> tuple[str, dict[str, Any]]:
    """The kind and payload of the entry that a proposed play becomes, if it is decided ``now``."""
    allowed = fold.numbers(asked.allowed)
    fixed: dict[str, Any] = {"deadline": deadline(fold, now)}
    if play.is_default:
        won = {"chosen": True} if play.reason is Reason.DEFAULT_BEST else {}
        return "decision.defaulted", {**payload(play, asked, allowed, fixed), **won}
    fixed |= {"low": fold.books.low, "high": fold.books.high}
    if fold.settings.learn_missing == WORST:
        fixed["missing"] = fold.books.low
    return "decision.held", payload(play, asked, allowed, fixed)


def deadline(fold: Fold, now: int) -> int | None:
    """When a play that is decided ``now`` expires; None: never."""
    window = fold.settings.reward_window
    return None if window is None else now + window


def other_request(own: str) -> PlayConflict:
    """The error for an id that is there already and was asked for something else."""
    return PlayConflict(
        f"id = {own!r} was given out for another request; the same id gets the same "
        "play only for the same context, allowed and default"
    )


def _unproposed(live: Live, asked: Request) -> Play:
    """The default, without asking a policy whose books are in doubt."""
    agent = live._fold.agent
    return agent._play(-1, None, Reason.PAUSED, agent.floor.terms(asked.default), None)


def _default(
    live: Live,
    tx: Tx,
    play: Play,
    asked: Request,
    allowed: list[int] | None,
    own: str | None,
    **extra: Any,
) -> Entry:
    """Nothing is credited before it is reported as played."""
    fixed = {"deadline": deadline(live._fold, tx.now)}
    told = {**payload(play, asked, allowed, fixed), **extra}
    entry = live._append(tx, "decision.defaulted", told, play=own, done=True)
    assert entry is not None
    return entry
