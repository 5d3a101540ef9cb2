"""How hypothesis searches: `ci`, the default here, repeats itself; `fresh` draws more, and anew."""

from hypothesis import settings

settings.register_profile("ci", settings.get_profile("ci"), max_examples=30)
settings.register_profile("fresh", deadline=None, max_examples=500)
