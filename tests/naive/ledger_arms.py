"""The evidence on the arms of a ledger, from a list of its plays: nothing is kept, all is redone.

Rules as they are written down for readers: plays in the order of their decisions; of each arm those
before the first that is open feed; one that expired counts at its worst and its late truth in the
mean alone; void ones and fall-backs are left out. Rewards go into the sequence one by one. Constant
defaults and ranges, no contexts.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from surefoot.floors.odds import Sequence

OPEN, LOST, GONE, BACK = "open", "lost", "gone", "as default"


def plays_of(entries: Iterable[Any], experiment: str) -> list[dict[str, Any]]:
    """Each play: its arm (-1: default), why, its propensity, its end, and what came late."""
    plays: dict[str, dict[str, Any]] = {}
    for entry in entries:
        told = entry.payload
        if entry.experiment != experiment:
            continue
        if entry.kind in ("decision.held", "decision.defaulted"):
            plays[entry.play] = {
                "arm": told["index"] if entry.kind == "decision.held" else -1,
                "reason": told["reason"], "chance": told.get("propensity"),
                "value": told["value"], "end": OPEN, "late": None,
            }  # fmt: skip
            continue
        play = plays.get(entry.play)
        if play is None:
            continue
        if entry.kind in ("outcome.expired", "default.expired"):
            play["end"] = LOST
        elif entry.kind == "decision.voided":
            play["end"] = GONE
        elif entry.kind == "outcome.as_default":
            play["end"] = BACK
        elif entry.kind == "outcome.late" or "late" in told:
            play["late"] = told.get("reward")
        elif entry.kind in ("outcome.settled", "decision.confirmed"):
            play["end"] = told.get("reward", LOST)
    return list(plays.values())


def row(plays: list[dict[str, Any]], arm: int, low: int, high: int, delta: Fraction) -> list[Any]:
    """Plays, open, told, mean, share of the last 1,000, low and high of one arm, in units."""
    mine = [play for play in plays if play["arm"] == arm and play["end"] not in (GONE, BACK)]
    sequence, told = Sequence(low, high), []
    for play in mine:
        if play["end"] == OPEN:
            break
        sequence.lose() if play["end"] == LOST else sequence.take(play["end"])
    for play in mine:
        told += [x for x in (play["end"], play["late"]) if isinstance(x, int)]
    last = [play for play in plays[-1000:] if play["end"] not in (GONE, BACK)]
    share = sum(play["arm"] == arm for play in last) / (len(last) or 1)
    mean = sum(told) / len(told) if told else None
    opened = sum(play["end"] == OPEN for play in mine)
    return [len(mine), opened, len(told), mean, share, *sequence.ends(delta / 2, delta / 2)]
