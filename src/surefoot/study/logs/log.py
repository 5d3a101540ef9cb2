"""A log of one's own: which arm was played, what it paid, how likely, and in what context."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot import _logs
from surefoot.errors import InvalidInput, missing_extra
from surefoot.study.logs import columns as cells
from surefoot.study.logs.bandit_feedback import of_feedback, to_feedback
from surefoot.study.logs.columns import USUAL, Place, Spelling, Wanted
from surefoot.study.logs.csv_file import read_csv
from surefoot.study.logs.dsjson import COST, PROPENSITY, is_dsjson, read_dsjson
from surefoot.study.logs.json_lines import objects, read_json_lines
from surefoot.study.logs.text_file import COMPRESSED, FOREIGN, text_lines

if TYPE_CHECKING:
    import polars as pl

__all__ = ["USUAL", "Log", "Spelling", "label", "read", "read_log", "within"]

_PARQUET = b"PAR1"
_KINDS = "CSV, Parquet or JSON lines"


@dataclass(frozen=True, eq=False)
class Log:
    """A log that was read: a row a play, each cell checked.

    ``frame``: columns ``arm`` (ints or texts), ``reward``, and where they were asked for
    ``propensity``, the probability with which the arm was chosen, and ``context``, an array of
    floats. ``place(0)`` says where the first row is. ``features``: what the numbers of a context
    are called. ``notes``: what was left out or pooled. ``log[name]`` is a column of it, or one
    feature.

    >>> log = read_log({"arm": ["a", "b"], "reward": [1, 0], "age": [30, 41]}, context=["age"])
    >>> log["age"].to_list(), log.arms, log.place(1)
    ([30.0, 41.0], ('a', 'b'), 'row 2 of the log')
    """

    frame: pl.DataFrame
    place: Place
    features: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    name: str = "log"
    """Of the file it was read from."""

    def __len__(self) -> int:
        return len(self.frame)

    def __getitem__(self, name: str) -> pl.Series:
        if name not in self.frame.columns and name in self.features:
            return self.frame["context"].arr.get(self.features.index(name))
        return self.frame[name]

    @property
    def columns(self) -> list[str]:
        """All that ``log[name]`` gives."""
        return [*self.frame.columns, *self.features]

    @property
    def arms(self) -> tuple[Any, ...]:
        """The arms that the log has, in the order of their labels."""
        return tuple(self.frame["arm"].unique().sort().to_list())

    def to_bandit_feedback(self) -> dict[str, Any]:
        """The log as the dict that Open Bandit Pipeline (obp) works on.

        ``action`` numbers the arms in the order of ``log.arms``. obp asks for a context: where the
        log has none, each is the number 1; without propensities ``pscore`` is None.

        >>> feedback = read_log({"arm": ["a", "b"], "reward": [1, 0]}).to_bandit_feedback()
        >>> feedback["n_actions"], feedback["action"].tolist(), feedback["pscore"]
        (2, [0, 1], None)
        """
        return to_feedback(self.frame, self.arms)


def read_log(
    source: Any,
    arm: str | None = None,
    reward: str | None = None,
    propensity: str | None = None,
    context: str | Iterable[str] | None = None,
    *,
    delimiter: str | None = None,
    decimal: str = ".",
    words: tuple[str, str] = ("true", "false"),
    missing: float | None = None,
    worst_cost: float | None = None,
) -> Log:
    """Read a log from a file or a table: a row a play, with its arm and its reward.

    ``source``: the path of a CSV, Parquet, JSON lines or dsjson (Vowpal Wabbit) file, whichever
    its content shows, CSV and JSON also packed by gzip or zstd; a polars or pandas frame, a polars
    LazyFrame, a DuckDB relation, a dict of columns; obp's ``bandit_feedback``; or a ``Log``.

    ``arm``, ``reward``, ``propensity``: names of columns; by default "arm", "reward" and none, in
    dsjson the action's tag, ``_label_cost`` and ``_label_probability``, in bandit feedback
    "action", "reward" and "pscore". ``context``: columns of numbers, or one of lists of numbers.
    In JSON a name may be a path, ``user.age``.

    ``delimiter``, ``decimal``, ``words``: how a text spells columns, numbers and rewards of 1 and
    0. ``missing``: the reward of a row that has none. ``worst_cost``: the rewards are costs, of
    which this is the highest there can be; a reward is the worst cost less the cost. In dsjson,
    where all are costs, it is 0 unless given, and has to be given if one is above 0.

    Raises InvalidInput, which names the line or row and the column of what cannot be.

    >>> read_log({"page": ["a", "b"], "paid": [3, 0]}, arm="page", reward="paid").frame.rows()
    [('a', 3), ('b', 0)]
    """
    spelling = Spelling(delimiter, decimal, words, missing, worst_cost)
    return read(source, arm, reward, spelling, propensity, context)


def read(
    source: Any,
    arm: str | None = None,
    reward: str | None = None,
    spelling: Spelling = USUAL,
    propensity: str | None = None,
    context: str | Iterable[str] | None = None,
) -> Log:
    """As ``read_log``, with all that a text spells in one.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "log.csv"
    >>> _ = file.write_text("carrier,ok\\nUA,1\\nAA,0\\n", encoding="utf-8")
    >>> log = read(file, arm="carrier", reward="ok")
    >>> log.frame.rows(), log.place(1).replace(str(file.parent), "there")
    ([('UA', 1.0), ('AA', 0.0)], 'line 3 of there/log.csv')
    """
    try:
        import polars  # noqa: F401, ICN001
    except ImportError:
        raise missing_extra("study", "polars") from None
    if isinstance(source, Log):
        return source
    if spelling.decimal not in (".", ","):
        raise InvalidInput(f"--decimal {spelling.decimal} must be a point or a comma")
    several = (context,) if isinstance(context, str) else tuple(context or ())
    wanted = Wanted(arm, reward, propensity, several)
    if isinstance(source, str | PathLike):
        return _from_file(Path(source), wanted, spelling)
    return _from_table(source, wanted, spelling)


def label(given: Any, frame: pl.DataFrame) -> Any:
    """The arm of a log that is written as ``given`` would be; that itself if there is none.

    >>> import polars as pl
    >>> label("7", pl.DataFrame({"arm": [7, 8]})), label("x", pl.DataFrame({"arm": [7, 8]}))
    (7, 'x')
    >>> label(9.5, pl.DataFrame({"arm": ["12", "9.5"]}))
    '9.5'
    """
    try:
        column = cells.of_values([given], "default", _logs.row_place)
        text = str(cells.labels(column, _logs.row_place)[0])
    except InvalidInput:
        text = str(given)
    return next((one for one in frame["arm"].drop_nulls().unique() if str(one) == text), given)


def within(frame: pl.DataFrame, low: float, high: float, place: Place = _logs.row_place) -> None:
    """Raise InvalidInput unless all rewards lie in the range that ``--reward-range`` claims.

    >>> import polars as pl
    >>> within(pl.DataFrame({"reward": [1.0, 2.5]}), 0, 2)
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: the reward in row 2 is 2.5, outside --reward-range 0 2; widen it \
or correct the log
    """
    import polars as pl

    claim = f"--reward-range {low:.10g} {high:.10g}"
    if not low < high:
        raise InvalidInput(f"{claim} must give the lower bound first, then a higher one")
    rewards = frame["reward"].cast(pl.Float64)
    for row in ((rewards < low) | (rewards > high)).arg_true()[:1]:
        raise InvalidInput(
            f"the reward in {place(row)} is {rewards[row]:.10g}, outside {claim}; widen it or "
            "correct the log"
        )


def _from_file(path: Path, wanted: Wanted, spelling: Spelling) -> Log:
    import polars as pl

    try:
        return replace(_read_file(path, wanted, spelling), name=path.name)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InvalidInput(f"cannot read {path}: {reason}") from None
    except pl.exceptions.NoDataError:
        raise InvalidInput(f"{path} is empty; give a log with a header and a row a play") from None
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0].rstrip(".")
        if "invalid utf" in reason:
            raise InvalidInput(f"{path} is not in UTF-8; save it in UTF-8") from None
        raise InvalidInput(f"cannot read {path} as {_KINDS}: {reason}") from None


def _read_file(path: Path, wanted: Wanted, spelling: Spelling) -> Log:
    with path.open("rb") as file:
        head = file.read(4096)
    for start, packer in FOREIGN.items():
        if head.startswith(start):
            raise InvalidInput(f"{path} is packed by {packer}; unpack it, or pack it by gzip")
    if b"\0" in head and not head.startswith((_PARQUET, *COMPRESSED)):
        raise InvalidInput(f"{path} holds NUL bytes and is not {_KINDS}; save it in UTF-8")
    if head.startswith(_PARQUET):
        return _parquet(path, wanted.named(), spelling)
    lines = text_lines(path, "CSV or JSON lines", 1_000)
    first = next((text for text in (line.lstrip("\ufeff \t\r") for line in lines) if text), "")
    if not first.startswith(("{", "[")):
        return _finish(*read_csv(path, wanted.named(), spelling), wanted.named(), spelling)
    if spelling.delimiter is not None:
        raise InvalidInput(f"--delimiter is for a CSV; {path} is JSON")
    if not is_dsjson(next(objects(path)).value):
        named = wanted.named()
        return _finish(*read_json_lines(path, named), named, spelling)
    if wanted.propensity not in (None, PROPENSITY):
        raise InvalidInput(
            f"{path} is dsjson, whose propensities are {PROPENSITY!r}; leave propensity= "
            "(--propensity-column) out"
        )
    frame, place, notes = read_dsjson(path, wanted)
    known = frame[PROPENSITY].null_count() < len(frame)
    named = Wanted("arm", "reward", PROPENSITY if known else None, wanted.context)
    frame = _of_costs(frame, wanted.reward or COST, spelling, place)
    return _finish(frame, place, named, spelling._replace(worst_cost=None), notes)


def _of_costs(frame: pl.DataFrame, name: str, spelling: Spelling, place: Place) -> pl.DataFrame:
    """Costs as rewards; without a worst cost none may be above 0."""
    costs = cells.rewards(frame["reward"].alias(name), spelling, place)
    if spelling.worst_cost is None:
        for row in (costs > 0).arg_true()[:1]:
            raise InvalidInput(
                f"{name!r} in {place(row)} is {costs[row]:g}, a cost above 0; say the highest "
                "there can be with worst_cost= (--worst-cost), 1 say: a reward is that less the "
                "cost"
            )
    return frame.with_columns(_rewards(costs, spelling.worst_cost or 0.0, place).alias("reward"))


def _rewards(costs: pl.Series, worst: float, place: Place) -> pl.Series:
    import polars as pl

    for row in (costs > worst).arg_true()[:1]:
        raise InvalidInput(
            f"{costs.name!r} in {place(row)} is {costs[row]:g}, above --worst-cost {worst:g}; give "
            "the highest cost there can be"
        )
    return pl.Series(worst - costs.cast(pl.Float64).to_numpy())


def _parquet(path: Path, wanted: Wanted, spelling: Spelling) -> Log:
    import polars as pl

    if spelling.delimiter is not None:
        raise InvalidInput(f"--delimiter is for a CSV; {path} is Parquet")
    known = pl.read_parquet_schema(path)
    for name, way in wanted.names().items():
        if name not in known:
            has = ", ".join(map(repr, known))
            raise InvalidInput(
                f"{path} has no column {name!r}; its columns are {has}: choose with {way}"
            )
    frame = pl.read_parquet(path, columns=[*wanted.names()], glob=False)
    return _finish(frame, lambda row: f"{_logs.row_place(row)} of {path}", wanted, spelling)


def _from_table(source: Any, wanted: Wanted, spelling: Spelling) -> Log:
    import polars as pl

    note = ""
    if _logs.is_bandit_feedback(source):
        source, wanted, note = of_feedback(source, wanted)
    arrow = hasattr(source, "__arrow_c_stream__") and hasattr(source, "fetchall")
    wanted, table = wanted.named(), pl.DataFrame(source) if arrow else _logs.as_table(source)

    def place(row: int) -> str:
        return f"{_logs.row_place(row)} of the log"

    found = []
    for name in wanted.names():
        if isinstance(table, pl.DataFrame) and name in table.columns:
            found.append(table[name])
        else:
            found.append(cells.of_values(_logs.column(table, name, "read_log"), name, place))
    if len({*map(len, found)}) > 1:
        sizes = ", ".join(f"{column.name!r} {len(column)}" for column in found)
        raise InvalidInput(f"the columns of the log have different lengths: {sizes}")
    frame = pl.DataFrame(found)
    return _finish(frame, place, wanted, spelling, (note,) if note else ())


def _finish(
    frame: pl.DataFrame,
    place: Place,
    wanted: Wanted,
    spelling: Spelling,
    notes: tuple[str, ...] = (),
) -> Log:
    """The log of columns as they came."""
    import polars as pl

    arm, reward = (str(name) for name in (wanted.arm, wanted.reward))
    if frame.is_empty():
        raise InvalidInput("the log is empty; give a row a play")
    labels = cells.labels(frame[arm], place)
    paid = cells.rewards(frame[reward], spelling, place)
    if spelling.worst_cost is not None:
        paid = _rewards(paid, spelling.worst_cost, place)
    columns = [labels.alias("arm"), paid.alias("reward")]
    if wanted.propensity is not None:
        found = cells.propensities(frame[wanted.propensity], spelling, place)
        columns.append(found.alias("propensity"))
    names: tuple[str, ...] = ()
    if wanted.context:
        context, names = cells.features([frame[n] for n in wanted.context], spelling, place)
        columns.append(context)
    return Log(pl.DataFrame(columns), place, names, notes)
