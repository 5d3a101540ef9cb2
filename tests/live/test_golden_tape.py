"""Ledgers of fixed tapes, by their last hash: no rebuilding may change one entry of them.

Each tape drives live agents on a memory store, with a clock and a seed, through all that may happen
to one. What it was answered is part of its hash, but for the wording of errors.
"""

import hashlib
import itertools
import random
import secrets
import warnings

import numpy as np
import pytest

from learners import Counter
from surefoot import C2UCB, UCB1, GenCB, Live, Outcome, RewardFloor, TopK
from surefoot.errors import SurefootError
from surefoot.floors import Statement
from surefoot.live import Lease, MemoryStore
from surefoot.live.entries import GENESIS, chained
from surefoot.live.play import LivePlay

ARMS = ["UA", "AA", "DL"]
PLAY = (
    "id", "arm", "index", "reason", "slack", "worst_case", "seq", "deadline", "shadow", "lease",
)  # fmt: skip
STATEMENT = ("slack", "held", "reserve", "earned", "plays", "explorations", "pending", "expired")


class Clock:
    """The time of the store, in microseconds, and of this process, in seconds."""

    def __init__(self):
        self.now = 1_700_000_000_000_000

    def __call__(self):
        self.now += 7
        return self.now

    def monotonic(self):
        return self.now / 1e6


def plain(answer):
    """What an answer says, whatever class it is of."""
    if isinstance(answer, LivePlay):
        return [str(getattr(answer, name)) for name in PLAY]
    if isinstance(answer, Statement):
        return [str(getattr(answer, name)) for name in STATEMENT]
    return answer


class Tape:
    """Live agents on one store, what they answered, and the plays that they gave out."""

    def __init__(self, clock, folder):
        self.clock, self.folder, self.rng = clock, folder, random.Random(11)
        self.store = MemoryStore(clock=clock)
        self.said, self.plays, self.number = [], [], 0

    def ask(self, work):
        """What a work answers; of an error its kind."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer = work()
        except SurefootError as error:
            answer = type(error).__name__
        self.said.append(repr(plain(answer)))
        return answer

    def decide(self, live, **options):
        """A play with or without an id, a repeat, or a conflict."""
        chance = self.rng.random()
        if chance < 0.6:
            self.number += 1
            options["id"] = f"v-{self.number}"
        elif chance < 0.7 and self.number:
            options["id"] = f"v-{self.rng.randint(1, self.number)}"
        play = self.ask(lambda: live.select(**options))
        if not isinstance(play, str):
            self.plays.append(play)

    def report(self, live, rewards=(0, 0.25, 0.5, 1, 1.25), base=None, odds=0.06):
        """A report of any kind, of any play, by itself or by a name."""
        if not self.plays:
            return
        play = self.rng.choice(self.plays[-12:])
        name = self.rng.choice([play, play, play.id, play.id.partition(".")[0], "unknown"])
        how = self.rng.choice(["update"] * 6 + ["expire", "void", "fall_back", "acknowledge"])
        if how != "update":
            self.ask(lambda: getattr(live, how)(name))
        elif base is not None and not play.is_default:
            self.ask(lambda: live.update(name, base_rewards=base()))
        else:
            odd = self.rng.random() < odds
            reward = self.rng.choice([-0.75, 1.75, "much"] if odd else [*rewards, None])
            if self.ask(lambda: live.update(name, reward)) is Outcome.CAPPED and odd:
                self.ask(lambda: live.acknowledge(name))

    def ends(self, account="default"):
        """The account's last hash and number, and the hash of all answers."""
        row = self.store.account(account)
        said = hashlib.sha256("\n".join(self.said).encode()).hexdigest()
        return row.seq, row.head[:16], said[:16]

    def without(self, name, account="default"):
        """The last hash if no decision had said what goes by a name."""
        head = GENESIS
        for entry in self.store.entries(account):
            fields = entry._asdict()
            del fields["hash"]
            payload = {key: part for key, part in entry.payload.items() if key != name}
            head = chained(**(fields | {"payload": payload, "prev": head})).hash
        return head[:16]


def reports(tape):
    """All reports, with windows, late rewards, and base rates that are no base rewards."""
    floor = RewardFloor(0.5, 0.25, reward_range=(-0.5, 1.5), reserve=30)
    agent = GenCB(UCB1(arms=ARMS), floor, seed=3)
    live = Live(agent, tape.store, reward_window=0.01)
    for turn in range(400):
        tape.decide(live, allowed=["UA", "DL"] if turn % 7 == 0 else None)
        for _ in range(tape.rng.randint(0, 2)):
            tape.report(live)
        if turn % 9 == 0:
            tape.clock.now += tape.rng.randint(0, 12_000)
            tape.ask(live.reap)
        if turn % 40 == 0:
            tape.ask(lambda: live.account)
            tape.ask(lambda: live.play(tape.plays[-1].id))
    live.close()


def changes(tape):
    """Every change of a running experiment, by two agents that take turns, one recovered."""
    agent = GenCB(UCB1(arms=ARMS), RewardFloor(0.5, 0.25, reserve=20), seed=4)
    lives = [Live(agent, tape.store), Live(None, tape.store)]
    works = [
        lambda live: live.pause(),
        lambda live: live.resume(),
        lambda live: live.change(alpha=0.125),
        lambda live: live.change(default=0.4, reward_window=0.02),
        lambda live: live.change(shadow=True),
        lambda live: live.change(shadow=False, learn_missing="skip"),
        lambda live: live.change(reserve=1),
        lambda live: live.add_reserve(1, id="r-1"),
        lambda live: live.add_reserve(2, id="r-1"),
        lambda live: live.withdraw_reserve("0.5", id="r-2"),
        lambda live: live.withdraw_reserve(1000),
        lambda live: live.withdraw_reserve(1),
        lambda live: live.add_arms(["WN", "UA"]),
        lambda live: live.remove_arms(["AA"]),
        lambda live: live.add_arms(["AA"]),
        lambda live: live.select(allowed=["AA", "WN"]),
    ]
    for turn in range(400):
        live = lives[turn % 2]
        tape.decide(live)
        tape.report(live)
        if turn % 3 == 0:
            tape.ask(lambda: tape.rng.choice(works)(live))  # noqa: B023
        if turn % 50 == 0:
            lives[1].close()
            lives[1] = Live(None, tape.store)
            tape.ask(lambda: lives[1].config)
            tape.clock.now += 15_000
            tape.ask(live.reap)
    for live in lives:
        live.close()


def defaults(tape):
    """Defaults of each play's own, intervals among them, on an account that two share."""
    floor = RewardFloor(None, 0.25, reward_range=(-0.5, 1.5), reserve=40)
    one = Live(GenCB(UCB1(3), floor, seed=5), tape.store, "one", account="shop")
    two = Live(GenCB(Counter(3), RewardFloor(0.5, 0.25), seed=6), tape.store, "two", account="shop")
    for _ in range(300):
        tape.decide(one, default=tape.rng.choice([0.25, 0.5, (0.25, 0.75), 0.75]))
        tape.report(one)
        tape.decide(two, context=[tape.rng.randint(0, 3), 0.5])
        tape.report(two)
    one.close()
    two.close()


def super_arms(tape):
    """Super arms, which learn from base rewards; a fixed random default."""
    X = np.eye(4)
    floor = RewardFloor(
        (0.5, 0.75), 0.25, reward_range=(0, 2), against="fixed", target=0.6, reserve=25
    )
    live = Live(
        GenCB(C2UCB(base_arms=X, oracle=TopK(2)), floor, seed=8), tape.store, reward_window=1
    )
    for _ in range(150):
        tape.decide(live)
        tape.report(live, (0.5, 0.6, 0.75), lambda: [tape.rng.choice([0, 0.5, 1]), 0.5])
    live.close()


def leases(tape):
    """Two workers under leases, who share ids, report each other's plays, and die."""
    floor = RewardFloor(0.5, 0.25, reward_range=(-0.5, 1.5), reserve=60)
    agent = GenCB(UCB1(arms=ARMS), floor, seed=7, default_competes=False)

    def opened(who, given=None):
        lease = Lease(tape.folder / who, plays=6, seconds=0.5, owner=who, boot="b")
        return Live(given, tape.store, lease=lease, reward_window=0.02)

    lives = [opened("a", agent), opened("b")]
    for turn in range(600):
        at = turn % 2
        live = lives[at]
        tape.decide(live)
        tape.report(lives[tape.rng.randint(0, 1)], odds=0.01)
        if turn % 5 == 0:
            same = f"s-{turn}"
            for each in lives:
                tape.ask(lambda: each.select(id=same).arm)  # noqa: B023
        if turn % 20 == 0:
            tape.clock.now += 600_000 if turn % 120 == 0 else tape.rng.randint(0, 30_000)
            tape.ask(live.reap)
        if turn % 75 == 74:
            live._worker.abandon()
            lives[at] = opened("ab"[at])
        if turn % 100 == 50:
            tape.ask(lambda: live.account)  # noqa: B023
            tape.ask(lambda: live.change(alpha=tape.rng.choice([0.25, 0.5])))  # noqa: B023
        if turn % 150 == 140:
            tape.ask(lambda: live.add_arms(["WN"]))  # noqa: B023
    for live in lives:
        live.close()


TAPES = {
    reports: (741, "7edde743c14be75e", "6f17fb3e18ca0f90"),
    changes: (678, "2dbb6995ce43e955", "32e3b64238bf662b"),
    defaults: (710, "3c7b38ac0e129188", "7ea3951dd4c68001"),
    super_arms: (214, "e6d3d60111541b44", "625ff15e1c64a689"),
    leases: (1423, "e7d7de6ab4e5c138", "49008882d94f177d"),
}


BEFORE_PROPENSITIES = {
    reports: "c506732e83f06165",
    changes: "5dc061d84e910185",
    defaults: "5eef4b5bd7be06ab",
    super_arms: "e6d3d60111541b44",
    leases: "515d28fced520796",
}
"""The last hashes of releases whose decisions did not say their propensity."""


@pytest.mark.parametrize("tape", TAPES, ids=lambda tape: tape.__name__)
def test_a_tape_has_the_ledger_that_it_always_had(tape, tmp_path, monkeypatch):
    clock, names = Clock(), itertools.count()
    monkeypatch.setattr(secrets, "token_hex", lambda size: f"{next(names):0{2 * size}x}")
    monkeypatch.setattr("surefoot.live.flushing.monotonic", clock.monotonic)
    played = Tape(clock, tmp_path)
    tape(played)
    account = "shop" if tape is defaults else "default"
    assert played.without("propensity", account) == BEFORE_PROPENSITIES[tape]
    assert played.ends(account) == TAPES[tape]
