import pytest

from claims_at_reduced_size import check
from surefoot.agents import GenCB, Plain
from surefoot.errors import InvalidInput
from surefoot.study.problems import MAIN
from surefoot.study.sweep import Sweep, read


def test_the_agents_are_the_papers():
    cucb, ucb = read(MAIN["mv"]).agents().values()
    assert (type(cucb), type(ucb)) == (GenCB, Plain)
    assert (cucb.floor.check, float(cucb.floor.rho), cucb.policy.rho) == ("paper", 10, 10)


def test_a_setting_the_printed_check_cannot_keep_is_refused():
    panel = Sweep.of(read(MAIN["mv"])).but(rho=(0.5,)).panels[0]
    with pytest.raises(InvalidInput):
        panel.agents()


def test_the_papers_claims_at_reduced_size():
    found = check("mv", runs=40, K=(3,), alpha=(0.1,), rho=(30.0,), horizon=30_000)
    assert found == {"kept": True, "flat": True, "constant": True, "early": True}
