"""Measure for ``docs/howto/choose-policy.md`` what ``surefoot study better`` does not play.

    uv run scripts/choose_policy.py [bounded | drift | contexts] ...

prints a Markdown table for each word, by default for all. The arms are in another order in each
run, and all policies of a run meet the same order and the same noise. K = 24 arms with means in
equal steps from .8 to .2 and a default of .7, unless said otherwise; each policy is under the same
floor, and the default does not compete. Seeds are fixed, so equal versions print equal numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import surefoot as sf
from surefoot.choosing import NARROW

SEED = 20261130
K, TOP, LOW, MU0 = 24, 0.8, 0.2, 0.7
Makers = Mapping[str, Callable[[], sf.GenCB]]


def means(arms: int = K) -> Any:
    """The arms' means, best first."""
    return np.linspace(TOP, LOW, arms)


def measured(
    world: Callable[[Any], Any], makers: Makers, arms: int, horizon: int, runs: int
) -> dict[str, list[float]]:
    """Regret at the horizon of each agent in each run; ``world``: from an order to arms in it."""
    found: dict[str, list[float]] = {name: [] for name in makers}
    for run in range(runs):
        order = np.random.default_rng([SEED, run]).permutation(arms)
        agents = {name: make() for name, make in makers.items()}
        result = sf.simulate(agents, world(order), horizon, 1, [SEED, run], checkpoints=[horizon])
        for name in makers:
            found[name].append(float(result.measure(name, "regret")[0, -1]))
            below = result.measure(name, "violating_rounds")[0, -1]
            if below:
                raise AssertionError(f"{name}: {below} plays below the floor in run {run}")
    return found


def guarded(policy: Callable[[], Any], mu0: float = MU0) -> Callable[[], sf.GenCB]:
    """What makes a guarded agent of what makes a policy."""
    return lambda: sf.GenCB(policy(), sf.RewardFloor(mu0, 0.05), default_competes=False)


def policies(arms: int = K) -> dict[str, Callable[[], Any]]:
    """The policies of K arms, as ``recommend`` weighs them."""
    return {
        "UCB1": partial(sf.UCB1, arms),
        "KL-UCB": partial(sf.KLUCB, arms),
        "AdaUCB": partial(sf.AdaUCB, arms),
        "Thompson": partial(sf.Thompson, arms),
        "GaussianThompson": partial(sf.GaussianThompson, arms),
        "KL-MS": partial(sf.KLMS, arms),
        "epsilon-greedy": partial(sf.EpsilonGreedy, arms),
    }


def bounded() -> Iterator[list[str]]:
    """Rewards of Beta laws: a + b = 2 and 20, T = 100,000, 20 runs."""
    makers = {name: guarded(make) for name, make in policies().items()}
    weights = (2.0, 20.0)
    columns = [measured(partial(beta, weight), makers, K, 100_000, 20) for weight in weights]
    yield ["", *(f"a + b = {weight:g}" for weight in weights)]
    yield from lines(columns)


def beta(weight: float, order: Any) -> sf.BetaArms:
    """Beta arms whose two parameters sum to ``weight``."""
    mu = means()[order]
    return sf.BetaArms(weight * mu, weight * (1 - mu))


def drift() -> Iterator[list[str]]:
    """Ten arms whose means change places every n plays, T = 20,000 and 50,000, 40 runs."""
    arms, cases = 10, {2_000: 20_000, 10_000: 50_000}
    columns = []
    for n, horizon in cases.items():
        discount = 1 - 0.25 / n**0.5  # Garivier, Moulines 2011, Section 3
        makers = {
            "AdaUCB": guarded(partial(sf.AdaUCB, arms)),
            "Thompson": guarded(partial(sf.Thompson, arms)),
            "Thompson, discount": guarded(partial(sf.Thompson, arms, discount=discount)),
            "Thompson, window": guarded(partial(sf.Thompson, arms, window=n // 4)),
            "UCB1": guarded(partial(sf.UCB1, arms)),
            "UCB1, discount": guarded(partial(sf.UCB1, arms, discount=discount)),
            "UCB1, c = .1, window": guarded(partial(sf.UCB1, arms, c=NARROW, window=n // 4)),
        }
        columns.append(measured(partial(moving, n, horizon), makers, arms, horizon, 40))
    yield ["", *(f"every {n:,} plays" for n in cases)]
    yield from lines(columns)


def moving(lasting: int, horizon: int, order: Any) -> Any:
    """Arms whose means change places every so many plays."""
    rng = np.random.default_rng([SEED, *order.tolist()])
    mu = means(len(order))
    changes = {play: rng.permutation(mu) for play in range(lasting + 1, horizon, lasting)}
    return sf.Drifting(sf.BernoulliArms(mu[order]), changes)


def contexts() -> Iterator[list[str]]:
    """Ten rows of five features drawn anew at each play, default .5, so many plays, 5 runs."""
    ridge = sf.Ridge(feature_bound=2**0.5, theta_bound=0.5**0.5)
    tight = replace(ridge, noise=0.5, radius="determinant")
    chosen: dict[str, Callable[[], Any]] = {
        "LinUCB": partial(sf.LinUCB, dim=5, ridge=ridge),
        "LinUCB, noise 1/2, determinant": partial(sf.LinUCB, dim=5, ridge=tight),
        "LinTS": partial(sf.LinTS, dim=5, ridge=ridge),
    }
    makers = {name: guarded(make, 0.5) for name, make in chosen.items()}
    horizons = (2_000, 5_000)
    columns = [measured(rows_anew, makers, 10, horizon, 5) for horizon in horizons]
    yield ["", *(f"{horizon:,} plays" for horizon in horizons)]
    yield from lines(columns)


def rows_anew(order: Any) -> Any:
    """Ten arms with one parameter for all, whose features change with each play."""
    theta = sf.LinearArms.embedded(1, 5, [SEED, *order.tolist()]).theta
    return sf.ContextualArms(theta, n_arms=len(order))


def lines(columns: list[dict[str, list[float]]]) -> Iterator[list[str]]:
    """A line for each policy: mean and standard error of its regret, and the worst run."""
    for name in columns[0]:
        cells = []
        for column in columns:
            regret = np.array(column[name])
            error = regret.std(ddof=1) / len(regret) ** 0.5
            cells.append(f"{regret.mean():,.0f} ± {error:,.0f} ({regret.max():,.0f})")
        yield [name, *cells]


TABLES = {
    "bounded": bounded,
    "drift": drift,
    "contexts": contexts,
}


def main(words: list[str]) -> None:
    """Print the tables that are asked for."""
    for word in words or list(TABLES):
        table = TABLES[word]
        print(f"\n## {word}\n\n{table.__doc__} Mean regret ± standard error (worst run).\n")
        head, *rows = table()
        print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}")
        for row in rows:
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
