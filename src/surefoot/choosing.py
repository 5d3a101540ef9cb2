"""Which policy for which problem: ``surefoot.recommend``, by what was measured.

The table is ``ROWS``; each row says what was measured, by which command, and where its policy is
bad. ``docs/howto/choose-policy.md`` shows the same table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from surefoot._exact import exact, one_of, shown
from surefoot._types import Number
from surefoot.errors import InvalidInput
from surefoot.floors.reward import checked_alpha
from surefoot.oracles.base import whole
from surefoot.policies import (
    KLMS,
    MVUCB,
    UCB1,
    AdaUCB,
    Ball,
    LinTS,
    LinUCB,
    Polytope,
    Ridge,
    Thompson,
)
from surefoot.policies.sliding import WIDEST

REWARDS = ("binary", "bounded")
SCARCE = 0.02
"""Up to this alpha the slack is scarce."""
MANY = 48
"""With scarce slack and this many arms ``fund`` is advised: it paid with 72, with 24 at .01."""
LONG = 100
"""From this delay on, in plays, Thompson sampling has no more regret than AdaUCB."""
NARROW = 0.1
"""The c of UCB1 over a window: with a c that the theorem allows it keeps looking at every arm."""
UNKNOWN = 10_000
"""How many plays a mean is taken to last where one only knows that it drifts."""


class Row(NamedTuple):
    """A row of the table: which policy for which problem, and what was measured."""

    problem: str
    policy: str
    measured: str
    command: str
    """What gives the figure again."""
    bad: str


@dataclass(frozen=True)
class Recommendation:
    """What ``recommend`` answers.

    ``policy``: a fresh one, to be given to one agent. ``options``: what ``GenCB`` is to be given
    besides: ``GenCB(found.policy, floor, **found.options)``. ``call``: the policy as one writes it.
    ``reason``: why this one, in words. ``row``: its row of the table.

    >>> found = recommend(n_arms=3)
    >>> print(found.call)
    AdaUCB(n_arms=3)
    """

    policy: Any
    call: str
    reason: str
    row: Row
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __str__(self) -> str:
        """All of it, a line each."""
        return "\n".join(f"{head}: {said}" for head, said in self._lines())

    def _repr_html_(self) -> str:
        """The same as a table, for a notebook."""
        rows = "".join(
            f'<tr><th scope="row">{escape(head)}</th><td>{escape(said)}</td></tr>'
            for head, said in self._lines()
        )
        return f"<table>{rows}</table>"

    def _lines(self) -> list[tuple[str, str]]:
        given = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return [
            ("agent", f"GenCB({self.call}, floor{given})"),
            ("because", self.reason),
            ("measured", f"{self.row.measured} ({self.row.command})"),
            ("bad where", self.row.bad),
        ]


BINARY, BOUNDED, LATE, SCANT, DRIFTING, LOGGED = (
    "rewards 0 or 1", "rewards in [0, 1]", "late rewards", "little slack", "drift", "propensities",
)  # fmt: skip
LINEAR, CONTEXTS, SUPER, RISK, SPREAD = (
    "fixed features", "features with each play", "super arms", "risk, rewards 0 or 1",
    "risk, rewards in [0, 1]",
)  # fmt: skip


_ARMS = (
    "rewards are 0 or 1, and AdaUCB had the least mean regret of the policies not told the horizon"
)
_WITHIN = (
    "AdaUCB takes a reward in [0, 1] as it is, where Thompson turns it into 0 or 1 by a draw; it "
    "had the least regret of the policies that do not know the variance"
)
_SHORT = (
    "AdaUCB counts plays whose rewards are still to come, so it does not ask for one arm again and "
    "again before it hears of it"
)
_LONG = (
    "with so many rewards on their way a policy that draws at random spreads its plays better than "
    "one that only counts them"
)
_SCANT = (
    "with little to lose the default has to be played often, and AdaUCB asks for the fewest "
    "explorations; with many arms fund=True helps, which while the slack is short plays an arm "
    "that has paid more than the default"
)
_DRIFT = (
    "rewards of the last quarter of the time for which means last are remembered, and older ones "
    "forgotten, so arms that were given up are tried again, by a radius that is narrow for so few"
)
_LOGGED = (
    "KL-MS knows the probability of each of its choices in closed form, for off-policy estimates; "
    "a default that competes would take the place of some arms more often than of others"
)
_RISK = (
    "for rewards 0 or 1 and rho >= 1, rho*mean - variance rises with the mean, so a policy of "
    "means ranks the arms as the floor does, and it learns faster than one of variances"
)
_SPREAD = (
    "only MV-UCB scores rho*mean - variance itself: with these rewards, or this rho, the arm of "
    "the largest mean need not be the best"
)
_LINEAR = "means that are linear in features are learned from the plays of all arms at once"
_CONTEXTS = (
    "a narrow radius that still has a proof; the rows of each play are its context, of length at "
    "most 1: scale them, or build the policy with another feature_bound"
)
_SUPER = "each base arm's reward is learned, and the oracle finds the best super arm of a sample"


_BETTER = "surefoot study better"
_PENDING = "uv run benchmarks/bench_pending.py"
_SCRIPT = "uv run scripts/choose_policy.py"
ROWS: Mapping[str, Row] = MappingProxyType(
    {
        row.problem: row
        for row in (
            Row(
                BINARY,
                "AdaUCB",
                "1/7.9 of UCB1's regret (95 %: 1/8.7 to 1/7.1), Thompson 1/5.3, KL-UCB 1/3.5",
                _BETTER,
                "luck is bad: the worst of 50 runs with K = 24 had regret 2,999, the mean 338, "
                "where Thompson's worst has 1,015; no published guarantee for this form",
            ),
            Row(
                BOUNDED,
                "AdaUCB",
                "regret 250 on Beta laws of a + b = 2, Thompson 369, GaussianThompson 435, "
                "KL-UCB 549, UCB1 2,383",
                f"{_SCRIPT} bounded",
                "rewards that vary much less than 0 and 1 do: it does not look at the variance",
            ),
            Row(
                LATE,
                "AdaUCB, Thompson",
                "delay 10: AdaUCB 259, Thompson 335; delay 100: 438 and 425; delay 1,000: 1,508 "
                "and 1,104",
                _PENDING,
                "batches of 1,000: 1,480 and 1,081, four times the regret at once",
            ),
            Row(
                SCANT,
                "AdaUCB; from 48 arms on with fund=True",
                "alpha .01: AdaUCB 535 with 24 arms and 1,263 with 72, with fund 418 and 794; "
                "Thompson 652 and 1,935, with fund 454 and 1,262",
                "uv run benchmarks/bench_fund.py",
                "with 24 arms and alpha .02 fund is not decided: regret +20 % (95 %: -20 to +72), "
                "the worst of 40 runs 2,839 where it has 981 without; from alpha .05 on there is "
                "little to gain",
            ),
            Row(
                DRIFTING,
                "UCB1(c=0.1, window=...)",
                "means that change every 2,000 plays: 868, UCB1 1,085, Thompson(window=...) 1,410, "
                "AdaUCB 1,603; every 10,000: 1,009, 1,182, 1,520 and 2,145",
                f"{_SCRIPT} drift",
                "nothing drifts, or once in a while: AdaUCB, which never forgets, then has less "
                "regret; c = 0.1 is below what the theorem allows, so there is no guarantee",
            ),
            Row(
                LOGGED,
                "KLMS",
                "1/4.1 of UCB1's regret, where AdaUCB has 1/7.9; epsilon-greedy 0.66",
                _BETTER,
                "regret is all that counts, or propensities must not be 0: an arm has propensity 0 "
                "as long as another has paid 1 each time and it has not",
            ),
            Row(
                LINEAR,
                "LinTS",
                "1/27 of LinUCB's regret as printed (95 %: 1/29 to 1/25), LinUCB(tight=True) 1/11",
                _BETTER,
                "features do not explain the means: regret is then linear; with only 2d arms "
                "AdaUCB without features has 1/28 and the better worst run; no guarantee for a "
                "fixed theta",
            ),
            Row(
                CONTEXTS,
                "LinUCB(dim=..., ridge=...)",
                "regret 41 after 5,000 plays, LinTS 60, LinUCB as printed 135",
                f"{_SCRIPT} contexts",
                "features do not explain the means: regret is then linear; 5 runs are few",
            ),
            Row(
                SUPER,
                "LinTS(..., oracle=...)",
                "1/20 of C2UCB's regret as printed (95 %: 1/21 to 1/19), C2UCB(tight=True) 1/7.4",
                _BETTER,
                "features do not explain the means of base arms, or the oracle is not exact",
            ),
            Row(
                RISK,
                "AdaUCB",
                "1/8.5 of MV-UCB's regret (95 %: 1/9.8 to 1/7.3), Thompson 1/6.2, KL-UCB 1/4.2",
                _BETTER,
                "luck is bad: its worst of 50 runs had 1.2 times the mean regret of MV-UCB",
            ),
            Row(
                SPREAD,
                "MVUCB",
                "regret 44,844 after 100,000 plays of 24 arms with rho = 10, but of rewards 0 or "
                "1; there is no other policy here to compare it with",
                _BETTER,
                "rewards are 0 or 1 and rho >= 1: there AdaUCB has 1/8.5 of its regret",
            ),
        )
    }
)
"""The table, by problem."""


class _Asked(NamedTuple):
    n_arms: int | None
    features: Any
    oracle: Any
    rewards: str
    delay: float
    scarce: bool
    lasting: float
    """How many plays a mean lasts; infinite where it does not drift."""
    rho: float | None
    propensities: bool


def recommend(
    n_arms: int | None = None,
    *,
    features: Any = None,
    oracle: Any = None,
    rewards: str = "binary",
    delay: Number = 0,
    alpha: Number = 0.05,
    drift: bool | int = False,
    rho: Number | None = None,
    propensities: bool = False,
) -> Recommendation:
    """Which policy to guard, by what was measured: a fresh policy, the reason, and its table row.

    ``n_arms``: how many regular arms; or ``features``: theirs, shape (K, d), a ``Ball`` or a
    ``Polytope``, or an int, how many features come with each play. ``oracle``: then ``features``
    are those of base arms, and the oracle finds super arms. ``rewards``: "binary" for 0 and 1,
    "bounded" for any in [0, 1]; of another range the agent scales them for single arms, and with
    ``features`` or ``rho`` they have to be scaled before. ``delay``: after how many plays a reward
    comes, about; a batch counts as one of its size. ``alpha``: the fraction of the
    default's reward one is willing to lose. ``drift``: whether means change, or after about how
    many plays they do. ``rho``: the weight of the mean under a ``MeanVarianceFloor``; None: the
    floor is on reward. ``propensities``: whether the probability of each choice has to be known,
    for off-policy estimates. The policy takes the agent's seed. Raises InvalidInput for anything
    else, and for what no policy here can do.

    Ours: choices between measured policies. They were measured on the paper's problems and a few
    more, see the command of each row; another problem may rank them otherwise, while the floor
    holds with any of them.

    >>> import surefoot as sf
    >>> found = sf.recommend(n_arms=24)
    >>> agent = sf.GenCB(found.policy, sf.RewardFloor(default=0.7, alpha=0.05), **found.options)
    >>> found.call
    'AdaUCB(n_arms=24)'
    >>> print(sf.recommend(features=[[1, 0], [0, 1]]).call)
    LinTS(features)
    >>> sf.recommend(n_arms=0)
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: n_arms = 0 must be an int >= 1

    Holds when: the problem is as described. Does not hold when: features do not explain the means,
    or a mean drifts faster than said: the floor is kept all the same, but regret grows with T.
    """
    asked = _Asked(
        None if n_arms is None else whole(n_arms, "n_arms", 1), features, oracle,
        one_of(rewards, "rewards", REWARDS),
        _number(delay, "delay", 0, ">="), float(checked_alpha(alpha)) <= SCARCE, _lasting(drift),
        None if rho is None else _number(rho, "rho", 0, ">"), _flag(propensities, "propensities"),
    )  # fmt: skip
    if features is not None:
        return _of_features(asked)
    if oracle is not None:
        raise InvalidInput(
            f"oracle = {shown(oracle)} needs features = (K, d), those of its base arms"
        )
    if asked.n_arms is None:
        raise InvalidInput("got neither n_arms nor features; give one of them")
    return _of_arms(asked, asked.n_arms)


def _of_arms(asked: _Asked, n_arms: int) -> Recommendation:
    """For K arms of which nothing else is known."""
    mean_alone = asked.rho is None or (asked.rewards == "binary" and asked.rho >= 1)
    if asked.propensities:
        if not mean_alone:
            raise InvalidInput(
                f"propensities = True with rho = {asked.rho:g} and rewards = {asked.rewards!r}: "
                "no policy here that scores the variance knows its propensities; leave one out"
            )
        return Recommendation(
            KLMS(n_arms), f"KLMS(n_arms={n_arms})", _logged(asked), ROWS[LOGGED],
            MappingProxyType({"default_competes": False}),
        )  # fmt: skip
    if not mean_alone:
        rho = float(asked.rho or 0)
        return Recommendation(
            MVUCB(n_arms, rho), f"MVUCB(n_arms={n_arms}, rho={rho!r})", _SPREAD, ROWS[SPREAD]
        )
    if asked.lasting < math.inf:
        window = min(max(int(asked.lasting) // 4, 10 * n_arms), WIDEST)
        return Recommendation(
            UCB1(n_arms, c=NARROW, window=window),
            f"UCB1(n_arms={n_arms}, c={NARROW}, window={window})", _DRIFT, ROWS[DRIFTING],
        )  # fmt: skip
    if asked.delay >= LONG:
        return Recommendation(Thompson(n_arms), f"Thompson(n_arms={n_arms})", _LONG, ROWS[LATE])
    row, said = _plain(asked)
    funds = row.problem == SCANT and n_arms >= MANY
    options: Mapping[str, Any] = {"fund": True} if funds else {}
    return Recommendation(
        AdaUCB(n_arms), f"AdaUCB(n_arms={n_arms})", said, row, MappingProxyType(dict(options))
    )


def _plain(asked: _Asked) -> tuple[Row, str]:
    """The row of AdaUCB that fits, and why it does."""
    if asked.delay:
        return ROWS[LATE], _SHORT
    if asked.rho is not None:
        return ROWS[RISK], _RISK
    if asked.scarce:
        return ROWS[SCANT], _SCANT
    return (ROWS[BINARY], _ARMS) if asked.rewards == "binary" else (ROWS[BOUNDED], _WITHIN)


def _of_features(asked: _Asked) -> Recommendation:
    """For means that are linear in features."""
    features, oracle = asked.features, asked.oracle
    fixed = not isinstance(features, int | np.integer) and not isinstance(features, Ball | Polytope)
    if asked.rho is not None and (oracle is not None or asked.rewards != "binary" or asked.rho < 1):
        raise InvalidInput(
            f"rho = {asked.rho:g} with features: no linear policy here scores the variance; leave "
            "features out"
        )
    if asked.propensities and (oracle is not None or not fixed):
        raise InvalidInput(
            "propensities = True with features that are not fixed rows (K, d): no policy here "
            "knows its propensities there; leave one out"
        )
    if oracle is not None:
        policy = LinTS(features, oracle=oracle)
        _same_count(asked.n_arms, policy.n_arms, "base arms")
        return Recommendation(policy, "LinTS(features, oracle=oracle)", _SUPER, ROWS[SUPER])
    if not fixed:
        return _of_contexts(features)
    policy = LinTS(features)
    n_arms = int(policy.n_arms or 0)
    _same_count(asked.n_arms, n_arms, "rows")
    if asked.propensities:
        return _of_arms(asked, n_arms)
    return Recommendation(policy, "LinTS(features)", _LINEAR, ROWS[LINEAR])


def _of_contexts(features: Any) -> Recommendation:
    """For features that come with each play, or a set of points."""
    if isinstance(features, Ball | Polytope):
        return Recommendation(LinTS(features), "LinTS(features)", _LINEAR, ROWS[LINEAR])
    d = whole(features, "features", 1)
    ridge = Ridge(feature_bound=1.0, noise=0.5, radius="determinant")
    call = f"LinUCB(dim={d}, ridge=Ridge(feature_bound=1.0, noise=0.5, radius='determinant'))"
    policy = LinUCB(dim=d, ridge=ridge)
    return Recommendation(policy, call, _CONTEXTS, ROWS[CONTEXTS])


def _logged(asked: _Asked) -> str:
    """Why KL-MS, and what it leaves out."""
    left = []
    if asked.features is not None:
        left.append("the features, since no linear policy here knows its propensities")
    if asked.lasting < math.inf:
        left.append("the drift: no policy here both forgets and knows its propensities")
    return _LOGGED + "".join(f"; it leaves out {one}" for one in left)


def _same_count(given: int | None, found: int | None, what: str) -> None:
    if given is not None and given != found:
        raise InvalidInput(f"n_arms = {given}, but features has {found} {what}; leave n_arms out")


def _number(number: Any, what: str, least: float, sign: str) -> float:
    value = float(exact(number, what))
    if value < least or (sign == ">" and value == least):
        raise InvalidInput(f"{what} = {shown(number)} must be {sign} {least:g}")
    return value


def _lasting(drift: Any) -> float:
    if drift is False:
        return math.inf
    if drift is True:
        return UNKNOWN
    return whole(drift, "drift", 1)


def _flag(given: Any, what: str) -> bool:
    if not isinstance(given, bool):
        raise InvalidInput(f"{what} = {shown(given)} must be True or False")
    return given
