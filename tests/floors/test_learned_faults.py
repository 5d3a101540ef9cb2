"""Faults planted in a learned default's books: the schedules of ``learned_laws`` find each."""

import pytest

from learned_laws import check
from surefoot.floors import feed, learned, learned_books
from surefoot.floors.feed import LOST, Feed
from surefoot.floors.learned_account import LearnedAccount, Standing
from surefoot.floors.learned_books import LearnedBooks


def rounded_at_each_play(plant):
    """The ends are any amounts, so that each play's f and e are rounded by themselves."""
    for module in (learned, learned_books):
        plant(module, "LATTICE", 1)


def floors_as_decided(plant):
    """Deposits are valued anew when an end moves, and floors are not."""

    class Kept(LearnedAccount):
        __slots__ = ("first",)

        def at(self, mu):
            now = super().at(mu)
            if mu not in self.ends:
                return now
            self.first = first = getattr(self, "first", self.ends)
            was = first[self.ends.index(mu)] if len(first) == len(self.ends) else mu
            moved = sum(s.settled * (c.floor(was) - c.floor(mu)) for c, s in self.sums.items())
            return Standing(now.available - moved, now.held, now.required)

    plant(learned_books, "LearnedAccount", Kept)


def least_against_largest(plant):
    """The least account is asked for the largest hold, which may be another end's."""

    def affords(self, curve):
        return min(self.at(mu).available for mu in self.ends) >= max(map(curve.hold, self.ends))

    plant(LearnedAccount, "affords", affords)


def one_end_asked(plant):
    """The gate asks the upper end only, where both count."""
    affords = lambda self, curve: self.at(self.ends[-1]).available >= curve.hold(self.ends[-1])  # noqa: E731
    plant(LearnedAccount, "affords", affords)


def fed_on_arrival(plant):
    """What is told is fed at once, before plays that were decided earlier."""
    tell = Feed.tell

    def first(self, play, fed):
        if self.waits(play):
            self._order.remove(play)
            self._order.appendleft(play)
        tell(self, play, fed)

    plant(Feed, "tell", first)


def lost_ones_skipped(plant):
    """A play that nobody told of is left out of the sequence."""
    tell = Feed.tell

    def skipped(self, play, fed):
        if fed == LOST and self.waits(play):
            self.leave_out(play)
        else:
            tell(self, play, fed)

    plant(Feed, "tell", skipped)


def late_truth_fed(plant):
    """What is told after the worst was fed in its place is fed, too."""
    tell = Feed.tell

    def both(self, play, fed):
        if play not in self.waiting:
            self.give(play)
        tell(self, play, fed)

    plant(Feed, "tell", both)


def fall_backs_fed(plant):
    """An exploration that fell back to the default feeds as a default play."""
    report = LearnedBooks.report

    def fed(self, play, kind, reward=None):
        outcome = report(self, play, kind, reward)
        if kind == "fall_back" and self.plays.get(play).explores and self.feed is not None:
            self.feed.give(play)
            self.feed.tell(play, (self.low,))
            self._advance()
        return outcome

    plant(LearnedBooks, "report", fed)


def widens(plant):
    """The ends are those of the latest look, wherever the ones before were."""

    def latest(side, y, offset, delta):
        return side.edge(delta, learned.LATTICE, offset)

    plant(learned_books, "_beyond", latest)


def goes_on_when_refuted(plant):
    """An interval of which nothing is left is taken up anew, and said to be one end's move."""
    revalue = LearnedBooks._revalue

    def forgiving(self, of):
        kept = self.feed
        revalue(self, of)
        self.feed = kept
        return True

    plant(LearnedBooks, "_revalue", forgiving)


def looked_at_always(plant):
    """The ends are looked at after every report."""
    plant(feed, "due", lambda n: True)


FAULTS = [
    rounded_at_each_play, floors_as_decided, least_against_largest, one_end_asked, fed_on_arrival,
    lost_ones_skipped, late_truth_fed, fall_backs_fed, widens, goes_on_when_refuted,
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_the_schedules_find_the_fault(fault, monkeypatch):
    fault(monkeypatch.setattr)
    with pytest.raises((AssertionError, ValueError)):  # a saved file may be refused first
        look(60)


def test_the_long_schedules_find_that_the_ends_are_looked_at_always(monkeypatch):
    looked_at_always(monkeypatch.setattr)
    with pytest.raises(AssertionError):
        look(8, turns=260, prompt=True)


def look(seeds, **how):
    for seed in range(seeds):
        check(seed, **how)
