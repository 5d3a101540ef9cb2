"""Moved to ``surefoot.study.logs.self_funding``; this name works for one version."""

from surefoot.theory._moved import moved

__getattr__ = moved(__name__, "surefoot.study.logs.self_funding")
