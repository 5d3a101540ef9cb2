"""A plan whose arms have other numbers in each run, so that no policy gains by their order.

The paper's panels list the best arm first, and ties go to the lowest number: in that order a
policy that never explores looks perfect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import surefoot as sf
from surefoot.simulation import Plan
from surefoot.simulation.compiled import Engine
from surefoot.simulation.loop import Ints, Trace
from surefoot.simulation.stops import Keeper

if TYPE_CHECKING:
    from surefoot.agents.agent import Agent

Arms: TypeAlias = "sf.BernoulliArms | sf.LinearArms | sf.CombinatorialArms"
Field: TypeAlias = Callable[[Any], Mapping[str, "Agent"]]
"""From an environment to fresh agents that play in it, by name; always the same names."""
ORDER = 2
"""Of the streams of a run, the one that shuffles: the first two are the plan's own."""


def relabelled(environment: Arms, order: Ints) -> Arms:
    """The same arms under other numbers: arm i is the one that was ``order[i]``.

    Of super arms it is the base arms that are numbered anew, which keeps what a super arm is only
    where every base arm may stand for every other one, as in ``TopK``.

    >>> relabelled(sf.BernoulliArms([0.1, 0.2, 0.3]), np.array([2, 0, 1])).means.tolist()
    [0.3, 0.1, 0.2]
    """
    if isinstance(environment, sf.CombinatorialArms):
        return sf.CombinatorialArms(
            environment.X[order], environment.theta, environment.oracle, environment.f
        )
    if isinstance(environment, sf.LinearArms):
        return sf.LinearArms(environment.X[order], environment.theta)
    return sf.BernoulliArms(environment.means[order])


class ShuffledPlan(Plan):
    """A plan that shuffles the arms anew in each run, by the seed and the run's number alone.

    ``field`` makes the agents for an environment, since linear policies hold its features. All
    agents of a run meet the same order, and the same noise.
    """

    def __init__(
        self,
        field: Field,
        environment: Arms,
        horizon: int,
        seed: Any,
        checkpoints: Any = (),  # the horizon alone
    ) -> None:
        super().__init__(field(environment), environment, horizon, seed, checkpoints)
        self._field, self._arms = field, environment

    def order(self, run: int) -> Ints:
        """The number that each arm of a run has in the environment: a permutation."""
        stream = np.random.default_rng(self._stream(run, ORDER))
        return stream.permutation(self.environment.n_arms)

    def arms(self, run: int) -> Any:
        """What is played in a run: the arms in its order."""
        return relabelled(self._arms, self.order(run))

    def run(
        self,
        run: int,
        engine: Engine,
        stopped: Callable[[], bool] = lambda: False,
        keeper: Keeper | None = None,
    ) -> dict[str, Trace]:
        """One run of fresh agents on the run's arms."""
        arms = self.arms(run)
        plan = Plan(self._field(arms), arms, self.horizon, self.entropy, self.checkpoints)
        return plan.run(run, engine, stopped, keeper)
