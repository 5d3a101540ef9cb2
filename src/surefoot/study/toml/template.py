"""A study file to start from: every setting of a problem with its value and what it may be."""

from __future__ import annotations

from importlib import resources
from typing import Any, get_args

from surefoot.errors import InvalidInput
from surefoot.study.panel import Panel
from surefoot.study.problems import MAIN, PROBLEMS
from surefoot.study.sweep import paper, read
from surefoot.study.toml.text import COMMON, fields_of, near

_FORMAT = """\
# A study of Surefoot. Run it with `surefoot study run FILE`, look first with --dry-run.
surefoot = 1  # the format of this file
"""
_RUNS = """\
horizon = {horizon:_}  # plays in a run
runs = {runs:_}  # independent runs
seed = {seed}  # equal seeds give equal numbers
"""
_HEAD = f'{_FORMAT}problem = "{{problem}}"  # cmab, clb, cccb, mv, or own\n{_RUNS}'
_OWN_HEAD = f'{_FORMAT}problem = "own"\n{_RUNS}'
_GRID = """
[grid]  # all combinations; a setting is an axis or a single value, not both
# {first}
# alpha = {{ from = 0.01, to = 0.2, steps = 20 }}
# agents.mine.c = [1.0, 2.0]  # a setting of an agent
"""
_AGENTS = """
# Left out, the agents are the paper's: {names}.
# [[agents]]
# algorithm = "{first}"
# [[agents]]
# name = "mine"
# policy = "mylab.policies:Mine"  # module and class; looked for beside this file first
# guard = "GenCB"  # or "Plain", without a guard
# settings = {{ c = 2.0 }}  # keywords of the class, which also gets n_arms if it asks for it
"""
_OUTPUTS = """
[outputs]
curves = "grid"  # plays that are noted: "grid", "none", or a list such as [100, 1_000]
"""
_PLAYERS = """
[[agents]]
name = "guarded"
policy = "KLUCB"  # or module and class of your own, "mylab.policies:Mine"
guard = "GenCB"

[[agents]]
name = "unguarded"
policy = "KLUCB"
guard = "Plain"
"""
_OWN = """
[setting]
default = 0.5  # what the default pays, known, at every play
alpha = 0.05  # the fraction of it one is willing to lose
# reward_range = [0, 1]  # what every reward lies between; left out: as the environment says

[environment]
path = "BernoulliArms"  # or module and class of your own, "mylab.envs:Shop"
settings = { means = [0.8, 0.6, 0.4] }  # keywords of the class

# [grid]  # all combinations; a setting is an axis or a single value, not both
# environment.size = [1, 2]  # a setting of the environment
# agents.mine.c = [1.0, 2.0]  # a setting of an agent
"""
_FLOORS = """
[setting]
objective = { quality = 1, cost = -5 }  # what the policy learns; or a measure, "quality"

[floors.quality]  # of each measure that is to hold, one or several
default = 0.82  # what the default is known to come to; or { between = [0.5, 0.95], delta = 0.05 }
alpha = 0.05  # the fraction of it one is willing to lose
# margin = 0.01  # and so much besides, a play
# reserve = 5  # and so much once
# max_slack = 50  # the most that may be saved up

[floors.cost]
kind = "CostCeiling"  # left out: "RewardFloor"
default = 0.012
alpha = 0.5  # at most half as much again as the default costs

[measures.quality]  # where it comes from; or all of them from one [environment] of your own
path = "BernoulliArms"  # or module and class of your own, "mylab.envs:Quality"
settings = { means = [0.9, 0.78, 0.85] }  # keywords of the class
default = 0.82  # what the default comes to: a number, or { path = ..., settings = ... } of one arm

[measures.cost]
path = "EmpiricalArms"
settings = { samples = [[0.02, 0.04], [0.002, 0.006], [0.01, 0.012]] }
default = 0.012

# [grid]  # all combinations; an axis takes the place of the value above
# floors.quality.alpha = [0.01, 0.02, 0.05]  # a setting of a floor
# measures.quality.size = [1, 2]  # a setting of a measure's environment
"""
_OTHERS = {"own": (100_000, 50, _OWN), "floors": (10_000, 20, _FLOORS)}
"""Plays, runs and settings."""


def template(problem: str = "cmab") -> str:
    """The text of a study file with a problem's main panel, or one of an environment of one's own.

    ``problem``: one of the paper's, "own", or "floors" for floors by name.

    >>> print(template("cmab").splitlines()[2])
    problem = "cmab"  # cmab, clb, cccb, mv, or own
    """
    if problem in _OTHERS:
        horizon, runs, settings = _OTHERS[problem]
        head = _OWN_HEAD.format(horizon=horizon, runs=runs, seed=0)
        return "".join([head, settings, _PLAYERS, _OUTPUTS])
    if problem not in PROBLEMS:
        known = (*PROBLEMS, *_OTHERS)
        raise InvalidInput(f"there is no problem {problem}; {near(problem, known)}")
    panel = read(MAIN[problem])
    names = ", ".join(panel.names())
    lines = [
        f"{name} = {_spelled(getattr(panel, name))}  # {_said(panel, name)}\n"
        for name in fields_of(type(panel))
        if name not in (*COMMON, "ties")
    ]
    head = _HEAD.format(problem=problem, **{name: getattr(panel, name) for name in COMMON})
    grid = _GRID.format(first="d = [5, 7]" if "d" in panel.axes else "K = [24, 72]")
    agents = _AGENTS.format(names=names, first=panel.guarded)
    return "".join([head, "\n[setting]\n", *lines, grid, agents, _OUTPUTS])


def shipped(name: str) -> str:
    """The text of one of the paper's panels; of a problem, its panel in the main text.

    >>> shipped("mv") == shipped("mv-K24-alpha0.05-rho10")
    True
    """
    name = MAIN.get(name, name)
    names = [panel.name for panel in paper()]
    if name not in names:
        said = near(name, (*PROBLEMS, *names))
        if name in _OTHERS:
            said = f"`surefoot study new {name}` prints a file to start from"
        raise InvalidInput(f"the paper has no panel {name}; {said}")
    file = resources.files("surefoot.study") / "panels" / f"{name}.toml"
    return file.read_text(encoding="utf-8")


def _said(panel: Panel, name: str) -> str:
    """What a setting is, and what it may be."""
    field: Any = type(panel).model_fields[name]
    said = _MEANS.get(name) or field.description
    options = [one for one in get_args(field.annotation) if isinstance(one, str)]
    others = [one for one in options if one != getattr(panel, name)]
    said = said.format(p=panel)
    if name == "delta":
        return f"{said}; or a number" if panel.comparator else f"that of {panel.unguarded}"
    return f"{said}; or {', '.join(map(_spelled, others))}" if others else said


_MEANS = {
    "alpha": "the fraction of the default's reward one is willing to lose",
    "K": "the number of arms",
    "d": "the dimension; there are 2d arms",
    "mu0": "what the default pays, known, at every play",
    "best": "the largest mean of an arm",
    "worst": "the least",
    "rho": "the weight of the mean against the variance",
    "instance": "the features and the parameter are drawn from this seed",
    "ratio": "the default's reward as a share of the best mean",
    "noise": "R in the radius of {p.guarded} and {p.unguarded}",
    "ridge": "their λ",
    "size": "base arms in a super arm",
    "delta": "the failure probability of {p.comparator}",
    "sigma": "its bound on the noise",
    "radius": "its radius",
    "scale": "its scale",
}


def _spelled(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
