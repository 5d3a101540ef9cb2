"""A log replayed row by row: a choice counts where the log had chosen the same.

Li, Chu, Langford, Wang (WSDM 2011), their replayer: offer the agent each row's context; if it
chooses the arm that the row was logged with, tell it the reward and count the play; else leave the
row out, and the agent as it was. Where the log chose its arms uniformly, whatever the context, the
plays that count are those of a live run. Here the agent is guarded, and the default is one of the
log's arms.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.stats import f_oneway

from surefoot._exact import Unit, first_few, shown
from surefoot.agents import GenCB
from surefoot.errors import InvalidInput
from surefoot.policies import LinTS, LinUCB, Ridge
from surefoot.study.logs import flags
from surefoot.study.logs.copies import Copy, Default, of_log
from surefoot.study.logs.rows import Floats, Ints, Rows
from surefoot.study.runs import POLICIES, share_of

LINEAR: Final = {"linucb": ("LinUCB", LinUCB), "lints": ("LinTS", LinTS)}
"""Policies by name that see contexts; each arm has weights of its own for (1, context)."""
_KEPT = 16
_ALIKE = 1e-6


class Replayed(NamedTuple):
    """One pass over a log."""

    plays: Ints
    """Of each arm, the default the last: the rows that counted."""
    gain: float
    """What the explored rows paid above the default's mean."""
    slack: Decimal
    """The least ever left on the account."""

    @property
    def explored(self) -> int:
        """Rows that counted and were not the default's."""
        return int(self.plays[:-1].sum())


ContextOf = Callable[[int], Any]
"""What the policy is given at a row of the log, counted from 0."""


class Visits(NamedTuple):
    """A log, or a copy of it, as a pass goes over it: an entry for each row."""

    codes: Ints
    """The number of the arm; of the default's rows n_arms."""
    amounts: Ints
    """The reward in units of the books."""
    rows: Ints
    """Which row of the log it is, whose context is told."""

    def in_order(self, order: Ints) -> Visits:
        """These rows, in this order."""
        return Visits(self.codes[order], self.amounts[order], self.rows[order])

    def shuffled(self, rng: np.random.Generator) -> Visits:
        """A copy in which no arm is better, nor in any context: the rewards over the rows."""
        return self._replace(amounts=rng.permutation(self.amounts))

    def redrawn(self, rng: np.random.Generator) -> Visits:
        """A log that the same world might have left: rows drawn with replacement."""
        return self.in_order(rng.integers(len(self.codes), size=len(self.codes)))

    def copy_of(self, unit: Unit, default: Default, n_arms: int) -> Copy:
        """What each arm pays in it. Raises InvalidInput where one has no row left."""
        if (missing := np.setdiff1d(np.arange(n_arms + 1), self.codes)).size:
            raise InvalidInput(
                f"a redrawn log has no row of arm {missing[0]}; a replay by rejection needs more "
                "rows of each arm"
            )
        return of_log(Rows(self.codes, self.amounts, unit), default)


def replay(
    agent: GenCB,
    visits: Visits,
    context_of: ContextOf,
    unit: Unit,
    mean: float,
    horizon: int,
    rng: np.random.Generator,
) -> Replayed:
    """One pass of a copy of ``agent`` over rows in their order; it ends at ``horizon`` plays.

    ``mean``: the default's. A row that does not count is voided: the account, the policy and its
    turns are as before it; random draws go on.
    """
    agent = copy.deepcopy(agent)
    agent.rng, agent.books.plays.keep = rng, _KEPT
    policy: Any = agent.policy
    last, gain, left = len(agent.actions.arms), 0.0, horizon
    plays = [0] * (last + 1)
    least = agent.account.slack
    for arm, amount, row in zip(*(column.tolist() for column in visits), strict=True):
        turns, own = agent.turns, getattr(policy, "turns", None)
        play = agent.select(context_of(row))
        chosen = last if play.is_default else play.index
        if chosen != arm:
            agent.void(play)
            agent.turns = turns
            if own is not None:
                policy.turns = own
            continue
        if play.is_default:
            agent.update(play)
        else:
            reward = unit.decimal(amount)
            agent.update(play, reward)
            gain += float(reward) - mean
        plays[chosen] += 1
        least = min(least, agent.account.slack)
        left -= 1
        if not left:
            break
    return Replayed(np.array(plays), gain, least)


def agent_of(policy: Any, credited: Decimal, alpha: Any, bounds: tuple[Any, Any]) -> GenCB:
    """The guarded agent that goes over a copy of the log."""
    return GenCB(copy.deepcopy(policy), share_of(credited, alpha, bounds))


def check_uniform(
    codes: Ints, arms: Sequence[Any], features: Floats | None, propensities: Floats | None
) -> None:
    """Raise InvalidInput, with the reason, unless a log chose its arms uniformly.

    Their shares may differ by what chance does (chi-square, p >= .001), and no number of the
    context between the arms' rows (F-test, p >= .001 over all of them); known propensities have
    to be 1/arms.

    >>> check_uniform(np.array([0, 0, 0, 1] * 50), ["new", "old"], None, None)
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: mode = 'rejection' needs a log that chose its arms uniformly, \
and 'new' has 150 of 200 rows, where an equal share is 100; without contexts use mode = 'means'
    """
    count, even = len(codes), len(codes) / len(arms)
    rule = "mode = 'rejection' needs a log that chose its arms uniformly"
    if propensities is not None:
        for row in np.flatnonzero(np.abs(propensities * len(arms) - 1) > _ALIKE)[:1]:
            raise InvalidInput(
                f"{rule}, and row {row + 1} has propensity {propensities[row]:.6g}, where "
                f"1/{len(arms)} is uniform; without contexts use mode = 'means'"
            )
    if flags.uniform(codes) < flags.SURELY:
        sizes = np.bincount(codes, minlength=len(arms))
        most = int(np.argmax(np.abs(sizes - even)))
        raise InvalidInput(
            f"{rule}, and {shown(arms[most])} has {sizes[most]:,} of {count:,} rows, where an "
            f"equal share is {even:,.0f}; without contexts use mode = 'means'"
        )
    if features is None:
        return
    for number in range(features.shape[1]):
        column = features[:, number]
        if column.std() == 0:
            continue
        p = f_oneway(*(column[codes == arm] for arm in range(len(arms)))).pvalue
        if p < flags.SURELY / features.shape[1]:
            raise InvalidInput(
                f"{rule}, and number {number + 1} of the context differs between the arms' rows "
                "more than chance allows: the log chose by whom an arm suits"
            )


def policy_of(
    policy: Any, arms: Sequence[Any], features: Floats | None, bounds: tuple[Any, Any]
) -> tuple[Any, ContextOf]:
    """The policy over the arms besides the default, and what it is given at each row.

    Raises InvalidInput for a policy that sees contexts where the log has none, and for one whose
    arms are others than the log's.
    """
    if isinstance(policy, str):
        return _named(policy, arms, features, bounds)
    own = tuple(getattr(policy, "arms", ()) or ())
    if not own and getattr(policy, "n_arms", None):
        own = tuple(range(policy.n_arms))
    if own != tuple(arms):
        raise InvalidInput(
            f"{type(policy).__name__} plays {first_few(own, shown)}, and the arms of the log "
            f"besides the default are {first_few([*arms], shown)}; make it over those"
        )
    return policy, _nothing if features is None else features.__getitem__


def _nothing(row: int) -> None:
    """What a policy without contexts is given."""


def _named(
    policy: str, arms: Sequence[Any], features: Floats | None, bounds: tuple[Any, Any]
) -> tuple[Any, ContextOf]:
    if policy in POLICIES:
        if features is not None:
            raise InvalidInput(
                f"policy {policy!r} sees no contexts; choose 'linucb' or 'lints', or leave the "
                "columns of the context out"
            )
        return POLICIES[policy][1](arms=[*arms]), _nothing
    if policy not in LINEAR:
        known = ", ".join(map(repr, (*POLICIES, *LINEAR)))
        raise InvalidInput(f"policy {policy!r} is unknown; choose one of {known}")
    if features is None:
        raise InvalidInput(f"policy {policy!r} needs contexts; name their columns: context=[...]")
    own = np.column_stack([np.ones(len(features)), features])
    size, count = own.shape[1], len(arms)

    def table(row: int) -> Floats:
        """A row for each arm, its own numbers in a place of their own: weights for each arm."""
        found = np.zeros((count, count, size))
        found[range(count), range(count)] = own[row]
        return found.reshape(count, -1)

    scatter = float(bounds[1] - bounds[0]) / 2
    bound = float(np.sqrt((own * own).sum(axis=1).max()))
    if policy == "lints":
        ridge = Ridge(feature_bound=bound)
        return LinTS(table(0), labels=[*arms], ridge=ridge, scale=scatter), table
    ridge = Ridge(feature_bound=bound, noise=scatter, radius="determinant")
    return LinUCB(table(0), labels=[*arms], ridge=ridge), table
