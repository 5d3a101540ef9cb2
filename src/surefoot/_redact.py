"""No message, repr or report of ours shows a password: ``redacted`` takes out every one it may be.

An address is read here as whoever mistypes it may have meant it, not as a parser takes it: a
password may hold an ``@``, a colon or a blank that ought to have been written in percent codes.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

_MASK = "***"
# Each begins where a word of its own begins: tried at every character of one that is long, it would
# take the square of its length.
_ADDRESS = re.compile(r"(?<=[\w+.-])(://[^:@\s]*:)(?!\*\*\*@)(?:(?!://).)*@", re.DOTALL)
_BEFORE_AT = re.compile(r"(?<![^\s@])[^\s@]+(?=@)")
_USER = re.compile(r"""(?<![^\s:/@'"=])[^\s:/@'"=]++:(?!//)(?=.)""")
"""In what stands before an ``@``, without a scheme or with one that is written wrongly."""
_SETTING = re.compile(r"(?<![\w%.-])([\w%.-]++)(\s*=\s*)('(?:\\.|[^'\\])*'|[^\s&]+)")
_SECRET = ("pass", "pwd", "secret", "token")


def redacted(text: str) -> str:
    r"""Text in which ``***`` stands for each password of an address or a connection string.

    >>> redacted("postgresql://ann:p@ss:w/rd@host/shop?sslmode=require&sslpassword=x")
    'postgresql://ann:***@host/shop?sslmode=require&sslpassword=***'
    >>> redacted("host=db user=ann password='my own' port=5433")
    'host=db user=ann password=*** port=5433'

    Holds when: the password is where one belongs. Does not hold when: it is written as a user or a
    database, as in ``postgresql://secret@host``: nothing tells it from a name.
    """
    text = _ADDRESS.sub(rf"\1{_MASK}@", text)
    return _SETTING.sub(_setting, _BEFORE_AT.sub(_bare, text))


def _bare(found: re.Match[str]) -> str:
    user = _USER.search(found[0])
    return found[0] if user is None else f"{found[0][: user.end()]}{_MASK}"


def _setting(found: re.Match[str]) -> Any:
    name, equals, value = found.groups()
    plain = unquote(name).lower()
    secret = any(word in plain for word in _SECRET) and plain != "passfile"
    done = value.strip("'\".,;:)") == _MASK
    return f"{name}{equals}{_MASK}" if secret and not done else found[0]
