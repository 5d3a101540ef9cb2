"""Floors and measures by name in study files: what is read, and what is refused where."""

import pytest

from lab import ENVIRONMENTS, MEASURED, POLICIES, reader
from surefoot import CostCeiling, LearnedDefault, RewardFloor
from surefoot.errors import InvalidInput
from surefoot.simulation import Plan
from surefoot.study.sweep import panel_of

ROUTER = (
    """\
surefoot = 1
problem = "own"
horizon = 200
runs = 2
[setting]
objective = { quality = 1, cost = -5 }
[floors.quality]
default = 0.8
alpha = 0.1
margin = 0.01
[floors.cost]
kind = "CostCeiling"
default = 0.012
alpha = 1.5
max_slack = 2
"""
    + MEASURED
)
ALONE = """\
problem = "own"
horizon = 200
runs = 2
[floors.reward]
default = -0.5
alpha = 0.1
margin = 0.05
[environment]
path = "EmpiricalArms"
settings = { samples = [[-1, 0], [0, 1]] }
[[agents]]
policy = "KLUCB"
"""


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    (folder / "lab_of_floors.py").write_text(POLICIES + ENVIRONMENTS)
    return folder


@pytest.fixture
def study(lab):
    """Read a study file of this text."""

    return reader(lab, "lab_of_floors")


def change(old, new, text=ROUTER):
    assert old in text
    return text.replace(old, new, 1)


def test_floors_and_measures_are_what_the_file_says(study):
    (panel,) = study(ROUTER).panels
    assert (panel.name, panel.guards, panel.label) == ("own", ("quality", "cost"), "quality, cost")
    quality, cost = panel.floor().values()
    assert quality == RewardFloor(0.8, 0.1, (0, 1), margin=0.01)
    assert cost == CostCeiling(0.012, 1.5, (0.002, 0.04), max_slack=2)
    environment = panel.environment()
    assert environment.pull_default(7, 1).keys() == {"quality", "cost"}
    assert panel.pays == pytest.approx(0.8 - 5 * 0.012)
    assert panel.top == pytest.approx(0.9 - 5 * 0.03)
    assert panel.slope is None
    assert not panel.foreign
    assert panel_of(panel.model_dump(mode="json")) == panel


def test_their_settings_may_be_axes(study):
    grid = "[grid]\nfloors.quality.alpha = [0.1, 0.2]\nmeasures.cost.default = [0.012, 0.013]\n"
    sweep = study(change("[setting]", f"{grid}[setting]", change("alpha = 0.1\n", "")))
    first = sweep.panels[0]
    assert first.name == "own-floors.quality.alpha0.1-measures.cost.default0.012"
    assert [panel.floor()["quality"].alpha.as_tuple().digits for panel in sweep.panels] == [
        (1,), (1,), (2,), (2,)
    ]  # fmt: skip
    assert first.title.endswith("floors.quality.alpha = 0.1, measures.cost.default = 0.012")
    assert len(sweep.groups) == 4


def test_a_default_may_be_learned_or_an_interval(study):
    learned = change("default = 0.8\n", "default = { between = [0.5, 0.95], delta = 0.1 }\n")
    (panel,) = study(learned).panels
    assert panel.floor()["quality"].default == LearnedDefault((0.5, 0.95), 0.1)
    said = change("default = 0.8\n", "default = [0.7, 0.9]\n", ROUTER)
    with pytest.raises(InvalidInput, match="without one known default"):
        study(said)


def test_a_single_floor_takes_a_margin_and_a_default_below_zero(study):
    (panel,) = study(ALONE).panels
    assert panel.floor() == RewardFloor(-0.5, 0.1, (-1, 1), margin=0.05)
    assert panel.slope == pytest.approx(0.5 - (-0.5 - 0.05 - 0.05))
    ceiling = ALONE.replace("floors.reward", "floors.cost").replace(
        "default = -0.5", 'kind = "CostCeiling"\ndefault = 0.5'
    )
    (panel,) = study(ceiling).panels
    assert isinstance(panel.floor(), CostCeiling)
    assert (panel.top, panel.pays) == (0.5, -0.5)
    assert panel.slope == pytest.approx(0.5 + 0.5 + 0.05 + 0.05)


def test_the_file_may_say_what_the_default_brings_where_the_measures_do_not(study):
    ceiling = ROUTER[ROUTER.index("[floors.cost]") : ROUTER.index("[measures.quality]")]
    text = change(ceiling, "", change("default = 0.012\n[[", "[["))
    with pytest.raises(InvalidInput, match="nothing says what the default brings of the objective"):
        study(text)
    (panel,) = study(change("[setting]\n", "[setting]\ndefault_objective = 0.4\n", text)).panels
    assert panel.pays == 0.4
    floors = [agent.floor for agent in panel.agents().values()]
    assert [float(one.objective.default) for one in floors] == [0.4, 0.4]


def test_what_the_file_says_the_default_brings_is_what_its_regret_is_of(study):
    """The floors alone would say 0.8 - 5 * 0.012."""
    silent = change("default = 0.012\n[[", "[[")
    (panel,) = study(silent).panels
    assert panel.pays == pytest.approx(0.74)
    (panel,) = study(change("[setting]\n", "[setting]\ndefault_objective = 0.4\n", silent)).panels
    defaults = Plan(panel.agents(), panel.environment(), panel.horizon).defaults
    assert set(defaults.values()) == {panel.pays} == {0.4}


def test_measures_of_ones_own_are_imported_and_part_of_what_names_the_results(study):
    own = 'path = "LAB:Shop"\nsettings = { good = 0.9 }'
    text = change('path = "BernoulliArms"\nsettings = { means = [0.9, 0.7] }', own)
    (panel,) = study(text).panels
    assert panel.foreign
    assert list(panel.sources()) == ["lab_of_floors"]
    assert panel.environment().measures["quality"].means[1] == 0.9


WRONG = {
    "key": (change("margin", "marign"), "10: marign is no key of [floors.quality]; did you mean m"),
    "kind": (change("CostCeiling", "CostCieling"), "12: kind = "),
    "range": (
        change("max_slack", "reward_range"),
        "15: reward_range is no key of [floors.cost]; known are kind, def",
    ),
    "learned": (
        change("default = 0.8\n", "default = { betwen = [0, 1] }\n"),
        "8: betwen is no key of [floors.quality]; did you mean between?",
    ),
    "delta": (
        change("default = 0.8\n", "default = { between = [0, 1], delta = 2 }\n"),
        "8: [floors.quality]: delta = 2 must lie strictly between 0 and 1",
    ),
    "alpha": (change("alpha = 0.1", "alpha = 1.5"), "9: [floors.quality]: alpha = 1.5 must lie "),
    "text": (change("alpha = 0.1", 'alpha = "x"'), "9: [floors.quality]: alpha must be a number"),
    "none": (change("alpha = 0.1\n", ""), "7: [floors.quality]: alpha is missing; give it there"),
    "setting": (
        change("objective", "alpha"),
        "6: alpha is a key of a floor here; put it below [floors.NAME]",
    ),
    "outside": (
        change("default = 0.8\n", "default = 2\n"),
        "8: [floors.quality]: default = 2 lies",
    ),
    "axis": (
        change("[setting]", "[grid]\nfloors.quality.alpha = [0.1,\n 1.5]\n[setting]"),
        "7: at floors.quality.alpha = 1.5: [floors.quality]: alpha = 1.5",
    ),
    "axis key": (
        change("[setting]", "[grid]\nfloors.cost.alfa = [0.1]\n[setting]"),
        "6: alfa is no key of [floors.cost]; did you mean alpha?",
    ),
    "axis name": (
        change("[setting]", "[grid]\nfloors.costs.alpha = [0.1]\n[setting]"),
        "6: no floor is called costs; did you mean cost?",
    ),
    "no measure": (
        change("[floors.cost]", "[floors.costs]"),
        "11: [floors.costs]: the environment has no measure costs: its measures are quality, cost;",
    ),
    "measure key": (change("path", "paht"), "17: paht is no key of [measures.quality]; did you m"),
    "no path": (
        change('path = "EmpiricalArms"\n', ""),
        "20: path is missing; give it below [measures.cost]",
    ),
    "class": (
        change('"EmpiricalArms"', '"EmpiricalArm"'),
        "21: [measures.cost]: path = 'EmpiricalArm' must be a class of your own",
    ),
    "arms": (change("[0.9, 0.7]", "[0.9]"), "16: [measures]: measures are of "),
    "default": (
        change("default = 0.012\n[[", 'default = "x"\n[['),
        '23: default = "x" must be a number or ',
    ),
    "default key": (
        change('default = { path = "B', 'default = { pth = "B'),
        "19: pth is no key of the default of [measures.quality]; did you mean path?",
    ),
    "objective": (change("cost = -5", "price = -5"), "6: objective = "),
    "weight": (change("cost = -5", 'cost = "x"'), "6: objective = "),
    "own floor": (
        change("[environment]\n", "[setting]\nobjective = 'x'\n[environment]\n", ALONE),
        "9: objective = 'x' goes with [measures]; an env",
    ),
    "both": (
        change("[[agents]]", '[environment]\npath = "LAB:Shop"\n[[agents]]'),
        "16: [measures] and [environment] both pay; give one of them",
    ),
    "no floor": (
        'problem = "own"\n' + ROUTER[ROUTER.index("[measures") :],
        "2: [measures] needs a floor on one of them; give [floors.NAME]",
    ),
    "no world": (
        ALONE.replace('[environment]\npath = "EmpiricalArms"\n', "[chosen]\n").replace(
            "settings = { samples = [[-1, 0], [0, 1]] }\n", ""
        ),
        '1: problem = "own" needs [environment] with a path, or [measures.NAME]',
    ),
    "flat": (
        change("[floors.quality]", "[floors]\nx = 1\n[floors.quality]"),
        "8: x is no key of [",
    ),
    "dot": (change("[floors.cost]", '[floors."a.b"]'), "11: [floors]: name 'a.b' must have a lett"),
    "unknown to plain pay": (
        ALONE.replace("floors.reward", "floors.speed"),
        "4: [floors.speed]: the environment has no measure speed: it pays one reward a play",
    ),
    "rival": (
        ROUTER.replace('policy = "KLUCB"\nguard', 'algorithm = "BudgetFirst"\n# guard'),
        "29: agent 'unguarded': a comparator keeps one floor of its own",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_floor_is_one_line_with_its_place(study, lab, name):
    text, said = WRONG[name]
    with pytest.raises(InvalidInput) as caught:
        study(text)
    told = str(caught.value).removeprefix(f"{lab}/study.toml:")
    assert told.startswith(said)
    assert "\n" not in told
    assert len(told) < 400
