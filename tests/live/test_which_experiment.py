"""Who names no experiment means the only one there is."""

import pytest
from typer.testing import CliRunner

from learners import Least
from surefoot import UCB1, GenCB, RewardFloor
from surefoot.cli import app
from surefoot.errors import InvalidInput
from surefoot.live import MemoryStore
from surefoot.live.live import Live


def agent(alpha=0.5):
    return GenCB(UCB1(2), RewardFloor(0.5, alpha))


def test_a_new_experiment_without_a_name_needs_none_ever_after(tmp_path):
    path = tmp_path / "shop.db"
    with Live(agent(), path) as live:
        live.update(live.select())
    for again in (agent(), None):
        with Live(again, path) as live:
            assert (live.name, live.account.default_plays) == ("default", 1)
    for command in (["status"], ["verify"], ["ledger", "export", "--out", str(tmp_path / "out")]):
        words = [*command[:2], str(path), *command[2:]]
        assert CliRunner().invoke(app, words).exit_code == 0, words


def test_the_only_experiment_needs_no_name(tmp_path):
    """A second account was opened in silence, and every command asked which."""
    path = tmp_path / "shop.db"
    with Live(agent(), path, "checkout") as live:
        live.update(live.select())
    for again in (agent(), None):
        with Live(again, path) as live:
            assert (live.name, live.account.default_plays) == ("checkout", 1)
    assert CliRunner().invoke(app, ["status", str(path)]).exit_code == 0
    with pytest.raises(InvalidInput, match=r"alpha = '0.25' differs.*'checkout'"):
        Live(agent(0.25), path)


def test_of_several_accounts_one_has_to_be_named():
    store = MemoryStore()
    for name in ("left", "right"):
        Live(agent(), store, name)
    for given in (agent(), None):
        with pytest.raises(InvalidInput, match="accounts are 'left', 'right'; pass name="):
            Live(given, store)
    assert store.accounts() == ["left", "right"]
    assert Live(None, store, "right").name == "right"
    Live(agent(), store, "default")  # what has the usual name is what is meant, as ever
    assert Live(None, store).name == "default"


def test_of_several_experiments_of_an_account_one_has_to_be_named():
    store = MemoryStore()
    Live(agent(), store, "left", account="firm")
    assert Live(None, store).name == Live(None, store, account="firm").name == "left"
    Live(agent(), store, "right", account="firm")
    for words in ({}, {"account": "firm"}):
        with pytest.raises(InvalidInput, match="experiments of account 'firm' are 'left', 'right'"):
            Live(None, store, **words)
    assert Live(None, store, "right", account="firm").name == "right"


def test_the_accounts_own_experiment_is_the_usual_one():
    store = MemoryStore()
    Live(agent(), store, "firm")
    Live(agent(), store, "other", account="firm")
    assert Live(None, store).name == "firm"


def test_an_account_that_is_not_there_is_new_or_unknown():
    store = MemoryStore()
    assert Live(agent(), store, account="firm").name == "default"
    with pytest.raises(InvalidInput, match=r"no such experiment.*has the accounts 'firm'"):
        Live(None, store, "shop")
    with pytest.raises(InvalidInput, match="name = 3"):
        Live(agent(), MemoryStore(), 3)
    with pytest.raises(InvalidInput, match="account = 3"):
        Live(agent(), MemoryStore(), account=3)


class Fixed(Least):
    """A policy of one's own that says its settings."""

    def __init__(self, arms=("a", "b"), success=0.5):
        self.arms, self.n_arms, self.success = list(arms), len(arms), success

    def config(self):
        return {"success": self.success}


class Other(Fixed):
    pass


def live(policy, store, alpha=0.5):
    given = None if policy is None else GenCB(policy, RewardFloor(0.5, alpha), seed=0)
    return Live(given, store, "shop")


@pytest.mark.parametrize("decided", [0, 600])
def test_an_experiment_of_ones_own_policy_says_how_it_is_opened_again(decided):
    store = MemoryStore()
    first = live(Fixed(), store)
    for number in range(decided):
        first.select(id=f"v{number}")
    first.close()
    for policy, message in (
        (None, r"'shop' is there .* own class Fixed, whose code no store has; open it with a fre"),
        (UCB1(arms=["a", "b"]), "'shop' is there and plays a policy of your own class Fixed"),
        (Other(), "is another: experiment 'shop' is there and plays a policy of your own class Fi"),
        (Fixed(["red", "blue"]), r"arms = \['red', 'blue'\] differs from \['a', 'b'\]"),
        (Fixed(success=0.9), r"success = 0\.9 of the policy differs from 0\.5, which the saved"),
    ):
        with pytest.raises(InvalidInput, match=message) as caught:
            live(policy, store)
        assert "load(" not in str(caught.value)
        assert "no such experiment" not in str(caught.value)
    with pytest.raises(InvalidInput, match=r"floor.alpha = '0\.25' differs"):
        live(Fixed(), store, alpha=0.25)
    with pytest.raises(InvalidInput, match="config of a policy of your own class Fixed"):
        Live(first.config, MemoryStore(), "shop")
    assert live(Fixed(), store).degraded is None


def test_a_policy_of_ours_is_not_taken_for_ones_own():
    store = MemoryStore()
    live(UCB1(arms=["a", "b"]), store).close()
    with pytest.raises(InvalidInput, match="plays a UCB1 of surefoot's own; give None for the"):
        live(Fixed(), store)


def test_a_ledger_from_before_settings_were_kept_goes_on():
    class Silent(Fixed):
        config = None

    silent, said = type("Fixed", (Silent,), {}), Fixed
    for before, after in ((silent, said), (said, silent)):
        store = MemoryStore()
        live(before(), store).close()
        assert live(after(success=0.9), store).degraded is None
