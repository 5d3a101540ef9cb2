"""GenCB: the general solution to conservative bandits, Du, Wang, Huang 2021, Algorithm 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

from surefoot._exact import one_of, shown
from surefoot._types import JsonObject, Number, Seed
from surefoot.agents.agent import Agent
from surefoot.agents.draws import Draws, own_key
from surefoot.agents.faults import DEFAULT, ON_FAULT, RAISE
from surefoot.agents.funding import SCARCE, Earnings, check_fund
from surefoot.agents.holdout import share_of
from surefoot.agents.play import Play, Reason
from surefoot.agents.propensity import CERTAIN, EXACT, of_default
from surefoot.errors import InvalidInput
from surefoot.floors import Floor, GeneralFloor, State, Terms
from surefoot.floors.several import Floors, as_floor
from surefoot.policies.base import Policy

# Module-level names: before Python 3.12 an enumeration's members are slow to look up.
SLACK_OK, SLACK_SHORT = Reason.SLACK_OK, Reason.SLACK_SHORT
_NO_RIVAL = (
    "with rho below the width of the rewards an arm of a larger mean may be worth less, so a score "
    "of means does not compare with it"
)
_NO_OBJECTIVE = "default_objective says what the default brings of the objective, and is not given"
_GIVE_MVUCB = "MVUCB scores mean and variance"


class GenCB(Agent):
    """Let the policy play whenever the floor would survive the worst reward; else the default.

        explore iff  r_S(t-1) + N0(t-1)*mu0 >= (1-alpha)*mu0*t

    Source: Du, Wang, Huang 2021, Algorithm 1, line 3, kept by the floor's account. The policy
    sees its own plays only; its clock m stands still while the gate is closed.

    ``policy``: any ``surefoot.policies.Policy``; the agent owns it. ``floor``: what must hold.
    ``seed``: for the policy's randomness; None takes fresh entropy, ``simulate`` brings its own.
    ``default_competes`` (ours): with the gate open, play the default if the policy's best score is
    not above its value; without it a default that is the best arm costs linear regret. None: on if
    the policy can score its choice. A default of an interval is worth a sample of the posterior of
    its told draws, see ``agents.draws``; a learned one the upper end of what its mean may be (of
    costs the lower): with contexts or ``allowed`` that end stops falling by what is chosen, so give
    False, or a ``holdout``. False is the paper's printed algorithm. Raises
    InvalidInput if it is asked of a policy that cannot score. Under a mean-variance floor a policy
    of means meets the default at ``MeanVarianceFloor.even`` as long as each reward is r_min or
    r_max; after any other, and with rho below r_max - r_min, the default does not compete, and
    ``explain`` says so.
    ``on_fault`` (ours): "raise" hands the policy's errors to the caller; "default" plays the
    default for ``Reason.POLICY_FAULT`` whenever the policy raises an Exception, scores NaN or
    chooses an arm that is unknown or not allowed, and goes on after an ``update`` that raises.
    ``agent.faults`` counts both. A turn that failed counts in the clock m and takes no random
    numbers.

    Several floors (ours) are given by the names of the measures they guard, ``{"quality": floor,
    "cost": ceiling}``: a play explores if every account affords its hold, and ``update`` takes
    ``measures``. The one named "reward" guards the objective, which is what the policy learns; else
    nothing does, and ``objective_range`` are its bounds, needed by policies of rewards in [0, 1]
    and for the intervals of ``arms``; what the default brings of it, by which it competes, is
    ``default_objective``.

    ``fund`` (ours): with the gate open and a slack below 20 holds, play the arm whose rewards so
    far, one of mu0 counted in, have the largest mean above mu0, if there is one. The policy is
    asked all the same, so its clock and its draws go on, and learns from every reward. It never
    explores where the gate is closed: the promise does not depend on it. For scarce slack, alpha
    <= .02; without a proof, and ``benchmarks/FUND.md`` has where it does nothing or harm. Raises
    InvalidInput for super arms, contexts, and floors on more than a sum against a known default.

    ``holdout`` (ours): a share of the plays, such as 0.1, that take the default by a draw of their
    own (``Reason.HOLDOUT``), whatever the gate says, so that the gain can be measured: ``uplift``.
    The policy is not asked and learns nothing from them. What they are told to have paid is
    expected to differ from the default's known value and no mismatch.

    >>> from surefoot import RewardFloor, UCB1
    >>> agent = GenCB(UCB1(n_arms=2), RewardFloor(default=0.5, alpha=0.5))
    >>> agent.update(agent.select())  # no slack yet: the default, credited when reported
    <Outcome.BOOKED: 'booked'>
    >>> play = agent.select()
    >>> agent.explain(play)  # doctest: +ELLIPSIS
    'Play 1 explores arm 0, which scores inf: it can lose 0.25 and the slack is 0.25, so at ...
    >>> agent.update(play, reward=1.0)
    <Outcome.BOOKED: 'booked'>
    >>> agent.account.slack
    Decimal('1.000000000')

    Holds when: the floor's own conditions hold, whatever the policy, delays or losses: on every
    path, at every moment. The regret bounds also need the policy's own conditions and
    mu0 < mu_*. Does not hold when: rewards can fall below r_min, or the default is not worth its
    known value.
    """

    gate: ClassVar[str] = "account"
    waiting: Callable[[], Iterable[int]] | None = None
    """The arm of each play whose reward is still to come, where others keep the open plays."""

    def __init__(
        self,
        policy: Policy,
        floor: Floor | Mapping[str, Floor],
        seed: Seed = None,
        default_competes: bool | None = None,
        on_fault: str = RAISE,
        fund: bool = False,
        holdout: Number | None = None,
        *,
        objective_range: tuple[Number, Number] | None = None,
        default_objective: Number | None = None,
    ) -> None:
        self.holdout = share_of(holdout, self.measured)
        super().__init__(policy, as_floor(floor, objective_range, default_objective), seed)
        floor = self.floor
        if not isinstance(fund, bool):
            raise InvalidInput(f"fund = {shown(fund)} must be True or False")
        if fund:
            check_fund(policy, floor)
            self.earned = Earnings([0] * len(self.labels), [0] * len(self.labels))
        self.on_fault = one_of(on_fault, "on_fault", ON_FAULT)
        if default_competes is not None and not isinstance(default_competes, bool):
            raise InvalidInput(
                f"default_competes = {shown(default_competes)} must be True, False or None"
            )
        if default_competes and not self.has_scores:
            raise InvalidInput(
                f"default_competes = True needs scores: {type(policy).__name__} has no "
                "best(context, rng, allowed); add it, or pass default_competes=False"
            )
        if self._scores_means:
            self.even = floor.even
        comparable = not self._scores_means or self.even is not None
        if default_competes and not comparable:
            raise InvalidInput(f"default_competes = True: {_NO_RIVAL}; {_GIVE_MVUCB}")
        if isinstance(floor, Floors) and floor.unknown:
            comparable = False
            if default_competes:
                raise InvalidInput(f"default_competes = True: {_NO_OBJECTIVE}; give it")
        competes = self.has_scores if default_competes is None else default_competes
        self.default_competes = competes and comparable

    @classmethod
    def from_config(cls, config: JsonObject, floor: Floor, policy: Policy | None) -> Self:
        """The inverse of ``config``; files of earlier releases may ask for what is refused now."""
        given: Any = policy
        competes, fund = config["default_competes"] and None, config.get("fund", False)
        rest = config.get("on_fault", RAISE), fund, config.get("holdout")
        return cls(given, floor, None, competes, *rest)

    def config(self) -> JsonObject:
        """JSON-able settings, but for those of policy and floor."""
        faults = {} if self.on_fault == RAISE else {"on_fault": self.on_fault}
        funds = {} if self.earned is None else {"fund": True}
        held = {"holdout": self.holdout} if self.holdout else {}
        return {"default_competes": self.default_competes, **faults, **funds, **held}

    def like(self, policy: Policy, seed: Seed = None) -> Self:
        """An agent of the same floor and settings that knows the same, with books of its own.

        ``policy``: a copy of this agent's, of as many arms or more.
        """
        fresh = type(self)(policy, self.floor, seed, **self.config())
        fresh.turns, fresh.paused = self.turns, self.paused
        if self.faults:
            fresh.faults, fresh.last_fault = self.faults, self.last_fault
        fresh.draws = Draws(self.draws.plays, self.draws.parts)
        if self.earned is not None:
            fresh.earned = self.earned.copied(len(fresh.labels))
        return fresh

    def change(self, floor: str | None = None, **settings: Any) -> None:
        """As ``Agent.change``; InvalidInput too for a floor under which ``fund`` cannot compare."""
        if self.earned is not None and isinstance(self.floor, GeneralFloor):
            check_fund(self.policy, self.floor.changed(**settings))  # else no file of it is loaded
        super().change(floor, **settings)

    def check_explores(self) -> None:
        """InvalidInput where the floor's numbers would never let a play explore."""
        check = getattr(self.floor, "check_explores", None)  # a floor of your own may have none
        if check is not None:
            check()

    def _decide(self, context: Any, allowed: Sequence[int] | None, terms: Terms) -> Play:
        if not self.books.affords(terms):
            return self.new_play(-1, None, SLACK_SHORT, terms, None, 1.0)
        if self.on_fault == RAISE:
            return self._turn(context, allowed, terms)
        self.check_restricts(allowed)
        turns, drawn = self.turns, self.rng.bit_generator.state
        try:
            return self._turn(context, allowed, terms)
        except Exception as error:  # noqa: BLE001  # a policy is the user's own code
            self.asking = False
            self.turns, self.rng.bit_generator.state = turns + 1, drawn
            fault = self.failed(error)
        return self.new_play(-1, None, Reason.POLICY_FAULT, terms, None)._replace(fault=fault)

    def _turn(self, context: Any, allowed: Sequence[int] | None, terms: Terms) -> Play:
        """The policy's turn: its choice, or the default where that is the better one."""
        arm, score = self.ask(context, allowed)
        funds = -1 if self.earned is None else self._funding_arm(self.earned, allowed, terms)
        if funds >= 0:
            choice = self._choice(funds, None)
            return self.new_play(funds, choice.arm, Reason.FUNDING, terms, choice, 1.0)
        rival = None
        if self.default_competes and (self.even is None or self.books.two_valued):
            rival = self.default_score(terms)
        choice = self._choice(arm, score, rival)
        chance = None  # where the rival is a draw
        if rival is None or terms.high is None or self.even is not None:
            chance = 1.0 if self.chances is CERTAIN else self.chance(arm, choice, allowed)
        if rival is not None and score is not None and not score > rival:
            return self.new_play(-1, None, Reason.DEFAULT_BEST, terms, choice, chance)
        index = arm if isinstance(arm, int) else 0  # of what has no number
        return self.new_play(index, choice.arm, SLACK_OK, terms, choice, chance)

    def _funding_arm(self, earned: Earnings, allowed: Sequence[int] | None, terms: Terms) -> int:
        """The arm to be played for its earnings; -1: the policy's turn stands."""
        books = self.books
        if terms.high is not None or books.account.available >= SCARCE * terms.hold:
            return -1
        arms = range(len(self.labels)) if allowed is None else allowed
        waiting = self._waiting if self.waiting is None else self.waiting
        return earned.funding_arm(terms.value, arms, waiting())

    def _default_chance(
        self, context: Any, allowed: Sequence[int] | None, terms: Terms
    ) -> float | None:
        """The probability that the turn to come plays the default; None: it is not known."""
        if self.on_fault == DEFAULT and self.chances not in (CERTAIN, EXACT):
            return None
        if self.earned is not None and self._funding_arm(self.earned, allowed, terms) >= 0:
            return 0.0
        if not self.default_competes or (self.even is not None and not self.books.two_valued):
            return 0.0
        if terms.high is not None and self.even is None:
            return None
        policy: Any = self.policy
        turn, rival = getattr(policy, "turns", self.turns) + 1, self.default_score(terms)
        return of_default(self.chances, policy, turn, context, rival, allowed)

    def _waiting(self) -> list[int]:
        """The arm of each play whose reward is still to come."""
        plays = self.books.plays
        return [
            play.index
            for number, (play, _) in self.open_plays.items()
            if play.index >= 0 and plays.get(number).state is State.OPEN
        ]

    def default_score(self, terms: Terms) -> float:
        """The default's value on the scale of the policy's scores; of an interval a sample."""
        if self.even is not None:
            worst, best = map(float, self.floor.reward_range)
            return self.even if self.unit_rewards else worst + (best - worst) * self.even
        if terms.high is None:
            return self.sure_score(terms.value)
        return self.sure_score(self.draws.sample(terms, own_key(self.rng), self.turns))

    def _shut(self, terms: Terms) -> Reason | None:
        return None if self.books.affords(terms) else SLACK_SHORT

    @property
    def _scores_means(self) -> bool:
        """Whether a policy of means is under a mean-variance floor, see ``Agent.even``."""
        return self.floor.rho is not None and not self._sure

    @property
    def _aside(self) -> str:
        if self.has_scores and isinstance(self.floor, Floors) and self.floor.unknown:
            return f"the default does not compete: {_NO_OBJECTIVE}"
        if not self._scores_means or not self.has_scores:
            return ""
        if self.even is None:
            return f"the default does not compete: {_NO_RIVAL}"
        if self.books.two_valued or not self.default_competes:
            return ""
        return (
            "the default competes no longer: a reward between the ends of the range came, and "
            f"scores of means do not tell the variance; {_GIVE_MVUCB}"
        )
