from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from surefoot.study.results import parts
from surefoot.study.results.parts import Part

RUNS = 40
SPANS = st.tuples(st.integers(0, RUNS + 9), st.integers(0, 12)).map(
    lambda pair: Part(pair[0], pair[0] + pair[1])
)
PARTS = st.lists(SPANS, max_size=8, unique=True).map(sorted)


def runs_of(spans):
    return [run for span in spans for run in span]


@given(PARTS, st.integers(0, RUNS), st.integers(0, RUNS))
def test_what_is_missing_is_what_no_part_has(found, start, stop):
    there = {run for part in found for run in range(part.first, part.last + 1)}
    lacking = parts.missing(found, range(start, stop))
    assert runs_of(lacking) == [run for run in range(start, stop) if run not in there]
    assert all(before.stop < after.start for before, after in pairwise(lacking))


@given(PARTS, st.integers(0, RUNS))
def test_a_run_counts_in_the_first_part_by_name_that_has_it(found, runs):
    first = {}
    for part in sorted(found, key=lambda part: part.name):
        for run in range(part.first, min(part.last + 1, runs)):
            first.setdefault(run, part)
    counted = {run: part for part, counts in parts.counting(found, runs) for run in counts}
    assert counted == first


@given(st.lists(PARTS, min_size=1, max_size=4))
def test_what_cells_lack_together_is_what_each_lacks(cells):
    lacking = [parts.missing(found, range(RUNS)) for found in cells]
    shared = list(parts.together(lacking))
    for number, spans in enumerate(lacking):
        assert runs_of(span for span, cells in shared if number in cells) == runs_of(spans)
    for (span, who), (after, others) in pairwise(shared):
        assert span.stop <= after.start
        assert span.stop < after.start or who != others  # as few as can be


@given(PARTS, st.integers(1, 5))
def test_shards_have_every_run_once(found, shards):
    lacking = parts.missing(found, range(RUNS * 8))
    each = [runs_of(parts.of_shard(lacking, shard, shards)) for shard in range(1, shards + 1)]
    assert sorted(run for runs in each for run in runs) == runs_of(lacking)
    for shard, runs in enumerate(each, start=1):
        assert {run // 32 % shards + 1 for run in runs} <= {shard}


@given(st.integers(0, 90), st.integers(0, 90), st.integers(1, 9))
def test_pieces_are_the_whole_and_none_is_too_large(start, length, size):
    span = range(start, start + length)
    made = list(parts.pieces(span, size))
    assert runs_of(made) == list(span)
    assert all(1 <= len(piece) <= size for piece in made)


def test_names_sort_as_numbers_do_up_to_the_most_runs(tmp_path):
    named = [Part(0, 9), Part(0, 99_999), Part(99, 100), Part(100_000, 999_999)]
    for part in reversed(named):
        (tmp_path / part.name).touch()
    for name in ("part-0-9.parquet", ".part-000000-000001.parquet", "part-000000-000001.txt"):
        (tmp_path / name).touch()
    assert parts.parts_in(tmp_path) == named
    assert sorted(part.name for part in named) == [part.name for part in named]
    assert parts.parts_in(tmp_path / "none") == []
