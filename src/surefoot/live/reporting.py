"""Report what plays brought: what a caller says, what it books, and the entries it becomes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from surefoot._exact import shown
from surefoot.errors import RewardOutOfRange, UnknownPlay
from surefoot.floors import Outcome
from surefoot.live.fold import Fold
from surefoot.live.given import Given
from surefoot.live.play import LivePlay
from surefoot.live.reports import Report, Told, needs_base, super_arm, worth_of
from surefoot.live.store.moves import ID

if TYPE_CHECKING:
    from surefoot.live.store import Tx
    from surefoot.live.store.base import PlayRow
    from surefoot.live.worker import Worker

T = TypeVar("T")


class Telling(NamedTuple):
    """A report as its caller makes it; ``how`` names the method of ``Report`` that books it."""

    how: str
    said: Told = Told(None, None)
    base_rewards: Any = None

    def told(self, fold: Fold, row: Any, given: Given) -> Told:
        """What it says of the reward; InvalidInput where base rewards are missing, or none."""
        actions = fold.agent._actions
        if self.base_rewards is not None:
            return super_arm(actions, row, given, self.said.reward, self.base_rewards)
        if self.how == "settle":
            needs_base(actions, row, given)
        return self.said


class Retelling(NamedTuple):
    """A report that was taken before, from its text."""

    how: str
    text: Any

    def told(self, fold: Fold, _: Any, given: Given) -> Told:
        """What it said of the reward."""
        if self.text is None:
            return Told(None, None)
        return Told(worth_of(fold.agent._actions, given)(self.text), self.text)


class Booked(NamedTuple):
    """What a report did to one play: the entries it takes, and the text it is known by."""

    outcome: Outcome
    report: Report
    text: Any


def book(fold: Fold, row: Any, given: Given, telling: Telling | Retelling) -> Booked:
    """Book a report of the play that a row stands for; changes nothing but the result."""
    told = telling.told(fold, row, given)
    window = fold.settings.reward_window is not None
    report = Report(fold.books.floor, row, given, worth_of(fold.agent._actions, given), window)
    call = getattr(report, telling.how)
    outcome = call(told) if telling.how == "settle" else call()
    return Booked(outcome, report, told.text)


class Reporting:
    """The reports of a ``Live``."""

    name: str
    degraded: str | None
    _worker: Worker | None
    _fold: Fold
    _current: Callable[[Tx], Fold]
    _run: Callable[[Callable[[Tx], Any]], Any]
    _check_process: Callable[[], None]
    _row: Callable[[Tx, str], Any]
    _entry: Callable[[Tx, int], Any]
    _version: Callable[[Tx, str, int], int]
    _take: Callable[[Any], None]
    _agrees: Callable[[Tx, str, Any], bool]
    _unlike: Callable[[str], Exception]

    def update(self, play: LivePlay | str, reward: Any = None, base_rewards: Any = None) -> Outcome:
        """Report what a play brought, or that the default was played; see ``GenCB.update``.

        An identical repeat changes nothing; what contradicts the books is a PlayConflict. Should
        the policy fail to learn the reward, it is booked all the same, and its error is raised.
        """
        told = Told.of(reward, named(play))
        outcome = self._report(play, Telling("settle", told, base_rewards))
        if outcome in (Outcome.BREACH, Outcome.CAPPED):
            _warn(named(play), outcome)
        return outcome

    def expire(self, play: LivePlay | str) -> Outcome:
        """No reward came in time: the worst is booked until the true reward arrives.

        It is taught as well, if ``learn_missing`` is "worst". In an experiment that has a reward
        window, a default play nobody has reported is forgotten until its report comes; in others
        it stays as it is.
        """
        return self._report(play, Telling("expire"))

    def void(self, play: LivePlay | str) -> Outcome:
        """The play was never made, for good; its hold is released."""
        return self._report(play, Telling("void"))

    def fall_back(self, play: LivePlay | str) -> Outcome:
        """An exploration was decided, but the default was played instead."""
        return self._report(play, Telling("fall_back"))

    def acknowledge(self, play: LivePlay | str) -> Outcome:
        """Confirm a reward above r_max, so that the rest of it is credited."""
        return self._report(play, Telling("acknowledge"))

    def _report(self, play: LivePlay | str, telling: Telling) -> Outcome:
        self._check_process()
        name = named(play)
        if self._worker is not None:
            name = name if isinstance(play, LivePlay) else self._worker.meant(name)
            early = self._worker.report(name, telling)
            if early is not None:
                return early

        def work(tx: Tx) -> tuple[Outcome, Exception | None, PlayRow | None]:
            self._current(tx).unlearnt = None
            row = self._row(tx, name)
            outcome = self._booked(tx, row, telling)
            return outcome, self._fold.unlearnt, tx.play(row.id)

        outcome: Outcome
        outcome, unlearnt, row = self._run(work)
        if self._worker is not None:
            self._worker.entered(name, row)
        if unlearnt is not None:
            raise unlearnt
        return outcome

    def _booked(self, tx: Tx, row: Any, telling: Telling | Retelling) -> Outcome:
        fold = self._current(tx)
        if not self._agrees(tx, row.id, row):
            raise self._unlike(row.id)
        given = fold.waiting.get(row.id) or fold.given(self._entry(tx, row.seq))
        return self._enter(tx, row, book(fold, row, given, telling))

    def _enter(self, tx: Tx, row: Any, booked: Booked) -> Outcome:
        """Append what a report of a play came to."""
        version = self._version(tx, row.experiment, row.seq)
        for event in booked.report.events:
            entry = tx.append(
                event.kind, experiment=row.experiment, play=row.id, d_posted=event.d_posted,
                d_held=event.d_held, payload=event.payload, config_version=version,
            )  # fmt: skip
            self._take(entry)
        return booked.outcome


_NAME = re.compile(rf"{ID}(\.{ID})?")


def named(play: Any) -> str:
    """The name of a play, given as such or by itself; UnknownPlay for what can be none."""
    name = play.id if isinstance(play, LivePlay) else play
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UnknownPlay(
            f"play {shown(play)} is no play of a live agent; report the play that select() "
            "returned, or its id, a string"
        )
    return name


def _warn(name: str, outcome: Outcome) -> None:
    if outcome is Outcome.CAPPED:
        meaning = "above the range: it counts as r_max until acknowledge(play)"
    else:
        meaning = "outside what was declared: it is booked, and may break the floor"
    warnings.warn(
        f"the reward of play {name} is {meaning}; rewards on another scale need "
        "RewardFloor(..., reward_range=(low, high))",
        RewardOutOfRange,
        stacklevel=3,
    )
