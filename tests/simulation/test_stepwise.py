"""Policies of the user's own are driven play by play, on the engine's noise."""

import threading

import numpy as np
import pytest

import surefoot as sf
from surefoot._exact import shown
from surefoot.errors import InvalidInput
from surefoot.simulation import Plan, stepwise, stops
from surefoot.simulation.loop import ARM, DEFAULTS, SLACK


class Thompson:
    """Draws every arm's mean from its Beta posterior and plays the largest draw."""

    def __init__(self, n_arms):
        self.n_arms = n_arms
        self.wins, self.losses = [1] * n_arms, [1] * n_arms

    def select(self, context, rng):
        return int(np.argmax(rng.beta(self.wins, self.losses)))

    def update(self, arm, reward, context):
        self.wins[arm] += reward
        self.losses[arm] += 1 - reward

    def state(self):
        return {"wins": self.wins, "losses": self.losses}

    def restore(self, state):
        self.wins, self.losses = state["wins"], state["losses"]


ENVIRONMENT = sf.BernoulliArms([0.9, 0.5, 0.4])


def agents():
    return {
        "plain": sf.Plain(Thompson(3), sf.RewardFloor(0.5, 0.2)),
        "careful": sf.GenCB(Thompson(3), sf.RewardFloor(0.5, 0.2), seed=1),
        "bold": sf.GenCB(Thompson(3), sf.RewardFloor(0.5, 0.6), seed=2),
        "UCB1": sf.Plain(sf.UCB1(3), sf.RewardFloor(0.5, 0.2)),
    }


def arms(seed, names=("plain", "careful", "bold"), runs=1, **options):
    players = {name: agents()[name] for name in names}
    result = sf.simulate(players, ENVIRONMENT, 200, runs, seed, checkpoints="all", **options)
    return {
        name: [run[name].books[:, ARM].tolist() for run in result.runs.values()] for name in names
    }


def test_the_seed_decides_all_of_a_stochastic_policys_plays():
    assert arms(4, runs=3) == arms(4, runs=3)
    assert arms(4) != arms(5)


def test_runs_are_independent_of_each_other():
    first, second, third = arms(4, ["plain"], runs=3)["plain"]
    agreement = np.mean(np.array(first)[:40] == np.array(second)[:40])
    assert first != second != third != first
    assert agreement < 0.9


def test_a_run_depends_on_its_number_alone():
    assert arms(4, runs=2)["bold"] == arms(4, runs=3, workers=1)["bold"][:2]


def test_nobody_else_changes_an_agents_plays():
    alone, among_others = arms(4, ["bold"]), arms(4, ["UCB1", "plain", "careful", "bold"])
    assert alone["bold"] == among_others["bold"]


def test_agents_of_one_policy_share_its_luck_and_the_noise():
    """Indexed by the turn, the policy's draws and the rewards are the same for every alpha."""
    played = arms(4)
    turns = [arm for arm in played["plain"][0] if arm >= 0]
    for name in ("careful", "bold"):
        own = [arm for arm in played[name][0] if arm >= 0]
        assert 10 < len(own) < len(turns)
        assert own == turns[: len(own)]


def test_the_agent_itself_is_left_as_it_was():
    players = agents()
    before = players["careful"].rng.bit_generator.state
    sf.simulate(players, ENVIRONMENT, 50, runs=2, seed=0)
    for agent in players.values():
        assert agent.account.plays == agent.turns == 0
        assert agent.policy.state() == agents()["plain"].policy.state() or agent is players["UCB1"]
    assert players["careful"].rng.bit_generator.state == before


def test_the_floor_is_kept_and_measured():
    result = sf.simulate(agents(), ENVIRONMENT, 300, runs=4, seed=0)
    assert result.measure("careful", "violating_rounds").max() == 0
    assert result.measure("careful", "minimum_slack").min() >= 0


def drive(agent, horizon, checkpoints, stopped=lambda: False):
    stream = np.random.SeedSequence(0)
    points = np.array([*checkpoints, horizon])
    return stepwise.drive(agent, ENVIRONMENT, 0.9, 7, stream, points, stopped)


def test_checkpoints_are_rows_of_the_full_trace():
    every = drive(agents()["careful"], 100, range(1, 100))
    some = drive(agents()["careful"], 100, [1, 50])
    columns = [column for column in range(7) if column != 5]  # 5: the row's own number
    assert some.books[:, columns].tolist() == every.books[[0, 49, 99]][:, columns].tolist()
    assert some.losses.tolist() == every.losses[[0, 49, 99]].tolist()


def test_the_trace_is_what_a_user_would_have_seen():
    agent = agents()["bold"]
    trace = drive(agent, 60, range(1, 60))
    agent.rng = np.random.default_rng(np.random.SeedSequence(0))
    losses = np.zeros(4)
    for row, noted in zip(trace.books, trace.losses, strict=True):
        play = agent.select()
        if play.is_default:
            agent.update(play)
        else:
            agent.update(play, ENVIRONMENT.pull(7, play.turn, play.index))
            mean = [0.9, 0.5, 0.4][play.index]
            losses += [0.9 - mean, mean, mean * mean, mean * (1 - mean)]
        assert row[ARM] == play.index
        assert row[DEFAULTS] == agent.account.default_plays
        assert agent.floor.unit.decimal(int(row[SLACK])) == agent.account.slack
        assert noted == pytest.approx(losses, rel=1e-12)


def test_it_gives_up_between_two_plays():
    asked = []

    def stopped():
        asked.append(True)
        return len(asked) > 5

    with pytest.raises(stops.Stopped):
        drive(agents()["plain"], 1000, [], stopped)
    assert len(asked) == 6


class Paying:
    """Declares rewards in 0..1 and pays what it is told to."""

    n_arms, places, reward_range, record = 3, 0, (0, 1), None
    means, variances, best = ENVIRONMENT.means, ENVIRONMENT.variances, ENVIRONMENT.best
    value = staticmethod(ENVIRONMENT.value)

    def __init__(self, reward):
        self.reward = reward

    def pull(self, key, turn, arm):
        return self.reward


@pytest.mark.parametrize(
    ("reward", "said"),
    [
        (
            -1e300,
            r"the environment paid -1e\+300 for arm 0 at turn 1, outside its reward_range \(0, 1",
        ),
        (1.0000001, "the environment paid 1.0000001 for arm 0 at turn 1, outside"),
        (None, "the environment's pull of arm 0 must be a number, got None"),
        (float("nan"), "the environment's pull of arm 0 must be finite, got nan"),
        (10**5000, "the environment's pull of arm 0 = <int of too many digits> is beyond"),
    ],
    ids=shown,
)
def test_a_reward_outside_the_declared_range_is_named(reward, said):
    with pytest.raises(InvalidInput, match=said):
        sf.simulate({"a": sf.Plain(sf.UCB1(3))}, Paying(reward), 5)


class Locked(Thompson):
    """Holds what cannot be copied."""

    def __init__(self, n_arms):
        super().__init__(n_arms)
        self.lock = threading.Lock()


def test_a_policy_that_cannot_be_copied_is_named():
    with pytest.raises(
        InvalidInput, match=r"Locked cannot be copied \(cannot pickle '_thread.lock"
    ):
        sf.simulate({"a": sf.Plain(Locked(3))}, ENVIRONMENT, 5)


def mean_variance(check="viable", **settings):
    floor = sf.MeanVarianceFloor(0.7, 0.1, 10, check=check, **settings)
    return sf.GenCB(sf.MVUCB(3, 10), floor, default_competes=False)


def test_a_mean_variance_floor_is_kept_play_by_play():
    players = {
        "viable": mean_variance(),
        "printed": sf.mv_cucb(3, 0.7, 0.1, 10),
        "unguarded": sf.Plain(sf.MVUCB(3, 10), sf.MeanVarianceFloor(0.7, 0.1, 10)),
    }
    environment = Paying(None)  # without a kernel
    environment.pull = ENVIRONMENT.pull
    assert Plan(players, environment, 1).stepwise == list(players)
    result = sf.simulate(players, environment, 400, runs=2, seed=1, checkpoints="all")
    for name in ("viable", "printed"):
        assert result.measure(name, "violating_rounds").max() == 0
        assert result.exact_minimum_slack(name) >= 0
        assert 0 < result.measure(name, "default_plays")[:, -1].min() < 400
    assert result.measure("unguarded", "violating_rounds").max() > 0
    assert not result.measure("unguarded", "default_plays").any()


def test_what_is_received_under_a_mean_variance_floor_is_t_times_the_mean_variance():
    """Default plays only: 9 of them bring 9*rho*mu0."""
    result = sf.simulate({"": mean_variance()}, ENVIRONMENT, 9, seed=1)
    assert result.measure("", "default_plays")[0, -1] == 9
    assert result.measure("", "received")[0, -1] == pytest.approx(9 * 7)


def test_books_too_coarse_for_the_environments_rewards_are_refused():
    class Tenths(sf.BernoulliArms):
        places = 3

    with pytest.raises(InvalidInput, match="books of 1 places and the environment pays"):
        sf.simulate({"": mean_variance(places=1)}, Tenths([0.9, 0.5, 0.4]), 9)
    with pytest.raises(InvalidInput, match="may leave 64 bits"):
        sf.simulate({"": mean_variance(places=12)}, ENVIRONMENT, 9)
