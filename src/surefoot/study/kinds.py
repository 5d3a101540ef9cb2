"""What a study can be of: the paper's problems, and an environment of one's own."""

from __future__ import annotations

from surefoot._types import JsonObject
from surefoot.study.floored import Floored
from surefoot.study.own_problem import Own
from surefoot.study.panel import Panel
from surefoot.study.problems import PROBLEMS

KINDS: dict[str, type[Panel]] = {**PROBLEMS, "own": Own}
"""The problems that a study file may name."""


def kind_of(settings: JsonObject) -> type[Panel]:
    """The class of a panel with these settings: one with floors by name is of its own.

    >>> kind_of({"problem": "own"}).__name__, kind_of({"problem": "own", "floors": []}).__name__
    ('Own', 'Floored')
    """
    kind = KINDS[settings["problem"]]
    named = "floors" in settings or "measures" in settings
    return Floored if kind is Own and named else kind
