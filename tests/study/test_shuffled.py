import numpy as np
import pytest

import surefoot as sf
from surefoot.simulation import Plan, Result
from surefoot.simulation.compiled import PLAIN
from surefoot.study.shuffled import ShuffledPlan, relabelled

ARMS = sf.BernoulliArms(np.linspace(0.9, 0.1, 6))


class Stubborn:
    """Always plays arm 0, which in the order of the panels is the best."""

    n_arms = 6

    def select(self, context, rng):
        return 0

    def update(self, arm, reward, context):
        pass

    def state(self):
        return []

    def restore(self, state):
        pass


def field(environment):
    floor = sf.RewardFloor(0.5, 0.2)
    return {
        "UCB1": sf.GenCB(sf.UCB1(environment.n_arms), floor, default_competes=False),
        "stubborn": sf.GenCB(Stubborn(), floor, default_competes=False),
    }


def regrets(plan, name, runs=5):
    done = {run: plan.run(run, PLAIN) for run in range(runs)}
    return Result(plan, done, "plain").measure(name, "regret")[:, -1]


def plan(seed=3):
    return ShuffledPlan(field, ARMS, 200, seed)


def test_the_first_arm_is_not_the_best_in_every_run():
    in_order = Plan(field(ARMS), ARMS, 200, 3, [200])
    least = regrets(in_order, "stubborn").max()  # its default plays alone
    assert (regrets(plan(), "stubborn") > 2 * least).any()


def test_an_order_depends_on_seed_and_run_alone_and_is_a_permutation():
    orders = [plan().order(run) for run in range(20)]
    assert all(sorted(order) == list(range(6)) for order in orders)
    assert len({tuple(order) for order in orders}) > 15
    assert all((plan().order(run) == order).all() for run, order in enumerate(orders))
    assert any((plan(4).order(run) != order).any() for run, order in enumerate(orders))


def test_every_arm_comes_first_about_equally_often():
    first = np.bincount([plan().order(run)[0] for run in range(1200)], minlength=6)
    assert (abs(first - 200) < 65).all()  # five standard deviations


def test_a_run_is_one_of_a_plan_on_the_arms_in_that_order():
    run = 4
    arms = sf.BernoulliArms([ARMS.means[i] for i in plan().order(run)])
    alone = Plan(field(arms), arms, 200, 3, [200]).run(run, PLAIN)
    for name, trace in plan().run(run, PLAIN).items():
        assert (trace.books == alone[name].books).all()
        assert (trace.losses == alone[name].losses).all()


@pytest.mark.parametrize(
    "environment",
    [
        ARMS,
        sf.LinearArms.embedded(6, 3, seed=1),
        sf.CombinatorialArms.embedded(6, 3, sf.TopK(2), seed=1),
    ],
)
def test_the_arms_are_the_same_under_other_numbers(environment):
    order = np.array([3, 1, 5, 0, 4, 2])
    shuffled = relabelled(environment, order)
    assert type(shuffled) is type(environment)
    assert (shuffled.means == environment.means[order]).all()
    assert shuffled.best == pytest.approx(environment.best, abs=1e-12)
    if not isinstance(environment, sf.CombinatorialArms):
        assert shuffled.best == environment.best
    if hasattr(environment, "X"):
        assert (shuffled.X == environment.X[order]).all()
