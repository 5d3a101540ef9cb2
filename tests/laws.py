"""The laws of the account, to be asked of any books: ours, which keep them, and planted mutants.

A law is a function of ``make``, which opens books: ``make(**settings of RewardFloor)``. It tries
cases of its own choice and raises AssertionError at the first that breaks it.
"""

import functools
import math
import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import cycle
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from histories import Histories, Make, Pair, decimals, floors
from naive import gencb
from naive.account import rational
from surefoot.floors import RewardBooks
from surefoot.testing._floors import after


def law(examples: int = 150, **cases: Any) -> Callable[..., Callable[[Make], None]]:
    """Turn a check of one case into a law: a check of many, drawn by hypothesis."""

    def over(check: Callable[..., None]) -> Callable[[Make], None]:
        @functools.wraps(check)
        def tried(make: Make, shrink: bool = True) -> None:
            @settings(max_examples=examples, report_multiple_bugs=False, phases=phases(shrink))
            @given(**cases)
            def on(**case: Any) -> None:
                check(make, **case)

            on()

        return tried

    return over


def phases(shrink: bool) -> list[Phase]:
    """Of a mutant it is enough to know that it fails; of our own code one wants the least case."""
    return [Phase.generate, *([Phase.shrink] if shrink else [])]


def either(low: str, high: str) -> st.SearchStrategy[Any]:
    """A float from the 0.01 grid or an arbitrary decimal."""
    return decimals(low, high, 2).map(float) | decimals(low, high, 4)


# Their product has at most eight places: f lies on the lattice of nine.
ALPHAS, MU0S = either("0.01", "0.99"), either("0.01", "1")


def step(books: RewardBooks, reward: Any) -> bool:
    """One play, reported at once; whether it explored."""
    terms = books.floor.terms()
    if books.affords(terms):
        books.settle(books.explore(terms), reward)
        return True
    books.settle(books.default(terms), None)
    return False


@law(mu0=MU0S, alpha=ALPHAS)
def check_first_exploration(make: Make, mu0: Any, alpha: Any) -> None:
    """r_min = 0, no reserve: the first exploration is play ceil((1-alpha)/alpha) + 1."""
    books, a = make(default=mu0, alpha=alpha), rational(alpha)
    first = next(t for t in range(1, 1000) if step(books, 0))
    assert first == math.ceil((1 - a) / a) + 1


@law(
    mu0=either("0.5", "1"),
    alpha=ALPHAS,
    low=decimals("0", "0.5", 2),
    reserve=st.just(0) | decimals("0", "3", 3),
    luck=st.lists(st.integers(0, 4), min_size=1, max_size=20),
)
def check_default_plays(
    make: Make, mu0: Any, alpha: Any, low: Decimal, reserve: Any, luck: list[int]
) -> None:
    """r_min >= 0: N0(t) <= ceil((1-alpha)*t) on every path."""
    books = make(default=mu0, alpha=alpha, reward_range=(low, 1), reserve=reserve)
    rewards = cycle([low + (1 - low) * quarter / 4 for quarter in luck])
    a, default_plays = rational(alpha), 0
    for t in range(1, 121):
        default_plays += not step(books, next(rewards))
        assert default_plays <= math.ceil((1 - a) * t)
        assert books.account.available >= 0


@law(mu0=MU0S, alpha=ALPHAS)
def check_least_exploring(make: Make, mu0: Any, alpha: Any) -> None:
    """r_min = 0, no reserve, all rewards zero: m_t = floor(alpha*t)."""
    books, a, m = make(default=mu0, alpha=alpha), rational(alpha), 0
    for t in range(1, 301):
        m += step(books, 0)
        assert m == a * t // 1
        assert books.account.available >= 0


@law(mu0=MU0S, alpha=ALPHAS, delay=st.integers(1, 60), reserve=decimals("0", "2", 2))
def check_delay(make: Make, mu0: Any, alpha: Any, delay: int, reserve: Decimal) -> None:
    """However late zeros come, available >= 0; before they come, reserve/h explorations."""
    books = make(default=mu0, alpha=alpha, reserve=reserve)
    terms, waiting = books.floor.terms(), []
    for t in range(300):
        explores = books.affords(terms)
        waiting.append((explores, books.explore(terms) if explores else books.default(terms)))
        assert books.account.available >= 0
        if t == delay - 1:
            h = (1 - rational(alpha)) * rational(mu0)
            assert sum(explores for explores, _ in waiting) == min(delay, rational(reserve) // h)
        if len(waiting) >= delay:
            explored, play = waiting.pop(0)
            books.settle(play, 0 if explored else None)
            assert books.account.available >= 0


SEEDS = st.integers(0, 2**32 - 1)


@law(floor=floors(decimals_of=12, least_places=2), seed=SEEDS)
def check_promise(make: Make, floor: dict[str, Any], seed: int) -> None:
    """At every moment received reward, at its worst where unknown, >= sum of f_s - reserve.

    And the books never overstate it, however fine the numbers are beside their unit.
    """
    for pair, _ in history(make, floor, seed, digits=12, below=0):
        assert 0 <= pair.available <= pair.twin.promise()


@law(floor=floors(decimals_of=4, least_places=8), seed=SEEDS)
def check_table(make: Make, floor: dict[str, Any], seed: int) -> None:
    """On the lattice the books are the table of events, and judge every report as it says."""
    for pair, verdicts in history(make, floor, seed, digits=4, below=1):
        ours, theirs = verdicts
        assert ours == theirs
        assert pair.available == pair.twin.available()


REPORTS = ("settle", "settle", "settle", "expire", "void", "fall_back", "acknowledge")


def history(
    make: Make, floor: dict[str, Any], seed: int, digits: int, below: int
) -> Iterator[tuple[Pair, tuple[Any, Any]]]:
    """An adversary's schedule: 30 decisions, and reports of any play, in any order, for long after.

    Yields what books and twin made of each event. Rewards have up to ``digits`` digits more than
    the floor; one in six may fall up to ``below`` under the range.
    """
    pair, rng, latest = Pair(make, floor), random.Random(seed), 0
    low, high = floor["reward_range"]
    for turn in range(120):
        if turn < 30:
            own = round(between(rng, max(low, 0), high, digits), digits)
            own = None if pair.twin.default else own
            yield pair, pair.decide(own, explore=rng.random() < 0.9)
        for _ in range(rng.choice((0, 1, 2))):
            latest = rng.choice((latest, rng.randrange(len(pair.twin.plays))))
            name = rng.choice(REPORTS)
            reward = between(rng, low, high, digits)
            reward = rng.choice((low, low, high, 2 * high, reward, reward - below))
            if not pair.twin.plays[latest].explores:
                reward = None
            yield pair, pair.report(name, latest, *([reward] if name == "settle" else []))


def between(rng: random.Random, low: Any, high: Any, digits: int) -> Decimal:
    return low + (high - low) * Decimal(rng.randint(0, 10**digits)).scaleb(-digits)


@law(floor=floors(decimals_of=6, least_places=4), seed=SEEDS)
def check_commute(make: Make, floor: dict[str, Any], seed: int) -> None:
    """The same reports in any order give the same books."""
    rng, default = random.Random(seed), floor["default"] or Decimal("0.5")
    low, high = floor["reward_range"]
    explores = [rng.random() < 0.7 for _ in range(30)]
    reports = []
    for play, explored in enumerate(explores):
        reward = rng.choice((low, high, 2 * high, between(rng, low, high, 9))) if explored else None
        end = rng.choice(("settle", "settle", "settle", "void", "fall_back"))
        reports.append([(end, play, reward) if end == "settle" else (end, play)])
        if explored and end == "settle" and rng.random() < 0.3:
            reports[-1].insert(0, ("expire", play))
    assert len({booked(make(**floor), default, explores, reports, rng) for _ in range(3)}) == 1


def booked(books: RewardBooks, default: Any, explores: Any, reports: Any, rng: Any) -> str:
    """The books after all reports, each play's own in order, those of different plays in any."""
    terms = books.floor.terms(default)
    for explored in explores:
        (books.explore if explored else books.default)(terms)
    return after(books, reports, rng)


def check_histories(opened: Make, shrink: bool = True) -> None:
    """The table and the statement, by searching histories for the shortest that breaks them."""

    class Books(Histories):
        make = staticmethod(opened)

    how = settings(max_examples=60, stateful_step_count=50, phases=phases(shrink))
    run_state_machine_as_test(Books, settings=how)


@law(
    n_arms=st.integers(1, 5),
    mu0=decimals("0.05", "0.95", 2).map(float),
    alpha=decimals("0.05", "0.95", 2).map(float),
    default_competes=st.booleans(),
    key=st.integers(0, 2**32 - 1),
)
def check_decisions(
    make: Callable[..., Any],
    n_arms: int,
    mu0: float,
    alpha: float,
    default_competes: bool,
    key: int,
) -> None:
    """Every decision is that of Algorithm 1 over UCB1; ``make`` builds the agent."""
    agent = make(n_arms, mu0, alpha, default_competes)

    def reward(turn: int, arm: int) -> int:
        return random.Random(f"{key} {turn} {arm}").randint(0, 1)

    played = []
    for _ in range(200):
        play = agent.select()
        agent.update(play, None if play.is_default else reward(play.turn, play.index))
        played.append(play.index)
    assert played == gencb.decisions(n_arms, mu0, alpha, reward, 200, default_competes)
