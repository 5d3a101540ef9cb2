"""Faults planted in the books of several floors: the schedules of ``several_laws`` find each."""

import pytest

from several_laws import check
from surefoot.errors import PlayConflict
from surefoot.floors.several_books import SeveralBooks


def left_out_of_the_gate(plant):
    """One account is not asked."""

    def affords(self, terms):
        asked = list(zip(self.all, terms.each, strict=True))[1:]
        return all(books.affords(own) for books, own in asked)

    plant(SeveralBooks, "affords", affords)


def held_for_one_floor_only(plant):
    """The others' accounts hear of the play, and hold nothing."""
    decide = SeveralBooks.decide

    def first(self, explores, terms):
        held = [books.account.held for books in self.all]
        number = decide(self, explores, terms)
        for books, was in list(zip(self.all, held, strict=True))[1:]:
            books.account.held = was
        return number

    plant(SeveralBooks, "decide", first)


def released_after_a_report(plant):
    """A void gives back what is still held of a play, though some of it was told."""
    whole = SeveralBooks.whole

    def released(self, play, report, reward=None):
        try:
            return whole(self, play, report, reward)
        except PlayConflict:
            rest = [books for books in self.all if books.plays.get(play).state == "open"]
            if report != "void" or not rest:
                raise
            return {books.measure: books.report(play, report) for books in rest}

    plant(SeveralBooks, "whole", released)


def booked_by_halves(plant):
    """What does not contradict is booked, whatever became of the rest of the report."""
    told = SeveralBooks.told

    def halves(self, play, reward, measures):
        try:
            return told(self, play, reward, measures)
        except PlayConflict:
            for name, value in measures.items():
                try:
                    told(self, play, None, {name: value})
                except PlayConflict:
                    continue
            raise

    plant(SeveralBooks, "told", halves)


def deposited_where_told(plant):
    """A default play brings its deposit to the floors that something was told to, and no other."""
    told = SeveralBooks.told

    def some(self, play, reward, measures):
        if self.plays.get(play).explores or not measures:
            return told(self, play, reward, measures)
        found = {name: self.books[name].settle(play, value) for name, value in measures.items()}
        return {**found, "reward": self.objective.settle(play, reward)}

    plant(SeveralBooks, "told", some)


FAULTS = [
    left_out_of_the_gate, held_for_one_floor_only, released_after_a_report, booked_by_halves,
    deposited_where_told,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::surefoot.errors.RewardOutOfRange")
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_the_schedules_find_the_fault(fault, monkeypatch, tmp_path):
    fault(monkeypatch.setattr)
    with pytest.raises(AssertionError):
        look(40, tmp_path / "agent.json")


def look(seeds, path):
    for seed in range(seeds):
        check(seed, path)
