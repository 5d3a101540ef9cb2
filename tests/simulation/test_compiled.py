"""What is compiled is kept, noticed when stale, and nobody else's numba is disturbed."""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot import _compile, _jit
from surefoot.simulation import compiled, loop
from surefoot.simulation.compiled import PLAIN

numba = pytest.importorskip("numba")

PACKAGE = Path(sf.__file__).parent
# Prints the arms of one run, and how many compiled loops were found in the cache.
SCRIPT = """
import json, sys
import surefoot as sf
from surefoot import _compile
from surefoot.simulation import compiled
assert sf.__file__.startswith(sys.argv[1]), sf.__file__
agents = {"UCB1": sf.Plain(sf.UCB1(3), sf.RewardFloor(0.6, 0.1))}
result = sf.simulate(
    agents, sf.BernoulliArms([0.8, 0.5, 0.3]), 60, seed=1, checkpoints="all", engine="compiled"
)
engine = compiled.engine()
loops = (engine.driver(type(agents["UCB1"].policy.record)).walk, engine.survey, engine.interleave)
print(json.dumps({
    "arms": result.runs[0]["UCB1"].books[:, 6].tolist(),
    "fingerprint": _compile.fingerprint(),
    "hits": sum(sum(loop.stats.cache_hits.values()) for loop in loops),
    "misses": sum(sum(loop.stats.cache_misses.values()) for loop in loops),
}))
"""


def in_a_new_process(root, cache):
    """What SCRIPT prints under the package in ``root``; ``cache`` is SUREFOOT_CACHE."""
    environment = {**os.environ, "PYTHONPATH": str(root), "SUREFOOT_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(root)],
        env=environment, cwd=root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def copied(root):
    shutil.copytree(PACKAGE, root / "surefoot", ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.mark.slow
def test_an_edited_kernel_is_compiled_anew(tmp_path):
    """Numba alone would go on running the old loop: the edited file is not the loop's own."""
    root, cache = copied(tmp_path), tmp_path / "cache"
    first, again = in_a_new_process(root, cache), in_a_new_process(root, cache)
    assert (first["hits"], first["misses"]) == (0, 3)
    assert (again["hits"], again["misses"]) == (3, 0)
    assert again["arms"] == first["arms"]

    kernel = root / "surefoot" / "policies" / "ucb1.py"
    text = kernel.read_text(encoding="utf-8")
    assert text.count("policy.c * math.log(m)") == 1
    kernel.write_text(text.replace("policy.c * math.log(m)", "0.1 * math.log(m)"), encoding="utf-8")
    edited = in_a_new_process(root, cache)
    assert edited["fingerprint"] != first["fingerprint"]
    assert edited["misses"] == 3
    assert edited["arms"] != first["arms"]

    kernel.write_text(text, encoding="utf-8")
    assert in_a_new_process(root, cache) == again


@pytest.mark.slow
def test_a_cache_that_cannot_be_written_costs_time_only(tmp_path):
    (tmp_path / "file").touch()
    without = in_a_new_process(PACKAGE.parent, tmp_path / "file")
    kept = in_a_new_process(PACKAGE.parent, tmp_path / "cache")
    assert without["arms"] == kept["arms"]
    assert without["hits"] == 0


def test_every_file_with_kernels_is_in_the_fingerprint(monkeypatch, tmp_path):
    root = copied(tmp_path) / "surefoot"
    monkeypatch.setattr(_compile, "_PACKAGE", root)
    fingerprint = _compile.fingerprint.__wrapped__
    seen = {fingerprint()}
    for name in (
        "policies/ucb1.py", "kernels/registry.py", "environments/bernoulli.py",
        "comparators/conucb.py", "floors/plays.py", "simulation/loop.py",
        "simulation/fast/chunks.py", "_longest_path.py",
    ):  # fmt: skip
        file = root / name
        file.write_bytes(file.read_bytes() + b"#")
        seen.add(fingerprint())
    assert len(seen) == 9
    (root / "study" / "__init__.py").write_text("edited", encoding="utf-8")
    assert fingerprint() in seen


def test_the_cache_is_where_it_is_told_to_be(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("SUREFOOT_CACHE", raising=False)
    name = f"kernels-{_compile.fingerprint()}"
    assert _compile.cache_folder() == tmp_path / "xdg" / "surefoot" / name
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "own"))
    folder = _compile.cache_folder()
    assert folder == tmp_path / "own" / "surefoot" / name
    assert list(folder.iterdir()) == []


def test_without_a_place_to_write_there_is_no_cache(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "file"))
    assert _compile.cache_folder() is None


def test_without_a_home_there_is_no_cache(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("SUREFOOT_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert _compile.cache_folder() is None


@pytest.fixture
def afresh(monkeypatch):
    """Decorates the loops again; what they pick their kernels from was taught before."""
    compiled.engine()
    monkeypatch.setattr(compiled, "_teach", lambda: None)
    monkeypatch.setattr(compiled, "_ENGINES", [])
    return compiled.engine


@pytest.mark.parametrize("before", ["", "/somewhere/else"])
@pytest.mark.parametrize("cache", ["own", "file"])
def test_others_keep_their_numba_cache(monkeypatch, tmp_path, afresh, before, cache):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / cache))
    monkeypatch.setattr(numba.config, "CACHE_DIR", before)
    engine = afresh()
    assert before == numba.config.CACHE_DIR
    where = getattr(engine.survey.stats, "cache_path", None)
    assert where is None if cache == "file" else where.startswith(str(tmp_path))


def test_where_numba_is_switched_off_the_loops_are_plain(monkeypatch, afresh):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    assert afresh() is PLAIN


def test_the_engine_is_made_once_even_by_many_threads():
    with ThreadPoolExecutor(8) as pool:
        engines = list(pool.map(lambda _: compiled.engine(), range(32)))
    assert all(engine is engines[0] for engine in engines)


def test_a_policy_without_a_fast_driver_runs_the_plain_text():
    engine = compiled.engine()
    assert engine.driver(object).walk.py_func is PLAIN.driver(object).walk
    assert PLAIN.driver(object).walk is loop.base_path
    assert PLAIN.interleave is loop.interleave


def test_what_the_loops_run_on():
    engine = compiled.engine()
    assert engine.array([0, 1]).dtype == np.int64
    assert engine.array([0.0]).dtype == np.float64
    assert engine.word(2**64 - 1) == np.uint64(2**64 - 1)
    numbers = [1, 2]
    assert PLAIN.array(numbers) == numbers
    assert PLAIN.array(numbers) is not numbers


def test_helpers_named_after_the_engine_was_made_are_taught_too():
    compiled.engine()
    assert _jit.HELPERS == []

    @_jit.jittable
    def double(number):
        return 2 * number

    compiled.engine()
    assert numba.njit(lambda number: double(number) + 1)(21) == 43
