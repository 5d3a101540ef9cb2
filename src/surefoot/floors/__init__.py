"""Floors: what must hold, and the books that keep it."""

from surefoot.floors.account import Account
from surefoot.floors.books import RewardBooks
from surefoot.floors.plays import Outcome, State, Terms
from surefoot.floors.reward import RewardFloor
from surefoot.floors.statement import Statement, statement

__all__ = [
    "Account",
    "Outcome",
    "RewardBooks",
    "RewardFloor",
    "State",
    "Statement",
    "Terms",
    "statement",
]
