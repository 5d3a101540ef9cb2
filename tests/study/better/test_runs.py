import json
import os
import shutil
from unittest import mock

import pytest

from surefoot.errors import DamagedFile, InvalidInput
from surefoot.study.better.rivals import rivals
from surefoot.study.better.runs import AGAIN, PARTS, Better, BetterRuns

SMALL = {"problems": ["clb"], "runs": 2, "horizon": 40, "instances": 1}


def study(folder, overwrite=False, **changed):
    return BetterRuns(folder, Better(**{**SMALL, **changed}), overwrite=overwrite)


def done(folder, steps=None, **changed):
    """Do a study, or the first so many steps of it."""
    runs = study(folder, **changed)
    for number, _ in enumerate(runs.steps(1, engine="plain"), start=1):
        if number == steps:
            break
    return runs


def parts(folder):
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in (folder / PARTS).rglob("run-*.json")
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "out"
    return done(folder)


def test_every_policy_plays_every_panel_and_some_play_twice(made):
    figures = made.figures("clb")
    assert list(figures) == [f"clb-d5-alpha{alpha}" for alpha in (0.01, 0.02, 0.03)] + [
        "clb-d7-alpha0.01", "clb-d9-alpha0.01",
    ]  # fmt: skip
    names = [rival.name for rival in rivals("clb")]
    twice = [rival.name + AGAIN for rival in rivals("clb") if rival.role in ("printed", "named")]
    for policies in figures.values():
        assert list(policies) == names + twice
        assert {len(numbers["regret"]) for numbers in policies.values()} == {2}
    fresh = made.figures("clb", fresh=True)
    assert list(fresh) == [f"clb-d{d}-alpha0.01-instance20261129" for d in (5, 7, 9)]
    assert list(fresh["clb-d5-alpha0.01-instance20261129"]) == names


def test_what_plays_again_meets_other_arms_and_other_noise():
    plan, again = (Better(**SMALL).groups[f"clb-d9{end}"].plan(5) for end in ("", "-again"))
    assert any((plan.order(run) != again.order(run)).any() for run in range(3))
    assert plan.key(0) != again.key(0)
    assert plan.own_key(0) != again.own_key(0)


@pytest.mark.parametrize("steps", [3, 9])
def test_a_stopped_study_ends_as_one_that_never_stopped(made, tmp_path, steps):
    partly = done(tmp_path, steps)
    assert not partly.begun
    assert 0 < len(parts(tmp_path)) < len(parts(made.folder))
    rest = done(tmp_path)
    assert rest.begun
    assert parts(tmp_path) == parts(made.folder)


def test_what_is_done_is_not_done_again_and_more_runs_go_on(made, tmp_path):
    done(tmp_path, runs=1)
    assert list(study(tmp_path, runs=1).steps(1, engine="plain"))[-1][1:] == (13, 13)
    done(tmp_path)
    assert parts(tmp_path) == parts(made.folder)


def test_runs_of_another_seed_are_not_mixed_in(tmp_path):
    done(tmp_path, steps=2)
    with pytest.raises(InvalidInput, match=r"already holds better-runs; replace it with --over"):
        study(tmp_path, seed=1)
    before = parts(tmp_path)
    other = study(tmp_path, seed=1, overwrite=True)
    assert parts(tmp_path) == before
    next(other.steps(1, engine="plain"))
    assert parts(tmp_path) == {}


def test_a_folder_of_that_name_which_no_study_made_is_never_removed(tmp_path):
    mine = tmp_path / PARTS / "letter.txt"
    mine.parent.mkdir()
    mine.write_text("dear")
    for overwrite in (False, True):
        with pytest.raises(InvalidInput, match=r"better-runs is of no such study; give another"):
            study(tmp_path, overwrite=overwrite)
    assert mine.read_text() == "dear"


def test_runs_that_some_panel_lacks_count_nowhere(tmp_path):
    runs = done(tmp_path)
    (tmp_path / PARTS / "clb-d7" / "run-000000.json").unlink()
    assert {
        len(numbers["regret"])
        for policies in runs.figures("clb").values()
        for numbers in policies.values()
    } == {1}
    (tmp_path / PARTS / "clb-d7" / "run-000001.json").unlink()
    assert runs.figures("clb") == {}


def test_a_damaged_run_is_named(tmp_path):
    runs = done(tmp_path)
    part = tmp_path / PARTS / "clb-d5" / "run-000001.json"
    part.write_text("{")
    with pytest.raises(DamagedFile, match=r"run-000001.json is damaged; delete it"):
        runs.figures("clb")
    part.write_text(json.dumps([{"panel": "clb"}]))
    with pytest.raises(DamagedFile, match=r"run-000001.json is damaged; delete it"):
        runs.figures("clb")


def test_a_run_that_was_put_back_in_the_wrong_folder_is_named(made, tmp_path):
    shutil.copytree(made.folder, tmp_path / "out")
    place = tmp_path / "out" / PARTS
    shutil.copy(place / "clb-d9" / "run-000001.json", place / "clb-d7" / "run-000001.json")
    with pytest.raises(DamagedFile, match=r"clb-d7/run-000001.json is damaged; delete it"):
        study(tmp_path / "out").figures("clb")


def test_a_kill_while_old_runs_are_cleared_leaves_a_study(made, tmp_path):
    class Killed(BaseException):
        pass

    for count in range(0, 20, 3):
        out = tmp_path / str(count)
        shutil.copytree(made.folder, out)
        removals = [mock.DEFAULT] * count + [Killed]
        with (
            mock.patch("os.unlink", side_effect=removals, wraps=os.unlink),
            pytest.raises(Killed),
        ):
            study(out, seed=1, overwrite=True).claim()
        study(out, seed=1, overwrite=True).claim()
        assert parts(out) == {}
        assert study(out, seed=1).begun


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"problems": ["clb", "x"]}, r"problem = 'x' must be one of cmab, clb, cccb, mv"),
        ({"problems": []}, r"problems = \(\) must name at least one"),
        ({"runs": 0}, r"runs = 0 must be"),
        ({"seed": -1}, r"seed = -1 must be >= 0"),
        ({"horizon": 1}, r"horizon = 1 must be >= 2"),
        ({"instances": -1}, r"instances = -1 must be an int from 0 to 1000"),
    ],
)
def test_a_wrong_setting_is_refused(changed, said):
    with pytest.raises(InvalidInput, match=said):
        Better(**{**SMALL, **changed})
