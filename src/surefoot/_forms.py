"""Plain JSON from outside, checked key by key before anything is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import UnionType
from typing import Any

from surefoot._exact import shown
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput

REMEDY = "pass what to_json() of this version of surefoot returned"

_LONGEST = 14_000
"""In bits: Python writes no int of more than 4300 digits."""


def checked_form(form: Any, what: str, kinds: Mapping[str, type | UnionType]) -> JsonObject:
    """The dict, if it has exactly these keys with values of these types; else InvalidInput.

    A bool is an int here only where a bool is asked for.

    >>> checked_form({"held": 0.5}, "statement", {"held": str})
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: statement: held = 0.5 must be a str; pass what to_json() of this
    version of surefoot returned
    """
    if type(form) is not dict:
        raise InvalidInput(f"{what} = {shown(form)} must be a dict; {REMEDY}")
    for name in [*(name for name in form if name not in kinds), *kinds]:
        if name not in kinds or name not in form:
            has = "lacks" if name in kinds else "has"
            raise InvalidInput(f"{what} {has} the key {shown(name)}; {REMEDY}")
        value, kind = form[name], kinds[name]
        if not isinstance(value, kind) or (type(value) is bool and kind not in (bool, object)):
            spelled = getattr(kind, "__name__", str(kind)).replace("NoneType", "None")
            raise InvalidInput(f"{what}: {name} = {shown(value)} must be a {spelled}; {REMEDY}")
        if isinstance(value, int) and value.bit_length() > _LONGEST:
            raise InvalidInput(f"{what}: {name} = {shown(value)} must be shorter; {REMEDY}")
    return form
