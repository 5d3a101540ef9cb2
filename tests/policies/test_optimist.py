"""The settings of linear policies: what is refused, what warns, what they mean."""

import math
import re

import pytest

from ridges import ridged
from surefoot.errors import InvalidInput
from surefoot.policies import C2UCB, LinUCB, Ridge

MAKES = {
    "LinUCB": lambda **settings: LinUCB([[2, 0]], **ridged(settings)),
    "C2UCB": lambda **settings: C2UCB([[2, 0]], lambda w: [0], **ridged(settings)),
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
            ({"penalty": 0}, "penalty = 0 must be > 0"),
            ({"penalty": -2}, "penalty = -2 must be > 0"),
            ({"radius": "x"}, "radius = 'x' must be one of 'paper', 'determinant'"),
        ],
    )
    def test_that_are_none_are_named(self, make, settings, message):
        with pytest.raises(InvalidInput, match=re.escape(message)):
            make(**settings)

    def test_ridge_is_the_least_the_paper_allows_and_a_smaller_one_warns(self, make):
        assert make().ridge == 4.0
        assert make(feature_bound=3).ridge == 9.0
        with pytest.warns(UserWarning, match=r"penalty = 3\.9 is below .* = 4"):
            policy = make(penalty=3.9)
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


@pytest.mark.parametrize("make", [LinUCB, lambda *a, **k: C2UCB(*a, lambda w: [0], **k)])
def test_the_old_form_means_the_same_for_one_more_version(make):
    new = make([[2, 0]], ridge=Ridge(theta_bound=3, noise=0.5, penalty=9, radius="determinant"))
    with pytest.warns(DeprecationWarning, match=r"takes theta_bound, noise, radius, ridge|ridge="):
        old = make([[2, 0]], theta_bound=3, noise=0.5, ridge=9, radius="determinant")
    assert old.settings() == new.settings()
    with pytest.raises(TypeError, match="unexpected keyword argument 'rigde'"):
        make([[2, 0]], rigde=2)
