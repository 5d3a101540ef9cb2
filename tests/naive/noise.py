"""The counter-based hash, in plain integers and fractions."""

from fractions import Fraction

MASK = 2**64 - 1


def mixed(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    return ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK


def bits(key: int, turn: int, arm: int) -> int:
    """64 random bits."""
    z = mixed((key + turn * 0x9E3779B97F4A7C15) & MASK)
    z = mixed(((z ^ (z >> 31)) + (arm + 1) * 0xD1342543DE82EF95) & MASK)
    return z ^ (z >> 31)


def uniform(key: int, turn: int, arm: int) -> Fraction:
    """The middle of one of 2**52 parts of (0, 1)."""
    return (Fraction(bits(key, turn, arm) >> 12) + Fraction(1, 2)) / 2**52
