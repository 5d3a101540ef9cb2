"""A panel: what the paper prints of a setting, what had to be chosen, who plays, and its words."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from surefoot._exact import exact, shown
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.study.entry import AgentEntry, Known, Misplaced, Role, labels_of

if TYPE_CHECKING:
    from surefoot.agents.agent import Agent
    from surefoot.environments import Environment
    from surefoot.floors import Floor
    from surefoot.theory import Bound

M = TypeVar("M", bound=BaseModel)
Bounds = Sequence[tuple[str, Callable[[], "Bound"]]]
"""Of some agents, by name, a bound on its regret; asking for it may be refused."""
MEASURES = (
    "regret", "regular_regret", "default_regret", "default_plays", "received", "slack",
    "minimum_slack", "violating_rounds",
)  # fmt: skip
FLOOR_MEASURES = ("received", "slack", "minimum_slack", "violating_rounds")
"""Those that each floor by name has for itself."""
NOT_OF_ALL = ("slack", "minimum_slack")
"""What floors by name do not have together."""
_STRICTLY = "must lie strictly between 0 and 1; 0.05 gives up at most 5 % of the default's reward"
BESIDE = ("source", "because", "runs", "home", "varied")
"""The fields that no run of a panel depends on."""
_SIGNS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
_TITLED = 32
"""Characters of the names of agents in a title."""
_QUOTES = "'\""
_LONGEST = 180
"""Characters of a file's name, so that endings fit into what file systems take."""
_KINDS = {
    "int_": "an int", "float_": "a number", "bool_": "true or false", "string_type": "a text",
    "tuple_type": "a list", "list_type": "a list", "dict_type": "a table", "model_": "a table",
}  # fmt: skip


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

    model_config = ConfigDict(
        frozen=True, extra="forbid", serialize_by_alias=True, allow_inf_nan=False
    )

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
    entries: tuple[AgentEntry, ...] | None = Field(default=None, alias="agents", min_length=1)
    """The agents of a study file, in its order; None: the paper's."""
    varied: tuple[str, ...] = ()
    """Further axes of its study: a field, or a setting as ``mine.c``."""
    home: str | None = None
    """The folder of its study file, where modules of the user's are looked for first."""
    curves: Literal["grid", "none"] | tuple[Annotated[int, Field(ge=1)], ...] = "grid"
    """The plays after which the books are noted, and the last: "grid" is dense early."""

    elsewhere: ClassVar[tuple[str, ...]] = ()
    """Fields that the file of such a study has elsewhere, or not."""
    axes: ClassVar[tuple[str, ...]]
    """The fields in which panels of the problem differ; alpha is one. ``place`` has all."""
    guarded: ClassVar[str]
    """The paper's curves; of a panel with agents of its own ``roles`` says who is what."""
    unguarded: ClassVar[str]
    comparator: ClassVar[str | None] = None
    words: ClassVar[Words]
    extra_measures: ClassVar[tuple[str, ...]] = ()
    promises_reward: ClassVar[bool] = True
    """Whether the floor is one on reward."""

    @abstractmethod
    def paper_agents(self) -> dict[str, Agent]:
        """The paper's curves: ``guarded``, ``unguarded``, and ``comparator`` if there is one."""

    def agents(self) -> dict[str, Agent]:
        """Who plays, fresh: the paper's curves, or the agents of the study file.

        Raises Misplaced, an InvalidInput, naming the key of what cannot be made.
        """
        if self.entries is None:
            return self.paper_agents()
        made = {}
        for number, (name, entry) in enumerate(zip(self.names(), self.entries, strict=True)):
            try:
                made[name] = entry.build(self)
            except Misplaced as error:
                raise Misplaced(str(error), "agents", number, *error.path) from error
        return made

    def told(self) -> Known:
        """What a policy may ask for, by the name of the parameter: it knows nothing of floors."""
        return {"n_arms": lambda: self.environment().n_arms, "horizon": lambda: self.horizon}

    def told_to_guards(self) -> Known:
        """What a guard may ask for besides a policy and a floor."""
        return {}

    def told_to_rivals(self) -> Known:
        """What else a comparator is given, which keeps a floor of its own."""
        return {"default": lambda: self.pays, "alpha": lambda: self.alpha}

    @abstractmethod
    def floor(self) -> Floor:
        """What is to hold, fresh."""

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
        low, high = self.floor().reward_range
        return float(high - low)

    @property
    def worth(self) -> float:
        """What the default is worth, in the units of ``top``."""
        return self.pays

    @property
    def setting(self) -> str:
        """The arms, the default and alpha, and where it stands on further axes, for a caption."""
        return ", ".join([self.words.setting.format(p=self), *self._further(self.words.setting)])

    def _further(self, said: str) -> list[str]:
        """Where it stands on the axes of its study that are not among those ``said``."""
        return [
            f"{axis} = {shown(self.at(axis)).strip(_QUOTES)}"
            for axis in self.varied
            if not re.search(rf"\bp\.{re.escape(axis)}\b", said)
        ]

    @abstractmethod
    def bounds(self) -> Bounds:
        """The theorems about the curves, those of ``guarded`` first."""

    def names(self) -> tuple[str, ...]:
        """The agents' names, in the order in which they are drawn; nothing is imported."""
        return tuple(self.roles())

    def roles(self) -> dict[str, Role]:
        """What the curve of each agent stands for, by its name; nothing is imported."""
        if self.entries is None:
            return self.curves_of_paper()
        names = labels_of(self.entries)
        return {name: entry.role(self) for name, entry in zip(names, self.entries, strict=True)}

    @classmethod
    def curves_of_paper(cls) -> dict[str, Role]:
        """The paper's curves and what they stand for."""
        curves: list[tuple[str | None, Role]] = [
            (cls.guarded, "guarded"), (cls.unguarded, "unguarded"), (cls.comparator, "comparator"),
        ]  # fmt: skip
        return {name: role for name, role in curves if name}

    @property
    def foreign(self) -> bool:
        """Whether a class of the user's own plays or pays: plain Python, that threads cannot share.

        >>> from surefoot.study.sweep import read
        >>> read("cmab-K24-alpha0.05").foreign
        False
        """
        return any(entry.own for entry in self.entries or ())

    def sources(self) -> dict[str, str]:
        """SHA-256 of the files that define the user's own classes, by module."""
        found: dict[str, str] = {}
        for entry in self.entries or ():
            found |= entry.sources(self.home)
        return found

    @property
    def identity(self) -> JsonObject:
        """Its settings without those that no run depends on, as JSON."""
        return self.model_dump(mode="json", exclude=set(BESIDE))

    @property
    def guards(self) -> tuple[str, ...]:
        """The names of its floors; "" is that of one that needs none."""
        return ("",)

    @property
    def promised(self) -> dict[str, str]:
        """What each floor by name asks, in short."""
        return {}

    @property
    def learns(self) -> bool:
        """Whether the default of a floor is one that is learned."""
        return False

    def is_ceiling(self, guard: str) -> bool:
        """Whether one of ``guards`` is a ceiling on costs."""
        return False

    def width(self, guard: str) -> float:
        """How much one play may move the account of a floor, about: the scale of its figure."""
        return 1.0

    def measures(self) -> tuple[str, ...]:
        """What is noted of each agent at each checkpoint."""
        if self.guards == ("",):
            return (*MEASURES, *self.extra_measures)
        every = (name for name in MEASURES if name not in NOT_OF_ALL)
        return (*every, *(column(one, guard) for guard in self.guards for one in FLOOR_MEASURES))

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
        return {axis: self.at(axis) for axis in (*self.axes, *self.varied)}

    def at(self, axis: str) -> Any:
        """The value on an axis: of a field, or of a setting as ``mine.c``."""
        owner, _, setting = axis.partition(".")
        if not setting:
            return getattr(self, axis)
        return self.settings_of(owner)[setting]

    def settings_of(self, owner: str) -> JsonObject:
        """The settings of an agent, by its name."""
        found = {entry.label: entry.settings for entry in self.entries or ()}
        return found[owner]

    @property
    def name(self) -> str:
        """The stem of the panel's files."""
        return stem(self.problem, self.place)

    @property
    def group(self) -> str:
        """The name of the plan it is run in, with those that differ in alpha only."""
        return stem(self.problem, {k: v for k, v in self.place.items() if k != "alpha"})

    @property
    def lead(self) -> str:
        """Who its title names: the paper's guarded agent, or the agents of the study file."""
        if self.entries is None:
            return self.guarded
        names = ", ".join(self.names())
        return names if len(names) <= _TITLED else f"{len(self.names())} agents"

    @property
    def title(self) -> str:
        """The first line of a figure."""
        said = self.words.arms + " {p.mu0}"
        head = f"{self.lead} on {self.words.arms.format(p=self)}: α = {self.alpha:g}"
        return ", ".join([head, f"the default pays {self.pays:g}", *self._further(said)])

    def level(self, delta: float | str) -> float:
        """A comparator's delta as a number."""
        return 1 / self.horizon if delta == "1/T" else float(delta)

    @property
    def slope(self) -> float | None:
        """Regret per play of one who earns exactly the floor: mu_* - mu0 + alpha*|mu0|.

        As in the environments, mu_* is the best regular arm, or the default where that is better.
        """
        worth, alpha = exact(self.worth, "worth"), exact(self.alpha, "alpha")
        return float(max(exact(self.top, "top"), worth) - worth + alpha * abs(worth))


def column(measure: str, guard: str) -> str:
    """What the rows call a measure of one of several floors.

    >>> column("slack", "cost"), column("slack", "")
    ('slack_cost', 'slack')
    """
    return f"{measure}_{guard}" if guard else measure


def number(value: float) -> str:
    """A number in a file's name.

    >>> number(0.05), number(10.0), number(24)
    ('0.05', '10', '24')
    """
    return repr(value).removesuffix(".0")


def stem(problem: str, place: JsonObject) -> str:
    """The name of a file from a place on the axes.

    >>> stem("cmab", {"K": 24, "delta": "1/T"})
    'cmab-K24-delta1%2FT'
    >>> stem("cmab", {"a/b.c": 2})
    'cmab-a%2Fb.c2'
    """
    whole = "-".join([problem, *(f"{quote(k, safe='')}{_spelled(v)}" for k, v in place.items())])
    if len(whole) <= _LONGEST:
        return whole
    return f"{whole[: _LONGEST - 17]}-{sha256(whole.encode()).hexdigest()[:16]}"


def _spelled(value: Any) -> str:
    return quote(value, safe="") if isinstance(value, str) else number(value)


def checked(model: type[M], values: Any) -> M:
    """Validate, and say what is wrong in one line."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        where = first["loc"][0] if first["loc"] else model.__name__
        value = first["input"]
        said = f"{value:.10g}" if isinstance(value, float) else repr(value)
        raise InvalidInput(f"{where} = {said} {must(first, where)}") from None


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
