"""The base class of agents: plays, reports, changes and statement around one decision."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np

from surefoot import _logs
from surefoot._exact import first_few, shown, unlabelled
from surefoot._labels import Label
from surefoot._types import Default, JsonObject, Seed
from surefoot.agents import holdout, measuring, open_plays, policy_checks, propensity
from surefoot.agents.actions import Action, Actions
from surefoot.agents.changing import Changing
from surefoot.agents.draws import Draws
from surefoot.agents.faults import DEFAULT, RAISE
from surefoot.agents.feeding import Feeding
from surefoot.agents.funding import Earnings
from surefoot.agents.play import Binding, Choice, Play, Reason, explain, made
from surefoot.agents.propensity import TOLD
from surefoot.agents.reporting import Reporting
from surefoot.agents.tally import Tally
from surefoot.agents.uplift import Gain
from surefoot.errors import InvalidInput, PlayConflict, UnknownPlay
from surefoot.floors import (
    Books,
    CostStatement,
    Floor,
    Statement,
    Terms,
    statement,
)  # fmt: skip
from surefoot.floors.protocol import check_floor, is_ceiling
from surefoot.policies.base import Policy, counts_open, has, score_given


class Agent(Changing, Reporting):
    """Policy and floor together; a subclass says in ``_decide`` when the policy may play.

    An agent owns its policy and its books and is not thread-safe. Every method checks first and
    changes after: a refused call leaves books, clock and policy as they were.
    """

    gate: ClassVar[str]
    """How the simulator interleaves this agent's default plays: account, pledge or none."""
    default_competes: bool = False
    """Whether the default is among the candidates of each turn."""
    measured: bool = True
    """Whether the user gave the floor; else its slack means nothing."""
    builds_policy: ClassVar[bool] = False
    """Whether the agent builds its policy itself."""
    holdout: float = 0.0
    """The share of plays that take the default at random."""
    lot: tuple[int, int] | None = None
    """Key and number of the draw that may hold out the next play; None: by seed and play."""
    learns_default: ClassVar[bool] = False
    """Whether each report of a default play must bring its reward."""
    on_fault: str = RAISE
    """What happens when the policy fails: "raise" or "default"."""
    # From 30 attributes of its own on, CPython looks up each by its name, and a play takes a tenth
    # longer: what no usual play looks at is of the class until it is set.
    faults: int = 0
    """How often the policy failed and the agent went on, see ``GenCB(on_fault=)``."""
    last_fault: str | None = None
    owed: dict[int, measuring.Owed] | None = None
    """Plays of which the policy has not heard all measures; None: it learns none."""
    feeding: Feeding
    """Which default plays feed what is learned of the default, where it is learned."""
    _told: Any = None

    def __init__(self, policy: Policy, floor: Floor, seed: Seed = None) -> None:
        self.actions = Actions(policy)
        self.labels: tuple[Label, ...] = self.actions.arms
        """The arms, as the user named them."""
        check_floor(floor)
        self.binding: Binding | None = None
        """What its plays say of the floor whose numbers they have; None: one floor, on rewards."""
        if is_ceiling(floor):
            self.binding = Binding(costs=True)
            policy_checks.check_costs(policy, self.actions)
        policy_checks.check_agreement(policy, floor)
        self.policy = policy
        self.floor = floor
        self.turns = 0
        """m: how often the policy has been asked."""
        self.paused = False
        self.asking = False
        self.earned: Earnings | None = None
        """What each arm has paid, of an agent that plays for it, see ``GenCB(fund=)``."""
        self.draws = Draws()
        """What defaults of intervals were told to have paid."""
        self.rng = np.random.default_rng(policy_checks.seeded(seed).spawn(1)[0])
        self.books: Books = floor.open()
        if self.books.learns:
            self.feeding = Feeding.of(policy, floor)
        self.tally = Tally(self.books.low, self.books.high)
        if self.holdout:
            self.tally.gain = Gain(self.books.low, self.books.high)
        self.tally.plain = bool(self.labels) and not self.holdout
        self.open_plays: dict[int, tuple[Play, Any]] = {}
        """The plays given out and not closed yet, each with its context."""
        self.counts_open = counts_open(policy)
        """Whether the policy is told of its explorations without a reward."""
        self.lapsed = set[int]()
        """The ``open_plays`` that it does not count: nearly always, as they expired."""
        self.has_scores = has(policy, "best")
        self.chances = propensity.kind_of(policy)
        """What is known of the probabilities of its choice, see ``agents.propensity``."""
        self._checks = has(policy, "check")
        self._sure = has(policy, "sure")
        self.even: float | None = None
        """The default's score as a share of the range, where its mean is not what competes."""
        self.contextual = bool(getattr(policy, "contextual", True))
        self._doubted = self.has_scores and policy_checks.doubted(policy)
        self.unit_rewards = bool(getattr(policy, "unit_rewards", False))
        if self.unit_rewards and has(policy, "count_in"):
            policy.count_in(self.books.high - self.books.low)  # type: ignore[attr-defined]
        if self.books.several:
            measuring.begin(self)
        self._numbered = self.actions.numbered
        self._labels = self.labels if self._numbered else ()  # cached: every play looks here

    def _decide(self, context: Any, allowed: Sequence[int] | None, terms: Terms) -> Play:
        raise NotImplementedError

    def select(
        self,
        context: Any = None,
        allowed: Iterable[Label] | None = None,
        default: Default | None = None,
    ) -> Play:
        """Decide one play.

        ``context`` goes to the policy, a copy of it if it is an array, a list, a tuple or a dict;
        a table with labels is refused, and any context of a policy that takes none. ``allowed``
        restricts it to some arms (labels), where its actions are arms; where none are left, the
        default is played. ``default`` is this play's own known default value, for a floor without
        a constant one.
        """
        if self.asking:
            raise PlayConflict(
                "select() was called while this agent's policy was choosing; "
                "an agent decides one play at a time"
            )
        terms = self.books.terms(default)
        # The usual answers, without a call at every play.
        if context is not None or self._checks:
            context = self.checked_context(context)
        usual = allowed is None and self.labels
        candidates = None if usual else self.candidates(context, allowed)
        books = self.books
        first = books.plays.next_id
        if not first:
            self.check_explores()
        if books.max_slack is not None:
            books.forfeit()
        try:
            play = self.propose(context, candidates, terms)
            explores = play.index >= 0
            number = books.decide(explores, terms)
            if books.learns:
                books.enter(number, self.feeding.feeds(play, context, candidates, default))
            if explores and self.counts_open:
                open_plays.opened(self, number, play, context)
            self.open_plays[number] = play, context if explores else None
            if self.holdout and play.reason is Reason.HOLDOUT:
                books.held_out(number)
        except BaseException:
            self.asking = False
            self._take_back(first)
            raise
        if context is not None or candidates is not None or default is not None:
            self.tally.pick(self, context, candidates)
        return play

    def check_explores(self) -> None:
        """InvalidInput before the first play of an agent that could never explore."""

    def propose(self, context: Any, allowed: Sequence[int] | None, terms: Terms) -> Play:
        """Decide a play whose arguments were checked; the policy takes its turn, no book moves."""
        if self.paused:
            return self.new_play(-1, None, Reason.PAUSED, terms, None, 1.0)
        share = self.holdout
        if share and holdout.holds_out(self):
            return self._held_out(context, allowed, terms)
        if allowed is not None and not allowed:
            shut = self._shut(terms)
            reason = Reason.NO_ALLOWED_ARM if shut is None else shut
            play = self.new_play(-1, None, reason, terms, None, 1.0)
        else:
            play = self._decide(context, allowed, terms)
        return holdout.mixed(self, play) if share else play

    def _held_out(self, context: Any, allowed: Sequence[int] | None, terms: Terms) -> Play:
        """The default by a draw; its probability counts what would have been played otherwise."""
        shut = (allowed is not None and not allowed) or self._shut(terms) is not None
        otherwise = 1.0 if shut else self._default_chance(context, allowed, terms)
        chance = holdout.chance(self, otherwise)
        return self.new_play(-1, None, Reason.HOLDOUT, terms, None, chance)

    def _default_chance(
        self, context: Any, allowed: Sequence[int] | None, terms: Terms
    ) -> float | None:
        """The probability that the turn to come plays the default; None: it is not known."""
        return 0.0

    def checked_context(self, context: Any) -> Any:
        """A copy of a play's context; InvalidInput for one that the policy cannot take."""
        if context is not None:
            unlabelled(context, "context")
            if not self.contextual:
                kind = type(self.policy).__name__
                raise InvalidInput(
                    f"context = {shown(context)}: {kind} takes none and would ignore it; leave it "
                    "out, or give a policy of contexts, e.g. LinUCB(dim=...); one of your own that "
                    "uses it says contextual = True"
                )
            context = policy_checks.copied(context)
        if self._checks:
            try:
                self.policy.check(context)  # type: ignore[attr-defined]
            except InvalidInput:
                raise
            except Exception:  # a fault; the policy is asked all the same
                if self.on_fault != DEFAULT:
                    raise
        return context

    def candidates(self, context: Any, allowed: Iterable[Label] | None) -> list[int] | None:
        """The numbers of the arms that may be played; None: all there are."""
        rows = policy_checks.rows_of(context) if self._numbered and not self.labels else None
        if allowed is None:
            return [] if rows == 0 else None
        candidates = self.actions.arm_numbers(allowed)
        if rows == 0 and candidates:
            raise InvalidInput(f"allowed = {candidates}: the context of this play has no rows")
        return candidates

    def _shut(self, terms: Terms) -> Reason | None:
        """Why the default has to be played whatever the policy wants; None if it need not."""
        return None

    def _take_back(self, first: int) -> None:
        """Void the plays from id ``first`` on; none of them was returned to the caller."""
        for number in self.books.plays.open_since(first):
            self.void(number)

    def select_many(
        self,
        n: int,
        context: Any = None,
        allowed: Iterable[Label] | None = None,
        default: Default | None = None,
    ) -> list[Play]:
        """Decide n plays in a row on the same account, before any of them is reported.

        If the policy fails on the way, the plays decided so far are voided.
        """
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
            raise InvalidInput(f"n = {shown(n)} must be an int >= 0")
        if allowed is not None:
            allowed = [self.actions.label(arm) for arm in self.actions.arm_numbers(allowed)]
        first, plays = self.books.plays.next_id, list[Play]()
        try:
            while len(plays) < n:
                plays.append(self.select(context, allowed, default))
        except BaseException:
            self._take_back(first)
            raise
        return plays

    def learn(self, log: Any, arm: str = "arm", reward: str = "reward", context: Any = None) -> int:
        """Let the policy learn the plays of a log before the first play; returns how many.

        Under a ``CostCeiling``, ``reward`` names the column of costs.

        The account is not moved: what a log paid is no reason to explore. ``log``, ``arm``,
        ``reward`` and ``context``: as ``UCB1.learn`` takes them, but that rewards are in the
        floor's range, and that the policy may be of your own: it learns each row by ``update``,
        and put back by ``restore`` if one is refused. Raises InvalidInput with the row, or once
        there was a play.
        """
        if self.books.plays.next_id or self.turns:
            raise InvalidInput(
                f"this agent has made {self.books.plays.next_id} plays; learn a log before the "
                "first, or give it to the policy of a fresh agent"
            )
        columns, policy = _logs.Columns(arm, reward, context), self.policy
        floor: Any = self.floor
        if self.binding is None or not self.binding.costs:
            return _logs.teach(policy, log, columns, floor.reward_range, self.policy_reward)

        def learned(cost: Any) -> Any:
            return self.policy_reward(floor.to_books(cost))

        return _logs.teach(policy, log, columns, floor.told_range, learned)

    def pause(self) -> None:
        """Play the default from now on; reports are still taken."""
        self.paused = True

    def resume(self) -> None:
        """Undo ``pause``."""
        self.paused = False

    def explain(self, play: Play | int) -> str:
        """Say in one sentence, in numbers, why a play is what it is.

        An id is enough while the play is open; later pass its ``Play``.
        """
        if isinstance(play, Play):
            return self._explained(play)
        number = self._id(play)
        self.books.plays.get(number)
        if number not in self.open_plays:
            raise UnknownPlay(
                f"play {number} is closed and its numbers are kept no longer; "
                "pass the Play that select() returned"
            )
        return self._explained(self.open_plays[number][0])

    def _explained(self, play: Play) -> str:
        return explain(play, measuring.gave(self, play).floor.asks_beyond, self._aside)

    @property
    def account(self) -> Statement | CostStatement:
        """The books as they stand, in exact decimals, a ceiling's in costs; of several floors see
        ``accounts``."""
        if self.books.several:
            raise InvalidInput(
                f"this agent has several accounts: read agent.accounts[name], of "
                f"{first_few(list(self.accounts))}"
            )
        return statement(self.books)

    @property
    def accounts(self) -> dict[str, Statement | CostStatement]:
        """The account of each floor by its name; a single one's is "reward", or "cost"."""
        books: Any = self.books
        if books.several:
            return {name: statement(each) for name, each in books.guards.items()}
        return {books.measure: statement(books)}

    def save(self, path: str | PathLike[str]) -> None:
        """Write the agent, pending plays included, as one JSON file; ``surefoot.load`` reads it.

        Load a file once: two agents from one file, or one from an older file, spend the same
        slack twice.
        """
        from surefoot.agents.saving import save

        save(self, path)

    def config(self) -> JsonObject:
        """JSON-able settings, but for those of policy and floor."""
        return {}

    @classmethod
    def from_config(cls, config: JsonObject, floor: Floor, policy: Policy | None) -> Self:
        """The inverse of ``config``; ``policy``: None for an agent that builds its own."""
        settings: Any = {"policy": policy, "floor": floor, **config}
        return cls(**settings)

    def __repr__(self) -> str:
        books = self.books
        faults = f", {self.faults} faults of the policy" if self.faults else ""
        return (
            f"{type(self).__name__}({self.policy!r}, {self.floor!r}): {books.explorations} "
            f"explorations, {books.default_plays} default plays{faults}"
        )

    def ask(self, context: Any, allowed: Sequence[int] | None) -> tuple[Action, float | None]:
        """Let the policy take one turn: its action, and the score it gives it."""
        policy: Any = self.policy
        score: float | None = None
        if allowed is not None:
            self.check_restricts(allowed)
        self.asking = True  # the gate was read: no other play before this is booked
        if self._doubted and allowed is None and self.turns in policy_checks.LOOKS:
            policy_checks.check_best(policy, context, self.rng)
        if self.chances is TOLD:
            self._told = propensity.said(policy, context, allowed)
        if self.has_scores:
            candidates = None if allowed is None else list(allowed)
            given = policy.best(context, self.rng, candidates)
            # The usual answer, without a call at every play.
            usual = type(given) is tuple and len(given) == 2 and type(given[1]) is float
            usual = usual and given[1] == given[1]  # it is not NaN
            answer, score = given if usual else score_given(policy, given)
        else:
            answer = policy.select(context, self.rng)
        self.asking = False
        usual = self._numbered and type(answer) is int and allowed is None
        if not (usual and 0 <= answer < len(self.labels)):
            answer = self.actions.checked(answer, context, allowed)
        self.turns += 1
        return answer, score

    def check_restricts(self, allowed: Sequence[int] | None) -> None:
        """InvalidInput where a policy that cannot score is restricted to some arms."""
        if allowed is not None and not self.has_scores:
            raise InvalidInput(
                f"allowed = {[self.actions.label(arm) for arm in allowed]} cannot be kept: "
                f"{type(self.policy).__name__} has no best(context, rng, allowed); "
                "leave allowed out or add that method"
            )

    def _choice(
        self,
        action: Action,
        score: float | None,
        rival: float | None = None,
        margin: int | None = None,
    ) -> Choice:
        labels: Any = self._labels
        label = labels[action] if labels else self.actions.label(action)
        choice: Choice = made(Choice, (label, score, rival, margin))
        return choice

    def chance(self, action: Action, choice: Choice, allowed: Sequence[int] | None) -> float | None:
        """The probability of what the turn just taken came to; None: it is not known."""
        return propensity.of_choice(
            self.chances, self.policy, self._told, action, choice.score, choice.rival, allowed
        )

    def new_play(
        self,
        index: int,
        arm: Any,
        reason: Reason,
        terms: Terms,
        choice: Choice | None,
        chance: float | None = None,
    ) -> Play:
        books, binding = self.books, self.binding
        if binding is not None and books.several:
            return measuring.new_play(self, index, arm, reason, terms, choice, chance)
        available, held, pending, ahead = books.standing(terms)
        play: Play = made(Play, (
            books.plays.next_id, arm, index, reason, self.turns, terms, self.floor.places,
            available, held, pending, books.counters["unreported"], choice, ahead,
            None, binding, chance,
        ))  # fmt: skip
        return play

    def default_score(self, terms: Terms) -> float:
        """The default's value on the scale of the policy's scores."""
        return self.sure_score(terms.value)

    def sure_score(self, units: float) -> float:
        """The score of an arm that always pays this many units."""
        if self.unit_rewards:
            low, high = self.books.low, self.books.high
            value = (units - low) / (high - low)
        elif type(units) is int:
            value = float(self.floor.unit.decimal(units))
        else:
            value = units * 10.0**-self.floor.places
        return policy_checks.sure_score(self.policy, value) if self._sure else value

    @property
    def _aside(self) -> str:
        """An addition to the explanation of an exploration."""
        return ""
