"""``surefoot study better``: other policies under the paper's floors, against those it printed.

The paper's panels, with the arms shuffled in each run, and for linear policies instances that no
policy was tuned on. What is compared shares its arms, its noise and the run's number.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import _compile
from surefoot._types import JsonObject
from surefoot.errors import DamagedFile, InvalidInput
from surefoot.simulation import Result
from surefoot.simulation.checks import positive
from surefoot.study import files
from surefoot.study.better.rivals import NAMED, PRINTED, Rival, guarded, rivals
from surefoot.study.files import FORMATS, read_json, require, versions, write_json
from surefoot.study.numbers import Array
from surefoot.study.panel import Panel
from surefoot.study.problems import MAIN, PROBLEMS, LinearPanel
from surefoot.study.results.cells import DECIDE
from surefoot.study.runs import Step, Traces, key, perform
from surefoot.study.shuffled import Field, ShuffledPlan
from surefoot.study.sweep import Sweep, paper, read

SEED = 20261129
"""Not used while any policy was made or tuned."""
RUNS = 50
INSTANCES = 16
MOST_INSTANCES = 1_000
INSTANCE_RUNS = 10
"""Of each fresh instance; less where the study itself has less."""
DIMENSIONS = (5, 7, 9)
LINEAR = ("clb", "cccb")
MEASURES = ("regret", "default_plays", "violating_rounds", "minimum_slack")
"""What is kept of each run: the numbers at the horizon."""
FILES = ("better.json", "better.html", *(f"better.{ending}" for ending in FORMATS))
PARTS, MANIFEST = "better-runs", "made-by.json"
AGAIN = " again"
"""What follows the name of a policy that plays a second time, on other arms and other noise."""

Figures = dict[str, dict[str, dict[str, Array]]]
"""panel -> policy -> measure -> one number a run."""


@dataclass(frozen=True)
class Group:
    """Panels that are run together: they differ in alpha only."""

    panels: Sequence[Panel]
    runs: int
    again: bool = False
    """Whether it is the second time, for what is compared with itself."""
    fresh: bool = False
    """Whether it is an instance that the paper's panels do not have."""

    @property
    def problem(self) -> str:
        """The problem of all its panels."""
        return self.panels[0].problem

    @property
    def name(self) -> str:
        """The folder of its runs."""
        return self.panels[0].group + self._instance + AGAIN.replace(" ", "-") * self.again

    @property
    def _instance(self) -> str:
        first = self.panels[0]
        return f"-instance{first.instance}" if self.fresh and isinstance(first, LinearPanel) else ""

    def called(self, panel: Panel) -> str:
        """The name of one of its panels."""
        return panel.name + self._instance

    def plan(self, seed: int) -> ShuffledPlan:
        """What is run; the second time the arms, the noise and the policies' draws are others."""
        first = self.panels[0]
        arms: Any = first.environment()
        return ShuffledPlan(self._field(), arms, first.horizon, [seed, int(self.again)])

    def players(self) -> list[Rival]:
        """The policies that play."""
        chosen = {PRINTED, NAMED}
        return [one for one in rivals(self.problem) if one.role in chosen or not self.again]

    def _field(self) -> Field:
        return lambda environment: {
            key(one.name, panel): guarded(one.make(panel, environment), panel)
            for panel in self.panels
            for one in self.players()
        }

    def seats(self) -> dict[str, tuple[str, str]]:
        """agent -> the panel and the policy that its numbers are of, in order."""
        return {
            key(one.name, panel): (self.called(panel), one.name + AGAIN * self.again)
            for panel in self.panels
            for one in self.players()
        }

    def rows(self, plan: ShuffledPlan, run: int, traces: Traces) -> list[JsonObject]:
        """The numbers of one run at the horizon."""
        result = Result(plan, {run: traces})
        return [
            {
                "panel": panel,
                "policy": policy,
                **{m: result.measure(agent, m)[0, -1].item() for m in MEASURES},
            }
            for agent, (panel, policy) in self.seats().items()
        ]


class Better:
    """What is asked for: which problems, how often, from which seed.

    ``problems``: of cmab, clb, cccb and mv. ``horizon``: of every panel; None: the panel's own.
    ``instances``: fresh ones of each d in 5, 7, 9, for the linear problems; 0: none. Raises
    InvalidInput for anything else.

    >>> asked = Better(["cmab", "clb"], runs=2, instances=1)
    >>> list(asked.groups)[:4]
    ['cmab-K24', 'cmab-K24-again', 'cmab-K72', 'cmab-K72-again']
    >>> list(asked.groups)[-1]
    'clb-d9-instance20261129'
    """

    def __init__(
        self,
        problems: Sequence[str] = tuple(PROBLEMS),
        runs: int = RUNS,
        seed: int = SEED,
        horizon: int | None = None,
        instances: int = INSTANCES,
    ) -> None:
        for problem in problems:
            if problem not in PROBLEMS:
                known = ", ".join(PROBLEMS)
                raise InvalidInput(f"problem = {problem!r} must be one of {known}")
        counted = isinstance(instances, int) and not isinstance(instances, bool)
        if not counted or not 0 <= instances <= MOST_INSTANCES:
            raise InvalidInput(
                f"instances = {instances!r} must be an int from 0 to {MOST_INSTANCES}"
            )
        self.problems = [problem for problem in PROBLEMS if problem in problems]
        if not self.problems:
            raise InvalidInput("problems = () must name at least one")
        self.runs, self.instances = positive(runs, "runs"), instances
        changed = {"runs": runs, "seed": seed, "horizon": horizon}
        sweep = Sweep.of(*paper(*self.problems)).but(**changed)
        self.seed, self.horizon = sweep.seed, horizon
        whole = [
            Group(panels, runs, again)
            for panels in sweep.groups.values()
            for again in (False, True)
        ]
        self.groups = {group.name: group for group in [*whole, *self._fresh(changed)]}

    def _fresh(self, changed: Mapping[str, Any]) -> Iterator[Group]:
        runs = min(self.runs, INSTANCE_RUNS)
        for problem in self.problems:
            if problem in LINEAR and self.instances:
                usual = Sweep.of(read(MAIN[problem])).but(d=DIMENSIONS, **changed)
                for panel in usual.panels:
                    for number in range(self.instances):
                        one = panel.model_copy(update={"instance": self.seed + number})
                        yield Group([one], runs, fresh=True)

    def settings(self) -> JsonObject:
        """What was asked for, as ``better.json`` holds it."""
        return {
            "problems": self.problems,
            "runs": self.runs,
            "seed": self.seed,
            "horizon": self.horizon,
            "instances": self.instances,
        }

    def made_by(self) -> JsonObject:
        """What decides how a run comes out, besides its number."""
        found = {name: at for name, at in versions().items() if name in DECIDE}
        free = {"runs", "problems", "instances"}  # others go on from the runs that are there
        asked = {name: value for name, value in self.settings().items() if name not in free}
        playing = {problem: [one.name for one in rivals(problem)] for problem in PROBLEMS}
        return {**asked, "engine": _compile.fingerprint(), "rivals": playing, **found}


class BetterRuns:
    """The finished runs in a folder, each a file ``better-runs/<group>/run-<number>.json``.

    A study that is there goes on if it is of the same seed, horizon, rivals and versions; ``begun``
    is then true. Raises InvalidInput if it is of others, unless ``overwrite`` is asked for, which
    removes its runs once ``claim`` is called.
    """

    def __init__(self, folder: Path, asked: Better, *, overwrite: bool = False) -> None:
        self.folder, self.asked = folder, asked
        manifest = read_json(folder / PARTS / MANIFEST)
        if (folder / PARTS).exists() and manifest is None:
            raise InvalidInput(f"{folder / PARTS} is of no such study; give another --out")
        same = manifest == asked.made_by()
        names = [*FILES, PARTS]
        files.claim(folder, names, overwrite=overwrite, same=same)
        self.begun = same and not overwrite

    def claim(self) -> None:
        """Say in the folder what its runs are of, after clearing it if so asked."""
        if not self.begun:
            for group in (self.folder / PARTS).glob("*"):
                if group.is_dir():  # the manifest stays: without it nothing here is ours
                    shutil.rmtree(group)
            for name in FILES:
                (self.folder / name).unlink(missing_ok=True)
        write_json(self.folder / PARTS / MANIFEST, self.asked.made_by())

    def finished(self, name: str) -> list[int]:
        """The numbers of the finished runs of a group, of those that are asked for."""
        runs = range(self.asked.groups[name].runs)
        return [run for run in runs if self._part(name, run).exists()]

    @property
    def done(self) -> int:
        """How many of the runs that are asked for are finished, of all panels."""
        groups = self.asked.groups.items()
        return sum(len(group.panels) * len(self.finished(name)) for name, group in groups)

    def _part(self, name: str, run: int) -> Path:
        return self.folder / PARTS / name / f"run-{run:06d}.json"

    def steps(self, workers: int | None = None, engine: str = "compiled") -> Iterator[Step]:
        """Do the runs that are missing, telling where one stands; stop whenever you like."""
        require("numba", "matplotlib", "polars")
        groups = self.asked.groups
        plans = {name: group.plan(self.asked.seed) for name, group in groups.items()}

        def keep(name: str, run: int, traces: Traces) -> None:
            write_json(self._part(name, run), groups[name].rows(plans[name], run, traces))

        self.claim()
        wanted = {
            name: sorted(set(range(group.runs)) - set(self.finished(name)))
            for name, group in groups.items()
        }
        together = {name: len(group.panels) for name, group in groups.items()}
        yield from perform(plans, wanted, keep, workers, engine, before=self.done, counts=together)

    def figures(self, problem: str, *, fresh: bool = False) -> Figures:
        """What the finished runs of a problem found, one number a run.

        Of the runs of a problem those count that are finished in all of its groups, so that the
        numbers of two panels belong to the same runs.
        """
        names = [
            name
            for name, group in self.asked.groups.items()
            if group.problem == problem and group.fresh == fresh
        ]
        whole = set.intersection(*(set(self.finished(name)) for name in names)) if names else set()
        found: dict[str, dict[str, dict[str, list[float]]]] = {}
        for name in names:
            for run in sorted(whole):
                for row in self._read(name, run):
                    numbers = found.setdefault(row["panel"], {}).setdefault(row["policy"], {})
                    for measure in MEASURES:
                        numbers.setdefault(measure, []).append(row[measure])
        return {
            panel: {
                policy: {measure: np.array(values) for measure, values in numbers.items()}
                for policy, numbers in policies.items()
            }
            for panel, policies in found.items()
        }

    def _read(self, name: str, run: int) -> list[JsonObject]:
        part, group = self._part(name, run), self.asked.groups[name]
        rows = read_json(part)
        try:
            whole = all(isinstance(row[m], int | float) for row in rows for m in MEASURES)
            seats = [(row["panel"], row["policy"]) for row in rows]
            if not whole or seats != list(group.seats().values()):
                raise TypeError
        except (KeyError, TypeError):
            raise DamagedFile(
                f"{part} is damaged; delete it and give the same command again"
            ) from None
        return list(rows)
