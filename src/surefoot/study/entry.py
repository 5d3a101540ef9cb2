"""An agent of a study file: an algorithm by name, or a policy and what guards it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from surefoot._exact import shown
from surefoot.errors import InvalidInput
from surefoot.study.near import meant
from surefoot.study.own_code import imported, is_own, shown_error, sources

if TYPE_CHECKING:
    from surefoot.agents.agent import Agent
    from surefoot.study.panel import Panel

Role = Literal["guarded", "unguarded", "comparator"]
"""What a curve stands for: an agent that keeps the floor surely, one without a guard, or another
that is to keep it."""
Known: TypeAlias = Mapping[str, Callable[[], Any]]
"""What a class may ask for by the name of a parameter; found when it is."""
COMPARATORS = (
    "BudgetFirst", "C3UCB", "C3UCBUnknown", "CLUCB", "CLUCB2", "CLUCBUnknown", "ConUCB",
    "ConUCBUnknown", "UnbalancedMOSS",
)  # fmt: skip
POLICIES = (
    "AdaUCB", "C2UCB", "CombLinTS", "CostSubsidy", "DiscountedThompson", "DiscountedUCB1",
    "EpsilonGreedy", "GaussianThompson", "KLMS", "KLUCB", "LinTS", "LinUCB", "MVUCB",
    "SlidingThompson", "SlidingUCB1", "Thompson", "UCB1",
)  # fmt: skip
GUARDS = ("GenCB", "Plain")


class Misplaced(InvalidInput):
    """A value of a study that was refused, and the path of its key there."""

    def __init__(self, message: str, *path: str | int) -> None:
        super().__init__(message)
        self.path = path


class AgentEntry(BaseModel):
    """One of the ``[[agents]]`` of a study file.

    Either ``algorithm``: one of the problem's own, with the settings of the panel, a comparator, or
    a policy of Surefoot's, which then plays unguarded. Or ``policy``: the name of a policy of
    Surefoot's, or ``module:Class`` of one's own, under a ``guard``, by default GenCB.
    ``settings`` are keywords of the policy, or of the algorithm; ``guard_settings`` of the guard.

    >>> AgentEntry(policy="mylab.policies:Mine").label
    'Mine'
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str | None = Field(default=None, min_length=1, max_length=60)
    algorithm: str | None = None
    policy: str | None = None
    guard: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    guard_settings: dict[str, Any] = Field(default_factory=dict)

    @property
    def label(self) -> str:
        """Its name in tables and figures."""
        return self.name or (self.algorithm or self.policy or "").split(":")[-1]

    def __str__(self) -> str:
        """What it is, in short.

        >>> str(AgentEntry(name="free", policy="mylab:Mine", guard="Plain", settings={"c": 2}))
        'free (policy mylab:Mine, guard Plain, c 2)'
        """
        said = {"algorithm": self.algorithm, "policy": self.policy, "guard": self.guard}
        given = {**said, **self.settings, **self.guard_settings}
        parts = [f"{key} {value}" for key, value in given.items() if value is not None]
        return f"{self.label} ({', '.join(parts)})"

    @property
    def own(self) -> list[str]:
        """The keys under which a class of the user's own stands."""
        return [key for key in ("policy", "guard") if is_own(getattr(self, key) or "")]

    def role(self, panel: Panel) -> Role:
        """What its curve stands for, known without importing anything."""
        if self.policy is not None or self.guard is not None:
            guard = self.guard or "GenCB"
            known: dict[str, Role] = {"GenCB": "guarded", "Plain": "unguarded"}
            return known.get(guard, "comparator")
        if self.algorithm in panel.curves_of_paper():
            return panel.curves_of_paper()[str(self.algorithm)]
        return "comparator" if self.algorithm in COMPARATORS else "unguarded"

    def sources(self, home: str | None) -> dict[str, str]:
        """SHA-256 of the files that define the user's own classes, by module."""
        found: dict[str, str] = {}
        for key in self.own:
            found |= sources(getattr(self, key), home)
        return found

    def build(self, panel: Panel) -> Agent:
        """The agent, fresh. Raises Misplaced, naming the key, where it cannot be made."""
        if (self.algorithm is None) == (self.policy is None):
            raise Misplaced(
                f"agent {self.label!r} must have either algorithm or policy; "
                'give policy = "mylab.policies:Mine", or algorithm = "GenCB"'
            )
        if self.policy is not None:
            policy = self._policy(self.policy, "policy", panel)
            return self._guarded(policy, panel, self.guard or "GenCB")
        return self._algorithm(str(self.algorithm), panel)

    def _algorithm(self, name: str, panel: Panel) -> Agent:
        papers = panel.paper_agents()
        if self.guard is None and name in papers and not self.settings:
            return papers[name]
        if name in COMPARATORS or (name in papers and name == panel.comparator):
            self._no_guard(name)
            from surefoot import comparators

            kind = getattr(comparators, name)
            try:
                settled = panel.told_to_rivals()
            except Misplaced as error:
                raise Misplaced(f"agent {self.label!r}: {error}", "algorithm") from error
            return self._agent(self._made(kind, "algorithm", panel.told(), settled))
        if name in papers and name == panel.guarded:
            self._no_guard(name)
            agent = papers[name]
            make = partial(type(agent), agent.policy, agent.floor)
            return self._agent(
                self._made(make, "algorithm", {}, {"default_competes": lambda: False})
            )
        if name in POLICIES or name in papers:
            policy = self._policy(_CLASSES.get(name, name), "algorithm", panel)
            return self._guarded(policy, panel, self.guard or "Plain")
        raise Misplaced(
            f"algorithm = {shown(name)} is none of {panel.problem}'s"
            + meant(name, (*papers, *COMPARATORS, *POLICIES))
            + '; a class of your own is policy = "module:Class"',
            "algorithm",
        )

    def _no_guard(self, name: str) -> None:
        for key, value in (("guard", self.guard), ("guard_settings", self.guard_settings)):
            if value:
                raise Misplaced(
                    f"{key} = {shown(value)} does not go with algorithm = {shown(name)}, which "
                    "guards itself; leave it out",
                    key,
                )

    def _policy(self, name: str, key: str, panel: Panel) -> Any:
        if is_own(name):
            try:
                kind = imported(name, panel.home)
            except InvalidInput as error:
                raise Misplaced(f"{key} = {error}", key) from error
        elif name in POLICIES:
            from surefoot import policies

            kind = getattr(policies, name)
        else:
            raise Misplaced(
                f"policy = {shown(name)} is no policy of Surefoot's{meant(name, POLICIES)}; "
                'a class of your own is "module:Class"',
                "policy",
            )
        return self._made(kind, key, panel.told(), {})

    def _guarded(self, policy: Any, panel: Panel, guard: str) -> Agent:
        floor = panel.floor()
        key = "guard" if self.guard else "policy" if self.policy else "algorithm"
        if is_own(guard):
            try:
                kind = imported(guard, panel.home)
            except InvalidInput as error:
                raise Misplaced(f"guard = {error}", "guard") from error
        elif guard in GUARDS:
            from surefoot import agents

            kind = getattr(agents, guard)
        else:
            raise Misplaced(
                f"guard = {shown(guard)} must be GenCB, Plain or a class of your own, "
                f'"module:Class"{meant(guard, GUARDS)}',
                "guard",
            )
        asked = _asked_for(kind, panel.told_to_guards(), {}, self.guard_settings)
        known = {name: value() for name, value in asked.items()}
        made = self._called(kind, key, {**known, **self.guard_settings}, (policy, floor))
        return self._agent(made, key)

    def _agent(self, made: Any, key: str = "algorithm") -> Agent:
        from surefoot.agents.agent import Agent

        if isinstance(made, Agent):
            return made
        raise Misplaced(
            f"{key} = {shown(getattr(self, key))} makes a {type(made).__name__}, which is no "
            "agent; a guard is made from a policy and a floor, as GenCB is",
            key,
        )

    def _made(self, kind: Any, key: str, told: Known, settled: Known) -> Any:
        """Call a class with what it asks for of what is known, what is settled, and the settings.

        What is ``told`` is left out where the class has a value of its own.
        """
        settings = dict(self.settings)
        if "ridge" in told and isinstance(settings.get("ridge"), dict):
            settings["ridge"] = partial(replace, told["ridge"]())(**settings["ridge"])
        asked = _asked_for(kind, told, settled, settings)
        return self._called(
            kind, key, {**{name: known() for name, known in asked.items()}, **settings}
        )

    def _called(
        self, kind: Any, key: str, keywords: Mapping[str, Any], given: tuple[Any, ...] = ()
    ) -> Any:
        where = f"agent {self.label!r}"
        try:
            return kind(*given, **keywords)
        except InvalidInput as error:
            raise Misplaced(f"{where}: {error}", key) from error
        except (Exception, SystemExit) as error:
            said = shown_error(error)
            raise Misplaced(f"{where}: {shown(getattr(self, key))} raised {said}", key) from error


_CLASSES = {"MV-UCB": "MVUCB"}
"""The classes of curves that the paper writes otherwise."""


def _asked_for(kind: Any, told: Known, settled: Known, given: Mapping[str, Any]) -> Known:
    """Which of the things known a class asks for.

    >>> class Mine:
    ...     def __init__(self, n_arms, c=1.0): ...
    >>> list(_asked_for(Mine, {"n_arms": lambda: 3, "c": lambda: 9}, {}, {}))
    ['n_arms']
    """
    try:
        parameters = inspect.signature(kind).parameters
    except (TypeError, ValueError):
        return {}
    asked = {name: settled[name] for name in parameters if name in settled and name not in given}
    for name, one in parameters.items():
        if name in told and name not in {*given, *asked} and one.default in (one.empty, None):
            asked[name] = told[name]
    if "n_arms" in asked:
        asked.pop("arms", None)
    return asked


def labels_of(entries: tuple[AgentEntry, ...]) -> tuple[str, ...]:
    """The names of some agents. Raises Misplaced where two have the same."""
    names: list[str] = []
    for number, entry in enumerate(entries):
        if entry.label in names:
            raise Misplaced(
                f"two agents are called {entry.label}; give each a name of its own",
                "agents", number, "name",
            )  # fmt: skip
        names.append(entry.label)
    return tuple(names)
