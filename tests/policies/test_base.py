"""The protocol, and the checks that hold anybody's learner to it."""

import re

import numpy as np
import pytest

from learners import Least
from surefoot._labels import arm_labels
from surefoot.errors import InvalidInput
from surefoot.policies import C2UCB, KLUCB, UCB1, Ball, LinUCB, Policy, Ridge, Scoring
from surefoot.policies.base import arm_chosen, arms_of, has, measures_of, score_given


def without(name):
    """A Least that lacks one thing."""
    return type("Least", (Least,), {name: None})()


@pytest.mark.parametrize(
    "policy",
    [UCB1(2), KLUCB(2), LinUCB([[1]]), LinUCB(Ball(1, 2)), C2UCB([[1]], lambda w: [0])],
)
def test_ours_follow_the_protocols(policy):
    assert isinstance(policy, Policy)
    assert isinstance(policy, Scoring)


def test_a_plain_class_is_a_policy_that_cannot_score():
    assert isinstance(Least(), Policy)
    assert not isinstance(Least(), Scoring)
    assert arms_of(Least()) == (0, 1, 2)


@pytest.mark.parametrize(
    ("method", "call"),
    [
        ("select", "select(context, rng)"),
        ("update", "update(arm, reward, context)"),
        ("state", "state()"),
        ("restore", "restore(state)"),
    ],
)
def test_a_policy_that_lacks_a_method_is_told_which(method, call):
    message = f"Least is not a policy: it lacks {call}"
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        arms_of(without(method))


def test_something_else_entirely_is_told_all_it_lacks():
    with pytest.raises(
        InvalidInput, match=r"^int is not a policy: it lacks n_arms, select.*restore"
    ):
        arms_of(7)


def test_a_class_in_place_of_an_instance_is_refused():
    with pytest.raises(InvalidInput, match=r"^policy = UCB1 is a class; pass an instance"):
        arms_of(UCB1)


@pytest.mark.parametrize(
    "policy", [LinUCB(Ball(1, 2)), LinUCB(dim=3, ridge=Ridge(feature_bound=1))]
)
def test_rows_and_points_have_no_labels(policy):
    assert policy.n_arms is None
    assert arms_of(policy) == ()


def test_labels_without_arms_are_refused():
    policy = Least()
    policy.n_arms, policy.arms = None, ["a"]
    with pytest.raises(InvalidInput, match="Least has n_arms = None, but 1 labels"):
        arms_of(policy)


def test_labels_of_a_policy_are_as_many_as_its_arms():
    policy = Least()
    policy.arms = ["a", "b"]
    with pytest.raises(InvalidInput, match=r"Least has n_arms = 3, but 2 labels"):
        arms_of(policy)


@pytest.mark.parametrize("n_arms", [0, -1, True, 1.5, "3", np.float64(3)], ids=repr)
def test_a_policy_whose_number_of_arms_is_none_is_refused(n_arms):
    policy = Least()
    policy.n_arms = n_arms
    with pytest.raises(InvalidInput, match="n_arms = "):
        arms_of(policy)


def test_an_attribute_that_is_no_method_does_not_count():
    policy = Least()
    policy.best = 2
    assert not has(policy, "best")
    assert has(UCB1(1), "best")


@pytest.mark.parametrize("make", [UCB1, KLUCB])
class TestArms:
    def test_are_numbered_or_named(self, make):
        assert make(3).arms == (0, 1, 2)
        assert make(np.int64(3)).arms == (0, 1, 2)
        assert make(arms=["UA", 7]).arms == ("UA", 7)
        assert make(arms=np.array(["UA", "AA"])).arms == ("UA", "AA")
        assert [type(arm) for arm in make(arms=np.arange(2)).arms] == [int, int]

    @pytest.mark.parametrize("n_arms", [0, -1, True, 1.5, "3", [3]], ids=repr)
    def test_number_that_is_none(self, make, n_arms):
        with pytest.raises(InvalidInput, match=re.escape(f"n_arms = {n_arms!r} must be an int")):
            make(n_arms)

    @pytest.mark.parametrize(
        ("arms", "message"),
        [
            ([], "arms is empty"),
            (np.array([]), "arms is empty"),
            ("UA", "arms = 'UA' is one string"),
            (b"UA", "is one string"),
            ({"UA", "AA"}, "is a set"),
            (5, "arms = 5 must be a list of labels"),
            (["UA", None], "arm label None must be a string or an int"),
            (["UA", True], "arm label True must be"),
            (["UA", 1.5], "arm label 1.5 must be"),
            ([["UA"], ["AA"]], "arm label ['UA'] must be"),
            (["UA", "AA", "UA"], "arm label 'UA' is given twice"),
            ([1, np.int64(1)], "arm label 1 is given twice"),
        ],
    )
    def test_labels_that_are_none(self, make, arms, message):
        with pytest.raises(InvalidInput, match=re.escape(message)):
            make(arms=arms)

    @pytest.mark.parametrize("both", [{}, {"n_arms": 2, "arms": ["a", "b"]}])
    def test_exactly_one_form_is_given(self, make, both):
        with pytest.raises(InvalidInput, match="give exactly one"):
            make(**both)


def test_a_long_wrong_value_is_shortened():
    with pytest.raises(InvalidInput) as error:
        arm_labels(None, "a" * 1000)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize("arm", [2, np.int64(2), np.uint8(2), np.array(2)], ids=repr)
def test_every_kind_of_integer_is_an_arm(arm):
    chosen = arm_chosen(Least(), arm, 3, [1, 2])
    assert (chosen, type(chosen)) == (2, int)


@pytest.mark.parametrize(
    "arm", [-1, 3, 1.0, np.float64(1), True, np.bool_(1), "1", None, [1]], ids=repr
)
def test_what_is_no_arm_is_refused(arm):
    with pytest.raises(InvalidInput, match=r"^Least chose .*; an arm is an int in 0\.\.2$"):
        arm_chosen(Least(), arm, 3, None)


def test_an_arm_that_is_not_allowed_is_refused():
    with pytest.raises(InvalidInput, match=r"chose arm 0, which is not among the allowed \[1, 2\]"):
        arm_chosen(Least(), 0, 3, [1, 2])


def test_a_score_is_any_number():
    assert score_given(Least(), (1, 0.5)) == (1, 0.5)
    assert score_given(Least(), (1, np.float32(0.5))) == (1, 0.5)
    assert score_given(Least(), [1, float("inf")]) == (1, float("inf"))


@pytest.mark.parametrize(
    "answer", [1, None, (1,), (1, 2, 3), (1, None), (1, float("nan"))], ids=repr
)
def test_what_is_no_arm_and_score_is_refused(answer):
    with pytest.raises(InvalidInput, match=r"^Least\.best returned .*; it returns an arm and"):
        score_given(Least(), answer)


def declares(said):
    return type("Least", (Least,), {"measures": said})()


@pytest.mark.parametrize(
    ("said", "needs"),
    [(False, None), (True, ()), (("cost",), ("cost",)), (["quality", "cost"], ("quality", "cost"))],
)
def test_a_policy_says_which_measures_it_cannot_do_without(said, needs):
    assert measures_of(declares(said)) == needs


@pytest.mark.parametrize("said", [None, 1, "cost", (), (1,), ("",), {"cost": 1}, lambda self: {}])
def test_other_measures_of_a_policy_are_refused(said):
    with pytest.raises(InvalidInput, match=r"^Least has measures = .*; say True to be told of all"):
        measures_of(declares(said))
