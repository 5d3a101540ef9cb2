"""What is kept of machine code: never stale, and never the end of a start. Real processes."""

import hashlib
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

pytest.importorskip("numba")

POLICY = """
import math
from typing import NamedTuple

from surefoot.kernels.policy import IndexPolicy
from surefoot.kernels.registry import IndexKernels, count_and_sum, register
from surefoot.kernels.registry import NANO, add
import theirs
from theirs import SHARE

WEIGHT = 1.4


class OwnRecord(NamedTuple):
    c: float = 1.0


def _scale(policy, m):
    return WEIGHT * math.log(m)


def _index(policy, state, k, s, best):
    plays = state[0][k]
    if plays == 0:
        return math.inf
    return state[1][k] / NANO / plays + theirs.spread(SHARE * policy.c * s / plays)


register(OwnRecord, IndexKernels(count_and_sum, _scale, _index, add))


class Own(IndexPolicy):
    def __init__(self, n_arms):
        super().__init__(OwnRecord(), n_arms, None)
"""
THEIRS = """
import math
from surefoot._jit import jittable

SHARE = 1.0


@jittable
def spread(x):
    return math.sqrt(x)
"""
# Prints the regret of a run, compiled or not, and whether the policy's loop was compiled anew.
SCRIPT = """
import json, sys
import surefoot as sf
from surefoot.simulation import compiled
if "own" in sys.argv:
    from mine import Own
else:
    from surefoot import UCB1 as Own
world, floor = sf.BernoulliArms([0.9, 0.5, 0.4]), sf.RewardFloor(0.6, 0.1)
found = {}
for engine in ("compiled", "plain"):
    agents = {"own": sf.Plain(Own(3), floor)}
    result = sf.simulate(agents, world, 300, seed=1, engine=engine)
    found[engine] = result.summary()["own"]["regret"]["mean"]
    found[engine] = round(found[engine], 6)  # they sum in another order
stats = compiled.engine().driver(type(agents["own"].policy.record)).walk.stats
found["hit"] = bool(sum(stats.cache_hits.values()))
print(json.dumps(found))
"""


# A loop that takes a moment to compile: what the record's kernels say, and if it was on disk.
LOOP = """
from surefoot.kernels import registry


def loop(policy, state):
    return registry.index(policy, state, 0, registry.scale(policy, 9), 0.0)
"""
SMALL = """
import json
import numpy as np
from loop import loop
from mine import OwnRecord
from surefoot._compile import compiling
from surefoot.kernels import warm

state = np.array([4]), np.array([3_000_000_000])
with compiling() as njit:
    warm.teach()
    compiled = njit(loop)
print(json.dumps({
    "compiled": compiled(OwnRecord(), state),
    "plain": loop(OwnRecord(), state),
    "hit": bool(sum(compiled.stats.cache_hits.values())),
}))
"""


def start(folder, *words, code=SCRIPT, **settings):
    """A new process, and what it is told by its environment; None takes a name away."""
    environment = {
        **os.environ, "PYTHONPATH": str(folder), "SUREFOOT_CACHE": str(folder / "cache"), **settings
    }  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-c", code, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={name: value for name, value in environment.items() if value is not None},
        cwd=folder, text=True,
    )  # fmt: skip


def run(folder, *words, **settings):
    """What a process says that ends well, and in how many lines on stderr."""
    process = start(folder, *words, **settings)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return {**json.loads(out), "err": err}


def quietly(found):
    assert found.pop("err") == ""
    return found


@pytest.fixture
def own(tmp_path):
    (tmp_path / "mine.py").write_text(POLICY, encoding="utf-8")
    (tmp_path / "theirs.py").write_text(THEIRS, encoding="utf-8")
    (tmp_path / "loop.py").write_text(LOOP, encoding="utf-8")
    return tmp_path


def edit(file, before, after, *, same_time=False):
    """Change a text; as an editor does, or within the resolution of a stamp."""
    text, stamp = file.read_text(encoding="utf-8"), file.stat()
    assert text.count(before) == 1
    file.write_text(text.replace(before, after), encoding="utf-8")
    if same_time:
        os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


# (file, what is there, what takes its place)
EDITS = [
    ("mine.py", "WEIGHT = 1.4", "WEIGHT = 0.0"),
    ("mine.py", "return WEIGHT * math.log(m)", "return 0.001 * math.log(m)"),
    ("mine.py", "c: float = 1.0", "c: float = 1.5"),
    ("theirs.py", "SHARE = 1.0", "SHARE = 0.0"),
    ("theirs.py", "math.sqrt(x)", "0.0 * x"),
]


def test_after_an_edit_what_runs_is_the_new_text_and_a_torn_file_is_mended(own):
    first = quietly(run(own, code=SMALL))
    edit(own / "mine.py", "WEIGHT = 1.4", "WEIGHT = 0.0")
    edited = quietly(run(own, code=SMALL))
    assert edited["compiled"] == edited["plain"] != first["plain"] == first["compiled"]
    (file,) = own.glob("cache/surefoot/*/*.code")  # the edited text has taken it over
    file.write_bytes(file.read_bytes()[:-100])
    assert quietly(run(own, code=SMALL)) == edited
    assert quietly(run(own, code=SMALL)) == {**edited, "hit": True}


@pytest.mark.slow
def test_after_each_edit_what_runs_is_the_new_text(own):
    """Constants, texts and imported ones; and what was edited back is compiled again at most."""
    first, again = quietly(run(own, code=SMALL)), quietly(run(own, code=SMALL))
    assert (first["hit"], again["hit"]) == (False, True)
    assert first["compiled"] == first["plain"] == again["compiled"]
    for name, before, after in EDITS:
        edit(own / name, before, after)
        edited = quietly(run(own, code=SMALL))
        assert edited["compiled"] == edited["plain"] != first["plain"], (name, before)
        assert not edited["hit"]
        edit(own / name, after, before)
    assert quietly(run(own, code=SMALL))["compiled"] == first["plain"]


@pytest.mark.slow
def test_an_edited_policy_of_ones_own_plays_as_edited(own):
    """The same through the engine, beside a policy of ours, whose loops stay on disk."""
    first, again = quietly(run(own, "own")), quietly(run(own, "own"))
    assert (first["hit"], again["hit"]) == (False, True)
    assert first["compiled"] == first["plain"] == again["compiled"]
    ours = quietly(run(own))
    edit(own / "mine.py", "WEIGHT = 1.4", "WEIGHT = 0.0")
    edited = quietly(run(own, "own"))
    assert edited["compiled"] == edited["plain"] != first["plain"]
    assert not edited["hit"]
    assert quietly(run(own)) == {**ours, "hit": True}


@pytest.mark.slow
def test_what_counts_is_the_text_that_runs_not_the_one_in_the_file(own):
    """Python takes an edit of equal size and stamp for none, and so does the first of these."""
    kept = {"code": SMALL, "PYTHONDONTWRITEBYTECODE": None}
    first = quietly(run(own, **kept))
    edit(own / "mine.py", "WEIGHT = 1.4", "WEIGHT = 0.0", same_time=True)
    unseen = quietly(run(own, **kept))
    assert unseen["compiled"] == unseen["plain"] == first["plain"]
    os.utime(own / "mine.py", (time.time() + 10,) * 2)
    seen = quietly(run(own, **kept))
    assert seen["compiled"] == seen["plain"] != first["plain"]


@pytest.mark.slow
def test_a_value_that_changes_without_the_text_is_seen(own):
    edit(own / "mine.py", "WEIGHT = 1.4", "import os; WEIGHT = float(os.environ['WEIGHT'])")
    one, two = (quietly(run(own, code=SMALL, WEIGHT=weight)) for weight in ("1.5", "2.5"))
    assert one["compiled"] == one["plain"] != two["plain"] == two["compiled"]


DAMAGES = {
    "empty": lambda raw: b"",
    "truncated": lambda raw: raw[: len(raw) // 2],
    "a bit in the machine code": lambda raw: raw[:-3000] + bytes([raw[-3000] ^ 4]) + raw[-2999:],
    "its head": lambda raw: b"\0" * 40 + raw[40:],
    "foreign": lambda raw: b"not ours " * 100,
    "sound, but of something else": lambda raw: _checked(pickle.dumps((1, 2))),
    "sound, but no longer importable": lambda raw: _checked(b"cnowhere\nnothing\n."),
}


def _checked(raw):
    return hashlib.sha256(raw).digest() + raw


@pytest.mark.slow
def test_a_damaged_file_is_compiled_anew_and_mended(own):
    first = quietly(run(own, code=SMALL))
    (file,) = own.glob("cache/surefoot/*/*.code")
    whole = file.read_bytes()
    for name, damage in DAMAGES.items():
        file.write_bytes(damage(whole))
        assert quietly(run(own, code=SMALL)) == first, name
    assert quietly(run(own, code=SMALL)) == {**first, "hit": True}
    file.unlink()
    file.mkdir()
    assert run(own, code=SMALL)["compiled"] == first["compiled"]


LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
"""


@pytest.mark.slow
def test_a_quota_costs_time_and_one_warning(own):
    """RLIMIT_FSIZE lets no file grow past so many bytes, as a quota or a full disk does."""
    found = run(own, code=LIMITED + SMALL)
    assert (found["compiled"], found["hit"]) == (found["plain"], False)
    assert found["err"].count("cannot be kept") == 1
    assert "set SUREFOOT_CACHE" in found["err"]
    assert list(own.glob("cache/surefoot/*/*")) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"SUREFOOT_CACHE": "/dev/null"},
        {"SUREFOOT_CACHE": "/dev/full/x"},
        {"SUREFOOT_CACHE": "x" * 300},
        {"SUREFOOT_CACHE": None, "HOME": "/dev/null", "XDG_CACHE_HOME": None},
        {"NUMBA_CACHE_DIR": "/dev/null/nowhere"},
    ],
    ids=["no folder", "below a device", "too long", "no home", "numba's own is elsewhere"],
)
def test_without_a_place_it_is_compiled_in_memory(own, settings):
    found = quietly(run(own, code=SMALL, **settings))
    assert found["compiled"] == found["plain"]
    assert not found["hit"]


DROPPED = """
import os, sys
import numba.extending, surefoot._kernel_cache, surefoot.kernels.warm, loop, mine
numba.njit(lambda x: x + 1)(1)  # loads the rest
os.getuid() or os.setuid(65534)
"""


@pytest.mark.slow
def test_a_folder_that_can_only_be_read_is_read(own):
    """As one that was made with an image: nothing can be written, nothing has to be."""
    with tempfile.TemporaryDirectory() as there:  # which another user may enter
        folder = shutil.copytree(own, Path(there) / "own")
        first = quietly(run(folder, code=SMALL))
        ways = [folder.parent, folder, *folder.rglob("*")]
        for way in ways:
            way.chmod(0o555 if way.is_dir() else 0o444)
        assert quietly(run(folder, code=DROPPED + SMALL)) == {**first, "hit": True}
        for way in ways:
            way.chmod(0o755)


@pytest.mark.slow
def test_processes_that_compile_at_once_leave_whole_files(own):
    started = [start(own, code=SMALL) for _ in range(3)]
    ends = [process.communicate(timeout=300) for process in started]
    assert [err for _, err in ends] == [""] * 3
    assert len({json.loads(out)["compiled"] for out, _ in ends}) == 1
    assert quietly(run(own, code=SMALL))["hit"]


@pytest.mark.slow
def test_a_file_that_changes_while_it_is_read_by_many(own):
    """Whatever is there at the moment, whole or torn, the answer is the same."""
    first = quietly(run(own, code=SMALL))
    (file,) = own.glob("cache/surefoot/*/*.code")
    whole = file.read_bytes()
    started = [start(own, code=SMALL) for _ in range(3)]
    rounds = 0
    while any(process.poll() is None for process in started):
        file.write_bytes(whole[: rounds * 997 % len(whole)] if rounds % 2 else whole)
        rounds += 1
    for process in started:
        out, err = process.communicate()
        assert (process.returncode, err) == (0, "")
        assert json.loads(out)["compiled"] == first["compiled"]
    assert rounds > 3
