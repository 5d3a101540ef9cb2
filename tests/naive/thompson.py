"""Thompson sampling by all its quantiles: trials in fractions, the quantile by scipy."""

from fractions import Fraction

from scipy import special

from naive.noise import uniform


def successes(key: int, arm: int, total: Fraction) -> int:
    """The sum of rewards, what is left over tried once."""
    whole = total.numerator // total.denominator
    return whole + (uniform(key, 0, arm) < total - whole)


def samples(key: int, turn: int, plays: list[int], totals: list[Fraction]) -> list[float]:
    """theta of every arm."""
    found = []
    for arm, (n, total) in enumerate(zip(plays, totals, strict=True)):
        won = successes(key, arm, total)
        found.append(special.betaincinv(1 + won, 1 + n - won, float(uniform(key, turn, arm))))
    return found
