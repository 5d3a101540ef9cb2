"""Plays and statements as JSON: whatever a live agent gives out comes back equal."""

import json
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.floors import Statement
from surefoot.live import Lease, MemoryStore
from surefoot.live.live import Live
from surefoot.live.play import LivePlay
from surefoot.oracles import TopK
from tampering import set_account

DEFAULTS = st.sampled_from([0.5, (0.5, 0.6), None])
LABELS = st.lists(st.text(max_size=3) | st.integers(), min_size=2, max_size=3, unique=True)


def back(value):
    """What its JSON, written and read, gives back."""
    text = json.dumps(value.to_json(), allow_nan=False)
    form = json.loads(text, parse_float=lambda number: pytest.fail(f"{number} is a float"))
    assert form == value.to_json()
    return type(value).from_json(form)


def same(play):
    again = back(play)
    assert again == play
    assert (again.seq, again.explain(), repr(again)) == (play.seq, play.explain(), repr(play))


@given(st.data(), DEFAULTS, LABELS, st.booleans(), st.sampled_from(["realised", "fixed"]))
@settings(max_examples=40, deadline=None)
def test_plays_and_statements_come_back_as_they_were(data, default, arms, shadow, against):
    against = against if isinstance(default, tuple) else "realised"
    floor = sf.RewardFloor(default, 0.25, reserve=1, against=against)
    window = data.draw(st.sampled_from([None, timedelta(days=1)]))
    live = Live(
        sf.GenCB(sf.UCB1(arms=arms), floor, seed=1), MemoryStore(), shadow=shadow,
        reward_window=window,
    )  # fmt: skip
    for _ in range(data.draw(st.integers(1, 12))):
        play = live.select(**({} if default else {"default": data.draw(st.floats(0.125, 1))}))
        same(play)
        if data.draw(st.booleans()):
            live.update(play, data.draw(st.floats(0, 1)))
        assert back(live.account) == live.account


def test_super_arms_come_back_as_tuples():
    policy = sf.C2UCB([[1, 0], [0, 1], [1, 1]], TopK(2))
    live = Live(sf.GenCB(policy, sf.RewardFloor(0.5, 0.5, reserve=9), seed=1), MemoryStore())
    for _ in range(6):
        play = live.select()
        same(play)
        if not play.is_default:
            assert isinstance(back(play).arm, tuple)
            live.update(play, base_rewards=[0.25, 0.25])


def test_plays_under_a_lease_and_degraded_ones(tmp_path):
    agent = sf.GenCB(sf.UCB1(n_arms=2), sf.RewardFloor(0.5, 0.25, reserve=20), seed=1)
    store = MemoryStore()
    with Live(agent, store, lease=Lease(tmp_path)) as live:
        play = live.select(id="mine")
        assert (play.lease, play.seq) != (None, 0)
        same(play)
    live = Live(None, store)
    set_account(store, posted=5)
    play = live.select()
    assert play.reason == "DEGRADED"
    same(play)


@pytest.fixture
def form():
    live = Live(sf.GenCB(sf.UCB1(n_arms=2), sf.RewardFloor(0.5, 0.2, reserve=1)), MemoryStore())
    return live.select().to_json()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"id": 7}, "id = 7 must be a str"),
        ({"index": True}, "index = True must be a int"),
        ({"more": 1}, "play has the key 'more'"),
        ({"arm": {"odd": 1}}, "of no known kind"),
        ({"arm": 0.5}, "arm = 0.5 contradicts the rest"),
        ({"slack": "7"}, "slack = '7' contradicts the rest"),
        ({"slack": 1.0}, "slack = 1.0 must be a str"),
        ({"play": None}, "play = None must be a dict"),
        ({"reason": "ODD"}, "'ODD' is not a valid Reason"),
        ({"play.places": 10**9}, "places = 1000000000 is beyond"),
        ({"play.terms": {"value": 1}}, "terms lacks the key 'floor'"),
        ({"play.choice": {"arm": 0, "score": "x", "rival": None, "margin": None}}, "cannot be"),
        ({"play.choice": {"arm": 0, "score": 1.0, "rival": None, "margin": None}}, "cannot be"),
    ],
)
def test_what_is_no_play_is_refused_and_named(form, change, why):
    for name, value in change.items():
        inner, _, key = name.rpartition(".")
        (form[inner] if inner else form)[key] = value
    with pytest.raises(InvalidInput, match=r"pass what to_json\(\)") as error:
        LivePlay.from_json(form)
    assert why in str(error.value)


CHOICE = {"arm": 0, "score": {"float": "inf"}, "rival": None, "margin": None}


@pytest.mark.parametrize(
    ("inner", "key", "value"),
    [
        ("", "index", 10**5000),
        ("", "reason", "x" * 10**6),
        ("play", "places", 10**5000),
        ("play", "choice", {**CHOICE, "score": {"float": "x" * 10**6}}),
        ("play", "choice", {**CHOICE, "score": 10**400}),
        ("play", "choice", {**CHOICE, "margin": True}),
        ("play", "choice", {**CHOICE, "margin": {"float": "nan"}}),
    ],
    ids=range(7),
)
def test_what_cannot_be_written_or_explained_is_refused_in_a_line(form, inner, key, value):
    form |= {"index": 0, "arm": 0, "reason": "SLACK_OK"}
    form["play"]["choice"] = CHOICE
    assert LivePlay.from_json(form).explain()
    (form[inner] if inner else form)[key] = value
    with pytest.raises(InvalidInput, match=r"pass what to_json\(\)") as error:
        LivePlay.from_json(form)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize("foreign", [None, [], {}, "x", {1: 2}])
def test_what_is_no_form_at_all_is_refused(foreign):
    for kind in (LivePlay, Statement):
        with pytest.raises(InvalidInput, match=r"pass what to_json\(\)"):
            kind.from_json(foreign)


@pytest.mark.parametrize("amount", ["1e3", "NaN", "Infinity", "x", "", "1_0", 1.5, "1E+999999"])
def test_an_amount_that_is_no_plain_decimal_is_refused(amount):
    form = sf.GenCB(sf.UCB1(n_arms=2), sf.RewardFloor(0.5, 0.2)).account.to_json()
    with pytest.raises(InvalidInput, match="statement: earned"):
        Statement.from_json({**form, "earned": amount})


def test_a_count_that_cannot_be_written_is_refused():
    form = sf.GenCB(sf.UCB1(n_arms=2), sf.RewardFloor(0.5, 0.2)).account.to_json()
    with pytest.raises(InvalidInput, match="plays = <int of too many digits> must be shorter"):
        Statement.from_json({**form, "plays": 10**5000})
