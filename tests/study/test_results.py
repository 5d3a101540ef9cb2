import json

import polars as pl
import pytest

from surefoot import _compile
from surefoot.errors import DamagedFile, InvalidInput
from surefoot.study import results
from surefoot.study.findings import RULES, found_in
from surefoot.study.problems import MAIN
from surefoot.study.results import PanelRuns, Store, asked_for, of_panel
from surefoot.study.sweep import Sweep, paper, read

SWEEP = Sweep.of(read(MAIN["cmab"])).but(K=(3,), horizon=50, runs=3)
FRAME = pl.DataFrame({"t": [1, 2]})


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "out", SWEEP)
    store.claim()
    return store


def test_nothing_is_written_before_the_folder_is_claimed(tmp_path):
    Store(tmp_path / "out", SWEEP)
    assert not (tmp_path / "out").exists()


def test_a_finished_run_is_there_and_the_others_are_missing(store):
    store.keep("cmab-K3", 1, FRAME)
    again = Store(store.folder, SWEEP, resume=True)
    assert (again.finished("cmab-K3"), again.missing("cmab-K3")) == ([1], [0, 2])
    assert again.load("cmab-K3")[0].equals(FRAME)
    assert again.missing("cmab-K4") == [0, 1, 2]


def test_half_a_file_of_a_killed_run_counts_for_nothing(store):
    store.keep("cmab-K3", 0, FRAME)
    (store.folder / "parts" / "cmab-K3" / ".run-000001.4711.parquet").write_bytes(b"PAR1")
    assert store.finished("cmab-K3") == [0]


def test_more_runs_go_on_and_fewer_use_the_first(store):
    for run in range(3):
        store.keep("cmab-K3", run, FRAME)
    assert Store(store.folder, SWEEP.but(runs=5), resume=True).missing("cmab-K3") == [3, 4]
    assert Store(store.folder, SWEEP.but(runs=2), resume=True).finished("cmab-K3") == [0, 1]


def test_runs_are_counted_panel_by_panel(tmp_path):
    store = Store(tmp_path, SWEEP.but(alpha=(0.1, 0.2)))
    store.claim()
    store.keep("cmab-K3", 0, FRAME)
    assert store.kept == 2


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
    store.keep("cmab-K3", 2, FRAME)
    fewer = Store(store.folder, SWEEP.but(runs=2), resume=True)
    fewer.claim()
    assert (fewer.kept, fewer.finished("cmab-K3")) == (1, [])
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


def test_another_engine_or_version_may_not_go_on(store, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(_compile, "fingerprint", lambda: "other")
        with pytest.raises(InvalidInput, match=r"^engine: the runs in"):
            Store(store.folder, SWEEP, resume=True)
    monkeypatch.setattr(results, "versions", lambda: {"surefoot": "9"})
    with pytest.raises(InvalidInput, match=r"^surefoot: the runs in .* this is 9"):
        Store(store.folder, SWEEP, resume=True)


def test_the_very_same_study_goes_on_unasked(store, tmp_path):
    store.keep("cmab-K3", 1, FRAME)
    again = Store(store.folder, SWEEP)
    assert (store.begun, again.begun) == (False, True)
    again.claim()
    assert again.missing("cmab-K3") == [0, 2]
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
    store.keep("cmab-K3", 0, FRAME)
    ours = ["cmab-K3-alpha0.05.png", "cmab-K3-alpha0.05-theory.svg", "summary.json"]
    ours += ["runs.parquet", "report.html"]
    for name in [*ours, "notes.txt", "cmab-K9-alpha0.05.png"]:
        (store.folder / name).touch()
    again = Store(store.folder, SWEEP.but(K=(4,)), overwrite=True)
    assert (store.folder / "summary.json").exists()  # not before it is claimed
    again.claim()
    left = sorted(file.name for file in store.folder.iterdir())
    assert left == ["cmab-K9-alpha0.05.png", "notes.txt", "study.json"]
    (panel,) = json.loads((store.folder / "study.json").read_text())["panels"]
    assert panel["K"] == 4


def test_files_that_no_study_wrote_are_not_touched_even_if_asked(tmp_path):
    (tmp_path / "parts").mkdir()
    for options in ({}, {"resume": True}, {"overwrite": True}):
        with pytest.raises(InvalidInput, match="already holds parts; give another --out"):
            Store(tmp_path, SWEEP, **options)


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


def test_a_damaged_part_names_its_file(store):
    part = store.folder / "parts" / "cmab-K3" / "run-000000.parquet"
    store.keep("cmab-K3", 0, FRAME)
    part.write_bytes(part.read_bytes()[:-9])
    with pytest.raises(DamagedFile, match=r"run-000000.parquet is damaged; delete it"):
        store.load("cmab-K3")


def test_a_folder_with_brackets_in_its_name_is_a_folder(tmp_path):
    store = Store(tmp_path / "[x]*", SWEEP)
    store.keep("cmab-K3", 0, FRAME)
    assert store.load("cmab-K3")[0].equals(FRAME)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 2}', '{"format": 2, "panels": [], "versions": {}}']
)
def test_a_foreign_manifest_is_an_error(tmp_path, text):
    (tmp_path / "study.json").write_text(text)
    with pytest.raises(DamagedFile, match="is not a study's manifest"):
        Store(tmp_path, SWEEP, resume=True)


def test_a_manifest_of_another_format_is_an_error(store):
    manifest = json.loads((store.folder / "study.json").read_text())
    (store.folder / "study.json").write_text(json.dumps({**manifest, "format": 3}))
    with pytest.raises(DamagedFile, match="another version of Surefoot"):
        Store(store.folder, SWEEP, resume=True)


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
    found = found_in(PanelRuns(PANEL, of_panel(FRAME_SUMMARY, PANEL)))
    assert [claim["key"] for claim in found.pop("claims")] == list(RULES)
    agents = found.pop("agents")
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
        "regret": {"mean": 4.5, "min": 3.0, "max": 6.0},
        "regular_regret": {"mean": 0.5, "min": 0.5, "max": 0.5},
        "default_regret": {"mean": 4.0, "min": 2.5, "max": 5.5},
        "default_plays": {"mean": 3.5, "min": 3, "max": 4},
        "violating_rounds": {"mean": 0.0, "min": 0, "max": 0},
        "minimum_slack": {"mean": 0.0, "min": 0.0, "max": 0.0},
    }
    assert agents[1]["violating_rounds"] == {"mean": 9.5, "min": 9, "max": 10}
    assert agents[1]["minimum_slack"] == {"mean": -1.875, "min": -2.5, "max": -1.25}


def test_curves_are_in_order_of_run_and_play():
    runs = PanelRuns(PANEL, of_panel(FRAME_SUMMARY, PANEL))
    assert runs.of("GenCB", "regret").tolist() == [[2, 6], [1, 3]]
    assert runs.t.tolist() == [5, 10]
    assert of_panel(FRAME_SUMMARY, SWEEP_SUMMARY.panels[1]).is_empty()
