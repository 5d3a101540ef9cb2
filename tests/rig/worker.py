"""A process that uses a Live as a product does: clients on threads, a janitor, and a diary.

`python -m rig.worker SPEC`, SPEC being JSON. It obeys lines of JSON on its standard input, and
stops when that ends.
"""

import importlib
import json
import os
import random
import sys
import threading
import time
import zlib
from decimal import Decimal
from functools import partial
from pathlib import Path

import surefoot as sf
from rig import doors
from rig.diary import NOW, Diary
from surefoot.errors import StoreUnavailable
from surefoot.live import Lease, open_store

ARMS, DEFAULT, ALPHA = 3, "0.5", "0.2"
"""A floor of 0.4 a play: an exploration holds 0.4, a default play brings 0.1."""
ACCOUNT = "shop"
LOADED = ("live", "worker", "store.sqlite", "store.postgres")
"""Imported before the first call, which is not to wait for that."""


def fresh_agent(reserve: str):
    floor = sf.RewardFloor(Decimal(DEFAULT), Decimal(ALPHA), reserve=Decimal(reserve))
    return sf.GenCB(sf.UCB1(n_arms=ARMS), floor, seed=0, default_competes=False)


def reward_of(name: str) -> int:
    """What a play pays: always the same for one id, and too little to explore for ever."""
    return int(zlib.crc32(name.partition(".")[0].encode()) % 10 < 3)


class Clock:
    """The store's clock, if the rig moves it."""

    def __init__(self) -> None:
        self.skew, self.as_float = 0.0, False

    def __call__(self):
        moment = time.time() + self.skew
        return moment * 1e6 if self.as_float else int(moment * 1e6)


class Crew:
    """What the threads of one worker share."""

    def __init__(self, spec: dict) -> None:
        self.spec, self.name = spec, spec["name"]
        self.diary = Diary(Path(spec["diary"]) / f"{self.name}.diary")
        self.clock = Clock()
        self.over = threading.Event()
        self.live = None
        self.seen: object = "nothing yet"
        self.turn = threading.Lock()
        """Of whoever opens or closes the Live."""
        self.children = 0

    def open(self) -> None:
        """Open the Live, however often that takes."""
        while not self.over.is_set():
            live, _ = self.diary.call("open", self._opened)
            if live is not None:
                self.live = live
                return
            self.over.wait(0.3)

    def _opened(self):
        spec = self.spec
        lease = None if spec["lease"] is None else Lease(**spec["lease"])
        store = spec["store"]
        if spec["clock"]:
            store = open_store(store, clock=self.clock)
        agent = fresh_agent(spec["reserve"]) if spec["agent"] else None
        return sf.Live(
            agent, store, ACCOUNT, reward_window=spec["window"], lease=lease, **spec["live"]
        )

    def close(self) -> None:
        if self.live is not None:
            self.diary.call("close", self.live.close)

    def look(self) -> None:
        """Note once what the Live says of itself."""
        said = None if self.live is None else self.live.degraded
        if said != self.seen:
            self.seen = said
            self.diary.note(degraded=said)

    def obey(self, order: dict) -> None:
        match order["do"]:
            case "stop":
                self.over.set()
            case "skew":
                self.clock.skew += order["by"]
            case "float":
                self.clock.as_float = order["on"]
            case "fork":
                self.fork()
            case "nonsense":
                self.nonsense()
            case "reopen":
                with self.turn:
                    self.close()
                    self.open()

    def nonsense(self) -> None:
        """Ask for what nobody can have, and open what is none: each is refused in one line."""
        live, call = self.live, self.diary.call
        for number, context in enumerate(strange()):
            own = f"{self.name}-odd-{number}"
            asked = partial(live.select, context, id=own)
            call("select", asked, answer, id=own, nonsense=True)
            call("open", partial(sf.Live, None, context), nonsense=True)
            call("update", partial(live.update, context, 1), nonsense=True, play="", index=-1)
        for address in self.spec["nowhere"]:
            call("open", partial(sf.Live, None, address), nonsense=True)

    def fork(self) -> None:
        """Fork while the threads decide; what the child inherits is refused there, at once."""
        self.children += 1
        child = f"{self.name}-child{self.children}"
        pid = os.fork()
        if pid:
            self.diary.note(child=pid, name=child)
            return
        try:
            self.diary = diary = Diary(self.diary.path.with_name(f"{child}.diary"))
            live = self.live
            diary.call("select", lambda: live.select(id=f"{child}-0"), answer, id=f"{child}-0")
            diary.call("update", lambda: live.update(f"{child}-0"), play=f"{child}-0", inherited=1)
            diary.call("account", lambda: live.account and None)
            diary.call("reap", lambda: live.reap() and None)
            own, _ = diary.call("open", self._opened)
            if own is not None:
                diary.call("select", lambda: own.select(id=f"{child}-1"), answer, id=f"{child}-1")
                diary.call("close", own.close)
        finally:
            os._exit(0)


def strange() -> list:
    """Values that no store can keep, or that no parser has to live through."""
    cyclic: list = []
    cyclic.append(cyclic)
    deep: list = []
    for _ in range(600):
        deep = [deep]
    odd = ["nul\0", "\ud800", "x" * 300, "a/b" * 2000, float("nan"), 10**400, b"\xff", object()]
    return [cyclic, deep, {"deep": deep}, {1: cyclic}, *odd]


def answer(play) -> dict:
    return {"play": play.id, "index": play.index, "lease": play.lease, "reason": str(play.reason)}


def outcome(found) -> dict:
    return {"outcome": str(found)}


class Client(threading.Thread):
    """Asks, plays, and reports what came of it until it is acknowledged."""

    def __init__(self, crew: Crew, number: int) -> None:
        super().__init__(daemon=True)
        self.crew, self.number = crew, number
        self.rng = random.Random(f"{crew.spec['seed']} {crew.name} {number}")
        self.asked = 0
        self.unanswered: list[str] = []
        self.owed: list[tuple] = []
        """Reports that nobody has acknowledged yet, and when they are due."""

    def run(self) -> None:
        crew = self.crew
        while not crew.over.is_set():
            with_live = crew.live
            if with_live is not None:
                self.one(with_live)
                crew.look()
            crew.over.wait(self.rng.uniform(0, 2 * crew.spec["pace"]))

    def one(self, live) -> None:
        """One turn: something that is owed, or a new play."""
        if self.owed and self.owed[0][0] <= NOW():
            self.tell(live, *self.owed.pop(0)[1:])
        elif self.unanswered and self.rng.random() < 0.5:
            self.ask(live, self.unanswered.pop(0))
        else:
            self.ask(live, self.named())

    def named(self) -> str | None:
        self.asked += 1
        dice = self.rng.random()
        if dice < 0.1:
            return None
        if dice < 0.2:
            return f"shared-{int(NOW() * 3)}"
        return f"{self.crew.name}-{os.getpid()}-{self.number}-{self.asked}"

    def ask(self, live, own: str | None) -> None:
        diary = self.crew.diary
        play, problem = diary.call("select", lambda: live.select(id=own), answer, id=own)
        if isinstance(problem, StoreUnavailable) and own is not None:
            self.unanswered.append(own)
        if play is None:
            return
        way = self.way(play, own)
        if way is not None and self.crew.spec["dawdle"]:
            self.owed.append((NOW() + self.crew.spec["dawdle"], play, way))
        elif way is not None:
            self.tell(live, play, way)
        if self.rng.random() < 0.05 and own is not None:
            diary.call("select", lambda: live.select(id=own), answer, id=own)
        if self.rng.random() < 0.02:
            diary.call("explain", lambda: live.explain(play) and None, play=play.id)

    def way(self, play, own: str | None) -> str | None:
        """What will be reported of a play; None: nothing."""
        if own is not None and own.startswith("shared"):
            return "update"  # whoever else was given it reports the same
        ways = {"update": 80, None: 4, "void": 6, **self.crew.spec["ways"]}
        if not play.is_default:
            ways = {"fall_back": 5, "expire": 5, **ways}
        return self.rng.choices(list(ways), weights=list(ways.values()))[0]

    def tell(self, live, play, way: str, again: bool = False) -> None:
        reward = reward_of(play.id) if way == "update" and not play.is_default else None

        def report():
            if way == "update":
                return live.update(play, reward)
            return getattr(live, way)(play)

        found, problem = self.crew.diary.call(
            way, report, outcome, play=play.id, index=play.index, reward=reward
        )
        if isinstance(problem, StoreUnavailable):
            self.owed.append((NOW() + 0.5, play, way))
        elif found is not None and not again and self.rng.random() < 0.1:
            self.tell(live, play, way, again=True)


class Janitor(threading.Thread):
    """Reaps, and looks at the books."""

    def __init__(self, crew: Crew) -> None:
        super().__init__(daemon=True)
        self.crew = crew

    def run(self) -> None:
        crew = self.crew
        while not crew.over.wait(crew.spec["reap"]):
            if crew.live is not None:
                self.look(crew.live)
                crew.look()

    def look(self, live) -> None:
        self.crew.diary.call("reap", lambda: live.reap() and None)
        self.crew.diary.call("account", lambda: live.account and None)


def main(spec: dict) -> int:
    for each in LOADED:
        importlib.import_module(f"surefoot.live.{each}")
    doors.open_all(spec["doors"])
    crew = Crew(spec)
    threads = [Client(crew, number) for number in range(spec["clients"])]
    if spec["reap"]:
        threads.append(Janitor(crew))
    opener = threading.Thread(target=crew.open, daemon=True)
    opener.start()
    for thread in threads:
        thread.start()
    for line in sys.stdin:
        crew.obey(json.loads(line))
        if crew.over.is_set():
            break
    crew.over.set()
    opener.join()
    for thread in threads:
        thread.join()
    if spec["sweep"] and crew.live is not None:
        crew.diary.call("reap", lambda: crew.live.reap() and None)
    crew.close()
    crew.diary.note(done=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
