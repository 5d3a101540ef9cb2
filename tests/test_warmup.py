import copy

import pytest

import surefoot as sf
from surefoot import _compile
from surefoot.errors import MissingExtra
from surefoot.kernels import warm as warming


def test_without_numba_it_names_the_pip_command(monkeypatch):
    monkeypatch.setattr(_compile, "available", lambda: False)
    before = dict(warming._READY)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[fast\]'"):
        sf.warmup()
    assert before == warming._READY


@pytest.fixture(scope="module")
def ready():
    """What a warm-up leaves; it is taken back."""
    pytest.importorskip("numba")
    before, warming._READY = warming._READY, {}
    sf.warmup()
    wrappers, warming._READY = warming._READY, before
    return wrappers


@pytest.fixture
def warm(monkeypatch, ready):
    """After a warm-up, for this test only."""
    monkeypatch.setattr(warming, "_READY", ready)


MAKERS = {
    "GenCB": lambda: sf.gencb_cmab(5, 0.4, 0.3, seed=1),
    "ConUCB": lambda: sf.ConUCB(5, 0.4, 0.3, 0.01, seed=1),
    "MOSS": lambda: sf.comparators.UnbalancedMOSS(5, 0.4, 0.3, 500, seed=1),
    "BudgetFirst": lambda: sf.comparators.BudgetFirst(5, 0.4, 0.3, 500, seed=1),
    "MV": lambda: sf.mv_cucb(5, 0.4, 0.3, rho=30, seed=1),
    "CLB": lambda: sf.gencb_clb([[1, 0], [0, 1], [0.6, 0.8]], 0.4, 0.3, seed=1),
    "CCCB": lambda: sf.gencb_cccb([[1, 0], [0, 1], [0.6, 0.8]], sf.TopK(2), 0.4, 0.3, seed=1),
}


def played(agent, start, plays=150):
    """What an agent decides, and how its plays are explained."""
    seen = []
    for t in range(start, start + plays):
        play = agent.select()
        seen.append((play, agent.explain(play)))
        paid = (t * 7 % 10) / 10
        if play.is_default:
            agent.update(play)
        elif isinstance(play.arm, tuple):
            agent.update(play, base_rewards=[paid / 2, 0.1])
        else:
            agent.update(play, paid)
    return seen


@pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
def test_whole_agents_make_the_same_plays_and_the_same_files(make, ready, monkeypatch, tmp_path):
    monkeypatch.setattr(warming, "_READY", {})
    plain = make()
    before = played(plain, 0)
    plain.save(tmp_path / "plain.json")
    monkeypatch.setattr(warming, "_READY", ready)
    compiled = make()
    assert played(compiled, 0) == before
    compiled.save(tmp_path / "compiled.json")
    assert (tmp_path / "plain.json").read_bytes() == (tmp_path / "compiled.json").read_bytes()
    loaded = sf.load(tmp_path / "plain.json")
    monkeypatch.setattr(warming, "_READY", {})
    unloaded = sf.load(tmp_path / "compiled.json")
    after = played(plain, 150)
    assert played(loaded, 150) == played(unloaded, 150) == after


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("kind", ["GenCB", "CLB", "CCCB"])
def test_a_copy_goes_its_own_way(kind):
    agent = MAKERS[kind]()
    played(agent, 0)
    state = agent.policy.state()
    twin = copy.deepcopy(agent)
    ahead = played(twin, 150)
    assert agent.policy.state() == state
    assert played(agent, 150) == ahead


@pytest.mark.usefixtures("warm")
def test_a_second_warm_up_compiles_nothing():
    assert sf.warmup() == ()
