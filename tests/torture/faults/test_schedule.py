from surefoot.live import MemoryStore, engine
from surefoot_torture.faults.schedule import schedule
from surefoot_torture.faults.workers import Clock

SHORT = 4, 20


def test_a_schedule_leaves_the_code_as_it_was():
    before = engine.SNAPSHOT_EVERY
    schedule(1, size=SHORT, leases=True)
    assert before == engine.SNAPSHOT_EVERY


def test_many_schedules_share_a_store_each_with_its_account():
    clock = Clock()
    store = MemoryStore(clock)
    verdicts = [schedule(seed, store, clock, SHORT, account=f"a{seed}") for seed in range(3)]
    assert [verdict.told for verdict in verdicts] == [[], [], []]
    assert store.accounts() == ["a0", "a1", "a2"]


def test_the_size_is_kept():
    assert all(schedule(seed, size=(3, 5)).decisions < 12 for seed in range(10))
