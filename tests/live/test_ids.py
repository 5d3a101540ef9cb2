"""What a play is called, and that a name finds the play it was given to and no other."""

from surefoot.live import ids
from surefoot.live.ids import twin_id
from surefoot.live.store.base import PlayRow


def row(play, lease=None):
    return PlayRow(play, "e", 1, "explore", 0, 0, 1, 1, 0, 0, 1, lease=lease)


ROWS = {
    each.id: each
    for each in (
        row("a"),
        row(twin_id("a", "w-1"), "w-1"),
        row("b", "w-1"),
        row("w-1-1", "w-1"),
    )
}


def test_a_name_finds_its_play_and_no_other():
    found = {name: ids.find(ROWS.get, name) for name in (
        "a", "a.w-1", "a.w-2", "b", "b.w-1", "b.w-2", "w-1-1", "c", "c.w-1", "", ".", "a.",
    )}  # fmt: skip
    called = {name: each and each.id for name, each in found.items()}
    assert called == {
        "a": "a", "a.w-1": twin_id("a", "w-1"), "a.w-2": None, "b": "b", "b.w-1": "b",
        "b.w-2": None, "w-1-1": "w-1-1", "c": None, "c.w-1": None, "": None, ".": None, "a.": "a",
    }  # fmt: skip


def test_only_a_bare_id_that_a_caller_chose_under_a_lease_says_too_little():
    assert [name for name, each in ROWS.items() if ids.ambiguous(name, each)] == ["b"]
    assert not ids.ambiguous("b.w-1", ROWS["b"])


def test_what_a_play_is_called_finds_it():
    for each in ROWS.values():
        told = {} if each.lease is None else {"lease": each.lease}
        if each.id == twin_id("a", "w-1"):
            told["asked"] = "a"
        assert ids.find(ROWS.get, ids.public_id(each.id, told)) == each


def test_a_twin_has_a_name_that_a_ledger_takes():
    lease = "x" * 16 + "-" + "f" * 12 + "-" + "9" * 12
    assert len(twin_id("i" * 64, lease)) <= 64


def test_twins_of_one_lease_or_of_two_have_names_of_their_own():
    # Their digests begin with the same 32 bits.
    twins = {twin_id(own, lease) for own in ("v-122646", "v-176001") for lease in ("w-1", "w-2")}
    assert len(twins) == 4
