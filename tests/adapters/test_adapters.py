"""Every adapter passes the policy kit with the library it adapts."""

import pytest

from adapted import CASES, SCORING, cases
from surefoot.testing import PolicyKit, ScoringPolicyKit


class Kit:
    """A case for the kit."""

    @pytest.fixture(autouse=True)
    def _take(self, case):
        self.case = case
        self.unplayed_first = case.unplayed_first

    def make_policy(self):
        return self.case.make()

    def make_context(self, rng):
        return self.case.context(rng)

    def make_reward(self, arm, rng):
        return float(rng.integers(2)) if self.case.whole else super().make_reward(arm, rng)

    def test_it_learns_every_reward_of_its_range(self):
        if not self.case.whole:
            super().test_it_learns_every_reward_of_its_range()

    @pytest.mark.slow
    def test_its_propensities_are_those_of_its_draws_where_it_says_them(self):
        """Copied for each draw, which takes 10 ms here; test_base.py has it without copies."""
        super().test_its_propensities_are_those_of_its_draws_where_it_says_them()

    @pytest.mark.slow
    def test_open_plays_that_are_closed_leave_nothing_behind_where_it_counts_them(self):
        """Copied at each turn, too."""
        super().test_open_plays_that_are_closed_leave_nothing_behind_where_it_counts_them()


@pytest.mark.parametrize("case", cases(CASES))
class TestAdapters(Kit, PolicyKit):
    pass


@pytest.mark.parametrize("case", cases(SCORING))
class TestScoringAdapters(Kit, ScoringPolicyKit):
    pass
