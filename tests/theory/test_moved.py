import importlib

import pytest

from surefoot import theory
from surefoot.study.logs import self_funding

OLD = [
    ("default_plays.predicted", "surefoot.study.report.default_plays"),
    ("default_plays.at_most", "surefoot.theory.general"),
    ("self_funding.first_exploration", "surefoot.study.logs.self_funding"),
    ("sequential.Shortfall", "surefoot.live.shortfall"),
]


@pytest.mark.parametrize(("old", "place"), OLD)
def test_a_name_that_moved_says_its_new_place_for_one_version(old, place):
    module, _, name = old.partition(".")
    with pytest.warns(
        DeprecationWarning, match=rf"theory\.{module}\.{name} is now {place}\.{name}"
    ):
        found = getattr(getattr(theory, module), name)
    assert found is getattr(importlib.import_module(place), name)


def test_the_old_module_can_be_imported_by_its_path():
    with pytest.warns(DeprecationWarning, match="is now"):
        from surefoot.theory.self_funding import break_even
    assert break_even is self_funding.break_even


def test_a_name_that_never_was_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'largest'"):
        _ = theory.self_funding.largest
