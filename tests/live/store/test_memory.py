from surefoot.live import MemoryStore
from surefoot.testing import StoreKit


class TestMemoryStore(StoreKit):
    def make_store(self, clock=None):
        return MemoryStore() if clock is None else MemoryStore(clock)


def test_each_store_is_its_own():
    MemoryStore().open_account("shop", 2, strict=True)
    assert MemoryStore().accounts() == []
