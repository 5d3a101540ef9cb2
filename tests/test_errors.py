import inspect

import pytest

from surefoot import errors
from surefoot.errors import SurefootError

KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if kind.__module__ == errors.__name__ and kind is not SurefootError
]
ERRORS = [kind for kind in KINDS if not issubclass(kind, Warning)]


@pytest.mark.parametrize("kind", ERRORS)
def test_every_error_is_ours_and_one_that_python_knows(kind):
    assert issubclass(kind, SurefootError)
    known = [base for base in kind.__bases__ if base is not SurefootError]
    assert len(known) == 1
    assert known[0].__module__ == "builtins"


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_says_when_it_is_raised(kind):
    assert kind.__doc__
    assert "\n" not in kind.__doc__


def test_a_bug_of_ours_is_not_among_them():
    assert not any(issubclass(bug, SurefootError) for bug in (TypeError, KeyError, AssertionError))


def test_a_missing_extra_is_one_line_with_the_command():
    error = errors.missing_extra("study", "polars")
    assert isinstance(error, ImportError)
    assert str(error) == (
        "polars is not installed; in Surefoot's folder run: pip install '.[study]' "
        "(or: uv sync --extra study)"
    )
