"""What may change while an experiment runs; each change is an entry of the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from surefoot._exact import exact, shown
from surefoot.agents.play import short
from surefoot.errors import InvalidInput, PlayConflict
from surefoot.floors.reward import CHANGEABLE
from surefoot.live.fold import Fold
from surefoot.live.opening import Settings, check_floor, sealed, written_floor
from surefoot.live.play import checked_id
from surefoot.live.store import Tx

if TYPE_CHECKING:
    from surefoot.live.entries import Entry


_MAY_CHANGE = (*(name for name in CHANGEABLE if name != "checkpoint"), *Settings._fields)


class Changes:
    """The changes of a ``Live``; all its workers take them in before their next decision."""

    degraded: str | None
    _current: Callable[[Tx], Fold]
    _append: Callable[..., Entry | None]
    _run: Callable[[Callable[[Tx], Any]], Any]

    def pause(self) -> None:
        """Play the default from now on; reports are still taken."""
        self._set_state("paused")

    def resume(self) -> None:
        """Undo ``pause``."""
        self._set_state("running")

    def _set_state(self, state: str) -> None:
        def work(tx: Tx) -> None:
            if self._sound(tx).agent.paused != (state == "paused"):
                self._append(tx, "experiment.state", {"state": state})

        self._run(work)

    def change(self, **settings: Any) -> None:
        """Change the floor for the plays to come, as ``GenCB.change`` does.

        Also ``reward_window``, ``shadow`` and ``learn_missing``, as ``Live`` takes them; they too
        are for the plays to come. A repeat, as after a lost answer, changes nothing.
        """
        own = {name: settings.pop(name) for name in Settings._fields if name in settings}
        given = Settings.of(**own)._asdict()
        for name in settings.keys() - {*CHANGEABLE}:
            raise InvalidInput(
                f"{name} = {shown(settings[name])} cannot change while the experiment goes on: it "
                f"takes {', '.join(_MAY_CHANGE)}; a reserve is added or withdrawn"
            )

        def work(tx: Tx) -> None:
            fold = self._sound(tx)
            agent, live = fold.agent, fold.settings._replace(**{name: given[name] for name in own})
            live = live.decided(agent.policy) if "learn_missing" in own else live
            changed = check_floor(fold.books.floor.changed(**settings))
            if (changed, live) == (agent.floor, fold.settings):
                return
            if settings:
                agent.change(**settings)
            with fold.moved():
                floor = check_floor(agent.floor)
                config = dict(fold.opened[0])
                config["floor"] = {**config["floor"], **sealed(floor.config())}
                kept = {k: v for k, v in config["settings"].items() if k not in live._fields}
                config["settings"] = {**kept, **live.written()}
                payload = {"config": config, "floor": written_floor(floor)}
                self._append(tx, "experiment.configured", payload, done=True)

        self._run(work)

    def add_reserve(self, amount: Any, id: str | None = None) -> None:  # noqa: A002  # as select's
        """Let ``amount`` more be lost from now on.

        ``id``: the caller's name of this grant; a repeat, as after a lost answer, changes nothing.
        """
        self._endow("endowment.granted", "add_reserve", amount, checked_id(id))

    def withdraw_reserve(self, amount: Any, id: str | None = None) -> None:  # noqa: A002
        """Take ``amount`` out of the reserve; more than open plays leave is InvalidInput.

        ``id``: as of ``add_reserve``.
        """
        self._endow("endowment.withdrawn", "withdraw_reserve", amount, checked_id(id))

    def _endow(self, kind: str, method: str, amount: Any, own: str | None) -> None:
        asked = short(exact(amount, "amount"))

        def work(tx: Tx) -> None:
            fold = self._sound(tx)
            before, known = fold.account.reserve, fold.endowments.get(own or "")
            if known is not None:
                if known != [kind, asked]:
                    raise PlayConflict(
                        f"id = {own!r} was another change of the reserve; give each its own id"
                    )
                return
            getattr(fold.agent, method)(amount)
            moved = fold.account.reserve - before
            payload: dict[str, Any] = {"amount": abs(moved)}
            payload |= {} if own is None else {"id": own, "asked": asked}
            gate = -moved if moved < 0 else None
            with fold.moved():
                entry = self._append(tx, kind, payload, d_reserve=moved, gate=gate, done=True)
                if entry is None:
                    raise PlayConflict(f"amount = {amount} is not available; open plays hold it")

        self._run(work)

    def add_arms(self, arms: Iterable[Any]) -> None:
        """Let the policy play more arms, of which it knows nothing yet; removed ones come back.

        A repeat changes nothing.
        """
        labels = _listed(arms)

        def work(tx: Tx) -> None:
            if self._sound(tx).lacks(labels):
                self._append(tx, "arms.added", {"arms": labels})

        self._run(work)

    def remove_arms(self, arms: Iterable[Any]) -> None:
        """Play some arms no more; what is reported of them is still booked and learned.

        A repeat changes nothing.
        """
        labels = _listed(arms)

        def work(tx: Tx) -> None:
            fold = self._sound(tx)
            if not fold.agent._scores:
                raise InvalidInput(
                    f"arms cannot be removed from {type(fold.agent.policy).__name__}, which has no "
                    "best(context, rng, allowed); add that method"
                )
            if not fold.removed.issuperset(fold.agent._actions.candidates(labels, "arms")):
                self._append(tx, "arms.removed", {"arms": labels})

        self._run(work)

    def _sound(self, tx: Tx) -> Fold:
        """The fold, if the ledger can be trusted."""
        fold = self._current(tx)
        if self.degraded:
            raise PlayConflict(
                f"the ledger is in doubt ({self.degraded}): nothing changes until it is right and "
                "this agent is opened again; reports are still taken"
            )
        return fold


def _listed(arms: Any) -> Any:
    """Labels, read once; a text is left to whoever refuses it."""
    if isinstance(arms, str | bytes):
        return arms
    try:
        return list(arms)
    except TypeError:
        raise InvalidInput(f"arms = {shown(arms)} must be a list of labels") from None
