"""obp: Bernoulli Thompson sampling, for it has no UCB, and disjoint LinUCB."""

import sys
from unittest.mock import MagicMock

# Only its off-policy learners use torch (a download of gigabytes), but it always imports it.
PARTS = (
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.optim",
    "torch.utils",
    "torch.utils.data",
)
torch = MagicMock(**{"Tensor": MagicMock, "utils.data.Dataset": object})
sys.modules.update(dict.fromkeys(PARTS, torch))

from obp.policy import BernoulliTS, LinUCB  # noqa: E402

for name in PARTS:  # scipy would ask the stand-in for its classes
    del sys.modules[name]

MODULE = "obp"


def thompson(problem):
    """Batches of one, the default."""
    policy, reward = BernoulliTS(n_actions=problem.K, random_state=1), problem.rewards()

    def run(turns):
        for _ in range(turns):
            arm = int(policy.select_action()[0])
            policy.update_params(action=arm, reward=reward(arm))

    return run


def linear(problem):
    """A model for each arm, so one context for all arms: the problem's rows in turn."""
    X, reward = problem.X, problem.rewards()
    policy = LinUCB(dim=X.shape[1], n_actions=problem.K, epsilon=1.0, random_state=1)

    def run(turns):
        for turn in range(turns):
            context = X[turn % problem.K].reshape(1, -1)
            arm = int(policy.select_action(context)[0])
            policy.update_params(arm, reward(arm), context)

    return run


CONTENDERS = [
    ("Bernoulli Thompson sampling (no UCB)", "ucb", thompson, None),
    ("LinUCB, disjoint", "linear", linear, None),
]
