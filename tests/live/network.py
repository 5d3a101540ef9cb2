"""A network that falls silent: a proxy before a server, and a port where nobody answers."""

import socket
from contextlib import contextmanager

from live.postgres import free_port, through
from rig.proxy import Proxy

PASS, SWALLOWS, DEAF = "pass", "swallow", "silent"
"""Modes of the proxy: SWALLOWS reads and answers nothing, DEAF reads nothing any more."""


@contextmanager
def proxied(url):
    """A proxy before the server of an address, and the address through it."""
    name, _, port = url.partition("@")[2].partition("/")[0].partition(":")
    proxy = Proxy(int(port), name)
    try:
        yield proxy, through(url, proxy.port)
    finally:
        proxy.close()


@contextmanager
def nobody():
    """A port whose queue is full: a client's first packet gets no answer."""
    port = free_port()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", port))
        listener.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(("127.0.0.1", port))
        yield port
        for each in waiting:
            each.close()
