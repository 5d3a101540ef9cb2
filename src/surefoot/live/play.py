"""LivePlay: one decision as its ledger entry tells it, so that a retry gets the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from types import UnionType
from typing import Any, NamedTuple, cast

from surefoot._exact import exact, short, shown
from surefoot._forms import REMEDY, checked_form
from surefoot._json_values import from_json, to_json
from surefoot._types import JsonObject
from surefoot.agents import GenCB
from surefoot.agents.play import Choice, Play, Reason, explain, made
from surefoot.errors import InvalidInput
from surefoot.floors import Terms
from surefoot.live import ids
from surefoot.live.entries import LONGEST, Entry, canonical, check_length, checked_new_id

DEGRADED, SHADOW = "DEGRADED", "SHADOW"
"""Reasons that only a live agent has: its books did not agree, or only watches."""


class Request(NamedTuple):
    """The arguments of one ``select``, and the hash by which a repeat is recognised."""

    context: Any
    packed: Any
    allowed: Any
    default: Any
    own_default: Any
    """This play's own default as exact text; None if it has none."""
    digest: str
    id: str | None = None
    """The caller's own name of the play."""

    @classmethod
    def of(
        cls, context: Any, allowed: Iterable[Any] | None, default: Any, own: str | None = None
    ) -> Request:
        """InvalidInput for a context that cannot be said in JSON."""
        if own is not None:
            checked_new_id(own, "id")
        if context is None and allowed is None and default is None:  # as most are
            return made(cls, (None, None, None, None, None, BARE, own))  # type: ignore[no-any-return]
        packed = sealed_json(context, "context")
        if allowed is not None and not isinstance(allowed, str | bytes):
            try:
                allowed = list(allowed)
            except TypeError:
                raise InvalidInput(f"allowed = {shown(allowed)} must be a list of arms") from None
        names = None if allowed is None else sorted({repr(arm) for arm in allowed})
        own_default = None if default is None else _ends(default)
        hashed = digest(packed, names, own_default)
        return cls(context, packed, allowed, default, own_default, hashed, own)


def digest(packed: Any, names: list[str] | None, own_default: Any) -> str:
    """The hash of what a play was given; ``names``: the arms that were allowed."""
    text = canonical({"context": packed, "allowed": names, "default": own_default})
    check_length(text, "context", LONGEST - (1 << 20))  # what else a decision says fits as well
    return hashlib.sha256(text.encode()).hexdigest()


BARE = digest(None, None, None)
"""Of a play that was given nothing: neither a context nor ``allowed`` nor a default."""


def _ends(default: Any) -> Any:
    ends = default if isinstance(default, tuple | list) else [default]
    texts = [short(exact(end, "default")) for end in ends]
    return texts if isinstance(default, tuple | list) else texts[0]


@dataclass(frozen=True, slots=True, repr=False)
class LivePlay:
    """One decision, the same for every repeat of its id; report it with ``live.update``.

    ``slack`` is what might be lost before this play's hold, ``worst_case`` what is left after it.
    """

    id: str
    """What to report it by; under a lease that is the caller's id and the lease's."""
    arm: Any
    """The arm as the user named it; None: the default."""
    index: int
    """The arm's number; -1: the default."""
    reason: str
    seq: int | None = field(compare=False)
    """The number of its entry in the ledger; None: it is in its worker's journal only, so far."""
    deadline: int | None
    """When it expires, in microseconds of the store's clock; None: never."""
    shadow: Any
    """The arm the policy would have played, in shadow mode."""
    lease: str | None
    """The lease it was decided under: then the slack is what was left of that."""
    _payload: JsonObject = field(hash=False)
    _books: tuple[int, int, int]
    """The decimals of the unit, and what was available and held before this play."""

    @property
    def is_default(self) -> bool:
        return self.index < 0

    @property
    def propensity(self) -> float | None:
        """The probability with which this arm, or the default, was played; None: not known."""
        text = self._payload.get("propensity")
        return None if text is None else float(text)

    @property
    def slack(self) -> Decimal:
        return self.play.slack

    @property
    def worst_case(self) -> Decimal:
        return self.play.worst_case

    @property
    def play(self) -> Play:
        """The same, as an agent in a process of its own would have given it out."""
        payload, name = self._payload, cast(Any, self.id)
        choice = from_json(payload["choice"])
        reason = Reason(self.reason) if self.reason in Reason.__members__ else Reason.PAUSED
        return Play(
            name, self.arm, self.index, reason, payload["turn"], terms_of(payload), *self._books,
            payload["pending"], payload["unreported"], None if choice is None else Choice(*choice),
            fault=payload.get("fault"), propensity=self.propensity,
        )  # fmt: skip

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

    def __repr__(self) -> str:
        parts = (f"{name}={getattr(self, name)!r}" for name in _SHOWN)
        return f"LivePlay({', '.join(parts)})"

    def to_json(self) -> JsonObject:
        """The play as plain JSON without floats, as a service sends it; see the page on files.

        A super arm is ``{"tuple": [...]}`` and a score ``{"float": "0.5"}``, as in the ledger. The
        part ``play`` has the numbers behind it, amounts in units of ``10**-places``.
        """
        payload, choice = self._payload, self._payload["choice"]
        return {
            "id": self.id, "arm": sealed_json(self.arm, "arm"), "index": self.index,
            "reason": self.reason, "slack": f"{self.slack:f}",
            "worst_case": f"{self.worst_case:f}", "seq": self.seq, "deadline": self.deadline,
            "shadow": sealed_json(self.shadow, "shadow"), "lease": self.lease,
            "play": {
                **dict(zip(_BOOKS, self._books, strict=True)),
                **{key: payload[key] for key in _COUNTS},
                "terms": written_terms(terms_of(payload)),
                "choice": None if choice is None else dict(zip(_CHOICE, choice, strict=True)),
                **{key: payload[key] for key in _ASIDE if key in payload},
            },
        }  # fmt: skip

    @classmethod
    def from_json(cls, form: Any) -> LivePlay:
        """The inverse of ``to_json``; InvalidInput for anything that it cannot have returned.

        >>> import surefoot as sf
        >>> from surefoot.live import MemoryStore
        >>> floor = sf.RewardFloor(default=0.5, alpha=0.2, reserve=1)
        >>> live = sf.Live(sf.GenCB(sf.UCB1(arms=["red", "blue"]), floor, seed=0), MemoryStore())
        >>> play = live.select()
        >>> play.to_json()["arm"], play.to_json()["worst_case"]
        ('red', '0.600000000')
        >>> LivePlay.from_json(play.to_json()) == play
        True
        """
        said = checked_form(form, "play", _FORM)
        aside = _asides(said)
        inner = checked_form(said["play"], "play", _NUMBERS | aside)
        terms, choice = inner["terms"], inner["choice"]
        checked_form(terms, "terms", dict.fromkeys(_INTERVAL if "upper" in terms else _TERMS, int))
        if choice is not None:
            choice = [*checked_form(choice, "choice", dict.fromkeys(_CHOICE, object)).values()]
        if abs(inner["places"]) > 1000:  # a text of so many zeros would fill the memory
            raise InvalidInput(f"play: places = {shown(inner['places'])} is beyond 1000; {REMEDY}")
        if said["index"] < 0:
            terms = {**terms, "loss": terms["hold"]}
            del terms["hold"]
        try:
            payload = {**{key: inner[key] for key in _COUNTS}, "choice": choice, **terms}
            payload |= {key: inner[key] for key in aside}
            found = cls(
                said["id"], from_json(said["arm"]), said["index"], said["reason"], said["seq"],
                said["deadline"], from_json(said["shadow"]), said["lease"], payload,
                (inner["places"], inner["available"], inner["held"]),
            )  # fmt: skip
            if said["reason"] not in (*Reason.__members__, SHADOW, DEGRADED):
                raise ValueError(f"{shown(said['reason'])} is not a valid Reason")
            if choice is not None:
                numbers = from_json(choice)[1:]
                exact_text = sealed_json(numbers, "choice") == choice[1:]
                if not exact_text or not all(isinstance(x, Real | None) for x in numbers):
                    raise ValueError(f"{shown(choice[1:])} are not a score, a rival and a margin")
            if not 0 < float(inner.get("propensity", 1)) <= 1:
                raise ValueError(f"{shown(inner['propensity'])} is no propensity")
            again = found.to_json()
            found.explain()
            # Values given twice must agree, and each value must be in its only valid form.
            unlike = [key for key in said if canonical(again[key]) != canonical(said[key])]
        except (
            ArithmeticError, AssertionError, LookupError, RecursionError, TypeError, ValueError,
        ) as error:  # fmt: skip
            why = f"{error}"[:200]  # it may quote a text of any length
            raise InvalidInput(
                f"play {shown(said['id'])} cannot be read ({why}); {REMEDY}"
            ) from None
        if unlike:
            raise InvalidInput(
                f"play: {unlike[0]} = {shown(said[unlike[0]])} contradicts the rest, which makes "
                f"it {shown(again[unlike[0]])}; {REMEDY}"
            )
        return found

    @classmethod
    def of(cls, entry: Entry, places: int) -> LivePlay:
        """The decision that an entry is about."""
        payload, play = entry.payload, entry.play
        assert play is not None
        explores = entry.kind == "decision.held"
        arm = payload["arm"] if explores else None
        lease, held = payload.get("lease"), entry.held - entry.d_held
        if lease is None:
            name, books = play, (places, entry.reserve + entry.posted - held, held)
        else:
            name, books = ids.public_id(play, payload), (places, payload["unspent"], 0)
        return cls(
            name, from_json(arm) if type(arm) is dict else arm,
            payload["index"] if explores else -1, payload["reason"], entry.seq or None,
            payload["deadline"], from_json(payload["shadow"]) if "shadow" in payload else None,
            lease, {key: payload[key] for key in _KEPT if key in payload}, books,
        )  # fmt: skip


_SHOWN = (
    "id", "arm", "index", "reason", "slack", "worst_case", "seq", "deadline", "shadow", "lease",
    "play",
)  # fmt: skip
_BOOKS = "places", "available", "held"
_COUNTS = "turn", "pending", "unreported"
_CHOICE = "arm", "score", "rival", "margin"
_TERMS = "value", "floor", "hold", "deposit"
_INTERVAL = *_TERMS, "upper", "lost", "whole"
_ASIDE = "fault", "propensity"
_KEPT = *_COUNTS, "choice", *_INTERVAL, "loss", *_ASIDE
"""What a play keeps of its decision's payload."""
_FORM: dict[str, type | UnionType] = {
    "id": str, "arm": object, "index": int, "reason": str, "slack": str, "worst_case": str,
    "seq": int | None, "deadline": int | None, "shadow": object, "lease": str | None, "play": dict,
}  # fmt: skip
_NUMBERS: dict[str, type | UnionType] = {
    **dict.fromkeys((*_BOOKS, *_COUNTS), int), "terms": dict, "choice": dict | None,
}  # fmt: skip
_FAULT: dict[str, type | UnionType] = {"fault": str}
_PROPENSITY: dict[str, type | UnionType] = {"propensity": str}


def _asides(said: JsonObject) -> dict[str, type | UnionType]:
    """What the numbers of some plays alone have; earlier releases said no propensity."""
    failed = said["reason"] == Reason.POLICY_FAULT
    told = "propensity" in said["play"]
    return (_FAULT if failed else {}) | (_PROPENSITY if told else {})


class OpenPlay(NamedTuple):
    """What a decision's entry says of a play that can still change: a report is booked by it."""

    explores: bool
    arm: Any
    """As the user named it."""
    number: int
    """The arm's; -1 for the default."""
    action: Any
    """In the policy's own numbers; -1 for the default; None: it is another experiment's."""
    context: Any
    terms: Terms
    low: int
    high: int
    missing: int | None = None
    """The reward, in units, that the policy learns if the play expires; None: it learns none."""
    version: int = 0
    """The configuration that it was decided under."""
    drawn: bool = False
    """Whether it was held out: then what it pays is no mismatch."""

    @classmethod
    def of(cls, entry: Entry, agent: GenCB, own: bool) -> OpenPlay:
        """What a decision's entry says of its play; ``own``: whether it is this agent's."""
        payload, books, version = entry.payload, agent.books, entry.config_version
        context = from_json(payload["context"]) if "context" in payload else None
        terms = terms_of(payload)
        found: tuple[Any, ...]
        if entry.kind != "decision.held":
            ends = books.low, books.high, None, version, payload["reason"] == Reason.HOLDOUT
            found = (False, None, -1, -1, context, terms, *ends)
        else:
            arm, number, action = payload["arm"], payload["index"], None
            arm = from_json(arm) if type(arm) is dict else arm
            if own:
                numbered = agent.actions.numbered
                action = number if numbered else agent.actions.action(number, arm)
            ends = payload["low"], payload["high"], payload.get("missing"), version, False
            found = (True, arm, number, action, context, terms, *ends)
        play: OpenPlay = made(cls, found)
        return play

    def again(self) -> JsonObject:
        """The facts of this play that a report after its expiry repeats in its entry.

        For an exploration: what its policy learns from. For a default: its declared value, and
        the configuration it was declared under.
        """
        if not self.explores:
            value = {"value": self.terms.value, "version": self.version, "late": True}
            return value if self.terms.high is None else {**value, "upper": self.terms.high}
        payload = {"arm": sealed(to_json(self.arm, "arm")), "index": self.number}
        if self.context is not None:
            payload["context"] = sealed(to_json(self.context, "context"))
        if self.missing is not None:
            payload["missing"] = self.missing
        return payload


def terms_of(payload: JsonObject) -> Terms:
    """The terms that a decision's payload carries."""
    hold = payload["hold"] if "hold" in payload else payload["loss"]
    known = payload["value"], payload["floor"], hold, payload["deposit"]
    if "upper" in payload:
        return Terms.of((*known, payload["upper"], payload["lost"], payload["whole"]))
    terms: Terms = made(Terms, (*known, None, 0, 1, 0, False))
    return terms


def written_terms(terms: Terms) -> JsonObject:
    """The terms of a play in whole units; ``upper, lost, whole`` only of an interval."""
    value, floor, hold, deposit, high, lost, whole = terms[:7]
    written = {"value": value, "floor": floor, "hold": hold, "deposit": deposit}
    if high is not None:
        written |= {"upper": high, "lost": lost, "whole": whole}
    return written


def sealed(packed: Any) -> Any:
    """JSON values without a float: each is spelled out, as ``from_json`` reads it.

    >>> sealed([1, {"c": 0.5}])
    [1, {'c': {'float': '0.5'}}]
    """
    if isinstance(packed, float):
        return {"float": repr(packed)}
    if isinstance(packed, dict):
        return {key: sealed(value) for key, value in packed.items()}
    return [sealed(value) for value in packed] if isinstance(packed, list) else packed


def sealed_json(value: Any, what: str) -> Any:
    """A plain value as an entry stores it: as JSON, without floats."""
    kind = type(value)
    if value is None or kind is str or kind is int:
        return value
    return {"float": repr(value)} if kind is float else sealed(to_json(value, what))


def decision_payload(
    play: Play, asked: Request, allowed: list[int] | None, fixed: JsonObject
) -> JsonObject:
    """The payload of a decision's entry; ``fixed``: its deadline and other settled values."""
    choice = written_choice(play.choice)
    payload = {
        "reason": str(play.reason), "turn": play.turn, "request": asked.digest,
        "pending": play.pending, "unreported": play.unreported, "choice": choice,
        **written_terms(play.terms), **fixed,
    }  # fmt: skip
    if play.propensity is not None:
        payload["propensity"] = repr(play.propensity)
    if asked.packed is not None:
        payload["context"] = asked.packed
    if allowed is not None:
        payload["allowed"] = allowed
    if asked.own_default is not None:
        payload["default"] = asked.own_default
    if play.index < 0:
        payload["loss"] = payload.pop("hold")
        if "upper" in payload:
            payload["high"] = payload["upper"]
        return payload
    score = None if play.choice is None else play.choice.score
    arm = play.arm
    payload["arm"] = arm if type(arm) is str or type(arm) is int else sealed_json(arm, "arm")
    payload["index"], payload["score"] = play.index, None if score is None else repr(score)
    return payload


def written_choice(choice: Choice | None) -> list[Any] | None:
    """What the policy wanted, as an entry stores it."""
    if choice is None:
        return None
    written: list[Any] = []
    for part in choice:
        kind = type(part)  # looked at here, as most are plain: a call for each takes longer
        if kind is float:
            written.append({"float": repr(part)})
        else:
            plain = part is None or kind is str or kind is int
            written.append(part if plain else sealed_json(part, "choice"))
    return written
