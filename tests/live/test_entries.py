import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import InvalidInput
from surefoot.live import entries
from surefoot.live.entries import GENESIS

FIELDS = {
    "seq": 1, "kind": "outcome.settled", "experiment": "e", "play": "p-1", "at": 5, "actor": "k",
    "config_version": 1, "d_posted": -3, "d_held": -7, "posted": 4, "held": 0, "reserve": 2,
    "payload": {"b": [None, True], "a": "ü"}, "prev": GENESIS,
}  # fmt: skip
PAYLOADS = st.dictionaries(
    st.text(),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=10,
    ),
)


def test_the_hash_is_that_of_the_plain_text_of_all_other_fields():
    text = (
        '{"actor":"k","at":5,"config_version":1,"d_held":-7,"d_posted":-3,"experiment":"e",'
        '"held":0,"kind":"outcome.settled","payload":{"a":"\\u00fc","b":[null,true]},'
        f'"play":"p-1","posted":4,"prev":"{GENESIS}","reserve":2,"seq":1}}'
    )
    entry = entries.chained(**FIELDS)
    assert entry.hash == hashlib.sha256(text.encode()).hexdigest() == entries.rehash(entry)


@pytest.mark.parametrize("field", sorted(FIELDS))
def test_no_field_can_be_edited_without_changing_the_hash(field):
    entry = entries.chained(**FIELDS)
    changed = {"play": "p-2", "payload": {"b": [None, True], "a": "u"}}.get(field, "other")
    assert entries.rehash(entry._replace(**{field: changed})) != entry.hash


def test_a_line_reads_back_as_its_entry():
    entry = entries.chained(**FIELDS)
    line = entries.line(entry)
    assert "\n" not in line
    assert line.isascii()
    assert set(json.loads(line)) == {*FIELDS, "hash"}
    assert entries.parse(line) == entry
    assert entry.available == 6


@pytest.mark.parametrize("text", ["", "{}", "[]", "1", '{"seq": 1}', "not json", "null"])
def test_what_is_no_entry_is_refused(text):
    with pytest.raises(InvalidInput, match="no"):
        entries.parse(text)


def test_the_header_names_account_and_unit():
    head = json.loads(entries.header("shöp", 9))
    assert head == {"surefoot": "ledger", "version": 1, "account": "shöp", "unit_places": 9}


@given(PAYLOADS)
def test_a_payload_reads_back_as_itself(payload):
    copy, text = entries.checked_payload(payload)
    assert copy == payload
    assert text == entries.canonical(copy)
    assert json.loads(text) == payload
    assert copy is not payload


def test_an_inner_change_does_not_reach_the_copy():
    payload = {"a": {"b": [1]}}
    copy, _ = entries.checked_payload(payload)
    payload["a"]["b"].append(2)
    assert copy == {"a": {"b": [1]}}


@pytest.mark.parametrize(
    "payload",
    [None, [], "x", {1: 2}, {"a": 0.5}, {"a": float("nan")}, {"a": (1,)}, {"a": {2: 1}},
     {"a": [{"b": b"x"}]}, {"a": 10**5000}],
)  # fmt: skip
def test_a_payload_without_an_exact_text_is_refused(payload):
    with pytest.raises(InvalidInput):
        entries.checked_payload(payload)


def test_the_refusal_names_the_place():
    with pytest.raises(InvalidInput, match=r"score = 0\.5 \(float\)"):
        entries.checked_payload({"arms": [{"score": 0.5}]})


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63 - 1), 0])
def test_an_amount_of_64_bits_is_accepted(value):
    entries.check_amounts({"hold": value})


@pytest.mark.parametrize("value", [2**63, -(2**63), 0.0, True, "1", None])
def test_an_amount_that_no_database_holds_is_refused(value):
    with pytest.raises(InvalidInput, match="hold"):
        entries.check_amounts({"hold": value})


@pytest.mark.parametrize("value", [None, 1, "a\0b", "\ud800", "x" * 201, b"x"])
def test_a_text_that_no_database_holds_is_refused(value):
    with pytest.raises(InvalidInput, match="actor"):
        entries.check_texts({"actor": value})


def test_an_export_is_a_header_and_a_line_for_each_entry():
    first = entries.chained(
        seq=1, kind="verified", experiment="e", play=None, at=0, actor="", config_version=1,
        d_posted=0, d_held=0, posted=0, held=0, reserve=0, payload={}, prev=entries.GENESIS,
    )  # fmt: skip
    head, row = entries.exported("shöp", 9, [first])
    assert head.decode() == f"{entries.header('shöp', 9)}\n"
    assert entries.parse(row.decode()) == first
