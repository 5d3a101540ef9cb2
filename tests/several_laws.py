"""An agent of several floors and its twin side by side, through any order of reports.

Measures come together or apart, late, twice or never, true or contradicting; the agent is saved and
loaded in the middle. The adversary knows what every account says.
"""

import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import surefoot as sf
from general_laws import between, case, one_default
from naive.account import Contradiction, rational
from naive.general import CostAccount, GeneralAccount
from naive.several import SeveralAccounts, weightiest
from surefoot.errors import PlayConflict

PLACES = 9
KINDS = ("tell", "expire", "void", "fall_back", "confirm")
WEIGHTS = (8, 4, 1, 1, 1)


class Sides:
    """Agent and twin: what is decided and reported goes to both."""

    def __init__(self, seed: int, outside: bool) -> None:
        self.rng, self.outside = random.Random(seed), outside
        names = self.rng.choice((("quality", "cost", "speed"), ("quality", "cost", "reward")))
        self.settings, self.range, self.interval = {}, {}, {}
        for name in names:
            self.interval[name] = self.rng.random() < 0.3
            costs = name == "cost"
            found = case(self.rng, costs, 2, PLACES, self.interval[name])
            self.settings[name], self.range[name] = found
            found[0]["reserve"] = self.rng.choice((20, 4, 0)[: 1 if poor(found[0], costs) else 3])
            found[0]["max_slack"] = enough(found[0], costs)
        floors = {
            name: (sf.CostCeiling if name == "cost" else sf.RewardFloor)(**settings)
            for name, settings in self.settings.items()
        }
        objective = {} if "reward" in names else {"objective_range": (0, 1)}
        self.agent = sf.GenCB(sf.UCB1(3), floors, seed=seed, default_competes=False, **objective)
        self.twin = SeveralAccounts(
            {
                name: (CostAccount if name == "cost" else GeneralAccount)(**settings)
                for name, settings in self.settings.items()
            }
        )
        self.truth: list[dict[str, Decimal]] = []

    def decide(self) -> None:
        """Some plays have no arm allowed, so that the default is played though it need not be."""
        own = {
            name: one_default(self.rng, *self.range[name], 2, self.interval[name])
            for name, settings in self.settings.items()
            if settings["default"] is None
        }
        for account in self.twin.accounts.values():
            account.forfeit()
        free = self.rng.random() < 0.85
        allows = self.twin.allows(own)
        play = self.agent.select(default=own or None, allowed=None if free else [])
        assert play.is_default is not (free and allows), self.agent.explain(play)
        assert play.id == self.twin.decide(not play.is_default, own)
        self.truth.append({name: self.drawn(name, play) for name in [*self.settings, "reward"]})

    def drawn(self, name: str, play: sf.Play) -> Decimal:
        """What the play pays, once and for all; the worst that was declared, or anything."""
        rng = self.rng
        low, high = self.range.get(name, (Decimal(0), Decimal(1)))
        default = self.twin.accounts[name].plays[-1].default if name in self.settings else None
        if play.is_default and isinstance(default, tuple):
            low, high = (Decimal(end.numerator) / end.denominator for end in default)
        told = [between(rng, low, high, 2), high if name == "cost" else low]
        if self.outside and name in self.settings:
            told += [high + 1, low - 1]
        return rng.choice(told)

    def report(self) -> None:
        """One report of a play, new or old, and what both make of it."""
        rng = self.rng
        explored = [n for n, play in enumerate(self.twin.plays) if play.explores]
        number = rng.choice((rng.randrange(len(self.truth)), *(explored[-3:] * 2)))
        kind = rng.choices(KINDS, WEIGHTS)[0]
        names = rng.sample([*self.settings], rng.randint(1, len(self.settings)))
        self.said = number, kind, names
        if kind == "tell":
            told = {name: self.truth[number][name] for name in names if name != "reward"}
            if rng.random() < 0.05 and told:
                told[min(told)] += Decimal("0.01")
            reward = self.truth[number]["reward"] if rng.random() < 0.5 else None
            if reward is None and not told and self.twin.plays[number].explores:
                return
            self.both(
                lambda: self.agent.update(number, reward, measures=told or None),
                lambda: self.twin.settle(number, told, reward).values(),
            )
        elif kind == "expire":
            some = rng.choice((None, names))
            args = () if some is None else (some,)
            self.both(
                lambda: self.agent.expire(number, *args),
                lambda: self.twin.expire(number, some).values(),
            )
        elif kind == "confirm":
            self.both(
                lambda: self.agent.acknowledge(number, names[0]),
                lambda: [self.twin.acknowledge(number, names[0])],
            )
        else:
            self.both(
                lambda: getattr(self.agent, kind)(number),
                lambda: [getattr(self.twin, kind)(number)],
            )

    def both(self, agent: Any, twin: Any) -> None:
        """A report to each, judged alike."""
        try:
            ours = str(agent())
        except PlayConflict:
            ours = "contradiction"
        try:
            theirs = weightiest(twin())
        except Contradiction:
            theirs = "contradiction"
        assert ours == theirs, (self.said, self.twin.states(self.said[0]))

    def save_and_load(self, path: Path) -> None:
        self.agent.save(path)
        self.agent = sf.load(path)

    def check(self) -> None:
        """Every account is its twin's, and every promise is kept."""
        for name, statement in self.agent.accounts.items():
            twin = self.twin.accounts[name]
            assert rational(statement.slack) == twin.available(), name
            assert rational(statement.held) == twin.held(), name
            assert statement.mismatches == twin.mismatches, name
            assert twin.breached or 0 <= twin.available() <= twin.promise(), name


def poor(settings: dict[str, Any], costs: bool) -> bool:
    """Whether no play could ever explore without a reserve, so that the agent refuses it."""
    if settings["default"] is None:
        return not settings["alpha"] and not settings["margin"]
    return not (CostAccount if costs else GeneralAccount)(**settings).terms().d


def enough(settings: dict[str, Any], costs: bool) -> Any:
    """The most slack that is kept; below what an exploration may lose it would be refused."""
    most = settings["max_slack"]
    if most is None or settings["default"] is None:
        return most
    hold = (CostAccount if costs else GeneralAccount)(**settings).terms().h
    return max(most, Decimal(hold.numerator) / hold.denominator)


def check(seed: int, path: Path, turns: int = 16) -> None:
    """One schedule, looked at after every event; every fifth breaks what was declared, too."""
    sides = Sides(seed, outside=seed % 5 == 4)
    for turn in range(2 * turns):
        if turn < turns:
            sides.decide()
            sides.check()
        for _ in range(sides.rng.choice((0, 1, 2))):
            sides.report()
            sides.check()
        if sides.rng.random() < 0.02:
            sides.save_and_load(path)
            sides.check()
