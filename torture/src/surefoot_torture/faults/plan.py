"""What one seed stands for: floors, policies, and how bad the world around them is."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from surefoot.agents import GenCB
from surefoot.floors import RewardFloor
from surefoot.policies import KLUCB, UCB1
from surefoot_torture.faults.judge import Known, Promise

WINDOW = 60.0
"""A reward window, in seconds of the simulation; delays are up to ten of it."""

RANGES = (("0", "1"), ("-1", "1.5"))
ALPHAS = ("0.05", "0.1", "0.25", "0.3", "0.5", "0.6")
DEFAULTS = ("0.1", "0.3", "0.5", "0.7")
INTERVALS = (("0.3", "0.6"), ("0.25", "0.5"), ("0.7", "0.7"))
LEVELS = (("0.5", "0.6"), ("0.45", "0.8"))
OWN = ("0.51234567", "0.4", "0", "0.7", ("0.25", "0.5"))
RESERVES = ("0", "0", "0.5", "1", "3")

Text = str | tuple[str, str] | None


class Balked(Exception):
    """What a user's own policy raises."""


class Dice:
    """A policy of a user's own: draws an arm, keeps what it was told, and balks at times."""

    def __init__(self, n_arms: int) -> None:
        self.n_arms = n_arms
        self.told: list[Any] = []
        self.drawn = 0

    def select(self, context: Any, rng: Any) -> int:
        """Draw an arm."""
        drawn = int(rng.integers(20 * self.n_arms))
        self.drawn += 1
        if drawn == 0:
            raise Balked("select")
        return drawn % self.n_arms

    def update(self, arm: Any, reward: Any, context: Any) -> None:
        """Keep a reward."""
        self.told = [*self.told[-3:], arm, reward]
        if reward > 0.95:
            raise Balked("update")

    def state(self) -> Any:
        """JSON-able state."""
        return {"told": self.told, "drawn": self.drawn}

    def restore(self, state: Any) -> None:
        """The inverse of ``state``."""
        self.told, self.drawn = list(state["told"]), state["drawn"]


class Setup:
    """One experiment: its floor in force, and how to make its agent."""

    def __init__(self, name: str, rng: random.Random, places: int | None) -> None:
        self.name, self.places = name, places
        self.kind = rng.choice(("constant", "constant", "per play", "realised", "fixed"))
        self.alpha = rng.choice(ALPHAS[2:] if self.kind == "fixed" else ALPHAS)
        self.range = rng.choice(RANGES)
        self.reserve = rng.choice(RESERVES)
        self.default: Text = None
        self.target: str | None = None
        if self.kind == "constant":
            self.default = rng.choice(DEFAULTS)
        elif self.kind == "realised":
            self.default = rng.choice(INTERVALS)
        elif self.kind == "fixed":
            self.default = rng.choice(LEVELS)
            self.target = rng.choice((None, "0.55")) if self.default == LEVELS[0] else "0.6"
            self.alpha = rng.choice(("0.25", "0.3", "0.5"))
        self.policy = rng.choice(("ucb1", "ucb1", "klucb", "dice"))
        self.competes = False if self.policy == "dice" else rng.choice((False, False, True))
        self.shadow = rng.random() < 0.05
        self.seed = rng.randrange(1000)
        self.holdout = ("0.2", None, None)[self.seed % 3]
        self.arms, self.fewer = 2, False
        """How many arms there ever were, and whether one was removed."""
        self.opened = dict(vars(self))
        """As it was before any change."""

    def own(self, rng: random.Random) -> Text:
        """The default that a play brings, or None."""
        if self.kind == "per play" or (self.kind == "constant" and rng.random() < 0.1):
            return rng.choice(OWN)
        return None

    def promise(self) -> Promise:
        """What holds, for the judge."""
        low, high = map(Fraction, self.range)
        target = None if self.target is None else Fraction(self.target)
        return Promise(
            known(self.default), Fraction(self.alpha), low, high, self.kind == "fixed", target
        )

    def agent(self, n_arms: int = 2) -> GenCB:
        """A fresh agent, as the experiment was opened with, but for the arms that came later."""
        said = self.opened
        against = "fixed" if said["kind"] == "fixed" else "realised"
        target = None if said["target"] is None else Decimal(said["target"])
        floor = RewardFloor(
            decimals(said["default"]), Decimal(said["alpha"]), decimals(said["range"]),
            Decimal(said["reserve"]), self.places, against, target,
        )  # fmt: skip
        policy: Any = {"ucb1": UCB1, "klucb": KLUCB, "dice": Dice}[self.policy](n_arms)
        holdout = None if self.holdout is None else Decimal(self.holdout)
        return GenCB(policy, floor, self.seed, self.competes, holdout=holdout)

    def change(self, rng: random.Random) -> dict[str, Any]:
        """Settings that another moment brings, for ``Live.change``; call ``took`` if they came."""
        if self.kind == "constant" and rng.random() < 0.4:
            return {"default": rng.choice(DEFAULTS)}
        if self.policy != "dice" and rng.random() < 0.3:
            return {"learn_missing": rng.choice(("worst", "skip"))}
        if self.policy == "dice" and self.kind != "fixed" and rng.random() < 0.5:
            return {"reward_range": rng.choice(RANGES)}
        return {"alpha": rng.choice(("0.25", "0.3", "0.5") if self.kind == "fixed" else ALPHAS)}

    def took(self, settings: dict[str, Any]) -> Promise:
        """The promise after a change."""
        self.default = settings.get("default", self.default)
        self.range = settings.get("reward_range", self.range)
        self.alpha = settings.get("alpha", self.alpha)
        return self.promise()


class Plan(NamedTuple):
    """One schedule."""

    setups: list[Setup]
    workers: int
    clients: int
    decisions: int
    window: float | None
    loss: float
    doubled: float
    late: float
    trouble: float
    """How many faults, crashes, jumps and changes come for each decision."""
    snapshots: int
    """How many entries lie between two snapshots."""
    lease: tuple[int, float, bool] | None = None
    """The plays and seconds of leases, and whether journals are synced; None: there are none."""
    apart: bool = False
    """Whether each worker is on a machine of its own."""
    roams: bool = False
    """Whether clients ask for one id at several workers that have leases."""


def planned(rng: random.Random, size: tuple[int, int], leases: bool = False) -> Plan:
    """Draw a schedule; ``size``: the least and the most decisions, short ones more often."""
    plan = _planned(rng, size)
    if not leases:
        return plan
    for setup in plan.setups:
        setup.reserve = setup.opened["reserve"] = rng.choice(("1", "3", "10"))
    terms = rng.choice((2, 5, 20)), WINDOW * rng.choice((0.5, 2, 20)), rng.random() < 0.25
    return plan._replace(lease=terms, apart=rng.random() < 0.5, roams=rng.random() < 0.5)


def _planned(rng: random.Random, size: tuple[int, int]) -> Plan:
    least, most = size
    places = rng.choice((None, None, 2, 3))
    count = rng.choice((1, 1, 1, 2, 3))
    calm = rng.random() < 0.1
    return Plan(
        setups=[Setup(f"e{number}", rng, places) for number in range(count)],
        workers=rng.randint(1, 3),
        clients=rng.randint(1, 4),
        decisions=least + int((most - least) * rng.random() ** 2),
        window=rng.choice((None, WINDOW, WINDOW)),
        loss=0.0 if calm else 0.1,
        doubled=0.2,
        late=0.2,
        trouble=0.0 if calm else rng.choice((0.1, 0.3, 0.6)),
        snapshots=rng.choice((5, 20, 100)),
    )


def decimals(text: Any) -> Any:
    """A number as the package takes it; a pair of them; or None."""
    if text is None:
        return None
    return tuple(map(Decimal, text)) if isinstance(text, tuple) else Decimal(text)


def known(text: Text) -> Known:
    """A default as the judge takes it."""
    if text is None:
        return None
    return (Fraction(text[0]), Fraction(text[1])) if isinstance(text, tuple) else Fraction(text)
