"""UCB and Thompson sampling over a sliding window: Garivier, Moulines 2011; Trovo et al. 2020."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from surefoot._exact import shown
from surefoot._jit import jittable
from surefoot.errors import InvalidInput
from surefoot.kernels import (
    NANO,
    KernelPolicy,
    Kernels,
    count_open,
    plays_and_mean,
    register,
)
from surefoot.kernels.policy import rounded
from surefoot.kernels.registry import LARGEST
from surefoot.policies import thompson
from surefoot.policies.sets import positive

WIDEST = 10**6
"""So many rewards a window may hold: all of them are kept, and saved."""
ARMS, PAID, NEXT = -3, -2, -1
"""Behind the other lists: the arm of each reward in the window (-1: none yet), what it paid, and
in the only place of the last list where the next one goes: that of the oldest."""


class SlidingUCB1Record(NamedTuple):
    """Parameters of SW-UCB; ``c`` is the xi under the root."""

    c: float = 2.0
    window: int = 1
    unit: float = NANO
    """Into how many the range of rewards is divided for the sums, see ``kernels.unit_of``."""


class SlidingThompsonRecord(NamedTuple):
    """Parameters of Thompson sampling over a window."""

    window: int = 1
    unit: float = NANO
    """Into how many the range of rewards is divided for the trials, see ``kernels.unit_of``."""


def _ring(policy: Any) -> tuple[list[int], ...]:
    places = max(1, policy.window)
    return [-1] * places, [0] * places, [0]


def _init(policy: SlidingUCB1Record, n_arms: int) -> tuple[list[int], ...]:
    return [0] * n_arms, [0] * n_arms, [0] * n_arms, *_ring(policy)


@jittable
def _push(state: Any, sums: Any, k: int, paid: int) -> None:
    """A reward enters the window, and the oldest one leaves it."""
    place = state[NEXT][0]
    oldest = state[ARMS][place]
    if oldest >= 0:
        state[0][oldest] -= 1
        sums[oldest] -= state[PAID][place]
    state[ARMS][place] = k
    state[PAID][place] = paid
    state[0][k] += 1
    sums[k] += paid
    state[NEXT][0] = (place + 1) % len(state[ARMS])


def _learn(policy: SlidingUCB1Record, state: Any, k: int, reward: float) -> None:
    _push(state, state[1], k, math.floor(reward * policy.unit + 0.5))


def _highest(
    policy: SlidingUCB1Record, state: Any, m: int, key: Any, context: Any, allowed: Any
) -> tuple[int, float]:
    told = 0
    for k in range(len(state[0])):
        told += state[0][k] + state[2][k]
    level = policy.c * math.log(max(told, 1))
    chosen = -1
    top = -math.inf
    for k in allowed:
        n, mean = plays_and_mean(policy, state, k)
        y = math.inf if n == 0 else mean + math.sqrt(level / n)
        if chosen < 0 or y > top:
            chosen = k
            top = y
    return chosen, top


def _init_trials(policy: SlidingThompsonRecord, n_arms: int) -> tuple[list[int], ...]:
    return *thompson.fresh(policy, n_arms), *_ring(policy)


def _try(policy: SlidingThompsonRecord, state: Any, k: int, reward: float) -> None:
    _push(state, state[thompson.WON], k, thompson.success(policy, state, k, reward))


register(SlidingUCB1Record, Kernels(_init, _highest, _learn, opened=count_open))
register(
    SlidingThompsonRecord,
    Kernels(_init_trials, thompson.largest, _try, seed=thompson.keep_key),
)


class _Sliding(KernelPolicy):
    """What both have in common."""

    correct: Any = None  # not a method: ``has`` then says no

    @property
    def remembered(self) -> list[tuple[int, int]]:
        """Arm and units (or success) of each reward in the window, the oldest first."""
        arms, paid, (place,) = self._lists()[ARMS:]
        turned = zip(arms[place:] + arms[:place], paid[place:] + paid[:place], strict=True)
        return [(arm, units) for arm, units in turned if arm >= 0]


class SlidingUCB1(_Sliding):
    """UCB1 that forgets: it knows the last ``window`` rewards, and no others.

        index_i = S_i/N_i + sqrt(c ln n / N_i),   n = sum_j N_j,   N_i = 0 first, ties to the lowest
        N_i, S_i: count and sum of the rewards of arm i among the last ``window`` ones of all arms

    ``UCB1(..., window=1000)`` makes one. Source: SW-UCB, Garivier, Moulines 2011,
    B sqrt(xi ln(min(t, window)) / N_i) with B = 1 and c = xi; their theorem takes xi > 1/2. A turn
    without a reward, of a late one or a default play, forgets nothing: ours, and the same as theirs
    where every turn brings its reward at once. Open plays count in N_i as in ``UCB1``. Counts and
    sums are exact: equal ones tie.

    ``window``: an int from 1 to 10**6; as many rewards are saved with it. ``n_arms``, ``arms`` and
    ``c`` as in ``UCB1``. Raises InvalidInput for others.

    >>> policy = SlidingUCB1(2, window=2)
    >>> for arm, reward in ((0, 1.0), (1, 1.0), (0, 0.0)):
    ...     policy.update(arm, reward, None)
    >>> policy.state()["arms"][0]  # the first reward is out again
    [1, 1]

    Holds when: rewards lie in [0, 1] (the agent scales them) and are independent, with means that
    change B times in T turns, both known: with c > 1/2 and window = 2 sqrt(T ln(T)/B) regret is
    O(sqrt(B T ln T)) (Theorem 2 there and what follows). Does not hold when: nothing changes:
    regret then grows with T, not with ln T. A c that the theorem allows explores much: with 10 arms
    dealt anew every 10,000 of 50,000 plays, regret with window = 2000 was 2,647 for c = .6 and 967
    for c = .1 (``UCB1`` 1,265, mean of 10 runs). There is no ``correct``: which of several equal
    rewards was meant decides when it leaves the window, so a live agent teaches it no missing ones.
    """

    def __init__(
        self,
        n_arms: int | None = None,
        arms: Sequence[Any] | None = None,
        c: float = 2.0,
        window: int = 1000,
    ) -> None:
        constant = positive(c, "c", LARGEST)
        super().__init__(SlidingUCB1Record(constant, checked_window(window)), n_arms, arms)

    def _rescaled(self, rows: Any, unit: float) -> Any:
        before, after = int(self.record.unit), int(unit)
        plays, _, waiting, arms, paid, place = rows
        paid = [rounded(units * after, before) for units in paid]
        sums = [0] * self.n_arms
        for arm, units in zip(arms, paid, strict=True):
            if arm >= 0:
                sums[arm] += units
        return plays, sums, waiting, arms, paid, place


class SlidingThompson(_Sliding):
    """Thompson sampling that forgets: it knows the last ``window`` rewards, and no others.

        theta_i ~ Beta(1 + S_i, 1 + N_i - S_i),   the largest plays, ties to the lowest arm
        N_i, S_i: rewards and successes of arm i among the last ``window`` ones of all arms

    ``Thompson(..., window=1000)`` makes one. Source: SW-TS, Trovo, Paladino, Restelli, Gatti 2020.
    Samples and the trials of rewards between 0 and 1 are those of ``Thompson``. A turn without a
    reward forgets nothing (ours).

    ``window``: an int from 1 to 10**6; as many rewards are saved with it. ``n_arms`` or ``arms`` as
    in ``Thompson``. Raises InvalidInput for others.

    >>> policy = SlidingThompson(2, window=2)
    >>> for arm, reward in ((0, 1.0), (1, 1.0), (0, 0.0)):
    ...     policy.update(arm, reward, None)
    >>> policy.state()["arms"][:2]  # the first success is out again
    [[1, 1], [0, 1]]

    Holds when: rewards lie in [0, 1] (the agent scales them) and are independent: for rewards 0 and
    1 whose means change abruptly or smoothly its regret is bounded in Fiandri, Metelli, Trovo 2024
    (arXiv 2409.05181), which corrects the proofs of 2020. With 10 arms dealt anew every 10,000 of
    50,000 plays it had regret 1,484 with window = 2000, ``Thompson`` 4,894 (mean of 10 runs). Does
    not hold when: nothing changes: regret then grows with T. There is no ``correct``, as in
    ``SlidingUCB1``.
    """

    draws: ClassVar[bool] = True

    def __init__(
        self,
        n_arms: int | None = None,
        arms: Sequence[Any] | None = None,
        window: int = 1000,
    ) -> None:
        super().__init__(SlidingThompsonRecord(checked_window(window)), n_arms, arms)

    def _rescaled(self, rows: Any, unit: float) -> Any:
        return rows  # successes are counts


def checked_window(window: Any) -> int:
    """InvalidInput unless it is a whole number of rewards that fit in."""
    if isinstance(window, bool) or not hasattr(window, "__index__"):
        raise InvalidInput(f"window = {shown(window)} must be an int, a number of rewards")
    number = int(window)
    if not 1 <= number <= WIDEST:
        raise InvalidInput(f"window = {shown(window)} must be from 1 to {WIDEST} rewards")
    return number
