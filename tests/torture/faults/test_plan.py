import random

from surefoot import GenCB
from surefoot_torture.faults.plan import planned


def test_one_seed_is_one_plan():
    for seed in range(20):
        one, two = (planned(random.Random(seed), (10, 50)) for _ in range(2))
        assert one[1:] == two[1:]
        assert [vars(setup) for setup in one.setups] == [vars(setup) for setup in two.setups]


def test_plans_cover_what_there_is():
    plans = [planned(random.Random(seed), (10, 50)) for seed in range(300)]
    setups = [setup for plan in plans for setup in plan.setups]
    assert {setup.kind for setup in setups} == {"constant", "per play", "realised", "fixed"}
    assert {setup.policy for setup in setups} == {"ucb1", "klucb", "dice"}
    assert {len(plan.setups) for plan in plans} == {1, 2, 3}
    assert {setup.shadow for setup in setups} == {False, True}
    assert all(isinstance(setup.agent(), GenCB) for setup in setups)
    assert all(10 <= plan.decisions <= 50 and plan.lease is None for plan in plans)


def test_leases_are_drawn_where_they_are_asked_for():
    plans = [planned(random.Random(seed), (10, 50), leases=True) for seed in range(50)]
    assert {plan.lease[2] for plan in plans} == {False, True}
    assert {plan.apart for plan in plans} == {False, True}
    assert {plan.roams for plan in plans} == {False, True}


def test_a_change_makes_another_promise():
    rng = random.Random(1)
    setup = planned(rng, (10, 50)).setups[0]
    before = setup.promise()
    while setup.took(setup.change(rng)) == before:
        pass
    assert setup.promise() != before
