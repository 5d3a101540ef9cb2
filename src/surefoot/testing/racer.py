"""A process that explores until the account affords no more, and prints what was acknowledged.

`python -m surefoot.testing.racer ADDRESS ACCOUNT`: the seq of each exploration, of hold 3, is one
line of its output, written once the store has acknowledged it.
"""

from __future__ import annotations

import sys

from surefoot.live.store import open_store
from surefoot.testing._stores import explore


def race(address: str, account: str) -> None:
    """Explore until refused."""
    with open_store(address) as store:
        while (entry := store.transact(account, lambda tx: explore(tx, 3))) is not None:
            sys.stdout.write(f"{entry.seq}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    race(*sys.argv[1:])
