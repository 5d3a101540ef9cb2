"""Three agents on two arms, and what a plan of them leaves behind."""

import surefoot as sf
from surefoot.simulation.plan import Plan
from surefoot.simulation.runner import choose

ENVIRONMENT = sf.BernoulliArms([0.8, 0.5])


def gencb(alpha=0.2, n_arms=2, **floor):
    return sf.GenCB(sf.UCB1(n_arms), sf.RewardFloor(0.6, alpha, **floor), default_competes=False)


def three():
    return {
        "GenCB": gencb(),
        "UCB1": sf.Plain(sf.UCB1(2), sf.RewardFloor(0.6, 0.2)),
        "ConUCB": sf.ConUCB(2, 0.6, 0.2),
    }


def traces(agents, horizon, seed=0, checkpoints="all", environment=ENVIRONMENT, engine="compiled"):
    """Books and losses; these up to the order in which a driver adds them."""
    made = Plan(agents, environment, horizon, seed, checkpoints)
    return {
        name: (trace.books.tolist(), trace.losses.round(9).tolist())
        for name, trace in made.run(0, choose(engine)).items()
    }
