"""Contextual arms: Bernoulli rewards whose means follow from features drawn at each play."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from surefoot._exact import exact, one_of, shown
from surefoot.environments._table import listed
from surefoot.environments._timing import Frozen
from surefoot.environments.linear import embedding
from surefoot.errors import InvalidInput
from surefoot.kernels.noise import noise

Floats = npt.NDArray[np.float64]
LINKS = ("linear", "logistic")
SHOWN = ("row", "table")
_AVERAGED = 1000
"""Over this many plays of key 0 the attributes means, variances and best are averages."""
_MOST = 100_000
"""Numbers in the table of a play; the averages hold so many a play, and take a gigabyte then."""
_STEEP = 3.0
"""The norm of a random logistic parameter: means from .05 to .95."""


class ContextualArms(Frozen):
    """K arms that pay 1 with a probability that depends on the play's features, else 0.

        x = (z, 1),   z uniform on the unit sphere of R^(d-1), drawn anew at each play
        mean_k(t) = <x_t, theta_k>   or   1/(1 + exp(-<x_t, theta_k>))

    Source: the linear contextual bandit with one parameter an arm, as in LinUCB (Li, Chu, Langford,
    Schapire 2010), and with one for all (Abbasi-Yadkori, Pal, Szepesvari 2011); the distribution is
    ours. ``theta``: shape (K, d), one row of parameters for each arm: the context of a play is one
    row of d numbers; or, with ``n_arms=K``, d numbers for all arms: the context is a table (K, d),
    a row for each arm. ``link``: "linear" or "logistic". ``context``: "row", or "table" for theta
    (K, d) too: shape (K, K*d), each arm's row in a place of its own, for a policy with one linear
    model of all arms, such as ``LinUCB``. Every row has the norm sqrt(2). Features are a function
    of (key, play), so that all agents of a run meet the same ones, and rewards one of (key, the
    policy's turn, arm). Regret is against the best arm of each play, or the default where that is
    better. ``means``, ``variances`` and ``best`` are averages over 1,000 plays. Raises InvalidInput
    for other shapes, d < 2, and linear means that may leave [0, 1].

    >>> env = ContextualArms([[0.5, 0.5], [-0.5, 0.5]])
    >>> [env.context(play).tolist() for play in (1, 2)]
    [[1.0, 1.0], [-1.0, 1.0]]
    >>> [env.value(arm, play=1) for arm in range(2)], env.best_at(1), env.best
    ([1.0, 0.0], 1.0, 1.0)

    Holds when: features come independently of what was played. Does not hold when: the default's
    worth depends on them: its known value is one for all plays.
    """

    places = 0
    reward_range: tuple[Any, Any] = (0, 1)
    drifts = True
    record = None
    n_arms: int
    theta: Floats
    means: Floats
    variances: Floats
    best: float
    link: str
    shown_as: str
    key: int

    def __init__(
        self, theta: Any, n_arms: int | None = None, link: str = "linear", context: str = "row"
    ) -> None:
        one_of(link, "link", LINKS)
        one_of(context, "context", SHOWN)
        numbers = _parameters(theta)
        count = _counted(numbers, n_arms)
        if link == "linear":
            _check_means(numbers)
        numbers.flags.writeable = False
        shared = numbers.ndim == 1
        vars(self).update(
            theta=numbers, n_arms=count, link=link, key=0, _last=(0, None, None),
            shown_as="table" if shared else context,
        )  # fmt: skip
        means = self._means(self._features(np.arange(1, _AVERAGED + 1)))
        vars(self).update(
            means=means.mean(axis=0), variances=(means * (1 - means)).mean(axis=0),
            best=float(means.max(axis=1).mean()),
        )  # fmt: skip

    @classmethod
    def embedded(
        cls, n_arms: int, d: int, seed: Any, link: str = "linear", context: str = "row"
    ) -> Self:
        """A random instance with one parameter an arm, see ``environments.linear.embedding``.

        Linear: theta_k = (u_k/2, 1/2), u_k uniform on the unit sphere; logistic: (3 u_k, 0).
        """
        rows, _ = embedding(n_arms, d, seed)
        steep = link == "logistic"
        theta = rows * (_STEEP if steep else 0.5)
        theta[:, -1] = 0.0 if steep else 0.5
        return cls(theta, link=link, context=context)

    def in_run(self, key: int) -> Self:
        """The same arms with the features of the run of ``key``."""
        other = copy.copy(self)
        vars(other).update(key=key, _last=(0, None, None))
        return other

    def context(self, play: int) -> Floats:
        """What an agent is given at a play: a row, or a table with a row for each arm."""
        x: Floats = self._at(play)[0]
        if self.theta.ndim == 1 or self.shown_as == "row":
            return x.copy()  # who is given it may write into it
        d = self.theta.shape[1]
        table = np.zeros((self.n_arms, self.n_arms * d))
        for arm in range(self.n_arms):
            table[arm, arm * d : (arm + 1) * d] = x
        return table

    def pull(self, key: int, turn: int, arm: int, play: int = 1) -> float:
        """The reward of ``arm`` at ``play``, from the noise of the policy's ``turn``."""
        return float(float(noise(key, turn, arm) >> 11) < self.value(arm, play) * 2.0**53)

    def value(self, action: Any, play: int = 1) -> float:
        """The true mean of an arm at a play."""
        return float(self._at(play)[1][action])

    def best_at(self, play: int) -> float:
        """The mean of the best arm at a play."""
        return float(self._at(play)[1].max())

    def _at(self, play: int) -> tuple[Any, Any]:
        """The features and means of a play; those of the newest are kept."""
        known, x, means = vars(self)["_last"]
        if known != play:
            drawn = self._features(np.array([play]))
            x, means = drawn[0], self._means(drawn)[0]
            vars(self)["_last"] = play, x, means
        return x, means

    def _features(self, plays: Any) -> Floats:
        """Shape (plays, d), or (plays, K, d) where each arm has its own."""
        from scipy.special import ndtri

        d = self.theta.shape[-1]
        rows = self.n_arms if self.theta.ndim == 1 else 1
        own = noise(self.key, 0, -3)  # rewards are drawn from turn 1 on
        turns: Any = plays.astype(np.uint64)[:, None]
        numbers: Any = np.arange(rows * (d - 1), dtype=np.uint64)[None, :]
        bits = noise(own, turns, numbers)
        z = ndtri(((bits >> 12).astype(float) + 0.5) * 2.0**-52).reshape(len(plays), rows, d - 1)
        z /= np.linalg.norm(z, axis=2, keepdims=True)
        x = np.concatenate([z, np.ones((len(plays), rows, 1))], axis=2)
        return x if self.theta.ndim == 1 else x[:, 0]

    def _means(self, x: Floats) -> Floats:
        """Shape (plays, K)."""
        scores = x @ self.theta if self.theta.ndim == 1 else x @ self.theta.T
        means = scores if self.link == "linear" else 1.0 / (1.0 + np.exp(-scores))
        return np.clip(means, 0.0, 1.0)

    def __repr__(self) -> str:
        what = "one parameter for all" if self.theta.ndim == 1 else "one parameter each"
        return (
            f"{type(self).__name__}({self.n_arms} arms, {self.theta.shape[-1]} features, {what}, "
            f"{self.link})"
        )


def _parameters(theta: Any) -> Floats:
    rows = listed(theta, "theta", "list of numbers, or of rows of them", "at least one number")
    nested = [isinstance(row, list | tuple | np.ndarray) for row in rows]
    if not any(nested):
        return np.array([float(exact(x, f"theta[{i}]")) for i, x in enumerate(rows)])
    found = []
    for arm, row in enumerate(rows):
        if not nested[arm] or len(row) != len(rows[0]):
            raise InvalidInput(f"theta[{arm}] = {shown(row)} must be a row as long as theta[0]")
        found.append([float(exact(x, f"theta[{arm}][{i}]")) for i, x in enumerate(row)])
    return np.array(found)


def _counted(theta: Floats, n_arms: Any) -> int:
    """How many arms there are."""
    if theta.shape[-1] < 2:
        raise InvalidInput(
            f"theta has {theta.shape[-1]} number for each arm; give at least 2, the last for the "
            "constant 1"
        )
    whole = isinstance(n_arms, int | np.integer) and not isinstance(n_arms, bool)
    if theta.ndim == 1 and not (whole and n_arms >= 1):
        raise InvalidInput(
            f"n_arms = {shown(n_arms)} must be an int >= 1: theta is one parameter for all arms"
        )
    if theta.ndim == 1 and n_arms * len(theta) > _MOST:
        raise InvalidInput(
            f"n_arms = {shown(n_arms)} with {len(theta)} features each makes tables of more than "
            f"{_MOST} numbers; give fewer arms"
        )
    if theta.ndim == 2 and n_arms is not None and n_arms != len(theta):
        raise InvalidInput(f"n_arms = {shown(n_arms)}, but theta has {len(theta)} rows; leave it")
    return int(n_arms) if theta.ndim == 1 else len(theta)


def _check_means(theta: Floats) -> None:
    """InvalidInput where some features would give a mean outside [0, 1] by more than rounding."""
    for arm, row in enumerate(np.atleast_2d(theta)):
        reach, middle = float(np.linalg.norm(row[:-1])), float(row[-1])
        if middle - reach < -1e-9 or middle + reach > 1 + 1e-9:
            name = f"theta[{arm}]" if theta.ndim == 2 else "theta"
            raise InvalidInput(
                f"{name} gives means from {middle - reach:.6g} to {middle + reach:.6g}, outside "
                "[0, 1]; scale it down, or take link='logistic'"
            )
