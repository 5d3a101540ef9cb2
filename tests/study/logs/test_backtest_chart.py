import warnings

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text

from surefoot._drawing import style
from surefoot.study.logs import worlds
from surefoot.study.logs.backtest import Backtest
from surefoot.study.logs.backtest_chart import draw_backtest
from surefoot.study.logs.backtest_runs import BacktestRuns
from surefoot.study.logs.subject import Subject
from surefoot.study.logs.worlds import AGENTS, GUARDED, JOINED, UNGUARDED
from surefoot.study.numbers import amount


def findings(log, default="a", **options):
    runs = BacktestRuns(
        Subject(log, default, "Try", "A log."), **{"alpha": 0.1, "runs": 3, **options}
    )
    list(runs.steps())
    return Backtest(runs)


def log(means, rows=100, spread=0.3):
    """A log of one arm for each mean, called a, b, c, ..."""
    arms = [chr(ord("a") + arm) for _ in range(rows) for arm in range(len(means))]
    noise = np.random.default_rng(0)
    return {"arm": arms, "reward": noise.normal(np.tile(means, rows), spread)}


@pytest.fixture(autouse=True)
def few_copies(monkeypatch):
    """A chart of a few copies looks as one of many."""
    monkeypatch.setattr(worlds, "COPIES", 10)


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Draw, and get the figure instead of its files."""

    def draw(found):
        kept = []
        monkeypatch.setattr(style, "save", lambda sheet, stem: kept.append(sheet) or [])
        draw_backtest(found, tmp_path / "x")
        return kept[0]

    return draw


@pytest.mark.parametrize(
    ("means", "options"),
    [
        ([1.0, 2.0, 0.5], {}),
        ([2.0, 1.0, 0.5], {}),  # the default is best: exploring costs
        ([1.0, 1.0], {"horizon": 1}),  # nothing is learnt
        ([1.0, 5.0], {"alpha": 0.9, "policy": "ucb1"}),  # nothing falls below
        ([1e-7, 2e-7], {}),
        ([1e9, 2e9], {}),
    ],
)
def test_every_outcome_can_be_drawn(tmp_path, monkeypatch, means, options):
    monkeypatch.setattr(style, "FORMATS", ("png",))
    found = findings(log(means, spread=0.3 * means[0]), **options)
    (file,) = draw_backtest(found, tmp_path / "replay")
    assert file.read_bytes().startswith(b"\x89PNG")


def test_the_panels_show_what_they_say(drawn):
    found = findings(log([1.0, 1.4, 0.5]), horizon=600)
    figure = drawn(found)
    left, right = figure.axes
    curves = {tuple(line.get_ydata()) for line in left.lines}
    for name in AGENTS:
        gain = found.measure(name, "gain")
        assert tuple(gain.mean(axis=0)) in curves
        if name != JOINED:
            assert {tuple(gain.min(axis=0)), tuple(gain.max(axis=0))} <= curves
    runs = found.runs
    assert tuple(float(runs.least - runs.value) * found.t) in curves  # the floor
    assert tuple(0.0 * found.t) in curves  # always the default
    worst = {tuple(line.get_ydata()) for line in right.lines}
    assert {tuple(found.measure(name, "slack").min(axis=0)) for name in AGENTS} <= worst
    (inset,) = left.child_axes
    received = {tuple(line.get_ydata()) for line in inset.lines}
    assert {
        tuple(found.measure(GUARDED, "received").mean(axis=0)),
        tuple(found.measure(UNGUARDED, "received").mean(axis=0)),
        tuple(float(runs.value) * found.t),
        tuple(float(runs.least) * found.t),
    } == received


def test_the_words_carry_the_numbers(drawn):
    found = findings(log([1.0, 1.4, 0.2]), horizon=600)
    figure = drawn(found)
    title, caption = (text.get_text() for text in figure.texts)
    assert title == found.headline()
    assert "credited at the upper end of its mean" in " ".join(caption.split())
    assert "not a causal claim" in " ".join(caption.split())
    left, right = (" ".join(text.get_text() for text in axes.texts) for axes in figure.axes)
    assert "guarded\n+" in left
    assert "always a" in left
    assert "floor" in left
    assert "guarded\nnever below" in right
    agent = found.agent(UNGUARDED)
    deepest, below = agent["worst_shortfall"], round(3 * agent["runs_below_floor"])
    assert deepest > 0
    assert f"unguarded\nup to {amount(deepest)} below,\n{below} of 3 runs" in right


def test_a_fall_that_would_flatten_the_rest_leaves_the_chart(drawn):
    found = findings(log([2.0, 0.2, 0.1]), horizon=2_000, runs=5)
    left, right = drawn(found).axes
    assert "unguarded, off the chart" in " ".join(text.get_text() for text in left.texts)
    assert found.measure(UNGUARDED, "gain").min() < 2 * left.get_ylim()[0]
    assert found.measure(GUARDED, "gain").min() > left.get_ylim()[0]
    assert left.get_title(loc="left") == "What exploring cost"
    assert right.get_xlim()[1] == 2_000  # it never comes back


def test_curves_differ_in_more_than_colour(drawn):
    left = drawn(findings(log([1.0, 1.4, 0.5]), horizon=600)).axes[0]
    means = [line for line in left.lines if line.get_linewidth() > 1]
    assert len({to_hex(line.get_color()) for line in means}) == 5
    assert len({str(line._dash_pattern) for line in means}) == 5


def test_labels_are_shown_as_they_are(drawn):
    tricky = ["$5_off$", "\N{CJK UNIFIED IDEOGRAPH-5ABD}", "{x}", "a<b&c"]
    data = {"arm": tricky * 30, "reward": [1] * 60 + [0.5] * 60}
    for default in tricky[:1] + tricky[2:3]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # this machine may lack a font
            figure = drawn(findings(data, default, horizon=100))
        figure.canvas.draw()
        texts = figure.findobj(Text)
        assert any(text.get_text() == f"always {default}" for text in texts)
        assert not any(text.get_parse_math() for text in texts if "$" in text.get_text())


def test_a_label_that_no_font_has_is_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(style, "FORMATS", ("png",))
    monkeypatch.setattr("surefoot._drawing.fonts._characters", lambda file: frozenset("abcdefgh"))
    data = {"arm": ["\N{CJK UNIFIED IDEOGRAPH-5ABD}", "b"] * 30, "reward": [1, 1] * 30}
    found = findings(data, "\N{CJK UNIFIED IDEOGRAPH-5ABD}", horizon=100)
    with pytest.warns(UserWarning, match="^no font of this machine has .*fonts-noto") as told:
        assert draw_backtest(found, tmp_path / "x")
    assert len(told) == 1


MONEY = ["summer sale homepage banner, long", *(f"banner {number}" for number in range(14))]


@pytest.mark.parametrize(
    ("arms", "mean", "spread"),
    [(MONEY, 50_000, 9_000), (["a", "b"], 9, 10), (["a", "b"], 1e-7, 1e-8), (MONEY, 4e8, 9e7)],
)
@pytest.mark.parametrize("rising", [True, False])
def test_all_that_is_written_stays_on_the_sheet_and_apart(drawn, arms, mean, spread, rising):
    noise = np.random.default_rng(0).normal(0, spread, (40, len(arms)))
    means = mean + spread * np.linspace(0, 1 if rising else -0.5, len(arms))
    data = {"arm": arms * 40, "reward": (means + noise).ravel()}
    figure = drawn(findings(data, arms[0], horizon=3_000))
    figure.canvas.draw()
    left, right = (axes.get_tightbbox() for axes in figure.axes)
    assert left.x0 >= 0
    assert left.x1 < right.x0
    assert right.x1 <= figure.bbox.x1
    for axes in figure.axes:
        assert axes.get_window_extent().width > 0.15 * figure.bbox.width
    (inset,) = figure.axes[0].child_axes
    assert inset.get_tightbbox().x0 > figure.axes[0].get_window_extent().x0
    assert figure.texts[0].get_window_extent().x1 <= figure.bbox.x1


LABELS = {
    "newlines": "a\nb\nc\nd\ne\nf",
    "long": "x" * 200,
    "long words": "word " * 60,
    "right to left": "ברירת מחדל",
    "emoji": "🚀🔥",
    "dollars": "a$b$c",
    "broken mathematics": r"$\frac{",
}


@pytest.mark.filterwarnings("ignore:no font of this machine has")
@pytest.mark.parametrize("label", LABELS.values(), ids=list(LABELS))
def test_whatever_an_arm_is_called_the_plot_is_seen(drawn, label):
    rows = log([0.5, 0.6])
    rows["arm"] = [label if arm == "a" else f"not {label}" for arm in rows["arm"]]
    figure = drawn(findings(rows, default=label))
    figure.canvas.draw()
    for axes in figure.axes[:2]:
        plot, sheet = axes.get_window_extent(), figure.bbox
        assert plot.width > 0.2 * sheet.width
        assert plot.height > 0.4 * sheet.height
        for text in axes.texts:
            box = text.get_window_extent()
            assert box.x1 <= sheet.x1
            assert not (box.x0 < plot.x1 - 1 and "unguarded" in text.get_text())


def test_what_only_plays_the_default_gains_nothing_and_leaves_no_doubt(drawn):
    log = {"arm": ["a", "b"] * 150, "reward": [0.1, 0.7, 0.7, 0.1, 0.3, 0.2] * 50}
    found = findings(log, alpha=0.00001, runs=6)
    assert (found.measure(GUARDED, "gain") == 0).all()
    rows = found.frame.filter(agent=GUARDED)
    assert (rows["gain"] == 0).all()
    assert "nothing can be explored" in found.headline()
    left = drawn(found).axes[0]
    assert left.get_title(loc="left") == "What exploring changed"
    assert "guarded\n0" in {text.get_text() for text in left.texts}
