"""What an agent asks its policy with: contexts, candidates, and best in place of select."""

import copy
import warnings
from itertools import count

import numpy as np
import pytest

import surefoot as sf
from surefoot.agents import policy_checks
from surefoot.agents.play import Reason
from surefoot.errors import InvalidInput
from surefoot.live import MemoryStore
from surefoot.live.live import Live

RICH = sf.RewardFloor(0.5, 0.5, reserve=100)
POOR = sf.RewardFloor(0.5, 0.5)


def contextual(floor=RICH, d=2):
    return sf.GenCB(sf.LinUCB(dim=d, ridge=sf.Ridge(feature_bound=2)), floor)


# --- the context is the agent's own


@pytest.mark.parametrize(
    "kind",
    [np.array, lambda rows: rows, lambda rows: list(map(np.array, rows))],
    ids=["array", "list", "rows"],
)
def test_a_context_changed_before_the_report_is_learned_as_it_was(kind):
    agent, still = contextual(), contextual()
    rows, same = kind([[1.0, 0.0], [0.0, 1.0]]), kind([[1.0, 0.0], [0.0, 1.0]])
    play, other = agent.select(rows), still.select(same)
    rows[0][:] = [0.0, 0.5] if kind is not np.array else 0.5
    agent.update(play, 1.0)
    still.update(other, 1.0)
    assert agent.policy.state() == still.policy.state()
    assert agent.policy.theta_hat != [0.0, 0.0]


def test_what_is_no_plain_container_is_handed_on_as_it_is():
    thing = object()
    assert policy_checks.copied({"x": (thing, [1])}) == {"x": (thing, [1])}
    loop = []
    loop.append(loop)
    with pytest.raises(InvalidInput, match="context holds itself, or is too deep"):
        policy_checks.copied(loop)


class Frame:
    """What pandas, polars, pyarrow and xarray have in common."""

    def __init__(self, rows):
        self.rows = np.array(rows)

    def to_numpy(self):
        return self.rows

    def __array__(self, dtype=None, copy=None):
        return self.rows

    def __iter__(self):
        return iter(self.rows)

    def __len__(self):
        return len(self.rows)


@pytest.mark.parametrize(
    "make",
    [
        lambda frame: contextual().select(frame),
        lambda frame: sf.GenCB(Picky(), RICH).select(frame),
        sf.LinUCB,
        lambda frame: sf.LinUCB(list(map(Frame, frame.rows))),
        lambda frame: sf.C2UCB(frame, sf.TopK(1)),
        lambda frame: sf.CLUCB(frame, default=0.5),
        sf.Polytope,
        lambda frame: sf.LinearArms(frame, [0.5, 0.5]),
        lambda frame: sf.BernoulliArms(Frame([0.5, 0.5])),
        lambda frame: sf.GaussianArms(Frame([0.5, 0.5]), 0.1, (0, 1)),
        lambda frame: sf.RewardFloor(0.5, 0.5, reward_range=Frame([0, 1])),
    ],
    ids=map(str, count()),
)
def test_a_table_with_labels_is_refused_with_the_remedy(make):
    with pytest.raises(InvalidInput, match=r"is a Frame, whose labels would be lost.*to_numpy\(\)"):
        make(Frame([[1.0, 0.0], [0.0, 1.0]]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sf.BernoulliArms({"a": 0.5}), r"pass list\(means.values\(\)\)"),
        (lambda: sf.BetaArms({"a": 1}, [1]), r"a dict, whose labels would be lost"),
        (lambda: sf.LinearArms([[1.0]], {"x": 0.5}), r"theta is a dict"),
        (lambda: sf.UCB1(arms={"a": 1, "b": 2}), r"is a dict; give its labels: list\(arms\)"),
        (lambda: sf.RewardFloor(0.5, 0.1, reward_range={0: 1, 1: 2}), "reward_range is a dict"),
        (lambda: sf.GenCB(sf.UCB1(2), RICH).select(allowed={0: True, 1: False}), "is a dict; give"),
    ],
    ids=map(str, count()),
)
def test_a_dict_is_refused_where_order_counts(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()


def test_labelled_base_rewards_are_refused_but_a_dict_by_base_arm_is_not():
    agent = sf.Plain(sf.C2UCB(np.eye(2), sf.TopK(2)))
    play = agent.select()
    with pytest.raises(InvalidInput, match="base_rewards of play 0 is a Frame"):
        agent.update(play, base_rewards=Frame([0.5, 0.1]))
    agent.update(play, base_rewards={1: 0.1, 0: 0.5})


def test_real_pandas_and_polars_tables_are_refused():
    polars = pytest.importorskip("polars")
    with pytest.raises(InvalidInput, match=r"context is a DataFrame.*context.to_numpy\(\)"):
        contextual().select(polars.DataFrame({"a": [1.0], "b": [0.0]}))
    with pytest.raises(InvalidInput, match="means is a Series"):
        sf.BernoulliArms(polars.Series([0.5]))


def test_bool_features_are_numbers():
    bools = np.array([[True, False], [False, True]])
    assert np.array_equal(sf.LinUCB(bools).features, np.eye(2))
    assert np.array_equal(sf.LinearArms(bools, [0.5, True]).means, [0.5, 1])
    agent = contextual()
    agent.update(agent.select(bools), True)
    assert sf.LinearArms([[True, False]], [0.5, 1]).means.tolist() == [0.5]


def test_the_agents_arrays_are_its_own():
    features = np.eye(2)
    policies = [sf.LinUCB(features), sf.C2UCB(features, sf.TopK(1))]
    environment = sf.LinearArms(features, theta := np.array([0.5, 0.1]))
    means = np.array([0.2, 0.8])
    coins = sf.BernoulliArms(means)
    features[:], theta[:], means[:] = 7, 7, 7
    assert all(np.array_equal(policy.features, np.eye(2)) for policy in policies)
    assert environment.means.tolist() == [0.5, 0.1]
    assert coins.means.tolist() == [0.2, 0.8]


# --- nothing to choose from


EMPTY = [np.zeros((0, 2)), [], np.zeros(0)]


@pytest.mark.parametrize("rows", EMPTY, ids=["(0, d)", "[]", "(0,)"])
@pytest.mark.parametrize("allowed", [None, []])
def test_a_context_without_rows_is_a_default_play(rows, allowed):
    agent = contextual()
    play = agent.select(rows, allowed=allowed)
    assert (play.reason, play.turn, agent.policy.turns) == (Reason.NO_ALLOWED_ARM, 0, 0)
    agent.update(play)
    assert contextual(POOR).select(rows, allowed=allowed).reason is Reason.SLACK_SHORT
    live = Live(contextual(), MemoryStore())
    assert live.select(rows, allowed=allowed).reason == "NO_ALLOWED_ARM"


def test_rows_that_are_not_there_cannot_be_allowed():
    agent = contextual()
    with pytest.raises(InvalidInput, match="the context of this play has no rows"):
        agent.select(np.zeros((0, 2)), allowed=[0])
    with pytest.raises(InvalidInput, match="must be an array of shape"):
        agent.select(np.zeros((0, 3)))
    assert agent.account.plays == 0


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        (lambda: sf.GenCB(sf.UCB1(2), POOR), Reason.SLACK_SHORT),
        (lambda: sf.GenCB(sf.UCB1(2), RICH), Reason.NO_ALLOWED_ARM),
        (lambda: sf.GenCB(sf.MVUCB(2, 2), sf.MeanVarianceFloor(0.5, 0.1, 2)), Reason.SLACK_SHORT),
        (lambda: sf.Plain(sf.UCB1(2)), Reason.NO_ALLOWED_ARM),
        (lambda: sf.ConUCB(2, default=0.5), Reason.NO_ALLOWED_ARM),
        (lambda: sf.comparators.ConUCBUnknown(2), Reason.NO_ALLOWED_ARM),
        (lambda: sf.comparators.UnbalancedMOSS(2, default=0.5, horizon=99), Reason.NO_ALLOWED_ARM),
        (lambda: sf.comparators.BudgetFirst(2, default=0.5, horizon=99), Reason.SAVING_UP),
        (lambda: sf.CLUCB(np.eye(2), default=0.5), Reason.NO_ALLOWED_ARM),
        (lambda: sf.CLUCB2(np.eye(2), default=0.5), Reason.NO_ALLOWED_ARM),
    ],
    ids=map(str, count()),
)
def test_the_gate_is_asked_first(agent, reason):
    made = agent()
    play = made.select(allowed=[])
    assert (play.reason, made.turns, made.policy.turns) == (reason, 0, 0)
    made.update(play, 0.5)
    made.pause()
    assert made.select(allowed=[]).reason is Reason.PAUSED


# --- contexts that are refused


@pytest.mark.parametrize(
    "make",
    [
        lambda: sf.GenCB(sf.UCB1(2), RICH),
        lambda: sf.GenCB(sf.KLUCB(2), POOR),
        lambda: sf.GenCB(sf.MVUCB(2, 1), sf.MeanVarianceFloor(0.5, 0.1, 1)),
        lambda: sf.Plain(sf.UCB1(2)),
        lambda: sf.ConUCB(2, default=0.5),
        lambda: sf.comparators.ConUCBUnknown(2),
        lambda: sf.comparators.BudgetFirst(2, default=0.5, horizon=99),
        lambda: sf.comparators.UnbalancedMOSS(2, default=0.5, horizon=99),
        lambda: Live(sf.GenCB(sf.UCB1(2), RICH), MemoryStore()),
    ],
    ids=map(str, count()),
)
def test_a_policy_that_takes_no_context_is_given_none(make):
    agent = make()
    with pytest.raises(InvalidInput, match="takes none and would ignore it"):
        agent.select(context=[1.0])
    assert agent.account.plays == 0
    agent.select()


class Picky:
    """A policy of one's own that says nothing of contexts."""

    n_arms = 2

    def __init__(self):
        self.seen = []

    def select(self, context, rng):
        self.seen.append(context)
        return 0

    def update(self, arm, reward, context): ...

    def state(self):
        return [len(self.seen)]

    def restore(self, state): ...


def test_one_that_declares_nothing_is_trusted():
    agent = sf.GenCB(Picky(), RICH)
    agent.select({"hour": 9})
    assert agent.policy.seen == [{"hour": 9}]


def test_a_subclass_that_uses_contexts_says_so():
    class Hourly(sf.UCB1):
        contextual = True

    assert sf.GenCB(Hourly(2), RICH).select(context=[9]).arm == 0


def test_a_ledger_whose_entries_hold_contexts_of_a_policy_without_them_recovers():
    store = MemoryStore()
    live = Live(sf.GenCB(sf.UCB1(2), RICH), store)
    live._engine.fold.agent.contextual = True  # as releases before this one took them
    play = live.select({"hour": 9}, id="visit-1")
    live.update(play, 1.0)
    again = Live(sf.GenCB(sf.UCB1(2), RICH), store)
    assert again.degraded is None
    assert again.select({"hour": 9}, id="visit-1") == play
    assert again.account == live.account


# --- best in place of select


class Greedy(Picky):
    """An epsilon-greedy whose best is a point estimate: it never explores."""

    def __init__(self, n_arms=3):
        super().__init__()
        self.n_arms, self.counts, self.sums = n_arms, [0] * n_arms, [0.0] * n_arms

    def select(self, context, rng):
        if rng.random() < 0.1:
            return int(rng.integers(self.n_arms))
        return self.best(context, rng)[0]

    def best(self, context, rng, allowed=None):
        means = [s / max(n, 1) for s, n in zip(self.sums, self.counts, strict=True)]
        return means.index(max(means)), max(means)

    def update(self, arm, reward, context):
        self.counts[arm] += 1
        self.sums[arm] += reward


class Contrary(Greedy):
    def select(self, context, rng):
        return 2


class Thompson(Greedy):
    def best(self, context, rng, allowed=None):
        draws = rng.random(self.n_arms)
        return int(draws.argmax()), float(draws.max())

    def select(self, context, rng):
        return self.best(context, rng)[0]


class Otherwise(Thompson):
    """The same law by other draws: nothing can be said of it."""

    def select(self, context, rng):
        rng.random()
        return self.best(context, rng)[0]


@pytest.mark.parametrize(
    ("policy", "how"),
    [
        (Greedy(), "only select draws at random"),
        (Contrary(), "best chose 0 and select 2 in the same state"),
    ],
    ids=["greedy", "contrary"],
)
def test_a_best_that_surely_is_no_select_is_told_so(policy, how):
    agent = sf.GenCB(policy, RICH)
    state = copy.deepcopy(agent.rng.bit_generator.state)
    with pytest.warns(UserWarning, match=f"means different things by best and select: {how}"):
        agent.select()
    assert agent.rng.bit_generator.state == state  # copies were asked


def test_an_overridden_select_that_nobody_asks_is_told_so():
    class Mine(sf.UCB1):
        def select(self, context, rng):
            return 1

    with pytest.warns(UserWarning, match="let select return best"):
        sf.GenCB(Mine(2), RICH).select()


@pytest.mark.parametrize(
    "make", [Thompson, Otherwise, lambda: sf.UCB1(3), Picky], ids=map(str, count())
)
def test_one_that_may_mean_the_same_is_not(make):
    agent = sf.GenCB(make(), RICH, default_competes=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(40):
            agent.update(agent.select(), 1.0)


def test_what_cannot_be_copied_is_asked_all_the_same():
    class Stubborn(Greedy):
        def __deepcopy__(self, memo):
            raise TypeError("no copies")

    assert sf.GenCB(Stubborn(), RICH).select().id == 0
