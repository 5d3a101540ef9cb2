import pytest

from surefoot import UCB1, GenCB, RewardFloor
from surefoot.errors import InvalidInput
from surefoot.floors import Terms
from surefoot.live import MemoryStore
from surefoot.live.live import Live
from surefoot.live.play import LivePlay, Request, terms_of, written_terms


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ((None, [1, 2], None), (None, (2, 1, 1), None), True),
        ((None, None, 0.5), (None, None, 0.50), True),
        ((None, None, (0.5, 1)), (None, None, [0.5, 1.0]), True),
        (((1, 2), None, None), ([1, 2], None, None), False),
        ((None, [1], None), (None, ["1"], None), False),
        ((None, None, 0.5), (None, None, (0.5, 0.5)), False),
        ((None, [], None), (None, None, None), False),
    ],
)
def test_what_counts_as_the_same_request(one, other, same):
    assert (Request.of(*one).digest == Request.of(*other).digest) is same


def checked_id(given):
    return Request.of(None, None, None, given).id


def test_ids():
    assert [checked_id(given) for given in (None, "a-B_9", "x" * 64)] == [None, "a-B_9", "x" * 64]
    assert checked_id("p-x") == "p-x"
    for taken in ("p-1", "p-00"):
        with pytest.raises(InvalidInput, match="the store gives"):
            checked_id(taken)


@pytest.mark.parametrize("terms", [Terms(5, 4, 4, 1), Terms(5, 6, 7, 1, 8, 1, 4)])
def test_terms_are_told_and_read(terms):
    told = written_terms(terms)
    assert terms_of(told) == terms
    told["loss"] = told.pop("hold")  # as of a default play, which holds nothing
    assert terms_of(told) == terms


def test_a_play_is_what_its_entry_says():
    store = MemoryStore()
    live = Live(GenCB(UCB1(arms=["UA", "AA"]), RewardFloor(0.5, 0.25, reserve=0.4)), store)
    plays = [live.select(), live.select()]
    entries = list(store.entries("default", after=2))
    assert [LivePlay.of(entry, 9) for entry in entries] == plays
    assert [play.arm for play in plays] == ["UA", None]
    assert plays[0].worst_case == plays[1].slack == plays[1].worst_case
    assert plays[0].slack - plays[0].worst_case == plays[0].play.amount(375_000_000)
    assert live.play(plays[0].id) == plays[0]


def test_a_context_that_no_line_of_a_ledger_can_hold_is_refused():
    with pytest.raises(InvalidInput, match=r"context takes 1[5-9],.* characters in JSON, at most"):
        Request.of("x" * (15 << 20), None, None)
