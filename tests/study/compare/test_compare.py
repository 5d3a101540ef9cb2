import json

import numpy as np
import pytest

import surefoot as sf
from surefoot.adapters import Called
from surefoot.errors import InvalidInput
from surefoot.study.compare import compare
from surefoot.study.compare.chart import draw_comparison
from surefoot.study.compare.compare import GUARDED, UNGUARDED, Case, Comparison, ComparisonFindings
from surefoot.study.compare.peers import PEERS, Peer
from surefoot.study.files import to_json


def rule(name, arm):
    return Peer(name, "", "", lambda arms: Called(lambda context, rng: arms[arm], arms=arms))


@pytest.fixture
def two_rules(monkeypatch):
    """One rule that always loses and one that always wins, on arms that pay 0 and 1."""
    arms, floor = sf.BernoulliArms([0.0, 1.0]), sf.RewardFloor(0.5, 0.5)
    case = Case("sure", "Sure arms", "Two arms.", arms, floor, 0.5, shuffled=False)
    monkeypatch.setattr(compare, "PEERS", (rule("worst", 0), rule("best", 1)))
    monkeypatch.setattr(compare, "case_of", lambda name: case)


def run(*asked, **settings):
    comparison = Comparison(*asked, **settings)
    steps = list(comparison.steps(workers=1))
    assert steps[-1].done == steps[-1].total
    return ComparisonFindings(comparison)


def test_it_counts_how_often_and_how_far_below(two_rules):
    findings = run(["sure"], runs=5, horizon=40)
    worst, best = (findings.agent("sure", name, UNGUARDED) for name in ("worst", "best"))
    assert worst["runs_below"] == 5
    assert worst["first_below"] == {"mean": 1, "min": 1, "max": 1}
    assert worst["furthest_below"]["mean"] == 40 * 0.25
    assert worst["violating_rounds"]["min"] == 40
    assert (best["runs_below"], best["first_below"]) == (0, None)
    for name in ("worst", "best"):
        guarded = findings.agent("sure", name, GUARDED)
        assert guarded["runs_below"] == guarded["violating_rounds"]["max"] == 0
        assert guarded["minimum_slack"]["min"] >= 0
    assert findings.agent("sure", "worst", GUARDED)["default_plays"]["min"] == 20


def test_the_summary_is_json_and_equal_seeds_are_equal(two_rules):
    found, again = (run(["sure"], runs=2, horizon=20, seed=3).summary() for _ in range(2))
    assert to_json(found) == to_json(again)
    (case,) = json.loads(to_json(found))["cases"]
    assert [one["name"] for one in case["policies"]] == ["worst", "best"]
    assert case["policies"][0][UNGUARDED]["share_between"][1] == 1


def test_its_chart_names_the_policies_and_both_ways(two_rules, tmp_path):
    findings = run(["sure"], runs=2, horizon=20)
    drawn = draw_comparison(findings, findings.summary(), tmp_path / "compare")
    assert [path.name for path in drawn] == list(Comparison.files()[1:])
    assert all(path.stat().st_size > 1_000 for path in drawn)


def test_libraries_that_are_not_there_are_named_with_their_command(monkeypatch):
    monkeypatch.setattr("surefoot.study.compare.peers.find_spec", lambda module: None)
    findings = ComparisonFindings(Comparison(["paper"], runs=1, horizon=9))
    assert [peer.name for peer in findings.comparison.peers] == [
        peer.name for peer in PEERS if peer.name.startswith("Surefoot")
    ]
    said = findings.notes()[-1]
    assert said.startswith("Not there: Vowpal Wabbit")
    assert "pip install '.[vowpalwabbit]'" in said


def test_every_library_is_broken_unguarded_and_kept_guarded_on_both_cases():
    findings = run(["paper", "chicago"], runs=1, horizon=80)
    for case in ("paper", "chicago"):
        broken = 0
        for peer in PEERS:
            broken += findings.agent(case, peer.name, UNGUARDED)["runs_below"]
            guarded = findings.agent(case, peer.name, GUARDED)
            assert guarded["violating_rounds"]["max"] == 0
            assert guarded["default_plays"]["max"] < 80, f"{peer.name} never explored"
        assert broken >= len(PEERS) - 1  # a lucky start on the flights keeps one above


def test_arms_come_in_another_order_in_each_run():
    plan = Comparison(["paper"], runs=3, horizon=9).plans["paper"]
    orders = {tuple(np.asarray(plan.order(run))) for run in range(3)}
    assert len(orders) == 3


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"cases": ["boston"]}, "^case = 'boston' must be one of paper, chicago, atlanta"),
        ({"runs": 0}, "^runs = 0 must be"),
        ({"horizon": 10**6}, "^horizon = 1,000,000 is above 100,000"),
    ],
    ids=["case", "runs", "horizon"],
)
def test_what_does_not_fit_is_refused(settings, says):
    with pytest.raises(InvalidInput, match=says):
        Comparison(**settings)


@pytest.mark.slow
def test_the_readme_and_the_pages_say_what_compare_finds():
    findings, peers = run(["paper", "chicago"]), [peer.name for peer in PEERS if peer.extra]
    free = {
        case: [findings.agent(case, name, UNGUARDED) for name in peers]
        for case in ("paper", "chicago")
    }
    assert [sum(one["runs_below"] for one in free[case]) for case in free] == [50, 49]
    means = {case: [one["furthest_below"]["mean"] for one in free[case]] for case in free}
    assert [[round(min(x)), round(max(x))] for x in means.values()] == [[14, 100], [7, 60]]
    for case in free:
        for peer in PEERS:
            assert findings.agent(case, peer.name, GUARDED)["runs_below"] == 0
