import pytest

from surefoot import KLUCB, UCB1, LinUCB
from surefoot.errors import InvalidInput
from surefoot.live.arms import grown, unknown


@pytest.mark.parametrize("kind", [UCB1, KLUCB])
def test_what_was_learned_stays_and_the_new_arm_is_unknown(kind):
    policy, whole = kind(2), kind(3)
    for each in (policy, whole):
        for arm, reward in ((0, 1.0), (1, 0.0), (0, 0.5)):
            each.best(None, None)
            each.update(arm, reward, None)
    bigger = grown(policy, [2])
    assert bigger.state() == whole.state()
    assert bigger.best(None, None)[0] == 2
    assert policy.n_arms == 2


@pytest.mark.parametrize("labels", [[], "AA", [1.5], ["B", "B"]])
def test_what_can_be_no_labels(labels):
    with pytest.raises(InvalidInput):
        unknown(("UA", "AA"), labels)


def test_labels_that_are_there_are_not_unknown():
    assert unknown(("UA", "AA"), ["AA", "DL"]) == ["DL"]


def test_arms_that_are_more_than_labels():
    with pytest.raises(InvalidInput, match="arms cannot be added to LinUCB"):
        grown(LinUCB(arms=[[1.0, 0.0], [0.0, 1.0]]), [2])
