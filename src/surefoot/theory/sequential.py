"""Moved to ``surefoot.live.shortfall``; this name works for one version."""

from surefoot.theory._moved import moved

__getattr__ = moved(__name__, "surefoot.live.shortfall")
