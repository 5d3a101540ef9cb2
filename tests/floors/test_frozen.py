"""A floor stays as it was made: its books, and the plays under way, were made by it."""

import copy
import pickle
from dataclasses import FrozenInstanceError

import pytest

import surefoot as sf
from surefoot.floors import LinearFloor


class MarginFloor(LinearFloor):
    """One of a user's own, whose constructor goes on after that of its base."""

    def __init__(self, margin):
        super().__init__()
        self.margin = margin

    def config(self):
        return {"margin": self.margin}


FLOORS = [
    (sf.RewardFloor(0.7, 0.05, checkpoint=3), ("default", "alpha", "checkpoint", "reserve")),
    (sf.RewardFloor(None, 0.05), ("default", "places", "unit", "reward_range")),
    (sf.MeanVarianceFloor(0.7, 0.05, rho=10), ("rho", "check", "constants", "unit")),
    (MarginFloor(0.1), ("margin", "reserve")),
]


@pytest.mark.parametrize(("floor", "names"), FLOORS)
def test_no_attribute_can_be_assigned_or_deleted(floor, names):
    before = {name: getattr(floor, name) for name in names}
    for name in names:
        with pytest.raises(FrozenInstanceError, match=f"cannot assign to '{name}'.*make another"):
            setattr(floor, name, 1)
        with pytest.raises(FrozenInstanceError, match=f"cannot delete '{name}'"):
            delattr(floor, name)
    assert {name: getattr(floor, name) for name in names} == before


@pytest.mark.parametrize(("floor", "names"), FLOORS)
def test_a_copy_is_equal_and_as_fixed(floor, names):
    for same in (copy.copy(floor), copy.deepcopy(floor), pickle.loads(pickle.dumps(floor))):
        assert (same, repr(same), hash(same)) == (floor, repr(floor), hash(floor))
        with pytest.raises(FrozenInstanceError):
            setattr(same, names[0], 1)
