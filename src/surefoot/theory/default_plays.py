"""Moved to ``surefoot.study.default_plays``; this name works for one version."""

from surefoot.theory._moved import moved

__getattr__ = moved(__name__, "surefoot.study.default_plays", "surefoot.theory.general")
