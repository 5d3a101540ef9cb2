"""Anyone's callable, with every wrong answer it may give."""

import numpy as np
import pytest

from surefoot.errors import InvalidInput
from surefoot.oracles import Oracle, TopK, as_oracle


def best_two(w):
    return np.argsort(w)[-2:]


class Mine:
    n_base = 3
    size = (2, 2)

    def __call__(self, weights):
        return best_two(weights)


def test_the_answer_becomes_an_ascending_tuple_of_ints():
    oracle = as_oracle(best_two, n_base=3)
    assert oracle([0.9, 0.1, 0.5]) == (0, 2)
    assert {type(e) for e in oracle([0.9, 0.1, 0.5])} == {int}
    assert (oracle.n_base, oracle.size) == (3, (1, 3))
    assert isinstance(oracle, Oracle)


def test_ours_are_returned_as_they_are():
    ours = TopK(2)
    assert as_oracle(ours) is ours
    wrapped = as_oracle(best_two, 3)
    assert as_oracle(wrapped) is wrapped


def test_a_class_of_your_own_says_its_size_itself_and_is_checked_too():
    oracle = as_oracle(Mine())
    assert (oracle.n_base, oracle.size) == (3, (2, 2))
    assert oracle([0.9, 0.1, 0.5]) == (0, 2)
    assert as_oracle(Mine(), size=(1, 2)).size == (1, 2)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([], "the oracle's answer is empty"),
        (None, "the oracle's answer is None; it must be a list"),
        (2, "the oracle's answer is 2; it must be a list"),
        ([0, 0], "the oracle's answer holds base arm 0 twice"),
        ([0, 4], r"the oracle's answer holds 4; base arms are numbered 0\.\.3"),
        ([-1], r"the oracle's answer holds -1; base arms are numbered 0\.\.3"),
        ([0.0], r"the oracle's answer holds 0.0 \(float\)"),
        (np.array([True, False]), r"the oracle's answer holds np.True_ \(bool\)"),
        (
            [0, 1, 2],
            r"the oracle's answer \(0, 1, 2\) has 3 base arms; its size was given",
        ),
    ],
)
def test_a_wrong_answer_is_refused(answer, message):
    with pytest.raises(InvalidInput, match=message):
        as_oracle(lambda w: answer, n_base=4, size=(1, 2))(np.ones(4))


def test_wrong_weights_never_reach_the_callable():
    def never(w):
        raise AssertionError

    for weights in ([1.0], [1.0, np.nan, 1.0]):
        with pytest.raises(InvalidInput):
            as_oracle(never, n_base=3)(weights)


def test_what_the_callable_raises_is_passed_on():
    with pytest.raises(ZeroDivisionError):
        as_oracle(lambda w: [1 // 0], n_base=2)([1.0, 1.0])


def test_the_callable_cannot_change_the_weights():
    def greedy(w):
        w[:] = 0.0
        return [0]

    w = np.ones(2)
    with pytest.raises(ValueError, match="read-only"):
        as_oracle(greedy, n_base=2)(w)
    assert w.tolist() == [1.0, 1.0]


def test_a_callable_cannot_be_saved():
    with pytest.raises(InvalidInput, match=r"best_two.* cannot be saved as JSON; build it anew"):
        as_oracle(best_two, n_base=3).config()


@pytest.mark.parametrize(
    ("n_base", "size", "message"),
    [
        (None, None, r"n_base of <function best_two.* is not known; pass as_oracle"),
        (0, None, "n_base = 0 must be an int >= 1"),
        (3, 2, "size = 2 must be a pair"),
        (3, (1, 2, 3), r"size = \(1, 2, 3\) must be a pair"),
        (3, (0, 2), "the fewest base arms of size = 0 must be an int >= 1"),
        (3, (2, 1), "the most base arms of size = 1 must be an int >= 2"),
        (3, (1, 4), r"size = \(1, 4\) allows 4 base arms, but there are 3"),
    ],
)
def test_a_size_that_cannot_be_is_refused(n_base, size, message):
    with pytest.raises(InvalidInput, match=message):
        as_oracle(best_two, n_base, size)


def test_what_cannot_be_called_is_refused():
    with pytest.raises(InvalidInput, match="oracle = 'top' must be callable"):
        as_oracle("top", n_base=3)
