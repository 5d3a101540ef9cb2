"""Faults planted in the general floor: the schedules of ``general_laws`` find each."""

import pytest

from general_laws import check_promise, check_table
from surefoot.floors import general
from surefoot.floors.events import Terms
from surefoot.floors.general import GeneralFloor
from surefoot.floors.reward_books import RewardBooks


def topped_up_above_the_end(plant):
    """A draw above u posts what u gives up, which is more than it does where both are below 0."""

    def paid(self, reward):
        if self.high is None or reward is None or self.fixed:
            return usual(self, reward)
        counted = min(reward, self.high)
        return self.given_up(counted), counted - self.given_up(counted)

    usual = Terms.paid
    plant(Terms, "paid", paid)


def deposit_of_the_lower_end(plant):
    """While a draw is not known, what l gives up is posted, though 0 lies between l and u."""

    def lower(ends, share):
        lost, whole, extra = share
        return (lost * abs(ends[0]) + extra) // whole

    plant(general, "least_given_up", lower)


def margin_not_for_explorations(plant):
    """The margin is credited for default plays and not allowed to explorations."""
    usual = GeneralFloor._floor_and_hold

    def asked(self, worth):
        lost, whole, extra = self._share
        self.__class__._share.__set__(self, (lost, whole, 0))
        found = usual(self, worth)
        self.__class__._share.__set__(self, (lost, whole, extra))
        return found

    plant(GeneralFloor, "_floor_and_hold", asked)


def counted_from_the_wrong_end(plant):
    """An exploration stands in for the worst draw of an interval, not for the best."""
    usual = GeneralFloor._floor_and_hold

    def asked(self, worth):
        ends = self.worth
        low = isinstance(ends, tuple) and self.against == "realised" and worth == ends[1]
        return usual(self, ends[0] if low else worth)

    plant(GeneralFloor, "_floor_and_hold", asked)


def forfeited_after_the_gate(plant):
    """What is above the most slack is given up once the gate has been asked."""
    plant(RewardBooks, "forfeit", lambda self: None)


FAULTS = {
    topped_up_above_the_end: check_table,
    deposit_of_the_lower_end: check_table,
    margin_not_for_explorations: check_table,
    counted_from_the_wrong_end: check_promise,
    forfeited_after_the_gate: check_table,
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_the_schedules_find_the_fault(fault, monkeypatch):
    fault(monkeypatch.setattr)
    with pytest.raises(AssertionError):
        look(FAULTS[fault], 60)


def look(check, seeds):
    for seed in range(seeds):
        check(seed, costs=False)
        check(seed, costs=True)
