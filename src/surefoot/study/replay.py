"""A conservative backtest: guarded and unguarded, side by side, on a log's own rewards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from surefoot.agents import GenCB, Plain
from surefoot.environments import ReplayLog
from surefoot.errors import InvalidInput
from surefoot.floors import RewardFloor
from surefoot.floors.plays import Terms
from surefoot.policies import KLUCB, UCB1
from surefoot.simulation import Plan, Result
from surefoot.simulation.checks import positive
from surefoot.simulation.loop import Trace
from surefoot.study import flights, log
from surefoot.study.conduct import Step, play
from surefoot.theory import self_funding

GUARDED: Final = "guarded"
UNGUARDED: Final = "unguarded"
JOINED: Final = "unguarded, default among its arms"

AGENTS: Final = (GUARDED, UNGUARDED, JOINED)

POLICIES: Final = {"klucb": ("KL-UCB", KLUCB), "ucb1": ("UCB1", UCB1)}

GIVEN: Final = "given"
"""A reward range that the user vouches for."""
MAX_ARMS: Final = 1_000
"""A column with more labels than this is hardly the arm, and its replay would not end."""
MAX_RUNS: Final = 10_000
"""All runs are held in memory, about 70 kB each."""
FEW_ROWS: Final = 30
"""Arms with fewer rows are named: resampling a handful shows the handful, not the arm."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is replayed: a frame of ``arm`` and ``reward``, its default, and how it is called."""

    frame: Any
    default: Any
    title: str
    source: str
    reward: str = "reward"
    play: str = "play"
    name: str = "log"
    """What its folder is called after."""
    alpha: float = 0.05
    """What its owner is willing to lose, unless said otherwise."""
    place: Callable[[int], str] = log.row_place
    """Where a row of the frame is in what it was read from."""


def built_in(name: str, default: str | None = None) -> Subject:
    """A built-in real case as the subject of a backtest; ``default`` replaces the incumbent.

    >>> subject = built_in("chicago")
    >>> subject.default, subject.reward
    ('UA', 'on-time flights')
    """
    case = flights.find(name)
    frame = flights.load(case)
    incumbent = case.default if default is None else default
    names = case.title, case.sentence, "on-time flights", "flight", name
    return Subject(frame, incumbent, *names, alpha=case.alpha)


def own(
    path: str | Path,
    default: str | None,
    arm_column: str = "arm",
    reward_column: str = "reward",
    spelling: log.Spelling = log.USUAL,
) -> Subject:
    """A log of one's own as the subject of a backtest; ``default`` is its label as text.

    Raises InvalidInput as ``log.read`` does, and where no default is named.
    """
    frame, place = log.read(path, arm_column, reward_column, spelling)
    if default is None:
        arms = listed(frame["arm"].drop_nulls().unique().sort().to_list())
        raise InvalidInput(
            f"name the default, the arm in use today, with --default; {path} has {arms}"
        )
    name = Path(path).name
    title = name if len(name) <= 40 else f"{name[:39]}…"
    source = f"{name}, {len(frame):,} rows."
    plain = name.removesuffix(".gz").removesuffix(".zst")
    arm = log.label(default, frame)
    return Subject(frame, arm, title, source, name=Path(plain).stem, place=place)


class Backtest:
    """Three agents over one policy, on each arm's logged rewards drawn again, with replacement.

    - ``GUARDED``: GenCB, the default competing; a default play is credited at its known value,
      the default's logged mean.
    - ``UNGUARDED``: the same policy over the same arms, on the same noise, without a guard.
    - ``JOINED``: the same policy unguarded, the default one more of its arms, paying its own logged
      rewards: what one would deploy if there were no guard.

    ``alpha``: None takes the subject's. ``horizon``: plays a run; None takes one for each row of
    the log. ``reward_range``: sure bounds of a reward; None takes [0, 1] if all rewards lie in it,
    else the log's own least and greatest.
    Raises InvalidInput where log and settings do not fit.

    >>> log = {"arm": ["a", "b"] * 50, "reward": [0, 1] * 25 + [1, 1] * 25}
    >>> backtest = Backtest(Subject(log, "a", "Try", "A log."), alpha=0.1, runs=2)
    >>> backtest.horizon, backtest.floor.default, backtest.environment.arms
    (100, Decimal('0.500000000'), ('b',))

    Holds when: as ``ReplayLog``; the guarantee as ``GenCB``. Does not hold when: one reads it as a
    causal claim: the log shows what each arm paid where it was used, not what it would have paid
    elsewhere.
    """

    def __init__(
        self,
        subject: Subject,
        alpha: Any = None,
        policy: str = "klucb",
        runs: int = 100,
        horizon: int | None = None,
        seed: Any = 0,
        reward_range: tuple[Any, Any] | None = None,
    ) -> None:
        if policy not in POLICIES:
            known = " or ".join(map(repr, POLICIES))
            raise InvalidInput(f"policy {policy!r} is unknown; choose {known}")
        self.subject, self.policy, self.runs = subject, policy, positive(runs, "runs")
        if runs > MAX_RUNS:
            raise InvalidInput(f"runs = {runs:,} is above {MAX_RUNS:,}; the spread needs no more")
        self.environment = ReplayLog(subject.frame, subject.default, reward_range=reward_range)
        joined = self.environment.with_default()
        if joined.n_arms > MAX_ARMS:
            raise InvalidInput(
                f"the log has {joined.n_arms:,} arms, a replay takes at most {MAX_ARMS:,}; "
                "is that column the arm?"
            )
        self.range_is, bounds = _bounds(joined, reward_range)
        self.value = _earning(self.environment.default_mean, subject.default)
        self.floor = RewardFloor(self.value, subject.alpha if alpha is None else alpha, bounds)
        explorable(self.floor)
        self.rows = sum(joined.rows)
        self.horizon = self.rows if horizon is None else horizon
        make = POLICIES[policy][1]
        arms = self.environment.arms
        playing = {
            GUARDED: GenCB(make(arms=arms), self.floor, default_competes=True),
            UNGUARDED: Plain(make(arms=arms), self.floor),
        }
        alone = {JOINED: Plain(make(arms=joined.arms), self.floor)}
        paired = Plan(playing, self.environment, self.horizon, seed)
        self.seed = paired.entropy
        self.plans = paired, Plan(alone, joined, self.horizon, self.seed)
        self.results: list[Result] = []

    @property
    def least(self) -> Decimal:
        """The floor of one play, (1-alpha) times the default's value, in exact units."""
        return self.floor.unit.decimal(self.floor.terms().floor)

    @property
    def first_exploration(self) -> int:
        """The first play at which the guarded agent may explore, however lucky it is.

        As many deposits come before it as one exploration can lose.
        """
        terms = self.floor.terms()
        return self_funding.first_play(terms.hold, terms.deposit)

    @property
    def shown(self) -> str:
        """The default's label, cut where it would not fit a chart."""
        label = " ".join(str(self.subject.default).split())
        return label if len(label) <= 12 else label[:11] + "…"

    @property
    def arms(self) -> list[dict[str, Any]]:
        """Label, rows and mean of each arm of the log, the default's first."""
        environment = self.environment
        default = (self.subject.default, self.rows - sum(environment.rows), float(self.value))
        others = zip(environment.arms, environment.rows, environment.means.tolist(), strict=True)
        return [
            {"arm": arm, "rows": rows, "mean": mean, "is_default": arm == self.subject.default}
            for arm, rows, mean in (default, *others)
        ]

    def settings(self) -> dict[str, Any]:
        """What decides the numbers, as ``summary.json`` holds it; known before the runs are."""
        low, high = self.floor.reward_range
        return {
            "log": {
                "title": self.subject.title,
                "source": self.subject.source,
                "rows": self.rows,
                "arms": self.arms,
            },
            "default": {"arm": self.subject.default, "value": float(self.value)},
            "alpha": float(self.floor.alpha),
            "floor": float(self.least),
            "reward_range": {"low": float(low), "high": float(high), "is": self.range_is},
            "policy": self.policy,
            "default_competes": True,
            "horizon": self.horizon,
            "runs": self.runs,
            "seed": self.seed,
        }

    def steps(self, workers: int | None = None, engine: str = "compiled") -> Iterator[Step]:
        """Play all runs, telling where one stands; their results are then in ``results``.

        ``workers``: threads, by default one a core; what comes out does not depend on it.
        """
        count = None if workers is None else positive(workers, "workers")
        self.results.clear()
        done, total = 0, self.runs * len(self.plans)
        yield Step("starting", done, total)
        for plan in self.plans:
            runs: dict[int, dict[str, Trace]] = {}
            every = range(self.runs)
            yield from play(plan, every, engine, count, runs.__setitem__, (done, total))
            done += self.runs
            self.results.append(Result(plan, dict(sorted(runs.items()))))


def gain(result: Result, name: str) -> Any:
    """Reward above that of the default alone, whose plays bring exactly 0: (runs, checkpoints).

    The slack less what as many default plays would have deposited, and the reserve.
    """
    floor = result.plan.agents[name].floor
    assert isinstance(floor, RewardFloor)
    terms, places = floor.terms(), floor.places
    deposits = result.plan.checkpoints * (terms.value - terms.floor)
    reserve = int(floor.reserve.scaleb(places))
    return result.measure(name, "slack") - (deposits + reserve) / 10.0**places


def listed(arms: Sequence[Any]) -> str:
    """Some labels in a sentence.

    >>> listed(["a", "b"]), listed(range(99))
    ('a, b', '0, 1, 2, 3, 4, 5, 6, 7, ...')
    """
    return ", ".join(map(str, arms[:8])) + (", ..." if len(arms) > 8 else "")


def explorable(floor: RewardFloor) -> Terms:
    """What a play moves on a constant floor. Raises InvalidInput if a default play adds nothing.

    >>> explorable(RewardFloor(0.5, 0.1)).deposit
    50000000
    """
    terms = floor.terms()
    if not terms.deposit:
        raise InvalidInput(
            f"alpha = {floor.alpha} of default = {floor.default} is less than the books' unit, "
            f"10**{-floor.places}: nothing would ever be explored; take a larger alpha"
        )
    return terms


def _earning(mean: Decimal | None, default: Any) -> Decimal:
    if mean is None or mean <= 0:
        raise InvalidInput(
            f"the default {default!r} pays {float(mean or 0):g} a play in the log; a floor needs a "
            "default that earns: shift the rewards"
        )
    return mean


def _bounds(log: ReplayLog, declared: Any) -> tuple[str, tuple[Any, Any]]:
    """The range the floor is to trust, and where it comes from."""
    if declared is not None:
        return GIVEN, declared
    low, high = log.reward_range
    if 0 <= low and high <= 1:
        return "none in the log does", (0, 1)
    rewards = log.record.rewards  # in whole units, which a narrow log's range is wider than
    if rewards.min() == rewards.max():
        raise InvalidInput(
            f"all rewards of the log are about {low.normalize():f}; there is nothing to choose"
        )
    return "the log's own least and greatest reward", (low, high)
