"""Save an agent as one JSON file and load it again, pending plays included."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from surefoot import oracles
from surefoot._exact import shown
from surefoot._files import checked_path, replacing
from surefoot._json_values import from_json, to_json
from surefoot._types import JsonObject
from surefoot.agents import open_plays
from surefoot.agents.agent import Agent
from surefoot.agents.draws import Draws
from surefoot.agents.feeding import Feeding
from surefoot.agents.funding import Earnings
from surefoot.agents.gencb import GenCB
from surefoot.agents.measuring import Owed
from surefoot.agents.plain import Plain
from surefoot.agents.play import Binding, Choice, MeasuredPlay, Play, Reason
from surefoot.agents.tally import Tally
from surefoot.errors import DamagedFile, InvalidInput, StoreUnavailable
from surefoot.floors import (
    CostCeiling,
    Floor,
    Floors,
    MeanVarianceFloor,
    Outcome,
    RewardFloor,
    Terms,
)
from surefoot.kernels.policy import POLICIES
from surefoot.oracles.base import Structure
from surefoot.policies.base import Policy, arms_of, has

FORMAT = "surefoot-agent"
VERSION = 2
_ORACLES: dict[str, type[Structure]] = {
    name: one
    for name, one in vars(oracles).items()
    if isinstance(one, type) and issubclass(one, Structure)
}
# Of ours alone: a floor of one's own is read by its class, which ``load`` is given.
FLOORS: dict[str, type[RewardFloor | CostCeiling | MeanVarianceFloor]] = {
    "CostCeiling": CostCeiling,
    "RewardFloor": RewardFloor,
    "MeanVarianceFloor": MeanVarianceFloor,
}
SEVERAL = Floors.__name__


def save(agent: Agent, path: str | PathLike[str]) -> None:
    """Write an agent as JSON: versioned, with a checksum, replacing the file only when complete.

    Raises InvalidInput if a context or a policy's ``state()`` cannot be written as JSON, or if the
    path cannot be a file.
    """
    target = _path(path)
    if target.is_dir() or not target.parent.is_dir():
        raise InvalidInput(f"path = {target} must name a file in a folder that exists")
    try:
        text = _canonical({**agent_to_json(agent), "tally": agent.tally.state(agent)})
    except (RecursionError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"the agent cannot be saved as JSON: {error}") from None
    head = f'"format":"{FORMAT}","version":{VERSION},"sha256":"{_digest(text)}"'
    try:
        with replacing(target) as draft:
            draft.write_text(f'{{{head},"body":{text}}}\n', encoding="utf-8")
    except OSError as problem:
        why = problem.strerror or problem
        raise StoreUnavailable(
            f"path = {target} cannot be written, what was there is kept: {why}; mend that, or give "
            "another path"
        ) from problem


def _path(path: Any) -> Path:
    if not isinstance(path, str | PathLike) or "\0" in str(path):
        raise InvalidInput(f"path = {shown(path)} must be the path of a file")
    return checked_path(path, "path")


def load(path: str | PathLike[str], policy: Policy | None = None, floor: Any = None) -> Agent:
    """Read an agent that ``save`` wrote; it goes on as if it had never stopped.

    Load the newest file, and only once: an older one lacks holds and rewards, and two agents from
    one file spend the same slack twice and give out the same play ids. ``policy``: a fresh
    instance of your own class, if the saved policy is one, with the settings that its ``config()``
    said, if it has one; ``floor``: your own class of floors, if the saved floor is of one; of
    several floors a dict of such classes by the floors' names will do too. Nothing is unpickled.
    Raises DamagedFile for a file that is foreign, damaged or of an unknown version, and
    InvalidInput if the file is missing.

    >>> import tempfile, os
    >>> from surefoot import UCB1
    >>> agent = GenCB(UCB1(2), RewardFloor(default=0.5, alpha=0.5), seed=1)
    >>> play = agent.select()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     agent.save(os.path.join(folder, "agent.json"))
    ...     again = load(os.path.join(folder, "agent.json"))
    >>> again.update(play.id)
    <Outcome.BOOKED: 'booked'>
    """
    body = _read(_path(path))
    try:
        return agent_from_json(body, policy, floor)
    except InvalidInput:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise DamagedFile(
            f"{path}: the parts of the saved agent do not fit together "
            f"({type(error).__name__}: {error}); restore the file from a copy"
        ) from error


def _read(path: Path) -> JsonObject:
    """The body of a saved file, if file and checksum are what ``save`` writes."""
    if path.is_dir():
        raise DamagedFile(f"{path} is not a saved agent: it is a folder")
    try:
        document = json.loads(path.read_bytes().decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise InvalidInput(
            f"path = {path} does not exist; give the file that save wrote, or start a new agent"
        ) from None
    except OSError as problem:
        why = problem.strerror or problem
        raise StoreUnavailable(
            f"path = {path} cannot be read: {why}; mend that, or give another path"
        ) from problem
    except (RecursionError, ValueError) as error:
        raise DamagedFile(f"{path} is not a saved agent: it is not JSON ({error})") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DamagedFile(f"{path} is not a saved agent: its format is not {FORMAT!r}")
    if document.get("version") != VERSION:
        raise DamagedFile(
            f"{path} has version {document.get('version')!r}, this release reads {VERSION}; "
            "load it with the release that wrote it"
        )
    body = document.get("body")
    if not isinstance(body, dict) or not _is_whole(body, document.get("sha256")):
        raise DamagedFile(f"{path} is damaged: its checksum is wrong; restore it from a copy")
    return body


def agent_to_json(agent: Agent) -> JsonObject:
    """An agent as JSON; InvalidInput for what cannot be saved."""
    policy, name = agent.policy, type(agent).__name__
    kinds = _kinds(name)
    if kinds.get(name) is not type(agent):
        raise InvalidInput(f"{name} cannot be saved; save {_listed(kinds)} agents")
    kind = type(policy).__name__
    ours = POLICIES.get(kind) is type(policy)
    return {
        "agent": name,
        "settings": _said(agent.config(), name),
        "floor": _floor_said(agent.floor),
        "books": agent.books.snapshot(),
        "policy": {
            "kind": kind,
            "config": _said(policy.config(), kind) if ours else None,  # type: ignore[attr-defined]
            **({} if ours else _own_settings(policy)),
            "arms": list(agent.labels),
            "state": to_json(policy.state(), f"state() of {kind}"),
        },
        "turns": agent.turns,
        "paused": agent.paused,
        **({"draws": [agent.draws.plays, agent.draws.parts]} if agent.draws.plays else {}),
        **({} if agent.earned is None else {"earned": [agent.earned.plays, agent.earned.sums]}),
        **({"feeding": agent.feeding.state()} if agent.books.learns else {}),
        **({"faults": [agent.faults, agent.last_fault]} if agent.faults else {}),
        "rng": agent.rng.bit_generator.state,
        "open": [
            [_row(play), to_json(context, f"the context of pending play {play.id}")]
            for play, context in agent.open_plays.values()
        ],
        **({"owed": _owed(agent.owed)} if agent.owed else {}),
        **({"lapsed": sorted(agent.lapsed)} if agent.counts_open else {}),
    }


def _floor_said(floor: Floor) -> JsonObject:
    """A floor as JSON; several in their order, which JSON keeps of lists alone."""
    kind = type(floor).__name__
    if isinstance(floor, Floors):
        each = [[name, _floor_said(one)] for name, one in floor.floors.items()]
        return {"kind": kind, "floors": each, **floor.config()}
    if FLOORS.get(kind, type(floor)) is not type(floor) or kind == SEVERAL:
        raise InvalidInput(
            f"a floor of your own class {kind} cannot be saved: surefoot has a class of that "
            "name, which load would take; give yours another name"
        )
    return {"kind": kind, **floor.config()}


def _owed(owed: dict[int, Owed]) -> list[Any]:
    """What a policy has not heard of which play."""
    return [
        [_row(play), to_json(context, f"the context of play {play.id}"), sorted(names)]
        for play, context, names in owed.values()
    ]


def _said(config: JsonObject, what: str) -> Any:
    """Settings as JSON; an oracle of ours by its class and its own settings."""
    plain = {
        key: {"oracle": type(value).__name__, **value.config()}
        if isinstance(value, Structure)
        else value
        for key, value in config.items()
    }
    return to_json(plain, f"config() of {what}")


def _own_settings(policy: Any) -> JsonObject:
    """What a policy of one's own says of its settings, if it says any: only to be compared."""
    if not has(policy, "config"):
        return {}
    kind, said = type(policy).__name__, policy.config()
    if not isinstance(said, dict):
        raise InvalidInput(f"config() of {kind} gives {shown(said)}; it must be a dict of settings")
    return {"own": _said(said, kind)}


def check_own_settings(policy: Any, saved: JsonObject) -> None:
    """InvalidInput that names a setting in which a policy of one's own is not what was saved."""
    kind, packed = saved["kind"], saved.get("own")
    if packed is None or not has(policy, "config"):
        return  # saved before config() was kept, or by a class without it
    ours, theirs = (from_json(one) for one in (_own_settings(policy)["own"], packed))
    for name in sorted({*ours, *theirs}, key=str):
        given, kept = ours.get(name), theirs.get(name)
        if _canonical(to_json(given, name)) != _canonical(to_json(kept, name)):
            raise InvalidInput(
                f"{name} = {shown(given)} of the policy differs from {shown(kept)}, which the "
                f"saved {kind} has; pass a fresh {kind} with the same settings"
            )


def _heard(packed: Any) -> JsonObject:
    """The inverse of ``_said``."""
    config: JsonObject = from_json(packed)
    for key, value in config.items():
        if isinstance(value, dict) and "oracle" in value:
            settings = dict(value)
            config[key] = _ORACLES[settings.pop("oracle")](**settings)
    return config


def _kinds(name: str) -> dict[str, type[Agent]]:
    """The classes of agents that can be saved, by name; all of them if ``name`` needs them.

    The comparators are a layer above: they are imported only for a file that names one.
    """
    kinds: dict[str, type[Agent]] = {"GenCB": GenCB, "Plain": Plain}
    if name not in kinds:
        above = importlib.import_module("surefoot.comparators")
        kinds |= {one: getattr(above, one) for one in above.__all__}
    return kinds


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}"


def agent_from_json(body: JsonObject, policy: Policy | None, own_floor: Any = None) -> Agent:
    """The inverse of ``agent_to_json``; ``policy``: a fresh one, if it is the user's own."""
    floor = _floor(body["floor"], own_floor)
    kind, saved = body["agent"], body["policy"]
    agents = _kinds(kind)
    if agents[kind].builds_policy:
        if policy is not None:
            raise InvalidInput(f"policy = {policy!r} was given, but the saved agent is a {kind}")
    else:
        policy = _fresh(saved, policy)
    agent: Agent = agents[kind].from_config(_heard(body["settings"]), floor, policy)
    go_on(agent, body)
    return agent


def go_on(agent: Agent, body: JsonObject) -> None:
    """Bring a fresh agent to where ``agent_to_json`` of an equal one was; else it may be broken."""
    saved = body["policy"]
    own, state = not saved["config"] and not agent.builds_policy, from_json(saved["state"])
    with open_plays.blamed(agent.policy, "restore()", "the state", own):
        agent.policy.restore(state)
    agent.books = agent.books.restored(agent.floor, body["books"])
    agent.turns, agent.paused = body["turns"], body["paused"]
    agent.draws = Draws(*body.get("draws", ()))
    if agent.earned is not None and "earned" in body:  # a ledger's opening lacks it
        agent.earned = _earned(body["earned"], len(agent.labels))
    if agent.books.learns:
        agent.feeding = Feeding(*body["feeding"])
    if "faults" in body:
        agent.faults, agent.last_fault = body["faults"]
    agent.rng.bit_generator.state = body["rng"]
    for row, context in body["open"]:
        play = _unrow(row)
        agent.open_plays[play.id] = (play, from_json(context))
    if agent.owed is not None:
        for row, context, names in body.get("owed", ()):
            play = _unrow(row)
            if play.id in agent.open_plays:
                play = agent.open_plays[play.id][0]
            agent.owed[play.id] = (play, from_json(context), frozenset(names))
    if "tally" in body:
        plain = agent.tally.plain
        agent.tally = Tally.restored(body["tally"])
        agent.tally.plain = plain and agent.tally.picked is None and not agent.tally.moved
    else:  # saved before it was kept: it counts from here
        agent.tally.since = agent.books.plays.next_id
    if agent.counts_open:
        open_plays.restored(agent, body.get("lapsed"), own)


def _earned(rows: Any, n_arms: int) -> Earnings:
    """What each arm has paid, of two rows of whole numbers; there may be new arms since."""
    plays, sums = rows
    if any({*map(type, row)} - {int} for row in rows) or not len(plays) == len(sums) <= n_arms:
        raise ValueError(f"what was earned is not of {n_arms} arms")
    return Earnings(plays, sums).copied(n_arms)


def _floor(saved: JsonObject, own: Any) -> Floor:
    """A floor of the saved kind: the class of one's own has to be given."""
    config = dict(saved)
    kind = config.pop("kind")
    if kind == SEVERAL:
        return _several(config, own)
    ours = FLOORS.get(kind)
    if ours is not None:
        if own is not None:
            raise InvalidInput(
                f"floor = {shown(own)} was given, but the saved floor is a {kind} of surefoot's "
                "own; load it without floor"
            )
    elif own is None:
        raise InvalidInput(
            f"the saved floor is of your own class {kind}; pass it: load(path, floor={kind})"
        )
    elif getattr(own, "__name__", None) != kind or not hasattr(own, "from_config"):
        raise InvalidInput(f"floor = {shown(own)} is not the saved floor's class {kind}")
    floor: Floor = (ours or own).from_config(config)
    return floor


def _several(config: JsonObject, own: Any) -> Floor:
    """Saved floors; ``own``: the class of those of one's own, or each class by the floor's name."""
    each: dict[str, Floor] = {}
    kinds = {name: one["kind"] for name, one in config["floors"]}
    if own is not None and all(kind in FLOORS for kind in kinds.values()):
        raise InvalidInput(
            f"floor = {shown(own)} was given, but the saved floors are of surefoot's own classes; "
            "load them without floor"
        )
    for name, one in config["floors"]:
        given = own.get(name) if isinstance(own, Mapping) else own
        each[name] = _floor(one, None if one["kind"] in FLOORS else given)
    return Floors.from_config({**config, "floors": each})


def _fresh(saved: JsonObject, policy: Policy | None) -> Policy:
    """A policy of the saved kind: one of ours is built, the user's own has to be given."""
    kind, config = saved["kind"], saved["config"]
    if config is not None:
        if policy is not None:
            raise InvalidInput(
                f"policy = {policy!r} was given, but the saved policy is a {kind} of "
                "surefoot's own; load it without policy"
            )
        ours: Policy = POLICIES[kind].from_config(_heard(config))
        return ours
    if policy is None:
        raise InvalidInput(
            f"the saved policy is of your own class {kind}; pass a fresh one: "
            f"load(path, policy={kind}(...))"
        )
    if type(policy).__name__ != kind:
        raise InvalidInput(f"policy = {policy!r} is not of the saved policy's class {kind}")
    arms = list(arms_of(policy))
    if arms != saved["arms"]:
        raise InvalidInput(f"policy has the arms {arms}, the saved one {saved['arms']}")
    check_own_settings(policy, saved)
    return policy


def _row(play: Play) -> JsonObject:
    choice = None if play.choice is None else to_json(list(play.choice), "choice")
    arm = to_json(play.arm, "arm")
    row = {**play._asdict(), "arm": arm, "terms": list(play.terms), "choice": choice}
    if play.binding is None:
        del row["binding"]
    else:
        row["binding"] = list(play.binding)
    return {**row, "outcomes": play.outcomes} if isinstance(play, MeasuredPlay) else row


def _unrow(row: JsonObject) -> Play:
    fields, outcomes = dict(row), row.get("outcomes")
    fields.pop("outcomes", None)
    choice = None if row["choice"] is None else Choice(*from_json(row["choice"]))
    terms, reason, arm = Terms.of(row["terms"]), Reason(row["reason"]), from_json(row["arm"])
    fields |= {"arm": arm, "terms": terms, "reason": reason, "choice": choice}
    if "binding" in row:
        fields["binding"] = Binding(*row["binding"])
    if outcomes is None:
        return Play(**fields)
    play = MeasuredPlay(**fields)
    play.outcomes.update({name: Outcome(outcome) for name, outcome in outcomes.items()})
    return play


def _is_whole(body: JsonObject, checksum: Any) -> bool:
    try:
        return bool(_digest(_canonical(body)) == checksum)
    except ValueError:  # it holds a NaN, which save never writes
        return False


def _canonical(body: Any) -> str:
    return json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
