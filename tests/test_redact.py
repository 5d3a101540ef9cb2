import time

import pytest

from surefoot._exact import shown
from surefoot._redact import redacted

SAID = {
    "postgresql://ann:Xyzzy@host:5432/shop": "postgresql://ann:***@host:5432/shop",
    "postgresql://:Xyzzy@host/shop": "postgresql://:***@host/shop",
    "postgresql://ann:Xy@zzy:Xy/zzy@host/shop": "postgresql://ann:***@host/shop",
    "postgresql://ann:Xy zzy\nXyzzy@host/shop": "postgresql://ann:***@host/shop",
    "postgresql://ann:%58yzzy@host/shop": "postgresql://ann:***@host/shop",
    "mysql://an/n:Xyzzy@host": "mysql://an/n:***@host",
    "postgresql:/ann:Xyzzy@host/shop": "postgresql:***@host/shop",
    "ann:Xyzzy@host/shop": "ann:***@host/shop",
    "postgresql:///shop?password=Xyzzy": "postgresql:///shop?password=***",
    "postgresql:///shop?p%61ssword=Xyzzy&port=1": "postgresql:///shop?p%61ssword=***&port=1",
    "postgresql:///shop?sslpassword=Xyzzy&a=b": "postgresql:///shop?sslpassword=***&a=b",
    "host=h PASSWORD = 'Xyzzy Xyzzy' user=ann": "host=h PASSWORD = *** user=ann",
    "no ledger at postgresql://a:Xyzzy@b or mysql://c:Xyzzy@d": (
        "no ledger at postgresql://a:***@b or mysql://c:***@d"
    ),
}


@pytest.mark.parametrize("text", SAID, ids=range(len(SAID)))
def test_a_password_is_taken_out_wherever_one_belongs(text):
    assert redacted(text) == SAID[text]
    assert redacted(SAID[text]) == SAID[text]
    assert "zzy" not in shown(text)
    assert "zzy" not in shown(text.encode())
    assert "zzy" not in shown([text])


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://ann@host:5432/shop", "postgresql://[::1]:5432/shop", "alpha = 0.1",
        "passfile=/home/ann/.pgpass", "ann@example.org: which account? it has bob@example.org",
        "http://localhost:8080/", "no password is needed; pass --account", "3:abc", "",
    ],
)  # fmt: skip
def test_a_text_without_a_password_stays_as_it_is(text):
    assert redacted(text) == text


def test_a_quote_within_a_password_ends_nothing():
    assert redacted(r"password='Xy\' zzy\\' user=ann") == "password=*** user=ann"


def test_a_value_is_cut_short_only_once_its_password_is_out():
    assert shown(f"postgresql://ann:{'Xyzzy' * 20}@host/shop") == "'postgresql://ann:***@host/shop'"


@pytest.mark.parametrize("word", ["y", "a:", "a://", "a=", "://a:", "a:@", "a='"])
def test_a_long_text_is_read_once(word):
    """Twice the text in twice the time, not in four times: 50,000 characters took over a minute."""
    began = time.process_time()
    redacted(word * (100_000 // len(word)))
    assert time.process_time() - began < 5
