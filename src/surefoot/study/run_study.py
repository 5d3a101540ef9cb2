"""``sf.run_study``: a study file from Python, on threads or on any executor."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path

from surefoot.simulation.checks import check_progress
from surefoot.study.experiment import steps_of_study
from surefoot.study.files import probe
from surefoot.study.results.store import Store
from surefoot.study.scheduling.executors import Crew, Given, Local
from surefoot.study.scheduling.schedule import Shard
from surefoot.study.toml.study_file import read_study


def run_study(
    file: str | os.PathLike[str],
    executor: Executor | Callable[[], Executor] | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    shard: str | None = None,
    horizon: int | None = None,
    runs: int | None = None,
    seed: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Path:
    """Do the runs of a study file that are missing, and return the folder that holds them.

    ``executor``: any ``concurrent.futures.Executor``, as of loky, mpi4py, executorlib or dask
    (``client.get_executor(pure=False)``), or a function that makes one, which is called again when
    its workers died; it is left open. By default threads of this process, and spawned processes
    for Python of your own. ``out``: by default ``out/`` and the file's name. ``workers``: how many
    tasks are carried out at once; what an executor of ours says is known, for another give it.
    ``resume``, ``overwrite``, ``shard``, ``horizon``, ``runs`` and ``seed`` are the options of
    ``surefoot study run``; the rows are the same whoever does them. ``progress`` is called with
    (runs done, runs). It draws nothing. Raises InvalidInput where the file, or what
    is in the folder, does not fit, and TaskFailed for what could not be carried out; what is
    finished is kept.

    >>> import tempfile, surefoot as sf
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "mine.toml").write_text('surefoot = 1\\nproblem = "cmab"\\nhorizon = 100\\n')
    >>> out = sf.run_study(folder / "mine.toml", runs=2, out=folder / "out")
    >>> sorted(path.name for path in out.iterdir())
    ['log.ndjson', 'runs', 'study.json']

    Holds when: all workers see the same folder ``out``, and have the same versions: one that has
    not is refused before it plays. Does not hold when: a policy of yours reads a clock, or draws
    from a generator of its own.
    """
    path = Path(file)
    folder = Path("out") / path.stem if out is None else Path(out)
    check_progress(progress)
    part = Shard.asked(shard, overwrite=overwrite)
    sweep = read_study(path, horizon=horizon, runs=runs, seed=seed)
    store = Store(folder, sweep, resume=resume, overwrite=overwrite)
    probe(folder)
    crew: Crew = Local(workers) if executor is None else Given(executor, workers)
    try:
        for step in steps_of_study(store, crew=crew, shard=part):
            if progress is not None:
                progress(step.done, step.total)
    finally:
        crew.close()
    return folder
