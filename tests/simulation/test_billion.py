"""The last turns of a billion: compiled and plain text decide alike, and nothing leaves 64 bits."""

import re
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.kernels import registry
from surefoot.simulation import mean_variance as mv
from surefoot.simulation import stages
from surefoot.simulation.calendar import promise
from surefoot.simulation.compiled import PLAIN
from surefoot.simulation.fast import kinetic
from surefoot.simulation.plan import Plan
from surefoot.simulation.runner import choose
from surefoot.simulation.stages import SharedPath

T = 10**9
LEFT = 300
"""Plays that are still to be made."""
WIDE = sf.ReplayLog({"arm": [0, 0, 1, 1, 2, 2], "reward": [0, 2.9, 0, 2.9, 2.899999999, 0]})
MOMENTS = sf.MeanVarianceFloor(2.8, 0.05, 0.1, (0, 2.9))


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    monkeypatch.setattr(stages, "BLOCK", 100)


def near_the_end(agent, environment, engine, defaults, slack):
    """The agent with 300 plays left: every arm has paid its most in half of its equal plays."""
    plan = Plan({"it": agent}, environment, T, 7, range(T - LEFT + 1, T + 1))
    ((path, names),) = plan.paths
    stage = SharedPath(plan, path, names, 0, engine)
    rows = stage._all_rows()
    turns = T - LEFT - defaults
    rows["turns"][0] = turns
    plays = turns // 3
    units = int(getattr(path.policy, "unit", registry.NANO))
    known = [
        plays - 1,
        plays // 2 * units,
        *([plays // 2 * units, 0] * hasattr(path.policy, "rho")),
    ]
    for i, number in enumerate(known):
        rows[f"policy.{i}"][:] = [number] * 3
    for k in range(3):  # by which ConUCB computes its bounds
        registry.update(path.policy, stage._policy, k, 1.0)
    if engine is not PLAIN and path.kind in registry.LINE_KERNELS:
        begin(path.policy, stage._policy, turns + 1)
    books = rows["calendar.0.books"]
    for column, number in enumerate([T - LEFT, defaults, slack, slack, 0, 0]):
        books[column] = number
    if "calendar.0.sums" in rows:
        moments(agent.floor, rows, T - LEFT, defaults)
    return stage


def begin(policy, state, m):
    """The tournament of the fast driver, as it stands before turn m."""
    for k in range(3):
        state[kinetic.LEVEL][k], state[kinetic.SLOPE][k] = registry.line(policy, state, k)
    s, _, reach = registry.rise(policy, m)
    kinetic.begin(state[kinetic.LEVEL :], s, kinetic.MARGIN * reach)


def moments(floor, rows, n, defaults):
    """The moments of n rewards: defaults at their value, the others the most there is."""
    most, value = floor.constants.high, floor.constants.value
    won = n - defaults
    total = won * most + defaults * value
    high, low = divmod(won * most**2 + defaults * value**2, mv.BASE)
    sums, now = rows["calendar.0.sums"], [n, total, high, low]
    for column, number in enumerate([0, *now[1:], *now]):
        sums[column] = number
    rows["calendar.0.least"][:] = list(mv.slack_near(promise(floor), *now))


def mv_ucb():
    return sf.MVUCB(3, 0.1, (0, 2.9))


AGENTS = {
    "UCB1": (lambda: sf.Plain(sf.UCB1(3), sf.RewardFloor(0.6, 0.05)), 0),
    "GenCB": (lambda: sf.gencb_cmab(3, 0.6, 0.05), 10**8),
    "ConUCB": (lambda: sf.ConUCB(3, 0.4, 0.3), 10**8),
    "MV-UCB": (lambda: sf.Plain(mv_ucb(), MOMENTS), 0),
    "MV-CUCB": (
        lambda: sf.GenCB(mv_ucb(), MOMENTS, default_competes=False),
        10**6,
    ),
}


@pytest.mark.parametrize("name", sorted(AGENTS))
def test_the_last_turns_of_a_billion_are_decided_alike(name):
    make, defaults = AGENTS[name]
    environment = WIDE if name.startswith("MV") else sf.BernoulliArms([0.5, 0.5, 0.5])
    ends = []
    for engine in (choose("compiled"), PLAIN):
        stage = near_the_end(make(), environment, engine, defaults, slack=2 * 10**9)
        while not stage.ended:
            stage.step()
        ends.append(stage)
    fast, plain = (stage.traces()["it"] for stage in ends)
    assert (fast.books == plain.books).all()
    assert fast.books[-1, 0] == T
    assert len(set(fast.books[:, -1].tolist())) > 2  # several arms have turns
    own = [[np.asarray(row).tolist() for row in stage._policy[:4]] for stage in ends]
    assert own[0][: len(own[1])] == own[1]
    if name.startswith("MV"):
        sums = [list(map(int, stage._rows()["calendar.0.sums"])) for stage in ends]
        assert sums[0][1:] == sums[1][1:]
        assert sums[0][mv.HIGH] > 2**60


def test_no_kernel_knows_narrower_numbers():
    """An int32 would end after two billion units, a float32 after seven digits."""
    package = Path(sf.__file__).parent
    folders = ["simulation", "kernels", "policies", "comparators", "environments", "floors"]
    files = [file for folder in folders for file in (package / folder).rglob("*.py")]
    found = {
        file.name: match[0]
        for file in [*files, package / "agents" / "funding.py"]
        if (match := re.search(r"np\.(u?int|float)(16|32)\b|intc\b|single\(", file.read_text()))
    }
    assert len(files) > 60
    assert not found
