"""Which experiment is meant by whoever names none: the only one there is."""

from __future__ import annotations

from collections.abc import Iterable

from surefoot.errors import InvalidInput
from surefoot.live.store import Store

USUAL = "default"
"""What an experiment is called that nobody gave a name, and its account."""


def experiment(store: Store, name: str | None, account: str | None) -> tuple[str, str]:
    """The names of an experiment and its account, as they were given or as they are in the store.

    Without a name that is the one called "default", else the account's own, else the only one there
    is; a new one where there is none. InvalidInput that lists what there is if it is more than one.
    """
    if name is not None:
        return name, name if account is None else account
    there = store.accounts()
    if account is None:
        account = _only(there, "accounts", "name= (and account=, where they differ)")
    if account not in there:
        return USUAL, account
    first = next(store.entries(account, 0, 1), None)
    if first is None or first.experiment in (USUAL, account):
        return (USUAL if first is None else first.experiment), account
    opened = (e.experiment for e in store.entries(account) if e.kind == "experiment.opened")
    return _only(opened, f"experiments of account {account!r}", "name="), account


def _only(names: Iterable[str], what: str, remedy: str) -> str:
    there = sorted(set(names))
    if not there or USUAL in there:
        return USUAL
    if len(there) > 1:
        listed = ", ".join(map(repr, there))
        raise InvalidInput(f"name is not given, and the {what} are {listed}; pass {remedy}")
    return there[0]
