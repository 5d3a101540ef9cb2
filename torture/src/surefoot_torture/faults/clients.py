"""The clients of a simulation: they ask, play, and tell what it brought; they never lie.

A client claims no play that it did not make. Else it may do anything: ask again, ask elsewhere,
give up and play the default on its own, report late, twice, in any order, or never.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from surefoot.errors import SurefootError, UnknownPlay
from surefoot.live.ids import leased_by
from surefoot_torture.faults.judge import Ack, Page
from surefoot_torture.faults.plan import WINDOW, Setup, decimals, known

if TYPE_CHECKING:
    from surefoot_torture.faults.world import World

PATIENCE = WINDOW / 4
"""After how many seconds without an answer a client asks again."""
TRIES = 4

_CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "reward": lambda live, play, reward: live.update(play, reward),
    "default": lambda live, play, reward: live.update(play, reward),
    "expire": lambda live, play, _: live.expire(play),
    "void": lambda live, play, _: live.void(play),
    "fall back": lambda live, play, _: live.fall_back(play),
    "acknowledge": lambda live, play, _: live.acknowledge(play),
}


class Visit:
    """One thing to be decided, from its first question to its last report."""

    def __init__(self, world: World, setup: Setup, name: str | None) -> None:
        self.world, self.setup, self.name = world, setup, name
        rng = world.rng
        self.own = setup.own(rng)
        self.allowed = [0] if setup.policy != "dice" and rng.random() < 0.05 else None
        settled = world.plan.lease is not None and not world.plan.roams
        self.home = rng.choice(world.workers) if settled else None
        """Whom it asks, where answers may be in one worker's journal only."""
        self.tries = 0
        self.spent = False
        """Whether the client has acted: it does so once."""
        self.claimed: Page | None = None
        """The play that it acted on, or may have."""

    def ask(self) -> None:
        """Ask any worker, and again if no answer comes."""
        self.tries += 1

        def request(live: Any) -> Any:
            return live.select(allowed=self.allowed, default=decimals(self.own), id=self.name)

        self.world.send(self.setup.name, request, self.answered, self.home)
        self.world.after(PATIENCE, self.unanswered, self.tries)

    def unanswered(self, tries: int) -> None:
        """No answer came in time."""
        if self.spent or tries != self.tries:
            return
        if tries < TRIES:
            self.ask()
            return
        self.spent = True
        if self.name is not None and self.world.rng.random() < 0.6:
            self.claimed = self._page(self.name)
            Reports(self.world, self.setup, self.name, self.claimed).blind()

    def answered(self, answer: Any) -> None:
        """A worker answered; perhaps not for the first time."""
        world, judge = self.world, self.world.judge
        if isinstance(answer, Exception):
            judge.wrong("wrong", f"select(id={self.name!r}) brought {answer!r}")
            return
        due = self.name if answer.lease is None else f"{self.name}.{answer.lease}"
        if self.name is not None and answer.id != due:
            judge.wrong("wrong", f"play {due} was answered as {answer.id}")
            return
        page = self._page(answer.id)
        first = page.answer is None
        if self.name is None and not first:
            judge.wrong("double", f"play {answer.id} was given to two clients")
            return
        world.told(judge.answered(page, answer))
        reports = Reports(world, self.setup, answer.id, page, self.name if self.home else None)
        if self.spent:
            if first and page is not self.claimed and world.rng.random() < 0.5:
                reports.report("void")  # another answer came first: never played
            return
        self.spent, self.claimed = True, page
        (reports.play_default if answer.is_default else reports.play_arm)()
        if reports.bare is not None and answer.lease is not None and world.rng.random() < 0.1:
            self._elsewhere(answer.lease)

    def _elsewhere(self, lease: str) -> None:
        """To a worker that did not decide it the bare id says too little: it is refused."""
        assert self.name is not None
        name, page = self.name, self._page(self.name)

        def request(live: Any) -> Any:
            if leased_by(lease, live._engine.owner):
                raise UnknownPlay("not asked here")
            return live.void(name)

        Reports(self.world, self.setup, name, page)._send("void", None, request, TRIES)

    def _page(self, play: str) -> Page:
        return self.world.judge.page(play, self.setup.name, known(self.own))


class Reports:
    """What a client does with a play that it was given, and what it tells of it."""

    def __init__(
        self, world: World, setup: Setup, play: str, page: Page, bare: str | None = None
    ) -> None:
        self.world, self.setup, self.play, self.page = world, setup, play, page
        self.bare = bare
        """What it was asked by, where one worker alone was asked."""

    def play_default(self) -> None:
        """Play the default, or nothing."""
        fate, world = self.world.rng.random(), self.world
        if fate < 0.88:
            self._make_default()
            self.report("default", self._own_reward() if world.rng.random() < 0.5 else None)
        elif fate < 0.93:
            self.report("void")

    def play_arm(self) -> None:
        """Play the arm, or the default instead, or nothing."""
        world = self.world
        fate = world.rng.random()
        if fate < 0.80:
            world.judge.made(self.page, "arm")
            world.after(world.delay() + world.rng.random() * WINDOW, self._paid)
            if fate < 0.08:
                self.report("expire")
        elif fate < 0.87:
            self.report("void")
        elif fate < 0.95:
            self._make_default()
            self.report("fall back")

    def blind(self) -> None:
        """No answer ever came: the default was played, which is told by the id alone.

        A play under a lease is called otherwise: then nobody is told of the default.
        """

        def request(live: Any) -> Any:
            found = live.play(self.play)
            if leased_by(found.lease, live._engine.owner):
                raise UnknownPlay("its client may have been answered, and will tell it by that")
            page, judge = self.page, self.world.judge
            if page.made is None and found.lease is None:
                if page.worth is None:
                    page.worth = judge.as_told(page, found)
                judge.made(page, "default")
            return live.fall_back(self.play)

        self._send("fall back", None, request, 1)

    def _make_default(self) -> None:
        self.world.judge.made(self.page, "default")
        if self.page.worth is not None and self.page.worth.upper is not None:
            self._own_reward()

    def _own_reward(self) -> Decimal | None:
        """What the default pays where it pays at random; it is there at once, told or not."""
        worth, judge = self.page.worth, self.world.judge
        assert worth is not None
        if worth.upper is None:
            return None
        if self.page.paid is None:
            units = self.world.rng.choice((worth.value, worth.upper))
            judge.paid(self.page, Fraction(units, 10**judge.places))
        assert self.page.paid is not None
        return decimal(self.page.paid)

    def _paid(self) -> None:
        """The arm pays: as an adversary would have it, mostly the worst."""
        rng, worth = self.world.rng, self.page.worth
        assert worth is not None
        scale, fate = 10**self.world.judge.places, rng.random()
        if fate < 0.5:
            units = worth.low
        elif fate < 0.65:
            units = worth.high
        elif fate < 0.75:
            units = min(worth.floor, worth.high)
        elif fate < 0.97:
            units = rng.randint(worth.low, worth.high) // (scale // 100) * (scale // 100)
        else:
            units = worth.high + scale // 2
        reward = Fraction(max(units, worth.low), scale)
        self.world.judge.paid(self.page, reward)
        if rng.random() < 0.92:
            self.report("reward", decimal(reward))

    def _given(self, live: Any) -> Any:
        """The play as it was answered, or what it is called; the id if it was not answered.

        As text, what is called by the bare id means another play to a worker that was asked first.
        """
        answer = self.page.answer
        if answer is not None and answer.lease is None and live._worker is not None:
            return answer
        return self.play if answer is None or self.world.rng.random() < 0.5 else answer

    def _name(self, live: Any) -> Any:
        """At the worker that decided it, at times, the id that it was asked by."""
        answer = self.page.answer
        ours = answer is not None and leased_by(answer.lease, live._engine.owner)
        if self.bare and ours:
            return self.bare if self.world.rng.random() < 0.5 else self._given(live)
        return self._given(live)

    def report(self, kind: str, reward: Decimal | None = None, tries: int = 1) -> None:
        """Tell it to any worker, and again if no answer comes."""
        self.page.reported.add(None if reward is None else Fraction(reward))
        self._send(kind, reward, lambda live: _CALLS[kind](live, self._name(live), reward), tries)

    def _send(
        self, kind: str, reward: Decimal | None, request: Callable[[Any], Any], tries: int
    ) -> None:
        answers: list[Any] = []
        known, leased = self.page.answer is not None, self.world.plan.lease is not None

        def back(answer: Any) -> None:
            if isinstance(answer, UnknownPlay) and (leased or not known):
                return  # nobody said that there was such a play; or another's journal has it
            answers.append(answer)
            self._acknowledged(kind, reward, answer, len(answers) == 1)

        def again() -> None:
            if not answers and tries < (3 * TRIES if leased else TRIES):
                self._send(kind, reward, request, tries + 1)

        self.world.send(self.setup.name, request, back)
        self.world.after(PATIENCE * tries, again)

    def _acknowledged(self, kind: str, reward: Any, answer: Any, first: bool) -> None:
        world = self.world
        refused = isinstance(answer, SurefootError)
        outcome = type(answer).__name__ if refused else str(answer)
        ack = Ack(kind, outcome, None if reward is None else Fraction(reward))
        self.page.acks.append(ack)
        world.told(ack)
        if not first or refused:
            return
        if outcome == "capped" and world.rng.random() < 0.7:
            self.report("acknowledge")
        elif world.rng.random() < 0.2:
            self._mischief(kind, reward)

    def _mischief(self, kind: str, reward: Any) -> None:
        """Reports that change nothing: repeats, and what comes too late."""
        rng = self.world.rng
        other = rng.choice(("same", "void", "expire", "fall back", "other"))
        if other == "same":
            self.report(kind, reward)
        elif self.world.plan.lease is not None:  # elsewhere it might be taken in good faith
            self._send("expire", None, lambda live: live.expire(self._given(live)), TRIES)
        elif kind == "reward":
            if other == "other":
                worth = self.page.worth
                assert worth is not None
                low, high = self._money(worth.low), self._money(worth.high)
                told = low if reward != low else high
                self._send("reward", told, lambda live: live.update(self._given(live), told), TRIES)
            else:
                call = _CALLS[other]
                self._send(other, None, lambda live: call(live, self._given(live), None), TRIES)
        elif kind == "void" and other != "void":
            self._send("expire", None, lambda live: live.expire(self._given(live)), TRIES)

    def _money(self, units: int) -> Decimal:
        return decimal(Fraction(units, 10**self.world.judge.places))


def decimal(value: Fraction) -> Decimal:
    """A fraction whose decimal text ends."""
    return Decimal(value.numerator) / Decimal(value.denominator)
