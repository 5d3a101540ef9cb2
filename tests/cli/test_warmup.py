import pytest

from surefoot.cli import _warmup, app
from surefoot.kernels import warm
from surefoot.simulation.runner import choose

pytest.importorskip("numba")


@pytest.fixture
def warmup(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "kept"))
    monkeypatch.setenv("COLUMNS", "80")

    def run(anew):
        monkeypatch.setattr("surefoot._warmup.warmup", lambda: anew)
        monkeypatch.setattr(_warmup, "_loops", lambda: iter(()))
        with pytest.raises(SystemExit) as left:
            app(["warmup"])
        assert not left.value.code
        return capsys.readouterr().out

    return run


def test_it_says_what_it_compiled_and_where_it_is_kept(warmup, tmp_path):
    out = warmup(("KLUCB", "UCB1"))
    assert out.startswith(f"compiled KLUCB, UCB1; kept in {tmp_path / 'kept'}")


def test_a_second_time_there_is_nothing_to_do(warmup):
    assert warmup(()).startswith("nothing was left to compile; kept in ")


def test_without_a_place_to_write_it_says_so(warmup, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "file"))
    assert "set SUREFOOT_CACHE" in warmup(("UCB1",))


def test_every_policy_of_ours_is_among_them():
    ours = {
        live.name
        for record, live in warm.wrappers().items()
        if record.__module__.startswith("surefoot.")  # other tests register records, too
    }
    assert sorted(ours) == [
        "AdaUCB",
        "ConUCB",
        "DiscountedThompson",
        "DiscountedUCB1",
        "EpsilonGreedy",
        "GaussianThompson",
        "KLMS",
        "KLUCB",
        "LinTS",
        "LinUCB and C2UCB",
        "LinUCB and C2UCB, tight",
        "MOSS",
        "MVUCB",
        "SlidingThompson",
        "SlidingUCB1",
        "Thompson",
        "UCB1",
    ]


def test_the_loops_of_all_four_problems_are_compiled_once(monkeypatch, capsys):
    seen = set()
    monkeypatch.setattr("surefoot.simulation.runner.warm", lambda plan, engine: id(engine) in seen)
    monkeypatch.setattr("surefoot.simulation.runner.compile_ahead", lambda plan, engine: None)
    assert list(_warmup._loops()) == ["study cmab", "study clb", "study cccb", "study mv"]
    seen.add(id(choose("compiled")))
    assert list(_warmup._loops()) == []
    assert "compiling the loops of study mv" in capsys.readouterr().err
