"""Moved to ``surefoot.study.report.default_plays``; this name works for one version."""

from surefoot.theory._moved import moved

__getattr__ = moved(__name__, "surefoot.study.report.default_plays", "surefoot.theory.general")
