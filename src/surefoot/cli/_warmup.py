"""``surefoot warmup``: compile ahead what live policies run, and keep it on disk."""

from __future__ import annotations

import typer


def warmup() -> None:
    """Compile what live policies run, and keep it for processes that call surefoot.warmup().

    It takes some seconds, once for each installation.
    """
    from surefoot import _compile
    from surefoot.agents import warmup as compile_all

    compiled = compile_all()
    folder = _compile.cache_folder()
    if folder is None:
        typer.echo(
            "nothing is kept: the cache folder cannot be written; set SUREFOOT_CACHE to a folder"
        )
        return
    done = f"compiled {', '.join(compiled)}" if compiled else "nothing was left to compile"
    typer.echo(f"{done}; kept in {folder}")
