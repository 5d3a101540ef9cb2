"""What the runs of a panel show: numbers, the paper's claims, and the theorems beside them.

Each claim is decided by a rule stated with it, from the checkpoints of all finished runs. A claim
that does not hold here may hold at another horizon or instance: the paper names neither. What
these runs are too few or too short to show is said to be undecided: it neither holds nor fails.
"""

from __future__ import annotations

from itertools import combinations
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.simulation.result import spread
from surefoot.study.bootstrap import intervals
from surefoot.study.numbers import Array, brief, counted
from surefoot.study.panel import NOT_OF_ALL, Panel, column
from surefoot.study.report import default_plays
from surefoot.study.report.panel_runs import PanelRuns
from surefoot.study.verdict import few

if TYPE_CHECKING:
    from surefoot.theory import Bound

PAIRED = 6
"""Agents up to which each is held against each."""
LAST = 0.8
"""The last part of the horizon begins here: the last fifth."""
SHARE = 0.05
"""Growth below this share of the whole over the last fifth is called none; a line grows a fifth."""
CHANCE = 2.0
"""A deficit of the mean over n runs above this times w*sqrt(t/n), w what one reward can move, has
probability exp(-8) at most where the expectation is not below the floor (Hoeffding)."""
FOUND = {
    "regret": "regret at T",
    "regular_regret": "of it due to regular arms",
    "default_regret": "of it due to the default",
    "default_plays": "default plays",
    "violating_rounds": "plays below the floor",
    "minimum_slack": "minimum slack",
}
"""The measures of a summary, and how the report calls them."""


def found_of(panel: Panel) -> dict[str, str]:
    """The measures of a panel's summary, and how the report calls them.

    >>> from surefoot.study.sweep import read
    >>> list(found_of(read("cmab-K24-alpha0.05"))) == list(FOUND)
    True
    """
    extra = {name: name.replace("_", " ") for name in panel.extra_measures}
    if panel.guards == ("",):
        return {**FOUND, **extra}
    common = {name: words for name, words in FOUND.items() if name not in NOT_OF_ALL}
    common["violating_rounds"] = "plays with a promise broken"
    each = {
        column(measure, guard): f"{guard}: {words}"
        for guard in panel.guards
        for measure, words in (
            ("received", "spent" if panel.is_ceiling(guard) else "received"),
            ("violating_rounds", f"plays {beyond(panel, guard)}"),
            ("minimum_slack", FOUND["minimum_slack"]),
        )
    }
    return {**common, **each, **extra}


def beyond(panel: Panel, guard: str) -> str:
    """Where a broken promise lies."""
    return "above the ceiling" if panel.is_ceiling(guard) else "below the floor"


class Rule(NamedTuple):
    """A claim of the paper about a panel ``p``, in short, in full, and when it is said to hold."""

    short: str
    claim: str
    holds: str


class Claim(NamedTuple):
    """A claim of the paper, and what our runs say."""

    key: str
    claim: str
    holds: bool | None
    """None: these runs do not decide it."""
    found: str
    """The numbers it is decided by; first, if it is not decided, why."""


class Theorem(NamedTuple):
    """What a theorem says about a curve."""

    agent: str
    bound: Bound | None
    """As it is drawn: an order is scaled to end where the curve does. None for a void one."""
    void: str
    """Why it says nothing, "" if it does."""


RULES = {
    "kept": Rule(
        "constraint kept",
        "{p.guarded} never violates the constraint",
        "no play of any run ends below the floor, in exact numbers. One that does refutes it, "
        "however few the runs are",
    ),
    "flat": Rule(
        "default plays stop",
        "{p.guarded}'s default plays stop within the horizon",
        "no run plays the default in the last fifth of the plays",
    ),
    "lower": Rule(
        "lower regret than the conservative rival",
        "{p.guarded} has lower regret than {p.comparator}",
        "the mean over the runs of the difference at the horizon is negative, and so is all "
        "of its interval; it does not hold if all of it is positive. Runs of equal number share "
        "their noise",
    ),
    "constant": Rule(
        "extra regret constant",
        "{p.guarded}'s extra regret over {p.unguarded} is constant in the end",
        "the difference of regrets moves in the last fifth of the plays by at most a "
        "twentieth of itself, up or down, all of the interval included; one that grows with the "
        "plays would grow by a fifth of itself. It does not hold if all of the interval is beyond "
        "the twentieth",
    ),
    "early": Rule(
        "unguarded policy falls below the floor",
        "{p.unguarded} falls below the floor while it explores, by more than chance",
        "at some checkpoint t the unguarded policy is below the floor in the mean over the n "
        "runs, by more than 2w√(t/n), w being the most that one reward can move its account; "
        "where its expectation is not below the floor, chance does that at a checkpoint in less "
        "than one study of 2,900. It does not hold if no run is ever below the floor",
    ),
}
"""When a claim is said to hold, and when it is not: ours, the paper has words only."""
UNDECIDED = (
    "No claim is decided by fewer than 5 runs, nor by an interval that allows for both. And none "
    "but the first is by a horizon that is too short: one by whose last fifth, in some run, the "
    "guarded policy has not explored as often as the unguarded one needs to reach its lowest "
    "point above or below the floor. That the unguarded policy falls can be seen early, that it "
    "does not cannot. An interval is one of the mean over the runs, at 95 %, by the studentised "
    "bootstrap; of fewer than 10 runs it is Student's."
)
"""When no claim is decided, whatever its rule."""


def found_in(runs: PanelRuns, *, theory: bool = False) -> JsonObject:
    """A panel's entry in ``summary.json``: its numbers, the claims, and ``theory`` if asked for.

    "regret" is pseudo-regret against what the panel's ``slope`` is against, "regular_regret" and
    "default_regret" are the parts that are due to regular arms and to the default,
    "default_plays" and "violating_rounds" count plays, "minimum_slack" is the least that a run
    ever had above the floor; the floor is kept where it is not negative.
    """
    panel = runs.panel
    found = {
        "problem": panel.problem,
        **panel.place,
        **({} if panel.guards == ("",) else {"floors": list(panel.guards)}),
        "mu0": panel.pays,
        "horizon": panel.horizon,
        "runs": runs.count,
        "baseline_regret": None if panel.slope is None else panel.slope * panel.horizon,
        "agents": _agents(runs),
        "differences": differences(runs),
        "claims": [claim._asdict() for claim in claims(runs)],
    }
    theory = theory and panel.entries is None
    if theory:
        bounds = [_bound_entry(panel.horizon, theorem) for theorem in theorems(runs)]
        found["theory"] = {"default_plays": predicted_default_plays(runs), "bounds": bounds}
    return found


def _agents(runs: PanelRuns) -> list[JsonObject]:
    """Of each agent and measure mean, least and most over the runs, and the mean's interval."""
    made, measures = [], tuple(found_of(runs.panel))
    for name in runs.panel.names():
        columns = [runs.last(name, measure) for measure in measures]
        entry: JsonObject = {"name": name}
        each = intervals(np.stack(columns, axis=1).astype(float))
        for measure, values, interval in zip(measures, columns, each, strict=True):
            entry[measure] = {**spread(values), "interval": interval and list(interval)}
        made.append(entry)
    return made


def differences(runs: PanelRuns) -> list[JsonObject]:
    """Of pairs of agents how much larger the first one's regret is, run by run, at the horizon.

    Runs of equal number share their noise. All pairs of up to ``PAIRED`` agents; of more, the first
    agent against each other one.
    """
    names = runs.panel.names()
    pairs = list(combinations(names, 2))
    if len(names) > PAIRED:
        pairs = [(names[0], other) for other in names[1:]]
    if not pairs:
        return []
    gaps = [runs.last(one, "regret") - runs.last(other, "regret") for one, other in pairs]
    each = intervals(np.stack(gaps, axis=1).astype(float))
    return [
        {
            "agents": list(pair),
            "regret": {**spread(gap), "interval": interval and list(interval)},
            "lower_in": int((gap < 0).sum()),
        }
        for pair, gap, interval in zip(pairs, gaps, each, strict=True)
    ]


def claims(runs: PanelRuns) -> list[Claim]:
    """The paper's claims about one panel of the paper's agents; no comparator, no claim about it.

    Source: Du, Wang, Huang 2021, Experiments. The rules are ours, see ``RULES``, ``UNDECIDED``.
    """
    if runs.panel.entries is not None:
        return []
    decide = {"kept": _kept, "flat": _flat, "lower": _lower, "constant": _constant, "early": _early}
    if runs.panel.comparator is None:
        del decide["lower"]
    short, scarce = _sparse(runs) or _short(runs), few(runs.count)
    made = []
    for key, of in decide.items():
        holds, found = of(runs)
        refuted = key == "kept" and holds is False
        seen = key == "kept" or (key == "early" and holds)
        why = "" if refuted else scarce or ("" if seen else short)
        if why:
            holds, found = None, f"{why}; {found}"
        made.append(Claim(key, RULES[key].claim.format(p=runs.panel), holds, found))
    return made


def _sparse(runs: PanelRuns) -> str:
    """Why the plays that were noted do not show what happened between them; "" if they do."""
    if runs.panel.curves == "grid":
        return ""
    return f'{counted(len(runs.t), "play")} noted, where [outputs] curves = "grid" is needed'


def _short(runs: PanelRuns) -> str:
    """Why the horizon is too short to judge; "" if it is not.

    Guarded and unguarded policy meet the same rewards at the same turn. So in each run default
    plays are due until the guarded one has come to the turn at which the other's account is
    lowest; from there on each turn pays for itself.
    """
    t, panel = runs.t, runs.panel
    lowest = runs.of(panel.unguarded, "slack").argmin(axis=1)
    turns = t[np.minimum(lowest + 1, len(t) - 1)]  # the lowest play lies before this checkpoint
    last = int((t < LAST * t[-1]).sum())
    explored = t[last] - runs.of(panel.guarded, "default_plays")[:, last]
    worst = int((explored - turns).argmin())
    if explored[worst] >= turns[worst]:
        return ""
    return (
        f"horizon too short: {panel.guarded} explores {explored[worst]:,} times by play "
        f"{t[last]:,} of a run, where {panel.unguarded} alone falls until play "
        f"{t[lowest[worst]]:,}"
    )


_Verdict = tuple[bool | None, str]


def _kept(runs: PanelRuns) -> _Verdict:
    name = runs.panel.guarded
    below = int(runs.last(name, "violating_rounds").sum())
    least = float(runs.last(name, "minimum_slack").min())
    found = f"{brief(below)} plays below the floor; least slack {brief(least)}"
    return below == 0 and least >= 0, found


def _flat(runs: PanelRuns) -> _Verdict:
    t, made = runs.t, runs.of(runs.panel.guarded, "default_plays")
    last = since(t, made)
    holds = bool(last <= LAST * t[-1])
    said = f"not flat within the horizon: a run plays the default as late as play {last:,}"
    if holds:
        said = f"flat from play {last:,} on in every run"
    return holds, f"{said}; {brief(made[:, -1].mean())} in the mean"


def since(t: Array, made: Array) -> int:
    """The first checkpoint after which no run plays the default.

    >>> import numpy as np
    >>> since(np.array([1, 5, 9]), np.array([[1, 3, 3], [1, 2, 2]]))
    5
    """
    return int(t[(made < made[:, -1:]).any(axis=0).sum()])


def _lower(runs: PanelRuns) -> _Verdict:
    gap = runs.last(runs.panel.guarded, "regret") - runs.last(runs.panel.names()[2], "regret")
    (low, high), wins = _interval(gap), int((gap < 0).sum())
    found = f"difference {_estimate(gap)} at the horizon; lower in {wins} of {len(gap)} runs"
    return _decided(high < 0, low > 0), found


def _constant(runs: PanelRuns) -> _Verdict:
    t, panel = runs.t, runs.panel
    extra = runs.of(panel.guarded, "regret") - runs.of(panel.unguarded, "regret")
    before = max(0, int((t <= LAST * t[-1]).sum()) - 1)
    growth = extra[:, -1] - extra[:, before]
    whole, (low, high) = float(extra[:, -1].mean()), _interval(growth)
    most = SHARE * abs(whole)
    found = f"extra regret {brief(whole)}; {_estimate(growth, signed=True)} in the last fifth"
    return _decided(-most <= low and high <= most, low > most or high < -most), found


def _interval(values: Array) -> tuple[float, float]:
    """Of a mean over the runs; everything where they are too few for one."""
    return intervals(values[:, None])[0] or (-inf, inf)


def _estimate(values: Array, *, signed: bool = False) -> str:
    """The mean over the runs and its interval; the mean alone where they are too few for one."""
    mean = float(values.mean())
    text = ("+" if signed and mean > 0 else "") + brief(mean)
    if few(len(values)):
        return text
    return f"{text} [{', '.join(map(brief, _interval(values)))}]"


def _early(runs: PanelRuns) -> _Verdict:
    t, name = runs.t, runs.panel.unguarded
    below, mean = runs.last(name, "violating_rounds"), runs.shape(name, "slack").mean
    fallen, least = int((below > 0).sum()), float(runs.last(name, "minimum_slack").min())
    chance = CHANCE * runs.panel.swing * np.sqrt(t / len(below))
    worst = int((mean / chance).argmin())
    found = (
        f"{fallen} of {len(below)} runs fall below the floor, for {brief(below.mean())} plays in "
        f"the mean, by at most {brief(max(0.0, -least))}; at play {t[worst]:,} the mean "
        f"slack is {brief(mean[worst])}, chance makes {brief(chance[worst])}"
    )
    return _decided(mean[worst] < -chance[worst], not fallen), found


def _decided(holds: object, fails: object) -> bool | None:
    return True if holds else False if fails else None


def theorems(runs: PanelRuns) -> list[Theorem]:
    """The bounds of a panel, each scaled if its constants cannot be trusted, or why it is void."""
    found = []
    for agent, ask in runs.panel.bounds():
        try:
            bound = ask()
            if not bound.trusted:
                end = float(runs.last(agent, "regret").mean())
                bound = bound.through(runs.panel.horizon, end)
            found.append(Theorem(agent, bound, ""))
        except InvalidInput as error:
            found.append(Theorem(agent, None, str(error)))
    return found


def predicted_default_plays(runs: PanelRuns) -> dict[str, float] | None:
    """The guarded agent's default plays by the horizon, predicted from the unguarded policy alone.

    Its realised regret mu_* m - R_m, at the checkpoints of each run, is what
    ``default_plays.predicted`` asks for; mean, least and most over the runs. None for a
    floor that is not on reward, and where the default is the best.

    Holds when: as ``predicted``. It knows the regret at the checkpoints only, so it may predict
    a little too few.
    """
    panel, t = runs.panel, runs.t
    if not panel.promises_reward:
        return None
    place = panel.pays, panel.top, panel.alpha, t
    try:
        counts = [
            default_plays.predicted(panel.top * t - run, *place).by(panel.horizon)
            for run in runs.of(panel.unguarded, "received")
        ]
    except InvalidInput:
        return None
    return spread(np.array(counts))


def _bound_entry(horizon: int, theorem: Theorem) -> JsonObject:
    bound = theorem.bound
    if bound is None:
        return {"agent": theorem.agent, "void": theorem.void}
    return {
        "agent": theorem.agent,
        "source": bound.source,
        "trusted": bound.trusted,
        "note": bound.note,
        "regret": bound(horizon),
    }
