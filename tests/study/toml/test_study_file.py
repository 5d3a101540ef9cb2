import json
import re
from importlib import resources

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab import ENVIRONMENTS, POLICIES, reader
from surefoot.errors import InvalidInput
from surefoot.study.problems import MAIN
from surefoot.study.sweep import Sweep, panel_of, paper, read
from surefoot.study.toml.study_file import read_study

GOOD = """\
surefoot = 1
problem = "cmab"
horizon = 2_000
runs = 3
seed = 0
[setting]
mu0 = 0.7
[grid]
K = [
  24,
  72,
]
alpha = { from = 0.01, to = 0.2, steps = 20 }
[[agents]]
algorithm = "GenCB"
[[agents]]
name = "mine"
policy = "LAB:Mine"
guard = "GenCB"
settings = { c = 2.0 }
[outputs]
curves = "grid"
"""
OWN_STUDY = """\
surefoot = 1
problem = "own"
horizon = 200
runs = 2
[setting]
default = 0.5
alpha = 0.1
[environment]
path = "LAB:Shop"
[[agents]]
policy = "KLUCB"
"""


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """A folder with a module beside the study files; its name is of this process alone."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "lab_of_files.py").write_text(POLICIES + ENVIRONMENTS)
    (folder / "lab_that_fails.py").write_text("1 / 0\n")
    (folder / "lab_that_leaves.py").write_text("import sys\nsys.exit(0)\n")
    (folder / "lab_that_needs.py").write_text("import nowhere_to_be_found\n")
    return folder


@pytest.fixture
def study(lab):
    """Read a study file of this text."""

    return reader(lab, "lab_of_files")


def test_a_study_file_is_all_combinations_of_its_grid(study):
    sweep = study(GOOD)
    assert len(sweep.panels) == 40
    assert {panel.K for panel in sweep.panels} == {24, 72}
    assert sweep.values("alpha") == tuple(round(0.01 * i, 2) for i in range(1, 21))
    assert (sweep.runs, sweep.seed, sweep.values("horizon")) == (3, 0, (2000,))
    assert [len(panels) for panels in sweep.groups.values()] == [20, 20]
    assert sweep.panels[0].names() == ("GenCB", "mine")
    assert sweep.panels[0].delta == "1/T"


def test_settings_of_agents_and_of_the_environment_are_axes_too(study):
    grid = "[grid]\nagents.mine.c = [1, 2.5]\nmu0 = [0.6]\n"
    sweep = study(GOOD.replace("mu0 = 0.7\n[grid]\n", grid))
    assert len(sweep.panels) == 80
    panel = sweep.panels[-1]
    assert panel.name == "cmab-K72-alpha0.2-mine.c2.5-mu00.6"
    assert panel.agents()["mine"].policy.c == 2.5
    assert len(sweep.groups) == 4
    own = study(f"{OWN_STUDY}[grid]\nenvironment.good = [0.7, 0.9]\n")
    assert [panel.name for panel in own.panels] == [
        "own-alpha0.1-environment.good0.7", "own-alpha0.1-environment.good0.9",
    ]  # fmt: skip
    assert [panel.environment().means[1] for panel in own.panels] == [0.7, 0.9]
    assert all(panel.foreign for panel in own.panels)


def test_a_study_of_ones_own_environment_may_name_one_of_surefoots(study):
    text = OWN_STUDY.replace('"LAB:Shop"', '"BernoulliArms"\nsettings = { means = [0.8, 0.4] }')
    (panel,) = study(text).panels
    assert not panel.foreign
    assert panel.home is None
    assert (panel.top, panel.pays, panel.swing) == (0.8, 0.5, 1)


def test_a_title_and_a_caption_tell_where_a_panel_stands_on_every_axis(study):
    grid = '[grid]\nagents.mine.c = [1.5]\nmu0 = [0.6]\ndelta = ["1/T"]\n'
    panel = study(GOOD.replace("mu0 = 0.7\n[grid]\n", grid)).panels[0]
    assert panel.title == (
        "GenCB, mine on 24 arms: α = 0.01, the default pays 0.6, mine.c = 1.5, delta = 1/T"
    )
    assert panel.setting.endswith("pays μ0 = 0.6, α = 0.01, mine.c = 1.5, delta = 1/T")
    alone = study(GOOD.replace('algorithm = "GenCB"', 'algorithm = "UCB1"')).panels[0]
    assert alone.title.startswith("UCB1, mine on 24 arms")
    many = study(GOOD.replace('"mine"', '"a policy with a name that is long"')).panels[0]
    assert many.title.startswith("2 agents on 24 arms")


@pytest.mark.parametrize("name", [panel.name for panel in paper()])
def test_the_papers_panels_are_study_files(tmp_path, name):
    file = resources.files("surefoot.study") / "panels" / f"{name}.toml"
    copy = tmp_path / "copy.toml"
    copy.write_text(file.read_text())
    (panel,) = read_study(copy).panels
    assert panel == read(name)


def test_what_is_left_out_is_as_in_the_main_panel(study):
    (panel,) = study('problem = "mv"').panels
    assert panel == read(MAIN["mv"])


def test_options_take_the_place_of_the_files(study, lab):
    study(GOOD)
    sweep = read_study(lab / "study.toml", horizon=50, runs=7, seed=5)
    assert (sweep.values("horizon"), sweep.runs, sweep.seed) == ((50,), 7, 5)


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(lab):
    file = lab / "windows.toml"
    file.write_bytes(b"\xef\xbb\xbf" + b'problem = "cmab"\r\n[setting]\r\nK = 0\r\n')
    with pytest.raises(InvalidInput, match=r"windows.toml:3: K = 0 must be >= 1"):
        read_study(file)


def change(old, new, text=GOOD):
    assert old in text
    return text.replace(old, new)


WRONG = {
    # unknown keys come first
    "seed": (change("seed = 0", "sed = 0"), "5: sed is no key of a study file; did you mean seed?"),
    "first": (change("seed = 0", 'sed = 0\nK = "x"'), "5: sed is no key of a study file"),
    "setting": (change("mu0 =", "mu1 ="), "7: mu1 is no key of [setting]; did you mean mu0?"),
    "case": (change("mu0 = 0.7", "k = 3"), "7: k is no key of [setting]; did you mean K?"),
    "grid": (change("alpha =", "alfa ="), "13: alfa is no key of [grid]; did you mean alpha?"),
    "agent": (change("guard =", "gard ="), "19: gard is no key of [[agents]]; did you mean guard?"),
    "keyword": (
        change("guard =", "c ="),
        "19: c is no key of [[agents]]; a keyword of the class go",
    ),
    "output": (change("curves", "kurves"), "22: kurves is no key of [outputs]; did you mean curv"),
    "table": (GOOD + "[plots]\nx = 1", "23: plots is no key of a study file; known are surefoot"),
    "above": (change("seed = 0", "alpha = 0.1"), "5: alpha is a key of [setting]; put it below"),
    "below": (
        change("mu0 = 0.7", "problem = 1"),
        "7: problem is no key of [setting]; put it above",
    ),
    "quoted": (change("mu0 =", '"m u" ='), "7: 'm u' is no key of [setting]"),
    "inside": (change("mu0 = 0.7", "mu0.x = 0.7"), "7: mu0 = {'x': 0.7} must be a number"),
    "world": (
        change("path", "paht", OWN_STUDY),
        "9: paht is no key of [environment]; did you mean p",
    ),
    "floors": (GOOD + "[floors.x]\nalpha = 1", '23: [floors] needs problem = "own", not '),
    "measures": (GOOD + "[measures]\n", "23: [measures] is empty; give [measures.NAME] and its"),
    # the file
    "syntax": (change("seed = 0", "seed ="), "5: no TOML: invalid value at column 7"),
    "unclosed": ('problem = "cmab"\n[grid]\nK = [1,', "3: no TOML: invalid value"),
    "twice": (change("seed = 0", "seed = 0\nseed = 1"), "6: no TOML: cannot overwrite a value at"),
    "empty": ("", "1: problem is missing; give one of cmab, clb, cccb, mv, own"),
    "digits": (f"seed = {'9' * 5000}", "1: no TOML: exceeds the limit"),
    "deep": ("x = " + "[" * 3000 + "]" * 3000, "1: tables or lists of too many levels"),
    # the frame
    "format": (change("= 1\n", "= 2\n"), "1: surefoot = 2 is no format of study files that this"),
    "true": (change("= 1\n", "= true\n"), "1: surefoot = True is no format of study files"),
    "problem": (
        change('"cmab"', '"cmb"'),
        "2: problem = 'cmb' must be one of cmab, clb, cccb, mv, ow",
    ),
    "number": (change('"cmab"', "3"), "2: problem = 3 must be one of"),
    "world of cmab": (
        GOOD + '[environment]\npath = "LAB:Shop"',
        "23: [environment] needs problem = ",
    ),
    "no world": (
        'problem = "own"\n[[agents]]\npolicy = "UCB1"',
        '1: problem = "own" needs [environme',
    ),
    "no agents": (OWN_STUDY.split("[[", maxsplit=1)[0], '2: problem = "own" needs [[agents]]'),
    "no table": ('problem = "cmab"\nsetting = 5', "2: setting must be a table: [setting], and its"),
    "no tables": ('problem = "cmab"\n[agents]\nname = "x"', "2: agents must be tables: [[agents]]"),
    "none": (
        'problem = "cmab"\nagents = []',
        "2: agents = [] has none; leave it out for the paper's",
    ),
    "date": (
        change("mu0 = 0.7", "mu0 = 2020-01-01"),
        "7: mu0 = 2020-01-01: no key of a study file",
    ),
    # values
    "alpha": (
        'problem = "cmab"\n\n[setting]\nalpha = 1.0',
        "4: alpha = 1.0 must lie strictly betwe",
    ),
    "several": (
        change("mu0 = 0.7", "mu0 = [0.7, 0.6]"),
        "7: mu0 = [0.7, 0.6] must be a number; several values go below [grid]",
    ),
    "text": (change("mu0 = 0.7", 'mu0 = "0.7"'), '7: mu0 = "0.7" must be a number'),
    "bool": (change("mu0 = 0.7", "mu0 = true"), "7: mu0 = true must be a number"),
    "nan": (change("mu0 = 0.7", "mu0 = nan"), "7: mu0 = nan must be a finite number"),
    "sum": (change("mu0 = 0.7", "mu0 = 1.5"), "7: mu0 = 1.5 must be <= 1"),
    "runs": (change("runs = 3", "runs = 0"), "4: runs = 0 must be >= 1"),
    "half": (change("runs = 3", "runs = 1.5"), "4: runs = 1.5 must be an int"),
    "horizon": (change("horizon = 2_000", "horizon = 1"), "3: horizon = 1 must be >= 2"),
    "long": (change("2_000", "2_000_000_000"), "3: horizon = 2000000000 must be <= 1,000,000,000"),
    "word": (
        change("mu0 = 0.7", 'radius = "x"'),
        "7: radius = \"x\" must be 'simple', 'iterated' or ",
    ),
    "delta": (change("mu0 = 0.7", "delta = true"), "7: delta = true must be '1/T' or a number"),
    "again": (
        change("mu0 = 0.7", "seed = 1"),
        "7: seed is given twice, also in line 5; give it once",
    ),
    "also": (GOOD + "[chosen]\nmu0 = 0.7", "24: mu0 is given twice, also in line 7"),
    "curves": (
        change('curves = "grid"', 'curves = "all"'),
        '22: curves = "all" must be "grid", "no',
    ),
    "plays": (
        change('curves = "grid"', "curves = [5, 0]"),
        '22: curves = [5, 0] must be "grid", "none" o',
    ),
    "beyond": (change('"grid"', "[5, 9_000]"), "22: at K = 24, alpha = 0.01: checkpoints"),
    "needs": (
        change("default = 0.5\n", "", OWN_STUDY),
        "2: default is missing; give it below [sett",
    ),
    "range": (change("0.5", "0.5\nreward_range = [1]", OWN_STUDY), "7: reward_range = "),
    # the grid
    "no values": (change("[\n  24,\n  72,\n]", "[]"), "9: K = [] must have at least one value"),
    "member": (change("72,", "0,"), "11: K = 0 must be >= 1"),
    "kind": (change("72,", '"72",'), '11: K = "72" must be an int'),
    "list": (
        change("72,", "[72],"),
        "9: K = [72]: a value of an axis must be a number, a text, tr",
    ),
    "single": (change("[\n  24,\n  72,\n]", "24"), "9: K = 24 must be a list of values, or { from"),
    "of one": (change("to = 0.2", "to = 1.0"), "13: alpha = 1.0 must lie strictly between 0 and 1"),
    "steps": (
        change("steps = 20", "steps = 1"),
        "13: alpha: steps = 1 must be an int from 2 to 10",
    ),
    "huge": (
        change("steps = 20", "steps = 999_999"),
        "13: alpha: steps = 999999 must be an int from",
    ),
    "to": (
        change("to = 0.2, ", ""),
        "13: alpha must be a list of values, or have from, to and ste",
    ),
    "ends": (change("to = 0.2", "to = 0.01"), "13: alpha: from = to = 0.01: give two ends"),
    "end": (change("to = 0.2", 'to = "x"'), "13: alpha: to = 'x' must be a number"),
    "both": (change("mu0 = 0.7", "K = 3"), "9: K is given twice, also in line 7; give it once"),
    "fixed": (change("alpha = {", "seed = [1]\nbeta = {"), "14: beta is no key of [grid]; did you"),
    "seeds": (
        change("seed = 0\n", "").replace("alpha = {", "seed = [1]\nalpha = {"),
        "12: seed is no ax",
    ),
    "many": (
        change("24,\n  72,", ", ".join(map(str, range(1, 1000)))),
        "8: [grid] makes 19,980 panels, more than 10,000; make several studies of it",
    ),
    "nobody": (
        change("alpha = {", "agents.me.c = [1]\nalpha = {"),
        "13: no agent is called me; did yo",
    ),
    "nothing": (
        change("alpha = {", "agents = [1]\nalpha = {"),
        "13: agents must name a setting, as age",
    ),
    "no such": (
        change("alpha = {", "environment.x = [1]\nalpha = {"),
        "13: an axis of environment needs problem = ",
    ),
    "paper's": (
        'problem = "cmab"\n[grid]\nagents.GenCB.fund = [true]',
        "3: an axis of agents needs [[agents]]",
    ),
    "refused": (
        change("alpha = {", "agents.mine.k = [1]\nalpha = {"),
        "19: at K = 24, alpha = 0.01, min",
    ),
    "floor": (
        'problem = "mv"\n[grid]\nrho = [10,\n 0.5]',
        "2: at K = 24, alpha = 0.05, rho = 0.5: ",
    ),
    "super arms": (
        'problem = "cccb"\n[setting]\nsize = 20\n[grid]\nd = [5, 30]',
        "3: at d = 5, alpha = 0.01: size = 20 must be <= 10, the number of base arms",
    ),
    # agents and environments of one's own
    "module": (
        change("LAB:Mine", "nolab:Mine"),
        "18: at K = 24, alpha = 0.01: policy = 'nolab:Mine",
    ),
    "class": (
        change("LAB:Mine", "LAB:Mime"),
        "18: at K = 24, alpha = 0.01: policy = 'lab_of_files:",
    ),
    "raises": (
        change("LAB:Mine", "LAB:Broken"),
        "18: at K = 24, alpha = 0.01: agent 'mine': 'lab_of",
    ),
    "imports": (
        change("LAB:Mine", "lab_that_fails:X"),
        "18: at K = 24, alpha = 0.01: policy = 'lab_",
    ),
    "leaves": (
        change("LAB:Mine", "lab_that_leaves:X"),
        "18: at K = 24, alpha = 0.01: policy = 'lab_that_leaves:X': importing lab_that_leaves rai",
    ),
    "its needs": (
        change("LAB:Mine", "lab_that_needs:X"),
        "18: at K = 24, alpha = 0.01: policy = 'l",
    ),
    "dots": (
        change("LAB:Mine", "LAB.Mine"),
        "18: at K = 24, alpha = 0.01: policy = 'lab_of_files.Mi",
    ),
    "no class": (
        change("LAB:Mine", "LAB:number"),
        "18: at K = 24, alpha = 0.01: policy = 'lab_of_f",
    ),
    "guard": (
        change('guard = "GenCB"', 'guard = "GenBC"'),
        "19: at K = 24, alpha = 0.01: guard = 'G",
    ),
    "unlike": (
        change('algorithm = "GenCB"', 'algorithm = "GnCB"'),
        "15: at K = 24, alpha = 0.01: al",
    ),
    "alike": (
        change('"mine"', '"GenCB"'),
        "17: two agents are called GenCB; give each a name of its",
    ),
    "dotted": (change('"mine"', '"a.b"'), '17: name = "a.b" must have no dot, nor be environment'),
    "noname": (change('"mine"', '""'), '17: name = "" '),
    "agent's type": (change('"mine"', "3"), "17: name = 3 must be a text"),
    "settings": (change("{ c = 2.0 }", "2"), "20: settings = 2 must be a table"),
    "infinite axis": (
        change("alpha = {", "agents.mine.c = [nan]\n#"),
        "13: c = nan must be a finite number",
    ),
    "infinite": (change("c = 2.0", "c = inf"), "20: c = inf must be a finite number"),
    "neither": (
        change('policy = "LAB:Mine"\n', ""),
        "16: at K = 24, alpha = 0.01: agent 'mine' must ",
    ),
    "half a world": (change("LAB:Shop", "LAB:Half", OWN_STUDY), "9: environment = "),
    "closed": (
        change("LAB:Shop", "LAB:Angry", OWN_STUDY),
        "9: [environment]: 'lab_of_files:Angry' ra",
    ),
    "sly": (change("LAB:Shop", "LAB:Sly", OWN_STUDY), "8: [environment] raised KeyError: 'gone'"),
    "shops": (
        change("LAB:Shop", "BernoulliArm", OWN_STUDY),
        "9: [environment]: path = 'BernoulliAr",
    ),
    "too good": (change("0.5", "3.5", OWN_STUDY), "6: default = 3.5 "),
}


def test_there_are_enough_wrong_files():
    assert len(WRONG) >= 60


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_one_line_with_its_place(study, lab, name):
    text, said = WRONG[name]
    with pytest.raises(InvalidInput) as caught:
        study(text)
    told = str(caught.value).removeprefix(f"{lab}/study.toml:")
    assert told.startswith(said)
    assert "\n" not in told
    assert len(told) < 400


def test_a_file_that_is_no_text_of_a_study_is_one_line(tmp_path):
    cases = {
        "missing.toml": None,
        "folder.toml": "",
        "latin.toml": b"# \xe9",
        "big.toml": b" " * 2**20,
    }
    said = {
        "missing.toml": "is not there; `surefoot study new` prints",
        "folder.toml": "is a folder; give a study file",
        "latin.toml": ":1: not UTF-8; save the file in that encoding",
        "big.toml": "has 1,048,576 bytes, a study file at most 1,000,000",
    }
    (tmp_path / "folder.toml").mkdir()
    for name, content in cases.items():
        if content:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(InvalidInput, match=re.escape(said[name])):
            read_study(tmp_path / name)


names = st.text("abcXYZ_-", min_size=1, max_size=5).filter(lambda name: name != "environment")
scalars = st.one_of(
    st.integers(-5, 5),
    st.floats(-3, 3, allow_nan=False),
    st.text("ab/ %é", max_size=4),
    st.booleans(),
)
fields = {
    "K": st.integers(1, 9),
    "alpha": st.floats(0.01, 0.99),
    "mu0": st.floats(0.1, 1),
    "best": st.floats(0, 1),
    "delta": st.one_of(st.just("1/T"), st.floats(0.001, 0.5)),
    "radius": st.sampled_from(["simple", "iterated", "libbandit"]),
}


@st.composite
def documents(draw):
    """The text of a legal study file, and the values of its axes."""
    chosen = draw(st.lists(st.sampled_from(sorted(fields)), unique=True, min_size=1))
    axes = {name: draw(st.lists(fields[name], min_size=1, max_size=2)) for name in chosen}
    labels = draw(st.lists(names, unique=True, max_size=3))
    lines = ['problem = "cmab"', f"runs = {draw(st.integers(1, 9))}", "horizon = 50", "[grid]"]
    lines += [f"{name} = {json.dumps(values)}" for name, values in axes.items()]
    for label in labels[:1]:
        axes[f"{label}.c"] = draw(st.lists(scalars, min_size=1, max_size=2))
        lines.append(f"agents.{label}.c = {json.dumps(axes[f'{label}.c'])}")
    for label in labels:
        lines += ["[[agents]]", f'name = "{label}"', 'policy = "lab_of_files:Mine"']
    return "\n".join(lines), axes


@given(documents())
@settings(max_examples=40)
def test_a_file_a_sweep_its_json_and_a_sweep_again_are_one(lab, document):
    text, axes = document
    (lab / "drawn.toml").write_text(text, encoding="utf-8")
    sweep = read_study(lab / "drawn.toml")
    told = json.dumps([panel.model_dump(mode="json") for panel in sweep.panels])
    again = Sweep.of(*map(panel_of, json.loads(told)))
    assert again == sweep
    assert [panel.name for panel in again.panels] == [panel.name for panel in sweep.panels]
    assert len({panel.name for panel in sweep.panels}) == len(sweep.panels)
    for axis, values in axes.items():
        assert {repr(panel.at(axis)) for panel in sweep.panels} == set(map(repr, values))
    for panels in sweep.groups.values():
        assert len({panel.alpha for panel in panels}) == len(panels)
