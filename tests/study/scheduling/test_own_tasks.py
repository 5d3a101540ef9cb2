import pytest

from surefoot.errors import InvalidInput, TaskFailed
from surefoot.study.results.store import Store
from surefoot.study.scheduling.tasks import carry_out, due
from surefoot.study.toml.study_file import read_study

STUDY = """\
problem = "cmab"
horizon = 30
runs = 4
[setting]
K = 2
[[agents]]
name = "mine"
policy = "{module}:Mine"
guard = "Plain"
"""
MINE = """\
import random, sys
class Mine:
    turns = [0]
    def __init__(self, n_arms): self.n_arms = n_arms
    def select(self, context, rng):
        arm = int(rng.integers(2))
        {does}
        return arm
    def update(self, arm, reward, context): ...
    def state(self): return {{}}
    def restore(self, state): ...
"""


def begun(folder, module, does):
    """A study of a policy that does so, and the task of all of it; each has a module of its own."""
    (folder / f"{module}.py").write_text(MINE.format(does=does))
    (folder / "mine.toml").write_text(STUDY.format(module=module))
    store = Store(folder / "out", read_study(folder / "mine.toml"))
    store.claim()
    (panels,) = store.sweep.groups.values()
    return store, due(store, panels)[0]


@pytest.mark.parametrize(
    ("module", "error", "said"),
    [
        ("raising", "ValueError('bad\\narm')", "ValueError: bad arm"),
        ("leaving", "SystemExit(3)", "SystemExit: 3"),
        ("pressing", "KeyboardInterrupt", "KeyboardInterrupt"),
        ("ending", "GeneratorExit", "GeneratorExit"),
    ],
)
def test_what_a_policy_raises_names_run_and_line_and_loses_no_run(tmp_path, module, error, said):
    store, task = begun(tmp_path, module, f"if rng.integers(150) == 0: raise {error}")
    with pytest.raises(TaskFailed) as failed:
        carry_out(task)
    assert str(failed.value).startswith("run 2 of cmab-K2 on ")
    assert f": {said} ({module}.py:7, select); what is finished is kept" in str(failed.value)
    assert store.done == 2


def test_an_arm_that_is_none_names_its_run(tmp_path):
    store, task = begun(tmp_path, "astray", "arm = 9 if rng.integers(150) == 0 else arm")
    with pytest.raises(InvalidInput, match=r"^run 2 of cmab-K2: Mine chose 9; an arm is"):
        carry_out(task)
    assert store.done == 2


@pytest.mark.parametrize(
    ("module", "does"),
    [
        ("drawing", "arm = random.randrange(2)"),
        ("counting", "self.turns[0] += 1; arm = int(self.turns[0] % 31 == 0)"),
    ],
)
def test_a_policy_that_plays_a_run_two_ways_is_refused(tmp_path, module, does):
    store, task = begun(tmp_path, module, does)
    with pytest.raises(InvalidInput, match=r"^run 0 of cmab-K2: mine .* came out another way"):
        carry_out(task)
    assert store.done == 0
