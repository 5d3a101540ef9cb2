"""MABWiser: UCB1 and disjoint LinUCB, predict and partial_fit of one decision at a time."""

from mabwiser.mab import MAB, LearningPolicy

MODULE = "mabwiser"


def ucb(problem):
    """Every arm once to begin with: it has to be fitted first."""
    arms, reward = list(range(problem.K)), problem.rewards()
    mab = MAB(arms, LearningPolicy.UCB1(alpha=1.0))
    mab.fit(arms, [reward(arm) for arm in arms])

    def run(turns):
        for _ in range(turns):
            arm = mab.predict()
            mab.partial_fit([arm], [reward(arm)])

    return run


def linear(problem):
    """A model for each arm, so one context for all arms: the problem's rows in turn."""
    arms, reward, X = list(range(problem.K)), problem.rewards(), problem.X
    mab = MAB(arms, LearningPolicy.LinUCB(alpha=1.0))
    mab.fit(arms, [reward(arm) for arm in arms], X)

    def run(turns):
        for turn in range(turns):
            context = X[turn % problem.K].reshape(1, -1)
            arm = mab.predict(context)
            mab.partial_fit([arm], [reward(arm)], context)

    return run


CONTENDERS = [
    ("UCB1", "ucb", ucb, None),
    ("LinUCB, disjoint", "linear", linear, None),
]
