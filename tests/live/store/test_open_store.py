import sys

import pytest

from surefoot.errors import InvalidInput, MissingExtra
from surefoot.live.live import Live
from surefoot.live.store import MemoryStore, open_store
from surefoot.live.store.sqlite import SQLiteStore


def test_a_store_is_returned_as_it_is():
    store = MemoryStore()
    assert open_store(store) is store


def test_memory_is_a_store_of_its_own():
    assert isinstance(open_store(":memory:"), MemoryStore)
    assert open_store(":memory:", clock=lambda: 7).now() == 7


@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_a_path_is_a_sqlite_file(tmp_path, kind):
    with open_store(kind(tmp_path / "shop.db"), clock=lambda: 7) as store:
        assert isinstance(store, SQLiteStore)
        assert store.now() == 7
    assert (tmp_path / "shop.db").exists()


@pytest.mark.parametrize("target", [None, 3, "", b"x", "mysql://host/db", "http://x"])
def test_anything_else_is_refused(target):
    with pytest.raises(InvalidInput, match="store ="):
        open_store(target)


@pytest.mark.parametrize("package", ["sqlalchemy", "alembic"])
def test_a_missing_package_is_one_line_that_says_what_to_do(tmp_path, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"{package}.*'\.\[live\]'"):
        open_store(tmp_path / "shop.db")


def test_a_file_that_is_to_be_there_is_not_made(tmp_path):
    path = tmp_path / "typo.db"
    with pytest.raises(InvalidInput, match=r"typo.db is not there; pass an agent"):
        open_store(path, new=False)
    with pytest.raises(InvalidInput, match=r"typo.db is not there"):
        Live(None, path)
    assert not path.exists()


def test_what_is_to_be_read_is_not_made(tmp_path):
    with pytest.raises(InvalidInput, match=r"typo.db is not there; name a file that is"):
        open_store(tmp_path / "typo.db", read_only=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("target", [":memory:", MemoryStore()])
def test_what_is_in_memory_cannot_be_opened_to_be_read(target):
    with pytest.raises(InvalidInput, match="read_only is for a file or a database"):
        open_store(target, read_only=True)
