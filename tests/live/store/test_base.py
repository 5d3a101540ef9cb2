import pytest

from surefoot.errors import InvalidInput
from surefoot.live.entries import wall_clock
from surefoot.live.store import AccountRow, LeaseRow, MemoryStore, Store, base


def test_available_is_what_may_still_be_lost():
    assert AccountRow("a", 2, True, posted=5, held=7, reserve=10).available == 8


@pytest.mark.parametrize(("state", "unspent"), [("open", 6), ("forfeited", 6), ("returned", 0)])
def test_a_returned_lease_has_nothing_left(state, unspent):
    assert LeaseRow("l", "e", "w", 1, amount=10, spent=4, expires=0, state=state).unspent == unspent


def test_a_store_is_closed_by_with():
    class Closing(MemoryStore):
        closed = False

        def close(self):
            self.closed = True

    with Closing() as store:
        assert not store.closed
    assert store.closed


def test_a_store_must_say_how_it_does_everything():
    with pytest.raises(TypeError, match="abstract"):
        Store()


@pytest.mark.parametrize(
    ("account", "places", "strict", "named"),
    [("", 2, True, "account"), (None, 2, True, "account"), ("a\0", 2, True, "account"),
     ("a", 2.0, True, "places"), ("a", True, True, "places"), ("a", 10**6, True, "places"),
     ("a", 2, 1, "strict"), ("a", 2, None, "strict")],
)  # fmt: skip
def test_a_bad_account_is_refused_by_name(account, places, strict, named):
    with pytest.raises(InvalidInput, match=named):
        base.new_account(account, places, strict)


@pytest.mark.parametrize(
    ("seq", "blob", "experiment", "named"),
    [("1", b"", "", "seq"), (1, "text", "", "blob"), (1, None, "", "blob"), (1, b"", 3, "experim")],
)
def test_a_bad_snapshot_is_refused_by_name(seq, blob, experiment, named):
    with pytest.raises(InvalidInput, match=named):
        base.checked_snapshot(seq, blob, experiment)


def test_the_wall_clock_counts_microseconds():
    assert 1.7e15 < wall_clock() < 1e16
