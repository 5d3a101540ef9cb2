import numpy as np
import pytest

from surefoot.study import bootstrap
from surefoot.study.bootstrap import intervals
from surefoot.study.verdict import margin


def naive(values, draws):
    """The studentised bootstrap, one resample at a time."""
    mean, error = values.mean(), values.std(ddof=1) / len(values) ** 0.5
    ratios = []
    for counts in draws:
        again = np.repeat(values, counts)
        ratios.append((again.mean() - mean) / (again.std(ddof=1) / len(values) ** 0.5))
    low, high = np.quantile(ratios, (0.025, 0.975))
    return mean - high * error, mean - low * error


def test_it_is_that_of_the_textbook():
    values = np.random.default_rng(3).exponential(size=12)
    rng, times = np.random.default_rng(bootstrap._SEED), range(bootstrap.RESAMPLES)
    draws = [np.bincount(rng.integers(0, 12, 12), minlength=12) for _ in times]
    assert intervals(values[:, None])[0] == pytest.approx(naive(values, draws))


@pytest.mark.parametrize("draw", ["normal", "exponential"])
def test_it_holds_the_mean_about_as_often_as_it_says(draw):
    rng = np.random.default_rng(1)
    truth = {"normal": 0.0, "exponential": 1.0}[draw]
    found = [intervals(getattr(rng, draw)(size=(20, 1)))[0] for _ in range(150)]
    held = np.mean([low <= truth <= high for low, high in found])
    assert 0.88 <= held <= 0.99


def test_columns_do_not_depend_on_one_another():
    values = np.random.default_rng(2).normal(size=(30, 3))
    alone = [intervals(values[:, [column]])[0] for column in range(3)]
    assert np.array(intervals(values)) == pytest.approx(np.array(alone))
    assert intervals(values) == intervals(values.copy())


def test_it_moves_and_stretches_with_the_values():
    values = np.random.default_rng(2).exponential(size=(30, 1))
    ((low, high),) = intervals(values)
    assert intervals(1e9 + 2 * values)[0] == pytest.approx((1e9 + 2 * low, 1e9 + 2 * high))


def test_too_few_runs_say_nothing_and_equal_ones_all():
    assert intervals(np.ones((4, 2))) == [None, None]
    assert intervals(np.full((5, 1), 0.1)) == [(0.1, 0.1)]


def test_of_few_runs_it_is_students():
    values = np.array([1.0, 2.0, 3.0, 50.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    low, high = intervals(values[:, None])[0]
    assert (low, high) == pytest.approx(
        (values.mean() - margin(values), values.mean() + margin(values))
    )


def test_where_resamples_have_no_spread_students_interval_is_given():
    values = np.r_[np.zeros(49), 1.0]
    low, high = intervals(values[:, None])[0]
    assert (low, high) == pytest.approx((0.02 - margin(values), 0.02 + margin(values)))


def test_memory_stays_bounded_and_very_many_runs_need_no_resampling(monkeypatch):
    monkeypatch.setattr(bootstrap, "_ROOM", 1)  # a resample at a time
    values = np.random.default_rng(2).normal(size=(11, 1))
    one = intervals(values)
    monkeypatch.undo()
    assert one[0] == pytest.approx(intervals(values)[0])
    many = np.random.default_rng(2).normal(size=(bootstrap.MANY, 1))
    assert intervals(many)[0] == pytest.approx(
        (many.mean() - margin(many[:, 0]), many.mean() + margin(many[:, 0]))
    )
