"""Anything that may happen to a live agent, against a dictionary and fractions."""

import tempfile
from fractions import Fraction
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from live.postgres import empty_database, postgres  # noqa: F401  (a fixture)
from surefoot import UCB1, GenCB, Outcome, RewardFloor
from surefoot.errors import InvalidInput, PlayConflict, StoreUnavailable
from surefoot.live import MemoryStore
from surefoot.live.live import Live
from surefoot.live.store import open_store
from surefoot_torture.faults.store import Faulty
from verifying import proved

LOW, VALUE, ALPHA, RESERVE = Fraction(-1, 2), Fraction(1, 2), Fraction(1, 4), Fraction(2)
REWARDS = st.sampled_from([-0.5, 0.0, 0.25, 1.0, 1.5])


def agent():
    floor = RewardFloor(0.5, 0.25, reward_range=(-0.5, 1.5), reserve=2)
    return GenCB(UCB1(2), floor, default_competes=False)


class Model:
    """One play: what it was decided with, and what is known of it."""

    def __init__(self, explores, alpha):
        self.explores, self.state, self.reward = explores, "open", None
        self.floor = (1 - alpha) * VALUE
        self.deposit = alpha * VALUE
        self.hold = self.floor - LOW

    @property
    def worth(self):
        """What it surely brings above its floor."""
        if self.state in ("void", "unreported") or (self.state == "open" and not self.explores):
            return Fraction(0)
        if self.state in ("played", "fell back"):
            return self.deposit
        if self.state == "settled":
            return self.reward - self.floor
        return -self.hold  # open or expired: the worst

    def report(self, kind, reward=None):
        """What a report has to say, if it is legal; None for a PlayConflict."""
        if kind == "reward":
            if not self.explores:
                return self._move("played", {"open"}, {"played"})
            if self.state == "settled" and self.reward == reward:
                return "repeated"
            late = "booked_late" if self.state == "expired" else "booked"
            if self.state not in ("open", "expired"):
                return None
            self.state, self.reward = "settled", reward
            return late
        if kind == "expire":
            if not self.explores:
                return "ignored"
            return self._move("expired", {"open"}, {"expired"}, "ignored")
        if kind == "void":
            if self.state == "expired":
                return None
            return self._move("void", {"open"}, {"void"}, "ignored")
        if not self.explores:
            return self._move("played", {"open"}, {"played"})
        return self._move("fell back", {"open"}, {"fell back"})

    def _move(self, state, before, same, otherwise=None):
        if self.state in same:
            return "repeated"
        if self.state not in before:
            return otherwise
        self.state = state
        return "booked"


class LiveMachine(RuleBasedStateMachine):
    plays = Bundle("plays")

    def __init__(self):
        super().__init__()
        self.inner = self.make_store()
        self.store = Faulty(self.inner)
        self.models, self.paused = {}, False
        self.alpha, self.reserve = ALPHA, RESERVE

    def make_store(self):
        return MemoryStore()

    @initialize()
    def begin(self):
        self.lives = [Live(agent(), self.store), Live(None, self.store)]

    @property
    def slack(self):
        return self.reserve + sum(model.worth for model in self.models.values())

    def surely(self, call):
        """Call until the store does not fail."""
        try:
            return call()
        except StoreUnavailable:
            return call()

    @rule(target=plays, who=st.integers(0, 1), fault=st.sampled_from([None, False, True]))
    def select(self, who, fault):
        name = f"visit-{len(self.models)}"
        if fault is not None:
            self.store.break_at(1, fault)
        before = self.slack
        play = self.surely(lambda: self.lives[who].select(id=name))
        model = Model(not play.is_default, self.alpha)
        assert Fraction(play.slack) == before
        assert model.explores == (before >= model.hold and not self.paused)
        self.models[name] = model
        return play

    @rule(play=plays, who=st.integers(0, 1))
    def select_again(self, play, who):
        assert self.lives[who].select(id=play.id) == play

    @rule(
        play=plays,
        who=st.integers(0, 1),
        kind=st.sampled_from(["reward", "reward", "reward", "expire", "void", "fall back"]),
        reward=REWARDS,
        fault=st.sampled_from([None, None, False, True]),
    )
    def report(self, play, who, kind, reward, fault):
        live, model = self.lives[who], self.models[play.id]
        calls = {
            "reward": lambda: live.update(play, reward if model.explores else None),
            "expire": lambda: live.expire(play.id),
            "void": lambda: live.void(play),
            "fall back": lambda: live.fall_back(play.id),
        }
        if fault is not None:
            self.store.break_at(1, fault)
        due = model.report(kind, Fraction(reward))
        try:
            outcome = self.surely(calls[kind])
        except PlayConflict:
            assert due is None
            return
        told_twice = fault is True and outcome in (Outcome.REPEATED, Outcome.IGNORED)
        assert outcome == due or told_twice

    @rule(who=st.integers(0, 1))
    def restart(self, who):
        self.lives[who] = Live(agent() if who else None, self.store)

    @rule(who=st.integers(0, 1))
    def leave(self, who):
        self.lives[who].close()
        self.lives[who] = Live(None, self.store)

    @rule(who=st.integers(0, 1), paused=st.booleans())
    def pause(self, who, paused):
        (self.lives[who].pause if paused else self.lives[who].resume)()
        self.paused = paused

    @rule(who=st.integers(0, 1), alpha=st.sampled_from([0.25, 0.125, 0.5]))
    def change(self, who, alpha):
        self.lives[who].change(alpha=alpha)
        self.alpha = Fraction(alpha)

    @rule(who=st.integers(0, 1), amount=st.sampled_from([0.5, 1.25, -0.5, -1.0]))
    def endow(self, who, amount):
        live = self.lives[who]
        if amount > 0:
            live.add_reserve(amount)
        else:
            try:
                live.withdraw_reserve(-amount)
            except InvalidInput:
                assert -amount > min(self.slack, self.reserve)
                return
        self.reserve += Fraction(amount)

    @invariant()
    def the_books_are_right(self):
        if not hasattr(self, "lives"):
            return
        for live in self.lives:
            assert live.degraded is None
            assert Fraction(live.account.slack) == self.slack >= 0
        count = [model.state == "open" and model.explores for model in self.models.values()]
        assert self.lives[0].account.pending == sum(count)
        assert self.lives[0].account == self.lives[1].account

    def teardown(self):
        if hasattr(self, "lives"):
            proved(self.inner)
        self.inner.close()


class SQLiteMachine(LiveMachine):
    def make_store(self):
        self.folder = tempfile.TemporaryDirectory()
        return open_store(Path(self.folder.name) / "ledger.db")

    def teardown(self):
        super().teardown()
        self.folder.cleanup()


class PostgresMachine(LiveMachine):
    server: str

    def make_store(self):
        self.database = empty_database(self.server)
        return open_store(self.database.__enter__())

    def teardown(self):
        super().teardown()
        self.database.__exit__(None, None, None)


def test_in_postgres(postgres):  # noqa: F811
    machine = type("OnThisServer", (PostgresMachine,), {"server": postgres})
    run_state_machine_as_test(
        machine, settings=settings(max_examples=4, stateful_step_count=30, deadline=None)
    )


TestInMemory = LiveMachine.TestCase
TestInMemory.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestInSQLite = SQLiteMachine.TestCase
TestInSQLite.settings = settings(max_examples=4, stateful_step_count=30, deadline=None)
