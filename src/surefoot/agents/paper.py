"""The paper's algorithms by their names, as printed: the default does not compete."""

from __future__ import annotations

from typing import Any

from surefoot._types import Default, Number, Seed
from surefoot.agents.gencb import GenCB
from surefoot.floors import MeanVarianceFloor, RewardFloor
from surefoot.floors.reward import checked_alpha
from surefoot.oracles import as_oracle
from surefoot.policies import C2UCB, MVUCB, UCB1, LinUCB


def gencb_cmab(n_arms: int, default: Default, alpha: Number, seed: Seed = None) -> GenCB:
    """GenCB-CMAB: GenCB over UCB1 on ``n_arms`` regular arms with rewards in [0, 1].

    Source: Du, Wang, Huang 2021, Algorithm GenCB-CMAB (supplement). ``default``: mu0, the
    default's known reward; ``alpha``: the fraction of it one is willing to lose.

    >>> agent = gencb_cmab(n_arms=24, default=0.7, alpha=0.05)
    >>> plays = []
    >>> while not plays or plays[-1].is_default:
    ...     plays.append(agent.select())
    ...     if plays[-1].is_default:
    ...         _ = agent.update(plays[-1])
    >>> len(plays)  # the first exploration is play ceil((1-alpha)/alpha) + 1
    20

    Holds when: as ``GenCB``; regret O(H ln T) plus a constant needs mu0 < mu_*. Does not hold
    when: the default is the best arm: regret is then linear (``GenCB`` lets it compete).
    """
    return GenCB(
        UCB1(n_arms), RewardFloor(default, checked_alpha(alpha)), seed, default_competes=False
    )


def gencb_clb(
    arms: Any, default: Default, alpha: Number, seed: Seed = None, **options: Any
) -> GenCB:
    """GenCB-CLB: GenCB over LinUCB with rewards in [0, 1].

    Source: Du, Wang, Huang 2021, Algorithm GenCB-CLB (supplement). ``arms``: features, shape
    (K, d), or a ``Ball`` or ``Polytope``; ``default``: mu0, the default's known reward; ``alpha``:
    the fraction of it one is willing to lose; ``options``: those of ``LinUCB``, such as
    ``ridge``.

    >>> agent = gencb_clb([[1, 0], [0, 1]], default=0.5, alpha=0.5)
    >>> agent.update(agent.select())
    <Outcome.BOOKED: 'booked'>
    >>> agent.select().arm
    0

    Holds when: as ``GenCB``; the regret bound also needs the conditions of ``LinUCB`` and
    mu0 < mu_*. Does not hold when: the default is the best arm: regret is then linear (``GenCB``
    lets it compete).
    """
    return GenCB(
        LinUCB(arms, **options),
        RewardFloor(default, checked_alpha(alpha)),
        seed,
        default_competes=False,
    )


def gencb_cccb(
    base_arms: Any, oracle: Any, default: Default, alpha: Number, seed: Seed = None, **options: Any
) -> GenCB:
    """GenCB-CCCB: GenCB over C2UCB, base arms paying in [0, 1] and super arms their sum.

    Source: Du, Wang, Huang 2021, Algorithm GenCB-CCCB (supplement). ``base_arms``: features, shape
    (K, d); ``oracle``: from K weights to the best super arm, as ``TopK(3)``; ``default``: mu0, on
    the scale of super arms; ``alpha``: the fraction of it one is willing to lose; ``options``:
    those of ``C2UCB``. Rewards lie in (0, most base arms of a super arm); for an f other than the
    sum build ``GenCB`` with a floor of its range.

    >>> from surefoot.oracles import TopK
    >>> agent = gencb_cccb([[1, 0], [0, 1], [0.6, 0.8]], TopK(2), default=1, alpha=0.5)
    >>> agent.update(agent.select())
    <Outcome.BOOKED: 'booked'>
    >>> play = agent.select()
    >>> play.arm
    (0, 1)
    >>> agent.update(play, base_rewards=[0.5, 1])
    <Outcome.BOOKED: 'booked'>

    Holds when: as ``GenCB``; the regret bound also needs the conditions of ``C2UCB`` and
    mu0 < mu_*. Does not hold when: the default is the best: regret is then linear (``GenCB`` lets
    it compete).
    """
    policy = C2UCB(base_arms, oracle, **options)
    most = as_oracle(oracle, policy.n_arms).size[1]
    return GenCB(
        policy, RewardFloor(default, checked_alpha(alpha), (0, most)), seed, default_competes=False
    )


def mv_cucb(n_arms: int, default: Default, alpha: Number, rho: Number, seed: Seed = None) -> GenCB:
    """MV-CUCB: MV-UCB on ``n_arms`` regular arms with rewards in [0, 1], the mean-variance kept.

        explore at play t  iff  (t-1)*MV_{t-1} - 2 >= (1-alpha)*rho*mu0*t

    Source: Du, Wang, Huang 2021, Algorithm MV-CUCB. ``default``: mu0, the default's known reward;
    ``alpha``: the fraction of rho*mu0 one is willing to lose; ``rho``: the weight of the mean.

    >>> agent = mv_cucb(n_arms=24, default=0.7, alpha=0.05, rho=10)
    >>> for play in agent.select_many(25):
    ...     _ = agent.update(play)
    >>> agent.explain(agent.select())  # doctest: +ELLIPSIS
    'Play 25 explores arm 0, which scores inf: it can lose ...

    Holds when: as ``MeanVarianceFloor`` with check "paper", which refuses settings it could not
    keep; the regret bound also needs alpha*rho*mu0 > 2 (``surefoot.theory.mv_cucb``). Does not
    hold when: the default is the best arm: regret is then linear (``GenCB`` lets it compete).
    """
    floor = MeanVarianceFloor(default, alpha, rho, check="paper")
    return GenCB(MVUCB(n_arms, rho), floor, seed, default_competes=False)
