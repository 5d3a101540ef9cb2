"""What an agent does when its policy fails, and the line that says why."""

from __future__ import annotations

from surefoot._redact import redacted

RAISE, DEFAULT = "raise", "default"
ON_FAULT = (RAISE, DEFAULT)
"""What ``GenCB(on_fault=)`` takes: the policy's error goes to the caller, or the default is
played."""
LONGEST = 200


def described(error: Exception) -> str:
    """An error of a policy as one short line, without a password, that any store can keep.

    >>> described(ValueError("no model yet"))
    'ValueError: no model yet'
    >>> described(KeyError())
    'KeyError'
    """
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # the user's own class of errors
        text = "its own text raises"
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 2 * LONGEST]).split())
    line = redacted(f"{name}: {line}" if line else name)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 3]}..."
