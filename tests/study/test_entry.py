import pytest

from lab import POLICIES as OWN
from surefoot.agents import GenCB, Plain
from surefoot.comparators import BudgetFirst, ConUCB
from surefoot.errors import InvalidInput
from surefoot.policies import KLUCB, UCB1, LinUCB
from surefoot.study.entry import COMPARATORS, POLICIES, Misplaced
from surefoot.study.problems import MAIN
from surefoot.study.sweep import panel_of, read


def with_agents(*entries, problem="cmab", **changes):
    settings = read(MAIN[problem]).model_dump(mode="json")
    return panel_of({**settings, **changes, "agents": list(entries)})


@pytest.fixture
def home(tmp_path):
    """A folder with a module of its own name: modules stay in the process."""
    name = f"lab_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(OWN)
    return tmp_path, name


def test_agents_of_ones_own_play_and_a_panel_of_them_rebuilds_from_json(home):
    folder, module = home
    panel = with_agents(
        {"algorithm": "GenCB"},
        {"name": "free", "policy": f"{module}:Mine", "guard": "Plain", "settings": {"c": 2.5}},
        {"policy": f"{module}:Mine"},
        home=str(folder),
    )
    assert panel.roles() == {"GenCB": "guarded", "free": "unguarded", "Mine": "guarded"}
    again = panel_of(panel.model_dump(mode="json"))
    assert again == panel
    gencb, free, mine = again.agents().values()
    assert (type(gencb), gencb.default_competes, type(gencb.policy)) == (GenCB, False, UCB1)
    assert (type(free), free.policy.c, free.measured) == (Plain, 2.5, True)
    assert (type(mine), mine.policy.c, mine.policy.n_arms) == (GenCB, 1.0, 72)
    assert panel.foreign
    assert list(panel.sources()) == [module]


def test_what_no_run_depends_on_is_no_part_of_the_identity(home):
    panel = with_agents({"algorithm": "GenCB"})
    changed = {"runs": 3, "source": "elsewhere", "because": "so", "home": "/", "varied": ["mu0"]}
    other = panel_of({**panel.model_dump(mode="json"), **changed})
    assert other.identity == panel.identity
    assert panel_of({**panel.model_dump(mode="json"), "seed": 1}).identity != panel.identity


def test_the_papers_panels_know_who_is_who():
    assert read(MAIN["cmab"]).roles() == {
        "GenCB": "guarded", "UCB1": "unguarded", "ConUCB": "comparator",
    }  # fmt: skip
    assert not read(MAIN["cmab"]).foreign
    assert read(MAIN["cmab"]).sources() == {}


@pytest.mark.parametrize("problem", MAIN)
def test_the_papers_agents_by_name_are_the_papers(problem):
    paper = read(MAIN[problem]).agents()
    named = with_agents(*({"algorithm": name} for name in paper), problem=problem).agents()
    for name, agent in paper.items():
        assert type(named[name]) is type(agent)
        assert str(named[name].config()) == str(agent.config())
        assert str(vars(named[name].policy)) == str(vars(agent.policy))


def test_settings_are_keywords_of_the_algorithm_its_policy_or_its_guard():
    agents = with_agents(
        {"algorithm": "ConUCB", "settings": {"radius": "simple"}},
        {"algorithm": "UCB1", "settings": {"c": 0.5}},
        {"algorithm": "GenCB", "settings": {"fund": True}},
        {"policy": "KLUCB", "guard_settings": {"default_competes": False}, "name": "KL"},
        {"algorithm": "BudgetFirst"},
    ).agents()
    conucb, ucb1, gencb, kl, first = agents.values()
    assert (type(conucb), conucb.settings["radius"], conucb.settings["delta"]) == (
        ConUCB, "simple", 1e-5,
    )  # fmt: skip
    assert (type(ucb1), ucb1.policy.config()["c"]) == (Plain, 0.5)
    assert gencb.earned is not None
    assert not gencb.default_competes
    assert (type(kl), type(kl.policy), kl.default_competes) == (GenCB, KLUCB, False)
    assert (type(first), float(first.floor.default)) == (BudgetFirst, 0.7)


def test_a_linear_policy_is_given_features_and_what_the_papers_know():
    paper = read(MAIN["clb"])
    agents = with_agents(
        {"name": "A", "policy": "LinUCB"},
        {"name": "B", "policy": "LinUCB", "settings": {"ridge": {"noise": 0.5}}},
        problem="clb",
    ).agents()
    assert type(agents["A"].policy) is LinUCB
    printed = paper.agents()["GenCB"].policy
    assert agents["A"].policy.settings() == printed.settings()
    assert agents["B"].policy.settings()["noise"] == 0.5


@pytest.mark.parametrize("name", [*COMPARATORS, *POLICIES])
def test_every_public_agent_and_policy_is_known(name):
    from surefoot import comparators, policies

    assert callable(getattr(comparators if name in COMPARATORS else policies, name))
    assert set(COMPARATORS) == set(comparators.__all__)
    kinds = {"Ball", "Polytope", "Ridge", "Policy", "Scoring"}
    assert set(POLICIES) == set(policies.__all__) - kinds


@pytest.mark.parametrize(
    ("entry", "path", "said"),
    [
        ({"policy": "nowhere.at_all:Mine"}, ("policy",), "no module nowhere is"),
        ({"policy": "LAB:Mime"}, ("policy",), "has no Mime; did you mean Mine?"),
        ({"policy": "LAB:Broken"}, ("policy",), "raised RuntimeError: no luck"),
        ({"policy": "LAB:Mine", "settings": {"k": 1}}, ("policy",), "TypeError"),
        ({"policy": "LAB"}, ("policy",), "is no policy of Surefoot's"),
        ({"policy": "KLUBC"}, ("policy",), "did you mean KLUCB?"),
        ({"policy": "UCB1", "guard": "gencb"}, ("guard",), "did you mean GenCB?"),
        ({"policy": "UCB1", "guard": "LAB:Mine"}, ("guard",), "makes a Mine, which is no agent"),
        ({"algorithm": "Con-UCB"}, ("algorithm",), "did you mean ConUCB?"),
        ({"algorithm": "ConUCB", "guard": "GenCB"}, ("guard",), "guards itself"),
        ({"algorithm": "UCB1", "settings": {"c": -1}}, ("algorithm",), "agent 'UCB1': c"),
        ({"algorithm": "UCB1", "policy": "UCB1"}, (), "either algorithm or policy"),
        ({"name": "x"}, (), "either algorithm or policy"),
    ],
)
def test_what_cannot_be_made_names_its_key(home, entry, path, said):
    folder, module = home
    entry = {k: v.replace("LAB", module) if isinstance(v, str) else v for k, v in entry.items()}
    panel = with_agents({"algorithm": "GenCB"}, entry, home=str(folder))
    with pytest.raises(Misplaced) as caught:
        panel.agents()
    assert caught.value.path == ("agents", 1, *path)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_agents_of_one_name_are_refused():
    panel = with_agents({"algorithm": "GenCB"}, {"algorithm": "GenCB"})
    with pytest.raises(InvalidInput, match="two agents are called GenCB"):
        panel.agents()


def test_a_module_of_another_folder_with_the_same_name_is_not_taken_for_it(home, tmp_path):
    folder, module = home
    with_agents({"policy": f"{module}:Mine"}, home=str(folder)).agents()
    other = tmp_path / "other"
    other.mkdir()
    (other / f"{module}.py").write_text(OWN)
    with pytest.raises(InvalidInput, match="this process has another module"):
        with_agents({"policy": f"{module}:Mine"}, home=str(other)).agents()
