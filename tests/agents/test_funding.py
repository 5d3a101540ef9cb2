"""Playing for earnings while slack is scarce: which arm, when, and what it leaves untouched."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.agents.funding import SCARCE, exceeds, funding_arm
from surefoot.agents.saving import _canonical, _digest
from surefoot.errors import DamagedFile, InvalidInput
from surefoot.simulation import stepwise
from surefoot.simulation.plan import Plan
from surefoot.simulation.runner import choose

FLOOR = sf.RewardFloor(0.5, 0.1)
BILLION = 10**9


def naive_funding_arm(plays, sums, waiting, value):
    """The first arm of the largest smoothed mean above the default's value, in fractions."""
    smoothed = [
        Fraction(S + value * (1 + out), N + 1 + out)
        for N, S, out in zip(plays, sums, waiting, strict=True)
    ]
    top = max(smoothed)
    return smoothed.index(top) if top > value else -1


counts = st.integers(0, 40) | st.integers(0, BILLION)


@given(st.lists(st.tuples(counts, st.integers(0, 30), counts), min_size=1, max_size=5), counts)
def test_the_arm_is_that_of_exact_fractions(arms, value):
    plays = [N for N, _, _ in arms]
    sums = [share * N // 20 for N, share, _ in arms]
    waiting = [out for _, _, out in arms]
    tally = plays, sums, waiting
    assert funding_arm(tally, value, range(len(arms))) == naive_funding_arm(*tally, value)


whole = st.integers(0, 2**60) | st.integers(0, 50)


@given(whole, whole.map(lambda n: n + 1), whole, whole.map(lambda n: n + 1))
def test_ratios_are_compared_exactly(a, b, c, d):
    assert exceeds(a, b, c, d) == (Fraction(a, b) > Fraction(c, d))
    assert not exceeds(a, b, a, b)


@pytest.mark.parametrize(("plays", "waiting"), [(BILLION - 1, 0), (1, BILLION - 2), (1, 0)])
def test_the_last_play_of_a_billion_at_the_widest_range_fits_64_bits(plays, waiting):
    """S and the 1 + O rewards of mu0 are those of a billion plays at most, and these fit."""
    wide = sf.RewardFloor(9.223372035, 0.1, (0, 9.223372036), places=9)
    assert wide.fits_int64
    assert not sf.RewardFloor(9, 0.1, (0, 9.223372037), places=9).fits_int64
    high, value = 9_223_372_036, wide.terms().value
    rows = np.array([[plays, 3], [plays * high, 3 * value + 1], [waiting, 0]])
    with np.errstate(over="raise"):
        chosen = funding_arm(tuple(rows), np.int64(value), range(2))
    assert chosen == naive_funding_arm(*rows.tolist(), value)


def earn(agent, arm, rewards):
    """Let an arm pay, whatever the policy wants."""
    for reward in rewards:
        play = next_exploration(agent, [arm])
        agent.update(play, reward)


def next_exploration(agent, allowed=None):
    while True:
        play = agent.select(allowed=allowed)
        if not play.is_default:
            return play
        agent.update(play)


def test_it_plays_the_best_earner_while_slack_is_scarce_and_says_why():
    agent = sf.GenCB(sf.UCB1(arms=["a", "b", "c"]), FLOOR, fund=True)
    earn(agent, "b", [1, 1, 0])
    earn(agent, "c", [1])
    play = next_exploration(agent)
    assert agent.account.slack < SCARCE * agent.floor.unit.decimal(play.terms.hold)
    assert (play.arm, play.reason) == ("c", sf.Reason.FUNDING)  # (1 + .5)/2 against (2 + .5)/4
    assert agent.explain(play) == (
        f"Play {play.id} explores arm 'c' because slack is scarce and this arm has paid more than "
        f"the default: it can lose 0.45 and the slack is {play.slack.normalize()}, so at worst "
        f"{play.worst_case.normalize()} is left."
    )
    # Open plays count as the default: (1 + 1)/3 against (2 + .5)/4, then a tie.
    assert [next_exploration(agent).arm for _ in range(2)] == ["c", "b"]
    agent.update(play, 0)  # now c has paid no more than the default
    assert next_exploration(agent).arm == "b"


def test_with_plenty_of_slack_the_policy_has_its_way():
    agent = sf.GenCB(sf.UCB1(3), sf.RewardFloor(0.5, 0.1, reserve=9 + 3 * 0.45), fund=True)
    reasons = []
    for _ in range(4):  # 23 holds to begin with; a reward of 1 gives back more than it took
        play = agent.select()
        reasons.append(play.reason)
        agent.update(play, 0)
    assert reasons == [sf.Reason.SLACK_OK] * 4
    for reward in (1, 1, 0):
        agent.update(agent.select(allowed=[1]), reward)
    for _ in range(3):
        agent.update(agent.select(allowed=[0]), 0)
    agent.update(agent.select(allowed=[1]), 1)
    assert agent.select().reason is sf.Reason.FUNDING


def test_it_is_off_by_default_and_never_opens_a_closed_gate():
    plain, funding = (sf.GenCB(sf.UCB1(2), FLOOR, fund=fund) for fund in (False, True))
    assert plain.earned is None
    assert sf.GenCB(sf.UCB1(2), FLOOR).config() == plain.config()
    earn(funding, 0, [1, 1, 0, 0, 0])
    while (play := funding.select()).reason is not sf.Reason.SLACK_SHORT:
        funding.update(play, None if play.is_default else 0)
    assert funding.account.slack < FLOOR.unit.decimal(play.terms.hold)


def test_allowed_arms_only_and_the_policy_is_asked_and_learns_all_the_same():
    agent = sf.GenCB(sf.UCB1(3), FLOOR, fund=True)
    earn(agent, 2, [1, 1])
    assert next_exploration(agent, [0, 1]).index in (0, 1)
    turns = agent.policy.turns
    play = next_exploration(agent)
    assert (play.index, play.reason) == (2, sf.Reason.FUNDING)
    assert agent.policy.turns == agent.turns == turns + 1
    before = agent.policy.state()["arms"][0][2]
    agent.update(play, 0.25)
    assert agent.policy.state()["arms"][0][2] == before + 1


def test_void_and_expired_plays_wait_no_longer():
    agent = sf.GenCB(sf.UCB1(2), FLOOR, fund=True)
    earn(agent, 0, [1, 1])
    earn(agent, 1, [1])
    rivals = [next_exploration(agent) for _ in range(3)]
    assert [play.index for play in rivals] == [0, 0, 1]  # 2.5/3; 3/4 against 1.5/2; 3.5/5
    agent.expire(rivals[2])
    assert next_exploration(agent).index == 1  # 1.5/2 again, against 3.5/5
    for play in rivals[:2]:
        agent.void(play)
    assert next_exploration(agent).index == 0  # 2.5/3 again
    agent.update(rivals[2], 1)  # late: arm 1 has paid 2 of 2 as well
    assert (agent.earned.plays, agent.earned.sums) == ([2, 2], [2 * BILLION, 2 * BILLION])


def test_a_saved_agent_goes_on_as_if_it_had_never_stopped(tmp_path):
    env, path = sf.BernoulliArms([0.4, 0.6, 0.9]), tmp_path / "agent.json"
    agent, twin = (sf.GenCB(sf.Thompson(3), FLOOR, seed=3, fund=True) for _ in range(2))

    def go_on(one, waiting):
        for _ in range(200):
            play = one.select()
            if play.is_default:
                one.update(play)
                continue
            waiting.append(play)
            if len(waiting) > 3:
                late = waiting.pop(0)
                one.update(late.id, env.pull(1, late.turn, late.index))

    go_on(agent, ours := [])
    agent.save(path)
    agent = sf.load(path)
    go_on(agent, ours)
    go_on(twin, theirs := [])
    go_on(twin, theirs)
    assert twin.earned.plays == agent.earned.plays
    assert twin.select() == agent.select()


def test_a_file_that_does_not_say_what_each_arm_earned_is_damaged(tmp_path):
    path = tmp_path / "agent.json"
    sf.GenCB(sf.UCB1(2), FLOOR, fund=True).save(path)
    document = json.loads(path.read_text())
    for rows in ([[0], [0, 0]], [[0] * 3, [0] * 3], [[0, 0.5], [0, 0]]):
        document["body"]["earned"] = rows
        document["sha256"] = _digest(_canonical(document["body"]))
        path.write_text(json.dumps(document))
        with pytest.raises(DamagedFile, match="earned is not of 2 arms"):
            sf.load(path)


@pytest.mark.parametrize(
    ("policy", "floor", "said"),
    [
        (sf.MVUCB(2, rho=2), sf.MeanVarianceFloor(0.5, 0.5, rho=2), "a mean-variance floor"),
        (sf.C2UCB([[1], [0]], sf.TopK(1)), FLOOR, "plays super arms"),
        (sf.LinUCB(dim=2, ridge=sf.Ridge(feature_bound=1)), FLOOR, "rows of a context"),
        (sf.LinUCB(sf.Ball(1, 2)), FLOOR, "points"),
        (sf.UCB1(2), sf.RewardFloor(0.5, 0.1, checkpoint=10), "checkpoint = 10"),
        (sf.UCB1(2), sf.RewardFloor((0.4, 0.6), 0.1), r"default = \(0.4, 0.6\) is an interval"),
    ],
)
def test_what_it_does_not_fit_is_refused_by_a_sentence(policy, floor, said):
    with pytest.raises(InvalidInput, match=said):
        sf.GenCB(policy, floor, fund=True)
    sf.GenCB(policy, floor)


def test_it_must_be_true_or_false():
    with pytest.raises(InvalidInput, match="fund = 1 must be True or False"):
        sf.GenCB(sf.UCB1(2), FLOOR, fund=1)


FUNDED = st.builds(
    sf.RewardFloor, st.sampled_from([0.5, 0.7]), st.sampled_from([0.05, 0.3]),
    st.sampled_from([(0, 1), (-1, 2)]), st.sampled_from([0, 4]),
)  # fmt: skip
ARMS = sf.BernoulliArms([0.6, 0.9, 0.55])
WORLDS = st.sampled_from([ARMS, sf.Delayed(ARMS, (0, 30)), sf.Batched(ARMS, 12)])


@settings(max_examples=25)
@given(WORLDS, FUNDED, st.sampled_from([sf.UCB1, sf.Thompson]), st.integers(0, 99))
def test_live_and_the_engines_text_fund_alike_and_keep_the_promise(world, floor, policy, seed):
    plan = Plan({"it": sf.GenCB(policy(3), floor, fund=True)}, world, 250, seed, "all")
    assert list(plan.by_play) == ["it"]
    text = plan.run(0, choose("plain"))["it"]
    live = stepwise.drive(
        plan.agents["it"], world, plan.tops["it"], plan.key(0), plan._stream(0, 1),
        plan.checkpoints, lambda: False,
    )  # fmt: skip
    assert (text.books == live.books).all()
    assert (text.losses == live.losses).all()
    assert text.books[-1, 3] >= 0


def test_compiled_it_is_the_same():
    arms = sf.BernoulliArms([*[0.2] * 6, 0.9, 0.55])
    agents = {
        "fund": sf.GenCB(sf.UCB1(8), sf.RewardFloor(0.5, 0.02), fund=True),
        "blind": sf.GenCB(sf.UCB1(8), sf.RewardFloor(0.5, 0.02)),
    }
    runs = [
        sf.simulate(agents, arms, 2000, 2, seed=4, engine=engine)
        for engine in ("plain", "compiled")
    ]
    for name in agents:
        ours, theirs = (one.measure(name, "default_plays") for one in runs)
        np.testing.assert_array_equal(ours, theirs)
    assert runs[1].engines == {"fund": "compiled by play", "blind": "compiled"}
    mean = {name: runs[1].summary()[name]["default_plays"]["mean"] for name in agents}
    assert mean["fund"] < mean["blind"]


@pytest.mark.parametrize("settings", [{"default": (0.4, 0.6)}, {"checkpoint": 5}])
def test_a_change_to_a_floor_without_one_known_default_at_every_play_is_refused(settings, tmp_path):
    agent = sf.GenCB(sf.UCB1(2), sf.RewardFloor(0.5, 0.1, reserve=5), seed=0, fund=True)
    floor = agent.floor
    with pytest.raises(InvalidInput, match="fund = True"):
        agent.change(**settings)
    assert agent.floor == floor
    agent.change(default=0.6, alpha=0.2)
    agent.save(tmp_path / "agent.json")
    assert sf.load(tmp_path / "agent.json").floor == agent.floor
