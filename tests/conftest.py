"""How hypothesis searches: `ci` (its own, the default here) repeats itself, `fresh` does not."""

from hypothesis import settings

settings.register_profile("fresh", deadline=None, max_examples=500)
