"""Measure for ``docs/explanation/evidence.md`` how often the intervals hold, and how wide they are.

    uv run scripts/calibrate_arms.py [--runs 1000] [arms | uplift | weights] ...

prints Markdown tables for each word, by default for all, in under ten minutes of CPU at 1,000 runs.
Seeds are fixed, so equal versions print equal numbers. Each run is a real agent whose policy
learns, looked at through ``arms()`` and ``uplift()`` some twenty times; it holds if it holds at
each look.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import partial
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

import surefoot as sf
from surefoot.floors import odds

SEED = 20261130
DELTA = 0.05
LATE = 60
"""How many plays later a reward of 1 is told, where zeros come first."""
HELD = 0.1
Policies = dict[str, Callable[[int], Any]]
POLICIES: Policies = {
    "UCB1": sf.UCB1, "KL-UCB": sf.KLUCB, "Thompson": sf.Thompson,
    "epsilon": partial(sf.EpsilonGreedy, epsilon=0.2),
}  # fmt: skip


class World(NamedTuple):
    """One line of a table."""

    policy: str
    means: tuple[float, ...]
    default: float
    late: bool = False
    """Zeros are told at once, ones ``LATE`` plays later."""
    lost: float = 0.0
    """The share of the ones that are never told."""

    @property
    def story(self) -> str:
        """What befalls the reports."""
        parts = ["zeros first"] * self.late + [f"{self.lost:.0%} of the ones lost"] * bool(
            self.lost
        )
        return ", ".join(parts) or "told at once"


class Reports:
    """Tells an agent its rewards as a world says."""

    def __init__(self, agent: Any, world: World, seed: int) -> None:
        self.agent, self.world = agent, world
        self.luck = np.random.default_rng([SEED, seed])
        self.out: list[tuple[int, Any]] = []
        self.told: list[tuple[int, int]] = []
        """Arm and reward as they arrived."""

    def play(self, t: int) -> Any:
        """Make play t and tell what is due."""
        agent, world = self.agent, self.world
        play = agent.select()
        mean = world.default if play.is_default else world.means[play.index]
        paid = int(self.luck.random() < mean)
        if paid and not play.is_default and self.luck.random() < world.lost:
            agent.expire(play)
        elif paid and world.late:
            self.out.append((t + LATE, play))
        else:
            self._tell(play, paid)
        while self.out and self.out[0][0] <= t:
            self._tell(self.out.pop(0)[1], 1)
        return play

    def _tell(self, play: Any, paid: int) -> None:
        self.agent.update(play, reward=paid)
        self.told.append((play.index, paid))


def looks(plays: int) -> set[int]:
    """Some twenty plays to look after, dense at the start."""
    return {*np.unique(np.geomspace(10, plays, 22).astype(int)).tolist()}


def held_arms(world: World, plays: int, seed: int) -> tuple[bool, bool]:
    """Whether arm 0's interval held at each look; and whether one fed as rewards arrive did."""
    agent = sf.Plain(POLICIES[world.policy](len(world.means)), sf.RewardFloor(0.5, 0.5), seed)
    reports, when = Reports(agent, world, seed), looks(plays)
    holds, naive, mean = True, True, world.means[0]
    for t in range(1, plays + 1):
        reports.play(t)
        if t in when:
            row = agent.arms(DELTA)[0]
            assert row.low is not None
            assert row.high is not None
            holds = holds and row.low <= mean <= row.high
            if naive and (world.late or world.lost):
                arrived = odds.Sequence(0, 1000)
                arrived.take_many([1000 * x for arm, x in reports.told if arm == 0])
                half = Fraction(str(DELTA)) / 2
                low, high = arrived.ends(half, half)
                naive = low <= 1000 * mean <= high
    return holds, naive


def arms_table(runs: int, spread: Any) -> Iterator[str]:
    """How often ``arms()`` holds."""
    yield "| policy, means | reports | holds | fed as they arrive |"
    yield "| --- | --- | --- | --- |"
    for world in (
        World("UCB1", (0.5, 0.5), 0.5),
        World("Thompson", (0.05, 0.1), 0.5),
        World("KL-UCB", (0.4, 0.6), 0.5, late=True),
        World("UCB1", (0.5, 0.5), 0.5, lost=0.5),
        World("UCB1", (0.4, 0.5), 0.5, late=True, lost=0.5),
    ):
        found = list(spread(partial(held_arms, world, 500), range(runs)))
        naive = sum(bad for _, bad in found) / runs if world.late or world.lost else None
        yield (
            f"| {world.policy}, {means(world.means)} | {world.story} | "
            f"{sum(one for one, _ in found) / runs:.3f} | "
            f"{'' if naive is None else f'{naive:.3f}'} |"
        )
    yield ""
    yield "| rate, 1,000 plays | width | of the sequence taken one by one | normal, one moment |"
    yield "| --- | --- | --- | --- |"
    for rate in (0.5, 0.05, 0.005):
        yield width_line(rate)


def width_line(rate: float) -> str:
    """The width of an arm's interval after 1,000 plays."""
    agent, sequence = sf.Plain(sf.UCB1(1)), odds.Sequence(0, 10**9)
    for i in range(1_000):
        paid = int((i + 1) * rate + 1e-9) - int(i * rate + 1e-9)
        agent.update(agent.select(), reward=paid)
        sequence.take(paid * 10**9)
    row, half = agent.arms(DELTA)[0], Fraction(str(DELTA)) / 2
    assert row.low is not None
    assert row.high is not None
    low, high = sequence.ends(half, half)
    normal = 2 * 1.96 * sqrt(rate * (1 - rate) / 1_000)
    width = row.high - row.low
    return f"| {rate:g} | {width:.4f} | {width / ((high - low) / 1e9):.2f} | {normal:.4f} |"


def gain(agent: Any, world: World) -> float:
    """What the play to come brings on average over the default, were it not held out."""
    policy, terms = agent.policy, agent.floor.terms()
    if agent.gate == "account" and not agent.books.affords(terms):
        return 0.0
    rival = agent.default_score(terms) if agent.default_competes else None
    if isinstance(policy, sf.EpsilonGreedy):
        turn = policy.turns + 1
        parts = [(policy.chance(turn, k, rival), mean) for k, mean in enumerate(world.means)]
        return sum(p * (mean - world.default) for p, mean in parts)
    arm, score = policy.peek(policy.turns + 1)
    return 0.0 if rival is not None and not score > rival else world.means[arm] - world.default


def held_uplift(world: World, guarded: bool, plays: int, seed: int) -> tuple[bool, bool, float]:
    """Whether the running uplift was inside at each look, whether in a normal interval; width."""
    policy = POLICIES[world.policy](len(world.means))
    floor = sf.RewardFloor(world.default, 0.1)
    agent: Any = sf.Plain(policy, floor, seed, holdout=HELD)
    if guarded:
        agent = sf.GenCB(policy, floor, seed, default_competes=False, holdout=HELD)
    reports, when = Reports(agent, world, seed), looks(plays)
    running, holds, normal, width = [0.0], True, True, 0.0
    for t in range(1, plays + 1):
        running.append(running[-1] + gain(agent, world))
        reports.play(t)
        if t in when:
            found = agent.uplift(DELTA)
            if found.plays:
                mean = running[found.plays] / found.plays
                holds = holds and found.low <= mean <= found.high
                normal = normal and abs(found.mean - mean) <= 1.96 * deviation(agent)
            width = found.high - found.low
    return holds, normal, width


def deviation(agent: Any) -> float:
    """The standard error of the estimate, as at one moment that was chosen beforehand."""
    books = agent.tally.gain
    end, n, share = books.ends[0], books.plays, Fraction(agent.holdout)
    mean = end.total(share) / n
    return sqrt(max(float(end.squares(share) / n - mean**2), 0.0) / n) / 1e9


def uplift_table(runs: int, spread: Any) -> Iterator[str]:
    """How often ``uplift()`` holds."""
    yield "| policy, means, default | reports | holds | the normal interval, looked at as often |"
    yield "| --- | --- | --- | --- |"
    for world, guarded in (
        (World("UCB1", (0.5, 0.5), 0.5), False),
        (World("UCB1", (0.3, 0.7), 0.5), True),
        (World("epsilon", (0.05, 0.1), 0.05), False),
        (World("KL-UCB", (0.4, 0.6), 0.5, late=True), True),
        (World("UCB1", (0.5, 0.5), 0.5, lost=0.5), False),
    ):
        found = list(spread(partial(held_uplift, world, guarded, 1_000), range(runs)))
        name = f"{'guarded ' * guarded}{world.policy}"
        yield (
            f"| {name}, {means(world.means)}, {world.default:g} | {world.story} | "
            f"{sum(one for one, _, _ in found) / runs:.3f} | "
            f"{sum(one for _, one, _ in found) / runs:.3f} |"
        )
    yield ""
    yield "| rate, 10,000 plays, a tenth held out | width | of the normal one |"
    yield "| --- | --- | --- |"
    for rate in (0.5, 0.1, 0.05):
        world = World("UCB1", (rate, rate), rate)
        _, _, width = held_uplift(world, False, 10_000, 0)
        normal = 2 * 1.96 * sqrt(rate * (1 - rate) * (1 / 1_000 + 1 / 9_000))
        yield f"| {rate:g} | {width:.4f} | {width / normal:.2f} |"


def weighed(name: str, held: float | None, seed: int) -> float:
    """An inverse-propensity estimate of the default's worth, less the truth, from one run."""
    make: Policies = {**POLICIES, "KL-MS": sf.KLMS}
    floor = sf.RewardFloor(0.45, 0.5, reserve=100)
    policy = make[name](3)
    agent = sf.GenCB(policy, floor, seed, holdout=held)
    luck, means_, off = np.random.default_rng([SEED, seed]), (0.2, 0.5, 0.6), 0.0
    for _ in range(30):
        turn = policy.turns + 1
        possible = [
            k
            for k in (-1, 0, 1, 2)
            if policy.chance(turn, k, 0.45) > 0 or (k < 0 and held is not None)
        ]
        truth = sum((0.45 if k < 0 else means_[k]) - 0.3 for k in possible)
        play = agent.select()
        paid = float(luck.random() < (0.45 if play.is_default else means_[play.index]))
        agent.update(play, reward=paid)
        assert play.propensity is not None
        off += ((paid - 0.3) / play.propensity - truth) / 30
    return off


def weights_table(runs: int, spread: Any) -> Iterator[str]:
    """Whether inverse propensities are unbiased."""
    yield "| logged by | off the truth | standard error |"
    yield "| --- | --- | --- |"
    for name, held in (("epsilon", None), ("KL-MS", None), ("epsilon", HELD), ("KL-MS", HELD)):
        off = np.array(list(spread(partial(weighed, name, held), range(runs))))
        more = f" and a holdout of {held}" if held else ""
        yield f"| {name}{more} | {off.mean():+.4f} | {off.std() / sqrt(runs):.4f} |"


def means(values: Sequence[float]) -> str:
    """Some means as a table shows them."""
    return " and ".join(f"{value:g}" for value in values)


TABLES = {"arms": arms_table, "uplift": uplift_table, "weights": weights_table}


def main(given: Sequence[str]) -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__, prog="calibrate_arms.py")
    parser.add_argument("tables", nargs="*", help=", ".join(TABLES))
    parser.add_argument("--runs", type=int, default=1_000)
    asked = parser.parse_args(given)
    unknown = [name for name in asked.tables if name not in TABLES]
    if unknown:
        parser.error(f"{unknown[0]!r} is none of {', '.join(TABLES)}")
    with ProcessPoolExecutor() as pool:
        spread = partial(pool.map, chunksize=max(1, asked.runs // 20))
        for name in asked.tables or TABLES:
            print(f"\n{name}\n")
            for line in TABLES[name](asked.runs, spread):
                print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
