"""What ``surefoot study better`` finds: regret as a share of the printed algorithm's, and claims.

A share is the mean regret of a policy over that of the printed algorithm, both over the same runs.
Its interval is the paired bootstrap's (Efron 1979): runs are drawn with replacement, each with the
numbers of all policies and panels, and the shares formed anew; 2.5 % and 97.5 % of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from surefoot._types import JsonObject
from surefoot.simulation.result import spread
from surefoot.study.better.rivals import NAMED, PRINTED, PROVED, of_role, rivals
from surefoot.study.better.runs import AGAIN, BetterRuns, Figures
from surefoot.study.files import versions
from surefoot.study.numbers import Array, brief
from surefoot.study.report.findings import Claim
from surefoot.study.verdict import few

DRAWS = 10_000
"""Of the bootstrap."""
ABOUT = 1.1
""""About a fifth" is said of what is at most a tenth more."""


MOST = 0.5
"""Of a share that is written as one part in so many."""


class Target(NamedTuple):
    """What the named policy is to reach: one part in so many of the printed one's regret."""

    mean: float
    """Over the panels, geometrically."""
    panel: float
    """On each of them."""


TARGETS = {
    "cmab": Target(8, 6),
    "clb": Target(15, 10),
    "cccb": Target(15, 10),
    "mv": Target(8, 6),
}
PROVED_TARGETS = {"cmab": 5.0, "clb": 5.7}


class Share(NamedTuple):
    """A share of the printed algorithm's regret, and its interval."""

    value: float
    low: float
    high: float

    def at_most(self, limit: float) -> bool | None:
        """Whether it is: None where the interval allows for both.

        >>> Share(0.1, 0.08, 0.12).at_most(0.125), Share(0.1, 0.08, 0.13).at_most(0.125)
        (True, None)
        """
        return True if self.high <= limit else False if self.low > limit else None


def found_in(runs: BetterRuns) -> JsonObject:
    """The summary: panels, families and fresh instances, and the claims about them."""
    found: JsonObject = {"settings": runs.asked.settings(), "versions": versions()}
    parts: dict[str, list[JsonObject]] = {"panels": [], "families": [], "instances": []}
    claims: list[Claim] = []
    for problem in runs.asked.problems:
        figures = runs.figures(problem)
        if not figures:
            continue
        shares, means = shares_of(figures, problem)
        parts["panels"] += [_panel(figures[name], problem, name, shares) for name in figures]
        parts["families"].append(_family(figures, shares, means, problem))
        claims += claims_of(figures, problem, shares, means)
        fresh = runs.figures(problem, fresh=True)
        if fresh:
            instances = instances_of(fresh, problem)
            parts["instances"] += instances
            claims.append(_steady(fresh, problem, instances))
    return {"claims": [claim._asdict() for claim in claims], **parts, **found}


def resampled(runs: int) -> Array:
    """How often each run counts in each draw of the bootstrap, over the number of runs.

    >>> resampled(5).shape, float(resampled(5).sum(axis=1).min())
    ((10000, 5), 1.0)
    """
    draw = np.random.default_rng(0)
    counts = draw.multinomial(runs, np.full(runs, 1 / runs), size=DRAWS)
    return np.asarray(counts / runs)


Shares = Mapping[str, Mapping[str, Share]]
"""panel -> policy -> its share there."""


def shares_of(figures: Figures, problem: str) -> tuple[Shares, Mapping[str, Share]]:
    """The share of each policy on each panel, and its geometric mean over the panels."""
    base = of_role(problem, PRINTED).name
    weights = resampled(_count(figures))
    shares: dict[str, dict[str, Share]] = {}
    values: dict[str, list[float]] = {}
    drawn: dict[str, list[Array]] = {}
    for panel, policies in figures.items():
        below = policies[base]["regret"]
        for name, numbers in policies.items():
            value = float(numbers["regret"].mean() / below.mean())
            draws = (weights @ numbers["regret"]) / (weights @ below)
            shares.setdefault(panel, {})[name] = _share(value, draws)
            values.setdefault(name, []).append(value)
            drawn.setdefault(name, []).append(draws)
    means = {
        name: _share(float(geometric(np.array(values[name]))), geometric(np.array(drawn[name])))
        for name in values
    }
    return shares, means


def geometric(values: Array) -> Array:
    """The geometric mean over the first axis.

    >>> float(geometric(np.array([0.25, 1.0])))
    0.5
    """
    return np.asarray(np.exp(np.log(values).mean(axis=0)))


def _share(value: float, draws: Array) -> Share:
    low, high = np.quantile(draws, (0.025, 0.975))
    return Share(value, float(low), float(high))


def _count(figures: Figures) -> int:
    policies = next(iter(figures.values()))
    return len(next(iter(policies.values()))["regret"])


def roles(problem: str) -> dict[str, str]:
    """The role of each name in the figures; what plays a second time has its own and "again"."""
    found = {rival.name: rival.role for rival in rivals(problem)}
    again = {name + AGAIN: role + AGAIN for name, role in found.items() if role in (PRINTED, NAMED)}
    return {**found, **again}


def _panel(
    policies: Mapping[str, Mapping[str, Array]], problem: str, name: str, shares: Shares
) -> JsonObject:
    """A panel's entry: the worst run beside each mean."""
    said = roles(problem)
    entries = [
        {
            "name": policy,
            "role": said[policy],
            "share": shares[name][policy]._asdict(),
            "regret": spread(numbers["regret"]),
            "default_plays": spread(numbers["default_plays"]),
            "violating_rounds": int(numbers["violating_rounds"].sum()),
            "minimum_slack": float(numbers["minimum_slack"].min()),
        }
        for policy, numbers in policies.items()
    ]
    runs = len(next(iter(policies.values()))["regret"])
    return {"problem": problem, "panel": name, "runs": runs, "policies": entries}


def _family(
    figures: Figures, shares: Shares, means: Mapping[str, Share], problem: str
) -> JsonObject:
    """The entry of all panels of a problem.

    "worst_run": the largest regret of a run as a share of the printed algorithm's mean there.
    """
    base = of_role(problem, PRINTED).name
    said = roles(problem)
    entries = []
    for policy, mean in means.items():
        worst = max(shares, key=lambda panel: shares[panel][policy].value)
        entries.append(
            {
                "name": policy,
                "role": said[policy],
                "geometric_mean": mean._asdict(),
                "worst_panel": {"panel": worst, "share": shares[worst][policy]._asdict()},
                "worst_run": max(_worst_run(figures[panel], policy, base) for panel in figures),
            }
        )
    return {"problem": problem, "policies": entries}


def _worst_run(policies: Mapping[str, Mapping[str, Array]], policy: str, base: str) -> float:
    return float(policies[policy]["regret"].max() / policies[base]["regret"].mean())


def instances_of(fresh: Figures, problem: str) -> list[JsonObject]:
    """For each d: each policy's share over the fresh instances, and its worst run.

    "worst_run" is the largest regret of a run as a share of the printed algorithm's mean on the
    same instance; "runs_above": how many runs have more than that mean. The interval of the
    geometric mean draws instances, not runs.
    """
    base = of_role(problem, PRINTED).name
    grouped: dict[str, list[str]] = {}
    for panel in fresh:
        grouped.setdefault(panel.partition("-instance")[0], []).append(panel)
    found = []
    for place, panels in grouped.items():
        weights, entries, said = resampled(len(panels)), [], roles(problem)
        for policy in fresh[panels[0]]:
            runs = np.array([fresh[panel][policy]["regret"] for panel in panels])
            below = np.array([fresh[panel][base]["regret"].mean() for panel in panels])
            logs = np.log(runs.mean(axis=1) / below)
            mean = _share(float(np.exp(logs.mean())), np.exp(weights @ logs))
            worst = (runs / below[:, None]).max(axis=1)
            entries.append(
                {
                    "name": policy,
                    "role": said[policy],
                    "geometric_mean": mean._asdict(),
                    "worst_instance": float(np.exp(logs.max())),
                    "worst_run": float(worst.max()),
                    "runs_above": int((runs > below[:, None]).sum()),
                    "violating_rounds": _below(fresh, panels, policy),
                }
            )
        count = len(fresh[panels[0]][base]["regret"])
        at = {"problem": problem, "panel": place, "instances": len(panels), "runs": count}
        found.append({**at, "policies": entries})
    return found


def _below(figures: Figures, panels: list[str], policy: str) -> int:
    return sum(int(figures[panel][policy]["violating_rounds"].sum()) for panel in panels)


def claims_of(
    figures: Figures, problem: str, shares: Shares, means: Mapping[str, Share]
) -> list[Claim]:
    """What was to be reached on the panels of a problem, and whether it is."""
    made = [*_named(problem, shares, means), *_proved(problem, means)]
    below = sum(
        int(numbers["violating_rounds"].sum())
        for policies in figures.values()
        for numbers in policies.values()
    )
    made.append(
        Claim(
            f"{problem}-kept",
            f"{problem.upper()}: no play of any run ends below the floor, whatever the policy",
            below == 0,
            f"{below:,} plays below the floor",
        )
    )
    scarce = few(_count(figures))
    if not scarce:
        return made
    return [
        one._replace(holds=None, found=f"{scarce}; {one.found}")
        if one.holds or not one.key.endswith("-kept")
        else one
        for one in made
    ]


def _named(problem: str, shares: Shares, means: Mapping[str, Share]) -> Iterator[Claim]:
    """The claims about the policy that was named before measuring."""
    name, target = of_role(problem, NAMED).name, TARGETS[problem]
    own = {panel: policies[name] for panel, policies in shares.items()}
    worst = max(own, key=lambda panel: own[panel].value)
    who, than = f"{problem.upper()}: {name}", "of the printed algorithm's"
    yield Claim(
        f"{problem}-mean",
        f"{who} has at most 1/{target.mean:g} {than} regret, in the geometric mean of the panels",
        means[name].at_most(1 / target.mean),
        said(means[name]),
    )
    yield Claim(
        f"{problem}-each",
        f"{who} has at most 1/{target.panel:g} {than} regret on each panel",
        _all(share.at_most(1 / target.panel) for share in own.values()),
        f"{said(own[worst])} on {worst}, its worst",
    )
    yield Claim(
        f"{problem}-worse",
        f"{who} has no more regret than the printed algorithm on any panel",
        _all(share.at_most(1) for share in own.values()),
        f"{said(own[worst])} on {worst}, its worst",
    )


def _proved(problem: str, means: Mapping[str, Share]) -> Iterator[Claim]:
    """The claim about the best policy with a published guarantee, where there is one."""
    if problem in PROVED_TARGETS:
        name, parts = of_role(problem, PROVED).name, PROVED_TARGETS[problem]
        yield Claim(
            f"{problem}-proved",
            f"{problem.upper()}: {name}, which has a published guarantee, has about 1/{parts:g} "
            "of the printed algorithm's regret or less, in the geometric mean of the panels",
            means[name].at_most(ABOUT / parts),
            said(means[name]),
        )


def _steady(fresh: Figures, problem: str, instances: list[JsonObject]) -> Claim:
    """The claim about instances that no policy was tuned on."""
    name = of_role(problem, NAMED).name
    mine = [one for at in instances for one in at["policies"] if one["name"] == name]
    above, worst = sum(one["runs_above"] for one in mine), max(one["worst_run"] for one in mine)
    runs, scarce = sum(at["instances"] * at["runs"] for at in instances), few(_count(fresh))
    found = f"{above:,} of {runs:,} runs above; the worst has {worst:.3f} of that mean"
    return Claim(
        f"{problem}-fresh",
        f"{problem.upper()}: on fresh instances no run of {name} has more regret than the printed "
        "algorithm in the mean of its runs there",
        False if above else None if scarce else True,
        f"{scarce}; {found}" if scarce else found,
    )


def _all(verdicts: Iterator[bool | None]) -> bool | None:
    """Whether all hold; not decided if none fails and one is not.

    >>> _all(iter([True, None])), _all(iter([None, False])), _all(iter([True]))
    (None, False, True)
    """
    known = list(verdicts)
    return False if False in known else None if None in known else True


def said(share: Share) -> str:
    """A share and its interval in words: as parts, or as numbers where it is more than half.

    >>> said(Share(0.125, 0.1, 0.2)), said(Share(0.94, 0.9, 0.98))
    ('1/8 (1/10 to 1/5)', '0.94 (0.9 to 0.98)')
    """
    if share.value > MOST:
        return f"{share.value:.3g} ({share.low:.3g} to {share.high:.3g})"
    return f"{part(share.value)} ({part(share.low)} to {part(share.high)})"


def part(share: float) -> str:
    """A share as one part in so many.

    >>> part(0.119), part(1 / 29)
    ('1/8.4', '1/29')
    """
    return f"1/{brief(float(f'{1 / share:.2g}'))}"
