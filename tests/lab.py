"""A user's own module, as text: policies and environments, some of which cannot be made."""

from surefoot.study.toml.study_file import read_study

POLICIES = """
class Mine:
    def __init__(self, n_arms, c=1.0):
        self.n_arms, self.c = n_arms, c

    def select(self, context, rng):
        return 0

    def update(self, arm, reward, context):
        pass

    def state(self):
        return {}

    def restore(self, state):
        pass


class Broken(Mine):
    def __init__(self, n_arms):
        raise RuntimeError("no luck")
"""

ENVIRONMENTS = """
import numpy as np


class Shop:
    n_arms, places, reward_range, record = 2, 0, (0, 1), None
    variances, best = np.array([0.25, 0.16]), 0.8

    def __init__(self, good=0.8):
        self.means = np.array([0.5, good])

    def pull(self, key, turn, arm):
        return float((key + turn * 7 + arm) % 10 < 10 * self.means[arm])

    def value(self, action):
        return float(self.means[action])


class Half:
    n_arms = 2


class Angry(Shop):
    def __init__(self):
        raise RuntimeError("closed today")


class Sly(Shop):
    @property
    def variances(self):
        raise KeyError("gone")


number = 3
"""

MEASURED = """\
[measures.quality]
path = "BernoulliArms"
settings = { means = [0.9, 0.7] }
default = { path = "BernoulliArms", settings = { means = [0.8] } }
[measures.cost]
path = "EmpiricalArms"
settings = { samples = [[0.02, 0.04], [0.002]] }
default = 0.012
[[agents]]
name = "guarded"
policy = "KLUCB"
[[agents]]
name = "unguarded"
policy = "KLUCB"
guard = "Plain"
"""


def reader(folder, module):
    """What reads a study file of some text in a folder, where LAB is the user's module."""

    def read_text(text):
        (folder / "study.toml").write_text(text.replace("LAB", module))
        return read_study(folder / "study.toml")

    return read_text
