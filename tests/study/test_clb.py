from claims_at_reduced_size import check
from surefoot.agents import GenCB, Plain
from surefoot.comparators import CLUCB
from surefoot.study.problems import MAIN
from surefoot.study.sweep import read


def test_the_agents_are_the_papers():
    gencb, linucb, clucb = read(MAIN["clb"]).agents().values()
    assert (type(gencb), type(linucb), type(clucb)) == (GenCB, Plain, CLUCB)
    assert clucb.config()["noise"] == 0.5
    assert clucb.config()["delta"] == 1e-5


def test_the_papers_claims_at_reduced_size():
    """With CLUCB's sigma as GenCB's R; with the smaller one the order turns round here."""
    found = check("clb", d=(2,), alpha=(0.1,), sigma=1.0, horizon=20_000)
    assert found == {"kept": True, "flat": True, "lower": True, "constant": True, "early": True}
