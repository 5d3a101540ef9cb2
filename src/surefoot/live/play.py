"""LivePlay: one decision as its ledger entry tells it, so that a retry gets the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from surefoot._exact import exact, shown
from surefoot.agents.packing import pack, unpack
from surefoot.agents.play import Choice, Play, Reason, explain, short
from surefoot.errors import InvalidInput
from surefoot.floors import Terms
from surefoot.live.entries import LONGEST, canonical, check_length
from surefoot.live.names import called
from surefoot.live.opening import said, sealed
from surefoot.live.store import moves

DEGRADED, SHADOW = "DEGRADED", "SHADOW"
"""Reasons that only a live agent has: its books did not agree, or only watches."""


class Request(NamedTuple):
    """What ``select`` was asked, and the hash by which a repeat is known."""

    context: Any
    packed: Any
    allowed: Any
    default: Any
    told: Any
    """This play's own default as exact text; None if it has none."""
    digest: str

    @classmethod
    def of(cls, context: Any, allowed: Iterable[Any] | None, default: Any) -> Request:
        """InvalidInput for a context that cannot be said in JSON."""
        packed = sealed(pack(context, "context"))
        if allowed is not None and not isinstance(allowed, str | bytes):
            try:
                allowed = list(allowed)
            except TypeError:
                raise InvalidInput(f"allowed = {shown(allowed)} must be a list of arms") from None
        names = None if allowed is None else sorted({repr(arm) for arm in allowed})
        told = None if default is None else _ends(default)
        text = canonical({"context": packed, "allowed": names, "default": told})
        check_length(text, "context", LONGEST - (1 << 20))  # what else a decision says fits as well
        digest = hashlib.sha256(text.encode()).hexdigest()
        return cls(context, packed, allowed, default, told, digest)


def _ends(default: Any) -> Any:
    ends = default if isinstance(default, tuple | list) else [default]
    texts = [short(exact(end, "default")) for end in ends]
    return texts if isinstance(default, tuple | list) else texts[0]


def checked_id(given: Any) -> str | None:
    """A play id of the caller's own, if it may be one."""
    return None if given is None else moves.checked_id(given, "id")


def check_free(given: str) -> None:
    """Whether a new play may have this id: 'p-<number>' is what plays without one are called."""
    moves.checked_new_id(given, "id")


@dataclass(frozen=True, slots=True)
class LivePlay:
    """One decision; report what came of it with ``live.update(play, reward)``, or by its id.

    ``slack`` is what might be lost before this play's hold, ``worst_case`` what is left after it.
    """

    id: str
    """What to report it by; under a lease that is the caller's id and the lease's."""
    arm: Any
    """The arm as the user named it; None: the default."""
    index: int
    """The arm's number; -1: the default."""
    reason: str
    slack: Decimal
    worst_case: Decimal
    seq: int | None = field(compare=False)
    """The number of its entry in the ledger; None: it is in its worker's journal only, so far."""
    deadline: int | None
    """When it expires, in microseconds of the store's clock; None: never."""
    shadow: Any
    """The arm the policy would have played, in shadow mode."""
    lease: str | None
    """The lease it was decided under: then the slack is what was left of that."""
    play: Play
    """The same, as an agent in a process of its own would have given it out."""

    @property
    def is_default(self) -> bool:
        return self.index < 0

    def explain(self) -> str:
        """One sentence, in numbers, why this play is what it is."""
        if self.reason == DEGRADED:
            return (
                f"Play {self.id} is the default because the ledger is in doubt, as `degraded` "
                "says; nothing is explored until it is right."
            )
        if self.reason == SHADOW:
            return (
                f"Play {self.id} is the default because the policy only watches; it would have "
                f"played arm {self.shadow!r}."
            )
        if self.lease is None:
            return explain(self.play)
        # What other plays hold is the account's, and not in this slack.
        alone = self.play._replace(pending=0)
        return f"{explain(alone)} The slack is that of lease {self.lease}."

    @classmethod
    def of(cls, entry: Any, places: int) -> LivePlay:
        """The decision that an entry is about."""
        told = entry.payload
        explores = entry.kind == "decision.held"
        arm = unpack(told["arm"]) if explores else None
        available, held = _before(entry)
        name: Any = called(entry.play, told)
        choice = unpack(told["choice"])
        reason = told["reason"]
        play = Play(
            name, arm, told["index"] if explores else -1,
            Reason(reason) if reason in Reason.__members__ else Reason.PAUSED,
            told["turn"], terms_of(told), places, available, held,
            told["pending"], told["unreported"], None if choice is None else Choice(*choice),
        )  # fmt: skip
        shadow = unpack(told["shadow"]) if "shadow" in told else None
        return cls(
            name, arm, play.index, reason, play.slack, play.worst_case, entry.seq or None,
            told["deadline"], shadow, told.get("lease"), play,
        )  # fmt: skip


def _before(entry: Any) -> tuple[int, int]:
    """What was available and held before a decision, in its account or its lease."""
    if "lease" in entry.payload:
        return entry.payload["unspent"], 0
    held = entry.held - entry.d_held
    return entry.reserve + entry.posted - held, held


def terms_of(told: dict[str, Any]) -> Terms:
    """The terms that a decision's payload carries."""
    hold = told["hold"] if "hold" in told else told["loss"]
    of_interval = (told["upper"], told["lost"], told["whole"]) if "upper" in told else ()
    return Terms(told["value"], told["floor"], hold, told["deposit"], *of_interval)


def payload(
    play: Play, asked: Request, allowed: list[int] | None, fixed: dict[str, Any]
) -> dict[str, Any]:
    """What the ledger says of a decision; ``fixed``: its deadline, and what else it settles."""
    told: dict[str, Any] = {
        "reason": play.reason.value,
        "turn": play.turn,
        "request": asked.digest,
        "pending": play.pending,
        "unreported": play.unreported,
        "choice": sealed(pack(None if play.choice is None else list(play.choice), "choice")),
        **said(play.terms),
        **fixed,
    }
    if asked.packed is not None:
        told["context"] = asked.packed
    if allowed is not None:
        told["allowed"] = allowed
    if asked.told is not None:
        told["default"] = asked.told
    if play.is_default:
        told["loss"] = told.pop("hold")
        if "upper" in told:
            told["high"] = told["upper"]
        return told
    arm = sealed(pack(play.arm, "arm"))
    score = None if play.choice is None or play.choice.score is None else repr(play.choice.score)
    return {**told, "arm": arm, "index": play.index, "score": score}
