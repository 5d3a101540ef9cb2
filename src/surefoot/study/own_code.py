"""A user's own classes by their import path, beside the study file first, and their source."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from surefoot._exact import shown
from surefoot.errors import InvalidInput
from surefoot.study.near import meant
from surefoot.study.own_text import texts

_FORM = 'must be a module and a class, "mylab.policies:Mine"'


def is_own(path: str) -> bool:
    """Whether this is an import path, and no name of Surefoot's.

    >>> is_own("mylab.policies:Mine"), is_own("KLUCB")
    (True, False)
    """
    return ":" in path


def imported(path: str, home: str | None) -> Any:
    """The class of an import path ``module:Class``; its module is looked for in ``home`` first.

    The folder stays the last of ``sys.path``, so that what is imported later is found too. Raises
    InvalidInput for a module or class that is not there or cannot be imported, and for a
    module of that name that came from elsewhere.

    >>> imported("collections:OrderedDict", None)().popitem.__name__
    'popitem'
    >>> imported("collections:OrderDict", None)
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: 'collections:OrderDict': module collections has no OrderDict; \
did you mean OrderedDict?
    """
    module, _, name = path.partition(":")
    parts = [*module.split("."), *name.split(".")]
    if not all(part.isidentifier() for part in parts):
        raise InvalidInput(f"{shown(path)} {_FORM}")
    value: Any = _module(path, module, home)
    for part in name.split("."):
        if not hasattr(value, part):
            raise InvalidInput(
                f"{shown(path)}: module {module} has no {name}{meant(part, dir(value))}"
            )
        value = getattr(value, part)
    if not callable(value):
        raise InvalidInput(f"{shown(path)} is {shown(value)}; name a class")
    return value


def sources(path: str, home: str | None) -> dict[str, str]:
    """A hash of each file of the user's own that a class is made from, by module: ``texts``."""
    kind = imported(path, home)
    return texts(getattr(kind, "__module__", path.partition(":")[0]), home)


def _module(path: str, name: str, home: str | None) -> ModuleType:
    top = name.split(".", maxsplit=1)[0]
    here = home is not None and any((Path(home) / one).exists() for one in (f"{top}.py", top))
    if here:
        _only_from(path, top, str(home))
    importlib.invalidate_caches()
    before = list(sys.path)
    if home is not None:
        sys.path.insert(0, home)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or name
        if name == missing or name.startswith(f"{missing}."):
            beside = f"in {home}, beside the study file, nor " if home else ""
            raise InvalidInput(
                f"{shown(path)}: no module {missing} is {beside}on the path of this Python; "
                "put it beside the study file, or install it"
            ) from None
        raise InvalidInput(f"{shown(path)}: {name} needs module {missing}, not found") from error
    except (Exception, SystemExit) as error:
        said = shown_error(error)
        raise InvalidInput(f"{shown(path)}: importing {name} raised {said}") from error
    finally:
        sys.path[:] = before
        if home is not None and home not in sys.path:
            sys.path.append(home)


def _only_from(path: str, top: str, home: str) -> None:
    """Refuse a module of this process that has the name of one in ``home``, but is not it."""
    there = sys.modules.get(top)
    if there is None:
        return
    places = [getattr(there, "__file__", None), *getattr(there, "__path__", ())]
    if not any(place and Path(place).resolve().is_relative_to(home) for place in places):
        raise InvalidInput(
            f"{shown(path)}: this process has another module {top}, from {places[0]}; "
            f"rename the one in {home}"
        )


def line(error: BaseException) -> str:
    """An error in one line.

    >>> line(KeyError("K"))
    "KeyError: 'K'"
    """
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def shown_error(error: BaseException) -> str:
    """An error in one line, and not without end."""
    said = line(error)
    return said if len(said) <= 200 else f"{said[:197]}..."
