"""A step of surefoot beside a step of other bandit libraries, as one Markdown table.

    uv run benchmarks/bench_peers.py > benchmarks/PEERS.md

Makes a virtual environment for each library, in a temporary folder (``--venvs DIR`` keeps them for
the next run), installs the library there and has its own Python time it (``peers/_clock.py``):
select, draw a reward, update, with a plain NumPy loop of the same algorithm taking turns with it in
the same process. Read the ratios to that loop: they survive a busy machine. What cannot be
installed is named in the table. Takes about five minutes, most of it downloads.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

ADAPTERS = Path(__file__).parent / "peers"
PATIENCE = 600
"""Seconds that an installation or a measurement may take."""


class Peer(NamedTuple):
    """A library, and what pip is told, call by call."""

    name: str
    installs: tuple[tuple[str, ...], ...]


PEERS = (
    Peer("pymab", (("pymab", "numpy"),)),
    Peer("river", (("river", "numpy"),)),
    # Its last release is of 2019 and uses what numpy 2 and scipy 1.12 removed.
    Peer("SMPyBandits", (
        ("--only-binary", "numpy", "--only-binary", "scipy",
         "SMPyBandits", "numpy<2", "scipy<1.12"),
    )),
    Peer("MABWiser", (("mabwiser", "numpy"),)),
    Peer("coba", (("coba", "numpy"),)),
    # Later releases refuse Python 3.11; without its own requirements, for they include torch.
    Peer("obp", (
        ("--no-deps", "obp==0.4.1"),
        ("matplotlib", "mypy-extensions", "numpy", "pandas", "pyyaml", "scikit-learn", "scipy",
         "seaborn", "tqdm"),
    )),
    Peer("vowpalwabbit", (("vowpalwabbit", "numpy"),)),
)  # fmt: skip
KINDS = ("ucb", "linear")
BASIS = {"ucb": "UCB1, simulation engine", "linear": "LinUCB, simulation engine"}
HEAD = ["library", "version", "runs", "K", "us a step", "least", "/ NumPy loop", "/ our engine",
        "keeps a floor"]  # fmt: skip


class Unavailable(Exception):
    """A library cannot be installed or run here; the message is one line."""


def say(text: str) -> None:
    """Progress."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def call(command: list[str], **options: Any) -> str:
    """The command's output. Raises Unavailable with the last telling line of its errors."""
    try:
        done = subprocess.run(  # noqa: S603  (commands of our own)
            command, stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=False, **options
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"took more than {PATIENCE} s") from None
    if done.returncode:
        raise Unavailable(telling(done.stderr or "") or f"exit code {done.returncode}")
    return str(done.stdout)


def telling(errors: str) -> str:
    """The line of an installer's output that says what is wrong, fit for a table."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    raised = [line for line in lines if re.match(r"\w+Error: ", line)][-1:]
    solver = [line for line in lines if line.startswith("╰─▶")]
    pip = [line for line in lines if line.startswith(("ERROR:", "error:"))]
    found = (raised or solver or pip or lines or [""])[0].lstrip("╰─▶ ")
    return found.replace("|", "/")[:160]


def python_of(peer: Peer, folder: Path) -> str:
    """The Python of a virtual environment that has the library; made if it is not there."""
    home = folder / peer.name.lower()
    python, ready = home / "bin" / "python", home / "ready.json"
    if os.name == "nt":
        python = home / "Scripts" / "python.exe"
    recipe = json.dumps([peer.installs, platform.python_version()])
    if ready.exists() and ready.read_text(encoding="utf-8") == recipe:
        return str(python)
    uv = shutil.which("uv")
    if uv:
        call([uv, "venv", "-q", "--no-project", "--clear", "--python", sys.executable, str(home)],
             stderr=subprocess.PIPE)  # fmt: skip
        installer = [uv, "pip", "install", "-q", "--no-config", "--python", str(python)]
    else:
        call([sys.executable, "-m", "venv", "--clear", str(home)], stderr=subprocess.PIPE)
        installer = [str(python), "-m", "pip", "install", "-q"]
    for packages in peer.installs:
        call([*installer, *packages], stderr=subprocess.PIPE)
    ready.write_text(recipe, encoding="utf-8")
    return str(python)


def measure(name: str, python: str, quick: bool) -> dict[str, Any]:
    """What the adapter of a library printed, run by that Python on one thread."""
    threads = ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON")
    out = call(
        [python, "-I", str(ADAPTERS / "_clock.py"), str(ADAPTERS / f"{name.lower()}.py"),
         *(["--quick"] if quick else [])],
        env={**os.environ, **{f"{name}_NUM_THREADS": "1" for name in threads}},
    )  # fmt: skip
    found: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    return found


def survey(peers: list[Peer], folder: Path, quick: bool) -> dict[str, dict[str, Any]]:
    """Figures by library, or why there are none; ours first."""
    say("surefoot")
    results = {"surefoot": measure("surefoot", sys.executable, quick)}
    if "missing" in results["surefoot"]:
        sys.exit(f"surefoot {results['surefoot']['missing']}")
    for number, peer in enumerate(peers, start=1):
        say(f"{peer.name} ({number} of {len(peers)}): installing")
        try:
            python = python_of(peer, folder)
        except Unavailable as reason:
            say(f"    not installable here: {reason}")
            results[peer.name] = {"missing": f"not installable here: {reason}"}
            continue
        try:
            results[peer.name] = measure(peer.name, python, quick)
        except Unavailable as reason:
            say(f"    does not run here: {reason}")
            results[peer.name] = {"missing": f"does not run here: {reason}"}
    return results


def rows(results: dict[str, dict[str, Any]], kind: str) -> Iterator[list[str]]:
    """The lines of the table for one kind of problem."""
    ours = [row for row in results["surefoot"]["rows"] if row["what"] == BASIS[kind]]
    basis = {row["K"]: row["us"] for row in ours}
    for row in ours:
        loop = row["loop_us"]
        yield ["NumPy", results["surefoot"]["numpy"], "the textbook loop", str(row["K"]),
               shown(loop), "-", "1", shown(loop / row["us"]), "no"]  # fmt: skip
    for name, result in results.items():
        for row in result.get("rows", []):
            if row["kind"] == kind:
                engines = row["us"] / basis.get(row["K"], math.nan)
                guarded = "yes" if row["what"].startswith("GenCB") else "no"
                yield [name, result["version"], row["what"], str(row["K"]), shown(row["us"]),
                       shown(row["min"]), shown(row["ratio"]), shown(engines), guarded]  # fmt: skip
        for row in result.get("failed", []):
            if row["kind"] == kind:
                yield [name, result["version"], f"{row['what']}: {row['error']}", str(row["K"]),
                       *["-"] * 5]  # fmt: skip
        if "missing" in result and kind == "ucb":
            yield [name, "-", result["missing"], *["-"] * 6]


def shown(number: float) -> str:
    """Three digits that matter, no exponent."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def loops(results: dict[str, dict[str, Any]], kind: str) -> str:
    """How long the NumPy loop itself took, from process to process."""
    times = [row["loop_us"] for result in results.values() for row in result.get("rows", [])
             if row["kind"] == kind]  # fmt: skip
    return f"{min(times):.1f}-{max(times):.1f}"


def page(results: dict[str, dict[str, Any]]) -> str:
    """The whole text."""
    lines = [HEAD, ["---"] * len(HEAD), *(row for kind in KINDS for row in rows(results, kind))]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    searched = ", ".join(
        f"{name} {len(result['mentions'])}"
        for name, result in results.items() if name != "surefoot" and "mentions" in result
    )  # fmt: skip
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    made = (
        f"Written by `benchmarks/bench_peers.py` on {datetime.now(UTC):%d %B %Y}: one thread of "
        f"{cores} cores, {platform.machine()}, {platform.system()}, Python "
        f"{platform.python_version()}."
    )
    meaning = (
        "A step is select, draw a Bernoulli reward, update; CPU time in us, median and least of "
        "repeated batches. The NumPy loop is the textbook algorithm (UCB1 "
        f"{loops(results, 'ucb')} us; LinUCB with K = 14, d = 7 {loops(results, 'linear')} us, by "
        "process), which takes turns with each contender in its process; the ratio is "
        "the median of those of the turns. Our engine is the row of UCB1 or of LinUCB, simulation "
        "engine, T = 1,000,000: without a floor, as the peers are. GenCB keeps alpha = .05 in the "
        "engine, where default plays are cheap steps, and .95 live, so that nearly every step asks "
        "the policy; live after `surefoot.warmup()`. The engine and pymab's "
        "Experiment draw their own rewards and record the path. A disjoint LinUCB is another model "
        "of the same size."
    )
    floors = (
        "Keeps a floor: holds the reward above a share of a default's on every path. No peer "
        f'documents such a check. Lines of the installed libraries that say "conservativ": '
        f"{searched}; at the time of writing they speak of estimates and detectors, not of a floor."
    )
    parts = ["# Beside other libraries", made, meaning, table, floors]
    return "\n\n".join(x if x == table else textwrap.fill(x, 100) for x in parts) + "\n"


def main() -> None:
    """Measure, and write the page to the terminal."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--venvs", type=Path, help="keep the virtual environments in this folder")
    parser.add_argument("--json", type=Path, help="write the raw figures to this file")
    parser.add_argument("--quick", action="store_true", help="a fifth of the time, rougher")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these libraries only")
    options = parser.parse_args()
    known = {peer.name.lower(): peer for peer in PEERS}
    wanted = [name.lower() for name in options.only or known]
    if unknown := [name for name in wanted if name not in known]:
        parser.error(f"no peer is called {', '.join(unknown)}; known: {', '.join(known)}")
    peers = [known[name] for name in wanted]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the folder goes away then, too
    with tempfile.TemporaryDirectory(prefix="peers-") as temporary:
        folder = Path(temporary) if options.venvs is None else options.venvs.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        results = survey(peers, folder, options.quick)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(page(results))


if __name__ == "__main__":
    main()
