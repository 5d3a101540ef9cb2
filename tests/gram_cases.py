"""Problems for the Gram drivers, and what they and the plain loop make of a problem."""

import warnings
from itertools import pairwise

import numpy as np

import surefoot as sf
from surefoot.kernels import registry
from surefoot.simulation import loop
from surefoot.simulation.fast import gram
from surefoot.simulation.loop import Block, Scale

ZERO_ONE = Scale(1, 1, 0, 1)
CASES = {  # d, K, scale of the features, whether half of them are the other half, lambda
    "plain": (5, 10, 1.0, False, None),
    "duplicates": (4, 8, 1.0, True, None),
    "tiny": (5, 10, 1e-8, False, None),
    "huge": (5, 10, 1e8, False, None),
    "wide": (63, 20, 1.0, True, None),
    "small ridge": (4, 9, 1.0, False, 1e-3),
}


def rows(case, seed=0):
    d, K, scale, doubled, _ = CASES[case]
    X = np.random.default_rng([seed, d]).normal(size=(K, d))
    X *= scale / np.linalg.norm(X, axis=1).max()
    if doubled:
        X[K // 2 :] = X[: K - K // 2]
    return X


def settings(case, radius, kind=sf.LinUCB, *given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a small ridge
        ridge = sf.Ridge(noise=0.5, penalty=CASES[case][4], radius=radius)
        return kind(rows(case), *given, ridge=ridge)


def environment(K, seed=0):
    return sf.BernoulliArms(np.random.default_rng(seed).uniform(0.2, 0.8, K).round(3))


def network(random):
    """Edges without a cycle in any order, parallel ones too, in layers or not; source, target."""
    if random.integers(2):
        widths = [1, *random.integers(1, 4, random.integers(4)), 1]
        ends = np.cumsum([0, *widths])
        layers = [list(range(*ends[i : i + 2])) for i in range(len(widths))]
        ways = [
            (one, other)
            for here, there in pairwise(layers)
            for one in here
            for other in there
            if (one, other) == (here[0], there[0]) or random.random() < 0.7
        ]
        last = int(ends[-1]) - 1
    else:
        last = int(random.integers(1, 8))
        ways = [*pairwise(range(last + 1))] if random.integers(2) else [(0, last)]
        drawn = random.integers(0, last + 1, (random.integers(14), 2)).tolist()
        ways += [(min(pair), max(pair)) for pair in drawn if pair[0] != pair[1]]
    names = random.permutation(last + 1).tolist()
    edges = [(names[ways[i][0]], names[ways[i][1]]) for i in random.permutation(len(ways))]
    return edges, names[0], names[last]


def walked(
    walk, init, policy, world, key, sizes, rival=-np.inf, scale=ZERO_ONE, array=list, first=1
):
    """The blocks, of the given sizes, and the state after them."""
    state = tuple(array(one) for one in init(policy, world.n_arms))
    truth = array(world.means.tolist()), array(world.variances.tolist())
    blocks = []
    for size in sizes:
        whole, real = [0] * size, [0.0] * size
        lists = (whole, whole, whole, real, real)
        chunks = [()] * (len(Block._fields) - len(lists))
        block = Block(*(array(one) for one in lists), *chunks)
        word = np.uint64(key) if array is np.array else key
        walk(policy, state, world.record, word, word, first, scale, rival, truth, block)
        blocks.append(block)
        first += size
    return blocks, state


def played(blocks):
    """(arm, reward, pledge, mean, variance) of each turn; of one that the default won, its -1."""
    return [
        turn if turn[0] >= 0 else -1 for block in blocks for turn in zip(*block[:5], strict=True)
    ]


def assert_same(one, other):
    """A failure names the turns, not the whole of both paths."""
    pairs = zip(played(one), played(other), strict=True)
    assert [m for m, (here, there) in enumerate(pairs, start=1) if here != there][:3] == []


def won_by_default(walk, policy_in, sizes, rival, scale):
    """In how many turns; in each of four worlds, the path is asserted to be the plain loop's."""
    won = 0
    for seed in range(4):
        world = sf.LinearArms.embedded(8, 4, seed)
        given = (policy_in(world).record, world, seed, sizes, rival, scale)
        fast, _ = walked(walk, gram.init, *given)
        plain, _ = walked(loop.base_path, registry.init, *given)
        assert_same(fast, plain)
        won += sum(turn == -1 for turn in played(fast))
    return won
