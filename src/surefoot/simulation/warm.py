"""Whether the engine still has to compile, and compiling ahead of the first run.

Numba tells afterwards what it compiled; a marker file beside what is kept tells before.
"""

from __future__ import annotations

import sys
from contextlib import suppress

from surefoot import _compile
from surefoot._kernel_text import digest
from surefoot.simulation.compiled import PLAIN, Engine
from surefoot.simulation.plan import Plan

_READY: set[str] = set()  # in this process, cached or not


def warm(plan: Plan, engine: Engine) -> bool:
    """Whether every loop this plan runs is compiled: in this process, or in the cache."""
    if engine is PLAIN:
        return True
    folder = _compile.cache_folder(read_only=True)
    return all(
        marker in _READY or (folder is not None and (folder / marker).exists())
        for marker in _markers(plan)
    )


def compile_ahead(plan: Plan, engine: Engine) -> None:
    """Load or compile every loop this plan runs, by one play of it, and note that it is done.

    What is missing in the cache takes seconds; what is there, tenths of one.
    """
    markers = _markers(plan)
    if engine is PLAIN or _READY.issuperset(markers):
        return
    agents = {name: plan.agents[name] for name in markers.values()}
    Plan(agents, plan.environment, 1, seed=0).run(0, engine)
    _READY.update(markers)
    folder = _compile.cache_folder()
    if folder is not None:
        for marker in markers:
            with suppress(OSError):  # it is only told again that something is compiled
                (folder / marker).touch()


def _markers(plan: Plan) -> dict[str, str]:
    """One name for each combination that numba specialises the loops on, and an agent with it.

    Those are the parameter records of policy and environment, and the kind of floor.
    """
    import llvmlite.binding as llvm  # type: ignore[import-untyped]
    import numba

    draws = type(plan.environment.record).__name__
    builder = f"{sys.implementation.cache_tag}-{numba.__version__}-{llvm.get_host_cpu_name()}"
    found = {}
    for walk, names in plan.paths:
        for name in names:
            floor = type(plan.agents[name].floor).__name__
            foreign = digest(walk.kind, type(plan.environment.record))[:16]
            found[f"ready-{walk.kind.__name__}-{floor}-{draws}-{builder}-{foreign}"] = name
    return found
