"""What all adapters share: limits of time, seeds, what is refused and what is saved."""

import copy
import random
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from bayesianbandits import Agent, Arm, NormalInverseGammaRegressor, ThompsonSampling
from mabwiser.mab import MAB, LearningPolicy, NeighborhoodPolicy
from river import bandit
from sklearn.linear_model import Ridge, SGDClassifier, SGDRegressor

import surefoot as sf
from surefoot.adapters import (
    BayesianBandits,
    Called,
    MABWiser,
    River,
    ScikitLearn,
    VowpalWabbit,
)  # fmt: skip
from surefoot.adapters._plain import read, written
from surefoot.adapters._workspace import example
from surefoot.errors import InvalidInput, LateAnswer

FLOOR = sf.RewardFloor(0.5, 0.2, reserve=100)


def slow(seconds):
    """A rule that takes so long, and the clock by which it does."""
    watch = SimpleNamespace(now=0.0)

    def choose(context, rng):
        watch.now += seconds
        return 0

    return Called(choose, n_arms=2, time_limit=0.1, clock=lambda: watch.now)


def test_a_late_answer_is_waited_for_and_becomes_a_default_play():
    agent = sf.GenCB(slow(0.101), FLOOR, on_fault="default")
    play = agent.select()
    assert play.reason is sf.Reason.POLICY_FAULT
    assert "0.101 s" in play.fault
    assert sf.GenCB(slow(0.1), FLOOR, on_fault="default").select().arm == 0
    with pytest.raises(LateAnswer, match=r"^Called answered after 0\.101 s and may take 0\.1 s; "):
        sf.GenCB(slow(0.101), FLOOR).select()


@pytest.mark.parametrize("answer", [float("nan"), 2, -1, "a", None, True, [0, 1], np.zeros(2)])
def test_what_is_no_arm_is_a_fault(answer):
    agent = sf.GenCB(Called(lambda *_: answer, n_arms=2), FLOOR, on_fault="default")
    assert agent.select().reason is sf.Reason.POLICY_FAULT


@pytest.mark.parametrize("answer", [0, 2, "a", True, np.True_, float("nan"), None, np.zeros(2)])
def test_an_answer_that_is_no_label_is_a_fault_though_it_is_the_number_of_an_arm(answer):
    rule = Called(lambda *_: answer, arms=[1, 10, 20])
    agent = sf.GenCB(rule, FLOOR, on_fault="default")
    assert agent.select().fault.startswith("InvalidInput: choose returned ")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Called(None, n_arms=2), r"^choose = None must be a function"),
        (lambda: Called(max, 3, n_arms=2), r"^learn = 3 must be a function"),
        (lambda: Called(max, n_arms=2, time_limit=0), r"^time_limit = 0 must be"),
        (lambda: MABWiser(SGDRegressor()), r"^mab = SGDRegressor\(\) must be"),
        (lambda: River(bandit.Exp3(0.1), n_arms=2), r"^policy = Exp3 learns by the chances"),
        (lambda: River(3, n_arms=2), r"^policy = 3 must be a policy of river"),
        (lambda: BayesianBandits(3), r"^agent = 3 must be an agent"),
        (lambda: ScikitLearn(Ridge(), n_arms=2), r"^estimator = Ridge\(\) must .* partial_fit"),
        (lambda: ScikitLearn(SGDClassifier(), n_arms=2), r"has no predict_proba"),
        (lambda: Called(max, n_arms=2, time_limit="5"), r"^time_limit = '5' must be"),
        (lambda: ScikitLearn(SGDRegressor(), n_arms=2, epsilon=2), r"^epsilon = 2 must"),
        (lambda: ScikitLearn(SGDRegressor(), n_arms=2, epsilon="a"), r"^epsilon = 'a' must"),
        (lambda: ScikitLearn(SGDRegressor(), n_arms=2, replicates=2.5), r"replicates = 2\.5 be"),
        (lambda: VowpalWabbit(None, n_arms=2), r"^options = None must"),
        (lambda: VowpalWabbit("--oaa 3", n_arms=2), r"^options = '--oaa 3' must"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused(make, says):
    with pytest.raises(InvalidInput, match=says):
        make()


def test_the_seed_is_the_agents_and_numpys_own_state_is_left_alone():
    def policy(seed):
        arms = [Arm(n, learner=NormalInverseGammaRegressor()) for n in range(4)]
        return BayesianBandits(Agent(arms, ThompsonSampling(), random_seed=seed))

    before = np.random.get_state()[1].tolist(), random.getstate()  # noqa: NPY002
    plays = [
        [play.arm for play in sf.GenCB(policy(own), FLOOR, seed=seed).select_many(12)]
        for own, seed in ((1, 5), (2, 5), (1, 6))
    ]
    estimator = ScikitLearn(SGDClassifier(loss="log_loss"), n_arms=2)
    estimator.update(0, 1.0, [1.0])
    assert plays[0] == plays[1] != plays[2]
    assert (np.random.get_state()[1].tolist(), random.getstate()) == before  # noqa: NPY002


def test_a_state_that_only_pickle_could_save_is_refused():
    trees = NeighborhoodPolicy.TreeBandit()
    policy = MABWiser(MAB([0, 1], LearningPolicy.EpsilonGreedy(), trees))
    for arm in (0, 1):
        policy.update(arm, 1.0, [1.0, 2.0])
    with pytest.raises(InvalidInput, match=r"\(Tree\), which cannot be saved without pickle"):
        policy.state()


class Client:
    """A model behind a network, whose connection has a lock."""

    def __init__(self):
        self.lock = threading.Lock()

    def choose(self, context, rng):
        with self.lock:
            return 1


def test_a_client_that_cannot_be_copied_is_refused_but_a_function_may_use_one():
    client = Client()
    with pytest.raises(InvalidInput, match=r"^the learner of Called cannot be copied \(cannot pic"):
        Called(client.choose, n_arms=2)

    def ask(context, rng):
        return client.choose(context, rng)

    rule = Called(ask, n_arms=2)
    agent = copy.deepcopy(sf.GenCB(rule, FLOOR))
    assert agent.select().arm == 1


def test_a_lock_that_a_learner_took_up_later_cannot_be_saved():
    with pytest.raises(InvalidInput, match=r"^learner\.lock is .* cannot be saved without pickle"):
        written(Client(), "learner")


def test_a_state_is_refused_by_a_learner_of_another_make():
    policy = River(bandit.UCB(1), n_arms=2)
    policy.update(0, 1.0, None)
    with pytest.raises(InvalidInput, match="was a UCB, and the fresh learner has none"):
        River(bandit.EpsilonGreedy(0.1), n_arms=2).restore(policy.state())


def test_what_a_learner_holds_twice_it_holds_twice_again():
    row = np.arange(3.0)
    learner = SimpleNamespace(all=[row, np.ones(1)], first=row, rng=np.random.default_rng(3))
    learner.itself = learner
    fresh = SimpleNamespace(all=[np.zeros(3), np.zeros(1)], rng=np.random.default_rng(0))
    fresh.itself, fresh.gone = fresh, 1
    again = read(fresh, copy.deepcopy(written(learner, "learner")), "learner")
    assert again is fresh is again.itself
    assert again.first is again.all[0]
    assert not hasattr(again, "gone")
    assert again.first.tolist() == [0, 1, 2]
    assert again.rng.random() == learner.rng.random()


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda x: ScikitLearn(SGDRegressor(), n_arms=2, epsilon=x), "epsilon = 0.3"),
        (lambda x: VowpalWabbit(f"--cb_explore_adf --epsilon {x} -b 8", n_arms=2), "options = "),
    ],
    ids=["scikit-learn", "Vowpal Wabbit"],
)
def test_a_loaded_agent_refuses_a_learner_of_other_settings(make, named, tmp_path):
    sf.GenCB(make(0.2), FLOOR).save(tmp_path / "agent.json")
    sf.load(tmp_path / "agent.json", policy=make(0.2))
    with pytest.raises(InvalidInput, match=f"^{named}"):
        sf.load(tmp_path / "agent.json", policy=make(0.3))


def test_vowpal_wabbit_learns_with_the_chance_of_the_time_of_choosing():
    policy = VowpalWabbit("--cb_explore_adf --epsilon 0.2 --ignore u", n_arms=2)
    agent = sf.GenCB(policy, FLOOR, seed=0)
    late, gone = agent.select({"n": 1}), agent.select({"n": 2})
    assert list(policy.chances.values()) == [[0.5], [0.5]]
    for _ in range(20):
        play = agent.select()
        agent.update(play, float(play.index != late.index))
    assert policy.propensities()[late.index] < 0.2
    learned, learn = [], policy.learner.learn
    policy.learner.learn = lambda lines: learned.append(lines) or learn(lines)
    agent.void(gone)
    agent.update(late, 0.0)
    assert learned[0][late.index + 1].startswith("0:1.0:0.5 ")
    assert policy.chances == {}


def test_a_context_cannot_write_into_vowpal_wabbits_examples():
    policy = VowpalWabbit("--cb_explore_adf -b 8", n_arms=2)
    said = example({"a b|": "x |a arm1 0:0:1\n", 3: True}, 2)
    assert said[0] == "shared |u a_b_=x__a_arm1_0_0_1_ 3=True"
    for bad in ([float("nan")], [[1.0], [2.0], [3.0]]):
        with pytest.raises(InvalidInput, match=r"must be finite|give one for each of 2 arms"):
            policy.select(bad, np.random.default_rng(0))


def test_a_bootstrap_explores_what_looks_worse():
    policy = ScikitLearn(SGDRegressor(), n_arms=2, explore="bootstrap", replicates=10)
    for reward in (0.0, 1.0, 1.0, 0.0, 1.0):
        policy.update(0, reward, [1.0])
    policy.update(1, 0.4, [1.0])
    chances = policy.propensities([1.0])
    assert sum(chances) == pytest.approx(1)
    assert 0 < chances[1] < 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: VowpalWabbit("--cb_explore_adf --epsilon 0.3 -b 8", n_arms=3),
        lambda: ScikitLearn(SGDRegressor(), n_arms=3, epsilon=0.3),
        lambda: ScikitLearn(SGDRegressor(), n_arms=3, explore="bootstrap", replicates=4),
    ],
    ids=["Vowpal Wabbit", "epsilon", "bootstrap"],
)
def test_propensities_are_the_shares_of_the_draws(make):
    policy, rng = make(), np.random.default_rng(1)
    for reward in (0.1, 0.7, 0.3, 0.9):
        for arm in range(3):
            policy.update(arm, reward * (arm + 1) / 3, [1.0, reward])
    says = policy.propensities([1.0, 0.5])
    draws = [policy.select([1.0, 0.5], rng) for _ in range(400)]
    seen = np.bincount(draws, minlength=3) / 400
    assert seen.tolist() == pytest.approx(says, abs=0.11)
    assert policy.propensities([1.0, 0.5]) == says
