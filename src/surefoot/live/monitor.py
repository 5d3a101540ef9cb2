"""The monitor: it tests whether default plays pay their declared value.

A default of known value counts as that value, whatever it paid. If it pays less, every deposit is
overstated. The books cannot show this; the rewards reported with default plays can.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

from surefoot._exact import Unit, fraction
from surefoot._types import JsonObject, Number
from surefoot.errors import InvalidInput
from surefoot.live.entries import Entry
from surefoot.live.shortfall import Shortfall, Stretch

DELTA = 0.01
"""The usual probability of a false alarm: a default that pays its value is called below."""


class DefaultReport(NamedTuple):
    """The test of a default's declared value, from its rewards since the value last changed."""

    told: int
    """How many default plays of a known value were reported with their reward."""
    untold: int
    """How many were reported without a reward; the test leaves them out."""
    of_interval: int
    """How many were of an interval, which is not tested: below its l a reward is a breach."""
    mean: float | None
    """The mean of the reported rewards, each cut to the range; None: none was reported."""
    declared: float | None
    """The mean of the values declared for these plays."""
    clipped: int
    """How many rewards lay outside the range, and count as its nearer end."""
    evidence: float
    """ln W of ``Shortfall``, now."""
    p_value: float
    """At most delta with probability delta if the declared values are true, at any time."""
    alarm: bool
    """Whether p_value <= delta: the mean is, or was, below the declared one."""
    worst: Stretch | None
    """The stretch of rewards with the most evidence; None: there was never any."""
    since: int | None = None
    """The entry that last changed the default or the range; only later plays count."""

    def __str__(self) -> str:
        """One line, as ``surefoot status`` prints it."""
        if not self.told:
            if self.of_interval and not self.untold:
                return "an interval, whose ends are checked at every play; its mean is not tested"
            since = "" if self.since is None else f" since entry {self.since:,} changed it"
            return f"no reward was told with its plays{since}, so nothing can be said of its value"
        since = "" if self.since is None else f" since entry {self.since:,}"
        text = f"{self.told:,} reward{'s' * (self.told > 1)} told{since}, {_means(self)}: "
        if not self.alarm or self.worst is None:
            return f"{text}in line, p = {self.p_value:.1g}"
        where = f"rewards {self.worst.first:,} to {self.worst.last:,}: {_means(self.worst)}"
        return f"{text}below, p = {self.p_value:.1g} ({where})"

    def plain(self) -> JsonObject:
        """The same as plain JSON."""
        return {**self._asdict(), "worst": self.worst and self.worst._asdict()}


def _means(of: Any) -> str:
    return f"mean {of.mean:,.4g} of declared {of.declared:,.4g}"


class DefaultMonitor:
    """A fold of one experiment's entries: the test of its default's declared value.

    ``delta``: the probability of a false alarm. A change of the default or of the range of rewards
    starts the test anew; plays decided before it are left out from there on. Kept in memory are
    the test and the default plays not yet reported, never what has been.

    Holds when: as ``Shortfall``, for the plays that the default got. Does not hold when: what a
    default play paid decides whether its reward is reported, as when only good ones are.
    """

    def __init__(self, experiment: str, delta: Number = DELTA) -> None:
        self.experiment = experiment
        self.delta = fraction(
            delta, "delta", "0.01 gives one false alarm in a hundred tests", float
        )
        self._test = Shortfall()
        self._unit = Unit(0)
        self._known: tuple[Any, ...] = ()
        self._since = 0
        """The version of the configuration that the test began with."""
        self._changed: int | None = None
        """The entry of that version, if it is a change."""
        self._waiting: dict[str | None, int | None] = {}
        self._untold = self._of_interval = 0

    def take(self, entry: Entry) -> None:
        """Take the next entry of the account; InvalidInput for one that cannot be read."""
        if entry.experiment != self.experiment:
            return
        try:
            self._take(entry)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise InvalidInput(
                f"entry {entry.seq} ({entry.kind}) cannot be read ({type(error).__name__}: "
                f"{error}); verify the ledger"
            ) from None

    def _take(self, entry: Entry) -> None:
        payload = entry.payload
        match entry.kind:
            case "experiment.opened" | "experiment.configured":
                self._configure(payload["floor"], entry)
            case "decision.defaulted" if entry.config_version >= self._since:
                self._waiting[entry.play] = None if "upper" in payload else payload["value"]
            case "decision.voided" | "default.expired":
                self._waiting.pop(entry.play, None)
            case "decision.confirmed" if "late" in payload:
                if payload["version"] >= self._since:
                    self._confirmed(None if "upper" in payload else payload["value"], payload)
            case "decision.confirmed" if entry.play in self._waiting:
                self._confirmed(self._waiting.pop(entry.play), payload)

    def _configure(self, floor: JsonObject, entry: Entry) -> None:
        known = floor["default"], floor["low"], floor["high"]
        if known == self._known:
            return
        self._changed = entry.seq if self._known else None
        self._known, self._since = known, entry.config_version
        self._unit = Unit(floor["places"])
        # The books have r_max rounded down; with one unit more no reward within the range is cut.
        ends = self._unit.decimal(floor["low"]), self._unit.decimal(floor["high"] + 1)
        self._test = Shortfall(ends)
        self._waiting.clear()
        self._untold = self._of_interval = 0

    def _confirmed(self, value: int | None, payload: JsonObject) -> None:
        if value is None:
            self._of_interval += 1
        elif "reward" not in payload:
            self._untold += 1
        else:  # the exact text: in units it is rounded down, and would fall short of a true value
            self._test.update(Decimal(payload["told"]), self._unit.decimal(value))

    def report(self) -> DefaultReport:
        """The result so far."""
        test = self._test
        return DefaultReport(
            told=test.n, untold=self._untold, of_interval=self._of_interval, mean=test.mean,
            declared=test.declared, clipped=test.clipped, evidence=test.evidence,
            p_value=test.p_value, alarm=test.below(self.delta), worst=test.worst,
            since=self._changed,
        )  # fmt: skip


def watch(entries: Iterable[Entry], experiment: str, delta: Number = DELTA) -> DefaultReport:
    """Test the default of one experiment by an account's entries.

    >>> import surefoot as sf
    >>> from surefoot.live import MemoryStore
    >>> store = MemoryStore()
    >>> floor = sf.RewardFloor(default=0.7, alpha=0.05)
    >>> live = sf.Live(sf.GenCB(sf.UCB1(n_arms=2), floor), store, shadow=True)
    >>> for visit in range(200):
    ...     _ = live.update(live.select(), reward=0.6)
    >>> report = watch(store.entries("default"), "default")
    >>> report.told, report.alarm
    (200, True)
    """
    monitor = DefaultMonitor(experiment, delta)
    for entry in entries:
        monitor.take(entry)
    return monitor.report()


class Monitors:
    """A ``DefaultMonitor`` for each experiment of an account."""

    def __init__(self, delta: Number = DELTA) -> None:
        self.delta = delta
        self.of: dict[str, DefaultMonitor] = {}

    def take(self, entry: Entry) -> None:
        """Take the next entry of the account."""
        if entry.kind == "experiment.opened":
            self.of.setdefault(entry.experiment, DefaultMonitor(entry.experiment, self.delta))
        if entry.experiment in self.of:
            self.of[entry.experiment].take(entry)

    def reports(self) -> dict[str, DefaultReport]:
        """The results so far, by experiment."""
        return {name: monitor.report() for name, monitor in self.of.items()}
