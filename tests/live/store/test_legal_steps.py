import pytest

from surefoot.errors import InvalidInput, PlayConflict
from surefoot.live import entries
from surefoot.live.store import LeaseRow, tx

HELD = {"arm": "A", "index": 1, "hold": 7, "floor": 8, "low": 1, "high": 9}
GRANT = {"lease": "l", "owner": "w", "epoch": 1, "amount": 10, "expires": 99}
LEASE = LeaseRow("l", "e", "w", 1, amount=10, spent=4, expires=99)


def test_an_exploration_is_kept_as_decided():
    row = tx.decided("p", "e", 3, "decision.held", HELD)
    assert (row.role, row.arm, row.index, row.hold) == ("explore", "A", 1, 7)
    assert (row.floor, row.low, row.high, row.deposit) == (8, 1, 9, 0)


@pytest.mark.parametrize(("high", "expected"), [({}, 5), ({"high": 6}, 6)])
def test_a_default_lies_between_its_value_and_its_high(high, expected):
    payload = {"value": 5, "floor": 4, "deposit": 1, "hold": 99} | high
    row = tx.decided("p", "e", 3, "decision.defaulted", payload)
    assert (row.role, row.low, row.high, row.deposit) == ("default", 5, expected, 1)
    assert row.hold == 0


@pytest.mark.parametrize(
    "bad",
    [{"hold": None}, {"hold": -1}, {"hold": 0.5}, {"index": "1"}, {"floor": True}, {"low": 2**63},
     {"deadline": 1.5}, {"request": "\0"}],
)  # fmt: skip
def test_a_decision_that_no_database_holds_is_refused(bad):
    with pytest.raises(InvalidInput, match=next(iter(bad))):
        tx.decided("p", "e", 3, "decision.held", HELD | bad)


def test_a_reward_is_remembered_as_credited_and_as_told():
    row = tx.decided("p", "e", 3, "decision.held", HELD)
    payload = {"reward": 9, "told": "12", "capped": True}
    settled = tx.moved(row, "outcome.settled", payload)
    assert (settled.state, settled.reward, settled.told, settled.capped) == (
        "settled",
        9,
        "12",
        True,
    )
    assert tx.moved(settled, "breach.acknowledged", {}) == settled._replace(capped=False)


def test_a_late_reward_may_be_capped_too():
    row = tx.decided("p", "e", 3, "decision.held", HELD)._replace(state="expired")
    late = tx.moved(row, "outcome.late", {"reward": 9, "told": "12", "capped": True})
    assert (late.state, late.capped) == ("late", True)


def test_a_conflict_says_what_stands_and_what_cannot_follow():
    row = tx.decided("p", "e", 3, "decision.held", HELD)._replace(state="voided")
    with pytest.raises(PlayConflict, match=r"play p \(explore\) is voided: a reward cannot follow"):
        tx.moved(row, "outcome.settled", {"reward": 1})


@pytest.mark.parametrize("reward", [0.5, "1", None, True])
def test_a_reward_that_is_no_amount_is_refused(reward):
    row = tx.decided("p", "e", 3, "decision.held", HELD)
    with pytest.raises(InvalidInput, match="reward"):
        tx.moved(row, "outcome.settled", {"reward": reward})


@pytest.mark.parametrize("play", ["p-1", "p-007"])
def test_the_ledgers_own_ids_are_not_a_callers(play):
    with pytest.raises(InvalidInput, match=f"id = '{play}' is a name the store gives"):
        entries.checked_new_id(play, "id")


@pytest.mark.parametrize("play", ["", "a" * 65, "a b", "ü", "a\n", None, 1])
def test_a_bad_id_is_refused(play):
    with pytest.raises(InvalidInput, match="play"):
        entries.checked_id(play, "play")


@pytest.mark.parametrize("play", ["p-", "p-1a", "P-1", "a_b-C9", "a" * 64])
def test_a_callers_id_is_accepted(play):
    assert entries.checked_new_id(play) == play


def test_a_lease_starts_unspent():
    assert tx.leased(None, "lease.granted", "e", GRANT) == LEASE._replace(spent=0)


@pytest.mark.parametrize(
    "bad",
    [{"lease": "a b"}, {"owner": None}, {"epoch": "1"}, {"amount": -1}, {"amount": 1.5},
     {"expires": None}],
)  # fmt: skip
def test_a_bad_grant_is_refused(bad):
    with pytest.raises(InvalidInput, match=next(iter(bad))):
        tx.leased(None, "lease.granted", "e", GRANT | bad)


def test_an_exploration_draws_from_its_lease_to_the_last_unit():
    assert tx.drawn(LEASE, "l", 6).unspent == 0
    with pytest.raises(PlayConflict, match="6 left, below 7"):
        tx.drawn(LEASE, "l", 7)
