"""The built-in cases hold the survey's figures; the vendored table is the one its licence names."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from importlib import resources
from typing import Any

import polars as pl
import pytest

from surefoot.errors import InvalidInput, MissingExtra, SurefootError
from surefoot.study.logs import flights

DATA = resources.files("surefoot.study").joinpath("data")
VENDORED = DATA.joinpath("flights.parquet").read_bytes()
LICENCE = DATA.joinpath("DATA_LICENSES.md").read_text(encoding="utf-8")

CHICAGO = {
    "UA": (6984, 5201),
    "AA": (6059, 4739),
    "MQ": (2276, 1461),
    "9E": (1056, 681),
    "B6": (905, 617),
}
ATLANTA = {"DL": (10571, 8336), "FL": (2337, 1487), "MQ": (2322, 1531), "EV": (1764, 1060)}

CHICAGO_RATES = {"UA": 0.745, "AA": 0.782, "B6": 0.682, "9E": 0.645, "MQ": 0.642}
ATLANTA_RATES = {"DL": 0.789, "MQ": 0.659, "FL": 0.636, "EV": 0.601}


def counts(case: str) -> dict[str, tuple[int, int]]:
    """Flights and on-time flights of each arm."""
    grouped = flights.load(case).group_by("arm").agg(pl.len(), pl.col("reward").sum())
    return {arm: (n, on_time) for arm, n, on_time in grouped.iter_rows()}


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return pl.read_parquet(VENDORED)


@pytest.mark.parametrize(("case", "expected"), [("chicago", CHICAGO), ("atlanta", ATLANTA)])
def test_flights_and_on_time_flights_of_each_arm(
    case: str, expected: dict[str, tuple[int, int]]
) -> None:
    assert counts(case) == expected


@pytest.mark.parametrize(
    ("case", "expected"), [("chicago", CHICAGO_RATES), ("atlanta", ATLANTA_RATES)]
)
def test_rates_are_those_of_the_survey(case: str, expected: dict[str, float]) -> None:
    assert {arm: round(on_time / n, 3) for arm, (n, on_time) in counts(case).items()} == expected


@pytest.mark.parametrize("case", flights.CASES, ids=lambda case: case.name)
def test_the_default_is_the_incumbent(case: flights.Case) -> None:
    flown = {arm: n for arm, (n, _) in counts(case.name).items()}
    assert max(flown, key=lambda arm: flown[arm]) == case.default


@pytest.mark.parametrize(("case", "best"), [("chicago", "AA"), ("atlanta", "DL")])
def test_the_default_is_the_best_arm_only_in_the_negative_case(case: str, best: str) -> None:
    rates = {arm: on_time / n for arm, (n, on_time) in counts(case).items()}
    assert max(rates, key=lambda arm: rates[arm]) == best
    assert (flights.find(case).default == best) == (case == "atlanta")


@pytest.mark.parametrize(
    ("case", "dropped"),
    [(flights.CHICAGO, {"EV": 2, "OO": 1}), (flights.ATLANTA, {"UA": 103, "9E": 59, "WN": 59})],
    ids=lambda value: value.name if isinstance(value, flights.Case) else "",
)
def test_only_carriers_with_few_flights_are_left_out(
    table: pl.DataFrame, case: flights.Case, dropped: dict[str, int]
) -> None:
    flown = dict(table.filter(dest=case.dest).group_by("carrier").len().iter_rows())
    assert {arm: n for arm, n in flown.items() if arm not in counts(case.name)} == dropped


def test_columns_are_arm_and_a_reward_of_0_or_1() -> None:
    log = flights.load("chicago")
    assert dict(log.schema) == {
        "arm": pl.String(), "reward": pl.Int64(), "propensity": pl.Float64()
    }  # fmt: skip
    assert set(log.get_column("reward")) == {0, 1}


def test_rows_keep_the_order_of_the_table(table: pl.DataFrame) -> None:
    route = table.filter(pl.col("dest") == "ORD", pl.col("carrier").is_in(list(CHICAGO)))
    log = flights.load(flights.CHICAGO)
    assert log.get_column("arm").to_list() == route.get_column("carrier").to_list()
    assert log.get_column("reward").to_list() == route.get_column("ok").to_list()


def test_the_table_is_the_whole_year_in_the_order_of_the_schedule(table: pl.DataFrame) -> None:
    assert table.columns == ["month", "day", "hour", "origin", "dest", "carrier", "ok"]
    assert len(table) == 336_776
    assert table.get_column("ok").sum() == 249_716
    schedule = table.select("month", "day", "hour")
    assert schedule.equals(schedule.sort("month", "day", "hour"))
    assert len(schedule.select("month", "day").unique()) == 365


def test_the_table_is_the_file_its_licence_names() -> None:
    stated = re.search(r"SHA-256 \| `([0-9a-f]{64})`", LICENCE)
    assert stated is not None
    assert hashlib.sha256(VENDORED).hexdigest() == stated.group(1)
    assert f"{len(VENDORED):,} bytes" in LICENCE


def test_the_table_stays_small() -> None:
    assert len(VENDORED) <= 1_000_000


@pytest.mark.parametrize("unknown", ["boston", "Chicago", "", None, ["chicago"]])
def test_an_unknown_case_is_named_with_the_remedy(unknown: Any) -> None:
    with pytest.raises(InvalidInput, match=re.escape(repr(unknown))) as caught:
        flights.load(unknown)
    assert "'chicago' or 'atlanta'" in str(caught.value)
    assert isinstance(caught.value, SurefootError)
    assert isinstance(caught.value, ValueError)


def test_naming_the_cases_loads_no_polars() -> None:
    probe = "import sys, surefoot.study.logs.flights as f; f.find('atlanta'); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", probe], check=True, capture_output=True, text=True
    )
    assert "surefoot.study.logs.flights" in loaded.stdout.split()
    assert "polars" not in loaded.stdout.split()


def test_without_polars_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[study\]'"):
        flights.load("chicago")
