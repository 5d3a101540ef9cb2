"""A floor that nobody here knows: it passes the kit, runs in GenCB and simulate, and is saved."""

from decimal import Decimal

import pytest

import surefoot as sf
from surefoot._exact import exact
from surefoot.errors import InvalidInput
from surefoot.floors import LinearFloor, RewardBooks, statement
from surefoot.live import MemoryStore
from surefoot.simulation.checks import has_kernels
from surefoot.testing import FloorKit


class MarginFloor(LinearFloor):
    """Each play may give up the same margin of what the default is worth, and no more."""

    def __init__(self, default, margin, reward_range=(0, 1), reserve=0, places=None):
        super().__init__(reward_range, reserve, places)
        self.default, self.margin = exact(default, "default"), exact(margin, "margin")

    def terms(self, default=None):
        if default is not None:
            raise InvalidInput(f"default = {default}: a MarginFloor has one default for all plays")
        return self.known_terms(self.default, self.default - self.margin)

    def config(self):
        said = {"default": self.default, "margin": self.margin, "reserve": self.reserve}
        ends = [str(end) for end in self.reward_range]
        said = {name: str(value) for name, value in said.items()}
        return {**said, "reward_range": ends, "places": self.places}


FLOORS = [
    MarginFloor(0.5, 0.1),
    MarginFloor(0.5, 0.125, reward_range=(-1, 1), reserve=2),
    MarginFloor(1 / 3, 0.07, reward_range=(-0.25, 2 / 3), places=3),
]


class TestMarginFloor(FloorKit):
    @pytest.fixture(autouse=True, params=FLOORS, ids=repr)
    def _given(self, request):
        self.floor = request.param

    def make_floor(self):
        return self.floor

    def asks(self, default):
        return self.floor.default - self.floor.margin


class Greedy(MarginFloor):
    def terms(self, default=None):
        terms = super().terms(default)
        return terms._replace(hold=terms.hold // 2)


def test_the_kit_finds_a_floor_of_ones_own_that_holds_too_little():
    kit = FloorKit()
    kit.make_floor, kit.asks = (lambda: Greedy(0.5, 0.1)), lambda _: exact(0.4, "asked")
    with pytest.raises(AssertionError):
        kit.test_the_worst_rewards_do_not_break_the_promise()


def test_it_guards_an_agent():
    agent = sf.GenCB(sf.UCB1(n_arms=2), MarginFloor(0.5, 0.1), seed=0)
    plays = []
    for _ in range(40):
        play = agent.select()
        agent.update(play, None if play.is_default else 0.0)
        plays.append(play.is_default)
        assert agent.account.slack >= 0
    assert plays[:5] == [True] * 4 + [False]
    assert "could lose 0.4" in agent.explain(agent.select())


def test_it_is_simulated_as_the_reward_floor_that_asks_the_same():
    world = sf.BernoulliArms([0.6, 0.4])
    agents = {
        "margin": sf.GenCB(sf.UCB1(2), MarginFloor(0.5, 0.1)),
        "alpha": sf.GenCB(sf.UCB1(2), sf.RewardFloor(0.5, 0.2)),
    }
    found = sf.simulate(agents, world, horizon=300, runs=3, seed=1)
    for measure in ("regret", "slack", "default_plays", "received"):
        ours, theirs = (found.measure(name, measure) for name in agents)
        assert ours == pytest.approx(theirs, abs=1e-12)


def test_a_reserve_may_change_and_nothing_else():
    agent = sf.GenCB(sf.UCB1(n_arms=2), MarginFloor(0.5, 0.1))
    agent.add_reserve(1)
    assert (agent.floor.reserve, agent.account.reserve) == (1, 1)
    with pytest.raises(InvalidInput, match="margin cannot change while the books go on"):
        agent.change(margin=0.2)


def test_it_is_saved_and_loaded_by_its_class(tmp_path):
    agent = sf.GenCB(sf.UCB1(n_arms=2), MarginFloor(0.5, 0.1), seed=3)
    for _ in range(9):
        play = agent.select()
        agent.update(play, None if play.is_default else 1.0)
    agent.save(tmp_path / "agent.json")
    again = sf.load(tmp_path / "agent.json", floor=MarginFloor)
    assert again.floor == agent.floor
    assert statement(again.books) == statement(agent.books)
    with pytest.raises(InvalidInput, match=r"own class MarginFloor; pass it: load\(path, floor="):
        sf.load(tmp_path / "agent.json")
    with pytest.raises(InvalidInput, match="is not the saved floor's class MarginFloor"):
        sf.load(tmp_path / "agent.json", floor=sf.RewardFloor)
    ours = sf.GenCB(sf.UCB1(n_arms=2), sf.RewardFloor(0.5, 0.1))
    ours.save(tmp_path / "ours.json")
    with pytest.raises(InvalidInput, match="load it without floor"):
        sf.load(tmp_path / "ours.json", floor=MarginFloor)


def test_a_ledger_refuses_it_with_a_sentence():
    with pytest.raises(
        InvalidInput, match="cannot go live in this version: only RewardFloor itself can"
    ):
        sf.Live(sf.GenCB(sf.UCB1(2), MarginFloor(0.5, 0.1)), MemoryStore())


def test_what_is_no_floor_is_refused_and_what_lacks_something_is_told():
    with pytest.raises(InvalidInput, match=r"floor = 0\.5 is not a floor; give RewardFloor"):
        sf.GenCB(sf.UCB1(2), 0.5)

    class Short:
        def __getattr__(self, name):
            if name == "plain":
                raise AttributeError(name)
            return getattr(FLOORS[0], name)

    with pytest.raises(InvalidInput, match=r"it lacks plain: derive it from floors\.LinearFloor"):
        sf.GenCB(sf.UCB1(2), Short())
    with pytest.raises(InvalidInput, match="even the default could break the promise"):
        MarginFloor(0.5, -0.1).terms()


def test_a_class_derived_from_a_reward_floor_is_not_mistaken_for_it(tmp_path):
    """A ledger says the floors that it knows; a file would be read by the name alone."""
    own = type("RewardFloor", (sf.RewardFloor,), {"read": lambda floor, reward, what: 0})
    agent = sf.GenCB(sf.UCB1(2), own(0.5, 0.5))
    with pytest.raises(InvalidInput, match="only RewardFloor itself can"):
        sf.Live(agent, MemoryStore())
    with pytest.raises(InvalidInput, match="give yours another name"):
        agent.save(tmp_path / "agent.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "lie", [{"hold": -1}, {"hold": 0.5}, {"deposit": float("nan")}, {"floor": None}, None]
)
def test_terms_that_no_books_can_keep_are_refused(lie):
    class Lying(MarginFloor):
        def terms(self, default=None):
            return lie if lie is None else super().terms(default)._replace(**lie)

    agent = sf.GenCB(sf.UCB1(n_arms=2), Lying(0.5, 0.1), seed=0)
    with pytest.raises(InvalidInput, match=r"Lying.terms returned .* whole units"):
        agent.select()
    assert agent.account.plays == 0
    with pytest.raises(InvalidInput, match=r"Lying.terms returned"):
        sf.simulate({"own": agent}, sf.BernoulliArms([0.8, 0.2]), 10, 1, 0)


class Tiers(LinearFloor):
    """The default of a play is named by its tier, whose worth a table says."""

    def __init__(self, table, usual=None, reward_range=(0, 1), reserve=0):
        super().__init__(reward_range, reserve)
        self.table, self.usual = table, usual
        self.default = None if usual is None else table[usual]

    def terms(self, default=None):
        worth = self.table[self.usual if default is None else default]
        return self.known_terms(worth, worth * Decimal("0.9"))

    def config(self):
        table = {tier: str(worth) for tier, worth in self.table.items()}
        ends = [str(end) for end in self.reward_range]
        own = {"table": table, "usual": self.usual}
        return {**own, "reward_range": ends, "reserve": str(self.reserve)}


TABLE = {"gold": Decimal("0.8"), "new": Decimal("0.2")}


class TestTiers(FloorKit):
    def make_floor(self):
        return Tiers(TABLE, reward_range=(-1, 1), reserve=2)

    def make_default(self, rng):
        return str(rng.choice(list(TABLE)))

    def worth(self, default):
        return {"gold": 0.8, "new": 0.2}[default]

    def asks(self, default):
        return {"gold": Decimal("0.72"), "new": Decimal("0.18")}[default]


def test_a_kit_that_lacks_asks_says_so():
    kit = FloorKit()
    kit.make_floor = lambda: Tiers(TABLE, "gold")
    with pytest.raises(AssertionError, match=r"Tiers has no alpha: give the kit a method asks"):
        kit.test_the_worst_rewards_do_not_break_the_promise()


def test_the_reserve_written_as_text_is_read_again(tmp_path):
    agent = sf.GenCB(sf.UCB1(2), Tiers(TABLE, "gold"), seed=0)
    agent.add_reserve(1)
    agent.save(tmp_path / "agent.json")
    again = sf.load(tmp_path / "agent.json", floor=Tiers)
    assert again.floor == agent.floor
    assert again.floor.table == TABLE
    assert again.account.reserve == 1


def simulated(floor, **options):
    world = sf.BernoulliArms([0.35, 0.3])
    agents = {"own": sf.GenCB(sf.UCB1(2), floor)}
    return sf.simulate(agents, world, horizon=300, runs=2, seed=0, **options)


class Spent(RewardBooks):
    """Asks less of the first plays: not the books of the compiled engine."""

    def terms(self, default=None):
        terms = super().terms(default)
        return terms if self.known > 9 else terms._replace(floor=0, hold=0, deposit=terms.value)


class Generous(MarginFloor):
    def open(self, keep=100_000):
        books = super().open(keep)
        return Spent(self, books.account, books.plays)


@pytest.mark.parametrize("kind", [MarginFloor, Generous])
def test_plain_never_changes_what_a_simulation_finds(kind):
    said = type(kind.__name__, (kind,), {"plain": True})
    ours, theirs = simulated(said(0.5, 0.1)), simulated(kind(0.5, 0.1))
    for measure in ("regret", "slack", "default_plays", "received"):
        assert ours.measure("own", measure) == pytest.approx(
            theirs.measure("own", measure), abs=1e-12
        )


def test_terms_that_change_are_not_plain():
    class Moody(MarginFloor):
        plain, calls = True, 0

        def terms(self, default=None):
            Moody.calls += 1
            return self.known_terms(self.default, self.default * Decimal(Moody.calls % 2) / 2)

    agent = sf.GenCB(sf.UCB1(2), Moody(0.5, 0.1))
    assert not has_kernels(agent, sf.BernoulliArms([0.35, 0.3]))


def test_what_belongs_to_floors_of_ours_is_refused():
    lax = type("Lax", (sf.RewardFloor,), {})
    for floor in (MarginFloor(0.5, 0.1), lax(0.5, 0.1)):
        with pytest.raises(InvalidInput, match="only RewardFloor itself can"):
            sf.Live(sf.GenCB(sf.UCB1(2), floor), MemoryStore())
    for name in ("rho", "even"):
        weighed = type("Weighed", (MarginFloor,), {name: 1})
        with pytest.raises(InvalidInput, match="belong to MeanVarianceFloor"):
            sf.GenCB(sf.UCB1(2), weighed(0.5, 0.1))


def test_a_default_that_simulate_cannot_take_is_said():
    class Loose(MarginFloor):
        def __init__(self):
            LinearFloor.__init__(self)
            self.default = 0.5

        def terms(self, default=None):
            return self.known_terms(Decimal("0.5"), Decimal("0.4"))

    with pytest.raises(InvalidInput, match=r"is a float; give a Decimal: self\.default = Decimal"):
        simulated(Loose())
    with pytest.raises(InvalidInput, match="give Tiers one, a Decimal in its attribute default"):
        simulated(Tiers(TABLE))


def test_a_floor_without_config_says_what_it_lacks(tmp_path):
    class Mute(MarginFloor):
        config = LinearFloor.config

    agent = sf.GenCB(sf.UCB1(2), Mute(0.5, 0.1))
    assert repr(agent.floor) == "Mute(...)"
    for call in (lambda: agent.save(tmp_path / "agent.json"), lambda: agent.add_reserve(1)):
        with pytest.raises(NotImplementedError, match=r"Mute has no config\(\): return its arg"):
            call()


def test_a_default_is_worth_what_a_reward_can_be():
    with pytest.raises(InvalidInput, match=r"worth 1\.5, outside reward_range \(0, 1\)"):
        MarginFloor(1.5, 0.1).terms()
