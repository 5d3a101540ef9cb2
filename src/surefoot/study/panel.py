"""A panel: what the paper prints of a setting, what had to be chosen, who plays, and its words."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from surefoot._exact import exact
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput

if TYPE_CHECKING:
    from surefoot.agents.agent import Agent
    from surefoot.environments import Environment
    from surefoot.theory import Bound

M = TypeVar("M", bound=BaseModel)
Bounds = Sequence[tuple[str, Callable[[], "Bound"]]]
"""Of some agents, by name, a bound on its regret; asking for it may be refused."""
MEASURES = (
    "regret", "regular_regret", "default_regret", "default_plays", "received", "slack",
    "minimum_slack", "violating_rounds",
)  # fmt: skip
_STRICTLY = "must lie strictly between 0 and 1; 0.05 gives up at most 5 % of the default's reward"
_SIGNS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
_KINDS = {"int_": "an int", "float_": "a number", "bool_": "true or false"}


def ours(words: str, option: str | None = None, **limits: Any) -> Any:
    """A field on which the paper is silent; ``words`` say in the caption what we chose.

    ``option`` is the help of the option of this name; without it there is none.
    """
    return Field(json_schema_extra={"words": words}, description=option, **limits)


class Words(NamedTuple):
    """How the captions and figures of a problem speak."""

    arms: str
    """The arms in a few words, for a title, written of a panel ``p``."""
    setting: str
    """The arms, the default and alpha, for a caption, written of a panel ``p``."""
    rival: str
    """What regret is against."""
    remark: str
    """Which algorithm is shown, and what the figure depends on."""
    regret: str = "pseudo-regret"
    baseline: str = "t·(μ* - (1-α)·μ0)"
    """The regret of one who earns exactly the floor."""
    earned: str = "reward received"
    """What is held against the floor."""
    floor: str = "(1-α)·μ0·t"


class Panel(BaseModel):
    """One panel of a study: a setting of one of the paper's problems; a subclass for each problem.

    Source: Du, Wang, Huang 2021, Experiments. The paper's panels are data files in
    ``study/panels``, one each, in two tables: ``printed`` and ``chosen``. A problem gives the
    fields, ``agents`` and ``environment``, the two values that regret is made of, its bounds and
    its words; what is run, drawn and written is the same for all.

    >>> from surefoot.study.sweep import read
    >>> panel = read("cmab-K24-alpha0.05")
    >>> panel.name, panel.horizon, panel.chosen()[0], panel.slope
    ('cmab-K24-alpha0.05', 100000, 'horizon', 0.135)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    problem: str
    alpha: float = Field(
        gt=0, lt=1, description="Fraction of the default's reward one is willing to lose"
    )
    source: str | None = None
    """The figure this panel is printed as; None for a setting of the user's."""
    because: str | None = None
    """Why its horizon is not that of the other panels."""
    runs: int = Field(ge=1, le=1_000_000, description="Independent runs")
    horizon: int = ours("horizon T = {:,}", "Plays in a run", ge=2, le=10**9)
    seed: int = ours("seed {}", "Equal seeds give equal numbers", ge=0)
    ties: Literal["lowest arm"] = ours("ties to the {}")

    axes: ClassVar[tuple[str, ...]]
    """The fields in which panels of the problem differ; alpha is one."""
    guarded: ClassVar[str]
    unguarded: ClassVar[str]
    comparator: ClassVar[str | None] = None
    words: ClassVar[Words]
    extra_measures: ClassVar[tuple[str, ...]] = ()
    promises_reward: ClassVar[bool] = True
    """Whether the floor is one on reward."""

    @abstractmethod
    def agents(self) -> dict[str, Agent]:
        """The paper's curves: ``guarded``, ``unguarded``, and ``comparator`` if there is one."""

    @abstractmethod
    def environment(self) -> Environment:
        """Where rewards come from."""

    @property
    @abstractmethod
    def pays(self) -> float:
        """The default's known reward mu0."""

    @property
    @abstractmethod
    def top(self) -> float:
        """What the best regular action is worth."""

    @property
    def swing(self) -> float:
        """The most that one reward can move the account: the width of a reward's range."""
        low, high = self.environment().reward_range
        return float(high - low)

    @property
    def worth(self) -> float:
        """What the default is worth, in the units of ``top``."""
        return self.pays

    @property
    def setting(self) -> str:
        """The arms, the default and alpha, for a caption."""
        return self.words.setting.format(p=self)

    @abstractmethod
    def bounds(self) -> Bounds:
        """The theorems about the curves, those of ``guarded`` first."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The agents' names."""
        return tuple(filter(None, (cls.guarded, cls.unguarded, cls.comparator)))

    @classmethod
    def measures(cls) -> tuple[str, ...]:
        """What is noted of each agent at each checkpoint."""
        return (*MEASURES, *cls.extra_measures)

    @classmethod
    def chosen(cls) -> tuple[str, ...]:
        """The fields on which the paper is silent."""
        return tuple(name for name, field in cls.model_fields.items() if field.json_schema_extra)

    @property
    def choices(self) -> list[str]:
        """What we chose, in words, and why where that is noted."""
        fields: dict[str, Any] = dict(type(self).model_fields)
        said = {
            name: fields[name].json_schema_extra["words"].format(getattr(self, name))
            for name in self.chosen()
        }
        if self.because:
            said["horizon"] += f" ({self.because})"
        return list(said.values())

    @property
    def place(self) -> JsonObject:
        """The values on the axes: with the problem, what tells the panels of a study apart."""
        return {axis: getattr(self, axis) for axis in self.axes}

    @property
    def name(self) -> str:
        """The stem of the panel's files."""
        return "-".join([self.problem, *(f"{k}{number(v)}" for k, v in self.place.items())])

    @property
    def group(self) -> str:
        """The name of the plan it is run in, with those that differ in alpha only."""
        path = [f"{k}{number(v)}" for k, v in self.place.items() if k != "alpha"]
        return "-".join([self.problem, *path])

    @property
    def title(self) -> str:
        """The first line of a figure."""
        arms = self.words.arms.format(p=self)
        return f"{self.guarded} on {arms}: α = {self.alpha:g}, the default pays {self.pays:g}"

    def level(self, delta: float | str) -> float:
        """A comparator's delta as a number."""
        return 1 / self.horizon if delta == "1/T" else float(delta)

    @property
    def slope(self) -> float:
        """Regret per play of one who earns exactly the floor: mu_* - (1-alpha)*mu0.

        As in the environments, mu_* is the best regular arm, or the default where that is better.
        """
        worth, alpha = exact(self.worth, "worth"), exact(self.alpha, "alpha")
        return float(max(exact(self.top, "top"), worth) - (1 - alpha) * worth)


def number(value: float) -> str:
    """A number in a file's name.

    >>> number(0.05), number(10.0), number(24)
    ('0.05', '10', '24')
    """
    return repr(value).removesuffix(".0")


def checked(model: type[M], values: Any) -> M:
    """Validate, and say what is wrong in one line."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        where = first["loc"][0] if first["loc"] else model.__name__
        value = first["input"]
        shown = f"{value:.10g}" if isinstance(value, float) else repr(value)
        raise InvalidInput(f"{where} = {shown} {must(first, where)}") from None


def must(fault: Any, where: Any = None) -> str:
    """What a value must be, in our words, from one of pydantic's errors at a field.

    >>> must({"type": "int_parsing", "msg": "Input should be a valid integer"})
    'must be an int'
    """
    kind, bounds = fault["type"], fault.get("ctx", {})
    if where == "alpha" and kind in {"less_than", "greater_than", "finite_number"}:
        return _STRICTLY
    for name, sign in _SIGNS.items():
        if name in bounds:
            return f"must be {sign} {bounds[name]:,}"
    kinds = [what for prefix, what in _KINDS.items() if kind.startswith(prefix)]
    message = fault["msg"].replace("Input should be", "must be")
    return f"must be {kinds[0]}" if kinds else f"{message[0].lower()}{message[1:]}"
