"""GenCB decides as Algorithm 1 does, keeps its laws, and lets the default compete."""

import math
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from learners import Counter, Scripted, snapshot
from naive import gencb
from surefoot import KLUCB, MVUCB, UCB1, GenCB, MeanVarianceFloor, Plain, Reason, RewardFloor
from surefoot.errors import InvalidInput, RewardOutOfRange
from surefoot.floors import Outcome


def coin(key, chances):
    """reward(turn, arm): a 0/1 draw that depends on nothing else."""
    return lambda turn, arm: int(random.Random(f"{key} {turn} {arm}").random() < chances[arm])


def run(agent, reward, horizon):
    """The index of each play; every play is reported before the next decision."""
    played = []
    for _ in range(horizon):
        play = agent.select()
        agent.update(play, None if play.is_default else reward(play.turn, play.index))
        played.append(play.index)
    return played


def some_case(number):
    """(n_arms, mu0, alpha, default_competes, reward); the arms are alike in every fourth case."""
    rng = random.Random(number)
    n_arms, competes = rng.randint(1, 10), number % 2 == 0
    mu0, alpha = rng.randint(1, 100) / 100, rng.randint(1, 99) / 100
    chances = [0.5] * n_arms if number % 4 == 0 else [rng.random() for _ in range(n_arms)]
    return n_arms, mu0, alpha, competes, coin(number, chances)


@pytest.mark.parametrize("number", range(100))
def test_every_decision_is_the_twins(number):
    n_arms, mu0, alpha, competes, reward = some_case(number)
    agent = GenCB(UCB1(n_arms), RewardFloor(mu0, alpha), default_competes=competes)
    expected = gencb.decisions(n_arms, mu0, alpha, reward, 500, competes)
    assert run(agent, reward, 500) == expected
    assert agent.account.explorations == sum(arm >= 0 for arm in expected) > 0


@pytest.mark.parametrize("k", [2, 5, 10, 20, 50, 100])
def test_at_alpha_1_over_k_the_gate_opens_on_an_exact_tie(k):
    for mu0 in (0.3, 0.7, 1):
        agent = GenCB(UCB1(2), RewardFloor(mu0, 1 / k), default_competes=False)
        assert run(agent, lambda turn, arm: 0, k) == [-1] * (k - 1) + [0]
        assert agent.account.slack == 0


@pytest.mark.parametrize(("mu0", "alpha"), [(0.7, 0.05), (0.3, 0.1), (1, 0.37), (0.29, 0.58)])
def test_with_zeros_only_the_slack_stays_and_the_clock_is_floor_alpha_t(mu0, alpha):
    agent = GenCB(UCB1(3), RewardFloor(mu0, alpha), default_competes=False)
    share = Fraction(str(alpha))
    for t in range(1, 5001):
        play = agent.select()
        agent.update(play, None if play.is_default else 0)
        assert agent.books.account.available >= 0
        assert agent.turns == share * t // 1


@pytest.mark.parametrize("competes", [False, True])
def test_with_zeros_that_come_50_plays_late_received_reward_keeps_the_floor(competes):
    agent, waiting, received = GenCB(UCB1(3), RewardFloor(0.5, 0.2, reserve=2), seed=1), [], 0
    agent.default_competes = competes
    for t in range(1, 2001):
        play = agent.select()
        received += Fraction(1, 2) * play.is_default
        assert received + 2 >= Fraction(8, 10) * Fraction(1, 2) * t
        if play.is_default:
            agent.update(play)
        else:
            waiting.append((t, play))
        while waiting and waiting[0][0] <= t - 50:
            agent.update(waiting.pop(0)[1], 0)
        assert agent.account.slack >= 0
    assert agent.account.explorations > 100


def test_without_feedback_it_stops_exploring_and_says_why():
    agent = GenCB(UCB1(3), RewardFloor(0.5, 0.2, reserve=2))
    plays = [agent.select() for _ in range(1000)]
    assert [play.is_default for play in plays] == [False] * 5 + [True] * 995
    assert agent.explain(plays[-1]) == (
        "Play 999 is the default because an exploration could lose 0.4 and the slack is 0 (2 held "
        "by 5 explorations not yet settled; 994 default plays not yet reported, so not credited), "
        "0.4 too little."
    )


def batch_agent():
    return GenCB(UCB1(4), RewardFloor(0.5, 0.2, reserve=1), seed=3)


def test_a_batch_is_as_many_decisions_in_a_row():
    one, many = batch_agent(), batch_agent()
    assert many.select_many(7) == [one.select() for _ in range(7)]
    assert many.account == one.account
    for agent in (one, many):
        agent.update(0, 1.0)
        agent.update(5)
    assert many.select_many(0) == []
    assert many.select_many(np.int64(3), allowed=iter([1, 3])) == [
        one.select(allowed=[1, 3]) for _ in range(3)
    ]


def test_what_does_not_fit_in_a_batch_is_the_default():
    plays = batch_agent().select_many(5)
    assert [play.is_default for play in plays] == [False, False, True, True, True]
    assert [str(play.worst_case) for play in plays[:3]] == ["0.600000000"] + ["0.200000000"] * 2


class TestDefaultCompetes:
    def test_if_the_policy_can_score(self):
        floor = RewardFloor(0.5, 0.2)
        assert GenCB(UCB1(2), floor).default_competes is True
        assert GenCB(KLUCB(2), floor).default_competes is True
        assert GenCB(Counter(2), floor).default_competes is False
        assert GenCB(UCB1(2), floor, default_competes=False).default_competes is False

    def test_not_if_it_cannot(self):
        with pytest.raises(InvalidInput, match=r"^default_competes = True needs scores: Counter"):
            GenCB(Counter(2), RewardFloor(0.5, 0.2), default_competes=True)

    @pytest.mark.parametrize("wrong", ["no", 1, [], np.bool_(True)], ids=repr)
    def test_is_a_bool(self, wrong):
        with pytest.raises(InvalidInput, match="must be True, False or None"):
            GenCB(UCB1(2), RewardFloor(0.5, 0.2), default_competes=wrong)

    @pytest.mark.parametrize(
        ("score", "reason"),
        [(0.51, Reason.SLACK_OK), (0.5, Reason.DEFAULT_BEST), (0.49, Reason.DEFAULT_BEST)],
    )
    def test_a_score_must_be_above_the_default(self, score, reason):
        """A tie goes to the default; whoever wins, the turn is taken."""
        agent = GenCB(Scripted(2, (1, score)), RewardFloor(0.5, 0.2, reserve=1))
        play = agent.select()
        assert (play.reason, play.turn, agent.turns) == (reason, 1, 1)
        assert play.is_default == (reason is Reason.DEFAULT_BEST)

    def test_the_clock_stands_while_the_gate_is_closed(self):
        agent = GenCB(UCB1(2), RewardFloor(0.5, 0.2))
        for _ in range(4):
            play = agent.select()
            assert (play.reason, play.turn) == (Reason.SLACK_SHORT, 0)
            agent.update(play)
        assert agent.select().turn == 1
        assert agent.policy.turns == agent.turns == 1

    @pytest.mark.parametrize(
        ("unit", "low", "high", "mu0", "rival"),
        [
            (True, 0, 1, 0.7, 0.7),
            (True, -1, 3, 1, 0.5),
            (False, -1, 3, 1, 1.0),
            (False, 0, 9, 7, 7),
        ],
    )
    def test_on_the_policys_own_scale(self, unit, low, high, mu0, rival):
        for score, wins in ((rival, True), (math.nextafter(rival, 99), False)):
            policy = Scripted(1, (0, score))
            policy.unit_rewards = unit
            agent = GenCB(policy, RewardFloor(mu0, 0.5, (low, high), reserve=99))
            play = agent.select()
            assert play.is_default is wins
            assert play.choice.rival == rival

    def test_with_the_plays_own_default(self):
        agent = GenCB(Scripted(1, (0, 0.5), (0, 0.5)), RewardFloor(None, 0.2, reserve=9))
        assert agent.select(default=0.4).reason is Reason.SLACK_OK
        assert agent.select(default=0.6).reason is Reason.DEFAULT_BEST

    def test_is_what_keeps_regret_sublinear_where_the_default_is_best(self):
        """Four times the plays: a little more regret where it competes, four times where not."""
        chances = [0.4, 0.3, 0.2]

        def regret(competes, horizon):
            agent = GenCB(UCB1(3), RewardFloor(0.9, 0.2), default_competes=competes)
            played = run(agent, coin("best", chances), horizon)
            return sum(0.9 - chances[arm] for arm in played if arm >= 0)

        assert regret(False, 12_000) > 3.8 * regret(False, 3_000)
        assert regret(True, 12_000) < 1.6 * regret(True, 3_000) < 0.5 * regret(False, 3_000)


K = 72


def live_agent():
    """GenCB over UCB1, books and all; its gate is open almost always."""
    agent = GenCB(UCB1(K), RewardFloor(0.3, 0.3))

    def turn(uniform):
        play = agent.select()
        chance = 0.8 - 0.6 * play.index / K
        agent.update(play, None if play.is_default else float(uniform < chance))

    return turn


def numpy_loop():
    """What one would write by hand, without a guard."""
    N, S, m = np.zeros(K), np.zeros(K), 0

    def turn(uniform):
        nonlocal m
        m += 1
        arm = m - 1 if m <= K else int(np.argmax(S / N + np.sqrt(2 * math.log(m) / N)))
        N[arm] += 1
        S[arm] += float(uniform < 0.8 - 0.6 * arm / K)

    return turn


@pytest.mark.benchmark(group=f"one decision and its report, {K} arms")
@pytest.mark.parametrize("contender", [numpy_loop, live_agent])
def test_speed(benchmark, contender):
    turn, rng = contender(), random.Random(1)
    for _ in range(2 * K):
        turn(rng.random())
    benchmark(lambda: turn(rng.random()))


RANGE = (-1, 3)


@pytest.mark.parametrize(
    ("policy", "floor", "message"),
    [
        (
            MVUCB(2, 1),
            MeanVarianceFloor(0.5, 0.5, 2),
            "rho = 1 of the policy and rho = 2 of the floor must agree",
        ),
        (
            MVUCB(2, 2, RANGE),
            MeanVarianceFloor(0.5, 0.5, 2),
            r"reward_range = \(-1, 3\) of the policy and reward_range = \(0, 1\) of the floor must",
        ),
        (MVUCB(2, 2), RewardFloor(0.5, 0.5, RANGE), r"reward_range = \(0, 1\) of the policy and"),
    ],
)
def test_what_policy_and_floor_both_know_must_agree(policy, floor, message):
    for build in (GenCB, Plain):
        with pytest.raises(InvalidInput, match=f"^{message}"):
            build(policy, floor)


def test_they_agree_by_value_not_by_how_it_was_written():
    GenCB(MVUCB(2, 0.1, (-1.0, 3)), MeanVarianceFloor(0.5, 0.5, Decimal("0.10"), RANGE))
    Plain(MVUCB(2, 2), RewardFloor(0.5, 0.5))


@pytest.mark.parametrize(
    ("policy", "rival"),
    [
        (MVUCB(2, 4, RANGE), 4 / 4 * 1.5 / 4),  # rho/D * (mu0 - r_min)/D
        (UCB1(2), 0.375**0.5),  # an index of the mean, on [0, 1]: p^2 = q for rho = D
        (
            Scripted(2, (0, 1.0)),
            -1 + 4 * 0.375**0.5,
        ),  # a score of one's own, on the scale of the rewards
    ],
)
def test_the_default_competes_on_the_scale_of_the_policys_scores(policy, rival):
    agent = GenCB(policy, MeanVarianceFloor(0.5, 0.5, 4, RANGE), default_competes=True)
    while (play := agent.select()).choice is None:
        agent.update(play)
    assert play.choice.rival == rival


def test_a_mean_variance_policy_is_told_unit_rewards_and_clipped_ones_after_a_breach():
    agent = GenCB(MVUCB(1, 2, RANGE), MeanVarianceFloor(0.5, 0.5, 2, RANGE))
    while (play := agent.select()).is_default:
        agent.update(play)
    outside = r"reward 7 of play 10 is outside \(-1, 3\): it is booked, and nothing is"
    with pytest.warns(RewardOutOfRange, match=outside):
        assert agent.update(play, 7) is Outcome.BREACH
    unit = int(agent.policy.record.unit)  # of the books: the reward is as much as the range
    assert agent.policy._state[:4] == ([1], [unit], [unit], [0])
    assert agent.account.promise_void


def test_a_reward_off_the_lattice_leaves_agent_and_policy_as_they_were():
    agent = GenCB(MVUCB(1, 1), MeanVarianceFloor(0.5, 0.5, 1, places=2))
    while (play := agent.select()).is_default:
        agent.update(play)
    before = snapshot(agent)
    with pytest.raises(InvalidInput, match="has more than the 2 decimals"):
        agent.update(play, 0.123)
    assert snapshot(agent) == before
    assert agent.update(play, 0.12) is Outcome.BOOKED


def test_the_default_of_a_policy_for_unit_rewards_is_its_place_in_the_range():
    agent = GenCB(UCB1(2), RewardFloor(default=0.5, alpha=0.1, reward_range=(-1, 1.5)))
    assert agent.default_score(agent.floor.terms()) == 0.6
