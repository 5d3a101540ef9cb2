"""How a task is begun on a worker: a thread, or a process that has one core for it.

Imported before numpy and polars are: what they take from the environment is set here first.
"""

from __future__ import annotations

import os
import signal
import socket
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from surefoot._types import JsonObject
from surefoot.errors import SurefootError, TaskFailed
from surefoot.study.own_code import line

Work: TypeAlias = Callable[..., JsonObject]
"""Carries out a task; called with the task, and maybe with a function that says when to stop."""
ONE_THREAD = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS",
)  # fmt: skip
"""What a worker has at "1" before it imports numpy or polars: there are as many as cores."""
_FLAG: list[Any] = []
"""In a spawned process: what says that it is to stop."""
_LOOK = 0.5
"""Seconds between two looks at whether it is to stop."""


def carry_out(task: JsonObject, *stopped: Callable[[], bool]) -> JsonObject:
    """As ``tasks.carry_out``, which is imported where it is carried out."""
    from surefoot.study.scheduling import tasks

    return tasks.carry_out(task, *stopped)


def begin(flag: Any, grace: float) -> None:
    """Begin a spawned process, whose tasks are to stop when ``flag`` says so.

    ``grace``: seconds in which it may end what it does then.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends Ctrl-C to all; one sees to it
    _alone()
    _FLAG[:] = [flag]
    aside()
    threading.Thread(target=_leave, args=(flag, os.getppid(), grace), daemon=True).start()


def aside() -> None:
    """Let what the user's own Python prints go to stderr: stdout is the client's, for its JSON."""
    with suppress(OSError, AttributeError):
        sys.stdout.flush()
        os.dup2(2, 1)


def _leave(flag: Any, parent: int, grace: float) -> None:
    """End this process some time after it is to stop, or its parent died, whatever it does.

    A policy of the user's own may hang, and is asked nothing between two plays then. What it was
    about to write is a draft that nobody reads.
    """
    while not flag.value and os.getppid() == parent:
        time.sleep(_LOOK)
    time.sleep(grace)
    os._exit(1)


def dask_setup(worker: object) -> None:
    """Begin a process of a cluster on this machine: dask calls it, by this name."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in ``begin``
    aside()
    if hasattr(os, "setpgid"):  # polars would see it nevertheless, and dask print what it raises
        os.setpgid(0, 0)


def in_process(work: Work, task: JsonObject) -> JsonObject:
    """Carry out a task in a spawned process."""
    return _placed(work, task, lambda: bool(_FLAG[0].value))


def at_work(work: Work, home: str, task: JsonObject) -> JsonObject:
    """Carry out a task on a worker of whatever executor; ``home``: the host that sent it.

    Elsewhere compiled kernels are kept on the worker's own disk, unless SUREFOOT_CACHE says where:
    a cluster's home folders are mostly on one file server.
    """
    _alone()
    if socket.gethostname() != home and "SUREFOOT_CACHE" not in os.environ:
        folder = node_folder()
        if folder is not None:
            os.environ["SUREFOOT_CACHE"] = str(folder)
    return _placed(work, task)


def node_folder() -> Path | None:
    """A folder for compiled kernels that is on this machine's own disk; None where there is none.

    What is kept there is code: the folder is the user's own, and nobody else can write to it.
    """
    if not hasattr(os, "getuid"):
        return None
    folder = Path(tempfile.gettempdir()) / f"surefoot-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return folder if mine and not found.st_mode & 0o022 else None


def _alone() -> None:
    """What is set already stays, and so do libraries that were imported before."""
    for name in ONE_THREAD:
        os.environ.setdefault(name, "1")


def _placed(work: Work, task: JsonObject, *stopped: Callable[[], bool]) -> JsonObject:
    """Carry out a task; what goes wrong is said in one line that can be sent anywhere."""
    host = socket.gethostname()
    try:
        return work(task, *stopped)
    except ModuleNotFoundError as error:
        if isinstance(error, SurefootError):
            raise TaskFailed(f"on {host}: {line(error)}") from None
        name = error.name or line(error)
        raise TaskFailed(f"module {name!r} is missing on {host}; install it there") from None
    except (SurefootError, KeyboardInterrupt):
        raise
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        raise TaskFailed(f"on {host}: {error.strerror or line(error)}{where}") from None
    except Exception as error:  # noqa: BLE001  # it has to be read where its class is unknown
        raise TaskFailed(f"a task failed on {host}: {line(error)}") from None
