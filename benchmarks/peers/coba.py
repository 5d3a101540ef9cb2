"""coba: UCB1-Tuned, and LinUCB of Chu et al. 2011 on the arms' features."""

from coba.learners import BanditUCBLearner, LinUCBLearner

MODULE = "coba"


def ucb(problem):
    """Actions are the numbers of the arms."""
    return play(BanditUCBLearner(seed=1), list(range(problem.K)), problem.rewards())


def linear(problem):
    """Actions are the rows of features; no context besides."""
    learner = LinUCBLearner(alpha=1, features=["a"], seed=1)
    return play(learner, [tuple(x) for x in problem.X.tolist()], problem.rewards())


def play(learner, actions, reward):
    """predict gives an action and its chance, learn wants both."""
    numbers = {action: arm for arm, action in enumerate(actions)}

    def run(turns):
        for _ in range(turns):
            action, chance = learner.predict(None, actions)[:2]
            learner.learn(None, action, reward(numbers[action]), chance)

    return run


CONTENDERS = [
    ("UCB1-Tuned", "ucb", ucb, None),
    ("LinUCB, shared theta", "linear", linear, None),
]
