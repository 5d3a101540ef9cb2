"""Every error Surefoot raises on purpose; each names the value, the place and the remedy."""

from __future__ import annotations


class SurefootError(Exception):
    """Base of all errors raised on purpose; catching it never hides a bug of ours."""


class InvalidInput(SurefootError, ValueError):
    """A value that was refused. Nothing was changed."""


class UnknownPlay(SurefootError, LookupError):
    """A play id never given out, or whose record is no longer kept. Nothing was changed."""


class PlayConflict(SurefootError, ValueError):
    """A report that contradicts what is already booked for a play. Nothing was changed."""


class DamagedFile(SurefootError, ValueError):
    """A saved file that is foreign, damaged, or made by an unknown version."""


class UnknownAccount(SurefootError, LookupError):
    """An account that the store does not hold. Nothing was changed."""


class StoreUnavailable(SurefootError, OSError):
    """The store could not be read or written; the message says whether anything may be kept."""


class LateAnswer(SurefootError, TimeoutError):
    """A policy's answer that came after the time it may take, see ``surefoot.adapters``."""


class TaskFailed(SurefootError, RuntimeError):
    """A task of a study that could not be carried out; what was finished before is kept."""


class RewardOutOfRange(UserWarning):
    """A reward outside the declared range: it was booked, and what that means is in the message."""


class MissingExtra(SurefootError, ImportError):
    """An optional dependency is not installed; the message names the pip command."""


def missing_extra(extra: str, package: str) -> MissingExtra:
    """Build the one-line error for a missing optional dependency.

    Surefoot is on no package index yet, so what works is said as it works in its folder.

    >>> str(missing_extra("study", "polars"))
    "polars is not installed; in Surefoot's folder run: pip install '.[study]' (or: uv sync \
--extra study)"
    """
    return MissingExtra(
        f"{package} is not installed; in Surefoot's folder run: pip install '.[{extra}]' "
        f"(or: uv sync --extra {extra})"
    )
