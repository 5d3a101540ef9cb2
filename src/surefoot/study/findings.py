"""What the runs of a panel show: numbers, the paper's claims, and the theorems beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from surefoot.errors import InvalidInput
from surefoot.simulation.result import spread
from surefoot.study import default_plays
from surefoot.study.numbers import brief
from surefoot.study.panel import Panel
from surefoot.study.results import curves, plays
from surefoot.study.verdict import estimate, few, margin
from surefoot.theory import Bound

if TYPE_CHECKING:
    import polars as pl


LAST = 0.8
"""The last part of the horizon begins here: the last fifth."""
SHARE = 0.05
"""Growth below this share of the whole over the last fifth is called none; a line grows a fifth."""
CHANCE = 2.0
"""A deficit of the mean over n runs above this times w*sqrt(t/n), w what one reward can move, has
probability exp(-8) at most where the expectation is not below the floor (Hoeffding)."""


class Claim(NamedTuple):
    """A claim of the paper, and what our runs say."""

    key: str
    """"kept", "flat", "lower", "constant" or "early"."""
    claim: str
    holds: bool | None
    """None: these runs do not decide it."""
    found: str
    """The numbers it is decided by; first, if it is not decided, why."""


RULES = {
    "kept": "no play of any run ends below the floor, in exact numbers. One that does refutes it, "
    "however few the runs are",
    "flat": "no run plays the default in the last fifth of the plays",
    "lower": "the mean over the runs of the difference at the horizon is negative, and so is all "
    "of its interval; it does not hold if all of it is positive. Runs of equal number share their "
    "noise",
    "constant": "the difference of regrets moves in the last fifth of the plays by at most a "
    "twentieth of itself, up or down, all of the interval included; one that grows with the plays "
    "would grow by a fifth of itself. It does not hold if all of the interval is beyond the "
    "twentieth",
    "early": "at some checkpoint t the unguarded policy is below the floor in the mean over the n "
    "runs, by more than 2w√(t/n), w being the most that one reward can move its account; where its "
    "expectation is not below the floor, chance does that at a checkpoint in less than one study "
    "of 2,900. It does not hold if no run is ever below the floor",
}
"""When a claim is said to hold, and when it is not: ours, the paper has words only."""
UNDECIDED = (
    "No claim is decided by fewer than 5 runs, nor by an interval that allows for both. And none "
    "but the first is by a horizon that is too short: one by whose last fifth, in some run, the "
    "guarded policy has not explored as often as the unguarded one needs to reach its lowest "
    "point above or below the floor. That the unguarded policy falls can be seen early, that it "
    "does not cannot. An interval is the mean over the runs ± its margin, at 95 %, by Student's t."
)
"""When no claim is decided, whatever its rule."""


def found_in(panel: Panel, frame: pl.DataFrame, *, theory: bool = False) -> dict[str, Any]:
    """A panel's entry in ``summary.json``: its numbers, the claims, and ``theory`` if asked for."""
    found = at_the_horizon(panel, frame)
    found["claims"] = [claim._asdict() for claim in claims(panel, frame)]
    return found | ({"theory": theory_of(panel, frame)} if theory else {})


def claims(panel: Panel, frame: pl.DataFrame) -> list[Claim]:
    """The paper's claims about one panel, from its rows; no comparator, no claim about it.

    Source: Du, Wang, Huang 2021, Experiments. The rules are ours, see ``RULES``, ``UNDECIDED``.
    """
    found = [_kept(panel, frame), _flat(panel, frame)]
    if panel.comparator is not None:
        found.append(_lower(panel, frame, panel.comparator))
    found += [_constant(panel, frame), _early(panel, frame)]
    short, scarce = _short(panel, frame), few(frame.get_column("run").n_unique())
    return [_withheld(claim, scarce, short) for claim in found]


def _withheld(claim: Claim, scarce: str, short: str) -> Claim:
    """The claim undecided, where the runs are too few or too short for its verdict."""
    refuted = claim.key == "kept" and claim.holds is False
    seen = claim.key == "kept" or (claim.key == "early" and claim.holds)
    why = "" if refuted else scarce or ("" if seen else short)
    return claim._replace(holds=None, found=f"{why}; {claim.found}") if why else claim


def _short(panel: Panel, frame: pl.DataFrame) -> str:
    """Why the horizon is too short to judge; "" if it is not.

    Guarded and unguarded policy meet the same rewards at the same turn. So in each run default
    plays are due until the guarded one has come to the turn at which the other's account is
    lowest; from there on each turn pays for itself.
    """
    t = plays(frame)
    lowest = curves(frame, panel.unguarded, "slack").argmin(axis=1)
    turns = t[np.minimum(lowest + 1, len(t) - 1)]  # the lowest play lies before this checkpoint
    last = int((t < LAST * t[-1]).sum())
    explored = t[last] - curves(frame, panel.guarded, "default_plays")[:, last]
    worst = int((explored - turns).argmin())
    if explored[worst] >= turns[worst]:
        return ""
    return (
        f"horizon too short: {panel.guarded} explores {explored[worst]:,} times by play "
        f"{t[last]:,} of a run, where {panel.unguarded} alone falls until play "
        f"{t[lowest[worst]]:,}"
    )


def _kept(panel: Panel, frame: pl.DataFrame) -> Claim:
    name = panel.guarded
    below = int(curves(frame, name, "violating_rounds")[:, -1].sum())
    least = float(curves(frame, name, "minimum_slack").min())
    return Claim(
        "kept", f"{name} never violates the constraint", below == 0 and least >= 0,
        f"{brief(below)} plays below the floor; least slack {brief(least)}",
    )  # fmt: skip


def _flat(panel: Panel, frame: pl.DataFrame) -> Claim:
    t, made = plays(frame), curves(frame, panel.guarded, "default_plays")
    last = since(t, made)
    holds = last <= LAST * t[-1]
    said = (
        f"flat from play {last:,} on in every run" if holds
        else f"not flat within the horizon: a run plays the default as late as play {last:,}"
    )  # fmt: skip
    claim = f"{panel.guarded}'s default plays stop within the horizon"
    return Claim("flat", claim, bool(holds), f"{said}; {brief(made[:, -1].mean())} in the mean")


def since(t: Any, made: Any) -> int:
    """The first checkpoint after which no run plays the default.

    >>> import numpy as np
    >>> since(np.array([1, 5, 9]), np.array([[1, 3, 3], [1, 2, 2]]))
    5
    """
    return int(t[(made < made[:, -1:]).any(axis=0).sum()])


def _lower(panel: Panel, frame: pl.DataFrame, rival: str) -> Claim:
    gap = _end(frame, panel.guarded) - _end(frame, rival)
    mean, error = gap.mean(), margin(gap)
    wins = int((gap < 0).sum())
    return Claim(
        "lower", f"{panel.guarded} has lower regret than {rival}",
        _decided(mean + error < 0, mean - error > 0),
        f"difference {estimate(gap)} at the horizon; lower in {wins} of {len(gap)} runs",
    )  # fmt: skip


def _constant(panel: Panel, frame: pl.DataFrame) -> Claim:
    t, name, rival = plays(frame), panel.guarded, panel.unguarded
    extra = curves(frame, name, "regret") - curves(frame, rival, "regret")
    before = max(0, int((t <= LAST * t[-1]).sum()) - 1)
    growth = extra[:, -1] - extra[:, before]
    whole, moved, error = float(extra[:, -1].mean()), abs(growth.mean()), margin(growth)
    most = SHARE * abs(whole)
    return Claim(
        "constant", f"{name}'s extra regret over {rival} is constant in the end",
        _decided(moved + error <= most, moved - error > most),
        f"extra regret {brief(whole)}; {estimate(growth, signed=True)} in the last fifth",
    )  # fmt: skip


def _early(panel: Panel, frame: pl.DataFrame) -> Claim:
    name = panel.unguarded
    below = curves(frame, name, "violating_rounds")[:, -1]
    fallen = int((below > 0).sum())
    least = float(curves(frame, name, "minimum_slack").min())
    t, mean = plays(frame), curves(frame, name, "slack").mean(axis=0)
    chance = CHANCE * panel.swing * np.sqrt(t / len(below))
    worst = int((mean / chance).argmin())
    return Claim(
        "early", f"{name} falls below the floor while it explores, by more than chance",
        _decided(mean[worst] < -chance[worst], not fallen),
        f"{fallen} of {len(below)} runs fall below the floor, for {brief(below.mean())} plays in "
        f"the mean, by at most {brief(max(0.0, -least))}; at play {t[worst]:,} the mean "
        f"slack is {brief(mean[worst])}, chance makes {brief(chance[worst])}",
    )  # fmt: skip


def _decided(holds: Any, fails: Any) -> bool | None:
    return True if holds else False if fails else None


def _end(frame: pl.DataFrame, name: str) -> Any:
    return curves(frame, name, "regret")[:, -1]


FOUND = (
    "regret", "regular_regret", "default_regret", "default_plays", "violating_rounds",
    "minimum_slack",
)  # fmt: skip


def at_the_horizon(panel: Panel, frame: pl.DataFrame) -> dict[str, Any]:
    """A panel's entry in ``summary.json``, from its rows.

    "regret" is pseudo-regret against what the panel's ``slope`` is against, "regular_regret" and
    "default_regret" are the parts that are due to regular arms and to the default,
    "default_plays" and "violating_rounds" count plays, "minimum_slack" is the least that a run
    ever had above the floor; the floor is kept where it is not negative.
    """
    return {
        "problem": panel.problem,
        **panel.place,
        "mu0": panel.pays,
        "horizon": panel.horizon,
        "runs": frame.get_column("run").n_unique(),
        "baseline_regret": panel.slope * panel.horizon,
        "agents": [{"name": name, **_spreads(panel, frame, name)} for name in panel.names()],
    }


def _spreads(panel: Panel, frame: pl.DataFrame, name: str) -> dict[str, Any]:
    wanted = (*FOUND, *panel.extra_measures)
    return {measure: spread(curves(frame, name, measure)[:, -1]) for measure in wanted}


class Theorem(NamedTuple):
    """What a theorem says about a curve."""

    agent: str
    bound: Bound | None
    """As it is drawn: an order is scaled to end where the curve does. None for a void one."""
    void: str
    """Why it says nothing, "" if it does."""


def theorems(panel: Panel, frame: pl.DataFrame) -> list[Theorem]:
    """The bounds of a panel, each scaled if its constants cannot be trusted, or why it is void."""
    found = []
    for agent, ask in panel.bounds():
        try:
            bound = ask()
            if not bound.trusted:
                end = float(curves(frame, agent, "regret")[:, -1].mean())
                bound = bound.through(panel.horizon, end)
            found.append(Theorem(agent, bound, ""))
        except InvalidInput as error:
            found.append(Theorem(agent, None, str(error)))
    return found


def predicted_default_plays(panel: Panel, frame: pl.DataFrame) -> dict[str, float] | None:
    """The guarded agent's default plays by the horizon, predicted from the unguarded policy alone.

    Its realised regret mu_* m - R_m, at the checkpoints of each run, is what
    ``default_plays.predicted`` asks for; mean, least and most over the runs. None for a
    floor that is not on reward, and where the default is the best.

    Holds when: as ``predicted``. It knows the regret at the checkpoints only, so it may predict
    a little too few.
    """
    if not panel.promises_reward:
        return None
    t = plays(frame)
    received = curves(frame, panel.unguarded, "received")
    try:
        counts = [
            default_plays.predicted(panel.top * t - run, panel.pays, panel.top, panel.alpha, t).by(
                panel.horizon
            )
            for run in received
        ]
    except InvalidInput:
        return None
    return spread(np.array(counts))


def theory_of(panel: Panel, frame: pl.DataFrame) -> dict[str, Any]:
    """The part of ``summary.json`` about the theorems."""
    return {
        "default_plays": predicted_default_plays(panel, frame),
        "bounds": [_bound_entry(panel, said) for said in theorems(panel, frame)],
    }


def _bound_entry(panel: Panel, said: Theorem) -> dict[str, Any]:
    bound = said.bound
    if bound is None:
        return {"agent": said.agent, "void": said.void}
    return {
        "agent": said.agent,
        "source": bound.source,
        "trusted": bound.trusted,
        "note": bound.note,
        "regret": bound(panel.horizon),
    }
