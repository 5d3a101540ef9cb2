from surefoot.study.problems import MAIN, PROBLEMS
from surefoot.study.sweep import read


def test_every_problem_has_a_main_panel_of_its_own_class():
    assert list(MAIN) == list(PROBLEMS)
    for name, kind in PROBLEMS.items():
        panel = read(MAIN[name])
        assert type(panel) is kind
        assert panel.problem == name
        assert panel.axes[-1 if name != "mv" else 1] == "alpha"
