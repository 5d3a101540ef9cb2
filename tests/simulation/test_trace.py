import numpy as np

from surefoot.simulation import loop as trace


def test_the_columns_are_all_of_them_and_the_state_comes_first():
    state = [trace.T, trace.DEFAULTS, trace.SLACK, trace.LEAST, trace.BELOW, trace.NEXT]
    assert [*state, trace.ARM] == list(range(trace.COLUMNS))
    losses = [trace.GAP, trace.MEAN, trace.SQUARE, trace.VARIANCE]
    assert losses == list(range(trace.SUMS))


def test_a_blank_trace_has_one_row_for_each_checkpoint():
    blank = trace.blank(3)
    assert blank.books.shape == (3, trace.COLUMNS)
    assert blank.books.dtype == np.int64
    assert blank.losses.shape == (3, trace.SUMS)
    assert not blank.books.any()
    assert not blank.losses.any()
