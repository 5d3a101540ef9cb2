"""The standing of an account's experiments and leases, counted from its entries.

The entries may come from a store or an export, so a page about a ledger needs neither a ``Live``
nor the ledger's own tables.
"""

from __future__ import annotations

from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.live.entries import Entry
from surefoot.live.fold import counts_of_entry

COUNTED = ("explorations", "open", "expired", "default_plays", "unreported")

NOTED = ("capped", "mismatches", "faults")
"""Counts of what should not be; shown where there is any."""

_SHOWN = {"pending": "open"}
_REPORTS = ("decision.confirmed", "outcome.", "default.")


class Standings:
    """A fold of an account's entries; it counts as ``Live.account`` does, amounts in units.

    ``of`` says of each experiment, by name: ``default``, ``alpha``, ``margin``, ``shadow`` and
    ``learn_missing`` in force, what has to be available before it can explore where its default
    plays bring nothing (``needed``; else 0), whether it is ``paused``, what it ``earned`` and what
    was ``required`` of it, and how many ``explorations``, ``open``, ``expired``, ``default_plays``,
    ``unreported``, ``capped`` and ``mismatches`` there are, and default plays that were so
    because the policy failed (``faults``). ``leases`` has how many leases are
    ``live`` and the amount ``held`` by them. All of it is plain JSON.

    Only the open explorations and the live leases are kept in memory, so entries can be streamed,
    and later ones added as they come.

    Holds when: every entry of the account is taken, in order. Does not hold when: one was edited;
    ``surefoot verify`` finds that.

    >>> import surefoot as sf
    >>> from surefoot.live import MemoryStore
    >>> store = MemoryStore()
    >>> agent = sf.GenCB(sf.UCB1(n_arms=2), sf.RewardFloor(default=0.5, alpha=0.2), seed=0)
    >>> live = sf.Live(agent, store, "checkout")
    >>> _ = live.update(live.select())
    >>> standings = Standings()
    >>> for entry in store.entries("checkout"):
    ...     standings.take(entry)
    >>> standings.of["checkout"]["default_plays"], standings.leases
    (1, {'live': 0, 'held': 0})
    """

    def __init__(self) -> None:
        self.of: dict[str, JsonObject] = {}
        """By experiment: its floor in force, earned and required, and the counts."""
        self._open: set[str | None] = set()
        self._leases: dict[str, int] = {}
        """What is left of each live lease."""

    def take(self, entry: Entry) -> None:
        """Take the next entry of the account; InvalidInput for one that cannot be read."""
        try:
            self._take(entry, entry.kind, entry.payload)
        except (LookupError, TypeError) as error:
            raise InvalidInput(
                f"entry {entry.seq} ({entry.kind}) cannot be read ({type(error).__name__}: "
                f"{error}); verify the ledger"
            ) from None

    def _take(self, entry: Entry, kind: str, payload: JsonObject) -> None:
        if kind in ("experiment.opened", "experiment.configured"):
            self._configure(entry.experiment, payload["floor"], payload["config"]["settings"])
        elif kind == "experiment.state":
            self.of[entry.experiment]["paused"] = payload["state"] == "paused"
        elif kind == "lease.granted":
            self._leases[payload["lease"]] = payload["amount"]
        elif kind in ("lease.returned", "lease.forfeited"):
            self._leases.pop(payload["lease"], None)
        elif kind == "decision.held":
            self._open.add(entry.play)
            if payload.get("lease") in self._leases:
                self._leases[payload["lease"]] -= payload["hold"]
        counts = counts_of_entry(kind, payload, entry.play in self._open)
        if kind == "decision.defaulted" and "fault" in payload:
            counts = (*counts, ("faults", 1))
        if kind.startswith(_REPORTS):
            asked = payload.get("asked", 0)
            counts = (*counts, ("required", asked), ("earned", asked))
        if counts or entry.d_posted:
            of = self.of[entry.experiment]
            of["earned"] += entry.d_posted
            for name, change in counts:
                if (shown := _SHOWN.get(name, name)) in of:
                    of[shown] += change
        if ("pending", -1) in counts:
            self._open.discard(entry.play)

    def _configure(self, experiment: str, floor: JsonObject, live: JsonObject) -> None:
        fresh = {**dict.fromkeys(("earned", "required", *COUNTED, *NOTED), 0), "paused": False}
        terms = {name: floor[name] for name in ("default", "alpha")}
        terms |= {"margin": floor.get("margin", "0"), "needed": needed(floor)}
        terms |= {"shadow": live["shadow"], "learn_missing": live.get("learn_missing", "skip")}
        self.of[experiment] = {**terms, **self.of.get(experiment, fresh), **terms}

    @property
    def leases(self) -> dict[str, int]:
        """How many leases are live, and what they hold for plays that have no entry yet."""
        return {"live": len(self._leases), "held": sum(self._leases.values())}


def needed(floor: JsonObject) -> int:
    """What has to be available before a play can explore, if default plays bring nothing; else 0.

    A reserve may come later, or another experiment may save for it: so nothing is refused.

    >>> needed({"known": "constant", "hold": 7, "deposit": 0})
    7
    >>> needed({"known": "per_play", "alpha": "0"})
    1
    """
    if floor["known"] == "per_play":
        gives_up = any(float(floor.get(name, 0)) for name in ("alpha", "margin"))
        return int(not gives_up and floor.get("target") is None)
    nothing = floor["known"] == "constant" and not floor["deposit"]
    return int(floor["hold"]) if nothing else 0
