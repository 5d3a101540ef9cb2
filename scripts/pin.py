"""Pin every dependency, in requirements.txt (with hashes) and in pyproject.toml (what uv obeys).

python scripts/pin.py            after a change of the dependencies: add and drop pins, move none
python scripts/pin.py --upgrade  move every pin to its newest release
python scripts/pin.py --check    change nothing; fail unless both files and uv's resolution agree
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = ROOT / "pyproject.toml"
REQUIREMENTS = ROOT / "requirements.txt"
UV = os.environ.get("UV", "uv")  # `uv run` names itself there
CONSTRAINTS = re.compile(r"^constraint-dependencies = \[\n(?:    .*\n)*\]$", re.MULTILINE)
RIGS = re.compile(
    r'^    "surefoot-torture",\n|^\[tool\.uv\.(?:workspace|sources)\]\n.+\n', re.MULTILINE
)
PIN = re.compile(r"^[a-z0-9-]+==")


def main() -> int:
    """Do what the command line asks; the exit code is 0 only if everything agrees in the end."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--upgrade", action="store_true")
    choice.add_argument("--check", action="store_true")
    args = parser.parse_args()
    try:
        if not args.check:
            write(upgrade=args.upgrade)
        complaints = disagreements()
    except subprocess.CalledProcessError as failed:  # uv has said why
        return failed.returncode
    print("\n".join(complaints) or f"{len(pins())} pins, and everything agrees with them")
    return 1 if complaints else 0


def write(*, upgrade: bool) -> None:
    """Resolve anew, starting from the pins that requirements.txt has, and write both files."""
    text = PROJECT.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        # Resolved in a folder of its own, so that no path of this machine gets into the file. The
        # rigs in torture/ need nothing but surefoot, and are not there: they are left out.
        bare, pinned = Path(scratch, PROJECT.name), Path(scratch, REQUIREMENTS.name)
        loose = CONSTRAINTS.sub("constraint-dependencies = [\n]", RIGS.sub("", text))
        bare.write_text(loose, encoding="utf-8")
        if REQUIREMENTS.exists():
            pinned.write_text(REQUIREMENTS.read_text(encoding="utf-8"), encoding="utf-8")
        command = [UV, "pip", "compile", bare.name, "--output-file", pinned.name, "--quiet"]
        command += ["--universal", "--generate-hashes", "--no-emit-index-url", "--all-extras"]
        command += ["--custom-compile-command", "python scripts/pin.py"]
        command += [f"--group={group}" for group in groups_of_their_own(text)]
        command += ["--upgrade"] * upgrade
        subprocess.run(command, cwd=scratch, check=True)
        REQUIREMENTS.write_text(pinned.read_text(encoding="utf-8"), encoding="utf-8")
    lines = "".join(f'    "{pin}",\n' for pin in pins())
    block = f"constraint-dependencies = [\n{lines}]"
    PROJECT.write_text(CONSTRAINTS.sub(lambda _: block, text), encoding="utf-8")


def groups_of_their_own(text: str) -> list[str]:
    """The dependency groups that are not just an extra of ours (`--all-extras` covers those)."""
    project = tomllib.loads(text)
    ours = project["project"]["name"]
    groups: dict[str, list[str]] = project["dependency-groups"]
    return [
        name
        for name, needs in groups.items()
        if not any(need.startswith(f"{ours}[") for need in needs)
    ]


def pins() -> list[str]:
    """The pins of requirements.txt as constraints: `name==version ; marker`, without hashes."""
    return [
        line.removesuffix("\\").rstrip()
        for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines()
        if PIN.match(line)
    ]


def disagreements() -> list[str]:
    """What differs between requirements.txt, pyproject.toml and uv.lock, one line each."""
    uv = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["uv"]
    complaints = []
    if uv["constraint-dependencies"] != pins():
        complaints.append("pyproject.toml and requirements.txt differ: run `make pin`")
    subprocess.run([UV, "lock", "--quiet"], cwd=ROOT, check=True)
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    resolved = {
        f"{package['name']}=={package['version']}"
        for package in lock["package"]
        if "registry" in package["source"]
    }
    pinned = {pin.split(" ;")[0] for pin in pins()}
    complaints += [f"{name} is needed but not pinned" for name in sorted(resolved - pinned)]
    complaints += [f"{name} is pinned but not needed" for name in sorted(pinned - resolved)]
    return complaints


if __name__ == "__main__":
    sys.exit(main())
