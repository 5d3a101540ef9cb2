"""The contract that every oracle meets, and the checks of what comes from outside."""

import copy
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

from surefoot.errors import InvalidInput
from surefoot.oracles import (
    Enumerated,
    Matching,
    Oracle,
    PartitionMatroid,
    ShortestPath,
    SpanningTree,
    TopK,
)
from surefoot.oracles.base import base_arms, checked_weights, whole

N = 6
ROADS = [("s", "a"), ("s", "b"), ("a", "t"), ("b", "t"), ("a", "b"), ("s", "t")]
ORACLES = [
    TopK(2),
    Matching((2, 3)),
    Matching((3, 2), forbidden=[(0, 0), (1, 0), (2, 0)], cover="most"),
    Matching((2, 3), forbidden=[(1, 1)], cover="any"),
    PartitionMatroid([[0, 3], [1, 2, 4, 5]], capacity=[1, 2]),
    PartitionMatroid([[0, 3], [1, 2, 4, 5]], capacity=3, exactly=False),
    ShortestPath(ROADS, "s", "t"),
    SpanningTree(ROADS),
    Enumerated([[0], [1, 2, 3], [4, 5]]),
]
every_oracle = pytest.mark.parametrize("oracle", ORACLES, ids=repr)


@every_oracle
def test_answers_are_ascending_ints_within_the_stated_size_and_the_same_again(oracle):
    rng = np.random.default_rng(0)
    for w in [rng.normal(size=N), np.zeros(N), -np.ones(N), rng.integers(-1, 2, N).astype(float)]:
        before = w.copy()
        arm = oracle(w)
        assert type(arm) is tuple
        assert {type(e) for e in arm} == {int}
        assert list(arm) == sorted(set(arm))
        assert 0 <= arm[0] <= arm[-1] < N
        assert oracle.size[0] <= len(arm) <= oracle.size[1]
        assert arm == oracle(w) == oracle(w.tolist())
        assert w.tolist() == before.tolist()


@every_oracle
def test_an_oracle_is_the_protocol_s(oracle):
    assert isinstance(oracle, Oracle)
    assert oracle.n_base in {N, None}


@every_oracle
def test_config_survives_json_and_builds_the_same_oracle(oracle):
    again = type(oracle)(**json.loads(json.dumps(oracle.config())))
    assert again == oracle
    assert hash(again) == hash(oracle)
    assert repr(again) == repr(oracle)
    assert again.config() == oracle.config()
    assert (again.n_base, again.size) == (oracle.n_base, oracle.size)
    w = np.random.default_rng(1).normal(size=N)
    assert again(w) == oracle(w) == pickle.loads(pickle.dumps(oracle))(w) == copy.copy(oracle)(w)


def test_other_settings_make_another_oracle():
    assert TopK(2) != TopK(3)
    assert len(set(ORACLES)) == len(ORACLES)


@every_oracle
def test_an_oracle_cannot_be_changed(oracle):
    for name in [*oracle.config(), "size", "n_base"]:
        with pytest.raises(AttributeError):
            setattr(oracle, name, None)
        with pytest.raises(AttributeError):
            delattr(oracle, name)


@every_oracle
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_weight_that_is_no_number_is_refused_by_its_base_arm(oracle, bad):
    w = np.ones(N)
    w[4] = bad
    with pytest.raises(InvalidInput, match=f"the weight of base arm 4 is {bad}"):
        oracle(w)


@every_oracle
def test_a_wrong_number_of_weights_is_refused(oracle):
    for n in [0, 1, N - 1, N + 1]:
        if oracle.n_base is not None or n < 2:
            with pytest.raises(InvalidInput, match=r"weights (for|is empty)|got 1 weights"):
                oracle(np.ones(n))


@every_oracle
def test_the_largest_weights_overflow_nothing(oracle):
    assert oracle(np.full(N, 1e300)) == oracle(np.ones(N))
    assert oracle(np.full(N, -1e300)) == oracle(-np.ones(N))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5, None], r"the weight of base arm 1 is None \(NoneType\)"),
        ([0.5, "0.5"], r"the weight of base arm 0 is '0.5' \(str\)"),
        ([True, False], r"the weight of base arm 0 is True \(bool\)"),
        ([1.0, 2j], r"the weight of base arm 0 is \(1\+0j\) \(complex\)"),
        ([10**400, 1.0], "weights has dtype object"),
        ([1.0, 2e300], r"the weight of base arm 1 is 2e\+300, beyond ±1e\+300"),
        ([[1.0, 2.0]], r"weights has shape \(1, 2\)"),
        ([[1.0], [1.0, 2.0]], "must be one flat list"),
        (0.5, r"weights has shape \(\)"),
        (None, r"weights has shape \(\)"),
        ([], "weights is empty"),
    ],
)
def test_what_is_no_list_of_weights_is_refused(weights, message):
    with pytest.raises(InvalidInput, match=message):
        checked_weights(weights)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint64, np.float64])
def test_weights_of_any_real_dtype_become_float64(dtype):
    w = checked_weights(np.array([1, 2, 3], dtype=dtype), 3)
    assert w.dtype == np.float64
    assert w.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("value", [0, -1, True, 1.0, "one", None, np.float64(2)])
def test_whole_refuses_what_is_no_count(value):
    with pytest.raises(InvalidInput, match=r"k = .* must be an int >= 1"):
        whole(value, "k", 1)


def test_whole_makes_a_plain_int():
    assert type(whole(np.int32(3), "k", 1)) is int


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ([], "arm is empty"),
        (None, "arm is None; it must be a list"),
        (3, "arm is 3; it must be a list"),
        ("01", "arm is '01'; it must be a list"),
        ([1, 1], "arm holds base arm 1 twice"),
        ([-(10**5000)], "arm holds <int of too many digits>; base arms"),
        ([0, -1], r"arm holds -1; base arms are numbered 0\.\.2"),
        ([3], r"arm holds 3; base arms are numbered 0\.\.2"),
        ([1.0], r"arm holds 1.0 \(float\)"),
        (np.array([True, False]), r"arm holds np.True_ \(bool\)"),
        ([True], r"arm holds True \(bool\)"),
    ],
)
def test_what_is_no_super_arm_is_refused(indices, message):
    with pytest.raises(InvalidInput, match=message):
        base_arms(indices, "arm", 3)


def test_a_super_arm_may_come_in_any_container_and_order():
    given = [[2, 0], (2, 0), {2, 0}, np.array([2, 0]), iter([2, 0]), range(2, -1, -2)]
    assert {base_arms(indices, "arm") for indices in given} == {(0, 2)}


def test_importing_the_oracles_loads_no_scipy():
    script = "import sys, surefoot.oracles; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
