"""Several floors by name, given to an agent as one."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar, Self

from surefoot._exact import Unit, shown
from surefoot._types import JsonObject, Number
from surefoot.errors import InvalidInput
from surefoot.floors.events import Terms
from surefoot.floors.objective import Objective
from surefoot.floors.protocol import Floor, check_floor, is_ceiling
from surefoot.floors.several_books import REWARD, SeveralBooks

_ANY = Decimal("-inf"), Decimal("inf")


class Floors:
    """Several floors by name, and the objective; follows the protocol of a floor.

    ``floors``: a mapping from name to floor; the one named "reward" guards the objective. Where
    none does, ``objective_range`` and ``default_objective`` are those of ``Objective``. Where the
    protocol asks for one number, it is the objective's.

    >>> from surefoot.floors import RewardFloor
    >>> floors = Floors({"quality": RewardFloor(0.8, 0.05), "speed": RewardFloor(0.5, 0.1)}, (0, 1))
    >>> list(floors.floors), floors.reward_range
    (['quality', 'speed'], (Decimal('0'), Decimal('1')))

    Holds when: each floor's own conditions hold for its measure. Does not hold when: a play that
    was made is reported void, or as fallen back.
    """

    plain: ClassVar[bool] = False
    asks_beyond: ClassVar[str] = ""
    max_slack: ClassVar[None] = None

    def __init__(
        self,
        floors: Mapping[str, Floor],
        objective_range: tuple[Number, Number] | None = None,
        default_objective: Number | None = None,
    ) -> None:
        self.floors = _checked(floors)
        given = {"objective_range": objective_range, "default_objective": default_objective}
        self.objective: Floor
        if REWARD in self.floors:
            for name, value in given.items():
                if value is not None:
                    raise InvalidInput(
                        f"{name} = {shown(value)}: the floor named 'reward' guards the objective "
                        f"and has its own; leave {name} out"
                    )
            self.objective = self.floors[REWARD]
        else:
            self.objective = Objective(objective_range, default_objective)

    @property
    def bounded(self) -> bool:
        """Whether the range of the objective is known."""
        return getattr(self.objective, "bounded", True)

    @property
    def unknown(self) -> bool:
        """Whether no floor guards the objective, and what the default brings of it is not known."""
        return isinstance(self.objective, Objective) and self.objective.default is None

    @property
    def default(self) -> Any:
        """The default's value under each floor, and for the objective; None: plays bring some."""
        values = [floor.default for floor in self.floors.values()]
        return None if None in values else (*values, self.objective.default)

    @property
    def reward_range(self) -> tuple[Decimal, Decimal]:
        """The range of the objective; without ends where none is known."""
        return self.objective.reward_range if self.bounded else _ANY

    @property
    def reserve(self) -> Decimal:
        """What may be lost of the objective on top."""
        return self.objective.reserve

    @property
    def places(self) -> int:
        """The decimals of the objective's unit."""
        return self.objective.places

    @property
    def unit(self) -> Unit:
        """How amounts of the objective become integers."""
        return self.objective.unit

    @property
    def asked(self) -> float:
        """What each play with the constant default has to earn of the objective, in units."""
        return self.objective.asked

    @property
    def rho(self) -> Decimal | None:
        """That of the objective's floor."""
        return self.objective.rho

    @property
    def even(self) -> float | None:
        """That of the objective's floor."""
        return self.objective.even

    @property
    def checkpoint(self) -> int | None:
        """That of the objective's floor."""
        return self.objective.checkpoint

    @property
    def fits_int64(self) -> bool:
        """Whether the books of each floor of 10**9 plays fit 64 bits."""
        return all(floor.fits_int64 for floor in self.floors.values())

    def terms(self, default: Any = None) -> Terms:
        """What the next play is worth to the objective's books."""
        return self.objective.terms(default)

    def read(self, reward: Any, what: str) -> int:
        """An objective in units; ``what`` names it in the error."""
        return self.objective.read(reward, what)

    def open(self, keep: int = 100_000) -> SeveralBooks:
        """Fresh books for one agent; ``keep``: how many closed plays each remembers."""
        guards = {name: floor.open(keep) for name, floor in self.floors.items()}
        return SeveralBooks(self, guards, guards.get(REWARD) or self.objective.open(keep))

    def check_explores(self) -> None:
        """InvalidInput where one of the floors would never let a play explore."""
        for name, floor in self.floors.items():
            check = getattr(floor, "check_explores", None)
            try:
                if check is not None:
                    check()
            except InvalidInput as error:
                raise InvalidInput(f"{name!r}: {error}") from None

    def replaced(self, name: str, floor: Floor) -> Floors:
        """The same floors but for one."""
        given: Any = {}
        if isinstance(self.objective, Objective):
            given = self._objective()
        return Floors({**self.floors, name: floor}, **given)

    def _objective(self) -> JsonObject:
        objective: Any = self.objective
        return {
            "objective_range": objective.reward_range if objective.bounded else None,
            "default_objective": objective.default,
        }

    def config(self) -> JsonObject:
        """The settings of the objective as JSON; the floors are written each by its own."""
        return self.objective.config() if isinstance(self.objective, Objective) else {}

    @classmethod
    def from_config(cls, config: JsonObject) -> Self:
        """The inverse of ``config``, with ``floors`` among the settings."""
        ends, default = config.get("objective_range"), config.get("default_objective")
        low_and_high: Any = None if ends is None else tuple(map(Decimal, ends))
        return cls(config["floors"], low_and_high, None if default is None else Decimal(default))

    def __repr__(self) -> str:
        return repr(self.floors)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Floors) and (self.floors, self.objective) == (
            other.floors, other.objective,
        )  # fmt: skip

    def __hash__(self) -> int:
        return hash((tuple(self.floors.items()), self.objective))


def as_floor(
    floor: Floor | Mapping[str, Floor],
    objective_range: tuple[Number, Number] | None = None,
    default_objective: Number | None = None,
) -> Floor:
    """One floor as it is, several by name as one."""
    if isinstance(floor, Mapping):
        return Floors(floor, objective_range, default_objective)
    for name, value in {
        "objective_range": objective_range,
        "default_objective": default_objective,
    }.items():
        if value is not None:
            raise InvalidInput(
                f"{name} = {shown(value)} is of an objective that no floor guards, and the one "
                f"floor given guards it; leave {name} out, or name the floor by its measure: "
                "{'quality': floor}"
            )
    return floor


def _checked(floors: Any) -> dict[str, Floor]:
    """Floors by name, if they are."""
    if not isinstance(floors, Mapping) or not floors:
        raise InvalidInput(
            f"floors = {shown(floors)} must be a dict from name to floor: {{'quality': "
            "RewardFloor(default=0.8, alpha=0.05)}"
        )
    for name, floor in floors.items():
        if not isinstance(name, str) or not name:
            raise InvalidInput(f"the name {shown(name)} of a floor must be a text, e.g. 'quality'")
        try:
            if isinstance(floor, Floors):
                raise InvalidInput("it is several floors already; give each its name here")
            check_floor(floor)
        except InvalidInput as error:
            raise InvalidInput(f"{name!r}: {error}") from None
    ceiling = floors.get(REWARD)
    if is_ceiling(ceiling):
        raise InvalidInput(
            "the floor named 'reward' guards what the policy learns, and a "
            f"{type(ceiling).__name__} guards a cost; name it 'cost'"
        )
    return dict(floors)
