from types import SimpleNamespace

import pytest

import surefoot as sf
from surefoot.study.better.rivals import NAMED, PRINTED, PROVED, guarded, of_role, rivals
from surefoot.study.problems import MAIN
from surefoot.study.sweep import read


@pytest.mark.parametrize("problem", MAIN)
def test_the_printed_rival_is_the_algorithm_of_the_panel(problem):
    panel = read(MAIN[problem])
    arms = panel.environment()
    rival = of_role(problem, PRINTED)
    agents = {
        "panel": panel.agents()[panel.guarded],
        "rival": guarded(rival.make(panel, arms), panel),
    }
    result = sf.simulate(agents, arms, horizon=400, runs=1, seed=1, engine="plain")
    books = [result.runs[0][name].books.tolist() for name in agents]
    assert books[0] == books[1]
    assert rival.name == panel.unguarded


@pytest.mark.parametrize("problem", MAIN)
def test_a_policy_is_made_without_means_gaps_or_horizon(problem):
    """Whatever a rival reads of panel and environment is in these two."""
    panel = read(MAIN[problem])
    arms = panel.environment()
    known = {name: getattr(panel, name) for name in ("fitted", "rho") if hasattr(panel, name)}
    seen = {name: getattr(arms, name) for name in ("n_arms", "X", "oracle") if hasattr(arms, name)}
    for rival in rivals(problem):
        rival.make(SimpleNamespace(**known), SimpleNamespace(**seen))


@pytest.mark.parametrize("problem", MAIN)
def test_one_plays_for_each_claim_and_no_name_comes_twice(problem):
    names = [rival.name for rival in rivals(problem)]
    assert len(names) == len(set(names))
    assert len({of_role(problem, role).name for role in (PRINTED, NAMED, PROVED)}) == 3
