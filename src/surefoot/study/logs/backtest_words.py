"""What a backtest found, in words: its headline, its reasons, its flags, its notes."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from surefoot._exact import first_few
from surefoot.study.logs import flags as weak
from surefoot.study.logs.copies import NORMAL
from surefoot.study.logs.evidence import CANNOT_TELL, DOES_NOT_PAY, PAYS
from surefoot.study.logs.flags import Flag
from surefoot.study.logs.worlds import COPIES, JOINED, PAIR, REDRAWN, SPLITS, UNGUARDED
from surefoot.study.numbers import amount, full, percent
from surefoot.study.runs import POLICIES

if TYPE_CHECKING:
    from surefoot.study.logs.backtest import Backtest

SAID = {
    PAYS: "exploring pays",
    DOES_NOT_PAY: "exploring does not pay",
    CANNOT_TELL: "this log cannot tell",
}

BELOW = "the interval, an estimate less luck, does not know that bound"


def called(found: Backtest, name: str) -> str:
    """An agent's name on a chart."""
    return f"unguarded with {found.runs.shown}" if name == JOINED else name


def signed(value: float, beside: float | None = None) -> str:
    """An amount that is gained or lost."""
    return amount(value, beside, signed=True)


def band(found: Backtest) -> str:
    """The interval of the gain."""
    gain = found.gain
    return f"{signed(gain.low)} to {signed(gain.high)}"


def headline(found: Backtest) -> str:
    """The verdict, the gain and the luck in one line."""
    runs, gain = found.runs, found.gain
    subject, always = runs.subject, f"always {runs.shown}"
    first = runs.first_exploration
    if runs.horizon < first:
        return (
            f"{subject.title}: this log cannot tell: the horizon ({runs.horizon:,}) is shorter "
            f"than the wait ({first:,} {subject.play}s until the first exploration), so nothing "
            "can be explored"
        )
    said = f"{subject.title}: {SAID[found.verdict]}: "
    if found.verdict != CANNOT_TELL:
        said += f"{signed(gain.mean)} {subject.reward} ({band(found)})"
    else:
        said += f"{band(found)} {subject.reward}"
    return f"{said} against {always}; shuffled copies gain {signed(gain.luck)}"


def why(found: Backtest) -> list[str]:
    """The reasons of a verdict, the weightiest first."""
    runs, gain = found.runs, found.gain
    said = [flag.why for flag in found.flags if flag.bars]
    alike = round(gain.p * (COPIES + 1)) - 1
    copies = (
        f"of {COPIES} shuffled copies of the log, in which no arm is better, {alike} "
        f"{'looks' if alike == 1 else 'look'} as clear as the log (p = {gain.p:.3f})"
    )
    least = float(np.quantile([one.gains[0].value for one in runs.of_kind(REDRAWN)], 0.025))
    if found.verdict == PAYS:
        said += [copies, f"in 97.5 % of the redrawn logs the gain is above {signed(least)}"]
    elif found.verdict == DOES_NOT_PAY:
        said.append(
            f"in 97.5 % of the redrawn logs the gain is below {signed(gain.high)}, and less than "
            f"{amount(runs.worth)} is not worth having"
        )
    else:
        said += [copies] if gain.p > 0.05 else []
        if least <= 0:
            said.append(f"in 2.5 % of the redrawn logs the gain is below {signed(least)}")
        if gain.high >= runs.worth:
            said.append(
                f"the gain may be {signed(gain.high)}, and {amount(runs.worth)} is worth having"
            )
        said += _needed(found)
        stake = amount(_stake(found))
        said.append(f"to go live guarded puts at most {stake} at stake, surely{_lower(found)}")
    return said


def _stake(found: Backtest) -> float:
    return found.alpha * float(found.runs.value) * found.runs.horizon


def _lower(found: Backtest) -> str:
    """Why the interval may reach below what is lost at most, where it does."""
    return f": {BELOW}" if found.gain.low < -_stake(found) else ""


def _needed(found: Backtest) -> list[str]:
    rows = {lift: count for lift, count in found.rows_needed.items() if count is not None}
    if not rows:
        return []
    each = ", ".join(f"{count:,} at {100 * float(lift):g} %" for lift, count in rows.items())
    said = "an arm that pays more than the default is found in 8 of 10 logs by so many of its rows"
    return [f"{said}: {each} more"]


def flags(found: Backtest) -> list[Flag]:
    """What makes the evidence of a log weaker than its numbers."""
    runs = found.runs
    rows, subject, labels = runs.rows, runs.subject, runs.labels
    flagged = [*_moving(found)]
    if runs.horizon < runs.first_exploration:
        flagged.append(Flag(
            "short",
            f"nothing can be explored before {subject.play} {runs.first_exploration:,}, and the "
            f"horizon is {runs.horizon:,}: take a longer horizon, or a larger alpha", bars=True,
        ))  # fmt: skip
    few, heavy = (tuple(map(int, arms)) for arms in (weak.few(rows), weak.heavy(rows)))
    if few:
        flagged.append(Flag(
            "few", f"fewer than {weak.FEW_ROWS} rows, or than {weak.FEW_PAYING} that pay: "
            f"{first_few([labels[arm] for arm in few], str)}. A handful drawn again shows the "
            "handful, not the arm", few,
        ))  # fmt: skip
    if heavy:
        flagged.append(Flag(
            "heavy", f"ten rows hold more than a fifth of the reward of "
            f"{first_few([labels[arm] for arm in heavy], str)}: a mean that hangs on ten rows is "
            "hardly known", heavy,
        ))  # fmt: skip
    if runs.horizon > rows.count:
        flagged.append(Flag(
            "beyond the log", f"the horizon of {runs.horizon:,} is beyond the log's {rows.count:,} "
            "rows: a longer horizon lengthens the runs, but makes nothing surer",
        ))  # fmt: skip
    return [*flagged, *_of_the_default(found)]


def _moving(found: Backtest) -> list[Flag]:
    runs = found.runs
    codes = runs.environment.codes
    if runs.rows.weights is not None:
        return _misfit(found)
    if weak.moved(codes) >= weak.SURELY:
        return []
    if weak.in_blocks(codes):
        return [Flag(
            "sorted", "the rows are sorted by arm, so they do not show whether the arms' shares "
            "moved over time: sort them by time; where there is no time and the shares were fixed, "
            "shuffle them", bars=True,
        )]  # fmt: skip
    return [Flag(
        "shares move", "the arms' shares move while the log grows (chi-square between its tenths, "
        "p < .001), so an arm may look good for its time: a column of propensities corrects that. "
        "If a bandit kept the log its means lean, too: the arm it played most looks better than "
        "it is, the others worse", bars=True,
    )]  # fmt: skip


def _misfit(found: Backtest) -> list[Flag]:
    sums, p = weak.fit(found.runs.rows)
    if p >= weak.MISFIT:
        return []
    ends = [
        f"{amount(float(sums[arm]))} over the rows of {found.runs.labels[arm]}"
        for arm in (int(sums.argmin()), int(sums.argmax()))
    ]
    return [Flag(
        "propensities", "the propensities do not fit the rows, so they correct nothing: "
        f"1/propensity adds up to {' and to '.join(ends)}, and has to come to the same for each "
        "arm. Is each row's the probability of its own arm, and could each arm be chosen "
        "from the first row to the last?", bars=True,
    )]  # fmt: skip


def _of_the_default(found: Backtest) -> list[Flag]:
    runs = found.runs
    copy, default = runs.worlds.logged, runs.labels[-1]
    last = (len(runs.labels) - 1,)
    if copy.default.known is not None:
        return [Flag(
            "default unlogged", f"no row of the log is the default's: its value, "
            f"{full(copy.mean)}, is taken as it is given, and p does not cover its error",
        )]  # fmt: skip
    half = NORMAL * copy.error
    if half <= found.alpha * copy.mean:
        return []
    return [Flag(
        "default unsure", f"the mean of {default} is known to ± {percent(half / copy.mean)}, which "
        f"is more than alpha ({percent(found.alpha)}): the floor hangs on more of its rows", last,
    )]  # fmt: skip


def notes(found: Backtest) -> list[str]:
    """How it was found, and what the numbers are and are not; a paragraph each."""
    runs = found.runs
    said = [_setting(found), _method(found), _credit(found), _danger(found), _range(found)]
    label = textwrap.shorten(str(runs.subject.default), 120, placeholder="…")
    if runs.shown != label:
        said[0] += f' "{runs.shown}" is {label}.'
    return said + [f"{flag.why[0].upper()}{flag.why[1:]}." for flag in found.flags]


def _setting(found: Backtest) -> str:
    runs, floor = found.runs, found.runs.floor
    default, play = runs.shown, runs.subject.play
    return (
        f"{runs.subject.source} {POLICIES[runs.policy][0]} over the arms besides {default}, "
        f"{runs.runs:,} runs of {runs.horizon:,} {play}s, seed {runs.seed}. "
        f"Guarded at alpha = {float(floor.alpha):g}: after every {play} at least "
        f"{float(100 - 100 * floor.alpha):.10g} % of what always {default} is credited with; "
        f"{default} is also played where no arm looks better. Unguarded: the same policy on the "
        f'same noise, without a guard; "{called(found, JOINED)}" may choose {default} too.'
    )


def _method(found: Backtest) -> str:
    gain = found.gain
    weighted = " The rows count by 1/propensity, and are shuffled within tenths of the log."
    clipped = abs(gain.mean - (gain.in_sample - gain.luck)) > 1e-9 * abs(gain.in_sample)
    within = ", brought within its interval" if clipped else ""
    gained = (
        f"The gain, {signed(gain.mean)}, is what the log shows, {signed(gain.in_sample)}, less "
        f"luck, {signed(gain.luck)}{within}. Luck is what the same backtest gains on {COPIES} "
        "shuffled copies of the log, in which no arm is better."
    )
    meaning = (
        f"The interval is of {COPIES} logs drawn again from its rows. Plays count at their arms' "
        "means. A bootstrap of the log, not a causal claim: as if rewards did not depend on when, "
        "where and for whom an arm was used. Of a log that still grows, decide once, at a number "
        "of rows fixed beforehand."
    )
    return f"{gained} {meaning}{weighted if found.runs.rows.weights is not None else ''}"


def _credit(found: Backtest) -> str:
    runs, copy = found.runs, found.runs.worlds.logged
    default, value = runs.shown, full(float(runs.value), figures=6)
    if copy.default.known is not None:
        return f"The default is credited at its known value: each play of {default} counts {value}."
    return (
        f"The default is credited at the upper end of its mean: each play of {default} counts "
        f"{value}, for a logged {full(copy.mean)} ± {full(NORMAL * copy.error, figures=2)}. "
        "Credited above its true worth, the promise holds against the true one; gain is against "
        f"the logged mean. At most {amount(_stake(found))} can be lost over {runs.horizon:,} "
        f"{runs.subject.play}s, surely{_lower(found)}."
    )


def _danger(found: Backtest) -> str:
    said = []
    for name in (UNGUARDED, JOINED):
        danger = found.danger[name]
        if not danger["share"]:
            said.append(f"{called(found, name)} is never below the floor")
            continue
        middle, _, deep = danger["quantiles"].values()
        said.append(
            f"{called(found, name)} falls below the floor in {percent(danger['share'])} of the "
            f"redrawn logs, in half of them by {amount(middle)} or more, in 2.5 % by "
            f"{amount(deep)} or more"
        )
    runs = found.runs.runs + PAIR * COPIES + COPIES + PAIR * SPLITS
    return (
        f"Guarded, in none of about {runs:,} runs below the floor: a theorem, and checked. "
        f"Without the guard: {'; '.join(said)}. These are optimistic: a redrawn log is kinder than "
        "the world it came from."
    )


def _range(found: Backtest) -> str:
    from surefoot.study.logs.backtest_runs import GIVEN

    runs = found.runs
    low, high = (full(float(end), figures=6) for end in runs.floor.reward_range)
    if runs.range_is == GIVEN:
        return f"Your claim: no reward leaves [{low}, {high}]. The guarantee rests on it."
    return (
        f"Our assumption: no reward ever leaves [{low}, {high}] ({runs.range_is}). "
        "The guarantee rests on a sure bound; --reward-range gives yours."
    )


def in_short(found: Backtest) -> str:
    """The ``repr`` of a backtest."""
    gain, runs = found.gain, found.runs
    return (
        f"Backtest({found.verdict!r}: {signed(gain.mean)} ({band(found)}) {runs.subject.reward} "
        f"over {runs.horizon:,} {runs.subject.play}s; luck {signed(gain.luck)})"
    )


def table(found: Backtest, escape: Callable[[str], str]) -> str:
    """The headline, the reasons and the arms as HTML, for a notebook."""
    reasons = "".join(f"<li>{escape(reason)}</li>" for reason in found.why)
    columns = ("arm", "rows", "mean", "95 %", "plays", "")
    head = "".join(f"<th>{column}</th>" for column in columns)
    largest = max(abs(arm["mean"]) for arm in found.arms)
    lines = []
    for arm in found.arms:
        marks = ("default" if arm["is_default"] else "", *(m for m in ("few", "heavy") if arm[m]))
        ends = " to ".join(full(arm[end], largest) for end in ("low", "high"))
        cells = (
            str(arm["arm"]), f"{arm['rows']:,}", full(arm["mean"], largest), ends,
            f"{arm['plays']:,.0f}", ", ".join(filter(None, marks)),
        )  # fmt: skip
        lines.append("".join(f"<td>{escape(cell)}</td>" for cell in cells))
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f"<p><strong>{escape(headline(found))}</strong></p><ul>{reasons}</ul>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
