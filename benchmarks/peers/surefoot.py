"""surefoot: its simulation engine, and its agents live, with and without a floor."""

import numpy as np

import surefoot as sf
from surefoot.simulation import Plan
from surefoot.simulation.compiled import engine

MODULE = "surefoot"
HORIZON = 1_000_000
ALPHA = 0.05
OPEN = 0.95  # the alpha of live loops: at .05 the gate would be closed most of the time

sf.warmup()  # live policies then run compiled


def simulated(make_agent):
    """Runs of the engine: draws, books and 360 checkpoints included."""

    def make(problem):
        if problem.X is None:
            environment = sf.BernoulliArms(problem.means)
        else:
            environment = sf.LinearArms(problem.X, problem.theta)
        agent = make_agent(problem)

        def run(turns):
            Plan({"agent": agent}, environment, turns, 1).run(0, engine())

        return run

    return make


def live(make_agent):
    """select and update, books included."""

    def make(problem):
        agent, reward = make_agent(problem), problem.rewards()

        def run(turns):
            for _ in range(turns):
                play = agent.select()
                if play.is_default:
                    agent.update(play)
                else:
                    agent.update(play, reward(play.index))

        return run

    return make


def alone(make_policy):
    """The policy without an agent: no books, as in the other libraries."""

    def make(problem):
        policy, reward, rng = make_policy(problem), problem.rewards(), np.random.default_rng(0)

        def run(turns):
            for _ in range(turns):
                arm = policy.select(None, rng)
                policy.update(arm, reward(arm), None)

        return run

    return make


def floor(problem, alpha):
    """An agent with a floor: at alpha of the default's reward .7 (linear: of .4)."""
    if problem.X is None:
        return sf.gencb_cmab(problem.K, 0.7, alpha)
    return sf.gencb_clb(problem.X, 0.4, alpha)


def policy(problem):
    """The policy that all agents here have."""
    return sf.UCB1(problem.K) if problem.X is None else sf.LinUCB(problem.X)


CONTENDERS = [
    (f"{name}, {how}", kind, make, turns)
    for name, guarded, kind in (("UCB1", "GenCB", "ucb"), ("LinUCB", "GenCB-CLB", "linear"))
    for name, how, make, turns in (
        (name, "simulation engine", simulated(lambda p: sf.Plain(policy(p))), HORIZON),
        (guarded, "simulation engine", simulated(lambda p: floor(p, ALPHA)), HORIZON),
        (name, "live, policy alone", alone(policy), None),
        (name, "live, Plain agent with books", live(lambda p: sf.Plain(policy(p))), None),
        (guarded, "live, floor and books", live(lambda p: floor(p, OPEN)), None),
    )
]
