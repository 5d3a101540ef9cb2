from surefoot import _jit


def test_a_jittable_function_stays_what_it_is_and_is_listed(monkeypatch):
    monkeypatch.setattr(_jit, "HELPERS", [])

    def double(number):
        return 2 * number

    assert _jit.jittable(double) is double
    assert [double] == _jit.HELPERS
    assert double(21) == 42
