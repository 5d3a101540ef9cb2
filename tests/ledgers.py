"""Ledgers for the verifier's tests: written by a few lines of their own, from random schedules.

Each event books what the table of events says of it, and nothing else; the amounts are worked out
with fractions. Shares no code with the store that writes real ledgers, nor with the verifier.
"""

import hashlib
import json
import random
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

UNIT = 1000
KINDS = ("constant", "per_play", "realised", "fixed")


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def hashed(entry):
    body = {name: value for name, value in entry.items() if name != "hash"}
    return hashlib.sha256(canonical(body).encode()).hexdigest()


def lines(entries, account="shop", places=3):
    head = {"surefoot": "ledger", "version": 1, "account": account, "unit_places": places}
    return [canonical(each).encode() + b"\n" for each in (head, *entries)]


def rechained(entries):
    """The same entries with every hash forged, as if nothing had been edited."""
    entries, prev = json.loads(json.dumps(entries)), "0" * 64
    for entry in entries:
        entry["prev"] = prev
        prev = entry["hash"] = hashed(entry)
    return entries


def terms(default, alpha, low, against="realised", target=None):
    """What a play of this default is worth; a pair is a default that pays at random."""
    kept = 1 - Fraction(alpha)
    ends = [UNIT * Fraction(end) for end in (default if isinstance(default, list) else [default])]
    level = ends[-1] if target is None else UNIT * Fraction(target)
    said = {"value": floor(ends[0]), "floor": ceil(kept * level)}
    said["hold"] = max(0, said["floor"] - low)
    if len(ends) == 1:
        return said | {"deposit": floor(Fraction(alpha) * ends[0])}
    said |= {"upper": floor(ends[1])}
    if against == "fixed":
        return said | {"deposit": said["value"] - said["floor"], "lost": 1, "whole": 1}
    share = Fraction(alpha)
    said |= {"lost": share.numerator, "whole": share.denominator}
    return said | {"deposit": floor(share * said["value"])}


def text(units):
    """A reward as it was told."""
    return str(Decimal(units) / UNIT)


class Writer:
    """Writes one account's ledger, event by event."""

    def __init__(self, kind="constant", alpha="0.25", low=0, high=1000, reserve=0, **settings):
        self.entries, self.plays, self.versions, self.leases = [], {}, {}, {}
        self.settings = {"reward_window": None, "shadow": False} | settings
        self.arms, self.paused, self.ran = ["a", "b"], False, True
        self.posted = self.held = self.reserve = 0
        self.configure(kind, alpha, low, high)
        if reserve:
            self.append("endowment.granted", {"amount": reserve}, reserve=reserve)

    @property
    def slack(self):
        return self.reserve + self.posted - self.held

    def append(self, kind, payload=None, posted=0, held=0, reserve=0, play=None, **other):
        """Chain an entry that moves the totals by this much, whether it may or not."""
        self.posted, self.held = self.posted + posted, self.held + held
        self.reserve += reserve
        entry = {
            "seq": len(self.entries) + 1, "kind": kind, "experiment": "a", "play": play,
            "at": 1_700_000_000_000_000 + 7 * len(self.entries), "actor": "",
            "config_version": self.versions.get(other.get("experiment", "a"), 0),
            "d_posted": posted, "d_held": held, "posted": self.posted, "held": self.held,
            "reserve": self.reserve, "payload": payload or {},
            "prev": self.entries[-1]["hash"] if self.entries else "0" * 64, **other,
        }  # fmt: skip
        self.entries.append(entry | {"hash": hashed(entry)})

    def configure(self, kind, alpha, low=0, high=1000, experiment="a"):
        default = {"constant": "0.5005", "per_play": None, "realised": ["0.3", "0.6"]}.get(kind)
        target = None
        if kind == "fixed":
            default, target = ["0.5", "0.6"], "0.55"
        self.kind, self.alpha, self.low, self.high = kind, alpha, low, high
        self.default, self.target = default, target
        known = {"constant": "constant", "per_play": "per_play"}.get(kind, "interval")
        against = "fixed" if kind == "fixed" else "realised"
        said = {"value": None, "floor": None, "hold": None, "deposit": None}
        if default is not None:
            said = terms(default, alpha, low, against, target)
        said |= {
            "kind": "reward", "known": known, "against": against, "target": target, "low": low,
            "high": high, "reserve": 0, "alpha": alpha, "places": 3, "strict": True,
            "default": default,
        }  # fmt: skip
        self.versions[experiment] = self.versions.get(experiment, 0) + 1
        self.ran = not self.paused
        event = "opened" if self.versions[experiment] == 1 else "configured"
        given = {name: said[name] for name in ("default", "alpha", "places", "against", "target")}
        given |= {"reward_range": [text(low), text(high)], "reserve": "0"}
        policy = {"kind": "UCB1", "arms": list(self.arms)}
        config = {"policy": policy, "settings": dict(self.settings), "floor": given}
        payload = {"config": config, "floor": said}
        self.append(f"experiment.{event}", payload, experiment=experiment)

    def terms(self, own=None):
        default = self.default if own is None else own
        against = "fixed" if self.kind == "fixed" else "realised"
        return terms(default, self.alpha, self.low, against, self.target)

    def decide(self, name, explores, own=None, lease=None, index=0, **more):
        """A decision; whether the account affords it is the caller's affair."""
        said = self.terms(own)
        hold = said["hold"]
        play = {**said, "low": self.low, "high": self.high, "explores": explores}
        share = Fraction(1) if self.kind == "fixed" else Fraction(self.alpha)
        self.plays[name] = play | {"state": "open", "share": share}
        payload = dict(said) if own is None else {**said, "default": own}
        if not explores:
            payload["loss"] = payload.pop("hold")
            if "upper" in said:
                payload["high"] = said["upper"]
            self.append("decision.defaulted", payload, play=name)
            return
        payload |= {
            "low": self.low,
            "high": self.high,
            "arm": (*self.arms, "x")[index],
            "index": index,
        }
        payload |= more
        if lease is None:
            self.append("decision.held", payload, held=hold, play=name)
            return
        payload |= {"lease": lease, "unspent": self.leases[lease]["rest"]} | more
        self.leases[lease]["rest"] -= hold
        extra = 0 if self.leases[lease]["live"] else hold
        self.append("decision.held", payload, extra, extra, play=name)

    def settle(self, name, reward):
        """A reward, in time or late."""
        play = self.plays[name]
        above, below = reward > play["high"], reward < play["low"]
        payload = {"reward": reward, "told": text(reward)} | ({"capped": True} if above else {})
        payload |= {"breach": True} if below else {}
        payload |= {"asked": play["floor"]} if play["state"] == "open" and play["floor"] else {}
        gain, hold = min(reward, play["high"]) - play["floor"], play["hold"]
        if play["state"] == "expired":
            self.append("outcome.late", payload, gain + hold, play=name)
        else:
            self.append("outcome.settled", payload, gain, -hold, play=name)
        play |= {"state": "capped" if above else "closed", "reward": reward}

    def expire(self, name):
        hold, asked = self.plays[name]["hold"], self.plays[name]["floor"]
        payload = {"asked": asked} if asked else {}
        self.append("outcome.expired", payload, -hold, -hold, play=name)
        self.plays[name]["state"] = "expired"

    def forget(self, name):
        """A default play that nobody has reported."""
        self.append("default.expired", {}, play=name)
        self.plays[name]["state"] = "forgotten"

    def void(self, name):
        play = self.plays[name]
        hold = play["hold"] if play["explores"] else 0
        self.append("decision.voided", {}, 0, -hold, play=name)
        play["state"] = "closed"

    def fall_back(self, name):
        play = self.plays[name]
        payload = self.asked(play)
        self.append("outcome.as_default", payload, play["deposit"], -play["hold"], play=name)
        play["state"] = "played" if "upper" in play else "closed"

    def asked(self, play):
        """What a default play had to earn, that was not told to have paid more than its least."""
        asked = play["value"] - play["deposit"] if "upper" in play else play["floor"]
        return {"asked": asked} if asked else {}

    def confirm(self, name, reward=None):
        play = self.plays[name]
        payload = self.asked(play)
        if reward is not None:
            payload |= {"reward": reward, "told": text(reward)}
            payload |= {"mismatch": True} if reward != play["value"] else {}
        self.append("decision.confirmed", payload, play["deposit"], play=name)
        play["state"] = "played" if "upper" in play else "closed"

    def value(self, name, reward):
        """What a random default really paid."""
        play = self.plays[name]
        known = floor(play["share"] * min(reward, play["upper"]))
        payload = {"reward": reward, "told": text(reward)}
        more = known - floor(play["share"] * play["value"])
        asked = min(reward, play["upper"]) - play["value"] - more
        payload |= {"asked": asked} if asked else {}
        if not play["value"] <= reward <= play["upper"]:
            payload["breach"] = True
        self.append("default.valued", payload, more, play=name)
        play["state"] = "closed"

    def acknowledge(self, name):
        play = self.plays[name]
        rest = play["reward"] - play["high"]
        self.append("breach.acknowledged", {"play": name}, rest, play=name)
        play["state"] = "closed"

    def grant(self, lease, amount):
        self.leases[lease] = {"amount": amount, "rest": amount, "live": True}
        payload = {"lease": lease, "owner": "w", "epoch": len(self.entries) + 1}
        payload |= {"amount": amount, "expires": 1 << 60}
        self.append("lease.granted", payload, held=amount)

    def give_back(self, lease):
        row = self.leases.pop(lease)
        row["live"] = False
        payload = {"lease": lease, "unspent": row["rest"], "spent": row["amount"] - row["rest"]}
        self.append("lease.returned", payload, held=-row["rest"])

    def forfeit(self, lease):
        row = self.leases[lease]
        row["live"] = False
        payload = {"lease": lease, "unspent": row["rest"], "spent": row["amount"] - row["rest"]}
        self.append("lease.forfeited", payload, -row["rest"], -row["rest"])

    def pause(self):
        """Pause, or go on."""
        self.paused = not self.paused
        self.ran |= not self.paused
        self.append("experiment.state", {"state": "paused" if self.paused else "running"})

    def named(self, *states, explores=None):
        """The plays in these states."""
        return [
            name
            for name, play in self.plays.items()
            if play["state"] in states and explores in (None, play["explores"])
        ]


def scheduled(seed, steps=80, breaches=False):
    """A ledger of random events, each of them legal; ``breaches``: rewards below their range."""
    rng = random.Random(seed)
    low, high = rng.choice([(0, 1000), (-500, 1500), (200, 800)])
    kind, alpha = KINDS[seed % 4], rng.choice(["0.25", "0.1", "0.6"])
    writer = Writer(kind, alpha, low, high, rng.choice([0, 700]))
    for step in range(steps):
        _decide(writer, rng, f"o-{step}")
        for _ in range(rng.randrange(3)):
            _report(writer, rng, breaches)
        if rng.random() < 0.15:
            _manage(writer, rng, step)
    return writer


def _decide(writer, rng, name):
    own = None
    if writer.kind == "per_play" or (writer.kind == "constant" and rng.random() < 0.2):
        own = rng.choice(["0.51234567", "0.4", "0", ["0.25", "0.5005"]])
    hold = writer.terms(own)["hold"]
    leases = [name for name, row in writer.leases.items() if row["rest"] >= hold]
    if leases and writer.ran and rng.random() < 0.5:
        writer.decide(name, True, own, rng.choice(leases))
    else:
        free = writer.slack >= hold and not writer.paused
        writer.decide(name, free and rng.random() < 0.8, own)


def _report(writer, rng, breaches):
    name = rng.choice(list(writer.plays))
    play = writer.plays[name]
    state, explores = play["state"], play["explores"]
    low, high = play["low"] - (90 if breaches else 0), play["high"]
    if state in ("open", "forgotten") and not explores:
        draw = rng.random()
        if 0.1 <= draw < 0.3 and state == "open":
            writer.forget(name)
        else:
            writer.void(name) if draw < 0.1 else writer.confirm(name)
    elif state == "open" and rng.random() < 0.5:
        rng.choice([writer.expire, writer.void, writer.fall_back])(name)
    elif state in ("open", "expired"):
        writer.settle(name, rng.choice([low, rng.randint(low, high), high, high + 40]))
    elif state == "played":
        writer.value(name, rng.randint(play["value"], play["upper"]))
    elif state == "capped":
        writer.acknowledge(name)


def _manage(writer, rng, step):
    live = [name for name, row in writer.leases.items() if row["live"]]
    if live and rng.random() < 0.5:
        rng.choice([writer.give_back, writer.forfeit])(rng.choice(live))
    elif writer.slack > 0 and rng.random() < 0.5:
        writer.grant(f"l-{step}", rng.randint(1, writer.slack))
    elif min(writer.slack, writer.reserve) > 0 and rng.random() < 0.3:
        writer.append("endowment.withdrawn", {"amount": 1}, reserve=-1)
    elif rng.random() < 0.3:
        writer.append("endowment.granted", {"amount": 50}, reserve=50)
    elif rng.random() < 0.5:
        writer.configure(writer.kind, rng.choice(["0.25", "0.3"]), writer.low, writer.high)
    else:
        writer.pause()
