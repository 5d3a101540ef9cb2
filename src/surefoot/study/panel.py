"""The setting of a panel: what the paper prints, and what had to be chosen where it is silent."""

from __future__ import annotations

import tomllib
from importlib import resources
from itertools import product
from typing import Any, ClassVar, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from surefoot.errors import InvalidInput

M = TypeVar("M", bound=BaseModel)
MAIN = "cmab-K72-alpha0.05"
"""The panel in the paper's main text, and the default of the command."""
_STRICTLY = "must lie strictly between 0 and 1; 0.05 gives up at most 5 % of the default's reward"
_SIGNS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
_KINDS = {"int_": "an int", "float_": "a number", "bool_": "true or false"}


class Printed(BaseModel):
    """What the paper prints for a CMAB panel, besides K and alpha."""

    mu0: float = Field(gt=0, le=1)
    best: float = Field(ge=0, le=1)
    worst: float = Field(ge=0, le=1)
    runs: int = Field(ge=1, le=1_000_000)


class Chosen(BaseModel):
    """What the paper does not say: every value here is a choice of ours, and labelled so."""

    horizon: int = Field(ge=2, le=10**9)
    seed: int = Field(ge=0)
    delta: Literal["1/T"] | float
    radius: Literal["simple", "iterated", "libbandit"]
    scale: Literal["paper", "bounded", "libbandit"]
    ties: Literal["lowest arm"]


class Panel(Printed, Chosen):
    """One panel of the study: K arms with means evenly spaced from ``best`` to ``worst``.

    Source: Du, Wang, Huang 2021, Experiments. The paper's panels are data files in
    ``study/panels``, one each, in two tables: ``printed`` and ``chosen``.

    >>> panel = read("cmab-K24-alpha0.05")
    >>> panel.K, panel.alpha, panel.horizon, panel.ours[0]
    (24, 0.05, 100000, 'horizon')
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    problem: Literal["cmab"] = "cmab"
    K: int = Field(ge=1, le=100_000)
    alpha: float = Field(gt=0, lt=1)
    source: str | None = None
    """The figure this panel is printed as; None for a setting of the user's."""

    ours: ClassVar[tuple[str, ...]] = tuple(Chosen.model_fields)
    """The fields on which the paper is silent."""

    @property
    def name(self) -> str:
        """The stem of the panel's files."""
        return f"{self.problem}-K{self.K}-alpha{self.alpha!r}"

    @property
    def level(self) -> float:
        """ConUCB's delta as a number."""
        return 1 / self.horizon if self.delta == "1/T" else float(self.delta)


class Sweep(Printed, Chosen):
    """Panels that differ in K and alpha only: all pairs of the two lists.

    >>> sweep = Sweep.of(read("cmab-K72-alpha0.05")).but(K=(24, 72), runs=2)
    >>> [panel.name for panel in sweep.panels()]
    ['cmab-K24-alpha0.05', 'cmab-K72-alpha0.05']
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    problem: Literal["cmab"] = "cmab"
    K: tuple[int, ...] = Field(min_length=1)
    alpha: tuple[float, ...] = Field(min_length=1)

    @classmethod
    def of(cls, panel: Panel) -> Self:
        """The sweep that is one panel."""
        alike = panel.model_dump(exclude={"source", "K", "alpha"})
        return cls(**alike, K=(panel.K,), alpha=(panel.alpha,))

    def but(self, **changes: Any) -> Self:
        """The same with some fields changed; those given as None stay. Raises InvalidInput.

        >>> Sweep.of(read("cmab-K72-alpha0.05")).but(alpha=(1.5,))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        surefoot.errors.InvalidInput: alpha = 1.5 must lie strictly between 0 and 1; ...
        """
        given = {field: value for field, value in changes.items() if value is not None}
        changed = _checked(type(self), {**self.model_dump(), **given})
        changed.panels()
        return changed

    def panels(self) -> list[Panel]:
        """One panel for each K and alpha, in the order given, none twice."""
        alike = self.model_dump(exclude={"K", "alpha"})
        pairs = dict.fromkeys(product(self.K, self.alpha))
        panels = [_checked(Panel, {**alike, "K": K, "alpha": alpha}) for K, alpha in pairs]
        return [panel.model_copy(update={"source": _source(panel)}) for panel in panels]


def read(name: str) -> Panel:
    """The paper's panel in ``study/panels/<name>.toml``."""
    file = resources.files("surefoot.study") / "panels" / f"{name}.toml"
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    printed, chosen = document.pop("printed"), document.pop("chosen")
    if set(chosen) != set(Panel.ours):
        raise InvalidInput(f"{name}.toml: [chosen] must hold {', '.join(sorted(Panel.ours))}")
    return _checked(Panel, {**document, **printed, **chosen})


def paper(problem: str) -> list[Panel]:
    """The paper's panels of one problem, in the order of their names.

    >>> [(panel.K, panel.alpha) for panel in paper("cmab")]
    [(144, 0.05), (24, 0.05), (72, 0.05), (72, 0.1), (72, 0.15)]
    """
    folder = resources.files("surefoot.study") / "panels"
    names = sorted(file.name.removesuffix(".toml") for file in folder.iterdir())
    return [read(name) for name in names if name.startswith(f"{problem}-")]


def _source(panel: Panel) -> str | None:
    """The paper's figure with the same problem, arms and alpha."""
    fields = {*Printed.model_fields, "K", "alpha"} - {"runs"}
    for known in paper(panel.problem):
        if all(getattr(known, field) == getattr(panel, field) for field in fields):
            return known.source
    return None


def _checked(model: type[M], values: Any) -> M:
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
