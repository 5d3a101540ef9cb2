"""How the examples show their numbers: a table, and each agent in the plane of two measures."""

from typing import Any, NamedTuple

from scipy import stats

from surefoot._drawing import style

LOOKS = {
    "guarded": (style.GUARDED, "o"),
    "learned": (style.COMPARATOR, "s"),
    "unguarded": (style.UNGUARDED, "X"),
    "A/A": (style.DEFAULT, "^"),
}
CAPTION = (
    "Dots: candidates; those far below the incumbent are not shown. Grey: what must not be. "
    "Bars: 95 % intervals of the mean over the runs. A/A: guarded, all candidates are incumbents."
)


class Found(NamedTuple):
    """What an agent came to in each run: measures of a play, least slacks, share of the default."""

    means: dict[str, Any]
    least: dict[str, Any]
    default: Any

    def interval(self, measure: str) -> tuple[float, float]:
        """The mean over the runs, and half of its 95 % interval by Student's t."""
        runs = self.means[measure]
        half = stats.sem(runs) * stats.t.ppf(0.975, len(runs) - 1)
        return float(runs.mean()), float(half)

    def json(self) -> dict[str, Any]:
        """The numbers; ``beyond``: by how much the worst run broke a floor, at its worst play."""
        beyond = {one: float(max(0, -least.min())) for one, least in self.least.items()}
        means = {one: self.interval(one) for one in self.means}
        return {"mean": means, "default": float(self.default.mean()), "beyond": beyond}


def table(everything: dict[str, dict[str, Found]]) -> str:
    """A Markdown table a case."""
    lines = []
    for title, of in everything.items():
        names = sorted(of["guarded"].means, reverse=True)
        lines += ["", title, "", f"| | {' | '.join(names)} | default | beyond the floor |"]
        lines.append("| --- " * (len(names) + 3) + "|")
        for agent, one in of.items():
            said = [f"{mean:.4f} ± {half:.4f}" for mean, half in map(one.interval, names)]
            beyond = ", ".join(
                f"{far:,.1f} of {name}" for name, far in one.json()["beyond"].items()
            )
            share = f"{100 * one.default.mean():.0f} %"
            lines.append(f"| {' | '.join([agent, *said, share, beyond])} |")
    return "\n".join([*lines, ""])


def draw(path: str, cases: Any, everything: Any, arms: Any, incumbent: Any) -> None:
    """Write the figure, a panel a case; candidates far below the incumbent are left out."""
    best = max(good for good, _ in arms.values())
    lowest = incumbent[0] - 2 * (best - incumbent[0])
    size = (4.6 * len(cases), 4.4)
    with style.sheet("What a play comes to", CAPTION, len(cases), size) as (figure, panels):
        for axes, case in zip(panels, cases, strict=True):
            good, price = case.objective
            axes.set(title=case.title, xlabel=f"{price}, dollars a play", ylabel=good)
            for arm, (y, x) in arms.items():
                if y > lowest:
                    axes.plot(x, y, ".", color=style.QUIET)
                    where = {"xytext": (0, 5), "textcoords": "offset points", "ha": "center"}
                    axes.annotate(arm, (x, y), **where, size=7.5)
            axes.plot(incumbent[1], incumbent[0], "D", color=style.BLACK, markersize=5)
            axes.annotate("incumbent", incumbent[::-1], (6, -3), textcoords="offset points", size=8)
            for name, one in everything[case.title].items():
                curve, mark = LOOKS[name]
                (x, dx), (y, dy) = one.interval(price), one.interval(good)
                axes.errorbar(x, y, dy, dx, mark, color=curve.colour, markersize=6, label=name)
            axes.set_ylim(lowest, best + 0.1 * (best - lowest))
            forbid(axes, case.floors)
            axes.legend(loc="lower right", frameon=False, fontsize=8.5)
        style.fit(panels)
        figure.savefig(path, dpi=130, metadata={"Date": None} if path.endswith("svg") else None)


def forbid(axes: Any, floors: dict[str, Any]) -> None:
    """Lay grey over what must not be: below a floor, above a ceiling."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    for floor in floors.values():
        given_up = float(floor.alpha * abs(floor.default) + floor.margin)
        if floor.costs:
            axes.axvspan(float(floor.default) + given_up, right, color=style.HAIR, alpha=0.5)
        else:
            axes.axhspan(low, float(floor.default) - given_up, color=style.HAIR, alpha=0.5)
    axes.set(xlim=(left, right), ylim=(low, high))
