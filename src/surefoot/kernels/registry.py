"""One policy text, two drivers: how the same kernels run live and compiled.

A policy is a parameter record (a small NamedTuple) and a few kernels: module-level functions with
hand-written loops on plain arrays, which numba can compile and Python can run. The dispatchers
below pick the kernels by the class of the record. In Python they look it up; ``warm.teach`` teaches
numba the same choice, so the engine's one loop is the text that runs either way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from inspect import CO_VARARGS
from typing import Any, NamedTuple

from surefoot._exact import shown
from surefoot._jit import jittable, table
from surefoot.errors import InvalidInput

NANO = 1e9
"""Policies keep sums in whole units, of which the range of rewards has so many (unless the books
that an agent keeps count it otherwise, see ``unit_of``): equal sums tie exactly, in whatever order
they came."""
WIDEST = 2**51
"""So many units in the range are still read off a reward in [0, 1]: it is off by 2**-53 of itself,
its product with them by as much again, and the sum is less than half a unit."""


MARGIN = 1e-9
"""An index that is found by iteration may fall by less than this while its scale grows."""
LARGEST = 1e300
"""Of a policy's constants: an index beyond all floats would tie with that of an unplayed arm."""


def no_pledge(policy: object, state: object, k: int) -> float:
    """For policies whose agent asks for none."""
    return 0.0


def unseeded(policy: object, state: object, key: int) -> None:
    """For policies whose updates draw nothing."""


def unopened(policy: object, state: object, k: int, by: int) -> None:
    """For policies to which open plays are nothing."""


def one(policy: object) -> int:
    """A turn plays one arm ..."""
    return 1


def itself(policy: object, state: object, k: int, i: int) -> int:
    """... the one chosen."""
    return k


def subtract(policy: Any, state: Any, k: int, reward: float) -> None:
    """The inverse of ``add``, and of ``add_units``."""
    state[0][k] -= 1
    state[1][k] -= math.floor(reward * getattr(policy, "unit", NANO) + 0.5)


class Kernels(NamedTuple):
    """The text of one policy; ``policy`` is its parameter record.

    ``init(policy, n_arms) -> tuple of flat lists``, the state · ``best(policy, state, m, key,
    context, allowed)``, the choice at turn m and its score: the number of an arm; a super arm is
    left in the state, and its number is 0. ``key``: 64 bits for ``noise`` and ``uniform``, those of
    a policy without randomness ignore it; ``context``: None in compiled code; ``allowed``: the
    numbers of the arms to choose from, ascending · ``update(policy, state, k, reward)``, one reward
    of one (base) arm · ``pledge(policy, state, k)``, asked between the two: a lower bound on the
    mean reward of all turns and of the one just chosen, for agents whose gate asks for it ·
    ``width(policy)``, how many (base) arms a turn plays at most · ``member(policy, state, k, i)``,
    the i-th of them, -1 behind the last · ``take(policy, state, k, reward)``, never compiled: takes
    out what ``update`` added · ``seed(policy, state, key)``, never compiled: called once before the
    first turn, leaves in the state what ``update`` needs of the key · ``opened(policy, state, k,
    by)``: a play of one (base) arm was given out and its reward is still to come (``by`` = 1), or
    waits no longer (-1); it is called at the next turn, and not for a play that is closed by then,
    nor by the loops of ``simulation`` whose rewards come at once ·
    ``form``: the name of a structure that a faster loop of the engine knows, see
    ``simulation.compiled``; empty: none.
    """

    init: Callable[..., Any]
    best: Callable[..., Any]
    update: Callable[..., Any]
    pledge: Callable[..., Any] = no_pledge
    width: Callable[..., Any] = one
    member: Callable[..., Any] = itself
    take: Callable[..., Any] = subtract
    seed: Callable[..., Any] = unseeded
    opened: Callable[..., Any] = unopened
    form: str = ""


KERNELS: dict[type, Kernels] = table()
_NAMED: dict[str, type] = {}
"""The first record of each name."""


def compilable(record: type) -> bool:
    """Whether numba can tell the record from others: it knows them by name and fields alone."""
    return _NAMED.get(record.__name__, record) is record


def register(
    record: type,
    kernels: Kernels | IndexKernels,
    lines: LineKernels | None = None,
    curves: CurveKernels | None = None,
) -> None:
    """Make the kernels of a parameter record known to all drivers.

    ``lines``: for an index policy whose index is a line in what all arms share; ``curves``: for one
    whose index is a concave curve of it. Of two records of
    one name only the first is compiled; the other is run play by play.
    Raises InvalidInput for a record that is no NamedTuple class, and for a kernel of another number
    of arguments.
    """
    if not isinstance(record, type) or not hasattr(record, "_fields"):
        raise InvalidInput(f"record = {shown(record)} must be a class derived from NamedTuple")
    for name, count in _ARGUMENTS.items():
        _check_arguments(record, name, getattr(kernels, name, None), count)
    _NAMED.setdefault(record.__name__, record)
    if isinstance(kernels, Kernels):
        KERNELS[record] = kernels
        return
    INDEX_KERNELS[record] = kernels
    init, _, _, update, pledge, take, opened, _ = kernels
    KERNELS[record] = Kernels(init, argmax_kernel, update, pledge, take=take, opened=opened)
    if lines is not None:
        LINE_KERNELS[record] = lines
    if curves is not None:
        CURVE_KERNELS[record] = curves


_ARGUMENTS = {
    "init": 2, "best": 6, "scale": 2, "index": 5, "update": 4, "pledge": 3, "width": 1, "member": 4,
    "take": 4, "seed": 3, "opened": 4,
}  # fmt: skip
"""How many arguments each kernel takes."""


def _check_arguments(record: type, name: str, kernel: Any, count: int) -> None:
    code = getattr(getattr(kernel, "py_func", kernel), "__code__", None)
    if code is None or code.co_flags & CO_VARARGS:
        return
    least = code.co_argcount - len(kernel.__defaults__ or ())
    if not least <= count <= code.co_argcount:
        raise InvalidInput(
            f"{name} of {record.__name__} takes {code.co_argcount} arguments, and is called with "
            f"{count}; Kernels and IndexKernels say which"
        )


def init(policy: Any, n_arms: int) -> Any:
    """As ``Kernels.init``, of the class of the record."""
    return KERNELS[type(policy)].init(policy, n_arms)


def best(policy: Any, state: Any, m: int, key: Any, context: Any, allowed: Any) -> Any:
    """As ``Kernels.best``, of the class of the record."""
    return KERNELS[type(policy)].best(policy, state, m, key, context, allowed)


def update(policy: Any, state: Any, k: int, reward: float) -> None:
    """As ``Kernels.update``, of the class of the record."""
    KERNELS[type(policy)].update(policy, state, k, reward)


def pledge(policy: Any, state: Any, k: int) -> Any:
    """As ``Kernels.pledge``, of the class of the record."""
    return KERNELS[type(policy)].pledge(policy, state, k)


def width(policy: Any) -> Any:
    """As ``Kernels.width``, of the class of the record."""
    return KERNELS[type(policy)].width(policy)


def member(policy: Any, state: Any, k: int, i: int) -> Any:
    """As ``Kernels.member``, of the class of the record."""
    return KERNELS[type(policy)].member(policy, state, k, i)


def opened(policy: Any, state: Any, k: int, by: int) -> None:
    """As ``Kernels.opened``, of the class of the record."""
    KERNELS[type(policy)].opened(policy, state, k, by)


class IndexKernels(NamedTuple):
    """The text of an index policy: each arm is scored by itself, and the first largest is played.

    ``init(policy, n_arms) -> tuple of lists``, one entry an arm · ``scale(policy, m) -> s``, what
    all arms share at turn m, never falling · ``index(policy, state, k, s, best) -> y``, never
    falling as s grows; where y is certainly not above ``best`` any number not above it may be
    returned · ``update``, ``pledge`` and ``opened`` as in ``Kernels`` ·
    ``take(policy, state, k, reward)``, never compiled, takes out what ``update`` added to the
    counts and sums of arm k · ``coupled``: whether an index depends on the other arms' plays, too,
    those of ``count_and_sum``; it must not grow as they do.
    """

    init: Callable[..., Any]
    scale: Callable[..., Any]
    index: Callable[..., Any]
    update: Callable[..., Any]
    pledge: Callable[..., Any] = no_pledge
    take: Callable[..., Any] = subtract
    opened: Callable[..., Any] = unopened
    coupled: bool = False


INDEX_KERNELS: dict[type, IndexKernels] = table()


def scale(policy: Any, m: int) -> Any:
    """As ``IndexKernels.scale``, of the class of the record."""
    return INDEX_KERNELS[type(policy)].scale(policy, m)


def index(policy: Any, state: Any, k: int, s: float, best: float) -> Any:
    """As ``IndexKernels.index``, of the class of the record."""
    return INDEX_KERNELS[type(policy)].index(policy, state, k, s, best)


@jittable
def argmax(policy: Any, state: Any, m: int, arms: Sequence[int]) -> tuple[int, float]:
    """The first arm with the largest index at turn m, and that index."""
    s = scale(policy, m)
    chosen = -1
    top = -math.inf
    for k in arms:
        y = index(policy, state, k, s, top)
        if chosen < 0 or y > top:
            chosen = k
            top = y
    return chosen, top


def argmax_kernel(
    policy: Any, state: Any, m: int, key: object, context: object, allowed: Sequence[int]
) -> tuple[int, float]:
    """``argmax`` as the ``best`` of an index policy."""
    return argmax(policy, state, m, allowed)


class LineKernels(NamedTuple):
    """The parts of an index a + s w, by which the compiled engine knows that a leader stays one.

    ``rise(policy, m) -> (s, s', size)``: what all arms share at turn m, growing and concave in m,
    its slope, and a bound on every index of a played arm · ``line(policy, state, k) -> (a, w)``,
    w falling as 1/sqrt(N_k): the same floats as in the index, which is their a + s w up to rounding
    · ``read(policy, state, k)``, what is known of arm k as a tuple of ints · ``gain(policy, known,
    n, total)``, the same after n more rewards that sum to so many billionths; each is then squared
    by ``square(policy, known, nano)`` · ``above(policy, known, n, total, level)``: whether a >
    level, up to rounding and quickly, after n more rewards in 0..1 and before their squares are
    known: for n > 0 it may say no too early · ``write(policy, state, k, known)``.
    """

    rise: Callable[..., Any]
    line: Callable[..., Any]
    read: Callable[..., Any]
    gain: Callable[..., Any]
    square: Callable[..., Any]
    above: Callable[..., Any]
    write: Callable[..., Any]


LINE_KERNELS: dict[type, LineKernels] = table()


def rise(policy: Any, m: int) -> Any:
    """As ``LineKernels.rise``, of the class of the record."""
    return LINE_KERNELS[type(policy)].rise(policy, m)


def line(policy: Any, state: Any, k: int) -> Any:
    """As ``LineKernels.line``, of the class of the record."""
    return LINE_KERNELS[type(policy)].line(policy, state, k)


def read(policy: Any, state: Any, k: int) -> Any:
    """As ``LineKernels.read``, of the class of the record."""
    return LINE_KERNELS[type(policy)].read(policy, state, k)


def gain(policy: Any, known: Any, n: int, total: int) -> Any:
    """As ``LineKernels.gain``, of the class of the record."""
    return LINE_KERNELS[type(policy)].gain(policy, known, n, total)


def square(policy: Any, known: Any, nano: int) -> Any:
    """As ``LineKernels.square``, of the class of the record."""
    return LINE_KERNELS[type(policy)].square(policy, known, nano)


def above(policy: Any, known: Any, n: int, total: int, level: float) -> Any:
    """As ``LineKernels.above``, of the class of the record."""
    return LINE_KERNELS[type(policy)].above(policy, known, n, total, level)


def write(policy: Any, state: Any, k: int, known: Any) -> None:
    """As ``LineKernels.write``, of the class of the record."""
    LINE_KERNELS[type(policy)].write(policy, state, k, known)


def unknown(policy: object, state: Any, k: int, level: float, reward: float) -> float:
    """The ``adds`` of a policy that cannot say: its curve is looked at after each play."""
    return math.inf


class CurveKernels(NamedTuple):
    """The parts of an index that is a concave curve of the scale, by which the compiled engine
    knows that an arm cannot lead yet.

    ``slope(policy, m)``: that of the scale at turn m, which is concave, too · ``rises(policy,
    state, k, level) -> s``: the scale at which the index of a played arm rises to the level, up to
    rounding; -inf where it is there from the start · ``tangent(policy, state, k, s, level) -> (p,
    y, x, w)``: the index is never above the larger of p and y + (x' - x) w at a scale x', and is p
    where it is not above p; y is ``level``, a bound on the index at scale s, or the kernel's own
    where no such is known (1 or more) · ``adds(policy, state, k, level, reward)``: the last play of
    an arm, of this reward, has raised ``rises``, or 0 where that is less, by no more; inf where
    that is not known. An index depends on nothing but the arm's count and sum, and where it is
    ``coupled`` on the others' counts.
    """

    slope: Callable[..., Any]
    rises: Callable[..., Any]
    tangent: Callable[..., Any]
    adds: Callable[..., Any] = unknown


CURVE_KERNELS: dict[type, CurveKernels] = table()


def slope(policy: Any, m: int) -> Any:
    """As ``CurveKernels.slope``, of the class of the record."""
    return CURVE_KERNELS[type(policy)].slope(policy, m)


def rises(policy: Any, state: Any, k: int, level: float) -> Any:
    """As ``CurveKernels.rises``, of the class of the record."""
    return CURVE_KERNELS[type(policy)].rises(policy, state, k, level)


def tangent(policy: Any, state: Any, k: int, s: float, level: float) -> Any:
    """As ``CurveKernels.tangent``, of the class of the record."""
    return CURVE_KERNELS[type(policy)].tangent(policy, state, k, s, level)


def adds(policy: Any, state: Any, k: int, level: float, reward: float) -> Any:
    """As ``CurveKernels.adds``, of the class of the record."""
    return CURVE_KERNELS[type(policy)].adds(policy, state, k, level, reward)


def count_and_sum(policy: object, n_arms: int) -> tuple[list[int], list[int], list[int]]:
    """State of a policy that needs each arm's rewards N, their exact sum S, and open plays O.

    O stays 0 without ``count_open`` among the kernels.
    """
    return [0] * n_arms, [0] * n_arms, [0] * n_arms


@jittable
def count_open(policy: object, state: Any, k: int, by: int) -> None:
    """The ``opened`` that goes with ``count_and_sum``: one open play of arm k more, or less.

    A play given out before its policy heard of such things is closed without having been opened.
    """
    state[2][k] = max(0, state[2][k] + by)


@jittable
def plays_and_mean(policy: Any, state: Any, k: int) -> tuple[int, float]:
    """Arm k's plays, the open ones too, and the mean of its rewards so far: 1/2 before the first.

    Ours: an open play narrows the confidence bound as if its reward were the mean.
    """
    n = state[0][k]
    mean = float(state[1][k]) / policy.unit / n if n > 0 else 0.5
    return n + state[2][k], mean


def unit_of(width: int) -> float:
    """The units in a range of rewards, in which a policy sums them up without rounding.

    ``width``: how many the books count in it. Billionths where they hold a whole number of those
    or where a float in [0, 1] cannot resolve finer units.

    >>> unit_of(10**9), unit_of(10**6), unit_of(3 * 10**9)
    (1000000000.0, 1000000000.0, 3000000000.0)
    """
    return NANO if width > WIDEST or NANO % width == 0 else float(width)


@jittable
def add(policy: object, state: Any, k: int, reward: float) -> None:
    """Count one reward of arm k and add it, in billionths of the range, to its sum."""
    state[0][k] += 1
    state[1][k] += math.floor(reward * NANO + 0.5)


@jittable
def add_units(policy: Any, state: Any, k: int, reward: float) -> None:
    """Count one reward of arm k and add it, in the units of the record, to its exact sum."""
    state[0][k] += 1
    state[1][k] += math.floor(reward * policy.unit + 0.5)
