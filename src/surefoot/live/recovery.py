"""Recovery: a fold from its newest snapshot and the entries after it, or from all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from surefoot.live.entries import Entry, rehash
from surefoot.live.evidence import Evidence
from surefoot.live.fold import Fold, is_trouble
from surefoot.policies.base import Policy

Snapshot = tuple[int, bytes]
"""The number of the last entry it knows, and its bytes."""
Reader = Callable[[int], Iterable[Entry]]
"""The entries after one, in order."""


def snapshot(fold: Fold) -> Snapshot:
    """A fold as a snapshot."""
    return fold.seq, json.dumps(fold.state(), separators=(",", ":"), allow_nan=False).encode()


def restored(experiment: str, own_policy: Policy | None, kept: Snapshot | None) -> Fold:
    """The fold of a snapshot; a fresh one if there is none, or it cannot be read."""
    if kept is not None:
        fold = Fold(experiment, own_policy)
        try:
            fold.restore(json.loads(kept[1]))
        except Exception as error:
            if not is_trouble(error):
                raise
        else:
            return fold
    return Fold(experiment, own_policy)


def advance(fold: Fold, entries: Iterable[Entry]) -> None:
    """Take entries as they come; ValueError if one was edited or does not follow."""
    for entry in entries:
        if rehash(entry) != entry.hash:
            raise ValueError(f"entry {entry.seq} is not what its hash says")
        fold.apply(entry)


def recovered(
    experiment: str, own_policy: Policy | None, kept: Snapshot | None, read: Reader, row: Any
) -> tuple[Fold, str | None]:
    """The fold at the account's newest entry, and the problem if it cannot be reached.

    ``row``: the account, or None if it may have moved on while its entries are read.
    """
    for start in (kept, None) if kept is not None else (None,):
        fold = restored(experiment, own_policy, start)
        trouble = caught_up(fold, read, row)
        if trouble is None:
            break
    return fold, trouble


def caught_up(fold: Fold, read: Reader, row: Any) -> str | None:
    """Take the missing entries; returns the problem, if there is one."""
    try:
        if fold.behind:
            fold.evidence = Evidence.of(fold.experiment, read(0), fold.seq)
            fold.behind = False
        advance(fold, read(fold.seq))
        check(fold, row)
    except Exception as error:
        if not is_trouble(error):
            raise
        return f"{error}" or type(error).__name__
    return None


def check(fold: Fold, row: Any) -> None:
    """ValueError unless the entries lead to the account's head and totals."""
    if row is None:
        return
    if (fold.seq, fold.head) != (row.seq, row.head):
        raise ValueError(f"the entries end at entry {fold.seq}, the account at another {row.seq}")
    totals = [row.reserve, row.posted, row.held]
    if fold.account.numbers() != totals:
        raise ValueError(f"the entries add up to {fold.account.numbers()}, the account to {totals}")
