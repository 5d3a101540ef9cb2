from collections import Counter
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import replay as naive
from surefoot import KLUCB, GenCB, Plain, ReplayLog, RewardFloor, simulate
from surefoot._exact import shown
from surefoot.errors import InvalidInput
from surefoot.kernels.noise import noise
from surefoot.simulation import Plan
from surefoot.simulation.compiled import PLAIN, engine

NAN, INF = float("nan"), float("inf")

labels = st.sampled_from(["a", "b", "10", 10, 2])
numbers = (
    st.floats(-1e6, 1e6)
    | st.floats(-1e-6, 1e-6)
    | st.integers(-(10**12), 10**12)
    | st.booleans()
    | st.decimals(-1000, 1000, places=12)
    | st.integers(-(10**13), 10**13).map(lambda n: n / 10**10)  # halves of the unit
)
rows = st.lists(st.tuples(labels, numbers), min_size=1, max_size=30)


def frame(log: list[tuple[Any, Any]]) -> dict[str, list[Any]]:
    return {"arm": [arm for arm, _ in log], "reward": [reward for _, reward in log]}


def units(env: ReplayLog) -> list[list[int]]:
    rewards, starts, sizes = (column.tolist() for column in env.record)
    return [rewards[i : i + n] for i, n in zip(starts, sizes, strict=True)]


def twin(env: ReplayLog, log: list[tuple[Any, Any]]) -> dict[Any, list[int]]:
    rewards = [int(reward) if isinstance(reward, bool) else reward for _, reward in log]
    return naive.by_arm([arm for arm, _ in log], naive.units(rewards, env.places))


@given(rows)
def test_each_arm_holds_its_own_rewards_to_the_nearest_unit(log):
    env = ReplayLog(frame(log))
    held = dict(zip(env.arms, units(env), strict=True))
    expected = twin(env, log)
    low, high = (Fraction(bound) * Fraction(10) ** env.places for bound in env.reward_range)
    assert ceil(low) <= floor(high)
    for arm, amounts in expected.items():
        # No rounding leads out of the range, which the floor trusts.
        assert held.pop(arm) == [min(max(amount, ceil(low)), floor(high)) for amount in amounts]
    assert not held


@given(rows)
def test_means_are_those_of_the_rows(log):
    env = ReplayLog(frame(log))
    for mean, amounts in zip(env.means.tolist(), units(env), strict=True):
        assert mean == float(Fraction(sum(amounts), len(amounts)) / Fraction(10) ** env.places)


@given(rows, st.data())
def test_a_default_is_left_out_and_known_by_its_mean(log, data):
    default = data.draw(st.sampled_from([arm for arm, _ in log]))
    whole = ReplayLog(frame(log))
    if whole.n_arms == 1:
        with pytest.raises(InvalidInput, match="no arm besides the default"):
            ReplayLog(frame(log), default)
        return
    env, held = ReplayLog(frame(log), default), dict(zip(whole.arms, units(whole), strict=True))
    assert env.default_mean == env.unit.decimal(naive.mean(held[default]))
    low, high = env.reward_range
    assert low - Decimal(1).scaleb(-env.places) < env.default_mean <= high
    assert env.arms == tuple(arm for arm in whole.arms if arm != default)
    joined = env.with_default()
    assert joined.arms == (*env.arms, default)
    assert units(joined) == [held[arm] for arm in joined.arms]
    assert joined.means.tolist()[: env.n_arms] == env.means.tolist()
    for turn in range(1, 20):
        for arm in range(env.n_arms):
            assert joined.pull(5, turn, arm) == env.pull(5, turn, arm)


@given(rows, st.integers(0, 2**64 - 1), st.integers(1, 10**9), st.data())
def test_a_draw_is_one_of_the_arms_own_rewards_chosen_by_its_bits(log, key, turn, data):
    env = ReplayLog(frame(log))
    arm = data.draw(st.integers(0, env.n_arms - 1))
    drawn = naive.draw(units(env)[arm], noise(key, turn, arm))
    assert env.pull(key, turn, arm) == float(env.unit.decimal(drawn))


def test_every_row_is_drawn_equally_often():
    env = ReplayLog({"arm": ["a"] * 7 + ["b"], "reward": [*range(7), 99]})
    drawn = Counter(env.pull(3, turn, 0) for turn in range(1, 14_001))
    assert sorted(drawn) == list(range(7))
    assert all(abs(count - 2000) < 5 * np.sqrt(2000) for count in drawn.values())


def test_arms_are_numbered_in_the_order_of_their_labels_ints_first():
    env = ReplayLog({"arm": ["b", 10, "10", 2, "a"], "reward": [1, 2, 3, 4, 5]})
    assert env.arms == (2, 10, "10", "a", "b")
    assert env.means.tolist() == [4, 2, 3, 5, 1]
    assert env.rows == (1, 1, 1, 1, 1)


@pytest.mark.parametrize(
    "column",
    [
        [1, 0.5, 0.25],
        (1, 0.5, 0.25),
        [Decimal(1), 0.5, Decimal("0.25")],
        np.array([1, 0.5, 0.25]),
        np.array([1, 0.5, 0.25], dtype=np.float32),
        pl.Series([1.0, 0.5, 0.25]),
        pl.Series(["1", "0.5", "0.25"]).cast(pl.Decimal(10, 2)),
    ],
    ids=["list", "tuple", "decimals", "float64", "float32", "polars", "polars decimals"],
)
def test_rewards_may_come_in_any_column(column):
    env = ReplayLog({"arm": ["a", "a", "b"], "reward": column})
    assert env.record.rewards.tolist() == [1_000_000_000, 500_000_000, 250_000_000]


def test_flags_are_rewards_of_0_and_1():
    for flags in ([True, False], np.array([True, False]), pl.Series([True, False])):
        assert ReplayLog({"arm": ["a", "b"], "reward": flags}).means.tolist() == [1, 0]


def test_labels_may_come_in_any_column():
    for given_as in ([3, 4], np.array([3, 4]), pl.Series([3, 4]), range(3, 5)):
        assert ReplayLog({"arm": given_as, "reward": [0, 1]}, default=3).arms == (4,)


def test_a_half_of_a_unit_is_rounded_up_where_the_float_product_falls_short_of_it():
    assert 0.2548770405 * 1e9 < 254877040.5
    env = ReplayLog({"arm": ["a"], "reward": [0.2548770405]}, reward_range=(0, 1))
    assert env.record.rewards.tolist() == [254_877_041]


def test_a_float32_means_its_own_shortest_decimal():
    env = ReplayLog({"arm": ["a"], "reward": np.array([0.1], dtype=np.float32)})
    assert env.record.rewards.tolist() == [100_000_000]


def test_the_unit_grows_with_the_range():
    env = ReplayLog({"arm": ["a", "b"], "reward": [1e12, 1500]}, reward_range=(0, 1e12))
    assert (env.places, env.record.rewards.tolist()) == (-3, [10**9, 2])
    assert env.means.tolist() == [1e12, 2000]


def test_a_declared_range_sets_the_unit_so_that_the_floor_has_the_same():
    log = {"arm": ["a", "b"], "reward": [0.1, 0.9]}
    env = ReplayLog(log, "a", reward_range=(0, 1000))
    promise = RewardFloor(env.default_mean, 0.05, env.reward_range)
    assert env.places == promise.places < ReplayLog(log, "a").places


def test_rounding_never_leads_out_of_the_range():
    log = {"arm": ["a", "b"], "reward": [Decimal("0.9999999999"), Decimal("0.0000000004")]}
    env = ReplayLog(log)
    assert env.record.rewards.tolist() == [999_999_999, 1]
    low, high = env.reward_range
    assert all(low <= Decimal(str(env.pull(1, 1, arm))) <= high for arm in (0, 1))


@pytest.mark.parametrize(
    ("reward", "declared", "stated"),
    [
        (0.1 + 0.2, None, ("0.3", "0.300000001")),
        (1234567890123.4, None, ("1234567890000", "1234567891000")),
        (-0.1 - 0.2, None, ("-0.300000001", "-0.3")),
        (1e-12, None, ("0", "1e-9")),
        (0.3, (Decimal("0.29999999999"), Decimal("0.30000000001")), None),
        (
            Decimal("0.30000000002"),
            (Decimal("0.30000000001"), 0.30000000003),
            ("0.3", "0.300000001"),
        ),
    ],
)
def test_a_range_between_two_units_is_stated_as_those_two(reward, declared, stated):
    env = ReplayLog({"arm": [0, 1], "reward": [reward] * 2}, reward_range=declared)
    low, high = env.reward_range
    assert (low, high) == (declared if stated is None else tuple(map(Decimal, stated)))
    for arm in (0, 1):
        assert low <= Decimal(repr(env.pull(1, 1, arm))) <= high


def test_the_engines_make_the_same_runs():
    rng = np.random.default_rng(4)
    log = {"arm": rng.choice(list("abcd"), 200), "reward": np.round(rng.normal(2, 1, 200), 3)}
    env = ReplayLog(log, "c")
    promise = RewardFloor(env.default_mean, 0.2, env.reward_range)
    agents = {
        "GenCB": GenCB(KLUCB(arms=env.arms), promise),
        "Plain": Plain(KLUCB(arms=env.arms), promise),
    }
    plan = Plan(agents, env, 400, seed=1, checkpoints="all")
    assert not plan.stepwise
    plain, compiled = plan.run(0, PLAIN), plan.run(0, engine())
    for name in agents:
        np.testing.assert_array_equal(plain[name].books, compiled[name].books)
    assert len(set(plain["GenCB"].books[:, -1].tolist())) == 4  # all arms and the default
    result = simulate(agents, env, 400, runs=3, seed=1)
    assert result.exact_minimum_slack("GenCB") >= 0


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ({"arm": [], "reward": []}, "the log is empty"),
        (pl.DataFrame({"arm": [], "reward": []}), "the log is empty"),
        ({"arm": ["a"], "reward": [1, 2]}, "1 arms but 2 rewards"),
        ({"arm": ["a", "b"], "reward": [1, None]}, "row 2 of the log has no reward"),
        (pl.DataFrame({"arm": ["a", "b"], "reward": [1, None]}), "row 2 of the log has no reward"),
        ({"arm": ["a", "b"], "reward": [NAN, 1]}, r"row 1 of the log has no reward \(nan\)"),
        ({"arm": ["a", None], "reward": [1, 1]}, r"row 2 of the log has no arm \(None\)"),
        ({"arm": ["a", NAN], "reward": [1, 1]}, r"row 2 of the log has no arm \(nan\)"),
        ({"arm": ["a", "b"], "reward": [1, INF]}, "reward in row 2 of the log must be finite"),
        ({"arm": ["a", "b"], "reward": [1, "0.5"]}, "row 2 of the log must be a number, got '0.5'"),
        ({"arm": ["a", "b"], "reward": [1, 10**400]}, r"row 2 of the log is beyond 10\*\*300"),
        ({"arm": ["a", "b"], "reward": [1, 1e301]}, r"row 2 of the log is beyond 10\*\*300"),
        ({"arm": [1, True], "reward": [1, 1]}, "arm label True in row 2 of the log must be a str"),
        ({"arm": [1, 2.5], "reward": [1, 1]}, "arm label 2.5 in row 2"),
        ({"arm": ["a", ["b"]], "reward": [1, 1]}, r"arm label \['b'\] in row 2"),
        ({"arm": "ab", "reward": [1, 1]}, "column 'arm' of the log is 'ab'; give a list"),
        ({"arm": ["a"], "reward": 1}, "column 'reward' of the log is 1; give a list"),
        ({"arm": ["a"], "reward": np.ones((1, 1))}, "have 2 dimensions"),
        ({"x": [1], "reward": [1]}, "no column 'arm'; its columns are 'x', 'reward'"),
        (pl.DataFrame({"x": [1]}), "no column 'arm'; its columns are 'x'"),
        (None, "the log is a NoneType"),
        (
            {"arm": [0, 1], "reward": np.ma.array([1, 0.5], mask=[False, True])},
            r"row 2 of the log has no reward \(masked\)",
        ),
        ({"arm": [0, 1], "reward": np.ma.array([1, 0], mask=True)}, "row 1 of the log has no rew"),
        ({"arm": [0, 1], "reward": [1, np.ma.masked]}, "row 2 of the log has no reward"),
        ({"arm": [0, 1], "reward": (1, np.ma.array(3, mask=True))}, "row 2 of the log has no rew"),
        (
            {"arm": [0, 1], "reward": np.array([Decimal(1), np.ma.masked], dtype=object)},
            "row 2 of the log has no reward",
        ),
        (
            {"arm": np.ma.array([3, 4], mask=[False, True]), "reward": [1, 1]},
            r"row 2 of the log has no arm",
        ),
        ({"arm": [3, np.ma.masked], "reward": [1, 1]}, "row 2 of the log has no arm"),
    ],
    ids=repr,
)
def test_what_is_no_log_is_named_with_its_row(log, said):
    with pytest.raises(InvalidInput, match=said):
        ReplayLog(log)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"default": "z"}, "default = 'z' is not an arm of the log; its arms are 1, 'a'"),
        ({"default": ["a"]}, "is not an arm of the log"),
        ({"reward_range": (0, 0.5)}, "reward in row 2 of the log is 1.0, outside"),
        ({"reward_range": (0.5, 2)}, "reward in row 1 of the log is 0, outside"),
        ({"reward_range": (1, 0)}, r"reward_range = \(1, 0\) must have r_min < r_max"),
        ({"reward_range": 1}, "reward_range = 1 must be a pair"),
        ({"reward_range": (0, INF)}, "r_max must be finite"),
        ({"reward_range": (10**5000, 1)}, "r_min = <int of too many digits> is beyond"),
        ({"reward_range": 10**5000}, "reward_range = <int of too many digits> must be a pair"),
        ({"reward": 10**5000}, "no column <int of too many digits>"),
        ({"reward": "paid"}, "no column 'paid'; its columns are 'arm', 'reward'"),
    ],
    ids=shown,
)
def test_what_does_not_fit_the_log_is_named(options, said):
    with pytest.raises(InvalidInput, match=said):
        ReplayLog({"arm": ["a", 1], "reward": [0, 1]}, **options)


def test_a_masked_column_without_a_masked_entry_is_fine():
    column = np.ma.array([0.5, 1.0], mask=False)
    assert ReplayLog({"arm": [0, 1], "reward": column}).means.tolist() == [0.5, 1]


def test_the_truth_is_the_logs_and_stays_so():
    env = ReplayLog({"arm": ["a", "b", "b", "c"], "reward": [1, 0.5, 0.25, 2]}, "c")
    assert (env.means.tolist(), env.variances.tolist()) == ([1, 0.375], [0, 0.015625])
    assert (env.best, env.value(1), env.with_default().best) == (1, 0.375, 2)
    with pytest.raises(ValueError, match="read-only"):
        env.means[0] = 2
    assert repr(env) == "ReplayLog(2 arms, 3 rewards)"


def test_a_lazy_frame_is_collected():
    frame = pl.DataFrame({"arm": ["a", "b"], "reward": [1.0, 0.5]})
    lazy, eager = ReplayLog(frame.lazy(), "a"), ReplayLog(frame, "a")
    assert (lazy.arms, lazy.rows) == (eager.arms, eager.rows)
    assert lazy.default_mean == eager.default_mean
    with pytest.raises(InvalidInput, match="the log has no column 'x'; its columns are 'arm'"):
        ReplayLog(frame.lazy(), arm="x")


class TwoOfAName:
    """As pandas has it: a name that is there twice is a frame, and its items are names."""

    columns = ("arm", "arm", "reward")

    def __getitem__(self, name):
        return TwoOfAName.Both() if name == "arm" else [1.0, 0.0]

    class Both:
        columns, ndim = ("arm", "arm"), 2

        def __iter__(self):
            return iter(self.columns)


def test_two_columns_of_a_name_are_not_labels():
    with pytest.raises(InvalidInput, match="the log has several columns 'arm'; rename all bu"):
        ReplayLog(TwoOfAName())


@pytest.mark.parametrize("frame", ["log.csv", Path("log.csv"), [{"arm": "a", "reward": 1}], 5])
def test_what_is_no_table_is_called_that(frame):
    said = rf"the log is a {type(frame).__name__}; give a dataframe, of a file polars.read_csv"
    with pytest.raises(InvalidInput, match=said):
        ReplayLog(frame, default="a")
