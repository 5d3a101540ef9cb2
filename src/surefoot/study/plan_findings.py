"""What a plan says: promises that are exact, predictions with what they assume, and the words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from surefoot.simulation.result import spread
from surefoot.study import output
from surefoot.study.output import versions, write_json
from surefoot.study.plan import PLAUSIBLE, POOR, Outlook, Point
from surefoot.study.replay import POLICIES, gain
from surefoot.study.replay_numbers import amount, full, percent
from surefoot.study.style import FORMATS
from surefoot.study.verdict import few, margin
from surefoot.theory import self_funding

FIRST = (
    "Sure: the first exploring play is play {first:,}{day}; {before}. It holds where each play is "
    "reported before the next; later if rewards come late."
)
LOSS = (
    "Sure: by play t at most {rate} * t + {reserve} is lost against playing the default alone, on "
    "every path, whatever the arms pay, while no reward leaves [{low}, {high}]. A default play "
    "counts as its known value, {value}."
)
FUNDS = (
    "Sure: an arm that pays {even} or more on average funds its own exploring, (1-alpha) times the "
    "default; of the {arms:,} planned for {funding:,} do."
)
SETTLES = (
    "Predicted: in {settled:,} of {runs:,} runs the account ends able to pay for exploring; it "
    "funds itself from play {middle} on in the middle run, {last} in the last."
)
NEVER = (
    "Predicted: in none of {runs:,} runs does the account fund itself within {horizon:,} plays; "
    "the gate is still closed at times."
)
POOR_ARMS = (
    "Predicted, if no arm is as good as the default and each pays {least}: {share} of {horizon:,} "
    "plays are the default, and {lost} is lost on average, of at most {bound}. The default "
    "competes, so it is played ever more once the arms are known to be worse; with "
    "default_competes=False exploring would go on for ever, with {printed} default plays in the "
    "long run."
)
ALL_GOOD = (
    "No arm planned for is worse than the default. Should none be as good after all, what is sure "
    "above still holds."
)
NONE_GOOD = "No arm planned for is as good as the default: there is nothing to gain by exploring."
ASSUMED = (
    "The predictions are simulated, by no formula: GenCB over {policy}, the default competing, "
    "{runs:,} runs of {horizon:,} plays, seed {seed}; the arms pay {means} on average, each reward "
    "is {low} or {high}, and it is known at once."
)
UNSURE = (
    "What is predicted is a mean over the runs: by play {horizon:,} the share of default plays is "
    "known to ± {share_margin} of the plays and the gain to ± {gain_margin}, at 95 % by Student's "
    "t."
)
SCARCE = (
    "What is predicted is what those runs show, and may be chance: {few} to say how far it may be "
    "off."
)
ROUNDED = (
    "The books hold the default and its floor in units of 10**-{places}, rounded to the safe side: "
    "the first exploring play may be a play later."
)


class Prospects:
    """An outlook whose scenarios are simulated: its numbers and its words.

    >>> outlook = Outlook(0.7, 0.05, means=[0.5, 0.8], horizon=200, runs=2)
    >>> list(outlook.steps(engine="plain"))[-1].done
    4
    >>> Prospects(outlook).headline()
    'Exploring begins at play 20; at most 7 is lost in 200 plays'
    """

    def __init__(self, outlook: Outlook) -> None:
        self.outlook = outlook
        self.t = outlook.plans[PLAUSIBLE].checkpoints
        low, high = outlook.floor.reward_range
        self._width = float(high - low)

    def headline(self) -> str:
        """The plan in one line."""
        outlook = self.outlook
        (point,) = [at for at in outlook.points() if at.plays == outlook.horizon]
        most = full(float(point.largest_loss), figures=6)
        return (
            f"Exploring begins at play {outlook.first_exploration:,}; at most {most} is lost in "
            f"{outlook.horizon:,} plays"
        )

    def share(self, name: str) -> Any:
        """Default plays among the first t: shape (runs, checkpoints)."""
        return self.outlook.results[name].measure("GenCB", "default_plays") / self.t

    def gain(self, name: str) -> Any:
        """Reward above playing the default alone: shape (runs, checkpoints)."""
        return gain(self.outlook.results[name], "GenCB") * self._width

    def funded_from(self, name: str) -> Any:
        """The checkpoint from which each run's gate is open at every later one; nan if none."""
        floor = self.outlook.scaled
        hold = float(floor.unit.decimal(floor.terms().hold))
        closed = self.outlook.results[name].measure("GenCB", "slack") < hold
        after = np.where(closed.any(axis=1), len(self.t) - np.argmax(closed[:, ::-1], axis=1), 0)
        return np.append(self.t.astype(float), np.nan)[after]

    def at(self, name: str, point: Point) -> dict[str, Any] | None:
        """What is foretold by a point; None beyond the horizon."""
        if point.plays > self.outlook.horizon:
            return None
        here = int(np.searchsorted(self.t, point.plays))
        shares, gains = self.share(name)[:, here], self.gain(name)[:, here]
        return {"plays": point.plays, "default_share": _spread(shares), "gain": _spread(gains)}

    def summary(self) -> dict[str, Any]:
        """The plan in numbers, as ``plan.json`` holds it; exact decimals are strings.

        - settings: default, alpha, reward_range, reserve, means, traffic, horizon, policy,
          default_competes, runs, seed
        - exact: first_exploration, break_even, funding_arms (how many of the means pay that),
          points: [{label, plays, largest_loss, most_forced_default_plays}]
        - predicted: for each scenario, "plausible" and, where the least of the means is below the
          default, "poor": {means, funded_runs, funded_from: the middle and the last run's play or
          null, long_run_share: of default plays if the default did not compete and the best of
          the means were played, points: [{plays, and mean, min and max over the runs of
          default_share and gain, and the mean's margin at 95 %, null below 5 runs}]}
        - notes: what is sure, what is predicted, and under which assumptions
        - versions
        """
        outlook = self.outlook
        points = [
            {
                "label": at.label,
                "plays": at.plays,
                "largest_loss": f"{at.largest_loss:f}",
                "most_forced_default_plays": at.forced,
            }
            for at in outlook.points()
        ]
        return {
            "settings": outlook.settings(),
            "exact": {
                "first_exploration": outlook.first_exploration,
                "break_even": f"{outlook.break_even:f}",
                "funding_arms": len(outlook.funding),
                "points": points,
            },
            "predicted": {name: self._scenario(name) for name in outlook.plans},
            "notes": self.notes(),
            "versions": versions(),
        }

    def _scenario(self, name: str) -> dict[str, Any]:
        outlook = self.outlook
        means = outlook.means if name == PLAUSIBLE else [min(outlook.means)] * len(outlook.means)
        best, value, alpha = float(max(means)), outlook.value, outlook.floor.alpha
        since = self.funded_from(name)
        since = np.sort(since[np.isfinite(since)]).astype(int).tolist()
        ends = {"middle": since[len(since) // 2], "last": since[-1]} if since else None
        foretold = (self.at(name, point) for point in outlook.points())
        return {
            "means": [str(mean) for mean in means],
            "funded_runs": len(since),
            "funded_from": ends,
            "long_run_share": self_funding.default_share(best, value, alpha),
            "points": [point for point in foretold if point],
        }

    def notes(self) -> list[str]:
        """What is sure, what is predicted, and under which assumptions; a paragraph each."""
        outlook, words = self.outlook, self._words()
        since = self._scenario(PLAUSIBLE)["funded_from"]
        notes = [FIRST, LOSS, FUNDS, SETTLES if since else NEVER]
        if max(outlook.means) < outlook.value:
            notes.append(NONE_GOOD)
        notes += [POOR_ARMS if POOR in outlook.plans else ALL_GOOD, ASSUMED]
        if few(outlook.runs):
            notes.append(SCARCE)
        elif self.gain(PLAUSIBLE)[
            :, -1
        ].any():  # else no run explored, and there is no chance in it
            notes.append(UNSURE)
        if not outlook.on_lattice:
            notes.append(ROUNDED)
        return [note.format(**words) for note in notes]

    def _words(self) -> dict[str, Any]:
        outlook = self.outlook
        floor, first = outlook.floor, outlook.first_exploration
        low, high = (full(float(end), figures=6) for end in floor.reward_range)
        most, least = max(outlook.means), min(outlook.means)
        plausible = self._scenario(PLAUSIBLE)
        since = plausible["funded_from"] or {"middle": 0, "last": 0}
        day = "" if outlook.traffic is None else f", on day {-(-first // outlook.traffic):,}"
        before = "the default comes first" if first > 1 else "nothing has to be saved up"
        spaced = f"{_exact(most)} to {_exact(least)}, as planned,"
        return {
            "first": first, "day": day, "before": before,
            "rate": _exact(floor.alpha * outlook.value), "reserve": _exact(floor.reserve),
            "low": low, "high": high, "value": _exact(outlook.value),
            "even": _exact(outlook.break_even), "arms": len(outlook.means),
            "funding": len(outlook.funding), "settled": plausible["funded_runs"],
            "middle": f"{since['middle']:,}", "last": f"{since['last']:,}",
            "runs": outlook.runs, "horizon": outlook.horizon, "seed": outlook.seed,
            "means": spaced if most > least else _exact(most),
            "policy": POLICIES[outlook.policy][0], "least": _exact(least), "places": floor.places,
            **self._poor(), **self._margins(),
        }  # fmt: skip

    def _margins(self) -> dict[str, str]:
        """How far the means at the horizon may be off."""
        if lack := few(self.outlook.runs):
            return {"few": lack}
        share, gain = (margin(of(PLAUSIBLE)[:, -1]) for of in (self.share, self.gain))
        return {"share_margin": percent(share), "gain_margin": amount(gain)}

    def _poor(self) -> dict[str, str]:
        """The words of the scenario in which no arm is as good as the default."""
        outlook = self.outlook
        if POOR not in outlook.plans:
            return {}
        here = next(point for point in outlook.points() if point.plays == outlook.horizon)
        lost = -float(self.gain(POOR)[:, -1].mean())
        found = self._scenario(POOR)
        return {
            "share": percent(float(self.share(POOR)[:, -1].mean())),
            "lost": full(lost),
            "bound": full(float(here.largest_loss), figures=6),
            "printed": percent(found["long_run_share"]),
        }


FILES = ("plan.json", *(f"plan.{ending}" for ending in FORMATS))
"""What a plan writes."""


def claim(outlook: Outlook, folder: Path, *, overwrite: bool = False) -> None:
    """Make sure that a plan can be written to a folder: InvalidInput if it holds another one."""
    found = output.settings_in(folder / FILES[0])
    same = isinstance(found, dict) and found.get("settings") == outlook.settings()
    output.claim(folder, FILES, overwrite=overwrite, same=same)


def write(prospects: Prospects, folder: Path) -> dict[str, Any]:
    """Write the chart and, last, ``plan.json`` into a folder; return the summary.

    A plan that is there is replaced, and nothing else: ``claim`` the folder first.
    """
    from surefoot.study.plan_figure import draw

    summary = prospects.summary()
    draw(prospects, folder / "plan")
    write_json(folder / "plan.json", summary)
    return summary


def _spread(values: Any) -> dict[str, float | None]:
    return {**spread(values), "margin": None if few(len(values)) else margin(values)}


def _exact(value: Any) -> str:
    """A decimal as it is, without zeros at its end."""
    return f"{value.normalize():f}"
