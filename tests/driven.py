"""A policy on random plans: live, in plain loops and compiled it makes the same plays."""

import numpy as np

import surefoot as sf
from surefoot.simulation import Plan, stepwise
from surefoot.simulation.compiled import PLAIN, engine


def plans(make, random):
    """Agents that share a base path, or have one of their own; arms pay 0, 1 or what lies between.

    ``make(n_arms, random)`` makes the policy.
    """
    K, alpha = int(random.choice([1, 2, 5, 24])), float(random.choice([0.05, 0.3, 0.95]))
    floor = sf.RewardFloor(round(float(random.uniform(0.05, 0.95)), 2), alpha)
    seed = int(random.integers(2**32))
    alike = lambda: make(K, np.random.default_rng(seed))  # noqa: E731
    agents = {
        "competing": sf.GenCB(alike(), floor),
        "printed": sf.GenCB(alike(), floor, default_competes=False),
        "plain": sf.Plain(alike(), floor),
    }
    paid = [0.0, 1.0] if random.random() < 0.5 else [0.0, 0.25, 1 / 3, 1.0]
    environment = sf.EmpiricalArms(random.choice(paid, (K, 8)), reward_range=(0, 1))
    return Plan(agents, environment, int(random.choice([60, 200])), seed, "all")


def check_drivers(make, count, seed=5):
    random = np.random.default_rng(seed)
    for _ in range(count):
        check_plan(plans(make, random))


def live(plan, name, run=0):
    """The trace of one agent of a plan, driven play by play."""
    return stepwise.drive(
        plan.agents[name], plan.environment, plan.tops[name], plan.key(run), plan._stream(run, 1),
        plan.checkpoints, lambda: False,
    )  # fmt: skip


def check_plan(plan):
    assert not plan.stepwise
    fast, plain = plan.run(0, engine()), plan.run(0, PLAIN)
    for name in plan.agents:
        assert (fast[name].books == plain[name].books).all()
        assert (fast[name].books == live(plan, name).books).all()


def frequencies(policy, keys, allowed=None):
    """How often the next turn chooses each arm, over so many keys."""
    counts = [0] * policy.n_arms
    for key in range(keys):
        policy.key = key
        counts[policy.peek(policy.turns + 1, allowed)[0]] += 1
    return counts


def check_propensities(policy, keys=4000, allowed=None):
    """The draws over keys are as likely as the policy says: a chi-squared test of each arm."""
    says, seen = policy.propensities(None, allowed), frequencies(policy, keys, allowed)
    assert sum(says) == 1 or abs(sum(says) - 1) < 1e-12
    for share, count in zip(says, seen, strict=True):
        spread = (keys * share * (1 - share)) ** 0.5
        assert abs(count - keys * share) <= 4.5 * spread + 1e-9
