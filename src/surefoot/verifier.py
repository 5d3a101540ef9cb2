"""Re-prove an exported ledger with the standard library only: ``python verifier.py FILE``.

It shares no code with what wrote the ledger, so that two texts have to agree. Each entry must have
its form, hash, chain and seq; be one that its play, lease or experiment allows; give amounts that
follow from the opening and the reported rewards; add up to the totals; leave no slack negative. The
promise is then checked from outcomes alone, sum of (r - f) >= -reserve: at every moment, and over
the first n plays as decided and as reported, for every n. An open exploration counts at its worst,
an unreported default as not played, a reward above its range as the range's end until acknowledged.

Exit code 0: it holds. 1: it does not, a reward was below its range, or the head differs. 2: nothing
can be said. 74: the report cannot be written. 141: its reader closed the pipe. A tail cut off or
rewritten shows only against a head kept elsewhere: ``--head HEX`` or ``SEQ:HEX``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import ceil, floor
from pathlib import Path
from typing import Any

START, LONGEST = "0" * 64, 1 << 24
HEADER = ["account", "surefoot", "unit_places", "version"]
NUMBERS = ("seq", "at", "config_version", "d_posted", "d_held", "posted", "held", "reserve")
TYPES = {"kind": str, "experiment": str, "actor": str, "prev": str, "hash": str, "payload": dict}
FIELDS = sorted([*NUMBERS, *TYPES, "play"])  # as canonical JSON has them
TERMS = ("value", "floor", "deposit", "upper", "lost", "whole")
GIVEN = ("default", "alpha", "margin", "places", "against", "target", "checkpoint")
REWARDED = ("outcome.settled", "outcome.late", "default.valued", "decision.confirmed")
DECIMAL = re.compile(r"-?[0-9]{1,2000}(\.[0-9]{1,2000})?([eE][-+]?[0-9]{1,4})?")
HELD, OWN, SUMS = "decision.held", re.compile("p-[0-9]+"), ("C2UCB", "CombLinTS")
HEAD = re.compile(r"(?:([0-9]{1,18}):)?([0-9a-f]{64})")
HOLDS = "verified: the promise holds at every moment"
FAILED = "NOT VERIFIED: the promise may be broken"
OTHER = "NOT VERIFIED: the chain is sound, but it is not the one whose head was kept"

Entry = dict[str, Any]
Moved = tuple[int, int, int]  # what an entry adds to posted, held and reserve


class Unusable(Exception):
    """The input is not a ledger, so there is nothing to verify."""


def decimal(places: int, value: Any) -> str:
    """A number of units as the decimal it stands for; anything else as it is."""
    return f"{Decimal(value).scaleb(-places).normalize():,f}" if type(value) is int else str(value)


def must(fine: object, what: str, found: Any, due: Any, say: Any = str) -> None:
    """Stop at an entry that cannot be, with what is wrong and what was expected."""
    if not fine:
        found, due = (s if len(s) <= 80 else s[:77] + "..." for s in map(say, (found, due)))
        raise ValueError(f"{what} is {found}, expected {due}")


def agree(found: Entry, due: Entry, say: Any = str, of: str = "") -> None:
    """Stop where the parts of an entry are not what they have to be."""
    for name, value in due.items():
        if (has := found.get(name)) != value or type(has) is not type(value):  # False == 0
            must(False, f"{of}{name}", has, value, say)


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode
_decode = json.JSONDecoder(parse_float=int, parse_constant=int).decode  # int() refuses either


def parsed(line: bytes) -> tuple[Entry, str]:
    """The object of a line and its text, if that is its canonical form."""
    must(len(line) < LONGEST, "the line's length", len(line), f"below {LONGEST} bytes")
    text = line.decode("ascii").removesuffix("\n")
    value = _decode(text)
    must(isinstance(value, dict) and _encode(value) == text, "the line", text, "canonical JSON")
    return value, text


def whole(values: Entry, name: str) -> int:
    """An amount: a JSON integer of 64 bits."""
    value = values.get(name)
    must(type(value) is int and -(2**63) <= value < 2**63, name, value, "an integer of 64 bits")
    return value  # type: ignore[return-value]


def exact(value: Any, name: str) -> Fraction:
    """A decimal string as the number it stands for."""
    must(isinstance(value, str) and DECIMAL.fullmatch(value), name, value, "a decimal string")
    return Fraction(value)


def in_units(told: Any, places: int) -> int:
    """A reward as it was told, in units, rounded down."""
    plain = DECIMAL.fullmatch(told) if isinstance(told, str) else None
    if plain and not plain[2] and (spare := places - len((plain[1] or ".")[1:])) >= 0:
        return int(told.replace(".", "") + "0" * spare)
    return floor(exact(told, "told") * Fraction(10) ** places)


def part(values: Entry, name: str, kind: type) -> Any:
    """A part of a payload that has to be of a type."""
    must(type(values.get(name)) is kind, name, values.get(name), f"a {kind.__name__}")
    return values[name]


class Order:
    """The least prefix sum of an order of plays; neighbours that are final become one item."""

    def __init__(self) -> None:
        self.items, self.most = list[list[int]](), 1000  # value, least prefix sum, is it final

    def add(self, value: int, final: bool = False) -> list[int]:
        if len(self.items) >= self.most:
            kept = self.items[:1]
            for item in self.items[1:]:
                total, least, closed = kept[-1]
                if closed and item[2]:
                    kept[-1][:] = total + item[0], min(least, total + item[1]), 1
                else:
                    kept.append(item)
            self.items, self.most = kept, 1000 + 2 * len(kept)
        self.items.append([value, min(0, value), final])
        return self.items[-1]

    def least(self) -> int:
        total = least = 0
        for value, within, _ in self.items:
            least, total = min(least, total + within), total + value
        return least


class Configuration:
    """The floor and settings of one experiment, as one of its configuration entries states them."""

    def __init__(self, payload: Entry, places: int, say: Any) -> None:
        said, config = part(payload, "floor", dict), part(payload, "config", dict)
        default, target, self.say = said.get("default"), said.get("target"), say
        known = "interval" if isinstance(default, list) else "constant" if default else "per_play"
        agree(said, {"kind": "reward", "strict": True, "places": places, "known": known})
        self.places, self.scale = places, Fraction(10) ** places
        self.alpha = exact(said.get("alpha"), "alpha")
        must(0 <= self.alpha < 1, "alpha", said["alpha"], "within [0, 1)")
        self.margin = self.scale * exact(said.get("margin", "0"), "margin")
        self.low, self.high = whole(said, "low"), whole(said, "high")
        must(self.low < self.high, "high - low", self.high - self.low, "above 0", self.say)
        must(said.get("against") in ("realised", "fixed"), "against", said.get("against"), "known")
        self.share = Fraction(1) if said["against"] == "fixed" else self.alpha
        self.target = None if target is None else self.scale * exact(target, "target")
        self.recent: dict[str, Entry] = {}
        self.terms: Entry | None = None if default is None else self.of(said, True)
        agree(said, {} if self.terms else dict.fromkeys((*TERMS, "hold")), self.say)
        given, settings, policy = (part(config, of, dict) for of in ("floor", "settings", "policy"))
        agree(given, {name: said.get(name) for name in GIVEN}, of="config.floor.")
        low, high = (*part(given, "reward_range", list), None, None)[:2]
        for name, text in {"low": low, "high": high, "reserve": given.get("reserve")}.items():
            due = in_units(text, places)
            must(whole(said, name) == due, f"the floor's {name}", said[name], due, self.say)
        self.worst = settings.get("learn_missing") == "worst"
        self.shadow, self.window = part(settings, "shadow", bool), settings.get("reward_window")
        must(self.window is None or whole(settings, "reward_window") > 0, "reward_window", 0, "> 0")
        self.holdout = 0 < exact(settings.get("holdout", "0"), "holdout") < 1
        self.arms, self.sums = part(policy, "arms", list), policy.get("kind") in SUMS

    def of(self, said: Entry, explores: bool) -> Entry:
        """The terms in force, or of a default that a play brings; what is said must be these."""
        given = said.get("default")
        must(given is not None or self.terms, "default", given, "the play's own")
        terms = self._derived(given) if given is not None else self.terms or {}
        held = {"hold": terms["hold"], "low": self.low, "high": self.high}
        due = held if explores else {"loss": terms["hold"], "high": terms["upper"]}
        agree(said, {name: terms[name] for name in TERMS} | due, self.say)
        return terms

    def _derived(self, default: Any) -> Entry:
        """What a play is worth, in units: ``upper`` is the u of a default that pays in l..u."""
        if known := self.recent.get(key := json.dumps(default)):
            return known
        ends: Any = default if isinstance(default, list) and len(default) == 2 else [default]
        low, high = (self.scale * exact(end, "default") for end in (ends[0], ends[-1]))
        random, value = isinstance(default, list), floor(low)
        asked = self.target if random and self.target is not None else high
        f = ceil(asked - self.alpha * abs(asked) - self.margin)
        given_up = self.alpha * abs(Fraction(value) if random else low) + self.margin
        deposit = value - f if random and self.share == 1 else floor(given_up)
        must(low <= high and deposit >= 0 <= low * random, "default", default, "an allowed one")
        hold, share = max(0, f - self.low), self.share.as_integer_ratio()
        ends = (floor(high), *share) if random else (None, None, None)
        terms = dict(zip((*TERMS, "hold"), (value, f, deposit, *ends, hold), strict=True))
        self.recent = self.recent if len(self.recent) < 1000 else {}
        self.recent[key] = terms
        return terms


class Experiment:
    """What one experiment may do: its configurations, whether it runs, and its arms."""

    def __init__(self) -> None:
        self.versions: list[Configuration] = []
        self.arms, self.paused = list[Any](), False
        self.ran: list[bool] = []  # by version: whether it was ever running under it
        self.barred: set[tuple[int, int]] = set()  # arm, version: removed all the time under it
        self.removed, self.changes = set[int](), set[str]()  # ids of changes of the reserve

    def change(self, entry: Entry, payload: Entry) -> Moved:
        """Pause or resume, add arms or remove some; a repeat of what is so has no entry."""
        if (kind := entry["kind"]) == "experiment.state":
            agree(payload, {"state": "running" if self.paused else "paused"})
            self.paused = not self.paused
            self.ran[-1] |= not self.paused
        if not kind.startswith("arms."):
            return 0, 0, 0
        labels, before = part(payload, "arms", list), (len(self.arms), len(self.removed))
        for label in labels:
            known = self.arms.index(label) if label in self.arms else None
            if not self.arms and type(label) is int:
                known = label  # arms without labels go by their numbers
            if kind == "arms.removed":
                must(known is not None, "arms", label, "known ones")
                self.removed.add(int(known or 0))
            elif known is None:
                self.arms.append(label)
            else:
                self.removed.discard(known)
                self.barred.discard((known, len(self.versions)))
        after = len(self.arms), len(self.removed)
        must(before != after, f"what {kind} changes", labels, "an arm")
        return 0, 0, 0

    def may_explore(self, payload: Entry, version: int) -> int:
        """Stop at what it could not decide, under a lease: ever; a super arm's parts, or -1."""
        leased, arm, index = payload.get("lease"), payload.get("arm"), whole(payload, "index")
        must(not self.versions[version - 1].shadow, "an exploration", arm, "none in shadow mode")
        runs = self.ran[version - 1] if leased else not self.paused
        must(runs, "an exploration", arm, "none while the experiment is paused")
        if isinstance(arm, dict) and "tuple" in arm:  # a super arm, or a point
            known = index == 0 and (not self.arms or all(one in self.arms for one in arm["tuple"]))
        else:
            known = [arm] == self.arms[index : index + 1] if self.arms else index == arm
        must(known and index >= 0, f"the arm of index {index}", arm, "one of the experiment's")
        off = (index, version) in self.barred if leased else index in self.removed
        must(not off, "an exploration", arm, "no arm that was removed")
        must(index in payload.get("allowed", (index,)), "index", index, "one that was allowed")
        return len(arm["tuple"]) if isinstance(arm, dict) else -1


@dataclass(slots=True)
class Lease:
    """A slice of the account: what is left of it, and what became of it."""

    left: int
    granted: int
    experiment: str
    at: int
    state: str = "live"


@dataclass(slots=True)
class Play:
    """A play that can still change; ``worth`` is what it surely brings above its floor."""

    state: str
    experiment: str
    config: Configuration
    terms: Entry
    worth: int
    items: list[list[int]]
    reward: int = 0
    again: Any = ()  # what a late reward repeats of it
    parts: int = -1  # how many base arms it is made of, if it is
    drawn: bool = False  # whether it was held out: any reward of it is in line


LEGAL = {  # what a play may be before an entry of a kind; "played" is a random default's
    "decision.confirmed": ("defaulted", "forgotten"), "breach.acknowledged": ("capped",),
    "decision.voided": ("explored", "defaulted", "forgotten"), "default.expired": ("defaulted",),
    "outcome.settled": ("explored",), "outcome.late": ("expired",), "default.valued": ("played",),
    "outcome.expired": ("explored",), "outcome.as_default": ("explored",),
}  # fmt: skip


class Ledger:
    """What the entries taken so far come to; ``take`` refuses one that cannot be."""

    def __init__(self, account: str, places: int, kept_at: int, kept: str) -> None:
        self.account, self.places, self.say = account, places, partial(decimal, places)
        self.kept_at, self.kept, self.found, self.other = kept_at, kept, kept == START, False
        self.seq, self.head, self.least, self.opening = 0, START, (0, 0), True
        self.posted = self.held = self.reserve = self.slack = self.sure = 0
        self.count = dict.fromkeys(("decisions", "explorations", "breaches", "violations"), 0)
        self.problems, self.leases = list[str](), dict[str, Lease]()
        self.experiments, self.plays = dict[str, Experiment](), dict[str, Play]()
        self.ids: set[str] = set()  # all that callers ever gave
        self.named, self.start = False, 0  # do entries say whose they are; what is granted next
        self.decided, self.reported = Order(), Order()

    def take(self, line: bytes) -> None:
        """The next entry."""
        entry, text = parsed(line)
        must(list(entry) == FIELDS, "the set of fields", list(entry), FIELDS)
        for name in NUMBERS:
            whole(entry, name)
        for name, kind in TYPES.items():
            must(type(entry[name]) is kind, name, entry[name], kind.__name__)
        body = text.replace(f',"hash":"{entry["hash"]}"', "", 1)
        digest = hashlib.sha256(body.encode()).hexdigest()
        agree(entry, {"seq": self.seq + 1, "prev": self.head, "hash": digest})
        self.found |= digest == self.kept
        if self.kept_at == entry["seq"] and digest != self.kept:
            self.other = True
            self.broken(f"hash is {digest}, expected {self.kept}", 1)
        must(entry["kind"] in RULES, "kind", entry["kind"], "one of a ledger's")
        due, self.start = self.start, 0
        granted = entry["kind"] == "endowment.granted" and entry["payload"].get("amount")
        must(not due or granted == due, "the reserve that is granted", granted or 0, due, self.say)
        d_posted, d_held, more = RULES[entry["kind"]](self, entry, entry["payload"])
        self.posted, self.held = self.posted + d_posted, self.held + d_held
        self.reserve += more
        totals = {"d_posted": d_posted, "d_held": d_held, "posted": self.posted, "held": self.held}
        agree(entry, {**totals, "reserve": self.reserve}, self.say)
        for order in (self.decided, self.reported) if more else ():
            order.add(more, final=True)
        self.slack = self.reserve + self.posted - self.held
        must(self.slack >= 0 or self.count["breaches"], "the slack", self.slack, ">= 0", self.say)
        self.seq, self.head = self.seq + 1, digest
        self.opening &= entry["kind"] in ("experiment.opened", "endowment.granted")
        now = self.slack, self.seq
        self.least = now if self.opening else min(self.least, now)
        if (missed := -(self.reserve + self.sure)) > 0:
            self.broken(f"the promise is missed by {self.say(missed)}")

    def broken(self, what: str, ahead: int = 0, counted: str = "violations") -> None:
        """Note what is wrong with the newest entry, or with the one ``ahead``, and go on."""
        self.count[counted] += 1
        if len(self.problems) < 10:
            self.problems.append(f"entry {self.seq + ahead:,}: {what}")

    def _configured(self, entry: Entry, payload: Entry) -> Moved:
        of = self.experiments.setdefault(entry["experiment"], Experiment())
        first, version = entry["kind"] == "experiment.opened", entry["config_version"]
        must(first is not bool(of.versions), "kind", entry["kind"], "opened first, then configured")
        must(version == len(of.versions) + 1, "config_version", version, len(of.versions) + 1)
        config = Configuration(payload, self.places, self.say)
        must(first or config.arms == of.arms, "config.policy.arms", config.arms, of.arms)
        of.arms = list(config.arms)
        of.versions.append(config)
        of.ran.append(not of.paused)
        of.barred |= {(arm, version) for arm in of.removed}
        if first:
            self.start = payload["floor"]["reserve"]
            if "account" in payload:  # older ledgers do not say
                said, self.named = payload["account"], True
                must(said == self.account, "the header's account", self.account, said)
        return 0, 0, 0

    def of(self, entry: Entry) -> Experiment:
        """The experiment that an entry is of, under a configuration that there is."""
        of: Any = self.experiments.get(entry["experiment"])
        there, version = len(of.versions) if of else 0, entry["config_version"]
        if not 0 < version <= there:
            must(False, "config_version", version, f"one of {there} of {entry['experiment']}")
        return of  # type: ignore[no-any-return]

    def _decision(self, entry: Entry, payload: Entry) -> Moved:
        name, lease, explores = entry["play"], payload.get("lease"), entry["kind"] == HELD
        of, asked = self.of(entry), entry["config_version"]
        if name != f"p-{entry['seq']}":  # else its caller gave it no name
            fresh = isinstance(name, str) and name not in self.ids and not OWN.fullmatch(name)
            must(fresh, "play", name, "an id of its own")
            self.ids.add(name)
        must(lease or asked == len(of.versions), "config_version", asked, len(of.versions))
        terms = (config := of.versions[asked - 1]).of(payload, explores)
        hold, state = (terms["hold"], "explored") if explores else (0, "defaulted")
        play = Play(state, entry["experiment"], config, terms, -hold, [self.decided.add(-hold)])
        self.plays[name] = play
        play.drawn, p = payload.get("reason") == "HOLDOUT", payload.get("propensity", "1.0")
        must(p == "1.0" or 0 < exact(p, "propensity") <= 1, "propensity", p, "within (0, 1]")
        fine = not play.drawn or (config.holdout and not explores and "arm" not in payload)
        must(fine, "a play held out", name, "a default play under a holdout")
        self.count["decisions"] += 1
        self.count["explorations"] += explores
        row = None if lease is None else self._drawn(entry["experiment"], hold, payload)
        found, window = payload.get("deadline"), config.window
        due = (row.at if row else entry["at"]) + window if window else None
        none = found is None and not explores  # older ledgers date no default
        later = due and row and not none and whole(payload, "deadline") > due
        must(none or later or found == due, "deadline", found, due)
        if not explores:
            return 0, 0, 0
        play.parts = of.may_explore(payload, asked)
        agree(payload, {"missing": config.low if config.worst else None}, self.say)
        play.again = {name: payload.get(name) for name in ("arm", "index", "missing")}
        play.items.append(self.reported.add(-hold))
        self.sure -= hold
        if row is None:
            must(self.slack >= hold, "the slack less its hold", self.slack - hold, ">= 0", self.say)
            return 0, hold, 0
        return (0, 0, 0) if row.state == "live" else (hold, hold, 0)

    def _drawn(self, experiment: str, hold: int, payload: Entry) -> Lease:
        """The lease that a decision was made under, and pays for it."""
        row: Any = self.leases.get(lease := part(payload, "lease", str))
        there = row is not None and row.state != "returned" and row.experiment == experiment
        must(there, "lease", lease, "one that its experiment was granted and has")
        before, row.left = row.left, row.left - hold
        must(row.left >= 0, f"what is left of lease {lease}", row.left, ">= 0", self.say)
        unspent = whole(payload, "unspent")  # less where a decision was given up, unheard of
        must(hold <= unspent <= before, "unspent", unspent, before, self.say)
        return row  # type: ignore[no-any-return]

    def _outcome(self, entry: Entry, payload: Entry) -> Moved:
        """It moves the slack by what its play is now surely worth more than before."""
        kind, name = entry["kind"], str(entry["play"] or payload.get("play"))
        self.of(entry)
        play: Any = self.plays.get(name)
        state = play.state if play and play.experiment == entry["experiment"] else "no open play"
        must(state in LEGAL[kind], f"before {kind} play {name}", state, " or ".join(LEGAL[kind]))
        must(payload.get("play", name) == name, "play", payload.get("play"), name)
        self._told(play, kind, payload)
        worth, play.state, asked = self._now(play, kind, payload)
        agree({"asked": 0, **payload}, {"asked": asked}, self.say)
        gain, play.worth = worth - play.worth, worth
        self.sure += gain
        if kind == "decision.confirmed":
            play.items.append(self.reported.add(0))
        for item in play.items:
            item[:] = play.worth, min(0, play.worth), not play.state
        if not play.state:
            del self.plays[name]
        d_held = -play.terms["hold"] if state == "explored" else 0
        return gain + d_held, d_held, 0

    def _told(self, play: Play, kind: str, payload: Entry) -> None:
        """A reward in units is what was told, and its flags are what it is."""
        if kind == "outcome.late":
            agree({**play.again, **payload}, play.again)
        if "reward" not in payload:
            must(kind not in REWARDED[:3], "reward", None, "one")
            return agree(payload, {"told": None, "mismatch": None})
        must(kind in REWARDED, f"reward of {kind}", payload["reward"], "none")
        reward, told = whole(payload, "reward"), payload.get("told")
        due = reward  # another policy alone knows what its base rewards make
        if not isinstance(told, list) or len(told) != play.parts:
            due = in_units(told.get("reward") if isinstance(told, dict) else told, self.places)
        elif play.config.sums:
            due = floor(play.config.scale * sum(exact(one, "told") for one in told))
        must(reward == due, "reward", reward, due, self.say)
        known = kind == "decision.confirmed" and play.terms["upper"] is None and not play.drawn
        agree({"mismatch": False, **payload}, {"mismatch": known and reward != play.terms["value"]})
        play.reward = reward
        return None

    def _now(self, play: Play, kind: str, payload: Entry) -> tuple[int, str, int]:
        """What a play is surely worth after a report, its state ("" if final), what it asked."""
        terms, config, reward = play.terms, play.config, play.reward
        random, f, deposit = kind == "default.valued", terms["floor"], terms["deposit"]
        if kind == "outcome.expired":
            return -terms["hold"], "expired", f
        if kind in ("decision.voided", "default.expired"):
            return 0, "forgotten" if kind == "default.expired" else "", 0
        if kind in ("decision.confirmed", "outcome.as_default"):
            known = terms["upper"] is None
            return deposit, *(("", f) if known else ("played", terms["value"] - deposit))
        if kind == "breach.acknowledged":
            return reward - f, "", 0
        low, high = (terms["value"], terms["upper"]) if random else (config.low, config.high)
        above, below = reward > high and not random, reward < low or (random and reward > high)
        agree({"capped": False, "breach": False, **payload}, {"capped": above, "breach": below})
        if below:
            what, least, most = map(self.say, (reward, low, high))
            self.broken(f"reward is {what}, expected {least}..{most}", 1, "breaches")
        counted = min(reward, high)
        if random:
            more = floor(config.share * counted) - floor(config.share * low)
            return deposit + more, "", counted - low - more
        return counted - f, "capped" if above else "", f if kind == "outcome.settled" else 0

    def _endowed(self, entry: Entry, payload: Entry) -> Moved:
        amount, grants = whole(payload, "amount"), entry["kind"] == "endowment.granted"
        most = 2**63 if grants else min(self.slack, self.reserve)
        must(0 < amount <= most, "amount", amount, f"within (0, {self.say(most)}]", self.say)
        of, own = self.of(entry), payload.get("id")
        if own is not None or "asked" in payload:
            must(isinstance(own, str) and own not in of.changes, "id", own, "one of its own")
            of.changes.add(str(own))
            asked = exact(payload.get("asked"), "asked") * Fraction(10) ** self.places
            agree(payload, {"amount": floor(asked) if grants else ceil(asked)}, self.say)
        return 0, 0, amount if grants else -amount

    def _leased(self, entry: Entry, payload: Entry) -> Moved:
        kind, name = entry["kind"], part(payload, "lease", str)
        self.of(entry)
        if kind == "lease.granted":
            amount, most = whole(payload, "amount"), self.slack
            must(name not in self.leases, "lease", name, "an id that no other lease has")
            must(0 < amount <= most, "amount", amount, f"within (0, {self.say(most)}]", self.say)
            agree(payload, {"epoch": entry["seq"]})
            must(whole(payload, "expires") > entry["at"], "expires", payload["expires"], "later")
            self.leases[name] = Lease(amount, amount, entry["experiment"], entry["at"])
            return 0, amount, 0
        row: Any = self.leases.get(name)
        live = row and row.state == "live" and row.experiment == entry["experiment"]
        must(live, f"{kind} of lease", name, "one that is live")
        agree(payload, {"unspent": row.left, "spent": row.granted - row.left}, self.say)
        row.state = kind.removeprefix("lease.")
        return -row.left if row.state == "forfeited" else 0, -row.left, 0

    def report(self) -> dict[str, Any]:
        """All that was found; the promise over the first plays, however many, included."""
        for order, name in ((self.decided, "decided"), (self.reported, "reported")):
            if (least := order.least()) < 0:
                self.broken(f"the promise is missed by {self.say(-least)} in the order {name}")
        return {
            "ok": not self.problems, "account": self.account,
            "account_from": "entries" if self.named else "header", "unit_places": self.places,
            "entries": self.seq, **self.count, "posted": self.posted, "held": self.held,
            "reserve": self.reserve, "available": self.slack, "head": self.head,
            "minimum_slack": self.least[0], "minimum_at": self.least[1], "problems": self.problems,
            "verdict": FAILED if self.problems[self.other :] else OTHER if self.other else HOLDS,
            "open": sum(play.state == "explored" for play in self.plays.values()),
        }  # fmt: skip


RULES: dict[str, Any] = {
    "experiment.opened": Ledger._configured, "experiment.configured": Ledger._configured,
    "decision.held": Ledger._decision, "decision.defaulted": Ledger._decision,
    **dict.fromkeys(LEGAL, Ledger._outcome),
    **dict.fromkeys(("endowment.granted", "endowment.withdrawn"), Ledger._endowed),
    **dict.fromkeys(("lease.granted", "lease.returned", "lease.forfeited"), Ledger._leased),
    **dict.fromkeys(("experiment.state", "arms.added", "arms.removed", "assumption.broken",
                     "verified"), lambda self, entry, told: self.of(entry).change(entry, told)),
}  # fmt: skip


def verify(lines: Iterable[bytes], head: str | None = None) -> dict[str, Any]:
    """Verify the lines of an export; Unusable if they are none."""
    kept: Any = HEAD.fullmatch(head or START)
    first = next(rows := iter(lines), b"")
    try:
        must(kept, "head", head, "64 digits 0-9a-f, or SEQ: and these")
        must(first, "it", "empty", "an export")
        must(first[:6] != b"SQLite", "it", "SQLite", "an export: surefoot ledger export DB --out X")
        said = parsed(first)[0]
        known = sorted(said), said.get("surefoot"), said.get("version"), type(said.get("account"))
        must(known == (HEADER, "ledger", 1, str), "the header", said, "a ledger's, of version 1")
        must(abs(whole(said, "unit_places")) <= 100, "unit_places", said["unit_places"], "<= 100")
    except (RecursionError, ValueError) as error:
        raise Unusable(f"no ledger to verify: {error}" if kept else str(error)) from None
    ledger = Ledger(said["account"], said["unit_places"], int(kept[1] or 0), kept[2])
    try:
        for line in rows:
            ledger.take(line)
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        ledger.broken(str(error) if isinstance(error, ValueError) else f"{error!r}"[:200], 1)
    if not (ledger.found or ledger.count["violations"]):
        ledger.other = True
        ledger.broken(f"no entry up to here has the hash that was kept, {kept[2]}: cut or altered")
    return ledger.report()


def sentence(report: dict[str, Any]) -> str:
    """A report as one line, one more for each problem, and the verdict."""
    slack = decimal(report["unit_places"], report["minimum_slack"])
    said = {name: f"{name} {n:,}" for name, n in report.items() if type(n) is int}
    parts = [said[name] for name in ("entries", "decisions", "explorations", "open")]
    parts += [f"minimum slack {slack} at entry {report['minimum_at']:,}", said["breaches"]]
    parts += [said["violations"], f"head {report['head']}"]
    return "\n".join([" \N{MIDDLE DOT} ".join(parts), *report["problems"], report["verdict"]])


def main() -> int:
    """Verify the file that the command line names, and say what was found."""
    parser = argparse.ArgumentParser(description="Re-prove an exported ledger.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--head", help="a hash that was kept: HEX or SEQ:HEX")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    asked = parser.parse_args()
    getattr(sys.stdout, "reconfigure", dict)(errors="backslashreplace")  # a terminal may be ASCII
    try:
        with asked.file.open("rb") as file:
            report = verify(iter(lambda: file.readline(LONGEST), b""), asked.head)
    except (OSError, Unusable, ValueError) as error:  # ValueError: a path with a NUL
        parser.exit(2, f"error: {error}\n")
    try:
        print(json.dumps(report) if asked.json else sentence(report), flush=True)
    except OSError as error:  # the verdict was not heard, so no code may be taken for it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        parser.exit(*((141,) if isinstance(error, BrokenPipeError) else (74, f"error: {error}\n")))
    return 0 if report["ok"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
