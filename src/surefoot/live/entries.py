"""The ledger's entries: what one says, how each is chained to the one before, and their text.

An account is an append-only chain. Every entry holds the hash of the entry before it, so whoever
knows the last hash knows that nothing before it was edited, dropped or swapped.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterable, Iterator
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any, NamedTuple

from surefoot._exact import INT64_MAX, shown
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.floors import events

GENESIS = "0" * 64
"""The ``prev`` of an account's first entry."""

LONGEST = 15 << 20
"""How many characters of JSON a payload may have; a line of an export, one MiB more."""

KINDS = frozenset(
    {
        "experiment.opened", "experiment.configured", "experiment.state",
        "arms.added", "arms.removed",
        *map(str, events.Event), *(f"lease.{how}" for how in events.LEASES),
        "endowment.granted", "endowment.withdrawn",
        "assumption.broken", "verified",
    }
)  # fmt: skip
"""Everything that can happen to an account; nothing else changes the books."""

_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
)
ID = r"[A-Za-z0-9_-]{1,64}"
"""What an id of a play or lease may be."""
_ID = re.compile(ID)
FREE_ID = re.compile(rf"(?!p-[0-9]+\Z){ID}")
"""An id that a caller may give a new play: not one that the store gives."""
_DECODER = json.JSONDecoder()
_SCALARS = frozenset({str, int, bool, type(None)})


class Entry(NamedTuple):
    """One entry of an account's chain; amounts are integers of the account's unit.

    ``seq`` is dense from 1; ``at`` is microseconds since 1970 by the store's clock; ``d_posted``
    and ``d_held`` are what this entry moved, ``posted``, ``held`` and ``reserve`` what it left.
    """

    seq: int
    kind: str
    experiment: str
    play: str | None
    at: int
    actor: str
    config_version: int
    d_posted: int
    d_held: int
    posted: int
    held: int
    reserve: int
    payload: JsonObject
    prev: str
    hash: str

    @property
    def available(self) -> int:
        """What could still be lost after this entry: reserve + posted - held."""
        return self.reserve + self.posted - self.held


def canonical(value: Any) -> str:
    """The one text of a JSON value: sorted keys, no blanks, ASCII.

    >>> canonical({"b": [1, None], "a": "ü"})
    '{"a":"\\\\u00fc","b":[1,null]}'
    """
    return _ENCODER.encode(value)


def chained(
    *, seq: int, kind: str, experiment: str, play: str | None, at: int, actor: str,
    config_version: int, d_posted: int, d_held: int, posted: int, held: int, reserve: int,
    payload: JsonObject, prev: str, text: str | None = None,
) -> Entry:  # fmt: skip
    """The entry of these fields, all but its hash, which is computed.

    ``text``: the canonical text of the payload, if it is known.

    >>> first = chained(seq=1, kind="verified", experiment="e", play=None, at=0, actor="",
    ...     config_version=1, d_posted=0, d_held=0, posted=0, held=0, reserve=0, payload={},
    ...     prev=GENESIS)
    >>> first.hash[:8], parse(line(first)) == first
    ('2fce02aa', True)
    """
    # The same text as ``rehash`` makes; the payload in it was encoded once and for all.
    hashed = (
        f'{{"actor":{_quoted(actor)},"at":{at},"config_version":{config_version},"d_held":{d_held}'
        f',"d_posted":{d_posted},"experiment":{_quoted(experiment)},"held":{held},"kind":{_quoted(kind)}'
        f',"payload":{canonical(payload) if text is None else text}'
        f',"play":{"null" if play is None else _quoted(play)},"posted":{posted}'
        f',"prev":{_quoted(prev)},"reserve":{reserve},"seq":{seq}}}'
    )
    return Entry(
        seq, kind, experiment, play, at, actor, config_version, d_posted, d_held, posted, held,
        reserve, payload, prev, hashlib.sha256(hashed.encode()).hexdigest(),
    )  # fmt: skip


def rehash(entry: Entry) -> str:
    """The hash that an entry ought to have: SHA-256, in hex, of the text of its other fields."""
    fields = entry._asdict()
    del fields["hash"]
    return hashlib.sha256(canonical(fields).encode()).hexdigest()


def header(account: str, places: int) -> str:
    """The first line of an export: whose ledger follows, and in which unit."""
    return canonical(
        {"surefoot": "ledger", "version": 1, "account": account, "unit_places": places}
    )


def line(entry: Entry) -> str:
    """An entry as one line of an export (NDJSON, without the line feed)."""
    return canonical(entry._asdict())


def exported(account: str, places: int, entries: Iterable[Entry]) -> Iterator[bytes]:
    """The lines of an export, each with its line feed: what ``surefoot.verifier`` reads."""
    yield f"{header(account, places)}\n".encode()
    for entry in entries:
        yield f"{line(entry)}\n".encode()


def parse(text: str) -> Entry:
    """The inverse of ``line``; InvalidInput for any other line."""
    try:
        return Entry(**json.loads(text))
    except (ValueError, TypeError):
        raise InvalidInput(
            f"{shown(text)} is not the line of an entry; export the ledger again"
        ) from None


def checked_payload(payload: Any) -> tuple[JsonObject, str]:
    """A copy of a payload that reads back as itself, and its text; InvalidInput if none can.

    Strings, ints, bools, None, lists and dicts of these with string keys; a float has no exact
    text that everybody agrees on, so it goes in as a decimal string.
    """
    if type(payload) is not dict:
        raise InvalidInput(f"payload = {shown(payload)} must be a dict")
    try:
        check_exact(payload, "payload")
        text = _ENCODER.encode(payload)
        if len(text) > LONGEST:
            check_length(text, "payload")
        copy: JsonObject = _DECODER.raw_decode(text)[0]
    except (RecursionError, ValueError) as problem:
        if isinstance(problem, InvalidInput):
            raise
        raise InvalidInput(
            "payload is nested too deep, or has a number of too many digits"
        ) from None
    return copy, text


def check_length(text: str, what: str, most: int = LONGEST) -> None:
    """InvalidInput for what would make an entry's line too long to be read again."""
    if len(text) > most:
        raise InvalidInput(
            f"{what} takes {len(text):,} characters in JSON, at most {most:,} are kept; keep it "
            "elsewhere and give its name"
        )


def check_exact(value: Any, place: str) -> None:
    """InvalidInput for a value that has no one text, such as a float."""
    kind = type(value)
    if kind is dict:
        for key, inner in value.items():
            if type(key) is not str:
                raise InvalidInput(f"{place} has the key {shown(key)}; keys must be strings")
            if type(inner) not in _SCALARS:
                check_exact(inner, key)
    elif kind is list:
        for inner in value:
            if type(inner) not in _SCALARS:
                check_exact(inner, place)
    elif kind not in _SCALARS:
        raise InvalidInput(
            f"{place} = {shown(value)} ({kind.__name__}) has no exact text; "
            "write it as a string, an int, a list or a dict"
        )


def check_amounts(amounts: dict[str, Any], of: str = "") -> None:
    """InvalidInput unless a database can hold these, by name: ints within 64 bits."""
    for name, value in amounts.items():
        if type(value) is not int or not -INT64_MAX <= value <= INT64_MAX:
            raise InvalidInput(
                f"{name}{of} = {shown(value)} must be an int within 64 bits, in units of the "
                "account"
            )


def check_texts(texts: dict[str, Any]) -> None:
    """InvalidInput unless every database can hold these, by name: 200 characters, no NUL."""
    for what, value in texts.items():
        fits = isinstance(value, str) and len(value) <= 200 and "\0" not in value
        # A half of a surrogate pair has no bytes in UTF-8.
        if not fits or not (value.isascii() or value.encode(errors="ignore").decode() == value):
            raise InvalidInput(
                f"{what} = {shown(value)} must be a string of at most 200 characters without NUL"
            )


def checked_id(value: Any, what: str) -> str:
    """An id of a play or lease: 1 to 64 of letters, digits, - and _; else InvalidInput."""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise InvalidInput(
            f"{what} = {shown(value)} must be 1 to 64 letters, digits, '-' or '_', e.g. 'order-17'"
        )
    return value


def checked_new_id(play: Any, what: str = "play") -> str:
    """The id a caller gives a play; InvalidInput if it could be one that the store gives."""
    if isinstance(play, str) and FREE_ID.fullmatch(play):
        return play
    raise InvalidInput(
        f"{what} = {checked_id(play, what)!r} is a name the store gives, to plays without one; "
        "choose another"
    )


def wall_clock() -> int:
    """This machine's clock, in microseconds since 1970."""
    return time.time_ns() // 1000
