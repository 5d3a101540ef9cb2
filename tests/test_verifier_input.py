"""What is no ledger, or none that its writer could have written, is refused and named."""

import json

import pytest

from ledgers import canonical, lines, rechained, scheduled
from surefoot import verifier
from surefoot.verifier import Unusable, verify
from verifying import problem, run

JUNK = [
    b"", b"\n", b"{}\n", b"null\n", b"[]\n", b"\xff\xfe\n", b"{\n", b'"x"\n', b"1e5\n",
    b"[" * 100_000 + b"\n", b"1" * 10_000 + b"\n", b'{"a":NaN}\n', b'{"a":1,"a":1}\n',
    b"\x00" * 50, b"x" * 200,
]  # fmt: skip


@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: repr(junk[:12]))
def test_junk_in_place_of_an_entry_is_named(junk):
    rows = lines(scheduled(3).entries)
    assert problem([*rows[:7], junk, *rows[8:]]).startswith("entry 7: ")


@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: repr(junk[:12]))
def test_junk_in_place_of_the_first_line_is_no_ledger(junk):
    with pytest.raises(Unusable, match="no ledger to verify: "):
        verify([junk])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("surefoot", "agent"), ("version", 2), ("account", 5), ("unit_places", 101),
        ("unit_places", "3"), ("unit_places", True), ("more", 1),
    ],
)  # fmt: skip
def test_a_header_of_something_else_is_no_ledger(name, value):
    head = json.loads(lines([])[0])
    with pytest.raises(Unusable):
        verify([canonical({**head, name: value}).encode()])


def test_no_line_at_all_is_no_ledger_and_a_header_alone_is_an_empty_one():
    with pytest.raises(Unusable, match="it is empty, expected an export"):
        verify([])
    assert verify(lines([]))["ok"]
    assert problem(lines([]), "1" * 64).startswith("entry 0: no entry up to here")


@pytest.mark.parametrize("head", ["", "x", "f" * 63, "F" * 64, "-1:" + "f" * 64, "f" * 65])
def test_a_head_that_is_none_is_refused(head):
    if head:
        with pytest.raises(Unusable, match=f"^head is {head}, expected 64 digits"):
            verify(lines([]), head)
    else:
        assert verify(lines([]), head)["ok"]


@pytest.mark.parametrize(
    "value", [0.5, 5.0, float("nan"), float("inf"), 10**30, -(2**63) - 1, True]
)
@pytest.mark.parametrize("name", ["d_posted", "held", "at"])
def test_an_amount_that_no_database_holds_is_refused(name, value):
    entries = scheduled(3).entries
    entries[4] = {**entries[4], name: value}
    assert problem(lines(rechained(entries))).startswith("entry 5: ")
    entries = scheduled(3).entries
    entries[4] = {**entries[4], "payload": {"amount": value}}
    assert problem(lines(rechained(entries))).startswith("entry 5: ")


WRITTEN = {
    "blank": lambda row: row.replace(b'":', b'": ', 1),
    "carriage return": lambda row: row.replace(b"\n", b"\r\n"),
    "indent": lambda row: b" " + row,
    "mark": lambda row: b"\xef\xbb\xbf" + row,
    "line feed": lambda row: row + b"\n",
    "letter": lambda row: row.replace(b'"actor":""', b'"actor":"\xc3\xbc"'),
    "twice": lambda row: row.replace(b'"actor":""', b'"actor":"","actor":""'),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_there_is_one_way_to_write_an_entry(name):
    rows = lines(scheduled(3).entries)
    rows[9] = WRITTEN[name](rows[9])
    assert problem(rows).startswith("entry 9: ")


def test_the_last_line_may_lack_its_line_feed():
    rows = lines(scheduled(3).entries)
    assert verify([*rows[:-1], rows[-1].removesuffix(b"\n")])["ok"]


def test_a_line_of_many_megabytes_is_refused_unread():
    rows = lines(scheduled(3).entries)
    assert "length is 16777216" in problem([*rows, b"x" * verifier.LONGEST])


def test_of_a_database_it_says_how_to_export_it(tmp_path):
    path = tmp_path / "ledger.db"
    path.write_bytes(b"SQLite format 3\0\x10\0\1\1\n" + bytes(80))
    done = run(path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "it is SQLite, expected an export: surefoot ledger export" in done.stderr


@pytest.mark.parametrize("content", [b"", b"\xff\xff", b"seq,kind\n1,2\n", None])
def test_what_is_no_ledger_leaves_with_2(tmp_path, content):
    path = tmp_path / "ledger.ndjson"
    if content is not None:
        path.write_bytes(content)
    done = run(path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1
