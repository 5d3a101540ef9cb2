"""What the examples share: agents beside each other in the same runs, and their numbers."""

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from showing import Found, draw, table

import surefoot as sf


class Case(NamedTuple):
    """What is wanted, as a sum of weighted measures, and what must hold."""

    title: str
    objective: dict[str, float]
    floors: dict[str, Any]


def played(case: Case, world: Any, unknown: dict[str, Any], plays: int, runs: int) -> Any:
    """The agents of a case in the same runs: guarded, with a learned default, unguarded."""

    def policy() -> Any:
        return sf.GaussianThompson(world.n_arms, noise=0.25)  # of the width of the objective

    wide: dict[str, Any] = {"objective_range": world.reward_range}
    competes = {"default_objective": world.default_value}
    agents: dict[str, Any] = {"guarded": sf.GenCB(policy(), case.floors, **wide, **competes)}
    if unknown:  # nobody knows what the default is worth
        floors = {name: unknown[name] for name in case.floors}
        agents["learned"] = sf.GenCB(policy(), floors, **wide)
    agents["unguarded"] = sf.Plain(policy(), case.floors, **wide)
    result = sf.simulate(agents, world, plays, runs, seed=0)
    return {name: found(result, name, case) for name in agents}


def found(result: Any, name: str, case: Case) -> Found:
    """Each measure of a play; the one that no floor guards follows from the objective."""
    plays, weights = result.plan.horizon, case.objective
    means = {one: result.measure(name, "received", one)[:, -1] / plays for one in case.floors}
    total = result.measure(name, "received")[:, -1] / plays
    for other in weights.keys() - means.keys():
        rest = sum(weights[one] * means[one] for one in means)
        means[other] = (total - rest) / weights[other]
    least = {one: result.measure(name, "minimum_slack", one)[:, -1] for one in case.floors}
    return Found(means, least, result.measure(name, "default_plays")[:, -1] / plays)


def compare(
    name: str, cases: list[Case], measures: Callable[..., Any], arms: dict[str, Any],
    incumbent: tuple[float, float], unknown: dict[str, Any],
) -> None:  # fmt: skip
    """Play all cases, and each with candidates that are like the incumbent (A/A); show them."""
    parser = argparse.ArgumentParser(description=f"{name}: guarded and unguarded, beside A/A.")
    parser.add_argument("--json", action="store_true", help="print numbers and draw nothing")
    parser.add_argument("--runs", type=int, default=10, help="at least 2")
    parser.add_argument("--plays", type=int, default=10_000, help="of each run")
    parser.add_argument("--figure", default=f"{name}.png", help="the file of the figure")
    asked, everything = parser.parse_args(), {}
    if asked.runs < 2:
        parser.error(f"--runs {asked.runs}: one run has no interval; give at least 2")
    default, alike = measures([incumbent]), measures([incumbent] * len(arms))
    for case in cases:
        world = sf.MeasuredArms(measures(list(arms.values())), case.objective, default)
        twin = sf.MeasuredArms(alike, case.objective, default)
        of = everything[case.title] = played(case, world, unknown, asked.plays, asked.runs)
        of["A/A"] = played(case, twin, {}, asked.plays, asked.runs)["guarded"]
    if asked.json:
        found = {t: {n: one.json() for n, one in of.items()} for t, of in everything.items()}
        sys.stdout.write(json.dumps(found, indent=1) + "\n")
        return
    sys.stdout.write(table(everything))
    draw(asked.figure, cases, everything, arms, incumbent)
