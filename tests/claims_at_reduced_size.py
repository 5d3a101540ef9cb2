"""Which of the paper's claims hold in a small study of one problem."""

import polars as pl

from surefoot.simulation.compiled import PLAIN
from surefoot.simulation.runner import choose
from surefoot.study import runs as of_panels
from surefoot.study.problems import MAIN
from surefoot.study.report.findings import claims
from surefoot.study.report.panel_runs import PanelRuns
from surefoot.study.results.rows import axes_of, table
from surefoot.study.sweep import Sweep, read


def check(problem: str, runs: int = 10, **changes) -> dict[str, bool]:
    """Claim -> whether it holds in so many runs of one panel."""
    panel = Sweep.of(read(MAIN[problem])).but(**changes).panels[0]
    found = claims(PanelRuns(panel, rows(panel, runs, "compiled")))
    return {claim.key: claim.holds for claim in found}


def rows(panel, runs: int = 2, engine: str = "plain") -> pl.DataFrame:
    """The tidy rows of one panel."""
    plan = of_panels.joint_plan([panel])
    loops = PLAIN if engine == "plain" else choose(engine)
    found = {run: plan.run(run, loops) for run in range(runs)}
    return table("", panel, plan, found, axes_of([panel]))
