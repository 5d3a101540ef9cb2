"""The plays of an agent of several floors: their numbers, and what is told of their measures.

A play's numbers are those of the floor that exploring would leave the least. Its measures may come
apart, in any order, late, twice or never, with the objective (``reward``) or without. What a report
tells is booked whole or not at all; it comes to its weightiest outcome (a breach, capped, booked
late, booked, repeated, ignored), and ``play.outcomes`` has each. Then the policy learns the
objective, and the measures if it says that it learns those. A default play is credited to each
floor by its first report, whatever that tells. An objective that no floor guards is cut to its
range, with a warning; it has no hold and does not expire.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from surefoot._exact import exact, first_few, negated, shown
from surefoot.agents import open_plays
from surefoot.agents.out_of_range import cut, warn
from surefoot.agents.play import Binding, Choice, MeasuredPlay, Play, Reason, made
from surefoot.errors import InvalidInput
from surefoot.floors import Books, Outcome, SeveralBooks, Terms
from surefoot.floors.events import BOOKED, FELL_BACK
from surefoot.floors.objective import ObjectiveBooks
from surefoot.floors.several_books import REWARD, weightiest
from surefoot.policies.base import measures_of

if TYPE_CHECKING:
    from surefoot.agents.agent import Agent

Owed = tuple[Play, Any, frozenset[str]]
"""A play, its context, and the measures that the policy has not been told of it."""
Outcomes = dict[str, Outcome]
"""What a report came to, by name."""
OUT = (Outcome.BREACH, Outcome.CAPPED)


def begin(agent: Agent) -> None:
    """Let an agent of several floors keep what one floor needs not; InvalidInput if it cannot."""
    books: SeveralBooks = agent.books  # type: ignore[assignment]
    kind, wanted = type(agent.policy).__name__, measures_of(agent.policy)
    if agent.unit_rewards and not books.floor.bounded:
        raise InvalidInput(
            f"objective_range is missing: {kind} takes rewards in [0, 1], and no floor named "
            "'reward' has a range; give objective_range=(lo, hi)"
        )
    for name in wanted or ():
        if name != REWARD:
            books.named(name, f"{kind} learns the measure")
    agent.binding = Binding()
    if wanted is not None:
        agent.owed = {}


def new_play(
    agent: Agent, index: int, arm: Any, reason: Reason, terms: Terms, choice: Choice | None,
    chance: float | None,
) -> Play:  # fmt: skip
    """As ``Agent.new_play``, with the numbers of the floor that would be left the least."""
    books: SeveralBooks = agent.books  # type: ignore[assignment]
    name, of, own = books.binding(terms)
    available, held, pending, ahead = of.standing(own)
    play: Play = made(MeasuredPlay, (
        books.plays.next_id, arm, index, reason, agent.turns, own, of.floor.places,
        available, held, pending, of.counters["unreported"], choice, ahead,
        None, made(Binding, (name, name in books.ceilings, terms.value)), chance,
    ))  # fmt: skip
    return play


def gave(agent: Agent, play: Play) -> Books:
    """The books that know the terms of a play: those of the floor whose numbers it has."""
    books: Any = agent.books
    name = None if play.binding is None else play.binding.floor
    found: Books = books.guards.get(name, books) if books.several else books
    return found


def update(
    agent: Agent, play: Play | int, reward: Any, base_rewards: Any, cost: Any, measures: Any
) -> Outcome:
    """As ``Agent.update``."""
    books: SeveralBooks = agent.books  # type: ignore[assignment]
    number = agent._id(play)
    record = books.plays.get(number)
    told = _told(books, number, cost, measures)
    learned: Any = None
    if base_rewards is not None or (agent.actions.semi_bandit and reward is not None):
        reward, learned = agent._super_arm(number, play, reward, base_rewards)
    if record.explores and reward is None and not told:
        raise InvalidInput(
            f"play {number} explored: pass its reward or measures ({first_few(list(books.guards))}"
            "), or report that there is none with expire, void or fall_back"
        )
    outcomes = books.told(number, reward, told)
    note(agent, number, play, outcomes)
    outcome = BOOKED
    for one in outcomes.values():
        if one is not BOOKED:  # rarely
            outcome = weightiest(outcomes.values())
            _warn(books, number, {**told, REWARD: reward}, outcomes)
            break
    if reward is not None:
        if books.cuts and not books.low <= record.reward <= books.high:  # type: ignore[operator]
            reward = cut(books.objective, number, reward, outcomes[REWARD] is BOOKED, 4)
        if not record.explores or record.state is FELL_BACK:
            agent._drawn(number, outcomes[REWARD])
    if record.explores:
        _learn(agent, number, reward, learned, told)
    elif number in agent.open_plays:
        agent.tally.note(agent, agent.open_plays.pop(number)[0], reward is not None)
    return outcome


def _warn(books: SeveralBooks, number: int, told: dict[str, Any], outcomes: Outcomes) -> None:
    """Say what became of each value outside its range."""
    for name, outcome in outcomes.items():
        if outcome in OUT and name in told:
            warn(books.books[name], number, told[name], outcome, 6)


def _told(books: SeveralBooks, number: int, cost: Any, measures: Any) -> Mapping[str, Any]:
    """The measures of a report by name, as the books of each take them."""
    if cost is not None:
        raise InvalidInput(
            f"cost = {shown(cost)}: this agent has several floors; give measures={{name: value}}, "
            f"of {first_few(list(books.guards))}"
        )
    if measures is None:
        return {}
    plain = type(measures) is dict  # what follows is quick then
    if (plain or isinstance(measures, Mapping)) and REWARD in measures:
        raise InvalidInput(
            f"measures = {shown(measures)}: the reward is the objective; give it as reward="
        )
    if not plain or not measures.keys() <= books.guards.keys():
        books.by_name(measures, "measures")
    told = {name: value for name, value in measures.items() if value is not None}
    for name in books.ceilings:
        if name in told:
            told[name] = negated(told[name], f"{name} of play {number}")
    return told


def _learn(agent: Agent, number: int, reward: Any, learned: Any, told: Mapping[str, Any]) -> None:
    """Let the policy learn what is new of an exploration, and close it once the objective is."""
    waiting = agent.open_plays.get(number)
    if agent.owed is not None:
        if waiting is None:
            reward = None  # it has learned that
        if not _learn_measures(agent, number, reward, learned, told):
            return
    elif waiting is not None and reward is not None:
        agent._learn(number, *waiting, reward, learned)
    if waiting is not None and reward is not None:
        del agent.open_plays[number]
        if agent.counts_open:
            open_plays.closed(agent, number, *waiting)
        agent.tally.note(agent, waiting[0], True)


def _learn_measures(
    agent: Agent, number: int, reward: Any, learned: Any, told: Mapping[str, Any]
) -> bool:
    """As ``_learn``, of a policy that learns measures too; False if there is nothing new."""
    books: SeveralBooks = agent.books  # type: ignore[assignment]
    assert agent.owed is not None
    owed = agent.owed.get(number)
    if owed is None:
        if number not in agent.open_plays:
            return False
        owed = (*agent.open_plays[number], frozenset(books.guards) - {REWARD})
    given, context, names = owed
    news = {
        name: _scaled(agent, books.guards[name], value)
        for name, value in told.items()
        if name in names
    }
    if reward is None and not news:
        return False
    agent._learn(number, given, context, reward, learned, news)
    left = names.difference(news)
    if left or (reward is None and number in agent.open_plays):
        agent.owed[number] = given, context, left
    else:
        agent.owed.pop(number, None)
    return True


def _scaled(agent: Agent, books: Books, value: Any) -> float:
    """A measure as the policy learns it: cut to its range, or within [0, 1] of it."""
    if agent.unit_rewards:
        return books.unit_reward(value)
    low, high = books.floor.reward_range
    return float(books.as_told(min(max(exact(value, "measure"), low), high)))


def note(agent: Agent, number: int, play: Play | int, outcomes: Outcomes) -> None:
    """Let a play say what its last reports came to, whoever holds it."""
    if isinstance(play, MeasuredPlay):
        play.note(outcomes)
    waiting: Any = agent.open_plays.get(number)
    if waiting is None and agent.owed is not None:
        waiting = agent.owed.get(number)
    if waiting is not None and waiting[0] is not play:
        waiting[0].note(dict(outcomes))


def whole(agent: Agent, play: Play | int, number: int, report: str) -> Outcome:
    """Report of the whole play that it was void, or that it fell back."""
    books: SeveralBooks = agent.books  # type: ignore[assignment]
    outcomes = books.whole(number, report)
    note(agent, number, play, outcomes)
    if agent.owed is not None:
        agent.owed.pop(number, None)
    return weightiest(outcomes.values())


def expire(agent: Agent, play: Play | int, names: Any) -> Outcome:
    """As ``Agent.expire``."""
    books: SeveralBooks = agent.books  # type: ignore[assignment]
    number = agent._id(play)
    if names is not None:
        names = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else names
        names = names if isinstance(names, list) else [names]
        for name in names:
            books.named(name, "names:")
        names = list(dict.fromkeys(names))  # named twice, it expires once
        if not names:
            raise InvalidInput("names = [] expires nothing; leave names out to expire all measures")
    outcomes = books.expired_of(number, names)
    note(agent, number, play, outcomes)
    found = weightiest(outcomes.values())
    lapsed = outcomes.get(REWARD)
    if isinstance(books.objective, ObjectiveBooks):
        lapsed = found if books.waits_in_vain(number) else None
    if lapsed is BOOKED:
        agent._expired(number)
    if agent.counts_open and lapsed in open_plays.ENDED:
        open_plays.expired(agent, number)
    return found


def acknowledge(agent: Agent, play: Play | int, name: Any) -> Outcome:
    """As ``Agent.acknowledge``."""
    books: SeveralBooks = agent.books  # type: ignore[assignment]
    number = agent._id(play)
    books.plays.get(number)
    outcome = books.acknowledge_of(number, name)
    note(agent, number, play, {name: outcome})
    return outcome


def check_unnamed(what: str, given: Any) -> None:
    """Refuse a name where there is one floor alone."""
    if given is not None:
        raise InvalidInput(
            f"{what} = {shown(given)} is of an agent of several floors, and this one has one; "
            f"leave {what} out"
        )
