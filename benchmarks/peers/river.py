"""river: UCB and disjoint LinUCB, one pull and update at a time."""

from river import bandit

MODULE = "river"


def ucb(problem):
    """delta = 1 is UCB1."""
    policy, reward, arms = bandit.UCB(delta=1, seed=0), problem.rewards(), range(problem.K)

    def run(turns):
        for _ in range(turns):
            arm = policy.pull(arms)
            policy.update(arm, reward(arm))

    return run


def linear(problem):
    """A model for each arm, so one context for all arms: the problem's rows in turn."""
    policy, reward = bandit.LinUCBDisjoint(seed=0), problem.rewards()
    arms, rows = list(range(problem.K)), [dict(enumerate(x)) for x in problem.X.tolist()]

    def run(turns):
        for turn in range(turns):
            context = rows[turn % len(rows)]
            arm = policy.pull(arms, context)
            policy.update(arm, context, reward(arm))

    return run


CONTENDERS = [
    ("UCB1", "ucb", ucb, None),
    ("LinUCB, disjoint", "linear", linear, None),
]
