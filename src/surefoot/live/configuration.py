"""The names, agent and settings of an experiment, as a payload and back again."""

from __future__ import annotations

import copy
from collections.abc import Collection, Container, Iterable
from typing import Any, NamedTuple

from surefoot._exact import exact, short, shown
from surefoot._json_values import from_json
from surefoot._labels import arm_labels
from surefoot._types import JsonObject
from surefoot.agents import GenCB, saving
from surefoot.agents.faults import RAISE
from surefoot.agents.holdout import share_of
from surefoot.errors import InvalidInput
from surefoot.floors import CostCeiling, Floors, LearnedDefault, RewardFloor, Terms
from surefoot.kernels.policy import KernelPolicy
from surefoot.live.play import sealed, written_terms
from surefoot.live.store import Store
from surefoot.live.store.base import microseconds
from surefoot.policies.base import Policy, arms_of, has

USUAL = "default"
"""The usual name of an experiment and its account."""

WORST, SKIP = "worst", "skip"
"""What a policy may learn from a play whose reward did not come."""


class Settings(NamedTuple):
    """The settings of a live experiment besides its agent."""

    reward_window: int | None = None
    """How long a reward may take, in microseconds of the store's clock; None: for ever."""
    shadow: bool = False
    """Whether the default always plays and the policy's choice is only written down."""
    learn_missing: str | None = None
    """What the policy learns from a play that expires: its "worst", or nothing ("skip"); None: the
    usual choice, see ``decided``."""
    holdout: str | None = None
    """The share of plays that take the default by a draw, as exact text; None: none do."""

    @classmethod
    def of(
        cls,
        reward_window: Any = None,
        shadow: Any = False,
        learn_missing: Any = None,
        holdout: Any = None,
    ) -> Settings:
        """InvalidInput for a window that is no length of time, a share or a choice that is none."""
        if not isinstance(shadow, bool):
            raise InvalidInput(f"shadow = {shown(shadow)} must be True or False")
        if learn_missing is not None and learn_missing not in (WORST, SKIP):
            raise InvalidInput(
                f"learn_missing = {shown(learn_missing)} must be 'worst', 'skip', or None for the "
                "usual"
            )
        share_of(holdout, measured=True)
        share = None if holdout is None else short(exact(holdout, "holdout"))
        return cls(microseconds(reward_window), shadow, learn_missing, share)

    @property
    def share(self) -> float:
        """``holdout`` as a number; 0: none."""
        return float(self.holdout or 0)

    def agreed(self, agent: GenCB) -> Settings:
        """The same with the agent's own holdout; InvalidInput where both say one, and another."""
        if not agent.holdout:
            return self
        if self.holdout is not None and self.share != agent.holdout:
            raise InvalidInput(
                f"holdout = {self.holdout} differs from the agent's own, {agent.holdout}; give one"
            )
        return self._replace(holdout=short(exact(agent.holdout, "holdout")))

    def decided(self, policy: Any) -> Settings:
        """Fill in the usual ``learn_missing``; InvalidInput for what the policy cannot do.

        The worst is taught where plays expire and the policy can take it back once the true reward
        comes; otherwise a late reward would count against its arm for good.
        """
        why = _cannot_correct(policy)
        if self.learn_missing == WORST and why:
            raise InvalidInput(f"learn_missing = 'worst': {why}")
        if self.learn_missing is not None:
            return self
        usual = SKIP if why or self.reward_window is None else WORST
        return self._replace(learn_missing=usual)

    def written(self) -> JsonObject:
        """The same for a configuration; where nothing expires by itself, "skip" is not said."""
        said = self._asdict()
        if self.learn_missing == SKIP and self.reward_window is None:
            del said["learn_missing"]
        if self.holdout is None:
            del said["holdout"]
        return said

    def in_seconds(self) -> JsonObject:
        """The settings as a caller writes them, with the window in seconds."""
        window = self.reward_window
        return {**self._asdict(), "reward_window": None if window is None else window / 10**6}


SETTINGS = Settings._fields
"""What a live experiment has besides its agent, and may change."""


def _cannot_correct(policy: Any) -> str:
    """Why a policy cannot learn the worst of a play that expires; empty if it can."""
    name = type(policy).__name__
    if getattr(policy, "semi_bandit", False):
        return (
            f"{name} learns from base rewards, and the floor knows the worst of none; give 'skip'"
        )
    if not has(policy, "correct"):
        return (
            f"{name} has no correct(arm, old, new, context), by which a late reward could take its "
            "place; add it, or give 'skip'"
        )
    return ""


def check_agent(agent: Any) -> GenCB:
    """The agent, if a store can guard it; InvalidInput names the obstacle."""
    if type(agent) is not GenCB:
        raise InvalidInput(
            f"agent = {shown(agent)} cannot go live: give a GenCB, whose account decides alone; "
            "the comparators run in a process of their own"
        )
    check_floor(agent.floor)
    if agent.books.plays.next_id:
        raise InvalidInput(
            f"agent has made {agent.books.plays.next_id} plays, which no ledger has; "
            "give a fresh agent: its policy may have learned before, but its books must be empty"
        )
    return agent


def check_floor(floor: Any) -> RewardFloor:
    """The floor, if the database's account can keep it."""
    # A class derived from ours may ask for something else, which the ledger could not say.
    if isinstance(floor, Floors):
        raise InvalidInput(
            f"floors {', '.join(map(repr, floor.floors))} cannot go live yet: the ledger keeps one "
            "account; guard one reward, or run the agent in one process and save it"
        )
    if type(floor) is CostCeiling:
        raise InvalidInput(
            f"floor = {shown(floor)} cannot go live yet: the ledger speaks of rewards; guard "
            "rewards, or run the agent in one process and save it"
        )
    if type(floor) is not RewardFloor:
        raise InvalidInput(
            f"floor = {shown(floor)} cannot go live in this version: only RewardFloor itself can, "
            "and no class derived from it, since the verifier knows no other terms"
        )
    if isinstance(floor.default, LearnedDefault):
        raise InvalidInput(
            f"default = {floor.default} cannot go live in this version: the ledger does not say "
            "yet what is learned of a default; give its known value, or an interval (l, u)"
        )
    if floor.checkpoint is not None:
        raise InvalidInput(
            f"checkpoint = {floor.checkpoint} cannot go live in this version: the store promises "
            "the floor at every play; leave checkpoint out"
        )
    if floor.max_slack is not None:
        raise InvalidInput(
            f"max_slack = {floor.max_slack} cannot go live yet: the ledger has no entry for slack "
            "that is forfeited; leave max_slack out"
        )
    if isinstance(floor.default, tuple):
        check_terms(floor.terms())
    if not floor.fits_int64:
        raise InvalidInput(
            f"places = {floor.places}: 10**9 plays of rewards in {floor.reward_range} leave the "
            "database's 64-bit integers; pass fewer places"
        )
    kept: RewardFloor = floor
    return kept


def check_terms(terms: Terms) -> None:
    """InvalidInput for an interval whose draws the ledger could not credit."""
    if terms.high is not None and (terms.value < 0 or terms.extra):
        raise InvalidInput(
            "an interval default below 0, or with a margin, cannot go live yet: the ledger "
            "credits its draws by alpha alone; give its known value, or shift the rewards"
        )


def opened(agent: GenCB, settings: Settings) -> JsonObject:
    """The payload of ``experiment.opened``, and of ``experiment.configured``."""
    body = saving.agent_to_json(agent)
    kept = {key: body[key] for key in ("agent", "settings", "floor", "policy", "rng", "turns")}
    settings = settings.agreed(agent).decided(agent.policy)
    kept["settings"] = {**agent.config(), **settings.written()}
    return {"config": sealed(kept), "floor": written_floor(check_floor(agent.floor))}


def written_floor(floor: RewardFloor) -> JsonObject:
    """The floor in whole units, as a reader of the ledger needs it."""
    unit = floor.unit
    known: JsonObject = {"known": "per_play", "value": None, "floor": None}
    known |= {"hold": None, "deposit": None}
    if floor.default is not None:
        terms = floor.terms()
        known = {"known": "constant" if terms.high is None else "interval", **written_terms(terms)}
    low, high = map(unit.floor, floor.reward_range)
    rest: JsonObject = {"low": low, "high": high, "reserve": unit.floor(floor.reserve)}
    settings = floor.config()
    names = "default", "alpha", "margin", "places", "against", "target"
    rest |= {name: settings[name] for name in names if name in settings}
    return {"kind": "reward", "strict": True, **known, **rest}


def built(config: JsonObject, policy: Policy | None) -> GenCB:
    """The agent that an experiment was opened with; ``policy``: a fresh one of the user's own."""
    floor = RewardFloor.from_config(config["floor"])
    arms = config["policy"]["arms"]
    if isinstance(policy, KernelPolicy) and list(policy.arms) != arms:  # arms were added since
        policy = type(policy).from_config({**policy.config(), "arms": arms})
    start = {"books": floor.open().snapshot(), "open": [], "paused": False}
    own = [[name, value] for name, value in config["settings"].items() if name not in SETTINGS]
    agent = saving.agent_from_json({**config, **start, "settings": {"dict": own}}, policy)
    assert isinstance(agent, GenCB)
    return agent


def with_arms(config: JsonObject, labels: list[Any], own: Policy | None) -> JsonObject:
    """The configuration with more arms, of which its policy (``own``, as in ``built``) knows
    nothing yet."""
    agent = built(config, copy.deepcopy(own))
    agent = GenCB(grown(agent.policy, labels), agent.floor)
    return {**config, "policy": sealed(saving.agent_to_json(agent)["policy"])}


def unknown(known: Collection[Any], labels: Iterable[Any]) -> list[Any]:
    """The labels that are not arms yet; InvalidInput for an invalid label."""
    return [label for label in arm_labels(None, labels) if label not in known]


def grown(policy: Policy, labels: Iterable[Any]) -> Policy:
    """The same policy with more arms, of which it knows nothing yet; its clock goes on.

    InvalidInput for a policy whose arms are more than labels.

    >>> from surefoot.policies import UCB1
    >>> grown(UCB1(arms=["UA", "AA"]), ["DL"]).arms
    ('UA', 'AA', 'DL')
    """
    if not isinstance(policy, KernelPolicy):
        raise InvalidInput(
            f"arms cannot be added to {type(policy).__name__}: its arms are more than labels; "
            "open a new experiment, on the same account if you like"
        )
    config = {**policy.config(), "arms": [*policy.arms, *labels]}
    bigger = type(policy).from_config(config)
    fresh = bigger.state()["arms"]
    state = policy.state()
    rows = [[*row, *full[len(row) :]] for row, full in zip(state["arms"], fresh, strict=True)]
    bigger.restore({**state, "arms": rows})
    return bigger


def configured(config: JsonObject) -> tuple[GenCB, Settings]:
    """The agent and settings of a ``Live.config``; InvalidInput for anything else."""
    try:
        policy = config["policy"]
        if policy["config"] is None:
            raise InvalidInput(
                f"agent is the config of a policy of your own class {policy['kind']}, whose code "
                "it does not have; give a GenCB with a fresh one"
            )
        return built(config, None), settings_of(config)
    except InvalidInput:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"agent = {shown(config)} is not a config of a live agent ({type(error).__name__}: "
            f"{error}); give what Live.config returned, or a GenCB"
        ) from None


def settings_of(config: JsonObject) -> Settings:
    """The settings that ``opened`` wrote; without ``learn_missing`` it is "skip"."""
    said = config["settings"]
    window, shadow, missing = said["reward_window"], said["shadow"], said.get("learn_missing", SKIP)
    if missing not in (WORST, SKIP):
        raise ValueError(f"learn_missing = {shown(missing)}")
    return Settings(window, shadow, missing, said.get("holdout"))


def check_same(
    given: JsonObject,
    stored: list[JsonObject],
    name: str,
    removed: Container[int] = (),
    usual: Container[str] = (),
) -> None:
    """InvalidInput that names the first field in which a configuration differs from the store's.

    ``stored``: the configuration now in force and the one it was opened with; either will do.
    ``removed``: the numbers of arms that are played no more, and may be left out. ``usual``: fields
    left at their defaults. The seed and what the policy has learned are the store's.
    """
    ours = _fields(given)
    theirs = [_fields(each) for each in stored]
    arms = theirs[0]["arms"]
    theirs.append({"arms": [arm for number, arm in enumerate(arms) if number not in removed]})
    for field in sorted({*ours, *theirs[0]}):
        if field not in usual and all(ours.get(field) != each.get(field) for each in theirs):
            raise _differs(field, ours.get(field), theirs[0].get(field), name)


def check_policy(given: Policy | None, stored: JsonObject, name: str) -> None:
    """InvalidInput where an experiment needs another policy than the one it was opened again with.

    ``given``: of the user's own class; None: one of surefoot's, or none. ``stored``: the
    configuration the experiment was opened with.
    """
    saved = stored["policy"]
    kind, arms, own = saved["kind"], saved["arms"], saved["config"] is None
    if own:
        there = f"experiment {name!r} is there and plays a policy of your own class {kind}"
        remedy = f"open it with a fresh agent, Live(GenCB({kind}(...), floor), store, {name!r})"
    else:
        there = f"experiment {name!r} is there and plays a {kind} of surefoot's own"
        remedy = "give None for the agent, or open another experiment by another name"
    if own and given is None:
        raise InvalidInput(f"{there}, whose code no store has; {remedy}")
    if given is None:
        return
    if not own or type(given).__name__ != kind:
        raise InvalidInput(f"policy = {shown(given)} is another: {there}; {remedy}")
    if (ours := list(arms_of(given))) != arms:
        raise InvalidInput(
            f"arms = {shown(ours)} differs from {shown(arms)}: {there} with those; {remedy} that "
            "has them"
        )
    try:
        saving.check_own_settings(given, saved)
    except InvalidInput as error:
        raise InvalidInput(f"{error}, or open another experiment by another name") from None


def check_settings(given: Settings, stored: list[JsonObject], name: str) -> None:
    """As ``check_same`` without an agent: only settings that differ from the usual ones."""
    usual, theirs = Settings().in_seconds(), [settings_of(each).in_seconds() for each in stored]
    for field, ours in given.in_seconds().items():
        if ours != usual[field] and all(ours != each[field] for each in theirs):
            raise _differs(field, ours, theirs[0][field], name)


def _differs(field: str, ours: Any, theirs: Any, name: str) -> InvalidInput:
    change = "add_arms() or remove_arms()" if field == "arms" else "change()"
    return InvalidInput(
        f"{field} = {shown(ours)} differs from {shown(theirs)}, which the store has for "
        f"experiment {name!r}; the store wins: pass that, change it with {change}, or give None "
        "for the agent"
    )


def _fields(config: JsonObject) -> JsonObject:
    policy = config["policy"]
    own = from_json(policy["config"]) if policy["config"] is not None else {}
    return {
        "agent": config["agent"],
        "policy": policy["kind"],
        "arms": policy["arms"],
        **{f"policy.{key}": sealed(_plain(value)) for key, value in own.items() if key != "arms"},
        **{f"floor.{key}": value for key, value in config["floor"].items()},
        "on_fault": RAISE,
        "fund": False,
        **config["settings"],
        **settings_of(config).in_seconds(),
    }


def _plain(value: Any) -> Any:
    """Arrays as lists, so that two configurations can be compared with ``==``."""
    return value.tolist() if hasattr(value, "tolist") else value


def experiment(store: Store, name: str | None, account: str | None) -> tuple[str, str]:
    """The names of an experiment and its account, as they were given or as they are in the store.

    Without a name that is the one called "default", else the account's own, else the only one there
    is; a new one where there is none. InvalidInput that lists what there is if it is more than one.
    """
    if name is not None:
        return name, name if account is None else account
    there = store.accounts()
    if account is None:
        account = _only(there, "accounts", "name= (and account=, where they differ)")
    if account not in there:
        return USUAL, account
    first = next(store.entries(account, 0, 1), None)
    if first is None or first.experiment in (USUAL, account):
        return (USUAL if first is None else first.experiment), account
    opened = (e.experiment for e in store.entries(account) if e.kind == "experiment.opened")
    return _only(opened, f"experiments of account {account!r}", "name="), account


def _only(names: Iterable[str], what: str, remedy: str) -> str:
    there = sorted(set(names))
    if not there or USUAL in there:
        return USUAL
    if len(there) > 1:
        listed = ", ".join(map(repr, there))
        raise InvalidInput(f"name is not given, and the {what} are {listed}; pass {remedy}")
    return there[0]
