"""Three floors at once against their twin: the accounts are legal histories of single floors."""

import pytest

from several_laws import check

MORE = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 40)]


@pytest.mark.filterwarnings("ignore::surefoot.errors.RewardOutOfRange")
@pytest.mark.parametrize("seed", [*range(4), *MORE])
def test_every_account_is_its_twin_and_every_promise_is_kept(seed, tmp_path):
    """2,000 schedules of three floors."""
    for each in range(50):
        check(50 * seed + each, tmp_path / "agent.json")
