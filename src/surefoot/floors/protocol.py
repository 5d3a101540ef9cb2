"""What a floor is to the agents, the engine and the saved files: a protocol, open to your own."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol, Self

from surefoot._exact import Unit, shown
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.floors.events import Terms

if TYPE_CHECKING:
    from surefoot.floors.books import Books


class Floor(Protocol):
    """What must hold of the rewards, and the books that keep it.

    ``LinearFloor`` has all of it but ``default``, ``terms`` and ``config``, for a promise on a sum
    of rewards; ``FloorKit`` tests a floor of your own.
    """

    @property
    def default(self) -> Any:
        """The default's known reward, a pair (l, u), a LearnedDefault, or None: each play's own."""

    @property
    def reward_range(self) -> tuple[Decimal, Decimal]:
        """Surely known bounds of every reward."""

    @property
    def reserve(self) -> Decimal:
        """What may be lost on top."""

    @property
    def places(self) -> int:
        """The decimals of the books' unit."""

    @property
    def unit(self) -> Unit:
        """How amounts become integers."""

    @property
    def asked(self) -> float:
        """What each play with the constant default has to earn, in units."""

    @property
    def asks_beyond(self) -> str:
        """What the gate asks besides a slack that covers the hold, if anything, in words."""

    @property
    def rho(self) -> Decimal | None:
        """The weight of the mean in a promise on mean and variance; None: it is on a sum."""

    @property
    def even(self) -> float | None:
        """The share of best rewards at which a coin equals the default; see MeanVarianceFloor."""

    @property
    def checkpoint(self) -> int | None:
        """Every how many plays it has to hold; None: at each."""

    @property
    def plain(self) -> bool:
        """Whether the compiled engine may keep it; else ``simulate`` drives it play by play.

        The engine keeps constant terms in unmodified ``RewardBooks``, and no others.
        """

    @property
    def fits_int64(self) -> bool:
        """Whether the books of 10**9 plays fit 64 bits."""

    def terms(self, default: Any = None) -> Terms:
        """What the next play is worth; ``default`` is its own."""

    def read(self, reward: Any, what: str) -> int:
        """A reward in units; ``what`` names it in the error."""

    def open(self, keep: int = 100_000) -> Books:
        """Fresh books for one agent; ``keep``: how many closed plays are remembered."""

    def config(self) -> JsonObject:
        """JSON-able settings."""

    @classmethod
    def from_config(cls, config: JsonObject) -> Self:
        """The inverse of ``config``."""


# Not ``asked``, which has no answer where each play brings its own default.
_MEMBERS = [name for name in vars(Floor) if not name.startswith("_") and name != "asked"]


def is_ceiling(floor: Any) -> bool:
    """Whether a floor guards costs, which its books keep as negative rewards."""
    return bool(getattr(floor, "costs", False))


def check_floor(floor: Any) -> None:
    """InvalidInput for anything but a floor; it names what a class of one's own lacks."""
    lacks = [name for name in _MEMBERS if not hasattr(floor, name)]
    if lacks:
        if isinstance(floor, list | tuple):
            raise InvalidInput(
                f"floor = {shown(floor)} is not a floor; several are given by the names of their "
                "measures: {'quality': RewardFloor(default=0.8, alpha=0.05), ...}"
            )
        some = len(lacks) < len(_MEMBERS) // 2
        why = f" (it lacks {', '.join(lacks)}: derive it from floors.LinearFloor)" if some else ""
        raise InvalidInput(
            f"floor = {shown(floor)} is not a floor{why}; give RewardFloor(default=0.7, alpha=0.05)"
        )
    if (floor.rho is not None or floor.even is not None) and not hasattr(floor, "constants"):
        raise InvalidInput(
            f"floor = {shown(floor)} has rho = {shown(floor.rho)} and even = {shown(floor.even)}, "
            "which belong to MeanVarianceFloor: leave both None in a floor of your own"
        )
