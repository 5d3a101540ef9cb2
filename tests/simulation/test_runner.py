import importlib.util
import os
import signal
import threading
import time

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import InvalidInput, MissingExtra
from surefoot.simulation import runner
from surefoot.simulation.compiled import PLAIN
from surefoot.simulation.plan import Plan

ENVIRONMENT = sf.BernoulliArms([0.8, 0.5, 0.3])


def agents():
    return {
        "GenCB": sf.gencb_cmab(3, 0.6, 0.1),
        "UCB1": sf.Plain(sf.UCB1(3), sf.RewardFloor(0.6, 0.1)),
        "ConUCB": sf.ConUCB(3, 0.6, 0.1),
    }


def traces(**options):
    result = sf.simulate(agents(), ENVIRONMENT, **{"horizon": 300, "seed": 1, **options})
    return [
        {name: (t.books.tolist(), t.losses.round(9).tolist()) for name, t in run.items()}
        for run in result.runs.values()
    ]


def test_the_result_does_not_depend_on_the_threads():
    assert traces(runs=12, workers=1) == traces(runs=12, workers=4)


def test_a_run_depends_on_its_number_alone():
    assert traces(runs=5)[3] == traces(runs=50)[3]


def test_runs_differ():
    runs = traces(runs=5)
    assert all(runs[i] != runs[j] for i in range(5) for j in range(i))


def test_both_forms_of_the_engine_and_auto_agree():
    assert traces(engine="compiled") == traces(engine="plain") == traces(engine="auto")


def test_fresh_entropy_is_told_and_repeats_the_result():
    first, second = (sf.simulate(agents(), ENVIRONMENT, 100, seed=None) for _ in range(2))
    assert first.seed != second.seed
    assert traces(seed=first.seed, horizon=100) == traces(seed=first.seed, horizon=100)
    again = sf.simulate(agents(), ENVIRONMENT, 100, seed=first.seed)
    assert again.seed == first.seed
    assert again.runs[0]["UCB1"].books.tolist() == first.runs[0]["UCB1"].books.tolist()


def test_the_global_random_state_is_not_touched():
    before = np.random.get_state()  # noqa: NPY002  (the very thing)
    traces(runs=2, seed=None)
    after = np.random.get_state()  # noqa: NPY002
    assert [str(part) for part in before] == [str(part) for part in after]


def test_progress_counts_the_runs():
    told = []
    traces(runs=5, progress=lambda done, runs: told.append((done, runs)))
    assert told == [(done, 5) for done in range(1, 6)]


def test_runs_come_in_order_whatever_ends_first():
    result = sf.simulate(agents(), ENVIRONMENT, 100, runs=9, workers=4)
    assert list(result.runs) == list(range(9))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"runs": 0}, "runs = 0 must be an int >= 1"),
        ({"runs": 2.0}, "runs = 2.0 must be an int >= 1"),
        ({"workers": 0}, "workers = 0 must be an int >= 1"),
        ({"workers": -2}, "workers = -2 must be an int >= 1"),
        ({"workers": 1.5}, "workers = 1.5 must be an int >= 1"),
        ({"engine": "fast"}, "engine = 'fast' must be one of 'auto', 'compiled', 'plain'"),
        ({"engine": None}, "engine = None must be one of 'auto', 'compiled', 'plain'"),
        ({"engine": np.array(["auto", "plain"])}, "must be one of 'auto', 'compiled', 'plain'"),
        ({"engine": 10**5000}, "engine = <int of too many digits> must be one of"),
        ({"runs": -(10**5000)}, "runs = <int of too many digits> must be an int >= 1"),
        ({"progress": 3}, "progress = 3 must be a function of (runs done, runs), or None"),
    ],
)
def test_refused(options, said):
    with pytest.raises(InvalidInput) as error:
        traces(**options)
    assert said in str(error.value)


@pytest.fixture
def without_numba(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "numba" else find(name)
    )


@pytest.mark.usefixtures("without_numba")
def test_without_numba_compiled_names_the_remedy_and_auto_is_plain():
    with pytest.raises(MissingExtra, match=r"pip install '\.\[fast\]'"):
        traces(engine="compiled")
    assert runner.choose("auto") is PLAIN
    assert runner.choose("plain") is PLAIN


class Failing:
    """A policy that fails at its fifth turn."""

    n_arms = 3

    def __init__(self):
        self.turns = 0

    def select(self, context, rng):
        self.turns += 1
        if self.turns == 5:
            raise ZeroDivisionError("the user's own fault")
        return 0

    def update(self, arm, reward, context): ...

    def state(self): ...

    def restore(self, state): ...


def test_an_error_of_a_run_is_the_callers_error_at_once():
    slow = {"failing": sf.Plain(Failing()), "slow": sf.Plain(sf.UCB1(3))}
    start = time.monotonic()
    with pytest.raises(ZeroDivisionError, match="the user's own fault"):
        sf.simulate({"failing": slow["failing"]}, ENVIRONMENT, 1000, runs=100, workers=2)
    assert time.monotonic() - start < 2


@pytest.mark.parametrize("engine", ["compiled", "plain"])
def test_ctrl_c_stops_long_runs(engine):
    """Each of these runs would take half a minute compiled, and hours plain.

    Polars installs a signal handler under which waiting for a thread is not interrupted.
    """
    pytest.importorskip("polars")
    many = sf.BernoulliArms(np.linspace(0.8, 0.2, 24))
    guarded = {"GenCB": sf.gencb_cmab(24, 0.7, 0.05), "UCB1": sf.Plain(sf.UCB1(24))}
    sf.simulate(guarded, many, 10, engine=engine)  # compiled before
    main, pressed, stopped = threading.main_thread().ident, [], threading.Event()

    def press():
        """Again after a while: an interrupt that strikes a destructor or a callback is dropped."""
        while not stopped.wait(5 if pressed else 0.3):
            pressed.append(time.monotonic())
            signal.pthread_kill(main, signal.SIGINT)

    def run():
        try:
            sf.simulate(guarded, many, 10**9, runs=4, workers=2, engine=engine)
        finally:
            stopped.set()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background: ignored
    threading.Thread(target=press, daemon=True).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run()
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - pressed[-1] < 5
    assert [thread for thread in threading.enumerate() if "ThreadPool" in thread.name] == []


def test_a_caller_that_stops_keeps_what_is_done():
    plan = Plan(agents(), ENVIRONMENT, 50_000_000)
    short = Plan(agents(), ENVIRONMENT, 10)

    class Mixed:
        """Run 0 is short, the others are long."""

        def run(self, number, *rest):
            return (plan if number else short).run(number, *rest)

    start = time.monotonic()
    finished = []
    for number, _ in runner.run_all(Mixed(), range(4), runner.choose("compiled"), 2):
        finished.append(number)
        break
    assert finished == [0]
    assert time.monotonic() - start < 2


def test_threads_are_as_many_as_this_process_may_use(monkeypatch):
    assert 1 <= runner.cores() <= os.cpu_count()
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 2, 5}, raising=False)
    assert runner.cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    assert runner.cores() == os.cpu_count()
