"""A network that falls silent: a proxy before a server, and a port where nobody answers."""

import socket
import threading
import time
from contextlib import contextmanager, suppress

from live.postgres import free_port, through

SWALLOWS, DEAF = "reads and answers nothing", "reads nothing any more"


class Proxy:
    """Hands on what a client and its server say, until it is ``silent``; it never hangs up."""

    def __init__(self, server):
        self.silent = None
        """SWALLOWS or DEAF: what becomes of all connections, new ones too."""
        self.after = None
        """Falls silent, as this says, once a client has said these bytes; they still arrive."""
        self._server, self._open = server, []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        for each in [self._listener, *self._open]:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = None if self.silent else socket.create_connection(self._server)
                self._open += [client] if server is None else [client, server]
                self._pump(client, server, asks=True)
                if server is not None:
                    self._pump(server, client, asks=False)

    def _pump(self, one, other, asks):
        def run():
            with suppress(OSError):
                while True:
                    while self.silent == DEAF:
                        time.sleep(0.01)
                    data = one.recv(65536)
                    if not data:
                        break
                    if self.silent or other is None:
                        continue
                    if asks and self.after is not None and self.after in data:
                        self.silent, self.after = SWALLOWS, None
                    other.sendall(data)
            for each in (one, other):
                with suppress(OSError, AttributeError):
                    each.shutdown(socket.SHUT_RDWR)

        threading.Thread(target=run, daemon=True).start()


@contextmanager
def proxied(url):
    """A proxy before the server of an address, and the address through it."""
    name, _, port = url.partition("@")[2].partition("/")[0].partition(":")
    proxy = Proxy((name, int(port)))
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
