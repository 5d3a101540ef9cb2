"""What the entries of a ledger say of the arms of one experiment, play for play.

It is the ``Tally`` of an agent in one process, fed by the entries: plays in the order of their
decisions in the ledger, each with its end. So all workers have the same numbers, to the last digit:
what is noted is taken in at the same entries everywhere, and a snapshot keeps what is only noted.

Under leases the order is that in which the workers enter what they decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from surefoot._exact import Unit
from surefoot._json_values import from_json, to_json
from surefoot._types import JsonObject
from surefoot.agents.play import Reason, made
from surefoot.agents.tally import DEFAULT, ArmStanding, Tally
from surefoot.agents.uplift import Gain, Uplift
from surefoot.errors import InvalidInput
from surefoot.floors import Terms
from surefoot.live.entries import Entry
from surefoot.live.play import BARE, digest

EVERY = 128
"""How many ended plays are noted before they are taken in; more where more plays are open."""
_REASONS: dict[str, Reason] = {reason.value: reason for reason in Reason}
"""Of the others, which only a live agent has, none lets anything pick the play: as PAUSED."""

_EXPLORES = Reason.SLACK_OK


class Made(NamedTuple):
    """A play as far as a ``Tally`` asks; what it finds by place is where ``Play`` has it."""

    id: int
    """Its number, in the order of the decisions; below 0: decided under terms before ``begun``."""
    reason: Reason
    index: int  # type: ignore[assignment]  # hides tuple.index, which no play needs
    propensity: float | None
    terms: Terms
    """Its default's value, and its u; nothing else."""
    binding: None = None
    """A ledger has one floor, on rewards."""


class _Books:
    """The part of an agent's books that a ``Tally`` asks for."""

    def __init__(self) -> None:
        self.low = self.high = self.next_id = self.default_plays = 0
        self.told: list[int] = []
        """The rewards of the tally's log."""

    @property
    def plays(self) -> _Books:
        return self

    def rewards(self, plays: Sequence[int]) -> list[int]:
        """What the plays of the log were told to have paid."""
        told, self.told = self.told, []
        assert len(told) == len(plays)
        return told


class _Floor(NamedTuple):
    default: Any
    unit: Unit


class Evidence:
    """A fold of one experiment's entries: how each arm stands, and what the policy brought.

    Memory is bounded by the number of arms and of open plays.
    """

    def __init__(self, experiment: str) -> None:
        self.experiment = experiment
        self.labels: tuple[Any, ...] = ()
        self.single = True
        """Whether its plays are of single arms."""
        self.books, self.floor = _Books(), _Floor(None, Unit(0))
        self.holdout = 0.0
        self.begun = 0
        """The configuration that last changed range, default or holdout: plays decided under an
        earlier one, which a worker enters later, count in the means alone."""
        self._open: dict[str | None, Made] = {}
        """The plays that have not ended, by name, in the order of their decisions."""
        self.open_plays: dict[int, tuple[Made, None]] = {}
        """The same as a ``Tally`` asks for them, as of the last time that it did."""
        self._waits: tuple[str | None, Made | None] | None = None
        """A default of an interval that was played: the next entry may say what it paid; without
        the play: one that had expired."""
        self._terms = Terms(0, 0, 0, 0)
        self.tally = Tally(0, 1)

    @classmethod
    def of(cls, experiment: str, entries: Iterable[Entry], last: int | None = None) -> Evidence:
        """The evidence of an account's entries, up to number ``last``."""
        evidence = cls(experiment)
        for entry in entries:
            if last is not None and entry.seq > last:
                break
            if entry.experiment == experiment:
                evidence.take(entry)
        return evidence

    def take(self, entry: Entry) -> None:
        """Take the experiment's next entry."""
        kind = entry.kind
        if self._waits is not None and kind != "default.valued":
            self._settle()
        if kind == "decision.held":
            self._decided(entry, entry.payload["index"])
        elif kind == "outcome.settled":
            if (play := self._open.pop(entry.play, None)) is not None:
                self._told(play, entry.payload["reward"])
        elif kind == "decision.defaulted":
            self.books.default_plays += 1
            self._decided(entry, -1)
        elif (take := _TAKES.get(kind)) is not None:
            take(self, entry, entry.payload)
            self._fold_if_due()

    def _fold_if_due(self) -> None:
        tally = self.tally
        noted = len(tally.log) + len(tally.untold) + len(tally.ended)
        if noted >= EVERY and noted >= len(self._open):
            tally.fold(self._seat)

    @property
    def _seat(self) -> Any:
        """In the place of the agent that a ``Tally`` asks."""
        self.open_plays = {play.id: (play, None) for play in self._open.values()}
        return self

    def _decided(self, entry: Entry, index: int) -> None:
        payload, books = entry.payload, self.books
        number = books.next_id
        books.next_id = number + 1
        if entry.config_version < self.begun:
            number = ~number
        terms, value, high = self._terms, payload["value"], payload.get("upper")
        if terms.value != value or terms.high != high:
            terms = self._terms = Terms(value, 0, 0, 0, high)
        reason, chance = _EXPLORES, None  # nobody asks more of an exploration
        if index < 0:
            reason, text = _REASONS.get(payload["reason"], Reason.PAUSED), payload.get("propensity")
            chance = None if text is None else float(text)
        self._open[entry.play] = made(Made, (number, reason, index, chance, terms, None))
        if index >= 0 and type(payload["arm"]) is dict:
            self.single = self.single and from_json(payload["arm"]) in self.labels
        if self.tally.picked is None and (request := payload.get("request", BARE)) != BARE:
            alone = request == digest(None, None, payload.get("default"))
            allowed = None if alone else payload.get("allowed", ())
            self.tally.pick(self._seat, payload.get("context"), allowed)

    def _told(self, play: Any, reward: int) -> None:
        log = self.tally.log
        log.append(play)
        self.books.told.append(reward)
        if len(log) >= EVERY:
            self._fold_if_due()

    def _confirmed(self, entry: Entry, payload: JsonObject) -> None:
        play = self._open.pop(entry.play, None)
        late, told = "late" in payload, "reward" in payload
        if late and told:
            self.tally.late(DEFAULT, payload["reward"])
        elif late:
            self._waits = entry.play, None
        elif play is not None and told:
            self._told(play, payload["reward"])
        elif play is not None:
            self._waits = entry.play, play
            if play.terms.high is None:
                self._settle()

    def _settle(self) -> None:
        """What a default play paid was not told with it."""
        if self._waits is not None and (play := self._waits[1]) is not None:
            self.tally.leave_out(play, void=False)  # type: ignore[arg-type]
        self._waits = None

    def _valued(self, entry: Entry, payload: JsonObject) -> None:
        if self._waits is not None and self._waits[0] == entry.play:
            play, self._waits = self._waits[1], None
            if play is None:
                self.tally.late(DEFAULT, payload["reward"])
            else:
                self._told(play, payload["reward"])
        self._settle()

    def _expired(self, entry: Entry, _: JsonObject) -> None:
        agent: Any = self
        play: Any = self._open.pop(entry.play, None)
        if play is not None:
            self.tally.lose(agent, play, again=False)

    def _late(self, _: Entry, payload: JsonObject) -> None:
        self.tally.late(payload["index"] if self.labels else 0, payload["reward"])

    def _left_out(self, entry: Entry, payload: JsonObject) -> None:
        play: Any = self._open.pop(entry.play, None)
        void = entry.kind == "decision.voided"
        if play is not None:
            self.tally.leave_out(play, void)
            self.books.default_plays += -(play.index < 0) if void else 1
        elif "late" in payload:
            self.tally.late(DEFAULT, None)
            self.books.default_plays -= 1

    def _configured(self, entry: Entry, payload: JsonObject) -> None:
        said, settings = payload["floor"], payload["config"]["settings"]
        books, opens = self.books, entry.kind == "experiment.opened"
        if not opens and said["default"] != self.floor.default:
            self.tally.move_default(self._seat)
            self.begun = entry.config_version
        books.low, books.high = said["low"], said["high"]
        self.floor = _Floor(said["default"], Unit(said["places"]))
        share = float(settings.get("holdout", 0))
        if opens:
            self._add(entry, payload["config"]["policy"])
            self.tally = Tally(books.low, books.high)
        elif (books.low, books.high) != (self.tally.low, self.tally.high):
            self.tally.restart(self._seat)
            self.begun = entry.config_version
        if share != self.holdout:
            self.tally.fold(self._seat)
            self.tally.gain = Gain(books.low, books.high, books.next_id) if share else None
            self.tally.ended_plays.clear()
            self.holdout, self.begun = share, entry.config_version
        self.tally.aside = self.begun > 0

    def _add(self, _: Entry, payload: JsonObject) -> None:
        labels = [from_json(arm) if type(arm) is dict else arm for arm in payload["arms"]]
        if self.labels or self.books.next_id == 0:  # arms without labels are those that there are
            self.labels += tuple(arm for arm in labels if arm not in self.labels)

    def standings(self, delta: Fraction) -> tuple[ArmStanding, ...]:
        """One row for each arm, and one for the default where it was played.

        As ``uplift``, it takes in what is only noted: ask a copy of what goes on.
        """
        self._settle()
        return self.tally.standings(self._seat, delta)

    def uplift(self, delta: Fraction) -> Uplift | None:
        """What the policy brought over the holdout since that last changed; None: there is none."""
        self._settle()
        self.tally.fold(self._seat)
        gain, unit = self.tally.gain, Fraction(self.floor.unit.decimal(1))
        return None if gain is None else gain.result(self.holdout, unit, delta)

    def copied(self) -> Evidence:
        """A copy that can be taken further by itself."""
        return Evidence.restored(self.experiment, self.state())

    def plain(self, delta: Fraction) -> JsonObject:
        """Its ``arms``, None where it plays no single arms, and ``uplift``, as plain JSON."""
        uplift, arms = self.uplift(delta), None
        if self.labels and self.single:
            arms = [
                {**row._asdict(), "arm": to_json(row.arm, "arm")} for row in self.standings(delta)
            ]
        return {"arms": arms, "uplift": uplift and uplift._asdict()}

    def state(self) -> JsonObject:
        """JSON-able state; what is noted stays noted, so that snapshots change no number."""
        tally, books = self.tally, self.books
        waits = self._waits
        return {
            "labels": to_json(list(self.labels), "labels"),
            "terms": [self.floor.default, self.floor.unit.places, self.holdout, self.begun],
            "books": [books.low, books.high, books.next_id, books.default_plays, self.single],
            "open": [[name, *_row(play)] for name, play in self._open.items()],
            "waits": waits and [waits[0], waits[1] and _row(waits[1])],
            "log": [[*_row(play), x] for play, x in zip(tally.log, books.told, strict=True)],
            "untold": list(map(_row, tally.untold)),
            "ended": [list(row) for row in tally.ended],
            "ended_plays": list(map(_row, tally.ended_plays)),
            "tally": tally.kept(self._seat),
        }

    @classmethod
    def restored(cls, experiment: str, state: JsonObject) -> Evidence:
        """The inverse of ``state``."""
        evidence, books = cls(experiment), _Books()
        evidence.labels = tuple(from_json(state["labels"]))
        default, places, evidence.holdout, evidence.begun = state["terms"]
        evidence.floor, evidence.books = _Floor(default, Unit(places)), books
        books.low, books.high, books.next_id, books.default_plays, evidence.single = state["books"]
        for name, *row in state["open"]:
            evidence._open[name] = _made(row)
        if (waits := state["waits"]) is not None:
            evidence._waits = waits[0], None if waits[1] is None else _made(waits[1])
        tally: Any = Tally.restored(state["tally"])
        evidence.tally = tally
        tally.aside = evidence.begun > 0
        tally.log = [_made(row) for *row, _ in state["log"]]
        books.told = [x for *_, x in state["log"]]
        tally.untold = list(map(_made, state["untold"]))
        tally.ended = [(number, place, x) for number, place, x in state["ended"]]
        tally.ended_plays = list(map(_made, state["ended_plays"]))
        return evidence


_TAKES: dict[str, Callable[[Evidence, Entry, JsonObject], None]] = {
    "experiment.opened": Evidence._configured,
    "experiment.configured": Evidence._configured,
    "arms.added": Evidence._add,
    "outcome.expired": Evidence._expired,
    "outcome.late": Evidence._late,
    "outcome.as_default": Evidence._left_out,
    "decision.voided": Evidence._left_out,
    "decision.confirmed": Evidence._confirmed,
    "default.expired": Evidence._expired,
    "default.valued": Evidence._valued,
}


def _row(play: Any) -> list[Any]:
    """A play as JSON."""
    return [*play[:4], play.terms.value, play.terms.high]


def _made(row: list[Any]) -> Made:
    """The inverse of ``_row``."""
    number, reason, index, chance, value, high = row
    return Made(number, Reason(reason), index, chance, Terms(value, 0, 0, 0, high))


class Evidences:
    """The ``Evidence`` of each experiment of an account."""

    def __init__(self) -> None:
        self.of: dict[str, Evidence] = {}

    def take(self, entry: Entry) -> None:
        """Take the next entry of the account; InvalidInput for one that cannot be read."""
        try:
            if entry.kind == "experiment.opened":
                self.of.setdefault(entry.experiment, Evidence(entry.experiment))
            if entry.experiment in self.of:
                self.of[entry.experiment].take(entry)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise InvalidInput(
                f"entry {entry.seq} ({entry.kind}) cannot be read ({type(error).__name__}: "
                f"{error}); verify the ledger"
            ) from None

    def plain(self, delta: Fraction) -> dict[str, JsonObject]:
        """By experiment its ``arms`` (None: it plays no single arms) and ``uplift``, plain JSON."""
        return {name: one.plain(delta) for name, one in self.of.items()}
