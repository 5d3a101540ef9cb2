"""Options of a ridge regression among other settings of a test."""

from typing import Any

from surefoot.policies import Ridge

NAMES = ("theta_bound", "feature_bound", "noise", "penalty", "radius")


def ridged(settings: dict[str, Any]) -> dict[str, Any]:
    """The same settings with those options in one object."""
    options = {name: settings[name] for name in NAMES if name in settings}
    rest = {name: value for name, value in settings.items() if name not in NAMES}
    return {**rest, "ridge": Ridge(**options)} if options else rest
