"""What the stamp of compiled code takes in; that it matters: ``test_kernel_cache``."""

import math
import types
from typing import NamedTuple

import numpy as np

import surefoot as sf
from surefoot import _jit
from surefoot._kernel_text import digest, source
from surefoot.kernels.registry import KERNELS


class Record(NamedTuple):
    c: float


def made(text, **names):
    """A function of this text, with these globals."""
    namespace = {"__name__": "mine", "math": math, "np": np, **names}
    exec(compile(text, "mine.py", "exec"), namespace)
    return namespace["f"]


def test_ours_has_a_stamp_of_its_own():
    ours = sf.UCB1(2).record
    assert type(ours) in KERNELS
    assert digest(type(ours), sf.UCB1, math.sqrt, np.zeros, len) == ""
    assert source(type(ours)) == ""
    assert source(Record) == __file__


def test_text_constants_defaults_and_what_is_named_count():
    text = "def f(x, y={y}):\n    return {body}"
    seen = [
        digest(made(text.format(y=y, body=body), C=C))
        for y, body, C in [
            (1, "x", 1), (2, "x", 1), (1, "x + 1", 1), (1, "x + 2", 1), (1, "C", 1), (1, "C", 2),
            (1, "C", 1.0), (1, "C", (1, 2.0)), (1, "C", np.arange(3)), (1, "C", np.arange(4)),
            (1, "C", "1"), (1, "C", True), (1, "C", np.float64(1)),
            (1, "(lambda: 1)()", 1), (1, "(lambda: 2)()", 1),
            (1, "C.D", types.SimpleNamespace(D=1)), (1, "x in {1, 2}", 1), (1, "x in {1, 3}", 1),
        ]
    ]  # fmt: skip
    assert len(set(seen)) == len(seen)
    assert digest(made(text.format(y=1, body="C"), C=1)) == seen[4]


def test_what_is_not_named_does_not():
    one, two = (digest(made("def f(x): return x", C=C)) for C in (1, 2))
    assert one == two


def test_functions_modules_and_closures_are_followed():
    inner = [made(f"def f(x): return x + {n}") for n in (1, 2)]
    by_name = {digest(made("def f(x): return g(x)", g=g)) for g in inner}
    modules = []
    for g in inner:
        module = types.ModuleType("helpers")
        module.part = types.ModuleType("helpers.part")
        module.part.g = g
        modules.append(module)
    by_module = {digest(made("def f(x): return h.part.g(x)", h=module)) for module in modules}
    factory = "def make(n):\n    def f(x): return x + n\n    return f\nf = make({})"
    by_closure = {digest(made(factory.format(n))) for n in (1, 2)}
    assert [len(found) for found in (by_name, by_module, by_closure)] == [2, 2, 2]


def test_functions_that_call_each_other_end():
    names = {"__name__": "mine"}
    exec("def f(x): return g(x)\ndef g(x): return f(x)", names)
    assert digest(names["f"]) == digest(names["f"]) != ""


def test_an_address_is_no_text():
    one, two = (digest(made("def f(x): return C", C=object())) for _ in range(2))
    assert one == two


def test_a_record_leads_to_its_kernels(monkeypatch):
    table = {}
    monkeypatch.setattr(_jit, "TABLES", [*_jit.TABLES, table])
    monkeypatch.setattr("surefoot._kernel_text.TABLES", _jit.TABLES)
    seen = {digest(Record)}
    for kernels in [made("def f(x): return 1"), (made("def f(x): return 2"), math.sqrt)]:
        table[Record] = kernels
        seen.add(digest(Record))
    assert len(seen) == 3
