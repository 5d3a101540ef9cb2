"""The settings of linear policies: what is refused, what warns, what they mean."""

import math
import re

import pytest

from surefoot.errors import InvalidInput
from surefoot.policies import C2UCB, LinUCB

MAKES = {
    "LinUCB": lambda **settings: LinUCB([[2, 0]], **settings),
    "C2UCB": lambda **settings: C2UCB([[2, 0]], lambda w: [0], **settings),
}


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"theta_bound": -1}, "theta_bound = -1 must be >= 0"),
            ({"theta_bound": math.nan}, "theta_bound must be finite"),
            ({"noise": 0}, "noise = 0 must be > 0"),
            ({"noise": "1"}, "noise must be a number"),
            ({"feature_bound": math.inf}, "feature_bound must be finite"),
            ({"feature_bound": 1}, "feature_bound = 1"),
            ({"ridge": 0}, "ridge = 0 must be > 0"),
            ({"ridge": -2}, "ridge = -2 must be > 0"),
            ({"radius": None}, "radius = None must be one of ('paper', 'determinant')"),
        ],
    )
    def test_that_are_none_are_named(self, make, settings, message):
        with pytest.raises(InvalidInput, match=re.escape(message)):
            make(**settings)

    def test_ridge_is_the_least_the_paper_allows_and_a_smaller_one_warns(self, make):
        assert make().ridge == 4.0
        assert make(feature_bound=3).ridge == 9.0
        with pytest.warns(UserWarning, match=r"ridge = 3\.9 is below .* = 4"):
            policy = make(ridge=3.9)
        assert policy.ridge == 3.9

    def test_the_determinant_radius_is_never_the_wider_one(self, make):
        one, other = make(), make(radius="determinant")
        for m in range(1, 20):
            assert other.beta(m) <= one.beta(m)
            for policy in (one, other):
                arm = policy.select(None, None)
                policy.update(arm, 1.0 if policy.numbered else (1.0,), None)

    def test_noise_scales_the_first_term_alone(self, make):
        wide, narrow = make(theta_bound=3), make(theta_bound=3, noise=0.5)
        assert math.isclose(wide.beta(5) - 6, 2 * (narrow.beta(5) - 6))
