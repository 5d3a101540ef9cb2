import json
import shutil
import sys

import numpy as np
import polars as pl
import pytest

from keeping import keep, no_file_beyond, rows
from surefoot.errors import DamagedFile, InvalidInput, StoreUnavailable
from surefoot.study.problems import MAIN
from surefoot.study.report.findings import RULES, found_in
from surefoot.study.report.panel_runs import PanelRuns
from surefoot.study.results import cells, manifest
from surefoot.study.results.store import Runs, Store, asked_for, write_table
from surefoot.study.scheduling.tasks import due
from surefoot.study.sweep import Sweep, paper, read

SWEEP = Sweep.of(read(MAIN["cmab"])).but(K=(3,), horizon=50, runs=3)


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "out", SWEEP)
    store.claim()
    return store


def only(store):
    """The cell of a study of one panel."""
    (cell,) = store.cells
    return cell


def test_nothing_is_written_before_the_folder_is_claimed(tmp_path):
    Store(tmp_path / "out", SWEEP)
    assert not (tmp_path / "out").exists()


def test_a_finished_run_is_there_and_the_others_are_missing(store):
    cell = only(store)
    keep(store, cell, 1, 1)
    again = Store(store.folder, SWEEP, resume=True)
    assert (again.finished(cell), again.missing(cell)) == (1, [range(1), range(2, 3)])
    assert again.rows(cell).equals(rows(store, cell, 1, 1))


def test_half_a_file_of_a_killed_worker_counts_for_nothing(store):
    cell = only(store)
    file = keep(store, cell, 0, 0)
    file.with_name(f".part-000001-000001.{'0' * 32}.parquet").write_bytes(b"PAR1")
    assert store.finished(cell) == 1
    assert len(store.rows(cell)) == 6


def test_more_runs_go_on_and_fewer_use_the_first(store):
    cell = only(store)
    keep(store, cell, 0, 2)
    assert Store(store.folder, SWEEP.but(runs=5), resume=True).missing(cell) == [range(3, 5)]
    fewer = Store(store.folder, SWEEP.but(runs=2), resume=True)
    assert fewer.rows(cell).equals(rows(store, cell, 0, 1))


def test_a_run_counts_in_the_first_file_by_name_that_has_it(store):
    cell = only(store)
    keep(store, cell, 0, 1, slack=1.0)
    keep(store, cell, 0, 2, slack=2.0)
    keep(store, cell, 2, 2, slack=3.0)
    found = store.rows(cell).group_by("run").agg(pl.col("slack").unique()).sort("run")
    assert found.get_column("slack").to_list() == [[1.0], [1.0], [2.0]]
    assert store.missing(cell) == []
    assert store.kept == 3


def test_a_folder_is_read_by_whatever_version(store, monkeypatch):
    keep(store, only(store), 0, 1)
    monkeypatch.setattr(cells, "made_with", lambda: {"engine": "other"})
    found = Runs.of(store.folder)
    assert (found.cells, found.finished(only(store))) == (store.cells, 2)
    assert cells.cell_of(SWEEP.panels[0]) not in found.cells
    with pytest.raises(InvalidInput, match="holds no study"):
        Runs.of(store.folder / "runs")


def test_runs_are_counted_panel_by_panel(tmp_path):
    store = Store(tmp_path, SWEEP.but(alpha=(0.1, 0.2)))
    store.claim()
    one, other = store.cells
    keep(store, one, 0, 1)
    keep(store, other, 1, 1)
    assert (store.kept, store.done) == (3, 3)


def test_what_panels_of_one_plan_lack_together_is_one_task(tmp_path):
    store = Store(tmp_path, SWEEP.but(alpha=(0.1, 0.2), runs=9))
    store.claim()
    one, other = store.cells
    keep(store, one, 0, 3)
    keep(store, other, 2, 5)
    left = [
        ([told["cell"] for told in task["panels"]], task["first"], task["last"])
        for task in due(store, store.sweep.groups["cmab-K3"])
    ]
    assert left == [([other], 0, 1), ([one], 4, 5), ([one, other], 6, 8)]


def test_shards_share_what_is_left_and_leave_nothing(tmp_path):
    store = Store(tmp_path, SWEEP.but(runs=100))
    store.claim()
    keep(store, only(store), 40, 50)
    found = [
        run
        for shard in (1, 2, 3)
        for task in due(store, store.sweep.groups["cmab-K3"], shard, 3)
        for run in range(task["first"], task["last"] + 1)
    ]
    assert sorted(found) == [*range(40), *range(51, 100)]


def test_of_many_that_begin_one_study_all_go_on_with_the_first(tmp_path):
    first, second = (Store(tmp_path, SWEEP) for _ in range(2))
    first.claim()
    before = (tmp_path / "study.json").stat().st_mtime_ns
    second.claim()
    assert (tmp_path / "study.json").stat().st_mtime_ns == before
    assert [file.name for file in tmp_path.iterdir()] == ["study.json"]


@pytest.mark.parametrize("change", [{"seed": 1}, {"runs": 5}])
def test_of_two_that_begin_two_studies_at_once_one_is_refused(tmp_path, change):
    first, second = Store(tmp_path, SWEEP), Store(tmp_path, SWEEP.but(**change))
    first.claim()
    (field,) = change
    with pytest.raises(InvalidInput, match=f"^{field} = .* differs from the study in"):
        second.claim()


def test_a_study_that_is_overwritten_meanwhile_is_told(tmp_path):
    first = Store(tmp_path, SWEEP)
    first.claim()
    first.check()
    other = Store(tmp_path, SWEEP.but(seed=1), overwrite=True)
    other.claim()
    other.check()
    with pytest.raises(InvalidInput, match="holds another study by now"):
        first.check()


def test_theory_is_remembered_for_resuming(tmp_path, store):
    Store(tmp_path / "told", SWEEP, theory=True).claim()
    again = Store(tmp_path / "told", SWEEP, resume=True)
    again.claim()
    assert (again.theory, store.theory) == (True, False)
    assert Store(tmp_path / "told", SWEEP, resume=True).theory
    assert not Store(tmp_path / "told", SWEEP).theory  # the command says all it means
    manifest = json.loads((store.folder / "study.json").read_text())
    del manifest["theory"]
    (store.folder / "study.json").write_text(json.dumps(manifest))
    assert not Store(store.folder, SWEEP, resume=True).theory


def test_fewer_runs_leave_the_aim_as_it_is(store):
    keep(store, only(store), 2, 2)
    fewer = Store(store.folder, SWEEP.but(runs=2), resume=True)
    fewer.claim()
    assert (fewer.kept, fewer.finished(only(store))) == (1, 0)
    assert asked_for(store.folder, SWEEP, resume=True).runs == 3
    more = Store(store.folder, SWEEP.but(runs=5), resume=True)
    more.claim()
    assert asked_for(store.folder, SWEEP, resume=True).runs == 5


@pytest.mark.parametrize(
    ("field", "value"),
    [("K", (4,)), ("alpha", (0.1,)), ("horizon", 60), ("seed", 1), ("mu0", 0.6), ("delta", 0.01)],
)
def test_runs_of_two_studies_are_never_mixed(store, field, value):
    with pytest.raises(InvalidInput, match=f"^{field} = .* differs from the study in") as caught:
        Store(store.folder, SWEEP.but(**{field: value}), resume=True)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["surefoot", "numpy", "scipy", "numba", "engine"])
def test_another_engine_or_version_may_not_go_on(store, monkeypatch, name):
    usual = cells.made_with()
    monkeypatch.setattr(cells, "made_with", lambda: {**usual, name: "9"})
    monkeypatch.setattr(manifest, "made_with", lambda: {**usual, name: "9"})
    with pytest.raises(InvalidInput, match=rf"^{name}: 9 on this machine, {usual[name]} in .*out;"):
        Store(store.folder, SWEEP, resume=True)


def test_another_environment_of_the_same_settings_may_not_go_on(store, monkeypatch):
    arms = type(SWEEP.panels[0]).environment

    def other(panel):
        found = arms(panel)
        found.means = found.means + 1e-16
        return found

    monkeypatch.setattr(type(SWEEP.panels[0]), "environment", other)
    with pytest.raises(InvalidInput, match=r"^the environment's arrays on this machine are others"):
        Store(store.folder, SWEEP, resume=True)


def test_the_very_same_study_goes_on_unasked(store, tmp_path):
    keep(store, only(store), 1, 1)
    again = Store(store.folder, SWEEP)
    assert (store.begun, again.begun) == (False, True)
    again.claim()
    assert again.missing(only(store)) == [range(1), range(2, 3)]
    assert Store(store.folder, SWEEP, resume=True).begun
    assert not Store(store.folder, SWEEP, overwrite=True).begun


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seed": 1}, r"^seed = 1 differs .* seed = 0; start again with --overwrite, or give"),
        ({"runs": 5}, r"^runs = 5 differs .* runs = 3; go on with --resume, start again with"),
    ],
)
def test_another_study_is_not_overwritten_unasked(store, changes, said):
    with pytest.raises(InvalidInput, match=said):
        Store(store.folder, SWEEP.but(**changes))


def test_overwriting_removes_what_the_study_wrote_and_nothing_else(store):
    part = keep(store, only(store), 0, 0)
    ours = ["cmab-K3-alpha0.05.png", "cmab-K3-alpha0.05-theory.svg", "summary.json"]
    ours += ["runs.parquet", "report.html", "log.ndjson"]
    (store.folder / ".sorted-abc").mkdir()
    (store.folder / ".sorted-abc" / "a.parquet").touch()
    theirs = ["notes.txt", "cmab-K9-alpha0.05.png", "runs/notes.txt", "runs/mine/a.parquet"]
    for name in [*ours, *theirs]:
        (store.folder / name).parent.mkdir(exist_ok=True)
        (store.folder / name).touch()
    part.with_name(f".{part.stem}.{'0' * 32}.parquet").touch()
    again = Store(store.folder, SWEEP.but(K=(4,)), overwrite=True)
    assert (store.folder / "summary.json").exists()  # not before it is claimed
    again.claim()
    left = {str(file.relative_to(store.folder)) for file in store.folder.rglob("*.*")}
    assert left == {*theirs, "study.json"}
    (panel,) = json.loads((store.folder / "study.json").read_text())["panels"]
    assert panel["K"] == 4
    part.parent.mkdir()
    (part.parent / "mine").touch()
    Store(store.folder, SWEEP, overwrite=True).claim()
    assert (part.parent / "mine").exists()


@pytest.mark.parametrize("name", ["parts", "runs", "log.ndjson"])
def test_files_that_no_study_wrote_are_not_touched_even_if_asked(tmp_path, name):
    (tmp_path / name).mkdir()
    for options in ({}, {"resume": True}, {"overwrite": True}):
        with pytest.raises(InvalidInput, match=f"already holds {name}; give another --out"):
            Store(tmp_path, SWEEP, **options)


def before_format_3(folder):
    """The folder of a study that an earlier version left."""
    told = {"format": 2, "theory": False, "engine": "0123", "versions": {"surefoot": "0"}}
    panels = [panel.model_dump(mode="json") for panel in SWEEP.panels]
    (folder / "parts" / "cmab-K3").mkdir(parents=True)
    for name in ("run-000000.parquet", ".run-000001.4711.parquet"):
        (folder / "parts" / "cmab-K3" / name).touch()
    (folder / "cmab-K3-alpha0.05.png").touch()
    (folder / "study.json").write_text(json.dumps({**told, "panels": panels}))


def test_a_study_of_an_earlier_format_is_refused_in_one_line_or_overwritten(tmp_path):
    before_format_3(tmp_path)
    for name in ("parts/notes.txt", "parts/cmab-K3/run-1.parquet"):
        (tmp_path / name).touch()
    for options in ({}, {"resume": True}):
        with pytest.raises(DamagedFile, match=r"format 2, of an earlier .* again with --overwrite"):
            Store(tmp_path, SWEEP, **options)
    Store(tmp_path, SWEEP.but(K=(4,)), overwrite=True).claim()
    left = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*.*")}
    assert left == {"study.json", "parts/notes.txt", "parts/cmab-K3/run-1.parquet"}


def test_a_folder_with_other_files_may_be_used(tmp_path):
    (tmp_path / "notes.txt").touch()
    Store(tmp_path, SWEEP, resume=True).claim()
    assert (tmp_path / "study.json").exists()


def test_contradictions_and_files_are_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match="is a file; give a folder"):
        Store(tmp_path / "file", SWEEP)
    with pytest.raises(InvalidInput, match="exclude each other"):
        Store(tmp_path, SWEEP, resume=True, overwrite=True)


def cut_short(part):
    part.write_bytes(part.read_bytes()[:-9])


def emptied(part):
    part.write_bytes(b"")


def of_other_columns(part):
    pl.read_parquet(part, glob=False).drop("t").write_parquet(part)


def of_fewer_runs(part):
    pl.read_parquet(part, glob=False).filter(pl.col("run") != 1).write_parquet(part)


def of_fewer_rows(part):
    pl.read_parquet(part, glob=False).slice(1).write_parquet(part)


def gone(part):
    part.unlink()
    part.mkdir()


HARM = (cut_short, emptied, of_other_columns, of_fewer_runs, of_fewer_rows, gone)


@pytest.mark.parametrize("harm", HARM)
def test_a_damaged_part_names_its_file(store, harm):
    cell = only(store)
    keep(store, cell, 0, 0)
    part = keep(store, cell, 1, 2)
    harm(part)
    said = r"^.*part-000001-000002.parquet is damaged; delete it and go on with --resume$"
    with pytest.raises(DamagedFile, match=said):
        store.rows(cell)
    shutil.rmtree(part) if part.is_dir() else part.unlink()
    assert store.missing(cell) == [range(1, 3)]


def test_a_folder_is_opened_where_numba_is_not_installed(store, monkeypatch):
    keep(store, only(store), 0, 0)
    monkeypatch.setitem(sys.modules, "numba", None)
    assert Store(store.folder, SWEEP).done == Runs.of(store.folder).done == 1


def test_a_folder_with_brackets_in_its_name_is_a_folder(tmp_path):
    store = Store(tmp_path / "[x]*", SWEEP)
    keep(store, only(store), 0, 0)
    assert len(store.rows(only(store))) == 6


def test_an_axis_that_a_panel_has_not_is_null(tmp_path):
    store = Store(tmp_path, Sweep.of(*paper()).but(horizon=50, runs=1))
    kinds = {}
    for cell, panel in store.cells.items():
        keep(store, cell, 0, 0)
        frame = store.rows(cell)
        kinds[panel.problem] = frame.schema
        assert frame.get_column("cell").unique().to_list() == [cell]
        absent = set(store.axes) - set(panel.axes)
        assert all(frame.get_column(axis).null_count() == len(frame) for axis in absent)
    assert len(kinds) == 4
    assert len({str(kind) for kind in kinds.values()}) == 1


def test_a_table_that_does_not_fit_says_so_and_leaves_nothing(tmp_path):
    store = Store(tmp_path, SWEEP.but(alpha=(0.1, 0.2)))
    noise = np.random.default_rng(0)
    for cell in store.cells:
        part = keep(store, cell, 0, 2, t=range(1, 1001))
        frame = pl.read_parquet(part, glob=False)
        noisy = frame.with_columns(slack=noise.normal(size=len(frame)))
        noisy.write_parquet(part)  # about 70 kB, and in one table twice that
    said = r"runs.parquet cannot be written: .*File too large"
    with no_file_beyond(100_000), pytest.raises(StoreUnavailable, match=said):
        write_table(store)
    assert [file.name for file in tmp_path.iterdir()] == ["runs"]


def test_of_too_many_rows_there_is_no_one_table(store, monkeypatch):
    keep(store, only(store), 0, 2)
    assert write_table(store)
    assert (store.folder / "runs.parquet").exists()
    monkeypatch.setattr("surefoot.study.results.store.LARGEST", 17)
    assert not write_table(store)
    assert not (store.folder / "runs.parquet").exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": 2}',
        '{"format": 2, "panels": [{}]}',
        '{"format": 3}',
        '{"format": 3, "panels": [], "versions": {}}',
        "\ud800",
    ],
)
def test_a_foreign_manifest_is_an_error(tmp_path, text):
    (tmp_path / "study.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(DamagedFile, match="is not a study's manifest"):
        Store(tmp_path, SWEEP, resume=True)
    with pytest.raises(DamagedFile, match="is not a study's manifest"):
        Store(tmp_path, SWEEP, overwrite=True).claim()


def test_a_manifest_of_another_format_is_an_error(store):
    manifest = json.loads((store.folder / "study.json").read_text())
    (store.folder / "study.json").write_text(json.dumps({**manifest, "format": 4}))
    for options in ({}, {"resume": True}):
        with pytest.raises(DamagedFile, match="format 4, of another version of Surefoot"):
            Store(store.folder, SWEEP, **options)
    with pytest.raises(DamagedFile, match="format 4, of another version of Surefoot"):
        Store(store.folder, SWEEP, overwrite=True).claim()  # it may not be ours to remove
    assert (store.folder / "study.json").exists()


def test_what_is_left_out_on_resuming_means_what_it_meant(store):
    main = Sweep.of(read(MAIN["cmab"]))
    assert asked_for(store.folder, main, resume=True, runs=9) == SWEEP.but(runs=9)
    assert asked_for(store.folder, main, resume=False, runs=9) == main.but(runs=9)
    assert asked_for(store.folder / "new", main, resume=True) == main


def test_a_study_of_other_problems_may_not_go_on(store):
    other = Sweep.of(*paper()).but(horizon=50, runs=3)
    assert asked_for(store.folder, other, resume=True) == other
    with pytest.raises(InvalidInput, match=r"^problem = cmab, clb, .* which has problem = cmab;"):
        Store(store.folder, other, resume=True)


def test_other_pairs_of_the_same_values_are_another_study(tmp_path):
    whole = SWEEP.but(K=(2, 3), alpha=(0.1, 0.2))
    Store(tmp_path, whole).claim()
    some = Sweep(tuple(whole.panels[i] for i in (0, 1, 3)))
    with pytest.raises(InvalidInput, match=r"^name = .* differs from the study in"):
        Store(tmp_path, some, resume=True)


SWEEP_SUMMARY = Sweep.of(read(MAIN["cmab"])).but(K=(2, 3), alpha=(0.1,), horizon=10, runs=2, seed=7)
FRAME_SUMMARY = pl.DataFrame(
    {
        "problem": "cmab",
        "K": 2,
        "alpha": 0.1,
        "agent": [name for name in ("GenCB", "UCB1", "ConUCB") for _ in range(4)],
        "run": [1, 0, 1, 0] * 3,
        "t": [5, 5, 10, 10] * 3,
        "regret": [1.0, 2.0, 3.0, 6.0] + [0.5] * 8,
        "regular_regret": [0.5] * 12,
        "default_regret": [0.5, 1.5, 2.5, 5.5] + [0.0] * 8,
        "default_plays": [1, 2, 3, 4] + [0] * 8,
        "violating_rounds": [0, 0, 0, 0, 5, 5, 9, 10, 0, 0, 0, 0],
        "slack": [0.0] * 12,
        "minimum_slack": [0.0] * 4 + [-1.5, -1.0, -2.5, -1.25] + [0.0] * 4,
    }
)


PANEL = SWEEP_SUMMARY.panels[0]


def test_the_schema_is_pinned():
    found = found_in(PanelRuns(PANEL, FRAME_SUMMARY))
    assert [claim["key"] for claim in found.pop("claims")] == list(RULES)
    agents = found.pop("agents")
    assert [one["agents"] for one in found.pop("differences")] == [
        ["GenCB", "UCB1"], ["GenCB", "ConUCB"], ["UCB1", "ConUCB"],
    ]  # fmt: skip
    assert found == {
        "problem": "cmab",
        "K": 2,
        "alpha": 0.1,
        "mu0": 0.7,
        "horizon": 10,
        "runs": 2,
        "baseline_regret": pytest.approx(1.7),
    }
    assert [agent["name"] for agent in agents] == ["GenCB", "UCB1", "ConUCB"]
    assert agents[0] == {
        "name": "GenCB",
        "regret": {"mean": 4.5, "min": 3.0, "max": 6.0, "interval": None},
        "regular_regret": {"mean": 0.5, "min": 0.5, "max": 0.5, "interval": None},
        "default_regret": {"mean": 4.0, "min": 2.5, "max": 5.5, "interval": None},
        "default_plays": {"mean": 3.5, "min": 3, "max": 4, "interval": None},
        "violating_rounds": {"mean": 0.0, "min": 0, "max": 0, "interval": None},
        "minimum_slack": {"mean": 0.0, "min": 0.0, "max": 0.0, "interval": None},
    }
    assert agents[1]["violating_rounds"] == {"mean": 9.5, "min": 9, "max": 10, "interval": None}
    assert agents[1]["minimum_slack"] == {
        "mean": -1.875,
        "min": -2.5,
        "max": -1.25,
        "interval": None,
    }


def test_curves_are_in_order_of_run_and_play():
    runs = PanelRuns(PANEL, FRAME_SUMMARY)
    assert runs.of("GenCB", "regret").tolist() == [[2, 6], [1, 3]]
    assert runs.t.tolist() == [5, 10]
