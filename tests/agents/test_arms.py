"""How each arm stands: counts, means, intervals, in the order of the decisions."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.agents import tally as tallies
from surefoot.errors import InvalidInput
from surefoot.floors.odds import Sequence

FLOOR = sf.RewardFloor(0.5, 0.5, reserve=1_000)


def _agent(**floor: Any) -> Any:
    settings = {"default": 0.5, "alpha": 0.5, "reserve": 1_000, **floor}
    return sf.GenCB(
        sf.EpsilonGreedy(3, epsilon=1), sf.RewardFloor(**settings), 0, default_competes=False
    )


def _expected(fed: list[int | None], delta: float = 0.05) -> tuple[float, float]:
    """The interval of an arm that was fed these rewards, taken one by one."""
    sequence = Sequence(0, 10**9)
    for x in fed:
        if x is None:
            sequence.lose()
        else:
            sequence.take(x * 10**9)
    half = Fraction(str(delta)) / 2
    low, high = sequence.ends(half, half)
    return low / 1e9, high / 1e9


class _Book:
    """What the rows must say, kept play by play; the rules of feeding as a list."""

    def __init__(self) -> None:
        self.fate: dict[int, list[Any]] = {}  # id -> [arm, "open" | reward | None | "void"]
        self.late: dict[int, int] = {}

    def row(self, arm: int) -> dict[str, Any]:
        mine = [(number, fate) for number, (of, fate) in self.fate.items() if of == arm]
        made = [fate for _, fate in mine if fate != "void"]
        fed = []
        for fate in made:
            if fate == "open":
                break
            fed.append(fate)
        told = [x for x in made if x not in (None, "open")]
        told += [x for number, x in self.late.items() if self.fate[number][0] == arm]
        return {
            "plays": len(made), "open": made.count("open"), "told": len(told), "fed": fed,
            "mean": sum(told) / len(told) if told else None,
        }  # fmt: skip


def _check(agent: Any, book: _Book) -> None:
    for arm, row in enumerate(agent.arms()[:3]):
        want = book.row(arm)
        assert (row.plays, row.open, row.told) == (want["plays"], want["open"], want["told"])
        assert row.mean == pytest.approx(want["mean"])
        low, high = _expected(want["fed"])
        assert (row.low, row.high) == pytest.approx((low, high), abs=2e-9)
        window = [of for of, fate in list(book.fate.values())[-1_000:] if fate != "void"]
        assert row.share == pytest.approx(window.count(arm) / max(1, len(window)))


@given(st.randoms(use_true_random=False))
def test_rows_say_what_a_list_of_all_plays_says(rng: random.Random) -> None:
    agent, book = _agent(), _Book()
    agent.tally.limit = 3  # so that reports are taken in on the way
    waiting: list[Any] = []
    expired: list[Any] = []
    for _ in range(rng.randrange(1, 60)):
        what = rng.random()
        if what < 0.5 or not waiting:
            play = agent.select()
            waiting.append(play)
            book.fate[play.id] = [play.index, "open"]
            continue
        play = waiting.pop(rng.randrange(len(waiting)))
        if what < 0.8:
            paid = rng.randrange(2)
            agent.update(play, reward=paid)
            book.fate[play.id][1] = paid
        elif what < 0.9:
            agent.expire(play)
            expired.append(play)
            book.fate[play.id][1] = None
        else:
            (agent.void if what < 0.95 else agent.fall_back)(play)
            book.fate[play.id][1] = "void"
        if expired and rng.random() < 0.3:
            late = expired.pop()
            agent.update(late, reward=1)
            book.late[late.id] = 1
        if rng.random() < 0.1:
            _check(agent, book)
    _check(agent, book)


def test_a_default_that_draws_has_a_row_and_one_that_is_only_known_says_why() -> None:
    agent = sf.GenCB(sf.UCB1(2), sf.RewardFloor((0.4, 0.6), 0.05), seed=0)
    for i in range(40):
        play = agent.select()
        agent.update(play, reward=(i % 2) if play.is_default else 0.5)
    row = agent.arms()[-1]
    assert (row.arm, row.told, row.why) == (None, row.plays, None)
    assert row.low < 0.5 < row.high < 1
    known = sf.GenCB(sf.UCB1(2), sf.RewardFloor(0.5, 0.05), seed=0)
    for _ in range(5):
        known.update(known.select())
    assert known.arms()[-1].why == "no reward of the default was told"
    assert known.arms()[-1].plays == 5


def test_what_was_told_with_a_known_default_shows_and_the_rest_counts_at_its_worst() -> None:
    agent = sf.GenCB(sf.UCB1(2), sf.RewardFloor(0.5, 0.01), seed=0)
    for i in range(60):
        agent.update(agent.select(), reward=1 if i % 2 else None)
    row = agent.arms()[-1]
    assert (row.plays, row.told, row.mean) == (60, 30, 1.0)
    assert row.high == 1.0  # the half of them that was told are the ones
    assert row.low < 0.5


@pytest.mark.parametrize(
    ("give", "why"),
    [
        ({"allowed": [0, 1]}, "allowed picks the plays"),
        ({"context": [1.0, 0.0]}, "contexts pick the plays"),
    ],
)
def test_where_something_else_picks_the_plays_there_is_no_interval(
    give: dict[str, Any], why: str
) -> None:
    policy: Any = sf.LinUCB(np.eye(3)) if "context" not in give else _OfContexts(3)
    agent = sf.GenCB(policy, FLOOR, seed=0)
    agent.update(agent.select(), reward=1)
    assert agent.arms()[0].why is None
    agent.update(agent.select(**give), reward=1)
    assert {row.why for row in agent.arms()} == {why}
    assert {row.low for row in agent.arms()} == {None}


class _OfContexts(sf.EpsilonGreedy):
    contextual = True


def test_a_forced_default_is_picked_by_nothing_even_where_contexts_are() -> None:
    agent = sf.GenCB(_OfContexts(2), sf.RewardFloor((0.4, 0.6), 0.05), seed=0)
    for i in range(15):
        agent.update(agent.select(context=[1.0]), reward=i % 2)
    assert agent.arms()[0].why == "contexts pick the plays"
    assert agent.arms()[-1].why is None


def test_defaults_of_single_plays_pick_them() -> None:
    agent = sf.GenCB(sf.UCB1(2), sf.RewardFloor(None, 0.05), seed=0)
    agent.update(agent.select(default=0.5), reward=1)
    assert {row.why for row in agent.arms()} == {"defaults of single plays pick them"}


@pytest.mark.parametrize("delta", [0, 1, -0.1, "0.05", float("nan")])
def test_a_delta_that_is_no_probability_is_refused(delta: Any) -> None:
    with pytest.raises(InvalidInput, match="delta"):
        _agent().arms(delta=delta)


def test_a_delta_that_no_float_holds_leaves_the_range_alone() -> None:
    agent = _agent()
    for _ in range(30):
        agent.update(agent.select(), reward=1)
    assert {(row.low, row.high) for row in agent.arms(Decimal("1e-400"))} == {(0.0, 1.0)}


def test_super_arms_are_refused() -> None:
    agent = sf.Plain(sf.C2UCB(np.eye(3), sf.TopK(2)))
    with pytest.raises(InvalidInput, match="C2UCB plays super arms"):
        agent.arms()


def test_a_smaller_delta_is_a_wider_interval_and_two_deltas_are_nested() -> None:
    agent = _agent()
    for i in range(90):
        agent.update(agent.select(), reward=i % 3 == 0)
    for wide, narrow in zip(agent.arms(0.001), agent.arms(0.1), strict=True):
        assert wide.low <= narrow.low <= narrow.mean <= narrow.high <= wide.high


def test_a_file_keeps_it_byte_for_byte(tmp_path: Path) -> None:
    agent, rng = _agent(), random.Random(0)
    agent.tally.limit = 7
    for _ in range(400):
        play = agent.select()
        if rng.random() < 0.9:
            (agent.expire(play) if rng.random() < 0.2 else agent.update(play, rng.random()))
    agent.save(tmp_path / "one.json")
    again = sf.load(tmp_path / "one.json")
    again.save(tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    for one in (agent, again):
        for play, _ in list(one.open_plays.values()):
            one.update(play, 0.25)
    assert agent.arms() == again.arms()


def test_a_file_of_before_counts_from_here(tmp_path: Path) -> None:
    from surefoot.agents.saving import agent_from_json, agent_to_json

    agent = _agent()
    waits = agent.select()
    agent.update(agent.select(), reward=1)
    body = json.loads(json.dumps(agent_to_json(agent)))
    again: Any = agent_from_json(body, None)
    again.update(waits.id, reward=1)
    assert sum(row.told for row in again.arms()) == 1
    assert {(row.low, row.high) for row in again.arms()} == {(0.0, 1.0)}  # no draw feeds yet


def test_another_range_begins_the_intervals_anew() -> None:
    agent = sf.GenCB(sf.LinUCB(np.eye(1)), FLOOR, seed=0, default_competes=False)
    for _ in range(50):
        agent.update(agent.select(), reward=1)
    waits = agent.select()
    agent.change(reward_range=(0, 2))
    agent.update(waits, reward=1)
    row = agent.arms()[0]
    assert (row.plays, row.mean, row.low, row.high) == (51, 1.0, 0.0, 2.0)
    for _ in range(50):
        agent.update(agent.select(), reward=2)
    assert agent.arms()[0].low > 1.5


def test_memory_is_bounded_by_what_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallies, "BEHIND", 50)
    monkeypatch.setattr(tallies, "DISTINCT", 50)
    agent, rng = sf.GenCB(sf.UCB1(1), FLOOR, seed=0, default_competes=False), random.Random(0)
    agent.tally.limit = 10
    stuck = agent.select()
    for _ in range(600):
        agent.update(agent.select(), reward=rng.random())
        agent.tally.limit = 10
    tally = agent.tally
    assert len(tally.behind) <= 60
    assert len(tally.pending) <= 70
    assert len(tally.told) <= 10
    row = agent.arms()[0]
    assert (row.plays, row.told, row.open) == (601, 600, 0)  # the stuck one counts as lost
    agent.update(stuck, reward=1)
    assert agent.arms()[0].told == 601
    assert not tally.lost


def test_rewards_beyond_the_range_count_as_its_end() -> None:
    agent = sf.GenCB(sf.UCB1(1), FLOOR, seed=0, default_competes=False)
    for _ in range(20):
        with pytest.warns(sf.errors.RewardOutOfRange):
            agent.update(agent.select(), reward=3)
    row = agent.arms()[0]
    assert row.mean == 3.0
    assert (row.low, row.high) == pytest.approx(_expected([1] * 20))


def test_comparators_have_it_too() -> None:
    agent = sf.ConUCB(n_arms=2, default=0.5, alpha=0.1)
    for _ in range(30):
        play = agent.select()
        agent.update(play, None if play.is_default else 0.5)
    assert sum(row.plays for row in agent.arms()) == 30


def test_feeding_on_arrival_would_leave_the_mean_out() -> None:
    """Zeros told at once and ones late: in the order of the decisions the mean stays in."""
    rng, agent = random.Random(5), sf.Plain(sf.UCB1(1), sf.RewardFloor(0.5, 0.5))
    out: list[tuple[int, Any]] = []
    for t in range(600):
        play = agent.select()
        if rng.random() < 0.4:
            out.append((t + 100, play))
        else:
            agent.update(play, reward=0)
        while out and out[0][0] <= t:
            agent.update(out.pop(0)[1], reward=1)
        if t % 25 == 0:
            row = agent.arms()[0]
            assert row.low <= 0.4 <= row.high
            if t == 75:
                assert row.told > 40
                assert row.mean == 0.0  # what was told so far says nothing


def test_a_play_that_was_open_when_the_range_changed_is_still_open() -> None:
    agent = sf.GenCB(sf.LinUCB(np.eye(3)), FLOOR, seed=0)
    play = agent.select()
    agent.change(reward_range=(0, 2))
    assert [(row.plays, row.open) for row in agent.arms() if row.plays] == [(1, 1)]
    agent.update(play, reward=1)
    assert [(row.plays, row.told) for row in agent.arms() if row.plays] == [(1, 1)]


@pytest.mark.parametrize("held", [None, 0.5])
def test_a_default_that_was_changed_begins_its_interval_anew(tmp_path: Path, held: Any) -> None:
    """Neither the plays before count for the new one, nor those still open when it changed."""
    floor = sf.RewardFloor(0.2, 0.1)
    agent = sf.GenCB(sf.UCB1(1), floor, 0, default_competes=False, holdout=held)
    agent.pause()
    early, behind, *rest = agent.select_many(40)
    for play in (behind, *rest):
        agent.update(play, reward=0)
    agent.change(default=0.8)
    agent.update(early, reward=0)
    agent.save(tmp_path / "agent.json")
    agent = sf.load(tmp_path / "agent.json")
    row = agent.arms()[-1]
    assert (row.plays, row.told, row.mean, row.low, row.high) == (40, 40, 0, 0, 1)
    for _ in range(60):
        agent.update(agent.select(), reward=1)
    row = agent.arms()[-1]
    assert (row.plays, row.mean, row.share, row.high) == (100, 0.6, 1, 1)
    assert row.low == _expected([1] * 60)[0]


def test_what_a_default_paid_told_after_its_report_counts_in_the_mean() -> None:
    agent = sf.GenCB(sf.UCB1(1), sf.RewardFloor((0.2, 0.6), 0.5), 0)
    play = agent.select()
    agent.update(play)
    assert agent.arms()[-1].told == 0
    agent.update(play, reward=0.5)
    agent.update(play, reward=0.5)
    row = agent.arms()[-1]
    assert (row.plays, row.told, row.mean, row.why) == (1, 1, 0.5, None)
    assert (row.low, row.high) == (0, 1)
