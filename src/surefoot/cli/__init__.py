"""The command line: typer commands and rich output, no logic."""

from surefoot.cli._app import app, main

__all__ = ["app", "main"]
