"""The calibration of backtests, in a reduced form; the whole one is a script, its table a page."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "explanation" / "backtests.md"


@pytest.fixture(scope="module")
def script():
    spec = spec_from_file_location("calibrate", ROOT / "scripts" / "calibrate_backtest.py")
    module = module_from_spec(spec)
    import sys

    sys.modules["calibrate"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["calibrate"]


def test_the_page_has_a_row_for_each_kind_and_nothing_on_it_fails(script):
    block = PAGE.read_text(encoding="utf-8").split(script.BEGIN)[1].split(script.END)[0]
    for kind in script.KINDS:
        assert f"| {kind.name} ({kind.rows:,}) |" in block
    must = [line.split("|") for line in block.splitlines() if re.match(r"\| (un)?equal arms", line)]
    assert len(must) == 3
    assert all("fails" not in cells[2] for cells in must)
    assert any("fails" in cells[3] for cells in must)


@pytest.mark.parametrize(
    ("pays", "mean", "covered", "found", "wrong"),
    [
        (1, 0.0, True, True, []),
        (6, 0.0, True, True, ['equal arms: "pays"']),
        (1, 0.05, True, True, ["equal arms: mean gain"]),
        (1, 0.0, False, True, ["unequal arms: truth covered"]),
        (1, 0.0, True, False, ["+30 % found"]),
    ],
)
def test_each_thing_that_must_hold_is_checked(script, pays, mean, covered, found, wrong):
    tried = []
    for kind in script.KINDS:
        for number in range(10):
            claims = number < pays if kind.equal else found
            noise = mean + 0.01 * (number - 4.5)
            one = script.Estimate(noise, -0.1, 0.1 if covered or kind.equal else -0.05, claims)
            tried.append(script.Tried(kind.name, one, one, 0.0))
    held = script.held(tried, lambda one: one.honest)
    assert [one.what for one in held if not one.holds] == wrong


def test_scripts_draw_logs_of_the_means_they_say(script):
    import numpy as np

    for kind in script.KINDS:
        log = kind.log(np.random.default_rng(0))
        assert len(log["arm"]) == kind.rows
        rng = np.random.default_rng(1)
        means = [kind.pay(rng, 200_000, lift).mean() for lift in kind.lifts]
        assert np.array(means) / means[0] == pytest.approx(kind.lifts, rel=0.07)


@pytest.mark.slow
def test_equal_logs_seldom_pay_and_a_good_arm_is_found(script):
    tried = [
        script.tried((which, number, 11))
        for which, kind in enumerate(script.KINDS)
        for number in range(4)
        if kind.equal or kind.name == script.FOUND
    ]
    equal = {kind.name for kind in script.KINDS if kind.equal}
    assert sum(one.honest.pays for one in tried if one.kind in equal) <= 3
    assert sum(one.plug_in.pays for one in tried if one.kind in equal) >= 8
    assert all(one.honest.pays for one in tried if one.kind == script.FOUND)
