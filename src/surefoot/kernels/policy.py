"""The live driver of kernels: a clock, a state, and the kernels called one at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from inspect import signature
from operator import index
from typing import Any, ClassVar, Self

import numpy as np

from surefoot import _logs
from surefoot._exact import PLAYS
from surefoot._labels import arm_labels
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.kernels import registry, warm
from surefoot.kernels.noise import NO_KEY, key_from
from surefoot.kernels.registry import MARGIN
from surefoot.kernels.warm import SHIFT

_FITS = (2**63 - 1) // PLAYS
"""Units whose sum over the plays of the books fits the 64 bits of compiled code."""
BEST, UPDATE, PLEDGE, OPENED = range(4)
"""The compiled wrappers of a policy."""
POLICIES: dict[str, Any] = {}
"""The policies of this library by name: each registers itself, and ``load`` builds them again."""


class Stateful:
    """A clock and a state of flat lists: what every policy of kernels saves and restores.

    Within ``surefoot.policies`` a subclass can be saved and loaded by its name.
    """

    _saved_as: ClassVar[str] = "arms"
    """The key of the lists in a saved state."""
    _misfit: ClassVar[str] = "is not of {0.n_arms} arms"
    """What is said of a state whose lists have other lengths."""
    _fixed: ClassVar[int | None] = None
    """How many of the lists keep their length; None: all."""
    best: Callable[..., Any]
    turns: int
    """m: how often this policy has been asked; default plays it never saw do not count."""
    _start: Callable[[], Any]
    """The lists before the first turn."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__module__.startswith("surefoot.policies."):
            POLICIES[cls.__name__] = cls

    def _begin(self, turns: int, state: tuple[list[Any], ...]) -> None:
        """Go on from a clock and lists, which are the policy's own from now on."""
        self.turns, self._state = turns, state

    def _lists(self) -> tuple[list[Any], ...]:
        """The state as plain lists: copies."""
        return tuple(map(warm.listed, self._state))

    def select(self, context: Any, rng: np.random.Generator) -> Any:
        """Take a turn: what the kernels choose."""
        return self.best(context, rng)[0]

    def learn(self, log: Any, arm: str = "arm", reward: str = "reward", context: Any = None) -> int:
        """Learn the plays of a log, as if it had made them; returns how many they were.

        ``log``: a data frame, or a dict of lists or arrays, with a column ``arm`` of labels and a
        column ``reward``; rewards in [0, 1] where the policy has ``unit_rewards``. ``context``: a
        column of contexts, or the names of columns of numbers that are one; of a policy of the rows
        of each context the features of what was played, and no ``arm`` is read. Each row counts as
        a turn. Raises InvalidInput for a missing value, an unknown arm and a reward outside
        the range, with its row, the first being 1; nothing is learned then.

        Holds when: what was played did not depend on what it would pay, but by the columns given.
        """
        low, high = Decimal(0), Decimal(1)
        within = (low, high) if getattr(self, "unit_rewards", False) else None
        return _logs.teach(self, log, _logs.Columns(arm, reward, context), within, float)

    def pass_turns(self, turns: int) -> None:
        """Count turns that were taken elsewhere, and whose rewards were learned."""
        self._begin(self.turns + turns, self._lists())

    @property
    def fresh(self) -> bool:
        """Whether it has taken no turn and no reward yet."""
        return not self.turns and [*self._lists()] == [*map(list, self._start())]

    def state(self) -> JsonObject:
        """JSON-able state."""
        return {"turns": self.turns, self._saved_as: [*self._lists()]}

    def restore(self, state: JsonObject) -> None:
        """The inverse of ``state``."""
        self._begin(int(state["turns"]), self._fitting(state))

    def _fitting(self, state: JsonObject) -> tuple[list[Any], ...]:
        """The lists of a saved state; ValueError for those of another policy."""
        rows = tuple(list(row) for row in state[self._saved_as])
        if [*map(len, rows[: self._fixed])] != [*map(len, self._lists()[: self._fixed])]:
            raise ValueError(f"the saved state {self._misfit.format(self)}")
        return rows


class KernelPolicy(Stateful):
    """A policy of numbered arms, whose decisions are those of registered kernels.

    ``record``: the parameter record; its class picks the kernels (``register``). ``n_arms`` or
    ``arms``: as ``UCB1`` takes them. The state is the lists of ``init``, one entry an arm; where
    the record has a field ``unit``, the second holds sums of rewards in units of the books.

    A policy that draws at random says ``draws = True``. Its ``key`` then comes from the generator
    that an agent hands to ``best``, once, at the first turn: other policies take nothing from that
    generator, so nothing changes for them. It is saved with the state. ``renew`` forgets it, for a
    copy that is to go its own way. Once ``surefoot.warmup`` was called, what is made or restored
    decides in compiled code, to the last bit as before.

    Holds when: an arm gets at most some 9 * 10**9 rewards, whose sum fits an int64; beyond, plain
    code takes over.
    """

    unit_rewards = True
    contextual = False
    draws: ClassVar[bool] = False
    _coupled = False
    kernel_methods: ClassVar[tuple[str, ...]] = (
        "best", "peek", "update", "pledge", "unit_rewards", "opened", "closed",
    )  # fmt: skip
    """What the kernels stand for; who overrides one of these is run play by play."""

    def __init__(
        self, record: Any, n_arms: int | None = None, arms: Sequence[Any] | None = None
    ) -> None:
        self.arms = arm_labels(n_arms, arms)
        _check_kernels(self, record, len(self.arms))
        self.n_arms = len(self.arms)
        self.key: int | None = None
        """What its draws are a function of, with the turn and the arm; None before the first."""
        self.record = record
        self.kernels = registry.KERNELS[type(record)]
        self.counts_open = self.kernels.opened is not registry.unopened
        """Whether open plays are anything to it; else an agent tells it of none."""
        self._width = 0
        """How many units the range of rewards spans in an agent's books, once there are such."""
        self._begin(0, self._start())

    def _start(self) -> Any:
        return registry.init(self.record, self.n_arms)

    def _begin(self, turns: int, state: tuple[list[Any], ...]) -> None:
        compiled = warm.ready(type(self.record))
        fits = self._width <= _FITS and not self.contextual
        rows = warm.arrays(state) if compiled is not None and fits else None
        self.turns, self._state = turns, state if rows is None else rows
        self._compiled = None if rows is None else compiled
        self._ceilings = np.full(self.n_arms + 1, -math.inf)
        self._moved = dict[int, int]()
        """Where indices are coupled: the plays that these arms had when ceilings were last used."""
        self._stale = set[int]()
        """The arms that have learned since an index policy drew up their ceilings."""
        self._parts = (tuple(self.record), self._state, self._ceilings)
        self._due = list[int]()
        """Arms of plays opened since the last turn: most are closed before the next."""

    def count_in(self, width: int) -> None:
        """Sum rewards up in the units of an agent's books, ``width`` of which span their range.

        Then equal sums tie. What was learned in other units, by a file older than this for one, is
        converted to the nearest.
        """
        self._width = width
        record = self.record
        if not hasattr(record, "unit") or record.unit == (unit := registry.unit_of(width)):
            return
        rows = self._rescaled(self._lists(), unit)
        self.record = record._replace(unit=unit)
        self._begin(self.turns, rows)

    def _rescaled(self, rows: Any, unit: float) -> Any:
        """The state with its sums in other units."""
        plays, sums, *rest = rows
        before, after = int(self.record.unit), int(unit)
        return plays, [rounded(total * after, before) for total in sums], *rest

    def best(
        self, context: Any, rng: np.random.Generator, allowed: Sequence[int] | None = None
    ) -> tuple[int, float]:
        """Take a turn: the arm that the kernels choose, and its score."""
        if self.draws and self.key is None:
            self.key = key_from(rng)
            state = self._lists()
            self.kernels.seed(self.record, state, self.key)
            self._begin(self.turns, state)
        self.turns += 1
        return self.peek(self.turns, allowed, context)

    def peek(
        self, turn: int, allowed: Sequence[int] | None = None, context: Any = None
    ) -> tuple[int, float]:
        """What ``best`` would return at a turn, without taking it.

        A policy that draws has no key before its first turn, and looks with 0 in its place.
        """
        if self._due:
            self._count_due()
        if self._compiled is not None and allowed is None and context is None:
            return self._compiled[BEST](turn, self.key or 0, *self._parts)  # type: ignore[no-any-return]
        state = self._state if self._compiled is None else self._lists()
        arms = range(self.n_arms) if allowed is None else allowed
        key = self.key or 0 if self.draws else NO_KEY
        chosen, score = registry.best(self.record, state, turn, key, context, arms)
        return int(chosen), score

    def update(self, arm: int, reward: float, context: Any) -> None:
        """Learn one reward in [0, 1] of one arm."""
        if self._coupled:
            self._moved.setdefault(arm, self._plays(arm))
        compiled = self._compiled
        if compiled is None:
            self.kernels.update(self.record, self._state, arm, reward)
            self._stale.add(arm)
        elif 0 <= arm < self.n_arms and 0.0 <= reward <= 1.0:
            # Another kind of number is an error here: compiled code would convert it.
            compiled[UPDATE](index(arm), reward + 0.0, *self._parts)
        else:  # compiled code asks no questions
            state = self._lists()
            self.kernels.update(self.record, state, arm, reward)
            self._begin(self.turns, state)

    def correct(self, arm: int, old: float, new: float, context: Any) -> None:
        """Replace one learned reward ``old`` of an arm by ``new``; to the last unit."""
        state = self._lists()
        self.kernels.take(self.record, state, arm, old)
        self.kernels.update(self.record, state, arm, new)
        self._begin(self.turns, state)

    def opened(self, arm: int, context: Any) -> None:
        """Hear that a play of an arm was given out, whose reward is still to come."""
        if not self.counts_open:
            return
        if 0 <= arm < self.n_arms:
            self._due.append(arm)
        else:
            self._reopen(arm, 1)

    def closed(self, arm: int, context: Any) -> None:
        """Hear that such a play waits no longer: its reward came, or will not come."""
        if arm in self._due:
            self._due.remove(arm)
        elif self.counts_open:
            self._reopen(arm, -1)

    def _count_due(self) -> None:
        """Count the plays that are still open at a turn."""
        due, self._due = self._due, []
        for arm in due:
            self._reopen(arm, 1)

    def _lists(self) -> tuple[list[Any], ...]:
        if self._due:
            self._count_due()
        return super()._lists()

    def _plays(self, arm: int) -> int:
        return int(self._state[0][arm] + self._state[2][arm])

    def _reopen(self, arm: int, by: int) -> None:
        if self._coupled:
            self._moved.setdefault(arm, self._plays(arm))
        compiled = self._compiled
        if compiled is None:
            self.kernels.opened(self.record, self._state, arm, by)
            self._stale.add(arm)
        elif 0 <= arm < self.n_arms:
            compiled[OPENED](index(arm), by, *self._parts)
        else:
            state = self._lists()
            self.kernels.opened(self.record, state, arm, by)
            self._begin(self.turns, state)

    def renew(self) -> None:
        """Forget the key of its draws: the next turn takes another from its agent's generator."""
        self.key = None

    def pledge(self, arm: int) -> float:
        """A lower bound on the mean reward of all turns so far and one more of ``arm``."""
        if self._compiled is not None and 0 <= arm < self.n_arms:
            return float(self._compiled[PLEDGE](index(arm), *self._parts))
        return float(registry.pledge(self.record, self._state, arm))

    @property
    def fresh(self) -> bool:
        """Whether it has taken no turn and no reward yet."""
        return self.key is None and super().fresh

    def state(self) -> JsonObject:
        """JSON-able state."""
        unit = getattr(self.record, "unit", registry.NANO)
        more = {} if unit == registry.NANO else {"unit": int(unit)}
        if self.key is not None:
            more["key"] = self.key
        return {**super().state(), **more}

    def restore(self, state: JsonObject) -> None:
        """The inverse of ``state``."""
        rows = self._fitting(state)
        if hasattr(self.record, "unit"):  # that of the state; billionths in files older than units
            self.record = self.record._replace(unit=float(state.get("unit", registry.NANO)))
        self.key = state.get("key")
        self._begin(int(state["turns"]), rows)
        if self._width:
            self.count_in(self._width)

    def _fitting(self, state: JsonObject) -> tuple[list[Any], ...]:
        """The lists of a saved state; files older than open plays lack the last one."""
        rows, start = state[self._saved_as], self._start()
        counted = self.counts_open or self.kernels.init is registry.count_and_sum
        if counted and len(rows) == len(start) - 1:
            rows = [*rows, start[-1]]
        return super()._fitting({self._saved_as: rows})

    def config(self) -> JsonObject:
        """JSON-able settings: the labels and the parameter record."""
        return {"arms": list(self.arms), **self._settings()}

    def _settings(self) -> JsonObject:
        """The parameters that are the user's."""
        return {key: x for key, x in self.record._asdict().items() if key != "unit"}

    @classmethod
    def from_config(cls, config: JsonObject) -> Self:
        """The inverse of ``config``; InvalidInput where the constructor takes other names."""
        try:
            signature(cls).bind(**config)
        except TypeError as error:
            raise InvalidInput(
                f"{cls.__name__} cannot be made from its config ({error}): its constructor must "
                f"take {', '.join(config)}, or the class needs a config and from_config of its own"
            ) from None
        return cls(**config)

    def __repr__(self) -> str:
        settings = "".join(f", {key}={value!r}" for key, value in self._settings().items())
        return f"{type(self).__name__}(n_arms={self.n_arms}{settings})"


class IndexPolicy(KernelPolicy):
    """An arm's index is computed from what is known of it; the first largest one is played.

    Few indices are computed anew at each turn: an index only grows with the turn, so its value some
    turns ahead is a ceiling until then, and an arm whose ceiling lies below what another arm has
    now is passed over. The decision is that of ``registry.argmax`` over all arms, ties included.
    """

    kernel_methods = KernelPolicy.kernel_methods

    def best(
        self, context: Any, rng: np.random.Generator, allowed: Sequence[int] | None = None
    ) -> tuple[int, float]:
        """Take a turn: the first arm of the largest index, and that index."""
        self.turns += 1  # an index draws nothing: what a drawing policy asks first would cost time
        return self.peek(self.turns, allowed)

    def _begin(self, turns: int, state: tuple[list[Any], ...]) -> None:
        super()._begin(turns, state)
        self._index = registry.INDEX_KERNELS[type(self.record)]
        self._coupled = self._index.coupled
        if self._compiled is None:
            self._look_ahead(max(turns, 1))

    def _look_ahead(self, turn: int) -> None:
        """Draw up every arm's ceiling, good for the turns up to this one."""
        self._reach = self._index.scale(self.record, turn)
        self._stale.clear()
        self._ceilings = np.array([self._ceiling(arm) for arm in range(self.n_arms)])

    def _settle(self) -> None:
        """Draw up all ceilings if some arm lost plays, as then the others' coupled indices grow."""
        if any(self._plays(arm) < before for arm, before in self._moved.items()):
            if self._compiled is None:
                self._reach = -math.inf
            else:
                self._ceilings[-1] = -math.inf
        self._moved.clear()

    def _ceiling(self, arm: int) -> float:
        found = self._index.index(self.record, self._state, arm, self._reach, -math.inf)
        return float(found) + MARGIN

    def peek(
        self, turn: int, allowed: Sequence[int] | None = None, context: Any = None
    ) -> tuple[int, float]:
        """What ``best`` would return at a turn, without taking it."""
        if self._due:
            self._count_due()
        if self._moved:
            self._settle()
        compiled = self._compiled
        if compiled is not None and allowed is None:
            return compiled[BEST](turn, *self._parts)  # type: ignore[no-any-return]
        if allowed is not None:
            return super().peek(turn, allowed)
        record, state, index_of = self.record, self._state, self._index.index
        scale = self._index.scale(record, turn)
        if scale > self._reach:
            self._look_ahead(turn + 1 + (turn >> SHIFT))
        if self._stale:  # several rewards of an arm between two turns cost one new ceiling
            for arm in self._stale:
                self._ceilings[arm] = self._ceiling(arm)
            self._stale.clear()
        leader = int(self._ceilings.argmax())
        score = index_of(record, state, leader, scale, -math.inf)
        near = (self._ceilings >= score).nonzero()[0].tolist()
        if len(near) == 1:
            return leader, score
        chosen, top = -1, -math.inf  # registry.argmax of these few, whose kernels are at hand
        for arm in near:
            score = index_of(record, state, arm, scale, top)
            if chosen < 0 or score > top:
                chosen, top = arm, score
        return chosen, top


def _check_kernels(policy: KernelPolicy, record: Any, n_arms: int) -> None:
    """InvalidInput for a record without kernels, and for draws that are not declared."""
    kind, by_index = type(record), isinstance(policy, IndexPolicy)
    if kind not in (registry.INDEX_KERNELS if by_index else registry.KERNELS):
        kernels = "IndexKernels" if by_index else "Kernels"
        raise InvalidInput(
            f"{kind.__name__} has no {kernels}; call register({kind.__name__}, {kernels}(...)) "
            "where it is defined"
        )
    if not (policy.draws or policy.contextual or kind in registry.INDEX_KERNELS):
        state = registry.init(record, n_arms)
        registry.best(record, state, 1, NO_KEY, None, range(n_arms))  # an error if it draws


def rounded(number: int, over: int) -> int:
    """The quotient of two ints to the nearest int."""
    return (2 * number + over) // (2 * over)
