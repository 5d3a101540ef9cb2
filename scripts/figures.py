"""Measure again what the pages say was measured, and no benchmark, study or example prints.

    uv run scripts/figures.py [PAGE] ...

prints a Markdown table for each page named, by default all of ``PAGES``, in about five minutes on
one core.
Seeds are fixed, so equal versions print equal numbers. After a change that moves one, put it into
its page.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from random import Random
from statistics import quantiles
from typing import Any

import numpy as np

import surefoot as sf
from surefoot.floors import Account, Terms
from surefoot.floors.events import EXPIRE, SETTLE, Move, Record, decided, step
from surefoot.live.shortfall import Shortfall

Rows = list[list[str]]
Step = Callable[..., Move]


def seeded(seed: int) -> Random:
    """Equal seeds, equal schedules."""
    return Random(seed)  # noqa: S311 - it decides nothing that must not be guessed


def refunds_on_expiry(play: Record, report: str, *told: Any) -> Move:
    """A shortcut: an expired exploration gives its hold back, and books nothing."""
    move = step(play, report, *told)
    return move._replace(posted=0) if report == EXPIRE else move


def missed(step: Step, rng: Random, *, at_decision: bool, steps: int = 400) -> bool:
    """Whether a random schedule breaks the promise; ``at_decision`` credits defaults too early.

    Rewards 0 or 1 in hundredths, both the value and alpha at random. Arms pay nothing three times
    in four, reports come in any order or never, and every third default that was decided is never
    played. The judge knows what was truly played and paid.
    """
    value, alpha = rng.randrange(20, 100), rng.randrange(5, 51)
    deposit = alpha * value  # in ten thousandths, as all amounts here
    floor = 100 * value - deposit
    terms, account = Terms(100 * value, floor, floor, deposit), Account()
    surplus = 0  # received minus the floors, of the plays truly made
    explored: list[int] = []
    for _ in range(steps):
        roll = rng.random()
        if explored and roll < 0.4:
            reward = explored.pop(rng.randrange(len(explored)))
            play = Record(True, terms)
            expired = roll < 0.1
            account.book(step(play, EXPIRE) if expired else step(play, SETTLE, reward, 0, 10_000))
        elif account.affords(floor):
            account.book(decided(True, terms))
            reward = 10_000 * (rng.random() < 0.25)
            surplus += reward - floor
            explored.append(reward)
        else:
            played = rng.random() < 2 / 3
            surplus += deposit * played
            if played or at_decision:
                account.book(step(Record(False, terms), SETTLE))
        if surplus < 0:
            return True
    return False


def promise() -> Rows:
    """The table of events, and two shortcuts, on random adversarial schedules."""
    told = (
        ("as in the table", step, False, 3000),
        ("refund on expiry", refunds_on_expiry, False, 400),
        ("credit at the decision", step, True, 400),
    )
    rows = [["schedules", "that break the promise"]]
    for name, kind, at_decision, count in told:
        found = sum(missed(kind, seeded(seed), at_decision=at_decision) for seed in range(count))
        rows.append([name, f"{found:,} of {count:,}"])
    return rows


def limits() -> Rows:
    """What the printed algorithm pays where the default is the best arm, and what ours does."""
    floor = sf.RewardFloor(0.7, 0.05)
    agents = {
        "as printed": sf.gencb_cmab(24, 0.7, 0.05),
        "default_competes": sf.GenCB(sf.UCB1(24), floor, default_competes=True),
    }
    world = sf.BernoulliArms(np.linspace(0.6, 0.2, 24))
    found = sf.simulate(agents, world, horizon=1_000_000, runs=10, seed=0).summary()
    rows = [[name, f"{measures['regret']['mean']:,.0f}"] for name, measures in found.items()]
    return [["agent", "regret after a million plays, mean of 10 runs"], *rows]


def base_path() -> Rows:
    """How much noise cancels between agents on one path."""
    agents = {
        "GenCB": sf.gencb_cmab(24, 0.7, 0.05),
        "UCB1": sf.Plain(sf.UCB1(24), sf.RewardFloor(0.7, 0.05)),
    }
    world = sf.BernoulliArms(np.linspace(0.8, 0.2, 24))
    found = sf.simulate(agents, world, horizon=100_000, runs=200, seed=0)
    guarded, alone = (found.measure(name, "regret")[:, -1] for name in agents)
    common = (guarded - alone).std(ddof=1)
    apart = np.sqrt(guarded.var(ddof=1) + alone.var(ddof=1))
    return [
        ["regret of GenCB minus UCB1", "standard deviation"],
        ["common paths", f"{common:.0f}"],
        ["independent runs", f"{apart:.0f}"],
    ]


def told_after(draw: Callable[[Random], float], before: int, rng: Random) -> int:
    """The plays after a fall, ``before`` plays into the test, until it tells."""
    test = Shortfall()
    for _ in range(before):
        test.update(rng.random() < 0.7, declared=0.7)
    plays = 0
    while not test.below(delta=0.01):
        test.update(draw(rng), declared=0.7)
        plays += 1
    return plays


def watch_the_default() -> Rows:
    """How soon a default that pays less than declared is told."""
    falls: tuple[tuple[str, Callable[[Random], float], int], ...] = (
        ("0.60 from the start", lambda rng: rng.random() < 0.6, 0),
        ("0.65 from the start", lambda rng: rng.random() < 0.65, 0),
        ("0.60 after 10,000 plays at 0.70", lambda rng: rng.random() < 0.6, 10_000),
        ("0.60 each time, no coin", lambda _: 0.6, 0),
    )
    rows = [["the default really pays", "half of the runs", "95 % of the runs"]]
    for name, draw, before in falls:
        cuts = quantiles((told_after(draw, before, seeded(seed)) for seed in range(400)), n=20)
        rows.append([name, f"{cuts[9]:,.0f}", f"{cuts[18]:,.0f}"])
    return rows


SEGMENTS = {
    "desktop": (0.70, 0.50, (0.35, 0.62)),
    "phone": (0.27, 0.40, (0.52, 0.30)),
    "tablet": (0.03, 0.45, (0.40, 0.60)),
}
"""Share of the visitors, what the default is worth, what the arms pay. Made up by us."""


WAYS = {
    "one account each": "each",
    "one account each, reserve 5": "each, reserve",
    "one for all, without contexts": "all",
    "one for all, with contexts": "all, contexts",
}


def segment_agents(way: str, alpha: float, seed: int) -> list[sf.GenCB]:
    """Who plays for each segment: an agent each, or the same one for all."""
    if "each" in way:
        reserve = 5 if "reserve" in way else 0
        floors = [
            sf.RewardFloor(worth, alpha, reserve=reserve) for _, worth, _ in SEGMENTS.values()
        ]
        return [sf.GenCB(sf.Thompson(2), floor, seed=seed) for floor in floors]
    linear = sf.LinTS(dim=2 * len(SEGMENTS), ridge=sf.Ridge(feature_bound=1))
    policy = linear if "contexts" in way else sf.Thompson(2)
    return [sf.GenCB(policy, sf.RewardFloor(None, alpha), seed=seed)] * len(SEGMENTS)


def visited(way: str, seed: int, visitors: int = 10_000, alpha: float = 0.05) -> Any:
    """One run: above always the default, least above a segment's floor, shares explored."""
    rng = np.random.default_rng(seed)
    shares, worth, pay = zip(*SEGMENTS.values(), strict=True)
    agents, rows = segment_agents(way, alpha, seed), np.eye(2 * len(SEGMENTS))
    visits, luck = rng.choice(len(SEGMENTS), visitors, p=shares), rng.random(visitors)
    gain, least, above, explored = 0.0, 0.0, [0.0] * len(SEGMENTS), [0] * len(SEGMENTS)
    for at, uniform in zip(visits.tolist(), luck.tolist(), strict=True):
        context = rows[2 * at : 2 * at + 2] if "contexts" in way else None
        play = agents[at].select(context=context, default=worth[at])
        reward = worth[at] if play.is_default else float(uniform < pay[at][play.index])
        agents[at].update(play, None if play.is_default else reward)
        explored[at] += not play.is_default
        gain += reward - worth[at]
        above[at] += reward - (1 - alpha) * worth[at]
        least = min(least, above[at])
    return gain, least, explored[-1] / np.count_nonzero(visits == len(SEGMENTS) - 1)


def promise_per_segment() -> Rows:
    """What one account each and one for all gain, and how far a segment falls below its floor."""
    rows = [["", "gain", "below", "explored"]]
    for name, way in WAYS.items():
        gain, least, share = np.array([visited(way, seed) for seed in range(20)]).T
        below = f"{abs(least.min()):,.1f}"
        rows.append([name, f"{gain.mean():,.0f}", below, f"{100 * share.mean():.0f} %"])
    return rows


PAGES: dict[str, Callable[[], Rows]] = {
    "promise": promise,
    "limits": limits,
    "base-path": base_path,
    "watch-the-default": watch_the_default,
    "promise-per-segment": promise_per_segment,
}


def lines(wanted: list[str]) -> Iterator[str]:
    """The tables of some pages, in Markdown."""
    for page in wanted:
        head, *rows = PAGES[page]()
        yield f"\n{page}\n"
        for row in (head, ["---"] * len(head), *rows):
            yield f"| {' | '.join(row)} |"


if __name__ == "__main__":
    asked = sys.argv[1:] or list(PAGES)
    if unknown := set(asked) - set(PAGES):
        raise SystemExit(f"{', '.join(sorted(unknown))}: no such page; choose {', '.join(PAGES)}")
    for line in lines(asked):
        print(line, flush=True)
