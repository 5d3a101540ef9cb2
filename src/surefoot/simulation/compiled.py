"""The compiled engine: which loop drives which policy, and teaching numba what they call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from surefoot._compile import compiling
from surefoot.environments import _kernels as draws
from surefoot.environments import _timing as timing
from surefoot.kernels import registry as policies
from surefoot.kernels.warm import entry, teach
from surefoot.simulation import loop, mean_variance, several, waiting
from surefoot.simulation.fast import c2ucb, chunks, clucb, curves, gram, kinetic, lazy_index, linucb


class Driver(NamedTuple):
    """How the turns of a base path are taken."""

    init: Callable[..., Any]
    """(policy, n_arms) -> tuple of flat lists, the state."""
    walk: Callable[..., None]
    """As ``loop.base_path``."""


class Engine(NamedTuple):
    """The loops of the engine in one of their forms, and what they run on."""

    driver: Callable[[type], Driver]
    """By the class of the policy's record."""
    survey: Callable[..., None]
    """Called once for each full block; see ``chunks``."""
    interleave: Callable[..., None]
    interleave_moments: Callable[..., bool]
    measure: Callable[..., None]
    """As ``several.measure``, and the next as ``several.interleave_several``."""
    interleave_several: Callable[..., None]
    go: Callable[..., None]
    """As ``waiting.go``."""
    array: Callable[[list[Any]], Any]
    """From a list of numbers to what the loops read and write."""
    zeros: Callable[[int, type], Any]
    """So many zeros, ints or floats."""
    word: Callable[[int], Any]
    """From an int to the 64 bits of a noise key."""


_PLAIN = Driver(policies.init, loop.base_path)
PLAIN = Engine(
    lambda record: _PLAIN, lambda block, pledged, moments: None, loop.interleave,
    mean_variance.interleave_moments, several.measure, several.interleave_several, waiting.go, list,
    lambda size, kind: [kind()] * size, int,
)  # fmt: skip
"""The text itself, in plain Python: what every faster form is held against."""


def engine() -> Engine:
    """The loops, compiled; each combination of policy and environment on its first call."""
    import numba

    settings: Any = numba.config
    if settings.DISABLE_JIT:  # by NUMBA_DISABLE_JIT, for debugging: njit would change nothing
        return PLAIN
    with compiling() as njit:
        return _compiled(njit)


_ENGINES: list[Engine] = []


def _compiled(njit: Callable[..., Any]) -> Engine:
    if not _ENGINES:
        _teach()
        plain = Driver(policies.init, njit(loop.base_path))
        of_lines = Driver(kinetic.init, njit(kinetic.walk))
        of_curves = Driver(curves.init, njit(curves.walk))
        of_indices = Driver(policies.init, njit(lazy_index.walk))
        of_forms = {
            "ridge": Driver(gram.init, njit(linucb.walk)),
            "ridge of super arms": Driver(gram.init, njit(c2ucb.walk)),
            "ridge bounds": Driver(clucb.init, njit(clucb.walk)),
            "ridge bounds of super arms": Driver(clucb.init, njit(clucb.walk_super_arms)),
        }

        def driver(record: type) -> Driver:
            """The fastest that suits the kernels of a record; all of them decide alike."""
            if record in policies.LINE_KERNELS:
                return of_lines
            if record in policies.CURVE_KERNELS:
                return of_curves
            if record in policies.INDEX_KERNELS:
                return of_indices
            known = policies.KERNELS.get(record)
            return plain if known is None else of_forms.get(known.form, plain)

        _ENGINES.append(Engine(
            driver, njit(chunks.survey),
            njit(chunks.interleave_chunks), njit(chunks.interleave_moment_chunks),
            njit(several.measure), njit(several.interleave_several),
            njit(waiting.go),
            np.array, np.zeros, np.uint64,
        ))  # fmt: skip
    return _ENGINES[0]


def _teach() -> None:
    """Give numba the choice of an environment's draw."""
    from numba.extending import overload

    teach()

    @overload(draws.draw, strict=False)
    def _draw(environment: Any, key: Any, turn: Any, arm: Any) -> Any:
        return entry(draws.DRAWS, environment)

    # By the class of the record: arms that drift have a text of their own, all others stay.
    @overload(timing.draw_at, strict=False)
    def _draw_at(environment: Any, key: Any, turn: Any, arm: Any, play: Any) -> Any:
        drift = entry(timing.DRIFTS, environment)
        if drift is not None:
            return drift.draw
        return lambda environment, key, turn, arm, play: draws.draw(environment, key, turn, arm)

    @overload(timing.mean_at, strict=False)
    def _mean_at(environment: Any, means: Any, arm: Any, play: Any) -> Any:
        drift = entry(timing.DRIFTS, environment)
        if drift is not None:
            return drift.mean
        return lambda environment, means, arm, play: means[arm]

    @overload(timing.best_at, strict=False)
    def _best_at(environment: Any, means: Any, best: Any, play: Any) -> Any:
        if entry(timing.DRIFTS, environment) is None:
            return lambda environment, means, best, play: best
        return lambda environment, means, best, play: timing.foremost(environment, means, play)
