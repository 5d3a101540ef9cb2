"""Policies as users write them, and what an agent is at one moment, to be compared."""

from typing import Any

import numpy as np

from surefoot.agents.saving import _canonical, agent_to_json


class Least:
    """The least a policy can be: it takes any context and learns nothing."""

    n_arms = 3

    def select(self, context, rng):
        return 0

    def update(self, arm, reward, context):
        pass

    def state(self):
        return {}

    def restore(self, state):
        pass


class Counter:
    """Plays its arms in turn, and keeps what it was told."""

    def __init__(self, n_arms: int) -> None:
        self.n_arms, self.turn, self.learnt = n_arms, 0, []

    def select(self, context, rng):
        self.turn += 1
        return (self.turn - 1) % self.n_arms

    def update(self, arm, reward, context):
        self.learnt.append((arm, reward, context))

    def state(self):
        return {"turn": self.turn, "learnt": self.learnt}

    def restore(self, state):
        self.turn, self.learnt = state["turn"], state["learnt"]


class Waiting(Counter):
    """Plays the arm of the fewest plays, those that wait for their reward included."""

    def __init__(self, n_arms: int) -> None:
        super().__init__(n_arms)
        self.told, self.open, self.fails = [0] * n_arms, [0] * n_arms, set()

    def best(self, context, rng, allowed=None):
        self._fail("best")
        self.turn += 1
        arms = range(self.n_arms) if allowed is None else allowed
        arm = min(arms, key=lambda one: self.told[one] + self.open[one])
        return arm, 1.0 / (1 + self.told[arm] + self.open[arm])

    def select(self, context, rng):
        return self.best(context, rng)[0]

    def update(self, arm, reward, context):
        self._fail("update")
        self.told[arm] += 1

    def correct(self, arm, old, new, context):
        pass

    def opened(self, arm, context):
        self._fail("opened")
        self.open[arm] += 1

    def closed(self, arm, context):
        assert self.open[arm] > 0, "closed without being opened, or twice"
        self.open[arm] -= 1

    def _fail(self, what):
        """Fail once, if that is wanted."""
        if what in self.fails:
            self.fails.discard(what)
            raise RuntimeError(f"no {what}")

    def state(self):
        return {"turn": self.turn, "told": self.told, "open": self.open}

    def restore(self, state):
        self.turn, self.told, self.open = state["turn"], state["told"], state["open"]


class Softmax:
    """Draws an arm by a linear score of the context; learns by gradient; keeps numpy arrays."""

    def __init__(self, n_arms: int, d: int) -> None:
        self.n_arms = n_arms
        self.weights = np.zeros((n_arms, d))

    def select(self, context, rng):
        scores = np.exp(self.weights @ context)
        return rng.choice(self.n_arms, p=scores / scores.sum())

    def update(self, arm, reward, context):
        self.weights[arm] += 0.5 * (reward - 0.5) * context

    def state(self):
        return {"weights": self.weights, 1: (len(self.weights), float("inf"))}

    def restore(self, state):
        assert state[1] == (self.n_arms, float("inf"))
        self.weights = state["weights"]


class Scripted(Counter):
    """Answers what it is told to, in order; an exception is raised."""

    def __init__(self, n_arms: int, *answers: Any) -> None:
        super().__init__(n_arms)
        self.answers = list(answers)

    def best(self, context, rng, allowed=None):
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def select(self, context, rng):
        return self.best(context, rng)[0]


class Mute(Exception):
    """An error that cannot even be told."""

    def __str__(self):
        raise RuntimeError


class Hostile:
    """Does at each call what a random number says: right, wrong, or raising."""

    n_arms = 3

    def __init__(self, seed, scores):
        self.dice = np.random.default_rng(seed)
        self.mine = np.array([0.0, 1.0])
        if not scores:
            self.best = None

    def _harm(self):
        errors = (ValueError, KeyError, RecursionError, MemoryError, StopIteration, Mute)
        self.mine[:] = self.dice.random(2)  # what it once returned changes under its owner
        if self.dice.random() < 0.3:
            raise errors[self.dice.integers(len(errors))]

    def _answer(self):
        self._harm()
        answers = (0, 1, 2, 3, -1, None, "0", 1.5, np.int64(2), self.mine, [0], float("nan"))
        return answers[self.dice.integers(len(answers))]

    def best(self, context, rng, allowed=None):
        if context is not None:
            context[0] = float("nan")
        if allowed is not None:
            allowed.append(7)
        scores = (0.9, float("inf"), float("nan"), "high", None, self.mine, 10**400)
        return self._answer(), scores[self.dice.integers(len(scores))]

    def select(self, context, rng):
        return self._answer()

    def opened(self, arm, context):
        self._harm()

    closed = opened

    def update(self, arm, reward, context):
        self._harm()

    def state(self):
        return {}

    def restore(self, state):
        pass


def snapshot(agent: Any) -> str:
    """Everything a save keeps: books, open plays, policy, clock and random state."""
    return _canonical({**agent_to_json(agent), "tally": agent.tally.state(agent)})
