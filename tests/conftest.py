"""How hypothesis searches: `ci`, the default here, repeats itself; `fresh` draws more, and anew.

Decimals trap floats in every test. One process more than there are cores runs them: many tests
wait for a server, a network or a child.
"""

import decimal
import os
import sys

import pytest
from hypothesis import settings

# No float may reach a decimal unseen: what converts one says so. New threads take the default.
decimal.DefaultContext.traps[decimal.FloatOperation] = True
decimal.getcontext().traps[decimal.FloatOperation] = True

settings.register_profile("ci", settings.get_profile("ci"), max_examples=30)
settings.register_profile("fresh", deadline=None, max_examples=500)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    return (os.cpu_count() or 1) + 1


@pytest.fixture(autouse=True)
def as_cold_as_before():
    """What warms up its process, as a page of the docs does, does so for one test."""
    module = "surefoot.kernels.warm"
    ready = dict(sys.modules[module]._READY) if module in sys.modules else {}
    yield
    if module in sys.modules:
        sys.modules[module]._READY.clear()
        sys.modules[module]._READY.update(ready)
