"""The options by which a policy forgets, and the classes that they choose."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, TypeVar

from surefoot._exact import shown
from surefoot.errors import InvalidInput

F = TypeVar("F", bound=Callable[..., Any])


def forgetful(
    args: tuple[Any, ...], options: dict[str, Any], discounted: type, sliding: type
) -> Any:
    """The policy that ``discount`` or ``window`` among the options asks for; None if neither does.

    InvalidInput for both.
    """
    given = {name: value for name, value in options.items() if value is not None}
    discount, window = given.get("discount"), given.get("window")
    if discount is None and window is None:
        return None
    if discount is not None and window is not None:
        raise InvalidInput(
            f"discount = {shown(discount)} and window = {shown(window)}: give one of them, by "
            "which old rewards are forgotten"
        )
    return (discounted if window is None else sliding)(*args, **given)


def refuse_to_forget(policy: object, discount: Any, window: Any) -> None:
    """InvalidInput: a class derived from one that remembers cannot be another by an option."""
    if discount is not None or window is not None:
        raise InvalidInput(
            f"{type(policy).__name__} takes no discount or window: derive it from the class that "
            "forgets, such as surefoot.policies.DiscountedUCB1"
        )


def signed_as(init: Callable[..., Any]) -> Callable[[F], F]:
    """Let a ``__new__`` show the arguments of ``__init__``."""

    def mark(new: F) -> F:
        new.__signature__ = signature(init)  # type: ignore[attr-defined]
        return new

    return mark
