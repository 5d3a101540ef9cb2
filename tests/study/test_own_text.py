import itertools
import os
import sys
from importlib import import_module, invalidate_caches

import pytest

from surefoot.errors import InvalidInput
from surefoot.study import own_text
from surefoot.study.own_text import texts

NUMBERS = itertools.count()


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """Write modules of a user's own, and say what is read of one; every test has its own names."""
    monkeypatch.syspath_prepend(tmp_path)
    known = set(sys.modules)
    yield Lab(tmp_path, f"lab{next(NUMBERS)}")
    for name in set(sys.modules) - known:
        del sys.modules[name]


class Lab:
    def __init__(self, folder, name):
        self.folder, self.name = folder, name

    def write(self, file, text):
        target = self.folder / file.replace("lab", self.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.replace("lab", self.name))
        os.utime(target, ns=(target.stat().st_mtime_ns, 10**18 + next(NUMBERS) * 10**10))

    def text(self, file):
        return (self.folder / file.replace("lab", self.name)).read_text().replace(self.name, "lab")

    def read(self, module="lab.policies", home=None, fresh=False):
        """What is read in this process; ``fresh``: as a process would that has just begun."""
        if fresh:
            for name in [name for name in sys.modules if name.startswith(self.name)]:
                del sys.modules[name]
        invalidate_caches()
        import_module(module.replace("lab", self.name))
        own_text._texts.cache_clear()
        found = texts(module.replace("lab", self.name), home)
        return {name.replace(self.name, "lab"): one for name, one in found.items()}


def test_all_of_the_users_own_that_a_module_imports_is_read(lab):
    lab.write("lab/__init__.py", "")
    lab.write("lab/policies.py", "import numpy, lab.far\nfrom .near import one\nfrom . import side")
    lab.write("lab/near.py", "def one():\n    from labbeside import two\n    return two")
    lab.write("lab/side.py", "")
    lab.write("lab/far.py", "import json\n")
    lab.write("lab/never.py", "")
    lab.write("labbeside.py", "two = 2")
    found = lab.read()
    assert list(found) == ["lab", "lab.far", "lab.near", "lab.policies", "lab.side", "labbeside"]
    for file in ("lab/near.py", "labbeside.py", "lab/__init__.py"):
        lab.write(file, lab.text(file) + "\nlater = 3")
        again = lab.read(fresh=True)
        assert {name for name in found if found[name] != again[name]} == {
            file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        }
        found = again
    lab.write("lab/never.py", "one = 1")
    assert lab.read(fresh=True) == found


def test_libraries_are_not_read(lab):
    lab.write("site-packages/lab.py", "import labother, json")
    lab.write("site-packages/labother.py", "")
    sys.path.insert(0, str(lab.folder / "site-packages"))
    try:
        assert list(lab.read("lab")) == ["lab"]
    finally:
        sys.path.pop(0)


POLICY = """
class Mine:
    shape = None

    @property
    def size(self):
        return 1

    def select(self):
        return [lambda: {0}]

Mine.shape = Mine
"""


@pytest.mark.parametrize("after", [POLICY.replace("{0}", "{1}"), POLICY.replace("1", "2")])
def test_a_module_edited_after_it_was_loaded_is_neither_the_old_nor_the_new(lab, after):
    lab.write("lab.py", POLICY)
    before = lab.read("lab")
    lab.write("lab.py", after)
    stale = lab.read("lab")
    new = lab.read("lab", fresh=True)
    assert len({one["lab"] for one in (before, stale, new)}) == 3
    lab.write("lab.py", POLICY)
    assert lab.read("lab", fresh=True) == before


def test_what_is_written_later_than_it_was_asked_for_is_not_read(lab):
    lab.write("lab.py", POLICY)
    before = lab.read("lab")
    lab.write("lab.py", "")
    assert texts(lab.name, None)[lab.name] == before["lab"]


def test_a_module_without_a_file_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "typed_in", type(sys)("typed_in"))
    with pytest.raises(InvalidInput, match="module typed_in has no file"):
        texts("typed_in", None)
