"""What each kind of log is read as, and how a cell that cannot be is named."""

import gzip
import json
import math
from datetime import date, datetime
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.errors import InvalidInput

LINES = '{"arm":"a","reward":1,"p":0.5,"age":30}\n{"arm":"b","reward":0.25,"p":1,"age":41}\n'
CSV = "arm,reward,p,age\na,1,0.5,30\nb,0.25,1,41\n"
TABLE = {"arm": ["a", "b"], "reward": [1.0, 0.25], "p": [0.5, 1.0], "age": [30, 41]}


def decision(**changed):
    """A line of dsjson as the decision service writes it; None leaves a key out."""
    line = {
        "_label_cost": -1.0, "_label_probability": 0.8, "_label_Action": 2, "_labelIndex": 1,
        "o": [], "Timestamp": "2026-01-01T00:00:00Z", "Version": "1", "EventId": "e",
        "a": [2, 1], "p": [0.8, 0.2], "VWState": {"m": "N/A"},
        "c": {"User": {"age": 30, "vip": True}, "_multi": [{"T": {"id": "x"}}, {"T": {"id": "y"}}]},
    }  # fmt: skip
    line.update(changed)
    return json.dumps({key: value for key, value in line.items() if value is not None})


def first(**changed):
    """The other action was taken."""
    return decision(**{"_labelIndex": 0, "_label_Action": 1, "a": [1, 2], **changed})


def feedback(**changed):
    found = {
        "n_rounds": 3, "n_actions": 4, "context": np.arange(6.0).reshape(3, 2),
        "action_context": np.eye(4, dtype=int), "action": np.array([0, 2, 0]), "position": None,
        "reward": np.array([1, 0, 1]), "expected_reward": np.full((3, 4), 0.5),
        "pscore": np.array([0.25, 0.5, 1.0]),
    }  # fmt: skip
    return {**found, **changed}


def written(folder, content, name="log"):
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


@pytest.mark.parametrize(
    "content",
    [
        LINES,
        LINES.replace("\n", "\r\n"),
        "\ufeff\n" + LINES.strip() + "\n\n",
        "\ufeff" + LINES,
        gzip.compress(LINES.encode(), mtime=0),
        CSV,
        gzip.compress(CSV.encode(), mtime=0),
    ],
    ids=["jsonl", "crlf", "blank lines", "bom", "jsonl gzip", "csv", "csv gzip"],
)
def test_a_file_with_propensities_and_contexts(tmp_path, content):
    log = sf.read_log(written(tmp_path, content), propensity="p", context=["age"])
    assert log.frame["arm"].to_list() == ["a", "b"]
    assert log.frame["reward"].to_list() == [1, 0.25]
    assert log.frame["propensity"].to_list() == [0.5, 1]
    assert log.frame["context"].to_list() == [[30], [41]]
    assert log["age"].to_list() == [30, 41]


def test_parquet_and_zstd(tmp_path):
    frame = pl.DataFrame(TABLE)
    frame.write_parquet(tmp_path / "log")
    log = sf.read_log(tmp_path / "log", propensity="p", context="age")
    assert log.frame.rows() == [("a", 1, 0.5, [30.0]), ("b", 0.25, 1, [41.0])]
    frame.write_ndjson(tmp_path / "log.zst", compression="zstd")
    again = sf.read_log(tmp_path / "log.zst", propensity="p", context="age")
    assert again.frame.equals(log.frame)


@pytest.mark.parametrize(
    "source",
    [
        TABLE,
        pl.DataFrame(TABLE),
        pl.LazyFrame(TABLE),
        pd.DataFrame(TABLE),
        {name: np.array(values) for name, values in TABLE.items()},
        {name: tuple(values) for name, values in TABLE.items()},
    ],
    ids=["dict", "polars", "lazy", "pandas", "arrays", "tuples"],
)
def test_a_table_in_memory(source):
    log = sf.read_log(source, propensity="p", context=["age"])
    assert log.frame.rows() == [("a", 1, 0.5, [30.0]), ("b", 0.25, 1, [41.0])]
    assert sf.read_log(log) is log


def test_a_relation_of_duckdb(tmp_path):
    file = written(tmp_path, CSV, "log.csv")
    with duckdb.connect() as db:
        relation = db.sql(f"select arm, reward::decimal(9, 2) as paid, p from '{file}'")
        log = sf.read_log(relation, reward="paid", propensity="p")
        assert log.frame.rows() == [("a", Decimal("1.00"), 0.5), ("b", Decimal("0.25"), 1.0)]
        policy = sf.UCB1(arms=["a", "b"])
        assert policy.learn(relation, reward="paid") == 2
        with pytest.raises(InvalidInput, match="row 1 of the log has no reward"):
            sf.read_log(db.sql("select 'a' as arm, null::int as paid"), reward="paid")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict], ids=["pd", "pl", "dict"])
def test_days_and_times_are_labels_whoever_holds_them(frame):
    days = frame({"arm": [date(2026, 1, 2), date(2026, 1, 3)], "reward": [1, 0]})
    assert sf.read_log(days).arms == ("2026-01-02", "2026-01-03")
    midnight = datetime.fromisoformat("2026-01-02")
    times = frame({"arm": [midnight, midnight.replace(hour=8)], "reward": [1, 0]})
    assert sf.read_log(times).arms == ("2026-01-02 00:00:00", "2026-01-02 08:00:00")


def test_a_log_can_be_learned():
    log = sf.read_log(TABLE, context=["age"])
    policy = sf.UCB1(arms=["a", "b"])
    assert policy.learn(log) == 2
    linear = sf.LinUCB(dim=1, ridge=sf.Ridge(feature_bound=50))
    assert linear.learn(log, context=["age"]) == 2
    with pytest.raises(InvalidInput, match=r"is a path; read it first: surefoot.read_log"):
        policy.learn("log.csv")
    assert sf.UCB1(n_arms=4).learn(feedback()) == 3


def test_contexts_as_lists(tmp_path):
    lines = '{"arm":1,"reward":0,"x":[1,2]}\n{"arm":1,"reward":0,"x":[3,4.5]}\n'
    log = sf.read_log(written(tmp_path, lines), context="x")
    assert log.frame["context"].to_list() == [[1, 2], [3, 4.5]]
    assert log.features == ("x[0]", "x[1]")
    assert log["x[1]"].to_list() == [2, 4.5]
    frame = pl.DataFrame({"arm": [1], "reward": [0], "x": [[1, 2]]})
    assert sf.read_log(frame, context="x").frame["context"].to_list() == [[1, 2]]
    arrays = frame.with_columns(pl.col("x").cast(pl.Array(pl.Int64, 2)))
    assert sf.read_log(arrays, context="x").frame["context"].to_list() == [[1, 2]]


def test_a_path_into_an_object(tmp_path):
    lines = '{"ad":{"id":7},"reward":true,"a.b":3}\n'
    log = sf.read_log(written(tmp_path, lines), arm="ad.id", context="a.b")
    assert log.frame.rows() == [(7, 1.0, [3.0])]


def test_dsjson(tmp_path):
    dangling = '{"RewardValue":1.5,"EnqueuedTimeUtc":"2026-01-01","EventId":"z"}'
    skipped = decision(_skipLearn=True, _label_cost=-9)
    lines = [dangling, decision(), first(_label_cost=0), skipped]
    log = sf.read_log(written(tmp_path, "\n".join(lines)), context=["User.age", "User.vip"])
    assert log.frame.rows() == [(2, 1, 0.8, [30.0, 1.0]), (1, 0, 0.8, [30.0, 1.0])]
    assert str(log.frame["reward"][1]) == "0.0"
    assert log.place(1).startswith("line 3 of ")
    assert log.notes == (
        "1 lines of log marked _skipLearn are left out",
        "1 lines of log without a decision are left out",
    )
    named = sf.read_log(tmp_path / "log", arm="T.id")
    assert named.frame["arm"].to_list() == ["y", "x"]


def test_dsjson_by_tag_of_costs_above_0_and_thinned(tmp_path):
    tagged = {"_multi": [{"_tag": "x"}, {"_tag": "y"}, {"_tag": "z"}]}
    lines = [
        decision(_label_cost=0.75, pdrop=0.5, c=tagged), first(_label_cost=0.5),
    ]  # fmt: skip
    lines[1] = first(_label_cost=0.5, c={"_multi": [{"_tag": "x"}, {"_tag": "y"}]})
    log = sf.read_log(written(tmp_path, "\n".join(lines)), worst_cost=1)
    assert log.frame.rows() == [("y", 0.25, 0.4), ("x", 0.5, 0.8)]


def test_costs_of_any_log():
    log = sf.read_log({"arm": [1, 2], "reward": [3, 0.5]}, worst_cost=4)
    assert log.frame["reward"].to_list() == [1, 3.5]


def test_bandit_feedback_read_and_written():
    log = sf.read_log(feedback())
    assert log.frame.rows()[:2] == [(0, 1, 0.25, [0.0, 1.0]), (2, 0, 0.5, [2.0, 3.0])]
    found = log.to_bandit_feedback()
    checked_by_obp(found)
    assert (found["n_rounds"], found["n_actions"]) == (3, 2)
    assert found["action"].tolist() == [0, 1, 0]  # numbers of log.arms
    assert log.arms == (0, 2)
    again = sf.read_log(found)
    assert again.frame["reward"].to_list() == log.frame["reward"].to_list()
    assert again.frame["propensity"].equals(log.frame["propensity"])
    assert again.frame["context"].equals(log.frame["context"])
    bare = sf.read_log({"arm": ["b", "a"], "reward": [1, 0]}).to_bandit_feedback()
    checked_by_obp(bare)
    assert bare["action"].tolist() == [1, 0]


def checked_by_obp(found):
    """What obp's ``check_bandit_feedback_inputs`` asks of the arrays."""
    rounds = found["n_rounds"]
    assert found["context"].ndim == found["action_context"].ndim == 2
    for key in ("action", "reward", "position"):
        assert found[key].shape == (rounds,)
    assert len(found["context"]) == rounds
    assert np.issubdtype(found["action"].dtype, np.integer)
    assert np.issubdtype(found["position"].dtype, np.integer)
    assert 0 <= found["action"].min() <= found["action"].max() < len(found["action_context"])
    assert found["pscore"] is None or (found["pscore"] > 0).all()


def test_several_positions_are_said():
    log = sf.read_log(feedback(position=np.array([0, 1, 2])))
    assert log.notes == ("rewards of 3 positions are pooled",)


JSON_CASES = [
    ('{"arm":"a","reward":1}\n{"arm":"a","rew', r"line 2 of .*log is not JSON at character 12: u"),
    ('{"arm":"a","reward":1}\n{"arm":"a",}\n', "line 2 of .*log is not JSON at character"),
    ('{"arm":"a","reward":"high"}\n', "column 'reward' holds 'high' in line 1 of .*log; a rewa"),
    ('{"arm":"a","reward":1}\n\n{"arm":"a","reward":[1,2]}\n', "'reward' in line 3 of .*g is \\["),
    ('{"arm":["a"],"reward":1}\n', r"'arm' in line 1 of .*log is \['a'\]; give a number or a text"),
    ('{"arm":{"id":1},"reward":1}\n', "'arm' in line 1 of .*log is a nested object"),
    ('{"arm":"a","reward":1,"reward":2}\n', "line 1 of .*log has 'reward' twice; keep one"),
    ('{"arm":"a","reward":NaN}\n', "line 1 of .*log has no reward in column 'reward'"),
    ('{"arm":"a","reward":null}\n', "line 1 of .*log has no reward in column 'reward'"),
    ('{"arm":"a","reward":1}\n{"arm":"b"}\n', "line 2 of .*log has no reward in column 'reward'"),
    ('{"arm":"a","reward":Infinity}\n', "'reward' in line 1 of .*log is inf; a reward is a finite"),
    ('{"arm":"a","reward":1' + "0" * 400 + "}\n", "'reward' in line 1 of .*log is inf"),
    ('{"arm":"a","reward":1' + "0" * 5000 + "}\n", "line 1 of .*log nests too deep, or holds a n"),
    ('{"arm":"a","reward":1,"x":' + "[" * 90_000 + "}\n", "line 1 of .*log (nests too|is not)"),
    ('{"arm":"a","reward":1}\n[1,2]\n', r"line 2 of .*log is \[1, 2\]; write an object on eac"),
    ('[{"arm":"a","reward":1}]\n', "line 1 of .*log is .*: jq -c '.\\[\\]' makes lines of"),
    ('{"arm":"\\ud800","reward":1}\n', "'arm' in line 1 of .*log holds half a character"),
    ('{"ad":"a","reward":1}\n', "log has no key 'arm' on any line; it has 'ad', 'reward': choose"),
    (b'{"arm":"a","reward":1}\n{"arm":"\xff","reward":1}\n', "line 2 of .*log is not in UTF-8"),
    (b'{"arm":"a"\0,"reward":1}\n', "log holds NUL bytes and is not CSV, Parquet or JSON lines"),
    (b"BZh91AY", "log is packed by bzip2; unpack it, or pack it by gzip"),
    (gzip.compress(LINES.encode() * 99)[:60], "cannot read .*log"),
    ("\n\n  \n", "log is empty"),
    ("", "log is empty"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "said"), JSON_CASES, ids=[str(i) for i in range(24)])
def test_what_is_wrong_in_json_lines_is_named(tmp_path, content, said):
    with pytest.raises(InvalidInput, match=said) as caught:
        sf.read_log(written(tmp_path, content))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("propensity", "said"),
    [
        ("0", "'p' in line 3 of .* is 0; a propensity is the probability with which"),
        ("1.01", "'p' in line 3 of .* is 1.01; a propensity"),
        ("-0.5", "'p' in line 3 of .* is -0.5; a propensity"),
        ("", "'p' in line 3 of .* is missing; a propensity"),
        ("nan", "'p' in line 3 of .* is missing; a propensity"),
        ("inf", "'p' in line 3 of .* is inf; a propensity"),
        ("half", "column 'p' holds 'half' in line 3 of .*; a propensity is the prob"),
    ],
)
def test_a_propensity_that_is_none(tmp_path, propensity, said):
    file = written(tmp_path, f"arm,reward,p\na,1,0.5\nb,0,{propensity}\n")
    with pytest.raises(InvalidInput, match=said):
        sf.read_log(file, propensity="p")


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([1, "old"], "column 'x' holds 'old' in row 2 of the log; a context is numbers: encode"),
        ([1, None], "'x' in row 2 of the log is missing; a context is numbers"),
        ([1.0, math.inf], "'x' in row 2 of the log is inf; a feature is a finite number"),
        ([[1, 2], [3]], "'x' in row 2 of the log is a list of 1, in row 1 of the log one of 2"),
        ([[1], None], "'x' in row 2 of the log is missing, in row 1 of the log one of 1"),
        ([[1.0], [math.nan]], "'x' in row 2 of the log holds a gap; a context is finite numbers"),
        ([[1], 2], r"'x' in row 2 of the log is 2, not what other rows hold"),
        ([1, [2]], r"'x' in row 2 of the log is \[2\], not what other rows hold"),
        ([[], []], "'x' in row 1 of the log is empty; a context is one number or more"),
        ([[1], [[2]]], "'x' in row 2 of the log is .*; give a number or a text"),
        ([1, {"a": 2}], "'x' in row 2 of the log is a nested object; give a number or a text"),
        ([1], "columns of the log have different lengths: 'arm' 2, 'reward' 2, 'x' 1"),
    ],
)
def test_a_context_that_is_none(cells, said):
    with pytest.raises(InvalidInput, match=said):
        sf.read_log({"arm": ["a", "b"], "reward": [1, 0], "x": cells}, context="x")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ({"arm": [], "reward": []}, "the log is empty; give a row a play"),
        ({"arm": ["a"], "paid": [1]}, r"has no column 'reward', but 'arm', 'paid'; .*read_log\("),
        (pl.DataFrame({"arm": [None], "reward": [1]}), "row 1 of the log has no arm in column"),
        (pd.DataFrame({"arm": ["a"], "reward": [None]}), "row 1 of the log has no reward"),
        (pd.DataFrame([["a", 1, 2]], columns=["arm", "arm", "reward"]), "log has several columns"),
        ({"arm": ["a"], "reward": [date(2026, 1, 1)]}, "'reward' of the log holds Date; a reward"),
        (pl.DataFrame({"arm": pl.Series([{1}], dtype=pl.Object), "reward": [1]}), "holds Object"),
        ({"arm": ["a"], "reward": [1 + 2j]}, r"'reward' in row 1 of the log is \(1\+2j\); give"),
        ({"arm": ["a"], "reward": [Decimal("1e9999")]}, "'reward' in row 1 of the log is inf"),
        (7, "log is a int, not a table|is a int"),
    ],
)  # fmt: skip
def test_a_table_that_holds_no_log(source, said):
    with pytest.raises(InvalidInput, match=said):
        sf.read_log(source)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"n_rounds": 4}, r"'action' of the bandit feedback has shape \(3,\), for n_rounds = 4 it"),
        ({"n_rounds": "3"}, "'n_rounds' of the bandit feedback is '3'; it is an int >= 1"),
        ({"reward": np.ones((3, 2))}, r"'reward' of the bandit feedback has shape \(3, 2\)"),
        ({"context": np.ones(3)}, r"'context' of the bandit .* must be \(3, d\)"),
        ({"action": np.array([0, 4, 0])}, "'action' in row 2 of .* is 4; it must be in 0..3"),
        ({"action": np.array([0, -1, 0]), "n_actions": None}, "row 2 of .* is -1; it must be from"),
        ({"action": np.array([0.0, 1, 2])}, "holds float64; an action is an int"),
        ({"pscore": np.array([0.5, 0, 1])}, "'pscore' in row 2 of the log is 0; a propensity"),
        ({"reward": np.array([1, math.nan, 1])}, "row 2 of the log has no reward"),
    ],
)
def test_bandit_feedback_that_does_not_fit(changed, said):
    with pytest.raises(InvalidInput, match=said):
        sf.read_log(feedback(**changed))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([first(), decision(_label_cost="x")], "column '_label_cost' holds 'x' in line 2 of .*log"),
        ([decision(_label_cost=None)], "line 1 of .*log has no reward in column '_label_cost'"),
        ([decision(_label_cost=0.5)], "'_label_cost' in line 1 of .* is 0.5, a cost above 0; say"),
        ([decision(_label_probability=0)], "'_label_probability' in line 1 of .*log is 0; a prop"),
        ([decision(_labelIndex=0)], "line 1 of .* names different actions: '_labelIndex' 0, '_l"),
        ([decision(a=[1, 2])], "line 1 of .* names different actions"),
        ([decision(_labelIndex=-1)], "'_labelIndex' in line 1 of .* is -1; an action is a number"),
        ([decision(_labelIndex="1")], "'_labelIndex' in line 1 of .* is '1'; an action is a num"),
        ([decision(_labelIndex=None, _label_Action=None, a=None)], "does not say which action"),
        ([decision(_labelIndex=2, _label_Action=3, a=[3])], "line 1 of .* took action 3 of 2"),
        ([decision(_outcomes=[])], "line 1 of .*log has '_outcomes', several decisions at once"),
        ([decision(_label_ca={})], "line 1 of .*log has '_label_ca', a continuous action"),
        ([decision(pdrop=1)], "'pdrop' in line 1 of .*log is 1; it is a probability below 1"),
        ([decision(), decision(c={"_multi": [{}, {}, {}]})], "line 1 of .* 2 actions and line 2"),
        ([first(c={"_multi": [{"_tag": "x"}, {}]}), decision()], "line 1 .*'_tag'.* line 2"),
        ([decision(_skipLearn=True)], "log holds no decision that was taken and learned from"),
        ([decision()[:-1] + ',"_label_cost":0}'], "line 1 of .*log has '_label_cost' twice"),
    ],
)  # fmt: skip
def test_dsjson_that_contradicts_itself(tmp_path, lines, said):
    with pytest.raises(InvalidInput, match=said):
        sf.read_log(written(tmp_path, "\n".join(lines)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"arm": "T.name"}, "line 1 of .* has no 'T.name' in the action taken; choose with arm="),
        ({"context": "User.name"}, "line 1 of .*log has no 'User.name' in 'c'; choose with contex"),
        ({"context": "User"}, "'User' in line 1 of .*log is a nested object"),
        ({"worst_cost": -2}, "'_label_cost' in line 1 of .* is -1, above --worst-cost -2"),
        ({"propensity": "p"}, "log is dsjson, whose propensities are '_label_probability'"),
        ({"delimiter": ";"}, "--delimiter is for a CSV; .* is JSON"),
    ],
)
def test_options_that_do_not_fit_dsjson(tmp_path, options, said):
    with pytest.raises(InvalidInput, match=said):
        sf.read_log(written(tmp_path, decision()), **options)


SEEDS = (LINES.encode(), CSV.encode(), f"{decision()}\n{first()}\n".encode())
BREAKS = (
    b'"', b",", b"\n", b"{", b"[", b"null", b"NaN", b"-Infinity", b"1e400", b"\xff", b"\0",
    b"\\ud800", b"\xef\xbb\xbf", b'"arm":', b'"c":{}', b'"a":[]', b'"pdrop":2,', b"1" * 40,
)  # fmt: skip
CUTS = st.tuples(st.integers(0, 400), st.integers(0, 9), st.sampled_from(BREAKS))
HOW = ({}, {"propensity": "p"}, {"context": "age"}, {"worst_cost": 1})


@given(st.sampled_from(SEEDS), st.lists(CUTS, max_size=3), st.sampled_from(HOW))
@settings(max_examples=150)
def test_whatever_a_file_holds_is_a_log_or_refused_in_one_line(tmp_path_factory, seed, cuts, how):
    content = seed
    for at, length, put in cuts:
        content = content[:at] + put + content[at + length :]
    file = written(tmp_path_factory.getbasetemp(), content, "broken")
    said = None
    try:
        log = sf.read_log(file, **how)
    except InvalidInput as error:
        said = str(error)
    if said is None:
        assert len(log) == len(log.to_bandit_feedback()["reward"]) > 0
    else:
        assert "\n" not in said
        assert "broken" in said or "the log is empty" in said
