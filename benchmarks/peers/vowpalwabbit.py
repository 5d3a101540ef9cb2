"""Vowpal Wabbit: no UCB; epsilon-greedy on arms, RegCB-opt on features.

Examples to predict are kept parsed; one to learn from has to be parsed anew, for a kept one with a
new label teaches nothing.
"""

import random

from vowpalwabbit import Workspace

MODULE = "vowpalwabbit"


def greedy(problem):
    """One example without features; its prediction is a chance for each arm."""
    vw, reward = Workspace(f"--cb_explore {problem.K} --epsilon 0.1 --quiet"), problem.rewards()
    asked, arms, rng = vw.parse("|"), range(problem.K), random.Random(1)  # noqa: S311

    def run(turns):
        for _ in range(turns):
            chances = vw.predict(asked)
            arm = rng.choices(arms, chances)[0]
            vw.learn(f"{arm + 1}:{-reward(arm)}:{chances[arm]} |")

    return run


def linear(problem):
    """Costs in [-1, 0], and it must be told so, or it does not learn."""
    how = "--cb_explore_adf --regcbopt --mellowness 0.01 --cb_min_cost -1 --cb_max_cost 0 --quiet"
    vw, reward = Workspace(how), problem.rewards()
    lines = ["| " + " ".join(f"x{j}:{x}" for j, x in enumerate(row)) for row in problem.X.tolist()]
    asked, arms, rng = vw.parse(lines), range(problem.K), random.Random(1)  # noqa: S311

    def run(turns):
        for _ in range(turns):
            chances = vw.predict(asked)
            arm = rng.choices(arms, chances)[0]
            label = f"0:{-reward(arm)}:{chances[arm] / sum(chances)} {lines[arm]}"
            vw.learn([*lines[:arm], label, *lines[arm + 1 :]])

    return run


CONTENDERS = [
    ("epsilon-greedy (no UCB)", "ucb", greedy, None),
    ("RegCB-opt (no LinUCB)", "linear", linear, None),
]
