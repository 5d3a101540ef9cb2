"""Floors: what must hold, and the books that keep it."""

from surefoot.floors.books import Books
from surefoot.floors.ceiling import CostCeiling
from surefoot.floors.events import Outcome, State, Terms
from surefoot.floors.general import GeneralFloor
from surefoot.floors.learned import LearnedDefault
from surefoot.floors.learned_books import LearnedBooks
from surefoot.floors.linear import LinearFloor
from surefoot.floors.mean_variance import MeanVarianceFloor
from surefoot.floors.mean_variance_account import MeanVarianceAccount
from surefoot.floors.mean_variance_books import MeanVarianceBooks
from surefoot.floors.protocol import Floor
from surefoot.floors.reward import RewardFloor
from surefoot.floors.reward_books import Account, RewardBooks
from surefoot.floors.several import Floors
from surefoot.floors.several_books import SeveralBooks
from surefoot.floors.statement import CostStatement, Statement, statement

__all__ = [
    "Account",
    "Books",
    "CostCeiling",
    "CostStatement",
    "Floor",
    "Floors",
    "GeneralFloor",
    "LearnedBooks",
    "LearnedDefault",
    "LinearFloor",
    "MeanVarianceAccount",
    "MeanVarianceBooks",
    "MeanVarianceFloor",
    "Outcome",
    "RewardBooks",
    "RewardFloor",
    "SeveralBooks",
    "State",
    "Statement",
    "Terms",
    "statement",
]
