import json
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

import surefoot
from surefoot.study.files import replacing, to_json, uninterrupted, versions, write_json


def interrupted(target):
    with replacing(target) as scratch:
        scratch.write_text('{"x"')
        raise KeyboardInterrupt


def test_a_file_is_replaced_in_whole_or_not_at_all(tmp_path):
    target = tmp_path / "new" / "a.json"
    write_json(target, {"x": 1})
    with pytest.raises(TypeError):
        write_json(target, {"x": object()})
    with pytest.raises(KeyboardInterrupt):
        interrupted(target)
    assert json.loads(target.read_text()) == {"x": 1}
    assert list(target.parent.iterdir()) == [target]


def test_a_scratch_file_lies_beside_and_keeps_the_ending(tmp_path):
    with replacing(tmp_path / "a.b.parquet") as scratch:
        assert scratch.parent == tmp_path
        assert scratch.suffix == ".parquet"
        assert not (tmp_path / "a.b.parquet").exists()
        scratch.touch()
    assert (tmp_path / "a.b.parquet").exists()


def test_json_is_a_fixed_spelling_and_knows_no_nan():
    assert to_json({"b": 1, "a": "µ"}) == '{\n  "b": 1,\n  "a": "µ"\n}'
    with pytest.raises(ValueError, match="nan"):
        to_json(float("nan"))


def test_versions_name_what_the_numbers_rest_on():
    found = versions()
    assert found["surefoot"] == surefoot.__version__
    assert {"python", "numpy", "numba", "polars", "matplotlib"} <= set(found)


def pressed_amid():
    done = []
    with uninterrupted():
        signal.raise_signal(signal.SIGINT)
        done.append("the rest")
        yield done
    yield done


def test_ctrl_c_waits_for_the_end_of_a_block():
    block = pressed_amid()
    assert next(block) == ["the rest"]
    with pytest.raises(KeyboardInterrupt):
        next(block)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_is_ignored_as_before_and_threads_change_nothing():
    def handler():
        with uninterrupted():
            return signal.getsignal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert [len(done) for done in pressed_amid()] == [1, 1]
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(handler).result() is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
