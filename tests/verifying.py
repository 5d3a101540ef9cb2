"""Running the verifier, in this process and by its path."""

import subprocess
import sys
from pathlib import Path

from ledgers import lines
from surefoot import verifier
from surefoot.live.entries import exported
from surefoot.verifier import verify

FILE = Path(verifier.__file__)


def proved(store, account="default"):
    """What the verifier, a program of its own, says of an account that it must find right."""
    row = store.account(account)
    report = verify(exported(account, row.places, store.entries(account)), row.head)
    assert report["ok"], report["problems"]
    return report


def problem(rows, head=None):
    """The first problem of a ledger that must not verify."""
    report = verify(rows, head)
    assert not report["ok"]
    assert report["violations"] + report["breaches"] >= 1
    return report["problems"][0]


def run(*words):
    command = [sys.executable, "-I", str(FILE), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


def refused(writer, *said):
    """The newest entry, and nothing before it, is what cannot be."""
    assert verify(lines(writer.entries[:-1]))["ok"]
    first = problem(lines(writer.entries))
    assert first.startswith(f"entry {len(writer.entries)}: ")
    for part in said:
        assert part in first
