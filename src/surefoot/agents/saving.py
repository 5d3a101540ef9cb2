"""Save an agent as one JSON file and load it again, pending plays included."""

from __future__ import annotations

import hashlib
import json
import os
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.agents._agent import Agent
from surefoot.agents.conucb import ConUCB
from surefoot.agents.gencb import GenCB
from surefoot.agents.plain import Plain
from surefoot.agents.play import Choice, Play, Reason
from surefoot.errors import DamagedFile, InvalidInput
from surefoot.floors import RewardBooks, RewardFloor, Terms
from surefoot.policies import KLUCB, UCB1
from surefoot.policies.base import Policy

FORMAT = "surefoot-agent"
VERSION = 1
_POLICIES: dict[str, Any] = {"UCB1": UCB1, "KLUCB": KLUCB}


def save(agent: Agent, path: str | PathLike[str]) -> None:
    """Write an agent as JSON: versioned, with a checksum, replacing the file only when complete.

    Raises InvalidInput if a context or a policy's ``state()`` is not JSON-able.
    """
    body = {
        "agent": type(agent).__name__,
        "settings": _settings(agent),
        "floor": agent.floor.config(),
        "books": agent._books.snapshot(),
        "policy": _policy(agent.policy),
        "turns": agent.turns,
        "paused": agent.paused,
        "rng": agent._rng.bit_generator.state,
        "given": [
            [*_row(play), _encoded(play, context)] for play, context in agent._given.values()
        ],
    }
    try:
        text = _canonical(body)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"the state of {type(agent.policy).__name__} cannot be saved as JSON ({error}); "
            "its state() must return plain numbers, strings, lists and dicts"
        ) from None
    document = {"format": FORMAT, "version": VERSION, "sha256": _digest(text), "body": body}
    target = Path(path)
    draft = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    with draft.open("w", encoding="utf-8") as file:
        json.dump(document, file, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(target)


def load(path: str | PathLike[str], policy: Policy | None = None) -> Agent:
    """Read an agent that ``save`` wrote; it goes on as if it had never stopped.

    ``policy``: a fresh instance of your own class, if the saved policy is one; nothing is
    unpickled. Raises DamagedFile for a file that is foreign, damaged or of an unknown version,
    and FileNotFoundError if there is none: never an empty start.

    >>> import tempfile, os
    >>> agent = GenCB(UCB1(2), RewardFloor(default=0.5, alpha=0.5), seed=1)
    >>> play = agent.select()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     agent.save(os.path.join(folder, "agent.json"))
    ...     again = load(os.path.join(folder, "agent.json"))
    >>> again.update(play.id)
    <Outcome.BOOKED: 'booked'>
    """
    body = _body(path)
    try:
        return _built(body, policy)
    except InvalidInput:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise DamagedFile(
            f"{path}: the parts of the saved agent do not fit together "
            f"({type(error).__name__}: {error}); restore the file from a copy"
        ) from error


def _body(path: str | PathLike[str]) -> dict[str, Any]:
    raw = Path(path).read_bytes()
    try:
        document = json.loads(raw.decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DamagedFile(f"{path} is not a saved agent: it is not JSON ({error})") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DamagedFile(f"{path} is not a saved agent: its format is not {FORMAT!r}")
    if document.get("version") != VERSION:
        raise DamagedFile(
            f"{path} has version {document.get('version')!r}, this release reads {VERSION}; "
            "load it with the release that wrote it"
        )
    body = document.get("body")
    if not isinstance(body, dict) or _digest(_canonical(body)) != document.get("sha256"):
        raise DamagedFile(f"{path} is damaged: its checksum is wrong; restore it from a copy")
    return body


def _settings(agent: Agent) -> dict[str, Any]:
    if isinstance(agent, GenCB):
        return {"default_competes": agent.default_competes}
    if isinstance(agent, Plain):
        return {"measured": agent.measured}
    if isinstance(agent, ConUCB):
        return {"delta": agent.delta, "radius": agent.radius, "scale": agent.scale}
    raise InvalidInput(
        f"{type(agent).__name__} cannot be saved; save GenCB, Plain or ConUCB agents"
    )


def _policy(policy: Policy) -> dict[str, Any]:
    kind = type(policy)
    ours = _POLICIES.get(kind.__name__) is kind
    config = policy.config() if ours else None  # type: ignore[attr-defined]
    return {
        "kind": kind.__name__,
        "ours": ours,
        "config": config,
        "labels": list(getattr(policy, "arms", range(policy.n_arms))),
        "state": policy.state(),
    }


def _built(body: dict[str, Any], policy: Policy | None) -> Agent:
    floor = RewardFloor.from_config(body["floor"])
    saved, settings = body["policy"], body["settings"]
    agent: Agent
    match body["agent"]:
        case "GenCB":
            agent = GenCB(_restored(saved, policy), floor, **settings)
        case "Plain":
            agent = Plain(_restored(saved, policy), floor if settings["measured"] else None)
        case "ConUCB":
            agent = ConUCB(
                default=floor.default,
                alpha=floor.alpha,
                arms=saved["labels"],
                reward_range=floor.reward_range,
                **settings,
            )
            agent.policy.restore(saved["state"])
        case kind:
            raise ValueError(f"unknown agent {kind!r}")
    agent._books = RewardBooks.restored(floor, body["books"])
    agent.turns, agent.paused = body["turns"], body["paused"]
    agent._rng = np.random.default_rng()
    agent._rng.bit_generator.state = body["rng"]
    for *row, context in body["given"]:
        play = _unrow(row)
        agent._given[play.id] = (play, _decoded(context))
    return agent


def _restored(saved: dict[str, Any], policy: Policy | None) -> Policy:
    if saved["ours"]:
        if policy is not None:
            raise InvalidInput(
                f"policy = {policy!r} was given, but the saved policy is a {saved['kind']} of "
                "surefoot's own; load it without policy"
            )
        fresh: Policy = _POLICIES[saved["kind"]](**saved["config"])
    elif policy is None:
        raise InvalidInput(
            f"the saved policy is of your own class {saved['kind']}; pass a fresh one: "
            f"load(path, policy={saved['kind']}(...))"
        )
    elif type(policy).__name__ != saved["kind"]:
        raise InvalidInput(f"policy is a {type(policy).__name__}, the saved one a {saved['kind']}")
    else:
        fresh = policy
    labels = list(getattr(fresh, "arms", range(fresh.n_arms)))
    if labels != saved["labels"]:
        raise InvalidInput(f"policy has arms {labels}, the saved one {saved['labels']}")
    fresh.restore(saved["state"])
    return fresh


def _row(play: Play) -> list[Any]:
    choice = None if play.choice is None else [_finite(field) for field in play.choice]
    return [*play[:5], list(play.terms), *play[6:-1], choice]


def _unrow(row: list[Any]) -> Play:
    number, arm, index, reason, turn, terms, *rest, choice = row
    chosen = None if choice is None else Choice(*map(_unfinite, choice))
    return Play._make([number, arm, index, Reason(reason), turn, Terms(*terms), *rest, chosen])


def _finite(field: Any) -> Any:
    """An unplayed arm's score is infinite, which JSON cannot say."""
    return {"infinite": field > 0} if field in (float("inf"), float("-inf")) else field


def _unfinite(field: Any) -> Any:
    if isinstance(field, dict):
        return float("inf") if field["infinite"] else float("-inf")
    return field


def _encoded(play: Play, context: Any) -> Any:
    if isinstance(context, np.ndarray):
        return {"array": context.tolist(), "dtype": str(context.dtype)}
    try:
        _canonical(context)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"the context of pending play {play.id} ({type(context).__name__}) cannot be saved as "
            "JSON; pass numbers, strings, lists, dicts or a numpy array"
        ) from None
    return {"json": context}


def _decoded(context: dict[str, Any]) -> Any:
    if "array" in context:
        return np.array(context["array"], dtype=context["dtype"])
    return context["json"]


def _canonical(body: Any) -> str:
    return json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
