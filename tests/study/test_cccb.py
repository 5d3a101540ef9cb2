import pytest

from claims_at_reduced_size import check
from surefoot.agents import GenCB, Plain
from surefoot.comparators import C3UCB
from surefoot.errors import InvalidInput
from surefoot.study.problems import MAIN
from surefoot.study.sweep import Sweep, read


def test_the_agents_are_the_papers():
    panel = read(MAIN["cccb"])
    gencb, c2ucb, c3ucb = panel.agents().values()
    assert (type(gencb), type(c2ucb), type(c3ucb)) == (GenCB, Plain, C3UCB)
    assert panel.environment().reward_range == (0, 3)
    assert gencb.floor.reward_range == c2ucb.floor.reward_range


def test_more_base_arms_than_there_are_make_no_super_arm():
    panel = Sweep.of(read(MAIN["cccb"])).but(d=(2,), size=5).panels[0]
    with pytest.raises(InvalidInput, match="size = 5 must be <= 4"):
        panel.agents()


def test_the_papers_claims_at_reduced_size():
    """With C3UCB's sigma as GenCB's R; with the smaller one the order turns round here."""
    found = check("cccb", d=(5,), alpha=(0.02,), sigma=1.0, horizon=20_000)
    assert found == {"kept": True, "flat": True, "lower": True, "constant": True, "early": True}
