"""Slow, obvious twins of what `src` does fast: loops and fractions, written from the paper."""
