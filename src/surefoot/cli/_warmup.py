"""``surefoot warmup``: compile ahead what live policies and the studies run, and keep it."""

from __future__ import annotations

from collections.abc import Iterator

from surefoot.cli._terminal import echo, tell


def warmup() -> None:
    """Compile ahead: what live policies run after surefoot.warmup(), and the engine's loops.

    It takes about a minute, once for each installation. Without it each loop is compiled, some
    seconds each, when it is first needed.
    """
    from surefoot import _compile
    from surefoot._warmup import warmup as compile_live

    tell("compiling the kernels of live policies")
    compiled = [*compile_live(), *_loops()]
    folder = _compile.cache_folder()
    if folder is None:
        echo("nothing is kept: the cache folder cannot be written; set SUREFOOT_CACHE to a folder")
        return
    done = f"compiled {', '.join(compiled)}" if compiled else "nothing was left to compile"
    echo(f"{done}; kept in {folder}")


def _loops() -> Iterator[str]:
    """Compile the loops of the paper's four problems; the names of those that were missing."""
    from surefoot.simulation.runner import choose, compile_ahead, warm
    from surefoot.study import runs
    from surefoot.study.sweep import paper

    engine = choose("compiled")
    for problem in ("cmab", "clb", "cccb", "mv"):
        plan = runs.joint_plan(paper(problem)[:1])
        if not warm(plan, engine):
            tell(f"compiling the loops of study {problem}")
            compile_ahead(plan, engine)
            yield f"study {problem}"
