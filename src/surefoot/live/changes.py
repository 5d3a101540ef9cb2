"""What may change while an experiment runs; each change is an entry of the ledger.

All workers of the experiment take a change in before their next decision.
"""

from __future__ import annotations

from typing import Any

from surefoot._exact import shown
from surefoot._types import JsonObject, Number
from surefoot.errors import InvalidInput, PlayConflict
from surefoot.floors import RewardFloor
from surefoot.live.configuration import SETTINGS, Settings, check_floor, written_floor
from surefoot.live.engine import Engine
from surefoot.live.play import sealed
from surefoot.live.store import Tx

_OF_FLOOR = {*RewardFloor.changeable()}
_NOT_YET = ("checkpoint", "max_slack")
_MAY_CHANGE = (*(name for name in RewardFloor.changeable() if name not in _NOT_YET), *SETTINGS)


def set_paused(tx: Tx, engine: Engine, paused: bool) -> None:
    """Play the default from now on, or no longer."""
    if engine.sound(tx).agent.paused != paused:
        engine.append(tx, "experiment.state", {"state": "paused" if paused else "running"})


def split(settings: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Changes of the floor, and of the live settings; InvalidInput for what cannot change."""
    own = {name: settings[name] for name in SETTINGS if name in settings}
    given = Settings.of(**own)._asdict()
    floor = {name: value for name, value in settings.items() if name not in own}
    for name in floor.keys() - _OF_FLOOR:
        raise InvalidInput(
            f"{name} = {shown(floor[name])} cannot change while the experiment goes on: it "
            f"takes {', '.join(_MAY_CHANGE)}; a reserve is added or withdrawn"
        )
    return floor, {name: given[name] for name in own}


def configure(tx: Tx, engine: Engine, of_floor: dict[str, Any], own: dict[str, Any]) -> None:
    """Change the floor and the live settings for the plays to come."""
    fold = engine.sound(tx)
    agent, live = fold.agent, fold.settings._replace(**own)
    live = live.decided(agent.policy) if "learn_missing" in own else live
    changed = check_floor(fold.books.floor.changed(**of_floor))
    if (changed, live) == (agent.floor, fold.settings):
        return
    if of_floor:
        agent.change(**of_floor)
    try:
        floor = check_floor(agent.floor)
        config = dict(fold.opened[0])
        # What a floor leaves out, as a margin of 0, is not what was written of it before.
        config["floor"] = {"kind": config["floor"]["kind"], **sealed(floor.config())}
        kept = {k: v for k, v in config["settings"].items() if k not in SETTINGS}
        config["settings"] = {**kept, **live.written()}
        payload = {"config": config, "floor": written_floor(floor)}
        engine.append(tx, "experiment.configured", payload, done=True)
    except BaseException:
        fold.lose()
        raise


def endow(tx: Tx, engine: Engine, sign: int, amount: Number, asked: str, own: str | None) -> None:
    """Add to the reserve, or withdraw from it; ``asked``: the amount as exact text."""
    kind = "endowment.granted" if sign > 0 else "endowment.withdrawn"
    fold = engine.sound(tx)
    before, known = fold.account.reserve, fold.endowments.get(own or "")
    if known is not None:
        if known != [kind, asked]:
            raise PlayConflict(
                f"id = {own!r} was another change of the reserve; give each its own id"
            )
        return
    (fold.agent.add_reserve if sign > 0 else fold.agent.withdraw_reserve)(amount)
    moved = fold.account.reserve - before
    payload: JsonObject = {"amount": abs(moved)}
    payload |= {} if own is None else {"id": own, "asked": asked}
    gate = -moved if moved < 0 else None
    try:
        entry = engine.append(tx, kind, payload, d_reserve=moved, gate=gate, done=True)
        if entry is None:
            raise PlayConflict(f"amount = {amount} is not available; open plays hold it")
    except BaseException:
        fold.lose()
        raise


def add_arms(tx: Tx, engine: Engine, labels: list[Any]) -> None:
    """Let the policy play more arms."""
    if engine.sound(tx).lacks(labels):
        engine.append(tx, "arms.added", {"arms": labels})


def remove_arms(tx: Tx, engine: Engine, labels: list[Any]) -> None:
    """Play some arms no more."""
    fold = engine.sound(tx)
    if not fold.agent.has_scores:
        raise InvalidInput(
            f"arms cannot be removed from {type(fold.agent.policy).__name__}, which has no "
            "best(context, rng, allowed); add that method"
        )
    if not fold.removed.issuperset(fold.agent.actions.arm_numbers(labels, "arms")):
        engine.append(tx, "arms.removed", {"arms": labels})


def listed(arms: Any) -> Any:
    """Labels as a list; a text is passed on, to be refused."""
    if isinstance(arms, str | bytes):
        return arms
    try:
        return list(arms)
    except TypeError:
        raise InvalidInput(f"arms = {shown(arms)} must be a list of labels") from None
