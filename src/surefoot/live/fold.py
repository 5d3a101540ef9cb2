"""The fold: what an agent has become by the entries of its ledger, one after the other.

Money is the store's. What is kept here is what a proposal needs: the policy, its clock, the floor
in force, and the totals, which every entry has to confirm.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from surefoot._json_values import from_json, to_json
from surefoot.agents import GenCB, Play, Reason, saving
from surefoot.errors import StoreUnavailable, SurefootError
from surefoot.floors import RewardBooks, RewardFloor, Terms
from surefoot.floors.account import Account
from surefoot.floors.events import Counts, Event, counts_of
from surefoot.floors.plays import Plays
from surefoot.floors.reward import CHANGEABLE
from surefoot.live.configuration import (
    WORST,
    Settings,
    built,
    grown,
    settings_of,
    unknown,
    with_arms,
)
from surefoot.live.entries import GENESIS, Entry
from surefoot.live.given import Given, Named
from surefoot.live.play import Request, payload
from surefoot.live.reports import FLAGS
from surefoot.policies.base import Policy

_COUNTERS = (*RewardBooks.COUNTERS, "pending", "unreported")
_ENDOWMENTS = {"endowment.granted": 1, "endowment.withdrawn": -1}
LEARNT = ("outcome.settled", "outcome.expired", "outcome.late")
"""The kinds of entries that tell the policy a reward; of an expiry, where that is worth one."""
_CLOSED = (
    *LEARNT, "outcome.as_default", "decision.voided", "decision.confirmed", "default.expired",
)  # fmt: skip
"""After these a play is not kept in memory; what still comes of it, its entry tells again."""
_COUNTED = {flag: counter for counter, flag in FLAGS.items()}


def counts_of_entry(kind: str, told: dict[str, Any], explores: bool) -> Counts:
    """What an entry changes of its experiment's counts; ``explores``: whether its play does."""
    counts = counts_of(kind, explores, lapsed=told.get("late") is True)
    return (*counts, *((_COUNTED[flag], 1) for flag in _COUNTED if told.get(flag)))


class Counted(Plays):
    """Counts plays and remembers none: their records are the store's."""

    def open(self, explores: bool, terms: Terms) -> int:
        """Start a play and return its number."""
        self.next_id += 1
        return self.next_id - 1


class Fold:
    """An agent as its ledger's entries have made it; ``apply`` takes the next one.

    Only a store's works touch it, and they run one after the other.
    """

    def __init__(self, experiment: str, own_policy: Policy | None) -> None:
        self.experiment = experiment
        self.own_policy = own_policy
        """A fresh policy, if it is of the user's own class; never played with, only copied."""
        self.seq, self.head = 0, GENESIS
        self.account = Account()
        self.opened: list[dict[str, Any]] = []
        """The configuration in force, and the one it was opened with."""
        self.version = 0
        self.settings = Settings()
        self.waiting: dict[str, Given] = {}
        self.removed: set[int] = set()
        self.endowments: dict[str, list[Any]] = {}
        """The changes of the reserve that were given an id: what they were."""
        self.posted = 0
        """What this experiment posted of the account's total."""
        self.unlearnt: Exception | None = None
        """Why the policy failed to learn the newest reward."""
        self._agent: GenCB | None = None

    @property
    def agent(self) -> GenCB:
        """The agent; there is one once the experiment was opened."""
        assert self._agent is not None
        return self._agent

    @property
    def books(self) -> RewardBooks:
        """The agent's books: counters, the floor in force, and the account's totals."""
        books = self.agent.books
        assert isinstance(books, RewardBooks)
        return books

    @property
    def exists(self) -> bool:
        """Whether the experiment was opened."""
        return self._agent is not None

    def follows(self, row: Any) -> bool:
        """Whether this is what the account's chain has led to."""
        account = self.account
        ours = self.head, self.seq, account.posted, account.held, account.reserve
        return bool(ours == (row.head, row.seq, row.posted, row.held, row.reserve))

    def decide(self, asked: Request) -> Play:
        """Propose a play, and count it; its entry has to be noted next, else the fold is lost."""
        agent, labels = self.agent, self.check(asked)
        try:
            play = agent.select(asked.context, labels, asked.default)
            agent.open_plays.clear()
            if self.settings.shadow and not play.is_default:
                self.account.held -= play.terms.hold
                self.books.count((*counts_of(Event.AS_DEFAULT, True), ("unreported", 1)))
        except BaseException:
            self.lose()
            raise
        return play

    def check(self, asked: Request) -> list[Any] | None:
        """What select would refuse before it asks the policy: from there on the fold has moved.

        Returns the arms that may be played; None: all.
        """
        agent, labels = self.agent, self.candidates(asked.allowed)
        self.books.terms(asked.default)
        if labels is not None:
            agent.actions.arm_numbers(labels)
        agent.checked_context(asked.context)
        return labels

    def unproposed(self, default: Any) -> Play:
        """The default, without asking a policy whose books are in doubt."""
        agent = self.agent
        return agent.new_play(-1, None, Reason.PAUSED, agent.floor.terms(default), None)

    def proposal(self, play: Play, asked: Request, now: int) -> tuple[str, dict[str, Any]]:
        """The kind and payload of the entry that a proposed play becomes, if decided ``now``."""
        allowed = self.numbers(asked.allowed)
        fixed: dict[str, Any] = {"deadline": self.deadline(now)}
        if play.index < 0:
            if play.reason is Reason.DEFAULT_BEST:
                fixed["chosen"] = True
            return "decision.defaulted", payload(play, asked, allowed, fixed)
        books = self.books
        fixed["low"], fixed["high"] = books.low, books.high
        if self.settings.learn_missing == WORST:
            fixed["missing"] = books.low
        return "decision.held", payload(play, asked, allowed, fixed)

    def deadline(self, now: int) -> int | None:
        """When a play that is decided ``now`` expires; None: never."""
        window = self.settings.reward_window
        return None if window is None else now + window

    @property
    def lost(self) -> bool:
        """Whether it has moved by what never came to be; the next work builds it anew."""
        return not self.head

    def lose(self) -> None:
        """What was proposed did not come to be: this is no fold any more, and follows nothing."""
        self.head = ""

    def branch(self, name: str, rights: int) -> Fold:
        """A copy to decide by elsewhere, whose account has ``rights`` to spend, and no more.

        Its randomness is its own, given the chain and ``name``: two branches do not draw the same.
        """
        twin, agent = Fold(self.experiment, self.own_policy), self.agent
        twin.version, twin.settings = self.version, self.settings
        twin.removed, twin.head = set(self.removed), self.head
        seed = int.from_bytes(hashlib.sha256(f"{self.head} {name}".encode()).digest())
        copied = GenCB(
            copy.deepcopy(agent.policy), agent.floor, seed, default_competes=agent.default_competes
        )
        copied.turns, copied.paused = agent.turns, agent.paused
        books = copied.books = agent.floor.open(keep=0)
        books.account = twin.account = Account(posted=rights)
        books.plays = Counted(0)
        books.pending, books.unreported = self.books.pending, self.books.unreported
        twin._agent = copied
        return twin

    def candidates(self, allowed: Iterable[Any] | None) -> list[Any] | None:
        """The arms that may be played: those asked for, without those removed."""
        agent = self.agent
        if not self.removed:
            return None if allowed is None else list(allowed)
        actions = agent.actions
        numbers = range(len(agent.arms)) if allowed is None else actions.arm_numbers(allowed)
        return [agent.arms[number] for number in numbers if number not in self.removed]

    def numbers(self, allowed: Iterable[Any] | None) -> list[int] | None:
        """The same as the policy's numbers."""
        labels = self.candidates(allowed)
        return None if labels is None else self.agent.actions.arm_numbers(labels)

    def apply(self, entry: Entry, done: bool = False) -> None:
        """Take the next entry; ``done``: what it says of policy and counters is so already.

        Raises ValueError if it is not the next one, or its totals are not what they should be.
        """
        if entry.seq != self.seq + 1 or entry.prev != self.head:
            raise ValueError(f"entry {entry.seq} does not follow entry {self.seq}")
        account = self.account
        if not done:
            account.posted += entry.d_posted
            account.held += entry.d_held
            if entry.kind in _ENDOWMENTS:
                self._endow(_ENDOWMENTS[entry.kind] * entry.payload["amount"])
        totals = [entry.reserve, entry.posted, entry.held]
        if account.numbers() != totals:
            raise ValueError(f"entry {entry.seq} has the totals {totals}, not {account.numbers()}")
        self.seq, self.head = entry.seq, entry.hash
        if entry.experiment == self.experiment:
            self._own(entry, done)

    def _endow(self, amount: int) -> None:
        self.account.reserve += amount
        if self.exists:
            self.books._set_reserve(self.account.reserve)
            self.agent.floor = self.books.floor

    def _own(self, entry: Entry, done: bool) -> None:
        told, kind = entry.payload, entry.kind
        self.posted += entry.d_posted
        if kind == "experiment.opened":
            self._open(told)
        elif kind == "experiment.configured":
            self._configure(told, done)
        elif kind == "experiment.state":
            self.agent.paused = told["state"] == "paused"
        elif kind == "arms.added":
            self._add(told["arms"])
        elif kind == "arms.removed":
            self.removed |= set(self.agent.actions.arm_numbers(told["arms"]))
        elif kind in ("decision.held", "decision.defaulted"):
            self._decided(entry, done)
        elif kind in _ENDOWMENTS:
            if "id" in told:
                self.endowments[told["id"]] = [kind, told["asked"]]
        else:
            self._reported(entry)

    def _open(self, told: dict[str, Any]) -> None:
        agent = built(told["config"], copy.deepcopy(self.own_policy))
        books = agent.books = agent.floor.open(keep=0)
        books.account, books.plays = self.account, Counted(0)
        self._agent, self.opened, self.version = agent, [told["config"], told["config"]], 1
        self.settings = settings_of(told["config"])

    def _configure(self, told: dict[str, Any], done: bool) -> None:
        if not done:
            floor = RewardFloor.from_config(told["config"]["floor"])
            self.agent.change(**{name: getattr(floor, name) for name in CHANGEABLE})
        self.opened[0] = told["config"]
        self.settings = settings_of(told["config"])
        self.version += 1

    def given(self, entry: Entry) -> Given:
        """What a decision's entry says of its play."""
        return Given.of(entry, self.agent, own=entry.experiment == self.experiment)

    def lacks(self, labels: Iterable[Any]) -> bool:
        """Whether adding some arms changes anything; InvalidInput if they cannot be added."""
        new = unknown(self.agent.arms, labels)
        if new:
            grown(self.agent.policy, new)
        return bool(new) or not self.removed.isdisjoint(self.agent.actions.arm_numbers(labels))

    def _add(self, labels: list[Any]) -> None:
        agent = self.agent
        new = unknown(agent.arms, labels)
        there = [label for label in labels if label not in new]
        self.removed -= set(agent.actions.arm_numbers(there))
        if not new:
            return
        self.opened[0] = with_arms(self.opened[0], new)
        policy = grown(agent.policy, new)
        fresh = GenCB(policy, agent.floor, default_competes=agent.default_competes)
        fresh.books, fresh.rng = agent.books, agent.rng
        fresh.turns, fresh.paused = agent.turns, agent.paused
        self._agent = fresh

    def _decided(self, entry: Entry, done: bool) -> None:
        told, given = entry.payload, self.given(entry)
        if not done:
            if entry.kind == "decision.held" or "shadow" in told or told.get("chosen"):
                self._turn(given.context, told.get("allowed"))
            self.books.count(counts_of(entry.kind, given.explores))
            self.books.plays.next_id += 1
        assert entry.play is not None
        self.waiting[entry.play] = given

    def _turn(self, context: Any, allowed: Any) -> None:
        """The policy's turn, taken again. If it fails at it this time, the play was made as well.

        Under leases it was asked in another state, with other draws.
        """
        agent = self.agent
        try:
            agent.ask(context, allowed)
        except Exception:  # noqa: BLE001  # a policy is the user's own code
            agent.asking = False
            agent.turns += 1

    def _reported(self, entry: Entry) -> None:
        told, books = entry.payload, self.books
        given = None if entry.play is None else self.waiting.get(entry.play)
        late = told.get("late") is True
        assert given is not None or late or entry.kind != "decision.voided"
        explores = given is not None and given.explores
        books.count(counts_of_entry(entry.kind, told, explores))
        books.required += told.get("asked", 0)
        if entry.kind == "outcome.late":
            action = Named.of(told).action(self.agent)
            self.learn(
                entry.kind, told, action, from_json(told.get("context")), told.get("missing")
            )
        elif entry.kind in LEARNT:
            assert given is not None
            self.learn(entry.kind, told, given.action, given.context, given.missing)
        if entry.kind in _CLOSED and entry.play is not None:
            self.waiting.pop(entry.play, None)

    def learn(
        self, kind: str, told: dict[str, Any], action: Any, context: Any, missing: int | None
    ) -> None:
        """Tell the policy what an entry of ``LEARNT`` teaches; ``missing``: as of its play.

        One that cannot take it goes on without: it is booked.
        """
        policy: Any = self.agent.policy
        try:
            if kind == "outcome.expired":
                if missing is not None:
                    policy.update(action, self._worst(missing), context)
            elif kind == "outcome.late" and missing is not None:
                old, new = self._worst(missing), self._reward(told["told"])
                policy.correct(action, old, new, context)
            else:
                policy.update(action, self._reward(told["told"]), context)
        except Exception as error:  # noqa: BLE001  # a policy is the user's own code
            self.unlearnt = error

    def _worst(self, missing: int) -> float:
        """What the policy is told of a missing reward: the same at its expiry and ever after."""
        agent: Any = self.agent
        worst = agent.floor.unit.decimal(missing)
        return float(agent.policy_reward(worst) if agent.unit_rewards else worst)

    def _reward(self, told: Any) -> Any:
        """A reward that an entry tells, as the policy is told it."""
        base = told["base"] if isinstance(told, dict) else told
        if isinstance(base, list):
            return tuple(map(float, base))
        return self.agent.policy_reward(Decimal(base))

    def state(self) -> dict[str, Any]:
        """JSON-able state."""
        books, body = self.books, saving.agent_to_json(self.agent)
        counters = {name: getattr(books, name) for name in _COUNTERS}
        return {
            "experiment": self.experiment,
            "chain": [self.seq, self.head, self.version, self.posted, *self.account.numbers()],
            "opened": self.opened,
            "body": {key: body[key] for key in body if key not in ("books", "open")},
            "counters": {**counters, "next_id": books.plays.next_id},
            "removed": sorted(self.removed),
            "endowments": self.endowments,
            "waiting": {
                play: to_json(_plain(given), f"the context of {play}")
                for play, given in self.waiting.items()
            },
        }

    def restore(self, state: dict[str, Any]) -> None:
        """The inverse of ``state``."""
        body = {**state["body"], "settings": state["opened"][0]["settings"]}
        self._open({"config": body})
        self.opened = state["opened"]
        agent = self.agent
        self.settings = settings_of(self.opened[0])
        agent.turns, agent.paused = body["turns"], body["paused"]
        self.seq, self.head, self.version, self.posted, *numbers = state["chain"]
        self.account.reserve, self.account.posted, self.account.held = numbers
        counters = dict(state["counters"])
        self.books.plays.next_id = counters.pop("next_id")
        self.books.count(tuple(counters.items()))
        self.removed = set(state["removed"])
        self.endowments = state["endowments"]
        for play, packed in state["waiting"].items():
            explores, arm, number, action, context, terms, *ends = from_json(packed)
            self.waiting[play] = Given(explores, arm, number, action, context, Terms(*terms), *ends)


def _plain(given: Given) -> list[Any]:
    return [tuple(part) if isinstance(part, Terms) else part for part in given]


def is_trouble(error: Exception) -> bool:
    """Whether an error says that a ledger cannot be followed, and not that it cannot be read."""
    expected = (ArithmeticError, AssertionError, LookupError, TypeError, ValueError)
    return isinstance(error, (SurefootError, *expected)) and not isinstance(error, StoreUnavailable)
