"""Thompson sampling by all its quantiles: trials in fractions, the quantile by scipy."""

from fractions import Fraction

from scipy import special

from naive.noise import uniform


def successes(key: int, arm: int, rewards: list[Fraction]) -> int:
    """Each reward counts with its own probability; those in between are tried one by one."""
    won = tried = 0
    for reward in rewards:
        if reward.denominator == 1:
            won += int(reward)
        else:
            tried += 1
            won += uniform(key >> 1, tried, arm) < reward
    return won


def samples(key: int, turn: int, rewards: list[list[Fraction]]) -> list[float]:
    """theta of every arm, from its rewards."""
    found = []
    for arm, told in enumerate(rewards):
        won = successes(key, arm, told)
        lost = len(told) - won
        found.append(special.betaincinv(1 + won, 1 + lost, float(uniform(key, turn, arm))))
    return found
