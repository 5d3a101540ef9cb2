"""Worlds whose rewards come late or whose arms drift, and how the naive twin plays there."""

from hypothesis import strategies as st

import surefoot as sf
from naive import simulate as naive
from naive import waiting
from surefoot.simulation.loop import ARM, BELOW, DEFAULTS, LEAST, SLACK

ARMS = sf.BernoulliArms([0.9, 0.5, 0.4])
DRIFT = sf.Drifting(ARMS, {41: [0.1, 0.2, 0.9], 90: [0.5, 0.6, 0.5]})
DELAYS = [0, 1, 7, 200, (0, 9), (3, 30)]


def timed(*inside):
    """Environments whose rewards come late, around some of ``inside``."""
    worlds = st.sampled_from(inside)
    return (
        st.builds(sf.Delayed, worlds, st.sampled_from(DELAYS))
        | st.builds(sf.Delayed, worlds, mean=st.sampled_from([0.5, 6, 40]))
        | st.builds(sf.Batched, worlds, st.sampled_from([1, 2, 10, 70]))
    )


def twin(agent, plan, environment, horizon, counting=False):
    """The rows of the naive run of an agent."""
    key, floor = plan.key(0), agent.floor
    low, high = floor.reward_range
    guarded = isinstance(agent, sf.GenCB)
    players = naive.Settings(
        environment.n_arms, floor.default, floor.alpha, low, high, floor.reserve, guarded,
        agent.default_competes,
    )  # fmt: skip

    def pull(m, arm, t):
        moment = (t,) if getattr(environment, "drifts", False) else ()
        return int(environment.pull(key, m, arm, *moment))

    def due(t):
        return environment.arrival(key, t) if hasattr(environment, "arrival") else t

    return waiting.run(players, pull, due, horizon, counting=counting)


def assert_is(trace, rows, unit):
    books = trace.books
    assert books[:, ARM].tolist() == [row.arm for row in rows]
    assert books[:, DEFAULTS].tolist() == [row.default_plays for row in rows]
    assert books[:, BELOW].tolist() == [row.violating for row in rows]
    assert books[:, SLACK].tolist() == [row.slack * unit for row in rows]
    assert books[:, LEAST].tolist() == [row.least * unit for row in rows]


def floors():
    return st.builds(
        sf.RewardFloor, st.sampled_from([0.5, 0.7]), st.sampled_from([0.1, 0.3, 0.6]),
        st.sampled_from([(0, 1), (-1, 2), (0.25, 1), (-0.5, 1.5)]).filter(lambda r: r[0] <= 0),
        st.sampled_from([0, 0.5, 3]),
    )  # fmt: skip
