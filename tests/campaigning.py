"""Running a campaign, in a process of its own: it forks, which a process of the tests must not."""

import json
import subprocess
import sys

COMMAND = [sys.executable, "-m", "surefoot_torture", "processes"]


def begun(*words):
    command = [*COMMAND, "--json", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process):
    """The report of a campaign that found nothing wrong."""
    out, err = process.communicate()
    assert out, err
    report = json.loads(out)
    assert (report["problems"], report["ok"], process.returncode) == ([], True, 0)
    return report


def campaign(*words):
    return ended(begun(*words))
