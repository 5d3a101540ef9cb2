"""The fold: an agent rebuilt from the entries of its ledger, one after the other.

The store keeps the money. The fold keeps what a proposal needs: the policy, its clock, the floor in
force, and the totals, which every entry has to confirm.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from surefoot._exact import share
from surefoot._json_values import from_json, to_json
from surefoot._types import JsonObject
from surefoot.agents import GenCB, Play, Reason, saving
from surefoot.agents.draws import own_key
from surefoot.agents.faults import DEFAULT
from surefoot.errors import StoreUnavailable, SurefootError
from surefoot.floors import Account, RewardBooks, RewardFloor, Terms
from surefoot.floors.events import Counts, counts_of
from surefoot.kernels import KernelPolicy
from surefoot.live.configuration import (
    WORST,
    Settings,
    built,
    check_terms,
    grown,
    settings_of,
    unknown,
    with_arms,
)
from surefoot.live.entries import GENESIS, Entry
from surefoot.live.evidence import Evidence
from surefoot.live.play import DEGRADED, SHADOW, OpenPlay, Request, decision_payload, sealed_json
from surefoot.policies.base import Policy

_ENDOWMENTS = {"endowment.granted": 1, "endowment.withdrawn": -1}
LEARNT = ("outcome.settled", "outcome.expired", "outcome.late")
"""The kinds of entries the policy learns from; from an expiry if ``learn_missing`` says so."""
CLOSED = (
    *LEARNT, "outcome.as_default", "decision.voided", "decision.confirmed", "default.expired",
)  # fmt: skip
"""A play leaves memory after these; a later report repeats its facts in its own entry."""
_CHANGES = {
    "experiment.configured", "experiment.state", "arms.added", "arms.removed", *_ENDOWMENTS,
}  # fmt: skip
_DECIDED = {
    "decision.held": counts_of("decision.held", True),
    "decision.defaulted": counts_of("decision.defaulted", False),
}
FLAGS = {"breaches": "breach", "capped": "capped", "mismatches": "mismatch"}
"""What an entry says of a reward that is not what was declared, by the counter it moves."""
_COUNTED = {flag: counter for counter, flag in FLAGS.items()}


def counts_of_entry(kind: str, payload: JsonObject, explores: bool) -> Counts:
    """An entry's changes of its experiment's counts; ``explores``: whether its play does."""
    counts = counts_of(kind, explores, payload.get("late") is True)
    for flag, counter in _COUNTED.items():
        if payload.get(flag):
            counts = (*counts, (counter, 1))
    return counts


class Fold:
    """An agent as its ledger's entries have made it; ``apply`` takes the next one.

    Only a store's works touch it, and they run one after the other.
    """

    def __init__(self, experiment: str, own_policy: Policy | None) -> None:
        self.experiment = experiment
        self.evidence = Evidence(experiment)
        self.behind = False
        """Whether a snapshot had no evidence: it is still to be made of the entries before."""
        self.own_policy = own_policy
        """A fresh policy, if it is of the user's own class; never played with, only copied."""
        self.seq, self.head = 0, GENESIS
        self.account = Account()
        self.opened: list[JsonObject] = []
        """The configuration in force, and the one it was opened with."""
        self.version = 0
        self.settings = Settings()
        self.key = 0
        """Which plays with a name are held out is drawn by it."""
        self.waiting: dict[str, OpenPlay] = {}
        self.counted = set[str]()
        """The explorations that the policy counts as open, where it is told of them."""
        self.lent: dict[str, int] = {}
        """Of a lease's copy, whose plays are kept elsewhere: the arm of each that waits."""
        self.removed: set[int] = set()
        self.endowments: dict[str, list[Any]] = {}
        """The changes of the reserve that have an id, by id."""
        self.posted = 0
        """This experiment's part of the account's posted total."""
        self.unlearnt: Exception | None = None
        """Why the policy failed to learn the newest reward."""
        self.agent: GenCB
        """Set once the experiment was opened."""
        self.books: RewardBooks
        """The agent's books: counters, the floor in force, and the account's totals."""

    @property
    def exists(self) -> bool:
        """Whether the experiment was opened."""
        return bool(self.opened)

    def follows(self, row: Any) -> bool:
        """Whether the fold stands at the account's newest entry."""
        account = self.account
        ours = self.head, self.seq, account.posted, account.held, account.reserve
        return bool(ours == (row.head, row.seq, row.posted, row.held, row.reserve))

    def decide(
        self, asked: Request, now: int, name: str | None = None
    ) -> tuple[str, JsonObject, Play]:
        """Propose a play: the kind and payload of its entry, decided ``now``, and the play.

        ``name``: what it is called if its caller has no id for it; None: by its number. The policy
        has taken its turn: if the entry does not come to be, the fold is to be lost.
        """
        context, candidates, terms = self.check(asked)
        if self.agent.holdout:
            own = asked.id or name
            self.agent.lot = None if own is None else (self.key, _number(own))
        try:
            play = self.agent.propose(context, candidates, terms)
            return *self._proposal(play, asked, candidates, now), play
        except BaseException:
            self.lose()
            raise

    def check(self, asked: Request) -> tuple[Any, list[int] | None, Terms]:
        """The checked context, the allowed arms by number, and the terms of a request."""
        agent, allowed = self.agent, asked.allowed
        terms = self.books.terms(asked.default)
        if asked.default is not None:
            check_terms(terms)
        context = agent.checked_context(asked.context)
        if self.removed:
            allowed = self._allowed(allowed)
        if allowed is None and agent.labels:
            return context, None, terms
        return context, agent.candidates(context, allowed), terms

    def _allowed(self, allowed: Iterable[Any] | None) -> list[Any]:
        """The arms that may be played: those asked for, without those removed."""
        agent = self.agent
        numbers = (
            range(len(agent.labels)) if allowed is None else agent.actions.arm_numbers(allowed)
        )
        return [agent.labels[number] for number in numbers if number not in self.removed]

    def _proposal(
        self, play: Play, asked: Request, candidates: list[int] | None, now: int
    ) -> tuple[str, JsonObject]:
        allowed = None if asked.allowed is None and not self.removed else candidates
        settings = self.settings
        window = settings.reward_window
        fixed: JsonObject = {"deadline": None if window is None else now + window}
        if settings.shadow:  # then the default is certain, whatever was drawn
            play = play._replace(propensity=1.0)
        if play.index < 0:
            if play.reason is Reason.DEFAULT_BEST:
                fixed["chosen"] = True
            if play.fault is not None:
                fixed["fault"] = play.fault
            return "decision.defaulted", decision_payload(play, asked, allowed, fixed)
        if settings.shadow:
            fixed["shadow"] = sealed_json(play.arm, "arm")
            watched = play._replace(arm=None, index=-1)
            payload = decision_payload(watched, asked, allowed, fixed)
            return "decision.defaulted", {**payload, "reason": SHADOW}
        books = self.books
        fixed["low"], fixed["high"] = books.low, books.high
        if settings.learn_missing == WORST:
            fixed["missing"] = books.low
        return "decision.held", decision_payload(play, asked, allowed, fixed)

    def refused(self, asked: Request, payload: JsonObject, play: Play) -> JsonObject:
        """The payload of the default that replaces a play the account cannot afford."""
        short = play._replace(
            arm=None, index=-1, reason=Reason.SLACK_SHORT, choice=None, propensity=None
        )
        fixed = {"deadline": payload["deadline"]}
        return decision_payload(short, asked, payload.get("allowed"), fixed)

    def unproposed(self, asked: Request, now: int) -> JsonObject:
        """The payload of the default, without asking a policy whose books are in doubt."""
        agent, window = self.agent, self.settings.reward_window
        play = agent.new_play(-1, None, Reason.PAUSED, agent.floor.terms(asked.default), None, 1.0)
        fixed = {"deadline": None if window is None else now + window}
        return {**decision_payload(play, asked, None, fixed), "reason": DEGRADED}

    @property
    def lost(self) -> bool:
        """Whether the fold is invalid; the next work builds it anew."""
        return not self.head

    def lose(self) -> None:
        """The proposed play was not booked: this fold is invalid from here on."""
        self.head = ""

    def branch(self, name: str, rights: int) -> Fold:
        """A copy for a lease, whose account has ``rights`` to spend, and no more.

        The chain and ``name`` seed its randomness: two branches do not draw the same.
        """
        twin, agent = Fold(self.experiment, self.own_policy), self.agent
        twin.version, twin.settings = self.version, self.settings
        twin.removed, twin.head = set(self.removed), self.head
        policy = copy.deepcopy(agent.policy)
        if isinstance(policy, KernelPolicy):
            policy.renew()
        seed = int.from_bytes(hashlib.sha256(f"{self.head} {name}".encode()).digest())
        twin._keep(agent.like(policy, seed), Account(posted=rights))
        twin.key = self.key
        twin.counted = set(self.counted)
        twin.lent = {name: play.number for name, play in self.waiting.items() if play.explores}
        twin.books.counters |= {
            name: self.books.counters[name] for name in ("pending", "unreported")
        }
        return twin

    def _keep(self, agent: GenCB, account: Account) -> None:
        """Give an agent the account's books, which hold counters and no plays."""
        books = agent.floor.open(keep=0)
        assert isinstance(books, RewardBooks)
        books.account = self.account = account
        self.agent, self.books, agent.books = agent, books, books
        agent.waiting = self._open_arms

    def _open_arms(self) -> list[int]:
        """The arm of each play whose reward is still to come."""
        here = (play.number for play in self.waiting.values() if play.explores)
        return [*here, *self.lent.values()]

    def apply(self, entry: Entry, done: bool = False) -> None:
        """Take the next entry; ``done``: only counts and totals still have to change.

        Raises ValueError if it is not the next one, or its totals are not what they should be.
        """
        if entry.seq != self.seq + 1 or entry.prev != self.head:
            raise ValueError(f"entry {entry.seq} does not follow entry {self.seq}")
        account, kind, payload = self.account, entry.kind, entry.payload
        account.posted += entry.d_posted
        account.held += entry.d_held
        if kind in _ENDOWMENTS and not done:
            self._endow(_ENDOWMENTS[kind] * payload["amount"])
        totals = entry.reserve, entry.posted, entry.held
        if (account.reserve, account.posted, account.held) != totals:
            ours = account.numbers()
            raise ValueError(f"entry {entry.seq} has the totals {[*totals]}, not {ours}")
        self.seq, self.head = entry.seq, entry.hash
        if entry.experiment != self.experiment:
            return
        self.posted += entry.d_posted
        self.evidence.take(entry)
        if kind == "experiment.opened":
            self._open(payload)
        elif not self.opened:
            raise ValueError(f"entry {entry.seq} is of an experiment that was never opened")
        elif kind == "decision.held" or kind == "decision.defaulted":
            self._decided(entry, done)
        elif kind in _CHANGES:
            self._changed(kind, payload, done)
        else:
            self._reported(entry)

    def _endow(self, amount: int) -> None:
        self.account.reserve += amount
        if self.exists:
            self.books.set_reserve(self.account.reserve)
            self.agent.floor = self.books.floor

    def _changed(self, kind: str, payload: JsonObject, done: bool) -> None:
        if kind == "experiment.configured":
            self._configure(payload, done)
        elif kind == "experiment.state":
            self.agent.paused = payload["state"] == "paused"
        elif kind == "arms.added":
            self._add(payload["arms"])
        elif kind == "arms.removed":
            self.removed |= set(self.agent.actions.arm_numbers(payload["arms"]))
        elif "id" in payload:
            self.endowments[payload["id"]] = [kind, payload["asked"]]

    def _open(self, payload: JsonObject) -> None:
        agent = built(payload["config"], copy.deepcopy(self.own_policy))
        self._keep(agent, self.account)
        self.opened, self.version = [payload["config"], payload["config"]], 1
        self.key = own_key(agent.rng)
        self._set(payload["config"])

    def _configure(self, payload: JsonObject, done: bool) -> None:
        if not done:
            floor = RewardFloor.from_config(payload["config"]["floor"])
            self.agent.change(**{name: getattr(floor, name) for name in floor.changeable()})
        self.opened[0] = payload["config"]
        self._set(payload["config"])
        self.version += 1

    def _set(self, config: JsonObject) -> None:
        self.settings = settings_of(config)
        self.agent.holdout = self.settings.share

    def open_play(self, entry: Entry) -> OpenPlay:
        """The open play of a decision's entry."""
        return OpenPlay.of(entry, self.agent, own=entry.experiment == self.experiment)

    def lacks(self, labels: Iterable[Any]) -> bool:
        """Whether adding some arms changes anything; InvalidInput if they cannot be added."""
        new = unknown(self.agent.labels, labels)
        if new:
            grown(self.agent.policy, new)
        return bool(new) or not self.removed.isdisjoint(self.agent.actions.arm_numbers(labels))

    def _add(self, labels: list[Any]) -> None:
        agent = self.agent
        new = unknown(agent.labels, labels)
        there = [label for label in labels if label not in new]
        self.removed -= set(agent.actions.arm_numbers(there))
        if not new:
            return
        self.opened[0] = with_arms(self.opened[0], new, self.own_policy)
        self.agent = agent.like(grown(agent.policy, new))
        self.agent.books, self.agent.rng, self.agent.waiting = agent.books, agent.rng, agent.waiting

    def _decided(self, entry: Entry, done: bool) -> None:
        payload, kind = entry.payload, entry.kind
        play = OpenPlay.of(entry, self.agent, own=True)
        fault = payload.get("fault")
        asked = kind == "decision.held" or "shadow" in payload or payload.get("chosen")
        if not done and (asked or fault is not None):
            self._turn(play.context, payload.get("allowed"), fault)
        self.count(kind)
        assert entry.play is not None
        self.waiting[entry.play] = play
        try:
            self.tell_open(entry.play, play)
        except Exception:
            if done:  # while it is decided; one that is read back was made
                raise

    def count(self, kind: str) -> None:
        """Count a play that was decided."""
        self.books.plays.next_id += 1
        self._count(_DECIDED[kind])

    def _count(self, counts: Counts) -> None:
        counters = self.books.counters
        for name, change in counts:
            counters[name] += change

    def _turn(self, context: Any, allowed: Any, fault: str | None) -> None:
        """Take the policy's turn again; if it fails now, the turn still counts.

        Under leases it was asked in another state, with other draws. ``fault``: why it failed then,
        if it did; such a turn took no random numbers.
        """
        agent = self.agent
        turns, drawn = agent.turns, None if fault is None else agent.rng.bit_generator.state
        try:
            agent.ask(context, allowed)
        except Exception:  # noqa: BLE001  # a policy is the user's own code
            agent.asking = False
            agent.turns = turns + 1
        if drawn is not None:
            agent.rng.bit_generator.state = drawn
            agent.faults, agent.last_fault = agent.faults + 1, fault

    def _reported(self, entry: Entry) -> None:
        payload, kind, name, books = entry.payload, entry.kind, entry.play, self.books
        play = None if name is None else self.waiting.get(name)
        assert play is not None or kind != "decision.voided" or payload.get("late") is True
        self._count(counts_of_entry(kind, payload, play is not None and play.explores))
        books.required += payload.get("asked", 0)
        if kind == "outcome.late":
            action = self.agent.actions.action(payload["index"], from_json(payload["arm"]))
            context = from_json(payload.get("context"))
            self.learn(kind, payload, action, context, payload.get("missing"))
        elif kind == "default.valued":
            self.drawn(payload)
        elif kind in LEARNT:
            assert play is not None
            self.learn(kind, payload, play.action, play.context, play.missing)
        if kind in CLOSED and name is not None:
            self.waiting.pop(name, None)
            if play is not None:
                self.tell_closed(name, play)

    def tell_open(self, name: str, play: OpenPlay) -> None:
        """Tell the policy that an exploration was given out."""
        agent: Any = self.agent
        told = play.explores and agent.counts_open
        if told and agent.tell(agent.policy.opened, play.action, play.context):
            self.counted.add(name)

    def tell_closed(self, name: str, play: OpenPlay) -> None:
        """Tell the policy that a play waits no longer, if it counts it as open."""
        if name not in self.counted:
            return
        self.counted.remove(name)
        policy: Any = self.agent.policy
        try:
            policy.closed(play.action, play.context)
        except Exception as error:  # noqa: BLE001  # a policy is the user's own code
            self._unheard(error)

    def drawn(self, payload: JsonObject) -> None:
        """Take in what a default of an interval paid; earlier releases did not say the interval."""
        if "between" in payload:
            low, high = payload["between"]
            self.agent.draws.take(Terms(low, 0, 0, 0, high), payload["reward"])

    def learn(
        self, kind: str, payload: JsonObject, action: Any, context: Any, missing: int | None
    ) -> None:
        """Tell the policy what an entry of ``LEARNT`` teaches; ``missing``: as of its play.

        One that cannot take it goes on without: it is booked. ``unlearnt`` is why, unless the
        agent counts it as a fault.
        """
        policy: Any = self.agent.policy
        earned = self.agent.earned
        if earned is not None and kind != "outcome.expired":
            earned.take(action, min(payload["reward"], self.books.high))
        try:
            if kind == "outcome.expired":
                if missing is not None:
                    policy.update(action, self._worst(missing), context)
            elif kind == "outcome.late" and missing is not None:
                old, new = self._worst(missing), self._reward(payload)
                policy.correct(action, old, new, context)
            else:
                policy.update(action, self._reward(payload), context)
        except Exception as error:  # noqa: BLE001  # a policy is the user's own code
            self._unheard(error)

    def _unheard(self, error: Exception) -> None:
        """The policy failed to take what it was told: the books go on without."""
        if self.agent.on_fault == DEFAULT:
            self.agent.failed(error)
        else:
            self.unlearnt = error

    def _worst(self, missing: int) -> float:
        """The reward that the policy learns for a missing one; it never changes."""
        agent: Any = self.agent
        worst = agent.floor.unit.decimal(missing)
        return float(agent.policy_reward(worst) if agent.unit_rewards else worst)

    def _reward(self, payload: JsonObject) -> Any:
        """The reward of an entry, as the policy learns it."""
        text = payload["told"]
        base = text["base"] if isinstance(text, dict) else text
        if isinstance(base, list):
            return tuple(map(float, base))
        if self.agent.unit_rewards:
            return share(payload["reward"], self.books.low, self.books.high)
        return self.agent.policy_reward(Decimal(base))

    def state(self) -> JsonObject:
        """JSON-able state."""
        books, body = self.books, saving.agent_to_json(self.agent)
        uncounted = sorted(self._explored() - self.counted) if self.agent.counts_open else []
        return {
            "experiment": self.experiment,
            "chain": [self.seq, self.head, self.version, self.posted, *self.account.numbers()],
            "opened": self.opened,
            "body": {key: body[key] for key in body if key not in ("books", "open", "lapsed")},
            **({"counts_open": True} if self.agent.counts_open else {}),
            **({"uncounted": uncounted} if uncounted else {}),
            "evidence": self.evidence.state(),
            "counters": {
                **books.counters,
                "required": books.required,
                "next_id": books.plays.next_id,
            },
            "removed": sorted(self.removed),
            "endowments": self.endowments,
            "waiting": {
                play: to_json(_plain(given), f"the context of {play}")
                for play, given in self.waiting.items()
            },
        }

    def restore(self, state: JsonObject) -> None:
        """The inverse of ``state``."""
        body = {**state["body"], "settings": state["opened"][0]["settings"]}
        self._open({"config": body})
        self.opened = state["opened"]
        agent = self.agent
        self._set(self.opened[0])
        agent.turns, agent.paused = body["turns"], body["paused"]
        self.seq, self.head, self.version, self.posted, *numbers = state["chain"]
        self.account.reserve, self.account.posted, self.account.held = numbers
        counters = dict(state["counters"])
        self.books.plays.next_id = counters.pop("next_id")
        self.books.required = counters.pop("required")
        self._count(tuple(counters.items()))
        self.removed = set(state["removed"])
        self.endowments = state["endowments"]
        self.behind = "evidence" not in state
        if not self.behind:
            self.evidence = Evidence.restored(self.experiment, state["evidence"])
        for play, packed in state["waiting"].items():
            explores, arm, number, action, context, terms, *ends = from_json(packed)
            self.waiting[play] = OpenPlay(
                explores, arm, number, action, context, Terms.of(terms), *ends
            )
        if agent.counts_open:
            if state.get("counts_open", False):
                self.counted = self._explored() - set(state.get("uncounted", ()))
                return
            for play, given in self.waiting.items():  # its policy had been told of nothing
                self.tell_open(play, given)

    def _explored(self) -> set[str]:
        """The explorations that wait."""
        return {name for name, play in self.waiting.items() if play.explores}


def _plain(given: OpenPlay) -> list[Any]:
    return [tuple(part) if isinstance(part, Terms) else part for part in given]


def _number(name: str) -> int:
    """The number by which a play with a name is drawn: the same for every worker."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:7])


def is_trouble(error: Exception) -> bool:
    """Whether an error says that a ledger cannot be followed, and not that it cannot be read."""
    expected = (ArithmeticError, AssertionError, LookupError, TypeError, ValueError)
    return isinstance(error, (SurefootError, *expected)) and not isinstance(error, StoreUnavailable)
