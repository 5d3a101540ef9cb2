import gzip
import math
import sys
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest

import surefoot as sf
from surefoot.errors import InvalidInput, MissingExtra
from surefoot.study.logs.log import Spelling, label, read, within


def short(value):
    """What a case is called."""
    text = repr(value.to_dict(as_series=False) if isinstance(value, pl.DataFrame) else value)
    return text if len(text) < 120 else f"{text[:60]} ... {text[-60:]}"


def rows(folder, content, name="log.csv", **columns):
    """The rows that are read from a file of this content."""
    file = folder / name
    if isinstance(content, pl.DataFrame):
        content.write_parquet(file)
    else:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    spelling = Spelling(**{key: columns.pop(key) for key in Spelling._fields if key in columns})
    return read(file, **columns, spelling=spelling).frame.rows()


@pytest.mark.parametrize(
    "content",
    [
        "arm,reward\nUA,1\nAA,0.5\n",
        "arm,reward\r\nUA,1\r\nAA,0.5\r\n",
        "\ufeffarm,reward\nUA,1\nAA,0.5",
        "arm;reward\nUA;1\nAA;0.5\n",
        "arm\treward\nUA\t1\nAA\t0.5\n",
        "arm|reward\nUA|1\nAA|0.5\n",
        "reward,x,arm\n1,,UA\n0.5,7,AA\n",
        'arm,reward\n"UA"," 1 "\n"AA","5e-1"\n',
        "arm,reward\nUA,1\nAA,0.5\n\n\n",
        gzip.compress(b"arm,reward\nUA,1\nAA,0.5\n", mtime=0),
        pl.DataFrame({"arm": ["UA", "AA"], "reward": [1, 0.5]}, strict=False),
        pl.DataFrame({"x": [0, 0], "reward": ["1", "0.5"], "arm": ["UA", "AA"]}),
    ],
    ids=[
        "unix",
        "windows",
        "byte order mark",
        "semicolon",
        "tab",
        "bar",
        "other columns",
        "quotes",
        "blank lines",
        "gzip",
        "parquet",
        "parquet of text",
    ],
)
def test_one_log_in_many_files(tmp_path, content):
    assert rows(tmp_path, content) == [("UA", 1), ("AA", 0.5)]


def test_the_content_tells_the_kind_not_the_name(tmp_path):
    frame = pl.DataFrame({"arm": ["a"], "reward": [1]})
    assert rows(tmp_path, frame, "log.csv") == [("a", 1)]
    assert rows(tmp_path, "arm,reward\na,1\n", "log.parquet") == [("a", 1)]


def test_columns_by_their_names(tmp_path):
    content = "arm,reward,carrier,on time\nx,9,UA,1\n"
    assert rows(tmp_path, content, arm="carrier", reward="on time") == [("UA", 1)]
    assert rows(tmp_path, content, arm="reward", reward="reward") == [(9, 9)]


def test_nothing_is_guessed_from_the_first_rows(tmp_path):
    content = "arm,reward\n" + "1,1\n" * 2_000 + "x,0.25\n"
    assert rows(tmp_path, content)[-2:] == [("1", 1), ("x", 0.25)]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (["10", "2", "-3"], [10, 2, -3]),
        (["10", "02"], ["10", "02"]),
        (["10", "2.0"], ["10", "2.0"]),
        (["10", "b"], ["10", "b"]),
        (["true", "a,b"], ["true", "a,b"]),
    ],
)
def test_labels_are_ints_only_if_all_are_written_so(tmp_path, written, expected):
    content = "arm,reward\n" + "".join(f'"{text}",1\n' for text in written)
    assert [arm for arm, _ in rows(tmp_path, content)] == expected


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pl.Series([7, 8]), [7, 8]),
        (pl.Series([7.0, 8.0, 9.0]), [7, 8, 9]),
        (pl.Series([7.5, 8.0]), ["7.5", "8"]),
        (pl.Series([True, False]), ["true", "false"]),
        (pl.Series(["b", "a"], dtype=pl.Categorical), ["b", "a"]),
        (pl.Series([date(2013, 1, 2)]), ["2013-01-02"]),
    ],
    ids=["ints", "ints as floats", "floats", "flags", "categories", "dates"],
)
def test_labels_of_a_parquet_column(tmp_path, column, expected):
    frame = pl.DataFrame({"arm": column, "reward": [1] * len(column)})
    assert [arm for arm, _ in rows(tmp_path, frame)] == expected


def test_flags_are_rewards(tmp_path):
    content = "arm,reward\na,True\na,false\nb,TRUE\nb,0.5\n"
    assert [reward for _, reward in rows(tmp_path, content)] == [1, 0, 1, 0.5]
    frame = pl.DataFrame({"arm": ["a", "b"], "reward": [True, False]})
    assert [reward for _, reward in rows(tmp_path, frame)] == [1, 0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("arm,reward\na,1\n\nb,1\n", "line 3 of .* has no arm in column .arm.; drop it"),
        ('arm,reward\na,1\n"",0\n', "line 3 of .* has no arm in column .arm.; drop it"),
        ("arm,reward\na,1\nNaN,0\n", "line 3 of .* has no arm in column .arm.; drop it"),
        (
            "arm,reward\na,1\nb,\n",
            "line 3 of .* has no reward in column .reward.; drop it, or .*--missing",
        ),
        ("arm,reward\na,1\nb,nan\n", "line 3 of .* has no reward"),
        (pl.DataFrame({"arm": ["a", None], "reward": [1, 1]}), "^row 2 of .* has no arm"),
        (pl.DataFrame({"arm": ["a", ""], "reward": [1, 1]}), "^row 2 of .* has no arm"),
        (pl.DataFrame({"arm": [1.0, math.nan], "reward": [1, 1]}), "^row 2 of .* has no arm"),
        (pl.DataFrame({"arm": [1, None], "reward": [1, 1]}), "^row 2 of .* has no arm"),
        (pl.DataFrame({"arm": [1, 2], "reward": [1, None]}), "^row 2 of .* has no reward"),
        (pl.DataFrame({"arm": [1, 2], "reward": [1.0, math.nan]}), "^row 2 of .* has no reward"),
        (pl.DataFrame({"arm": [1], "reward": [None]}), "^row 1 of .* has no reward"),
        (pl.DataFrame({"arm": [1], "reward": [math.inf]}), ".reward. in row 1 of .* is inf; a rew"),
        ("arm,reward\na,1\nb,-1e301\n", ".reward. in line 3 of .* is -1e.301; a reward is a f"),
    ],
    ids=short,
)
def test_what_is_missing_is_named_where_it_is(tmp_path, content, said):
    with pytest.raises(InvalidInput, match=said):
        rows(tmp_path, content)


def test_a_reward_for_those_that_have_none(tmp_path):
    content = "reward,arm\n2,a\n,b\nnan,c\n\n"
    assert rows(tmp_path, content, missing=0.0) == [("a", 2), ("b", 0), ("c", 0)]
    frame = pl.DataFrame({"arm": [1, 2, 3], "reward": [1, None, -1]})
    assert rows(tmp_path, frame, missing=0.5) == [(1, 1), (2, 0.5), (3, -1)]
    frame = frame.with_columns(pl.col("reward").cast(pl.Decimal(10, 2)))
    assert [str(reward) for _, reward in rows(tmp_path, frame, missing=0.5)] == [
        "1.00", "0.50", "-1.00"
    ]  # fmt: skip
    with pytest.raises(InvalidInput, match="--missing nan must be a finite number"):
        rows(tmp_path, content, missing=math.nan)


def test_blank_lines_at_the_end_are_left_out(tmp_path):
    assert rows(tmp_path, "arm,x,reward\na,1,2\n\n\r\n\n") == [("a", 2)]


WIDE = "line {} of .*log.csv has {} field.*, its header has 3; put quotes around .*--delimiter"


@pytest.mark.parametrize(
    ("content", "line", "fields"),
    [
        ("arm,cost,reward\na,3,20,1\n", 2, 4),
        ("arm,reward,cost\na,20,1,3\n", 2, 4),
        ("arm,cost,reward\na,3,1\nb,3\nc,3,1\n", 3, 2),
        ("arm,cost,reward\na,3,1\nb\n", 3, 1),
        ("reward,cost,arm\n1,3,a\n1,a\n", 3, 2),
        ('\n\narm,cost,"reward"\n"a\n\nb",3,1\n\n"c\nd",3,1,1\n', 8, 4),
        ("arm,cost,reward\n" + "a,3,1\n" * 5_000 + "a,3,1,1\n" + "a,3,1\n" * 9, 5_002, 4),
        ("arm,cost,reward\na,3,1\nb,3,1,", 3, 4),
        (gzip.compress(b"arm,cost,reward\na,3,20,1\n", mtime=0), 2, 4),
    ],
    ids=short,
)
def test_a_row_of_another_width_is_refused_by_its_line(tmp_path, content, line, fields):
    with pytest.raises(InvalidInput, match=WIDE.format(line, fields)):
        rows(tmp_path, content)


def test_what_holds_the_mark_may_be_quoted_and_the_last_field_empty(tmp_path):
    content = 'arm,reward,"x\ny"\n"a,b",1,\n"c\nd",2,"3,4"\n'
    assert rows(tmp_path, content) == [("a,b", 1), ("c\nd", 2)]


def test_lines_are_those_of_the_file(tmp_path):
    content = '\narm,reward\n"a\nb",1\n"c\nd",2\ne,high\n'
    with pytest.raises(
        InvalidInput, match=r"holds 'high' in line 7 of .*log.csv; a reward is a number: if it"
    ):
        rows(tmp_path, content)
    file = tmp_path / "log.csv"
    file.write_text(content.replace("high", "9"), encoding="utf-8")
    log = read(file)
    where = [log.place(row).partition(" of ")[0] for row in range(4)]
    assert where == ["line 3", "line 5", "line 7", "row 4"]
    with pytest.raises(InvalidInput, match=r"the reward in line 5 of .*log.csv is 2, outside"):
        within(log.frame, 0, 1, log.place)


@pytest.mark.parametrize(
    ("content", "spelling"),
    [
        ("arm;reward\na;0,5\nb;-1\n", {"decimal": ","}),
        ('arm,reward\na,"0,5"\nb,-1\n', {"decimal": ","}),
        (pl.DataFrame({"arm": ["a", "b"], "reward": ["0,5", "-1"]}), {"decimal": ","}),
        ("arm:reward\na:0.5\nb:-1\n", {"delimiter": ":"}),
        ('arm;reward;"x,y"\na;0.5;\nb;-1;2\n', {}),
        ('arm\treward\t"x,y"\na\t0.5\t\nb\t-1\t2\n', {"delimiter": "\t"}),
    ],
    ids=short,
)
def test_marks_as_they_are_named(tmp_path, content, spelling):
    assert rows(tmp_path, content, **spelling) == [("a", 0.5), ("b", -1)]


def test_two_words_are_rewards_of_1_and_0(tmp_path):
    content = "arm,reward\na,Yes\nb,no\nc,true\nd,0.5\n"
    found = rows(tmp_path, content, words=("yes", "No"))
    assert [reward for _, reward in found] == [1, 0, 1, 0.5]


def test_decimals_stay_exact(tmp_path):
    frame = pl.DataFrame({"arm": ["a"], "reward": ["0.10"]})
    frame = frame.with_columns(pl.col("reward").cast(pl.Decimal(10, 2)))
    ((_, reward),) = rows(tmp_path, frame)
    assert str(reward) == "0.10"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "log.csv is empty"),
        ("a,b\n1,2\n", "has no column 'arm'; its columns are 'a', 'b': choose with .*--arm-column"),
        (
            "arm,b\n1,2\n",
            "no column 'reward'; its columns are 'arm', 'b': choose with .*--reward-c",
        ),
        (
            "arm,reward\na,1\nb,high\n",
            "holds 'high' in line 3 of .*; a reward .*as in --words yes no",
        ),
        (
            "arm;reward\na;0,5\n",
            "holds '0,5' in line 2 of .*; a reward is a number: .*give --decimal ,",
        ),
        ("arm,reward\na,1,2\n", "line 2 of .*log.csv has 3 fields, its header has 2; put quotes"),
        (b"arm,reward\n\xfc,1\n", "line 2 of .*log.csv is not in UTF-8; save"),
        (b"x,arm,reward\n\n\xfc,a,1\n", "line 3 of .*log.csv is not in UTF-8; save"),
        (b"\xfc,arm,reward\n1,a,1\n", "line 1 of .*log.csv is not in UTF-8; save"),
        (
            gzip.compress(b"arm,reward\n\xfc,1\n", mtime=0),
            "log.csv is not in UTF-8; save it in UTF-8",
        ),
        (
            "arm,reward\na,1\n".encode("utf-16"),
            "holds NUL bytes and is not CSV, Parquet or JSON lines",
        ),
        (b"arm,reward\n" + b"a,1\n" * 2_000 + b"b\0,1\n", "line 2002 of .* holds a NUL byte"),
        ("arm,reward\ra,1\rb,1\r", "ends its lines with CR alone; save it with LF or CR LF"),
        ("arm,arm,reward\na,b,1\n", "has 2 columns 'arm'; rename all but one"),
        ("arm reward\na 1\n", "columns are 'arm reward': choose .*or say .*with --delimiter"),
        ("\n\n", "log.csv is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is not CSV, Parquet or JSON lines"),
        (b"PAR1 and then nothing", "cannot read .*log.csv as CSV, Parquet or JSON"),
        (pl.DataFrame({"arm": [["a"]], "reward": [1]}), r"holds List\(String\); an arm is text"),
        (pl.DataFrame({"arm": ["a"], "reward": [date(2013, 1, 1)]}), "holds Date; a reward is a n"),
    ],
    ids=short,
)
def test_a_file_that_holds_no_log_is_named_in_one_line(tmp_path, content, said):
    with pytest.raises(InvalidInput, match=said) as caught:
        rows(tmp_path, content)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_or_a_folder(tmp_path):
    with pytest.raises(InvalidInput, match=r"cannot read .*none.csv: no such file"):
        read(tmp_path / "none.csv")
    with pytest.raises(InvalidInput, match="is a directory"):
        read(tmp_path)


def test_a_name_is_no_pattern(tmp_path):
    rows(tmp_path, "arm,reward\na,1\n", "1.csv")
    with pytest.raises(InvalidInput, match="no such file"):
        read(tmp_path / "*.csv")
    assert rows(tmp_path, "arm,reward\nb,1\n", "[1].csv") == [("b", 1)]


def test_a_label_is_found_as_it_is_written():
    ints, texts = pl.DataFrame({"arm": [7, None]}), pl.DataFrame({"arm": ["7", "None"]})
    assert label("7", ints) == 7
    assert label("7", texts) == "7"
    assert label("8", ints) == "8"  # for ReplayLog to refuse
    assert label("None", ints) == label("None", texts) == "None"


def test_a_label_is_found_as_its_column_held_it():
    prices, flags = pd.DataFrame({"arm": [9.99, 15.0]}), pd.DataFrame({"arm": [True, False]})
    for column, given, known in [
        (prices, 9.99, "9.99"), (prices, 15, "15"), (prices, np.float64(15), "15"),
        (flags, True, "true"), (flags, np.False_, "false"),
        (pd.DataFrame({"arm": [date(2026, 1, 2)]}), date(2026, 1, 2), "2026-01-02"),
    ]:  # fmt: skip
        assert label(given, sf.read_log(column.assign(reward=1)).frame) == known
    assert label(float("nan"), pl.DataFrame({"arm": [7]})) != 7


def test_without_polars_the_error_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[study\]'"):
        read("log.csv")


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        (
            (0, 60.0),
            r"^the reward in row 2 is -0\.5, outside --reward-range 0 60; widen it or corr",
        ),
        ((-1, 60), "^the reward in row 4 is 63.2, outside --reward-range -1 60; "),
        ((60, 0), "^--reward-range 60 0 must give the lower bound first"),
        ((float("nan"), 0), "^--reward-range nan 0 must"),
    ],
)
def test_a_range_too_narrow_is_named_as_it_was_asked_for(bounds, said):
    frame = pl.DataFrame({"reward": [1.0, -0.5, None, 63.2]})
    with pytest.raises(InvalidInput, match=said):
        within(frame, *bounds)
    within(frame, -0.5, 63.2)


@pytest.mark.parametrize(
    ("spelling", "said"),
    [
        ({"delimiter": ";;"}, "--delimiter ;; must be one character"),
        ({"delimiter": ""}, "--delimiter  must be one character"),
        ({"delimiter": '"'}, "must be one character"),
        ({"delimiter": "\N{EURO SIGN}"}, "must be one character"),
        ({"decimal": ";"}, "--decimal ; must be a point or a comma"),
        (
            {"decimal": ","},
            "holds '0.5' in line 2 of .*; a reward .*: --decimal , allows for no",
        ),
    ],
)
def test_a_spelling_that_cannot_be(tmp_path, spelling, said):
    with pytest.raises(InvalidInput, match=said):
        rows(tmp_path, "arm,reward\na,0.5\n", **spelling)


def test_a_mark_between_columns_is_not_for_parquet(tmp_path):
    with pytest.raises(InvalidInput, match=r"--delimiter is for a CSV; .* is Parquet"):
        rows(tmp_path, pl.DataFrame({"arm": [1], "reward": [1]}), delimiter=",")
