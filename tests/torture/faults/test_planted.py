import pytest

from surefoot.live import MemoryStore, engine
from surefoot.live.store import Tx
from surefoot_torture.faults.planted import BUGS, OF_LEASES, planted


@pytest.mark.parametrize("bug", [*BUGS, *OF_LEASES])
def test_a_bug_is_gone_afterwards(bug):
    before = Tx.append, engine.step, MemoryStore.transact
    with planted(bug):
        pass
    assert before == (Tx.append, engine.step, MemoryStore.transact)


def test_an_unknown_bug_is_an_error():
    with pytest.raises(KeyError), planted("none"):
        pass
