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
from surefoot.study.logs.backtest_words import signed
from surefoot.study.logs.subject import Subject
from surefoot.study.logs.worlds import AGENTS, GUARDED, UNGUARDED


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
        ([1.0, 1.0], {"horizon": 1}),  # nothing is learnt
        ([1.0, 5.0], {"alpha": 0.9, "policy": "ucb1"}),  # nothing falls below
        ([1e9, 2e9], {}),
    ],
)
def test_every_outcome_can_be_drawn(tmp_path, monkeypatch, means, options):
    monkeypatch.setattr(style, "FORMATS", ("png",))
    found = findings(log(means, spread=0.3 * means[0]), **options)
    (file,) = draw_backtest(found, tmp_path / "replay")
    assert file.read_bytes().startswith(b"\x89PNG")


def words(axes):
    return " ".join(text.get_text() for text in axes.texts)


def test_the_first_panel_shows_all_of_the_horizon_the_interval_and_the_luck(drawn):
    found = findings(log([1.0, 1.4, 0.5]), horizon=600)
    figure = drawn(found)
    axes, gain = figure.axes[0], found.gain
    assert axes.get_title(loc="left") == "Gain over 600 plays"
    assert axes.get_xlim()[1] > 600
    curves = {tuple(line.get_ydata()) for line in axes.lines}
    for name in AGENTS:
        assert tuple(found.measure(name, "gain").mean(axis=0)) in curves
    assert {(gain.low, gain.high), (gain.mean,), (gain.luck,)} <= curves
    stake = float(found.runs.value - found.runs.least) * 600
    assert f"most lost, surely\n{signed(-stake)}" in words(axes)
    assert f"luck {signed(gain.luck)}" in words(axes)
    assert f"less luck {signed(gain.mean)}" in words(axes)


def test_the_danger_is_how_many_redrawn_logs_fall_how_far(drawn):
    found = findings(log([1.0, 1.4, 0.2]), horizon=600)
    axes = drawn(found).axes[1]
    assert "optimistic" in axes.get_title(loc="left")
    assert "guarded\nnever" in words(axes)
    deepest = max(one.dips[UNGUARDED] for one in found.runs.of_kind(worlds.REDRAWN))
    ends = [line.get_xdata().max() for line in axes.lines[:2]]
    assert max(ends) >= deepest * 1e-9
    assert all(line.get_ydata().max() <= 1 for line in axes.lines[:2])


def test_each_arm_has_its_mean_and_interval_the_default_first(drawn):
    found = findings(log([1.0, 1.4, 0.2]), horizon=60)
    axes = drawn(found).axes[2]
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert names == ["a", "b", "c"]
    spans = {tuple(line.get_xdata()) for line in axes.lines}
    assert {(arm["low"], arm["high"]) for arm in found.arms} <= spans
    many = findings(log([1.0] * 20), horizon=60)
    axes = drawn(many).axes[2]
    assert len(axes.get_yticklabels()) == 12
    assert "8 more left out" in axes.get_title(loc="left")


def test_the_log_stands_among_its_copies(drawn):
    found = findings(log([1.0, 1.4, 0.2]), horizon=600)
    axes = drawn(found).axes[3]
    assert f"p = {found.gain.p:.3f}" in words(axes)
    assert sum(patch.get_height() for patch in axes.patches) == 10


def test_several_alphas_are_compared(drawn):
    found = findings(log([1.0, 1.4, 0.2]), horizon=600, alphas=(0.02, 0.5))
    axes = drawn(found).axes[3]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0.02", "0.1", "0.5"]
    spans = {tuple(line.get_ydata()) for line in axes.lines}
    for one in found.sweep:
        assert (one["gain"]["low"], one["gain"]["high"]) in spans
        assert (-one["stake"], -one["stake"]) in spans


def test_the_title_is_the_verdict_and_the_caption_says_what_it_rests_on(drawn):
    found = findings(log([1.0, 1.4, 0.2]), horizon=600)
    title, caption = (text.get_text() for text in drawn(found).texts)
    assert title == found.headline()
    said = " ".join(caption.split())
    assert "credited at the upper end of its mean" in said
    assert "not a causal claim" in said


def test_a_fall_that_would_flatten_the_rest_leaves_the_chart(drawn):
    found = findings(log([2.0, 0.2, 0.1]), horizon=2_000, runs=5)
    axes = drawn(found).axes[0]
    assert "unguarded, off the chart" in words(axes)
    assert found.measure(UNGUARDED, "gain").min() < axes.get_ylim()[0]
    assert found.measure(GUARDED, "gain").min() > axes.get_ylim()[0]


def test_curves_differ_in_more_than_colour(drawn):
    axes = drawn(findings(log([1.0, 1.4, 0.5]), horizon=600)).axes[0]
    means = [line for line in axes.lines if len(line.get_xdata()) > 2 and line.get_linewidth() > 1]
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
    [(["a", "b"], 1e-7, 1e-8), (MONEY, 4e8, 9e7)],
)
@pytest.mark.parametrize("rising", [True, False])
def test_all_that_is_written_stays_on_the_sheet_and_apart(drawn, arms, mean, spread, rising):
    noise = np.random.default_rng(0).normal(0, spread, (40, len(arms)))
    means = mean + spread * np.linspace(0, 1 if rising else -0.5, len(arms))
    data = {"arm": arms * 40, "reward": (means + noise).ravel()}
    figure = drawn(findings(data, arms[0], horizon=300))
    figure.canvas.draw()
    for left, right in (figure.axes[:2], figure.axes[2:]):
        boxes = left.get_tightbbox(), right.get_tightbbox()
        assert boxes[0].x0 >= 0
        assert boxes[0].x1 < boxes[1].x0
        assert boxes[1].x1 <= figure.bbox.x1
    for axes in figure.axes:
        assert axes.get_window_extent().width > 0.15 * figure.bbox.width
    assert figure.texts[0].get_window_extent().x1 <= figure.bbox.x1


LABELS = {
    "newlines": "a\nb\nc\nd\ne\nf",
    "long": "x" * 200,
    "right to left and emoji": "ברירת מחדל 🚀🔥",
    "broken mathematics": r"$\frac{",
}


@pytest.mark.filterwarnings("ignore:no font of this machine has")
@pytest.mark.parametrize("label", LABELS.values(), ids=list(LABELS))
def test_whatever_an_arm_is_called_the_plot_is_seen(drawn, label):
    rows = log([0.5, 0.6])
    rows["arm"] = [label if arm == "a" else f"not {label}" for arm in rows["arm"]]
    figure = drawn(findings(rows, default=label))
    figure.canvas.draw()
    for axes in figure.axes:
        plot, sheet = axes.get_window_extent(), figure.bbox
        assert plot.width > 0.2 * sheet.width
        assert plot.height > 0.2 * sheet.height
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
    assert "guarded, in the log 0" in {text.get_text() for text in left.texts}
