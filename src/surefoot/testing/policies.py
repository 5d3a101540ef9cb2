"""The contract of a policy, as tests: derive a class from the kit and say how to make yours.

class TestMine(PolicyKit):
    def make_policy(self):
        return MyPolicy(n_arms=3)
"""

from __future__ import annotations

import copy
import itertools
import math
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.agents import policy_checks
from surefoot.agents.saving import load
from surefoot.floors.protocol import is_ceiling
from surefoot.kernels import registry
from surefoot.kernels.noise import NO_KEY
from surefoot.kernels.policy import POLICIES, KernelPolicy
from surefoot.live.live import Live
from surefoot.live.store import MemoryStore
from surefoot.policies import Policy
from surefoot.policies.base import arms_of, counts_open, has, measures_of
from surefoot.testing._floors import Outcomes
from surefoot.testing._policies import PolicyMaker, World, alike, heard, text

TURNS = 40
ASKED = 400
"""How often a policy is asked for one and the same turn."""


class PolicyKit(PolicyMaker):
    """What every policy must keep; a test class that pytest collects once ``make_policy`` is there.

    ``make_context(rng)``: the context of a play, None. ``reward_range``: of every reward, (0, 1);
    ``make_reward(arm, rng)``: one of them. ``make_floor()``: the reward floor of the tests under
    guard. ``unplayed_first``: whether the policy promises to play every arm once before any twice.
    ``measure_ranges``: by name, of every measure that a policy of ``measures`` is told, and
    ``make_measures(arm, rng)``: those of a play; ``make_floor()`` is then a dict of floors.

    Holds when: the policy follows ``Policy``; one with ``best`` takes ``ScoringPolicyKit``. Does
    not hold when: it looks at anything besides context, rng and rewards; then a test fails.
    """

    unplayed_first = False

    def test_it_follows_the_protocol(self) -> None:
        policy = self.make_policy()
        assert isinstance(policy, Policy)
        arms_of(policy)

    def test_it_says_whether_it_takes_contexts(self) -> None:
        """``contextual``: True or False; left out, contexts are passed on."""
        says = getattr(self.make_policy(), "contextual", True)
        assert isinstance(says, bool), "contextual is True or False"
        brings = self.make_context(self.world().rng) is not None
        assert says or not brings, "contextual = False, but make_context brings contexts"

    def test_a_context_without_rows_plays_the_default(self) -> None:
        if not self.is_numbered or self.make_policy().n_arms is not None:
            return
        agent = self.agent()
        rows = np.asarray(self.make_context(self.world().rng))[:0]
        before = text(agent.policy.state())
        assert agent.select(rows).is_default
        assert text(agent.policy.state()) == before

    def test_it_chooses_one_of_its_arms_and_leaves_the_context_alone(self) -> None:
        for seed in range(3):
            self.world(seed).course(self.make_policy(), TURNS)

    def test_the_same_rng_and_rewards_give_the_same_choices(self) -> None:
        for seed in range(3):
            ours, theirs = self.world(seed), self.world(seed)
            arms = ours.course(self.make_policy(), TURNS)
            assert arms == theirs.course(self.make_policy(), TURNS)
            assert ours.own.bit_generator.state == theirs.own.bit_generator.state

    def test_every_unplayed_arm_comes_first_where_that_is_promised(self) -> None:
        if self.unplayed_first:
            policy = self.make_policy()
            assert policy.n_arms is not None
            arms = self.world().course(policy, policy.n_arms)
            assert sorted(arms) == list(range(policy.n_arms))

    def test_it_learns_every_reward_of_its_range(self) -> None:
        low, high = map(float, self.reward_range)
        between = [low + (high - low) * share for share in (1e-9, 0.1, 1 / 3, 0.999999999)]
        policy, world = self.make_policy(), self.world()
        for reward in 3 * [low, high, *between]:
            arm, context = world.turn(policy)
            each = (reward,) * len(arm) if self.is_semi_bandit else reward
            world.learn(policy, arm, self.learned(each), context)
        world.course(policy, TURNS)

    def test_it_says_which_measures_it_learns(self) -> None:
        needs = measures_of(self.make_policy())
        missing = [name for name in needs or () if name not in self.measure_ranges]
        assert not missing, f"measure_ranges lacks {', '.join(missing)}, which the policy needs"

    def test_it_learns_measures_without_a_reward_where_it_is_told_measures(self) -> None:
        """Up to the ends of their ranges: at once, apart, or none."""
        if not self.is_measured:
            return
        names = [*self.measure_ranges]
        ends = itertools.product(*self.measure_ranges.values())
        for seed, told in enumerate([(), *ends]):
            measures = self.learned_measures(dict(zip(names, told, strict=False)))
            apart = [{name: x} for name, x in measures.items()]
            policy, world = self.make_policy(), self.world(seed)
            for turn in range(TURNS):
                arm, context = world.turn(policy)
                for part in apart if turn % 2 else [measures]:
                    world.learn(policy, arm, None, context, part)
            world.course(policy, TURNS)

    def test_rewards_may_come_late_out_of_order_or_never(self) -> None:
        for seed in range(3):
            self.world(seed).course(self.make_policy(), TURNS, late=True)

    def test_it_learns_of_plays_that_it_did_not_choose(self) -> None:
        """Another instance chose them, as when a log or a ledger is read back."""
        chooser, policy, world = self.make_policy(), self.make_policy(), self.world()
        for _ in range(TURNS):
            arm, context = world.turn(chooser)
            world.pay(arm, context, policy, chooser)
        world.course(policy, TURNS)

    def test_a_corrected_reward_is_as_if_learned_at_once_where_it_can_correct(self) -> None:
        """Whole numbers to the last unit, floats up to rounding."""
        made: list[Any] = [self.make_policy() for _ in range(3)]
        chooser, corrected, direct = made
        if not has(corrected, "correct"):
            return
        world, waiting = self.world(), list[Any]()
        for turn in range(2 * TURNS):
            arm, context = world.turn(chooser)
            old, new = (self.learned(self.make_reward(arm, world.rng)) for _ in range(2))
            world.learn(corrected, arm, old, context)
            for policy in (chooser, direct):
                world.learn(policy, arm, new, context)
            waiting.append((arm, old, new, context))
            world.rng.shuffle(waiting)
            while waiting and (turn % 5 == 0 or turn == 2 * TURNS - 1):
                corrected.correct(*waiting.pop())
        assert alike(corrected.state(), direct.state())

    def test_it_hears_of_open_plays_by_both_methods_or_by_none(self) -> None:
        policy = self.make_policy()
        assert has(policy, "opened") == has(policy, "closed"), "opened and closed go together"

    def test_open_plays_that_are_closed_leave_nothing_behind_where_it_counts_them(self) -> None:
        """In any order, with rewards in between; whole numbers exactly, floats up to rounding."""
        policy: Any = self.make_policy()
        if not counts_open(policy):
            return
        for seed in range(3):
            world, waiting = self.world(seed), list[Any]()
            policy = self.make_policy()
            world.course(policy, seed * TURNS // 2)
            twin = copy.deepcopy(policy)
            for turn in range(TURNS):
                arm, context = World(self, turn).turn(copy.deepcopy(twin))
                world.tell(policy, "opened", arm, context)
                waiting.append((arm, context))
                if turn % 3 == 0:
                    world.pay(arm, context, policy, twin)
                world.rng.shuffle(waiting)
                if turn % 2:
                    world.tell(policy, "closed", *waiting.pop())
            while waiting:
                world.tell(policy, "closed", *waiting.pop())
            assert alike(policy.state(), twin.state()), (
                "opened and then closed, a play left something behind"
            )
            ours, theirs = World(self, TURNS), World(self, TURNS)
            assert ours.course(policy, TURNS) == theirs.course(twin, TURNS)

    def test_two_of_them_share_nothing(self) -> None:
        ours, theirs = self.make_policy(), self.make_policy()
        fresh = text(theirs.state())
        course = self.world().course(ours, TURNS)
        assert text(theirs.state()) == fresh
        assert text(self.make_policy().state()) == fresh
        assert self.world().course(theirs, TURNS) == course

    def test_its_state_survives_as_text(self) -> None:
        for late in (False, True):
            whole = self.world().course(self.make_policy(), 2 * TURNS, late)
            policy, again, world = self.make_policy(), self.make_policy(), self.world()
            first = world.course(policy, TURNS, late)
            again.restore(heard(text(policy.state())))
            assert first + world.course(again, TURNS, late) == whole, (
                "restored, it chooses otherwise: state() leaves something out, or the policy draws "
                "from a random generator of its own instead of the rng that select is given"
            )

    def test_a_state_restored_over_another_replaces_it(self) -> None:
        fresh, used, world = self.make_policy(), self.make_policy(), self.world(1)
        world.course(used, TURNS)
        used.restore(heard(text(fresh.state())))
        assert self.world().course(used, TURNS) == self.world().course(fresh, TURNS)

    def test_asking_for_its_state_changes_nothing(self) -> None:
        looked, world, arms = self.make_policy(), self.world(), []
        for _ in range(TURNS):
            written = text(looked.state())
            assert text(looked.state()) == written
            arms += world.course(looked, 1)
        assert arms == self.world().course(self.make_policy(), TURNS)

    def test_a_copy_goes_on_alike_and_alone(self) -> None:
        policy, world = self.make_policy(), self.world()
        first = world.course(policy, TURNS)
        before, twin = text(policy.state()), copy.deepcopy(policy)
        second = world.course(twin, TURNS)
        assert text(policy.state()) == before
        assert first + second == self.world().course(self.make_policy(), 2 * TURNS)

    def test_its_config_makes_its_equal_where_it_has_one(self) -> None:
        policy: Any = self.make_policy()
        if has(policy, "config") and has(policy, "from_config"):
            self.world().course(policy, TURNS)
            again = type(policy).from_config(policy.config())
            assert text(again.state()) == text(self.make_policy().state())
            assert arms_of(again) == arms_of(policy)
            ours, theirs = self.world(), self.world()
            assert ours.course(again, TURNS) == theirs.course(self.make_policy(), TURNS)

    def test_its_index_does_not_fall_as_the_scale_grows(self) -> None:
        """What every driver but the plain argmax relies on, for a policy of ``IndexKernels``."""
        policy: Any = self.make_policy()
        kernels = registry.INDEX_KERNELS.get(type(getattr(policy, "record", None)))
        if kernels is None:
            return
        world = self.world()
        for turn in range(1, TURNS):
            world.course(policy, 1)
            record, state = policy.record, tuple(policy.state()["arms"])
            scales = [kernels.scale(record, turn * later) for later in (1, 2, 4, 1000)]
            assert scales == sorted(scales), "scale must not fall as the turn grows"
            for arm in range(policy.n_arms):
                low = -math.inf
                for s in scales:
                    y = kernels.index(record, state, arm, s, -math.inf)
                    assert y >= low - registry.MARGIN, "index must not fall as the scale grows"
                    low = max(low, y)

    def test_it_declares_its_draws_where_it_draws(self) -> None:
        """``draws = True``: else live every turn of every seed draws with no key."""
        policy: Any = self.make_policy()
        kernels = registry.KERNELS.get(type(getattr(policy, "record", None)))
        if not isinstance(policy, KernelPolicy) or policy.draws or kernels is None:
            return
        world = self.world()
        for turn in range(1, TURNS):
            context = self.make_context(world.rng)
            state = tuple(policy.state()["arms"])
            kernels.best(policy.record, state, turn, NO_KEY, context, range(policy.n_arms))
            world.course(policy, 1)

    def test_best_is_select_where_there_is_both(self) -> None:
        """An agent asks ``best`` alone; what differs for sure is found here."""
        policy, world = self.make_policy(), self.world()
        if not has(policy, "best"):
            return
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(TURNS):
                policy_checks.check_best(policy, self.make_context(world.rng), world.own)
                (arm, _), context = world.turn(policy, "best")
                world.pay(arm, context, policy)

    def test_its_propensities_are_those_of_its_draws_where_it_says_them(self) -> None:
        """``propensities``: of the next turn; what it chooses, asked again and again, agrees."""
        policy, world = self.make_policy(), self.world()
        if not has(policy, "propensities"):
            return
        for turn in range(TURNS):
            if turn in (0, TURNS // 4, TURNS - 1):
                self.check_propensities(policy, world)
            world.course(policy, 1)

    def check_propensities(self, policy: Any, world: World) -> None:
        """Of one state, with every arm allowed and with some of them."""
        context, before = self.make_context(world.rng), text(policy.state())
        for allowed in (None, world.some_of(policy, context))[: 1 + has(policy, "best")]:
            says = [*map(float, policy.propensities(context=context, allowed=allowed))]
            assert text(policy.state()) == before, "propensities() changed the policy"
            n_arms = len(context) if policy.n_arms is None else policy.n_arms
            assert len(says) == n_arms, "propensities() is one number for each arm"
            assert min(says) >= 0, "propensities() are not negative"
            assert math.isclose(sum(says), 1, abs_tol=1e-9), "propensities() sum to 1"
            barred = {*range(n_arms)} - {*(range(n_arms) if allowed is None else allowed)}
            assert not any(says[arm] for arm in barred), "an arm not allowed has a propensity of 0"
            seen = world.choices(policy, context, allowed, ASKED)
            for arm, share in enumerate(says):
                spread = math.sqrt(share * (1 - share) / ASKED)
                assert abs(seen.count(arm) / ASKED - share) <= 5 * spread + 1 / ASKED, (
                    f"arm {arm} has propensity {share} and is chosen {seen.count(arm)} times in "
                    f"{ASKED}"
                )

    def test_its_clock_counts_turns_and_not_rewards_where_it_has_one(self) -> None:
        policy: Any = self.make_policy()
        if not hasattr(policy, "turns"):
            return
        world, start = self.world(), policy.turns
        for turn in range(1, TURNS):
            arm, context = world.turn(policy)
            for _ in range(turn % 3):
                world.pay(arm, context, policy)
            assert policy.turns == start + turn

    def test_under_guard_the_worst_rewards_do_not_break_the_floor(self) -> None:
        agent, world = self.agent(), self.world()
        guards: Any = agent.floor
        floors = guards.floors if self.is_measured else {"reward": guards}
        outcomes, explored = {name: Outcomes(floor) for name, floor in floors.items()}, 0
        costs = {name for name, floor in floors.items() if is_ceiling(floor)}
        worst = {name: float(ends[name in costs]) for name, ends in self.measure_ranges.items()}
        for _ in range(self.plays):
            play = agent.select(self.make_context(world.rng))
            for one in outcomes.values():
                one.decide(not play.is_default)
            told: dict[str, Any] = dict.fromkeys(floors)
            if play.is_default:
                agent.update(play)
            else:
                explored += 1
                agent.update(play, **self.paid(self.worst(play.arm), worst))
                booked = agent.books.plays.get(play.id).reward
                assert booked is not None
                told = {"reward": agent.floor.unit.decimal(booked)}
                told |= {name: -x if name in costs else x for name, x in worst.items()}
            for name, one in outcomes.items():
                one.report("settle", play.id, told[name])
                assert one.least() >= 0
        assert explored, f"no exploration in {self.plays} plays: set `plays` higher"

    def test_saved_and_loaded_its_agent_goes_on_alike(self) -> None:
        whole = self.world().plays(self.agent(), 2 * TURNS)
        agent, world = self.agent(), self.world()
        first = world.plays(agent, TURNS)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "agent.json"
            agent.save(path)
            again = load(path, None if self.is_ours else self.make_policy())
        assert dict(again.accounts) == dict(agent.accounts)
        assert first + world.plays(again, TURNS) == whole

    def test_live_and_started_again_it_goes_on_alike(self) -> None:
        if self.is_measured:  # sf.Live guards one floor
            return
        whole = self.lived(parts=1, closed=True)
        assert self.lived(parts=2, closed=False) == whole  # its ledger is read back
        assert self.lived(parts=2, closed=True) == whole  # its state is, as it was at the end

    def lived(self, parts: int, closed: bool) -> tuple[list[Any], Any]:
        """The plays of a Live, each part by a new one, and what its account says at the end."""
        store, world, arms = MemoryStore(), self.world(), list[Any]()
        for _ in range(parts):
            live = Live(self.agent(), store)
            arms += world.plays(live, TURNS // parts)
            assert live.degraded is None
            says = live.account
            if closed:
                live.close()
        return arms, says

    @property
    def is_ours(self) -> bool:
        """Whether a saved agent knows how to make the policy anew."""
        policy = self.make_policy()
        return POLICIES.get(type(policy).__name__) is type(policy)


class ScoringPolicyKit(PolicyKit):
    """What a policy with ``best`` must keep as well, so that the default may compete with it.

    Holds when: the policy follows ``Scoring``.
    """

    def test_best_chooses_what_select_chooses(self) -> None:
        by_best: Any
        by_select, by_best = self.make_policy(), self.make_policy()
        ours, theirs = self.world(), self.world()
        for _ in range(TURNS):
            (arm, context), ((best, score), _) = ours.turn(by_select), theirs.turn(by_best, "best")
            assert arm == best
            assert not math.isnan(float(score))
            ours.pay(arm, context, by_select)
            theirs.pay(arm, context, by_best)
        assert text(by_select.state()) == text(by_best.state())

    def test_best_keeps_to_the_allowed_arms_and_leaves_them_alone(self) -> None:
        policy, world = self.make_policy(), self.world()
        for _ in range(TURNS * self.is_numbered):
            (arm, _), context = world.turn(policy, "best", restricted=True)
            world.pay(arm, context, policy)
        world.course(policy, TURNS)

    def test_a_look_takes_no_turn_where_it_can_look(self) -> None:
        policy: Any
        policy, world = self.make_policy(), self.world()
        if not (has(policy, "peek") and hasattr(policy, "turns")):
            return
        if getattr(policy, "draws", False):  # it has no draws of its own before its first turn
            world.turn(policy, "best")
        for _ in range(TURNS):
            before, rng = text(policy.state()), copy.deepcopy(world.rng)
            seen = policy.peek(policy.turns + 1, context=self.make_context(rng))
            assert text(policy.state()) == before
            (arm, score), context = world.turn(policy, "best")
            assert (arm, score) == seen
            world.pay(arm, context, policy)

    def test_what_surely_pays_more_scores_no_less(self) -> None:
        policy: Any = self.make_policy()
        low, high = map(float, self.reward_range)
        if has(policy, "sure"):
            scores = [policy.sure(self.learned(low + (high - low) * k / 8)) for k in range(9)]
            assert all(map(math.isfinite, scores))
            assert scores == sorted(scores)

    def test_the_default_may_compete_with_it(self) -> None:
        agent, world = self.agent(), self.world()
        assert agent.default_competes
        world.plays(agent, TURNS)
        for says in agent.accounts.values():
            assert says.plays == TURNS
            assert agent.turns >= says.explorations
