"""Compile the kernels of live policies ahead of the first decision."""

from __future__ import annotations

from surefoot import _compile
from surefoot.comparators import conucb, moss  # noqa: F401  (their kernels are known once imported)
from surefoot.errors import missing_extra
from surefoot.kernels import warm


def warmup() -> tuple[str, ...]:
    """Let the policies that this process makes from now on decide in compiled code.

    Every policy of ``surefoot``, and every one of yours that is registered (``kernels.register``)
    by then, made or loaded afterwards keeps its state in arrays and runs the
    same kernels compiled by numba: the same decisions to the last bit, and files that either kind
    of process can load. Those made before stay as they are. What was compiled is kept on disk
    (SUREFOOT_CACHE, else the user's cache folder), so that only the first process after an
    installation takes seconds; later ones take tenths of one.

    Returns the names of what had to be compiled; empty where all of it was on disk, or loaded
    before. Raises MissingExtra without numba; nothing changes then. Raises InvalidInput that names
    the policies that numba cannot compile, once all others are compiled.

    >>> import surefoot as sf
    >>> compiled = sf.warmup()  # doctest: +SKIP
    >>> sf.gencb_cmab(n_arms=72, default=0.7, alpha=0.05).select().is_default
    True

    Holds when: an arm gets at most some 9 * 10**9 rewards, whose sum fits an int64. Does not hold
    when: a policy is your own and not written as kernels of plain numbers; it runs as you wrote it.
    """
    if not _compile.available():
        raise missing_extra("fast", "numba")
    return tuple(warm.warm_up())
