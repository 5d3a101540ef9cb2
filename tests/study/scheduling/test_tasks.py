import json
import signal
import threading

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keeping import no_file_beyond
from surefoot.errors import DamagedFile, InvalidInput, StoreUnavailable
from surefoot.simulation.stops import Stopped
from surefoot.study.problems import MAIN
from surefoot.study.results import cells
from surefoot.study.results.store import Store
from surefoot.study.scheduling import tasks
from surefoot.study.scheduling.tasks import carry_out, cut, due
from surefoot.study.sweep import Sweep, read

SWEEP = Sweep.of(read(MAIN["cmab"])).but(K=(3,), alpha=(0.1, 0.2), horizon=60, runs=9)
GROUP = "cmab-K3"


def begun(folder, sweep=SWEEP, **options):
    """A study that is claimed, and the task of all that is left of it."""
    store = Store(folder, sweep, **options)
    store.claim()
    (group,) = sweep.groups
    (task,) = due(store, store.sweep.groups[group])
    return store, task


def of(task, first, last, *panels):
    """Some runs of a task, of some of its panels."""
    told = [task["panels"][number] for number in panels] or task["panels"]
    return {**task, "first": first, "last": last, "panels": told}


def files(store):
    """The parts of a study, and when each was written."""
    return {part: part.stat().st_mtime_ns for part in store.folder.glob("runs/*/*")}


def rows(store):
    return [store.rows(cell) for cell in store.cells]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The rows of a study that was done by one task."""
    store, task = begun(tmp_path_factory.mktemp("whole") / "out")
    carry_out(task)
    return rows(store)


def test_a_task_writes_a_part_for_each_panel_and_says_how_it_went(tmp_path):
    store, task = begun(tmp_path)
    said = carry_out(json.loads(json.dumps(task)))  # as it would come to another machine
    assert {part.name for part in files(store)} == {"part-000000-000008.parquet"}
    assert (len(files(store)), store.done, said["runs"]) == (2, 18, 9)
    (line,) = (tmp_path / "log.ndjson").read_text().splitlines()
    assert json.loads(line).items() >= {**said, "cells": list(store.cells), "first": 0}.items()


def test_a_task_that_comes_twice_or_late_writes_nothing(tmp_path):
    store, task = begun(tmp_path)
    carry_out(task)
    before, log = files(store), (tmp_path / "log.ndjson").read_bytes()
    for again in (task, of(task, 2, 5), of(task, 8, 8, 1)):
        assert carry_out(again)["runs"] == 0
    assert files(store) == before
    assert (tmp_path / "log.ndjson").read_bytes() == log


SOME = st.tuples(st.integers(0, 8), st.integers(0, 8), st.sampled_from([(0,), (1,), (0, 1)]))


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(SOME, max_size=6))
def test_however_the_runs_are_cut_they_come_out_the_same(tmp_path_factory, whole, some):
    store, task = begun(tmp_path_factory.mktemp("cut") / "out")
    for one, other, panels in some:
        carry_out(of(task, min(one, other), max(one, other), *panels))
    for rest in due(store, store.sweep.groups[GROUP]):
        carry_out(rest)
    assert due(store, store.sweep.groups[GROUP]) == []
    assert [one.equals(other) for one, other in zip(rows(store), whole, strict=True)] == [True] * 2


def test_runs_that_were_done_by_two_at_once_count_once(tmp_path, whole):
    store, task = begun(tmp_path)
    both = [
        threading.Thread(target=carry_out, args=(of(task, *span),)) for span in ((0, 8), (3, 8))
    ]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert [one.equals(other) for one, other in zip(rows(store), whole, strict=True)] == [True] * 2


LINEAR = [pytest.param(problem, marks=pytest.mark.slow) for problem in ("clb", "cccb")]


@pytest.mark.parametrize("problem", ["cmab", "mv", *LINEAR])
def test_a_panel_comes_out_the_same_alone_and_in_company(tmp_path, problem):
    # Of several blocks of turns, so that what is carried from one to the next is seen too.
    usual = Sweep.of(read(MAIN[problem])).but(horizon=70_000, runs=2)
    alphas = (0.05, 0.1, 0.15) if problem == "mv" else (0.02, 0.05, 0.2)
    together, task = begun(tmp_path / "together", usual.but(alpha=alphas))
    carry_out(task)
    for number, (cell, panel) in enumerate(together.cells.items()):
        alone, task = begun(tmp_path / str(number), usual.but(alpha=(panel.alpha,)))
        carry_out(task)
        assert list(alone.cells) == [cell]
        assert alone.rows(cell).equals(together.rows(cell))


def test_memory_for_traces_is_bounded_and_changes_no_run(tmp_path, whole, monkeypatch):
    monkeypatch.setattr(tasks, "MOST_BYTES", 128 * 60 * 6 * 4)
    store, task = begun(tmp_path)
    carry_out(task)
    spans = {part.name for part in files(store)}
    assert len(spans) == 3
    assert [one.equals(other) for one, other in zip(rows(store), whole, strict=True)] == [True] * 2


def test_what_is_finished_when_a_task_stops_is_kept(tmp_path, whole):
    store, task = begun(tmp_path)
    asked = []

    def stopped():
        asked.append(True)
        return len(asked) > 6  # twice a run: once for each base path

    with pytest.raises(Stopped):
        carry_out(task, stopped)
    assert store.missing(next(iter(store.cells))) == [range(3, 9)]
    for rest in due(store, store.sweep.groups[GROUP]):
        carry_out(rest)
    assert rows(store)[0].equals(whole[0])


def test_ctrl_c_leaves_the_runs_that_it_strikes_whole(tmp_path, whole, monkeypatch):
    # polars may take an interrupt within a call for something else, and go on with a wrong value.
    def pressed(*given, **options):
        signal.raise_signal(signal.SIGINT)
        return repeat(*given, **options)

    repeat = pl.repeat
    store, task = begun(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(pl, "repeat", pressed)
        with pytest.raises(KeyboardInterrupt):
            carry_out(task)
    first, second = store.cells
    assert store.finished(second) == 0
    assert store.rows(first).equals(whole[0])


@pytest.mark.parametrize("name", ["numpy", "numba", "engine", "surefoot"])
def test_a_worker_of_another_version_refuses_before_it_plays(tmp_path, monkeypatch, name):
    store, task = begun(tmp_path)
    usual = cells.made_with()
    monkeypatch.setattr(cells, "made_with", lambda: {**usual, name: "9"})
    tasks._rebuilt.cache_clear()
    with pytest.raises(InvalidInput, match=rf"^{name}: 9 on .*, {usual[name]} in the study in "):
        carry_out(task)
    tasks._rebuilt.cache_clear()
    assert files(store) == {}


def test_a_worker_whose_environment_comes_out_otherwise_refuses(tmp_path):
    store, task = begun(tmp_path)
    told = task["panels"][0]
    there = {**told, "arrays": "0" * 16, "panel": store.sweep.panels[0].identity}
    cell = cells.named({name: there[name] for name in ("panel", "made", "arrays", "sources")})
    (tmp_path / "study.json").write_text(
        (tmp_path / "study.json").read_text().replace(told["cell"], cell)
    )
    other = {**told, "arrays": "0" * 16, "cell": cell}
    with pytest.raises(InvalidInput, match=r"^the environment's arrays on "):
        carry_out({**task, "panels": [other]})
    assert files(store) == {}


def test_a_module_that_a_worker_lacks_is_named_with_the_host(tmp_path):
    store, task = begun(tmp_path)
    told = task["panels"][0]
    agents = [{"policy": "nowhere_at_all:Mine"}]
    settings = {**told["settings"], "agents": agents}
    with pytest.raises(InvalidInput, match=r"^on .*: .*no module nowhere_at_all"):
        carry_out({**task, "panels": [{**told, "settings": settings}]})
    assert files(store) == {}


def test_a_worker_that_does_not_share_the_folder_is_told(tmp_path):
    store, task = begun(tmp_path / "out")
    elsewhere = {**task, "folder": str(tmp_path / "elsewhere")}
    with pytest.raises(StoreUnavailable, match="holds no study; a worker must share"):
        carry_out(elsewhere)
    assert not (tmp_path / "elsewhere").exists()
    Store(tmp_path / "out", SWEEP.but(seed=1), overwrite=True).claim()
    with pytest.raises(
        StoreUnavailable, match=r"holds another study; .* --overwrite ends what ran"
    ):
        carry_out(task)
    assert files(store) == {}


def test_runs_of_two_seeds_never_meet(tmp_path):
    seeds = {}
    for seed in (0, 1):
        store, task = begun(tmp_path / str(seed), SWEEP.but(seed=seed))
        carry_out(task)
        seeds[seed] = store
    first, second = seeds.values()
    assert set(first.cells).isdisjoint(second.cells)
    # Even where all parts of the one lie in the folder of the other.
    before = rows(second)
    for part in first.folder.glob("runs/*/*"):
        target = second.folder / part.relative_to(first.folder)
        target.parent.mkdir()
        target.write_bytes(part.read_bytes())
    assert [one.equals(other) for one, other in zip(rows(second), before, strict=True)] == [
        True
    ] * 2


def test_a_part_that_cannot_be_written_is_not_there_and_says_so(tmp_path):
    store, task = begun(tmp_path)
    said = "File too large; runs that are finished are kept"
    with no_file_beyond(4096), pytest.raises(StoreUnavailable, match=said):
        carry_out(task)
    assert files(store) == {}


def test_a_task_is_cut_into_tasks(tmp_path):
    _, rest = begun(tmp_path)
    sizes = []
    while rest is not None:
        piece, rest = cut(rest, 4)
        sizes.append((piece["first"], piece["last"]))
    assert sizes == [(0, 3), (4, 7), (8, 8)]


@pytest.mark.parametrize(
    ("first", "last"), [(-1, 2), (5, 2), (8, 9), (10**6, 10**6), (0.0, 2), ("0", 2), (True, 2)]
)
def test_a_task_of_runs_that_its_panels_lack_is_refused(tmp_path, first, last):
    """Of 10**6 the part's name would be none, and the runs done again for ever."""
    store, task = begun(tmp_path)
    with pytest.raises(InvalidInput, match="0 <= first <= last < 9"):
        carry_out({**task, "first": first, "last": last})
    assert files(store) == {}


def test_a_task_that_was_edited_is_refused_in_a_line(tmp_path):
    store, task = begun(tmp_path)
    one, other = task["panels"]
    for name in task:
        with pytest.raises(InvalidInput, match="must hold folder, axes, panels, first and last"):
            carry_out({key: value for key, value in task.items() if key != name})
    for broken in ({"panels": []}, {"panels": [7]}, {"axes": {"K": "Int7"}}, {"folder": None}):
        with pytest.raises(InvalidInput, match="must hold folder"):
            carry_out({**task, **broken})
    for name in one:
        lacking = {key: value for key, value in one.items() if key != name}
        for broken in (lacking, {**one, name: 7}):
            with pytest.raises(InvalidInput, match="must hold folder"):
                carry_out({**task, "panels": [broken]})
    worded = {**one, "settings": {**one["settings"], "runs": "9"}}
    with pytest.raises(InvalidInput, match="must hold folder"):
        carry_out({**task, "panels": [worded]})
    longer = {**one["settings"], "horizon": 61}
    for edited in ({**one, "cell": other["cell"]}, {**one, "settings": longer}):
        with pytest.raises(InvalidInput, match="which is of other settings"):
            carry_out({**task, "panels": [edited]})
    unknown = {**one, "settings": {**one["settings"], "problem": "x"}}
    with pytest.raises(InvalidInput, match="problem = 'x' must be one of cmab"):
        carry_out({**task, "panels": [unknown]})
    assert files(store) == {}


@pytest.mark.parametrize("change", [{"mine.c": "Float64"}, {"K": "String"}, None])
def test_a_task_with_the_columns_of_another_study_is_refused(tmp_path, change):
    """Its parts would be of another schema than those beside them."""
    store, task = begun(tmp_path)
    axes = dict(reversed(task["axes"].items())) if change is None else task["axes"] | change
    with pytest.raises(InvalidInput, match=r"the task gives the axes .* and the study in"):
        carry_out({**task, "axes": axes})
    assert files(store) == {}


@pytest.mark.parametrize("renamed", [False, True])
def test_a_part_that_lies_in_anothers_place_is_named(tmp_path, renamed):
    store, task = begun(tmp_path)
    carry_out(of(task, 0, 2))
    one, other = (store.place(cell) for cell in store.cells)
    name = "part-000000-000002.parquet"
    target = one / "part-000003-000005.parquet" if renamed else other / name
    target.write_bytes((one / name).read_bytes())
    fresh = Store(tmp_path, SWEEP, resume=True)
    with pytest.raises(DamagedFile, match=f"{target.name} holds other runs than its folder"):
        [fresh.rows(cell) for cell in fresh.cells]
