"""A dask scheduler and workers as processes of their own, on the loopback address alone."""

import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parent


class Processes:
    """A scheduler and its workers; whatever is left of them ends with the block."""

    def __init__(self, folder, paths=(ROOT,), **environ):
        self.folder, self._started = Path(folder), []
        self._environ = {
            **os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False", **environ,
        }  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self._started:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)
            process.wait(10)
            for stream in filter(None, (process.stdout, process.stderr)):
                stream.close()

    def scheduler(self):
        """Start a scheduler; the process, whose address is then known."""
        said = self.folder / "scheduler.json"
        made = self._start("scheduler", "--scheduler-file", said, "--port", "0")
        self.address = json.loads(soon(lambda: said.exists() and said.read_text()))["address"]
        return made

    def worker(self, *python, **environ):
        """Start a worker of one thread; by another Python, or with other variables, if so asked."""
        words = ("worker", self.address, "--nthreads", "1", "--no-nanny")
        return self._start(*words, python=python, **environ)

    def client(self, *words):
        """Start Python with some words."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return self._run([sys.executable, *words], start_new_session=True, **pipes)

    def _start(self, kind, *words, python=(), **environ):
        fixed = ("--host", "127.0.0.1", "--no-dashboard")
        python = python or (sys.executable,)
        words = [*python, "-m", "dask", kind, *map(str, words), *fixed]
        return self._run(words, environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _run(self, words, environ=None, **streams):
        environ = {**self._environ, **(environ or {})}
        made = subprocess.Popen(words, cwd=self.folder, env=environ, text=True, **streams)
        self._started.append(made)
        return made


def without(package, folder):
    """A folder of all that is installed here but a package: a PYTHONPATH for ``python -S``."""
    folder.mkdir()
    for found in Path(sysconfig.get_path("purelib")).iterdir():
        if not found.name.lower().startswith(package) and found.suffix != ".pth":
            (folder / found.name).symlink_to(found)
    return folder


def soon(found, seconds=60):
    """What is found as soon as it is there."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := found():
            return value
        time.sleep(0.02)
    raise AssertionError(f"nothing after {seconds} s")
