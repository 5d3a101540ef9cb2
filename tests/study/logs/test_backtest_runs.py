from decimal import Decimal

import numpy as np
import pytest

from surefoot.errors import InvalidInput
from surefoot.simulation import Result
from surefoot.study.logs import worlds
from surefoot.study.logs.backtest_runs import GIVEN, BacktestRuns
from surefoot.study.logs.subject import Subject, built_in, own
from surefoot.study.logs.worlds import GUARDED, JOINED, UNGUARDED
from surefoot.study.runs import MAX_ARMS, MAX_RUNS

LOG = {"arm": ["a", "b"] * 20, "reward": [1, 0, 0, 1] * 10}


@pytest.fixture(autouse=True)
def few_copies(monkeypatch):
    monkeypatch.setattr(worlds, "COPIES", 10)


def subject(log=LOG, default="a"):
    return Subject(log, default, "Try", "A log.")


def results(runs, **options):
    steps = list(runs.steps(**options))
    return steps, runs.results


def at_the_end(result: Result, name, measure):
    return result.measure(name, measure)[:, -1]


@pytest.mark.parametrize(("policy", "in_all"), [("ucb1", 319), ("klucb", 551)])
def test_chicago_gains_what_it_did_by_other_hands(policy, in_all):
    """A survey by a program of its own: gain of guarded runs, the log unweighted, UA at its mean.

    Credited at the upper end UA competes harder, and so a little less is gained.
    """
    case = built_in("chicago")
    plain = Subject(case.frame.drop("propensity"), "UA", "Chicago", "")
    runs = BacktestRuns(plain, 0.02, policy, runs=24, seed=7)
    paired = results(runs)[1][GUARDED]
    gains = [one.gains[0].value for one in runs.of_kind(worlds.LOG)]
    assert 0.9 * in_all < np.mean(gains) < 1.05 * in_all
    assert (at_the_end(paired, UNGUARDED, "minimum_slack") < 0).mean() > 0.9
    assert paired.exact_minimum_slack(GUARDED) >= 0


def test_in_atlanta_the_incumbent_goes_on_because_it_competes():
    runs = BacktestRuns(built_in("atlanta"), 0.02, runs=10)
    found = results(runs)[1]
    always = runs.always
    gains = [one.gains[0].value for one in runs.of_kind(worlds.LOG)]
    # Of all that the floor allows to lose, little is lost where the default competes.
    assert -0.5 * 0.02 * always < np.mean(gains) < 0
    assert at_the_end(found[GUARDED], GUARDED, "default_plays").min() > 0.9 * runs.horizon
    assert found[GUARDED].exact_minimum_slack(GUARDED) >= 0
    assert found[JOINED].exact_minimum_slack(JOINED) < 0


def test_the_default_counts_at_the_upper_end_of_its_logged_mean():
    """To six figures, rounded up; and not above what a reward can be."""
    many = {"arm": ["a", "a", "a", "b"] * 1000, "reward": [1, 1, 0, 0] * 1000}
    runs = BacktestRuns(subject(many), 0.1)
    variance = (3000 * 2 / 9 + 20 * 0.25) / 3020
    upper = 2 / 3 + 1.96 * (variance / 3000) ** 0.5
    assert upper <= float(runs.value) < upper + 1e-6
    assert runs.mean == pytest.approx(2 / 3)
    assert runs.least == (Decimal("0.9") * runs.value).quantize(Decimal("1e-9"))
    assert runs.floor.default == runs.value
    few = BacktestRuns(subject({"arm": ["a", "a", "a", "b"], "reward": [1, 1, 0, 0]}), 0.1)
    assert few.value == 1
    assert few.horizon == few.rows.count == 4
    assert few.labels == ["b", "a"]


def test_guarded_and_unguarded_share_policy_arms_and_noise():
    runs = BacktestRuns(subject({"arm": ["a", "b", "c"], "reward": [0.5, 1, 0.25]}), 0.1)
    paired, alone = runs.plans.values()
    assert paired.agents[GUARDED].policy.record == paired.agents[UNGUARDED].policy.record
    assert paired.agents[GUARDED].labels == paired.agents[UNGUARDED].labels == ("b", "c")
    assert paired.agents[GUARDED].default_competes
    assert alone.agents[JOINED].labels == ("b", "c", "a")
    assert not paired.stepwise
    assert not alone.stepwise


@pytest.mark.parametrize(
    ("rewards", "declared", "expected"),
    [
        ([0.25, 0.5], None, (0, 1)),
        ([0, 1], None, (0, 1)),
        ([0.5, 1.5], None, (Decimal("0.5"), Decimal("1.5"))),
        ([-1, 3], None, (-1, 3)),
        ([0.25, 0.5], (-2, 5), (-2, 5)),
    ],
)
def test_the_range_is_given_or_assumed_and_says_so(rewards, declared, expected):
    log = {"arm": ["a", "b"], "reward": rewards[::-1]}
    runs = BacktestRuns(subject(log), 0.1, reward_range=declared)
    assert runs.floor.reward_range == expected
    assert (runs.range_is == GIVEN) == (declared is not None)
    assert all(not plan.stepwise for plan in runs.plans.values())  # one unit on both sides


def test_steps_tell_where_it_stands():
    runs = BacktestRuns(subject(), 0.1, runs=2, horizon=30)
    steps = results(runs, engine="plain")[0]
    assert [(step.doing, step.done) for step in steps[:4]] == [
        ("starting", 0), ("running", 0), ("running", 1), ("running", 2),
    ]  # fmt: skip
    assert {step.total for step in steps} == {steps[-1].done} == {2 + 10 + 10 + 10}


def test_equal_seeds_find_the_same_on_any_engine_with_any_threads():
    found = []
    for seed, options in ((1, {"engine": "plain"}), (1, {"workers": 3}), (2, {})):
        runs = BacktestRuns(subject(), 0.1, runs=3, horizon=40, seed=seed)
        list(runs.steps(**options))
        gains = [one.gains for one in runs.found.values()]
        dips = [one.dips for one in runs.found.values()]
        found.append((gains, dips, [result.frame for result in runs.results.values()]))
    one, other, another = found
    assert one[:2] == other[:2]
    assert all(mine.equals(its) for mine, its in zip(one[2], other[2], strict=True))
    assert one[0] != another[0]


def test_worlds_are_those_of_their_number_however_many_runs_there_are():
    few, more = (BacktestRuns(subject(), 0.1, runs=runs, horizon=40) for runs in (2, 4))
    for runs in (few, more):
        list(runs.steps())
    for kind in range(1, 4):
        mine, its = few.of_kind(kind), more.of_kind(kind)
        assert [one.gains for one in mine] == [one.gains for one in its]


def test_other_alphas_change_nothing_of_the_first():
    alone, swept = (BacktestRuns(subject(), 0.1, runs=2, alphas=a) for a in ((), (0.02, 0.3)))
    for runs in (alone, swept):
        list(runs.steps())
    for mine, its in zip(alone.found.values(), swept.found.values(), strict=True):
        assert mine.gains == its.gains[:1]
        assert len(its.gains) == 3


def test_a_log_of_ones_own(tmp_path):
    file = tmp_path / "ads.csv"
    file.write_text("ad,paid\n7,1.5\n8,0\n")
    mine = own(file, "7", "ad", "paid")
    assert (mine.default, mine.title, mine.source) == (7, "ads.csv", "ads.csv, 2 rows.")
    assert BacktestRuns(mine, 0.05).environment.arms == (8,)
    with pytest.raises(InvalidInput, match=r"name the default.*--default\); ads.csv has 7, 8"):
        own(file, None, "ad", "paid")
    long = tmp_path / f"{'x' * 80}.csv"
    file.rename(long)
    assert len(own(long, "7", "ad", "paid").title) == 40


def test_alpha_is_the_subjects_unless_given():
    assert BacktestRuns(built_in("chicago"), runs=1).floor.alpha == Decimal("0.02")
    assert BacktestRuns(subject()).floor.alpha == Decimal("0.05")
    assert BacktestRuns(subject(), 0.2).floor.alpha == Decimal("0.2")


def test_a_built_in_case_with_another_default():
    assert built_in("chicago").default == "UA"
    other = BacktestRuns(built_in("chicago", "AA"), 0.05, runs=1)
    assert 0.77 < other.mean < float(other.value) < 0.80


@pytest.mark.parametrize(("default", "shown"), [(7, "7"), ("a\n b", "a b"), ("x" * 13, "x" * 11)])
def test_the_default_is_shown_short(default, shown):
    runs = BacktestRuns(subject({"arm": [default, "b"], "reward": [1, 0]}, default), 0.1)
    assert runs.shown.rstrip("…") == shown


@pytest.mark.parametrize(
    ("log", "options", "said"),
    [
        (LOG, {"policy": "greedy"}, "policy 'greedy' is unknown; choose 'klucb' or 'ucb1'"),
        (LOG, {"alpha": 1}, "alpha = 1 must lie strictly between 0 and 1"),
        (LOG, {"runs": 0}, "runs = 0 must be an int >= 1"),
        (LOG, {"runs": MAX_RUNS + 1}, "runs = 10,001 is above 10,000"),
        (LOG, {"horizon": 0}, "horizon = 0 must be an int >= 1"),
        (LOG, {"seed": -1}, "seed = -1"),
        (LOG, {"reward_range": (0, 0.5)}, "outside the reward_range"),
        ({"arm": ["a", "b"], "reward": [0, 1]}, {}, "the default 'a' pays 0 a play in the log"),
        ({"arm": ["a", "b"], "reward": [-1, 1]}, {}, "the default 'a' pays -1 a play in the log"),
        ({"arm": ["a", "b"], "reward": [5, 5]}, {}, "all rewards of the log are about 5;"),
        ({"arm": ["a", "a"], "reward": [5, 5]}, {}, "no arm besides the default"),
        (
            {"arm": ["a", *range(MAX_ARMS)], "reward": [1] * (MAX_ARMS + 1)},
            {},
            "the log has 1,001 arms, a replay takes at most 1,000; is that column the arm?",
        ),
    ],
    ids=[
        "policy", "alpha", "no runs", "runs", "horizon", "seed", "range", "default of 0",
        "default below 0", "constant", "one arm", "arms",
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(log, options, said):
    with pytest.raises(InvalidInput, match=said):
        BacktestRuns(subject(log), **{"alpha": 0.1, **options})


def test_threads_that_are_none_are_refused_before_the_first_run():
    with pytest.raises(InvalidInput, match="workers = 0"):
        next(BacktestRuns(subject(), 0.1).steps(workers=0))


@pytest.mark.parametrize("reward", [3, 1234567890123.4])
def test_a_log_of_one_reward_leaves_nothing_to_choose(reward):
    """Also where that reward is no whole unit, so that the log's range is wider than it."""
    with pytest.raises(InvalidInput, match="nothing to choose"):
        BacktestRuns(subject({"arm": ["a", "b"], "reward": [reward] * 2}))


def test_a_deposit_below_the_unit_is_refused_for_nothing_would_be_explored():
    log = {"arm": ["b"] * 100, "reward": [1.0] * 100}
    known = Subject(log, "a", "Try", "A log.", known=Decimal("1e-8"))
    with pytest.raises(InvalidInput, match=r"alpha=0\.01.* would never let a play explore"):
        BacktestRuns(known, 0.01, reward_range=(0, 1))


@pytest.mark.parametrize(("mean", "alpha", "first"), [(0.5, 0.1, 10), (2e-8, 0.09, 20)])
def test_the_first_exploration_is_the_books_also_where_they_round(mean, alpha, first):
    """In exact numbers 2e-8 at alpha 0.09 would be explored from play 12 on."""
    log = {"arm": ["b"] * 100, "reward": [1.0] * 100}
    known = Subject(log, "a", "Try", "A log.", known=Decimal(str(mean)))
    runs = BacktestRuns(known, alpha, reward_range=(0, 1), runs=1, horizon=first)
    list(runs.steps(engine="plain"))
    assert runs.first_exploration == first
    assert at_the_end(runs.results[GUARDED], GUARDED, "default_plays") == [first - 1]
