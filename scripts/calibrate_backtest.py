"""Calibrate `sf.backtest` on logs whose truth is known, and hold it to what it claims.

    uv run scripts/calibrate_backtest.py                      # prints the table
    uv run scripts/calibrate_backtest.py --write docs/explanation/backtests.md

New logs are drawn of five kinds in which all arms pay the same, and of five in which they do not;
each is backtested, and one of each kind once more by the command. `--seed` draws other logs. It
exits with 1 unless

- "pays" is said of at most 5 % of the equal logs, plus 2 standard errors,
- their mean gain is not above 0 by more than 2.5 standard errors,
- of the others the true gain lies in the interval in at least 90 %, and
- one arm that pays 30 % more is found in 9 logs of 10;

and unless a plug-in, put in the backtest's place, fails: the gain that the log itself shows, its
interval that of the runs.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from math import sqrt
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import surefoot as sf
from surefoot.simulation.loop import DEFAULTS, MEAN, T
from surefoot.study.logs.worlds import GUARDED

Floats = npt.NDArray[np.float64]
Pay = Callable[[np.random.Generator, int, float], Floats]
"""So many rewards of an arm whose mean is so many times the default's."""

PLAYS = 5_000
ALPHA = 0.05
ARMS = "abcde"
UNEVEN = (80, 5, 5, 5, 5)
TRUE_RUNS = 20
TRUE_ROWS = 200_000
MINUS = "\N{MINUS SIGN}"
BEGIN, END = "<!-- calibration -->", "<!-- calibration ends -->"


def flips(mean: float) -> Pay:
    """Rewards of 1 or 0."""
    return lambda rng, rows, lift: (rng.random(rows) < mean * lift).astype(float)


def revenue(rng: np.random.Generator, rows: int, lift: float) -> Floats:
    """Orders in two of a hundred visits, most of them small."""
    paid = np.round(np.exp(rng.normal(3.0, 0.8, rows)), 2)
    return np.where(rng.random(rows) < 0.02 * lift, np.minimum(paid, 500.0), 0.0)


def refunds(rng: np.random.Generator, rows: int, lift: float) -> Floats:
    """Three of ten buy, one in ten of those sends it back at a loss."""
    bought, back = rng.random(rows) < 0.3 * lift, rng.random(rows) < 0.1
    return np.where(bought, np.where(back, -8.0, np.round(rng.uniform(5, 15, rows), 2)), 0.0)


@dataclass(frozen=True)
class Kind:
    """A way to draw logs."""

    name: str
    rows: int
    shares: Sequence[float]
    pay: Pay
    lifts: Sequence[float] = (1, 1, 1, 1, 1)
    """Each arm's mean over that of the first, the default."""

    @property
    def equal(self) -> bool:
        """Whether all arms pay the same."""
        return set(self.lifts) == {1}

    def log(self, rng: np.random.Generator) -> dict[str, list[Any]]:
        """A log whose arms are chosen by their shares; each has a row, the default two."""
        drawn = rng.choice(5, self.rows - 6, p=np.array(self.shares) / sum(self.shares))
        arms = rng.permutation(np.append(drawn, [0, 0, 1, 2, 3, 4]))
        rewards = np.zeros(self.rows)
        for arm, lift in enumerate(self.lifts):
            rewards[arms == arm] = self.pay(rng, int((arms == arm).sum()), lift)
        return {"arm": [ARMS[arm] for arm in arms], "reward": rewards.tolist()}


KINDS = (
    Kind("equal .5, even shares", 5_000, (1, 1, 1, 1, 1), flips(0.5)),
    Kind("equal .5, 80/5/5/5/5", 5_000, UNEVEN, flips(0.5)),
    Kind("equal clicks of .03, 80/5/5/5/5", 20_000, UNEVEN, flips(0.03)),
    Kind("equal revenue, 98 % zeros", 20_000, UNEVEN, revenue),
    Kind("equal sales with refunds", 5_000, UNEVEN, refunds),
    Kind("equal .5, few rows, 97/.75", 2_000, (97, 0.75, 0.75, 0.75, 0.75), flips(0.5)),
    Kind("one arm +30 % on .5, even", 5_000, (1, 1, 1, 1, 1), flips(0.5), (1, 1, 1.3, 1, 1)),
    Kind("one arm +50 % on .03", 20_000, UNEVEN, flips(0.03), (1, 1, 1.5, 1, 1)),
    Kind("one arm +10 % on .5", 5_000, UNEVEN, flips(0.5), (1, 1, 1.1, 1, 1)),
    Kind("all worse than .5", 5_000, UNEVEN, flips(0.5), (1, 0.8, 0.85, 0.9, 0.9)),
    Kind("+20 % on 1 % of the rows", 5_000, (70, 20, 6, 3, 1), flips(0.3), (1, 1, 1, 1, 1.2)),
)
FOUND = "one arm +30 % on .5, even"
"""The kind whose good arm must be found."""


class Estimate(NamedTuple):
    """What is claimed of one log, in shares of always the default."""

    mean: float
    low: float
    high: float
    pays: bool


class Tried(NamedTuple):
    """One log, what is claimed of it, and what is true."""

    kind: str
    honest: Estimate
    plug_in: Estimate
    true: float


def tried(job: tuple[int, int, int]) -> Tried:
    """Draw a log of a kind and backtest it: (number of the kind, number of the log, seed)."""
    which, number, seed = job
    kind = KINDS[which]
    rng = np.random.default_rng([seed, which, number])
    found = sf.backtest(kind.log(rng), "a", ALPHA, horizon=PLAYS, seed=number, workers=1)
    assert isinstance(found, sf.Backtest)  # of a log without contexts
    always, gain = found.always_default, found.gain
    honest = Estimate(gain.mean, gain.low, gain.high, found.verdict == "pays")
    runs = found.measure(GUARDED, "gain")[:, -1]
    low, high = np.quantile(runs, [0.025, 0.975])
    plug_in = Estimate(float(runs.mean()), float(low), float(high), bool(low > 0))
    true = 0.0 if kind.equal else truth(kind, found.runs.value, found.runs.floor.reward_range, rng)
    shares = _share(honest, always), _share(plug_in, always)
    return Tried(kind.name, shares[0], shares[1], true / always)


def _share(one: Estimate, always: float) -> Estimate:
    return Estimate(one.mean / always, one.low / always, one.high / always, one.pays)


def truth(
    kind: Kind, value: Decimal, bounds: tuple[Decimal, Decimal], rng: np.random.Generator
) -> float:
    """What this guarded agent gains in the world that the log came from."""
    samples = [kind.pay(rng, TRUE_ROWS, lift) for lift in kind.lifts]
    table = {
        "arm": np.repeat(list(ARMS), TRUE_ROWS).tolist(),
        "reward": np.concatenate(samples).tolist(),
    }
    world = sf.ReplayLog(table, "a", reward_range=bounds)
    agent = sf.GenCB(sf.KLUCB(arms=world.arms), sf.RewardFloor(value, ALPHA, bounds))
    result = sf.simulate({"one": agent}, world, PLAYS, TRUE_RUNS, seed=int(rng.integers(2**32)))
    gains = []
    for run in result.runs.values():
        books, losses = run["one"].books[-1], run["one"].losses[-1]
        gains.append(losses[MEAN] - (books[T] - books[DEFAULTS]) * float(samples[0].mean()))
    return float(np.mean(gains))


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share.

    >>> [round(end, 3) for end in wilson(1, 60)]
    [0.003, 0.089]
    """
    z, p = 1.96, hits / of
    middle, half = p + z * z / (2 * of), z * sqrt(p * (1 - p) / of + z * z / (4 * of * of))
    return (middle - half) / (1 + z * z / of), (middle + half) / (1 + z * z / of)


class Held(NamedTuple):
    """One thing that must hold, and whether it does."""

    what: str
    measured: str
    holds: bool


def held(all_tried: Sequence[Tried], which: Callable[[Tried], Estimate]) -> list[Held]:
    """What must hold of a way to estimate; ``which`` picks it."""
    equal = {kind.name for kind in KINDS if kind.equal}
    alike = [which(one) for one in all_tried if one.kind in equal]
    others = [(which(one), one.true) for one in all_tried if one.kind not in equal]
    good = [which(one) for one in all_tried if one.kind == FOUND]
    claims = sum(one.pays for one in alike)
    most = len(alike) * (0.05 + 2 * sqrt(0.05 * 0.95 / len(alike)))
    gains = np.array([one.mean for one in alike])
    error = float(gains.std(ddof=1)) / sqrt(len(gains))
    mean = f"{100 * gains.mean():+.2f} ± {100 * error:.2f} %"
    covered = sum(one.low <= true <= one.high for one, true in others)
    found = sum(one.pays for one in good)
    return [
        Held('equal arms: "pays"', _of(claims, len(alike)), claims <= most),
        Held("equal arms: mean gain", mean.replace("-", MINUS), bool(gains.mean() <= 2.5 * error)),
        Held(
            "unequal arms: truth covered", _of(covered, len(others)), covered >= 0.9 * len(others)
        ),
        Held("+30 % found", _of(found, len(good)), found >= 0.9 * len(good)),
    ]  # fmt: skip


def _of(hits: int, of: int) -> str:
    low, high = wilson(hits, of)
    return f"{hits} of {of} ({100 * low:.1f} to {100 * high:.1f} %)"


def table(all_tried: Sequence[Tried]) -> str:
    """The measured table as Markdown."""
    head = (
        '| log (rows) | true gain | gain | "pays" | truth in the interval | plug-in: gain | '
        '"pays" |'
    )
    lines = [head, "| --- |" + " --- |" * 6]
    for kind in KINDS:
        own = [one for one in all_tried if one.kind == kind.name]
        covered = sum(one.honest.low <= one.true <= one.honest.high for one in own)
        means = [
            np.mean([one.true for one in own]), np.mean([one.honest.mean for one in own]),
            np.mean([one.plug_in.mean for one in own]),
        ]  # fmt: skip
        true, gain, plain = (f"{100 * mean:+.1f} %".replace("-", MINUS) for mean in means)
        pays, claims = (sum(getattr(one, way).pays for one in own) for way in Tried._fields[1:3])
        lines.append(
            f"| {kind.name} ({kind.rows:,}) | {'0' if kind.equal else true} | {gain} | "
            f"{pays} of {len(own)} | {covered} of {len(own)} | {plain} | {claims} of {len(own)} |"
        )
    lines += ["", "| must hold | backtest | plug-in |", "| --- | --- | --- |"]
    pairs = zip(
        held(all_tried, lambda one: one.honest), held(all_tried, lambda one: one.plug_in),
        strict=True,
    )  # fmt: skip
    for pair in pairs:
        marks = [one.measured + ("" if one.holds else ", **fails**") for one in pair]
        lines.append(f"| {pair[0].what} | {marks[0]} | {marks[1]} |")
    return "\n".join(lines)


def verdicts(all_tried: Sequence[Tried]) -> list[str]:
    """What does not hold of the backtest, or holds of the plug-in."""
    wrong = [
        f"{one.what}: {one.measured}"
        for one in held(all_tried, lambda one: one.honest)
        if not one.holds
    ]
    if all(one.holds for one in held(all_tried, lambda one: one.plug_in)):
        wrong.append("a plug-in in its place is not told from it")
    return wrong


def by_the_command(seed: int) -> Iterator[str]:
    """Backtest one log of each kind by the command too; yields what differs from the function."""
    with tempfile.TemporaryDirectory() as folder:
        for which, kind in enumerate(KINDS):
            log = kind.log(np.random.default_rng([seed, which, 0]))
            path = Path(folder) / f"log{which}.csv"
            with path.open("w", newline="") as file:
                csv.writer(file).writerows([list(log), *zip(*log.values(), strict=True)])
            done = subprocess.run(
                [
                    sys.executable, "-m", "surefoot", "replay", str(path), "--default", "a",
                    "--alpha", str(ALPHA), "--horizon", str(PLAYS), "--seed", "0", "--json",
                    "--out", str(Path(folder) / str(which)),
                ],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode != 0:
                yield f"{kind.name}: the command left with {done.returncode}: {done.stderr[-300:]}"
                continue
            said = json.loads(done.stdout)
            found = sf.backtest(log, "a", ALPHA, horizon=PLAYS, seed=0)
            own = found.summary()
            if (said["verdict"], said["gain"]) != (own["verdict"], own["gain"]):
                yield f"{kind.name}: the command says {said['gain']}, sf.backtest {own['gain']}"


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and say what does not hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--logs", type=int, default=20, help="logs of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", type=Path, help="a page whose generated block is renewed")
    parser.add_argument("--no-command", action="store_true", help="sf.backtest only")
    given = parser.parse_args(words)
    jobs = [(which, n, given.seed) for n in range(given.logs) for which in range(len(KINDS))]
    with ProcessPoolExecutor(given.processes, mp_context=get_context("spawn")) as pool:
        all_tried = list(pool.map(tried, jobs))
    measured = table(all_tried)
    print(measured)
    wrong = verdicts(all_tried)
    if not given.no_command:
        wrong += by_the_command(given.seed)
    for line in wrong:
        print(line, file=sys.stderr)
    if given.write:
        page = given.write.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN)
        after = rest.split(END)[1]
        given.write.write_text(f"{before}{BEGIN}\n\n{measured}\n\n{END}{after}", encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
