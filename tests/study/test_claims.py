import numpy as np
import polars as pl
import pytest

from surefoot.study.claims import RULES, claims
from surefoot.study.problems import MAIN
from surefoot.study.sweep import Sweep, read

T = np.arange(1, 101)
PANEL = Sweep.of(read(MAIN["cmab"])).but(K=(3,), horizon=100, runs=2).panels[0]
GOOD = {
    "GenCB": {"regret": np.minimum(T, 40.0), "default_plays": np.minimum(T, 30)},
    "UCB1": {"regret": np.minimum(T, 20.0), "minimum_slack": -5.0, "violating_rounds": 7},
    "ConUCB": {"regret": 1.0 * T, "default_plays": T},
}


def held(problem=PANEL, **changed):
    """Claim -> whether it holds, where an agent's measures are changed; two equal runs."""
    tables = []
    for name in problem.names():
        still = {"default_plays": 0, "minimum_slack": 0.0, "violating_rounds": 0}
        columns = {**still, **GOOD.get(name, {}), **changed.get(name, {})}
        tables += [pl.DataFrame({"agent": name, "run": run, "t": T, **columns}) for run in range(2)]
    frame = pl.concat(tables, how="vertical_relaxed")
    return {claim.key: claim.holds for claim in claims(problem, frame)}


def test_all_hold_where_all_is_as_the_paper_says():
    assert held() == dict.fromkeys(RULES, True)


@pytest.mark.parametrize(
    ("changed", "fails"),
    [
        ({"GenCB": {"violating_rounds": 1}}, "kept"),
        ({"GenCB": {"minimum_slack": -1e-9}}, "kept"),
        ({"GenCB": {"default_plays": np.minimum(T, 81)}}, "flat"),
        ({"ConUCB": {"regret": np.minimum(T, 40.0)}}, "lower"),
        ({"GenCB": {"regret": 0.5 * T}}, "constant"),
        ({"UCB1": {"violating_rounds": 0}}, "early"),
    ],
)
def test_each_fails_where_it_is_not_so(changed, fails):
    assert [key for key, holds in held(**changed).items() if not holds] == [fails]


def test_a_run_that_is_flat_says_since_when():
    claim = claims(PANEL, frame_of(np.minimum(T, 30)))[1]
    assert claim.found == "flat from play 30 on in every run; 30 in the mean"


def frame_of(default_plays):
    still = {"regret": 0.0, "minimum_slack": 0.0, "violating_rounds": 0}
    return pl.concat(
        pl.DataFrame(
            {"agent": name, "run": 0, "t": T, **still, "default_plays": default_plays},
        )
        for name in PANEL.names()
    )


def test_without_a_rival_there_is_no_claim_about_one():
    mv = Sweep.of(read(MAIN["mv"])).but(horizon=100, runs=2).panels[0]
    measures = {"MV-CUCB": GOOD["GenCB"], "MV-UCB": GOOD["UCB1"]}
    assert list(held(mv, **measures)) == ["kept", "flat", "constant", "early"]
