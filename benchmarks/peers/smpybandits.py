"""SMPyBandits: UCB, its vectorised index; it has no linear bandits."""

from SMPyBandits.Policies import UCB

MODULE = "SMPyBandits"


def ucb(problem):
    """The plain UCB class: its index is computed for all arms at once."""
    policy, reward = UCB(problem.K), problem.rewards()
    policy.startGame()

    def run(turns):
        for _ in range(turns):
            arm = policy.choice()
            policy.getReward(arm, reward(arm))

    return run


CONTENDERS = [("UCB1", "ucb", ucb, None)]
