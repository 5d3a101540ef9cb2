"""How a task is begun in a process of its own, which has one core for it."""

from __future__ import annotations

import os

from surefoot._types import JsonObject

ONE_THREAD = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS",
)  # fmt: skip
"""What a worker has at "1" before it imports numpy or polars: there are as many as cores."""


def carry_out(task: JsonObject) -> JsonObject:
    """As ``tasks.carry_out``, for a process that does nothing else.

    What is set already stays, and so do libraries that were imported before.
    """
    for name in ONE_THREAD:
        os.environ.setdefault(name, "1")
    from surefoot.study import tasks

    return tasks.carry_out(task)
