"""The fifth problem of a study file: an environment of one's own, and a floor on its reward."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

import surefoot as sf
from surefoot._exact import shown
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.study.entry import Known, Misplaced
from surefoot.study.near import meant
from surefoot.study.own_code import imported, is_own, shown_error, sources
from surefoot.study.panel import Bounds, Panel, Words

if TYPE_CHECKING:
    from surefoot.agents.agent import Agent

ENVIRONMENTS = ("BernoulliArms", "BetaArms", "ContextualArms", "EmpiricalArms", "GaussianArms")
"""Those of Surefoot's that are made from plain settings."""


class EnvironmentEntry(BaseModel):
    """The ``[environment]`` of a study file: where rewards come from.

    ``path``: ``module:Class`` of one's own, or one of ``ENVIRONMENTS``; ``settings``: its keywords.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    path: str = Field(min_length=1)
    settings: dict[str, Any] = Field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name of the class."""
        return self.path.split(":")[-1]

    def __str__(self) -> str:
        """What it is, in short."""
        parts = [self.path, *(f"{key} {value}" for key, value in self.settings.items())]
        return f"({', '.join(parts)})"

    def build(self, home: str | None) -> Any:
        """The environment, fresh. Raises Misplaced where it cannot be made."""
        try:
            return self._class(home)(**self.settings)
        except InvalidInput as error:
            raise Misplaced(f"[environment]: {error}", "environment", "path") from error
        except (Exception, SystemExit) as error:
            said = shown_error(error)
            raise Misplaced(
                f"[environment]: {shown(self.path)} raised {said}", "environment", "path"
            ) from error

    def _class(self, home: str | None) -> Any:
        if is_own(self.path):
            return imported(self.path, home)
        if self.path in ENVIRONMENTS:
            from surefoot import environments

            return getattr(environments, self.path)
        raise InvalidInput(
            f"path = {shown(self.path)} must be a class of your own, "
            f'"mylab.envs:Shop", or one of {", ".join(ENVIRONMENTS)}'
            f"{meant(self.path, ENVIRONMENTS)}"
        )


class OwnWorld(Panel):
    """Agents on an environment of one's own."""

    problem: Literal["own"] = "own"
    ties: Literal["lowest arm"] = "lowest arm"

    guarded: ClassVar[str] = ""
    unguarded: ClassVar[str] = ""

    @property
    def top(self) -> float:
        """What the environment says its best arm is worth."""
        return float(self.environment().best)

    def told(self) -> Known:
        """What a policy may ask for: what the environment has of features and an oracle too."""
        environment = self.environment()
        known = {"arms": "X", "base_arms": "X", "features": "X", "oracle": "oracle"}
        has = {
            name: partial(getattr, environment, attribute)
            for name, attribute in known.items()
            if getattr(environment, attribute, None) is not None
        }
        return {**super().told(), **has}

    def paper_agents(self) -> dict[str, Agent]:
        """None: the paper has no such problem."""
        if self.entries is None:
            raise Misplaced(
                'problem = "own" has no agents of the paper\'s; add [[agents]]', "problem"
            )
        return {}

    def bounds(self) -> Bounds:
        """None: the theorems are about the paper's problems."""
        return ()


class Own(OwnWorld):
    """Agents on an environment of one's own, with a floor on its reward.

    >>> from surefoot.study.sweep import panel_of
    >>> arms = {"path": "BernoulliArms", "settings": {"means": [0.8, 0.4]}}
    >>> panel = panel_of({
    ...     "problem": "own", "environment": arms, "default": 0.5, "alpha": 0.1, "runs": 2,
    ...     "horizon": 100, "seed": 0, "agents": [{"policy": "KLUCB"}],
    ... })
    >>> panel.name, panel.top, list(panel.agents())
    ('own-alpha0.1', 0.8, ['KLUCB'])
    """

    world: EnvironmentEntry = Field(alias="environment")
    default: float
    """The default's known reward at every play."""
    reward_range: tuple[float, float] | None = None
    """What every reward lies between; None: as the environment says."""

    axes: ClassVar[tuple[str, ...]] = ("alpha",)
    words: ClassVar[Words] = Words(
        arms="{p.world.label}",
        setting="{p.world.label}, an environment of the study's own, a default that pays "
        "{p.default:g}, α = {p.alpha:g}",
        rival="the best regular arm, whose mean is μ*",
        remark="",
    )

    def environment(self) -> Any:
        """Where rewards come from, fresh."""
        return self.world.build(self.home)

    @property
    def pays(self) -> float:
        """The default's known reward."""
        return self.default

    @property
    def foreign(self) -> bool:
        """Whether a class of the user's own plays or pays."""
        return super().foreign or is_own(self.world.path)

    def sources(self) -> dict[str, str]:
        """SHA-256 of the files that define the user's own classes, by module."""
        mine = sources(self.world.path, self.home) if is_own(self.world.path) else {}
        return {**mine, **super().sources()}

    def settings_of(self, owner: str) -> JsonObject:
        """The settings of the environment, or of an agent by its name."""
        return self.world.settings if owner == "environment" else super().settings_of(owner)

    def floor(self) -> sf.RewardFloor:
        """A floor on reward."""
        from surefoot.environments.base import bounds

        return sf.RewardFloor(
            self.default, self.alpha, self.reward_range or bounds(self.environment())
        )

    def told_to_rivals(self) -> Known:
        """What else a comparator is given: the range of the rewards too."""
        return {**super().told_to_rivals(), "reward_range": lambda: self.floor().reward_range}
