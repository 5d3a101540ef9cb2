"""pymab: UCB1 and disjoint LinUCB, live on its Rust core, and its Rust Experiment."""

import numpy as np
from pymab import BanditEnvironment, BernoulliReward, Experiment, ExperimentConfig
from pymab.policies.contextual_bandits import LinUCBPolicy
from pymab.policies.ucb import UCBPolicy

MODULE = "pymab"


def ucb(problem):
    """UCB1, c = 2 as ours."""
    policy, rng = UCBPolicy(n_arms=problem.K), np.random.default_rng(0)
    reward = problem.rewards()

    def run(turns):
        for _ in range(turns):
            arm = policy.select_action(rng=rng)
            policy.update(action=arm, reward=reward(arm))

    return run


def linear(problem):
    """A model for each arm."""
    X, reward, rng = problem.X, problem.rewards(), np.random.default_rng(0)
    policy = LinUCBPolicy(n_arms=problem.K, n_features=X.shape[1])

    def run(turns):
        for _ in range(turns):
            arm = policy.select_action(rng=rng, context=X)
            policy.update(action=arm, reward=reward(arm), context=X)

    return run


def experiment(problem):
    """Draws its own rewards, and records every step."""
    environment = BanditEnvironment(means=problem.means, reward_model=BernoulliReward())
    policies = {"ucb": UCBPolicy(n_arms=problem.K)}

    def run(turns):
        config = ExperimentConfig(horizon=turns, n_replicates=1, seed=1, backend="rust")
        Experiment(environment=environment, policies=policies, config=config).run()

    return run


CONTENDERS = [
    ("UCB1, live (Rust core)", "ucb", ucb, None),
    ("UCB1, Rust Experiment", "ucb", experiment, 10_000),
    ("LinUCB, disjoint, live (Rust core)", "linear", linear, None),
]
