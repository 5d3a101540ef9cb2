"""Chunks of turns under a mean-variance floor leave the books of single plays."""

import pytest

import surefoot as sf
from reference import differences
from surefoot.errors import InvalidInput
from surefoot.simulation.compiled import PLAIN
from surefoot.simulation.fast import chunks
from surefoot.simulation.plan import Plan


@pytest.mark.parametrize("check", ["viable", "exact", "paper"])
@pytest.mark.parametrize("rho", [0.5, 10, 60])
def test_the_books_are_those_of_single_plays(check, rho):
    for mu0, alpha in ((0.5, 0.05), (0.3, 0.5), (0.9, 0.2)):
        try:
            floor = sf.MeanVarianceFloor(mu0, alpha, rho, check=check)
        except InvalidInput:  # this check cannot promise it
            continue
        agents = {
            "printed": sf.GenCB(sf.MVUCB(3, rho), floor, default_competes=False),
            "competing": sf.GenCB(sf.MVUCB(3, rho), floor),
            "unguarded": sf.Plain(sf.MVUCB(3, rho), floor),
        }
        for means in ([0.8, 0.5, 0.2], [1.0, 0.0, 0.0], [0.1, 0.1, 0.1]):
            plan = Plan(agents, sf.BernoulliArms(means), 12_000, 1)
            assert differences(plan) == []


def test_other_ranges_and_rewards_of_many_digits():
    environment = sf.BetaArms([2, 0.5], [1, 3])
    for scale, (low, high) in ((3, (0, 1)), (20, (-2, 3))):
        floor = sf.MeanVarianceFloor(0.6, 0.3, scale, reward_range=(low, high))
        agents = {"a": sf.GenCB(sf.MVUCB(2, scale, (low, high)), floor)}
        assert differences(Plan(agents, environment, 20_000, 2)) == []


def test_spans_are_taken_in_most_plays(monkeypatch):
    """Else the tests above would compare the single step with itself."""
    taken = []
    take = chunks._take
    monkeypatch.setattr(chunks, "_take", lambda *given: taken.append(1) or take(*given))
    text = PLAIN._replace(survey=chunks.survey, interleave_moments=chunks.interleave_moment_chunks)
    floor = sf.MeanVarianceFloor(0.5, 0.1, 60)
    plan = Plan({"a": sf.GenCB(sf.MVUCB(2, 60), floor)}, sf.BernoulliArms([0.9, 0.8]), 4000, 1, [])
    books = plan.run(0, text)["a"].books
    assert len(taken) * chunks.CHUNK > 2000
    assert books.tolist() == plan.run(0, PLAIN)["a"].books.tolist()
