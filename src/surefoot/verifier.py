"""Re-prove an exported ledger with the standard library only: ``python verifier.py FILE``.

It shares no code with what wrote the ledger, so that two texts have to agree. Entry by entry it
checks form, hash, chain and seq; what the entry may do to its play or lease; its amounts, derived
anew from the default and alpha; the running totals; and that no slack is negative. Then the promise
itself, from outcomes alone, sum of (r - f) >= -reserve: at every moment, and over the first plays
as decided and as reported, however many. An open exploration counts at its worst, an unreported
default as not played, a reward above its range as the range's end until it is acknowledged.

Exit code 0: it holds. 1: it does not, or a reward was below its range. 2: this is no ledger. A tail
cut off or rewritten shows only against a head kept elsewhere: ``--head HEX`` or ``--head SEQ:HEX``.
Memory grows only with the plays that can still change; an id used again after that is another play.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Iterable
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
FIELDS = {*NUMBERS, *TYPES, "play"}
DECIMAL = re.compile(r"-?[0-9]{1,2000}(\.[0-9]{1,2000})?([eE][-+]?[0-9]{1,4})?")
HEAD = re.compile(r"(?:([0-9]{1,18}):)?([0-9a-f]{64})")

Entry = dict[str, Any]
Moved = tuple[int, int, int]  # what an entry adds to posted, held and reserve


class Unusable(Exception):
    """What was given is no ledger, so there is nothing to verify."""


def decimal(places: int, value: Any) -> str:
    """A number of units as the decimal it stands for; anything else as it is."""
    return f"{Decimal(value).scaleb(-places).normalize():,f}" if type(value) is int else str(value)


def must(fine: object, what: str, found: Any, due: Any, say: Any = str) -> None:
    """Stop at an entry that cannot be, with what is wrong and what was expected."""
    if not fine:
        found, due = (s if len(s) <= 80 else s[:77] + "..." for s in map(say, (found, due)))
        raise ValueError(f"{what} is {found}, expected {due}")


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
    return int(value or 0)


def exact(value: Any, name: str) -> Fraction:
    """A decimal string as the number it stands for."""
    must(isinstance(value, str) and DECIMAL.fullmatch(value), name, value, "a decimal string")
    return Fraction(value)


class Order:
    """The least prefix sum of an order of plays; neighbours that are final become one item."""

    def __init__(self) -> None:
        self.items: list[list[int]] = []  # value, its own least prefix sum, whether it is final
        self.most = 1000

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
    """The floor of one experiment, as one of its configuration entries states it."""

    def __init__(self, payload: Entry, places: int, say: Any) -> None:
        said: Any = payload.get("floor")
        must(isinstance(said, dict) and "config" in payload, "payload", payload, "config and floor")
        default, target, self.say = said.get("default"), said.get("target"), say
        for name, due in (("kind", "reward"), ("strict", True), ("places", places)):
            must(said.get(name) == due, f"the floor's {name}", said.get(name), due)
        self.scale, self.alpha = Fraction(10) ** places, exact(said.get("alpha"), "alpha")
        must(0 < self.alpha < 1, "alpha", said["alpha"], "within (0, 1)")
        self.low, self.high = whole(said, "low"), whole(said, "high")
        must(self.low < self.high, "high - low", self.high - self.low, "above 0", self.say)
        must(said.get("against") in ("realised", "fixed"), "against", said.get("against"), "known")
        self.share = Fraction(1) if said["against"] == "fixed" else self.alpha
        self.target = None if target is None else self.scale * exact(target, "target")
        self.terms: Entry | None = None if default is None else self.of(said, True)

    def of(self, said: Entry, explores: bool) -> Entry:
        """The terms in force, or of a default that a play brings; what is said must be these."""
        given, ends = said.get("default"), {"low": self.low, "high": self.high}
        must(given is not None or self.terms, "default", given, "the play's own")
        terms = self._derived(given) if given is not None else self.terms or {}
        for name, due in (terms | ends if explores else terms).items():
            must(said.get(name, due) == due, name, said.get(name), due, self.say)
        return terms

    def _derived(self, default: Any) -> Entry:
        """What a play is worth, in units: ``upper`` is the u of a default that pays in l..u."""
        ends = default if isinstance(default, list) and len(default) == 2 else [default]
        low, high = (self.scale * exact(end, "default") for end in (ends[0], ends[-1]))
        random, value = isinstance(default, list), floor(low)
        asked = self.target if random and self.target is not None else high
        f = ceil((1 - self.alpha) * asked)
        fixed = random and self.share == 1
        deposit = value - f if fixed else floor(self.alpha * (value if random else low))
        must(0 <= low <= high and deposit >= 0, "default", default, "one that the floor allows")
        hold, upper = max(0, f - self.low), floor(high) if random else None
        return {"value": value, "floor": f, "hold": hold, "deposit": deposit, "upper": upper}


class Play:
    """A play that can still change; ``worth`` is what it surely brings above its floor."""

    def __init__(self, state: str, experiment: str, config: Configuration, terms: Entry) -> None:
        self.state, self.experiment, self.config, self.terms = state, experiment, config, terms
        self.worth = self.reward = 0
        self.items: list[list[int]] = []


LEGAL = {  # what a play may be before an entry of a kind; "played" is a random default's
    "decision.confirmed": ("defaulted", "forgotten"), "default.expired": ("defaulted",),
    "decision.voided": ("explored", "defaulted", "forgotten"),
    "outcome.settled": ("explored",), "outcome.expired": ("explored",),
    "outcome.as_default": ("explored",), "outcome.late": ("expired",),
    "default.valued": ("played",), "breach.acknowledged": ("capped",),
}  # fmt: skip


class Ledger:
    """What the entries taken so far come to; ``take`` refuses one that cannot be."""

    def __init__(self, account: str, places: int, kept_at: int, kept: str) -> None:
        self.account, self.places, self.say = account, places, partial(decimal, places)
        self.kept_at, self.kept, self.found = kept_at, kept, kept == START
        self.seq, self.head, self.least, self.opening = 0, START, (0, 0), True
        self.posted = self.held = self.reserve = self.slack = self.sure = 0
        self.count = dict.fromkeys(("decisions", "explorations", "breaches", "violations"), 0)
        self.problems: list[str] = []
        self.experiments: dict[str, list[Configuration]] = {}
        self.plays: dict[str, Play] = {}
        self.leases: dict[str, list[int]] = {}  # what is left, what was granted, whether it lives
        self.decided, self.reported = Order(), Order()

    def take(self, line: bytes) -> None:
        """The next entry."""
        entry, text = parsed(line)
        must(entry.keys() == FIELDS, "the set of fields", sorted(entry), sorted(FIELDS))
        for name in NUMBERS:
            whole(entry, name)
        for name, kind in TYPES.items():
            must(type(entry[name]) is kind, name, entry[name], kind.__name__)
        body = text.replace(f',"hash":"{entry["hash"]}"', "", 1)
        digest = hashlib.sha256(body.encode()).hexdigest()
        for name, due in {"seq": self.seq + 1, "prev": self.head, "hash": digest}.items():
            must(entry[name] == due, name, entry[name], due)
        must(digest == self.kept or self.kept_at != entry["seq"], "hash", digest, self.kept)
        self.found |= digest == self.kept
        must(entry["kind"] in RULES, "kind", entry["kind"], "one of a ledger's")
        moved: Moved = RULES[entry["kind"]](self, entry, entry["payload"])
        for name, by in zip(("posted", "held", "reserve"), moved, strict=True):
            found = entry.get(f"d_{name}", by)
            must(found == by, f"d_{name}", found, by, self.say)
            setattr(self, name, due := getattr(self, name) + by)
            must(entry[name] == due, name, entry[name], due, self.say)
        for order in (self.decided, self.reported) if moved[2] else ():
            order.add(moved[2], final=True)
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
        versions = self.experiments.setdefault(entry["experiment"], [])
        first, version = entry["kind"] == "experiment.opened", entry["config_version"]
        must(first is not bool(versions), "kind", entry["kind"], "opened first, then configured")
        must(version == len(versions) + 1, "config_version", version, len(versions) + 1)
        versions.append(Configuration(payload, self.places, self.say))
        return 0, 0, 0

    def _decision(self, entry: Entry, payload: Entry) -> Moved:
        name, lease, explores = entry["play"], payload.get("lease"), entry["kind"].endswith("held")
        must(isinstance(name, str) and name not in self.plays, "play", name, "an id of its own")
        versions, asked = self.experiments.get(entry["experiment"], []), entry["config_version"]
        # A worker with a lease may not know of the newest yet.
        good = 0 < asked <= len(versions) and (asked == len(versions) or lease is not None)
        must(good, "config_version", asked, len(versions))
        terms = (config := versions[asked - 1]).of(payload, explores)
        hold, state = (terms["hold"], "explored") if explores else (0, "defaulted")
        play = self.plays[name] = Play(state, entry["experiment"], config, terms)
        play.items, play.worth = [self.decided.add(-hold)], -hold
        self.count["decisions"] += 1
        if not explores:
            return 0, 0, 0
        play.items.append(self.reported.add(-hold))
        self.count["explorations"] += 1
        self.sure -= hold
        if lease is None:
            must(self.slack >= hold, "the slack less its hold", self.slack - hold, ">= 0", self.say)
            return 0, hold, 0
        row = self.leases.get(str(lease), [-1, 0, 0])
        row[0] -= hold
        must(row[0] >= 0, f"what is left of lease {lease}", row[0], ">= 0", self.say)
        return (0, 0, 0) if row[2] else (hold, hold, 0)

    def _outcome(self, entry: Entry, payload: Entry) -> Moved:
        """It moves the slack by what its play is now surely worth more than before."""
        kind, name = entry["kind"], str(entry["play"] or payload.get("play"))
        play: Any = self.plays.get(name)
        state = play.state if play and play.experiment == entry["experiment"] else "no open play"
        must(state in LEGAL[kind], f"before {kind} play {name}", state, " or ".join(LEGAL[kind]))
        worth, play.state = self._now(play, kind, payload)
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

    def _now(self, play: Play, kind: str, payload: Entry) -> tuple[int, str]:
        """What a play is surely worth after a report, and its state: "" if that is final."""
        terms, config = play.terms, play.config
        random = kind == "default.valued"
        if kind == "outcome.expired":
            return -terms["hold"], "expired"
        if kind == "decision.voided":
            return 0, ""
        if kind == "default.expired":
            return 0, "forgotten"
        if kind in ("decision.confirmed", "outcome.as_default"):
            return terms["deposit"], "" if terms["upper"] is None else "played"
        if kind == "breach.acknowledged":
            return play.reward - terms["floor"], ""
        reward = play.reward = whole(payload, "reward")
        low, high = (terms["value"], terms["upper"]) if random else (config.low, config.high)
        above, below = reward > high and not random, reward < low or (random and reward > high)
        said = payload.get("capped", False), payload.get("breach", False)
        must(said == (above, below), "(capped, breach)", said, (above, below))
        if below:
            what, least, most = map(self.say, (reward, low, high))
            self.broken(f"reward is {what}, expected {least}..{most}", 1, "breaches")
        if random:
            more = floor(config.share * min(reward, high)) - floor(config.share * low)
            return terms["deposit"] + more, ""
        return min(reward, high) - terms["floor"], "capped" if above else ""

    def _endowed(self, entry: Entry, payload: Entry) -> Moved:
        amount, grants = whole(payload, "amount"), entry["kind"] == "endowment.granted"
        most = 2**63 if grants else min(self.slack, self.reserve)
        must(0 < amount <= most, "amount", amount, f"within (0, {self.say(most)}]", self.say)
        return 0, 0, amount if grants else -amount

    def _leased(self, entry: Entry, payload: Entry) -> Moved:
        kind, name = entry["kind"], str(payload.get("lease"))
        left, granted, live = row = self.leases.get(name, [0, 0, 0])
        if kind == "lease.granted":
            amount, most = whole(payload, "amount"), self.slack
            must(name not in self.leases, "lease", name, "an id that no other lease has")
            must(0 < amount <= most, "amount", amount, f"within (0, {self.say(most)}]", self.say)
            self.leases[name] = [amount, amount, 1]
            return 0, amount, 0
        must(live, f"{kind} of lease", name, "one that is live")
        must(payload.get("unspent") == left, "unspent", payload.get("unspent"), left, self.say)
        if kind == "lease.forfeited":
            row[2] = 0
            return -left, -left, 0
        must(payload.get("spent") == granted - left, "spent", payload, granted - left, self.say)
        del self.leases[name]
        return 0, -left, 0

    def report(self) -> dict[str, Any]:
        """All that was found; the promise over the first plays, however many, included."""
        for order, name in ((self.decided, "decided"), (self.reported, "reported")):
            if (least := order.least()) < 0:
                self.broken(f"the promise is missed by {self.say(-least)} in the order {name}")
        return {
            "ok": not self.problems, "account": self.account, "unit_places": self.places,
            "entries": self.seq, **self.count, "posted": self.posted, "held": self.held,
            "reserve": self.reserve, "available": self.slack, "head": self.head,
            "minimum_slack": self.least[0], "minimum_at": self.least[1], "problems": self.problems,
            "verdict": "NOT VERIFIED: the promise may be broken" if self.problems
            else "verified: the promise holds at every moment",
            "open": sum(play.state == "explored" for play in self.plays.values()),
        }  # fmt: skip


RULES: dict[str, Any] = {
    "experiment.opened": Ledger._configured, "experiment.configured": Ledger._configured,
    "decision.held": Ledger._decision, "decision.defaulted": Ledger._decision,
    **dict.fromkeys(LEGAL, Ledger._outcome),
    **dict.fromkeys(("endowment.granted", "endowment.withdrawn"), Ledger._endowed),
    **dict.fromkeys(("lease.granted", "lease.returned", "lease.forfeited"), Ledger._leased),
    **dict.fromkeys(("experiment.state", "arms.added", "arms.removed", "assumption.broken",
                     "verified"), lambda *_: (0, 0, 0)),
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
        raise Unusable(f"no ledger to verify: {error}") from None
    ledger = Ledger(said["account"], said["unit_places"], int(kept[1] or 0), kept[2])
    try:
        for line in rows:
            ledger.take(line)
    except (RecursionError, ValueError) as error:
        ledger.broken(str(error), 1)
    if not (ledger.found or ledger.count["violations"]):
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
    try:
        with asked.file.open("rb") as file:
            report = verify(iter(lambda: file.readline(LONGEST), b""), asked.head)
    except (OSError, Unusable) as error:
        parser.exit(2, f"error: {error}\n")
    print(json.dumps(report) if asked.json else sentence(report))
    return 0 if report["ok"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
