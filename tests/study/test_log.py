import gzip
import sys
from datetime import date

import polars as pl
import pytest

from surefoot.errors import InvalidInput, MissingExtra
from surefoot.study.log import label, read, within


def rows(folder, content, name="log.csv", **columns):
    """The rows that are read from a file of this content."""
    file = folder / name
    if isinstance(content, pl.DataFrame):
        content.write_parquet(file)
    else:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(file, **columns).rows()


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
        gzip.compress(b"arm,reward\nUA,1\nAA,0.5\n"),
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
        (pl.Series([7.0, 8.0, None]), [7, 8, None]),
        (pl.Series([7.5, 8.0]), ["7.5", "8"]),
        (pl.Series([True, False]), ["true", "false"]),
        (pl.Series(["b", "a"], dtype=pl.Categorical), ["b", "a"]),
        (pl.Series([date(2013, 1, 2)]), ["2013-01-02"]),
    ],
    ids=["ints", "ints with gaps", "floats", "flags", "categories", "dates"],
)
def test_labels_of_a_parquet_column(tmp_path, column, expected):
    frame = pl.DataFrame({"arm": column, "reward": [1] * len(column)})
    assert [arm for arm, _ in rows(tmp_path, frame)] == expected


def test_flags_are_rewards(tmp_path):
    content = "arm,reward\na,True\na,false\nb,TRUE\nb,0.5\n"
    assert [reward for _, reward in rows(tmp_path, content)] == [1, 0, 1, 0.5]
    frame = pl.DataFrame({"arm": ["a", "b"], "reward": [True, False]})
    assert [reward for _, reward in rows(tmp_path, frame)] == [1, 0]


def test_what_is_missing_stays_missing_but_for_blank_lines_at_the_end(tmp_path):
    content = 'arm,reward\na,1\n\nb,\n"",0\n\n'
    assert rows(tmp_path, content) == [("a", 1), (None, None), ("b", None), (None, 0)]


def test_decimals_stay_exact(tmp_path):
    frame = pl.DataFrame({"arm": ["a"], "reward": ["0.10"]})
    frame = frame.with_columns(pl.col("reward").cast(pl.Decimal(10, 2)))
    ((_, reward),) = rows(tmp_path, frame)
    assert str(reward) == "0.10"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "log.csv is empty"),
        ("a,b\n1,2\n", "has no column 'arm'; its columns are 'a', 'b': choose with --arm-column"),
        ("arm,b\n1,2\n", "no column 'reward'; its columns are 'arm', 'b': choose with --reward-c"),
        ("arm,reward\na,1\nb,high\n", "column 'reward' holds 'high' in row 2; a reward is a numb"),
        ("arm;reward\na;0,5\n", "column 'reward' holds '0,5' in row 1; a reward is a number"),
        ("arm,reward\na,1,2\n", "cannot read .*log.csv as CSV or Parquet: found more fields"),
        (b"arm,reward\n\xfc,1\n", "cannot read .*log.csv as CSV or Parquet: invalid utf-8"),
        ("arm,reward\na,1\n".encode("utf-16"), "is neither CSV nor Parquet; save it as CSV"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is neither CSV nor Parquet"),
        (b"PAR1 and then nothing", "cannot read .*log.csv as CSV or Parquet"),
        (pl.DataFrame({"arm": [["a"]], "reward": [1]}), r"holds List\(String\); an arm is text"),
        (pl.DataFrame({"arm": ["a"], "reward": [date(2013, 1, 1)]}), "holds Date; a reward is a n"),
    ],
    ids=repr,
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


def test_without_polars_the_error_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra, match=r"pip install 'surefoot\[study\]'"):
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
