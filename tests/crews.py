"""Tasks for crews: they sleep, note that they were done, and some of them kill their worker."""

import json
import os
import signal
import socket
import time
from pathlib import Path

from surefoot.study.scheduling.schedule import Job


def job(folder, name="a", runs=10, seconds=0.0, panels=1, kind=None, foreign=False, **when):
    """A job of some runs, each a line in a file of its own.

    ``fatal``: runs that kill their worker; ``once``: the same, but the first time only; ``fails``:
    runs that raise; ``deaf``: whether it goes on when it is to stop.
    """
    task = {
        "folder": str(folder), "name": name, "first": 0, "last": runs - 1, "seconds": seconds,
        "panels": [{}] * panels, "fatal": [], "once": [], "fails": [], "deaf": False, **when,
    }  # fmt: skip
    return Job(name, kind or name, [task], foreign)


def work(task, stopped=lambda: False):
    """Do the runs of a task, and leave a file; a task that was done already does nothing."""
    folder, runs = Path(task["folder"]), range(task["first"], task["last"] + 1)
    part = folder / f"{task['name']}-{task['first']:04d}-{task['last']:04d}"
    marker = part.with_suffix(".died")
    if set(runs) & set(task["fatal"]) or (set(runs) & set(task["once"]) and not marker.exists()):
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if set(runs) & set(task["fails"]):
        raise ValueError(f"bad run\n{task['first']}")
    end = time.monotonic() + task["seconds"] * len(runs)
    while time.monotonic() < end and (task["deaf"] or not stopped()):
        time.sleep(min(0.01, max(0, end - time.monotonic())))
    part.write_text(json.dumps(list(runs)))
    return {"runs": len(runs), "seconds": task["seconds"] * len(runs), "host": socket.gethostname()}


def finished(folder):
    """name -> the runs that are finished, each as often as it was done."""
    found = {}
    for part in sorted(Path(folder).glob("*-????-????")):
        found.setdefault(part.name.split("-")[0], []).extend(json.loads(part.read_text()))
    return {name: sorted(runs) for name, runs in found.items()}
